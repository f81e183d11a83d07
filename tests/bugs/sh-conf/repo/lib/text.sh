# Small things about strings.

# trim TEXT
trim() {
    t=$1
    while :; do
        case $t in
            [' 	']*) t=${t#?} ;;
            *[' 	']) t=${t%?} ;;
            *) break ;;
        esac
    done
    printf '%s\n' "$t"
}

# unquote TEXT: without the quotes around it, if there are any
unquote() {
    case $1 in
        '"'*'"') q=${1#?}; printf '%s\n' "${q%?}" ;;
        *) printf '%s\n' "$1" ;;
    esac
}

# first_of WORD...: the first one that is not empty
first_of() {
    for word in "$@"; do
        if [ -n "$word" ]; then
            printf '%s\n' "$word"
            return 0
        fi
    done
    return 1
}
