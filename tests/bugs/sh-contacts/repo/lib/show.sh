# What one gets to see.

indent() {
    sed 's/^/  /'
}

# show NAME
show() {
    line=$(line_of "$1") || return 1
    printf '%s\n' "$line" | {
        IFS='|' read -r name phone group note
        unescape "$name"
        printf '%s\n' "$phone" ${group:+"$group"} | indent
        if [ -n "$note" ]; then
            printf '%s\n' "$note" | indent
        fi
    }
}

# call NAME: the number only
call() {
    line=$(line_of "$1") || return 1
    line=${line#*|}
    printf '%s\n' "${line%%|*}"
}

# list [GROUP]: names in order
list() {
    while IFS='|' read -r name phone group note; do
        if [ -z "$1" ] || [ "$group" = "$1" ]; then
            unescape "$name"
        fi
    done < "$book" | sort
}

groups() {
    while IFS='|' read -r name phone group note; do
        [ -z "$group" ] || printf '%s\n' "$group"
    done < "$book" | sort -u
}
