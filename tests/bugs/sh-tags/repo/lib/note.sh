# One note.

lower() {
    tr '[:upper:]' '[:lower:]'
}

title_of() {
    sed -n '1s/^# *//p' "$1"
}

# tags_of FILE: one a line; the line with them is the second
tags_of() {
    sed -n '2s/^tags: *//p' "$1" | tr ',' '\n' | lower |
        sed 's/^ *//; s/ *$//; /^$/d'
}

# has_tag FILE TAG
has_tag() {
    tags_of "$1" | grep -qxF -e "$(printf '%s\n' "$2" | lower)"
}

# show FILE: "name: Title"
show() {
    name=${1##*/}
    printf '%s: %s\n' "${name%.md}" "$(title_of "$1")"
}
