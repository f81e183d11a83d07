# A lock is a folder (mkdir is atomic) with the owner and the time in it.

# owner_of NAME
owner_of() {
    cat "$folder/$1.lock/owner" 2>/dev/null
}

# touched NAME: when it was acquired or renewed
touched() {
    cat "$folder/$1.lock/time" 2>/dev/null || echo 0
}

# exists NAME
exists() {
    [ -d "$folder/$1.lock" ]
}

# mark NAME OWNER TIME
mark() {
    printf '%s\n' "$2" > "$folder/$1.lock/owner"
    printf '%s\n' "$3" > "$folder/$1.lock/time"
}

# create NAME: fails when it is there
create() {
    mkdir "$folder/$1.lock" 2>/dev/null
}

# destroy NAME
destroy() {
    rm -rf "$folder/$1.lock"
}

# names: of all locks
names() {
    for path in "$folder"/*.lock; do
        [ -d "$path" ] || continue
        name=${path##*/}
        printf '%s\n' "${name%.lock}"
    done
}
