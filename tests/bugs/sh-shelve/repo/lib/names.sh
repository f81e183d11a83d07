# Names of files.

# stem NAME EXTENSION: what stands before it
stem() {
    printf '%s\n' "${1%."$2"}"
}

# after_dot NAME: all behind the first dot; fails when there is none
after_dot() {
    case $1 in
        ?*.?*) printf '%s\n' "${1#*.}" ;;
        *) return 1 ;;
    esac
}

# free_name FOLDER NAME: NAME, or NAME with a number that is not there yet
free_name() {
    candidate=$2
    number=0
    while [ -e "$1/$candidate" ]; do
        number=$((number + 1))
        extension=$(after_dot "$2") || extension=
        candidate=$(stem "$2" "$extension")-$number${extension:+.$extension}
    done
    printf '%s\n' "$candidate"
}
