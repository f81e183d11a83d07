# Names of rotated files.

# generation FILE N: the name of the Nth old copy, the file itself for 0
generation() {
    if [ "$2" -eq 0 ]; then
        printf '%s\n' "$1"
    else
        printf '%s.%d\n' "$1" "$2"
    fi
}

# is_number WORD
is_number() {
    case $1 in
        '' | *[!0-9]*) return 1 ;;
    esac
    return 0
}

# count_generations FILE: how many consecutive old copies there are
count_generations() {
    n=0
    while [ -e "$1.$((n + 1))" ]; do
        n=$((n + 1))
    done
    printf '%d\n' "$n"
}
