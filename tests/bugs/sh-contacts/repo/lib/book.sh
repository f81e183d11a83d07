# The file: a line for each contact. $book is set by contacts.sh.

# escape TEXT: without the bar and line breaks, which have a meaning here
escape() {
    printf '%s\n' "$1" | sed -e 's/\\/\\\\/g' -e 's/|/\\0174/g' |
        sed '$!s/$/\\n/' | tr -d '\n'
}

# unescape TEXT
unescape() {
    printf '%b\n' "$1"
}

# line_of NAME: fails when there is none
line_of() {
    wanted=$(escape "$1")
    while IFS= read -r line; do
        if [ "${line%%|*}" = "$wanted" ]; then
            printf '%s\n' "$line"
            return 0
        fi
    done < "$book"
    return 1
}

# add NAME PHONE GROUP NOTE
add() {
    if line_of "$1" > /dev/null; then
        echo "contacts.sh: $1 is there already" >&2
        return 1
    fi
    printf '%s|%s|%s|%s\n' "$(escape "$1")" "$2" "$3" "$4" >> "$book"
}

# remove NAME
remove() {
    old=$(line_of "$1") || return 1
    grep -vxF -e "$old" "$book" > "$book.new"
    mv "$book.new" "$book"
}
