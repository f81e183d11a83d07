# Who may do what with a lock. $folder and $lifetime are set by lock.sh.

# stale NAME NOW
stale() {
    [ $(($2 - $(touched "$1"))) -gt "$lifetime" ]
}

# acquire NAME OWNER NOW
acquire() {
    if exists "$1" && stale "$1" "$3"; then
        destroy "$1"
    fi
    if ! create "$1"; then
        [ "$(owner_of "$1")" = "$2" ] || return 1
    fi
    mark "$1" "$2" "$3"
}

# renew NAME OWNER NOW
renew() {
    exists "$1" || return 1
    [ "$(owner_of "$1")" = "$2" ] || return 1
    mark "$1" "$2" "$3"
}

# release NAME OWNER
release() {
    exists "$1" || return 1
    destroy "$1"
}

# holder NAME NOW
holder() {
    exists "$1" || return 1
    ! stale "$1" "$2" || return 1
    owner_of "$1"
}

# list NOW: "NAME OWNER" of all that are held
list() {
    for lock in $(names); do
        owner=$(holder "$lock" "$1") || continue
        printf '%s %s\n' "$lock" "$owner"
    done
}
