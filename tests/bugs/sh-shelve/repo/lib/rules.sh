# Rules: "folder: extension extension" a line.

lower() {
    printf '%s\n' "$1" | tr '[:upper:]' '[:lower:]'
}

# shelf_for RULES EXTENSION: the folder of the first rule that has it
shelf_for() {
    while IFS=: read -r shelf extensions; do
        case $shelf in
            '' | '#'*) continue ;;
        esac
        for known in $extensions; do
            if [ "$(lower "$known")" = "$2" ]; then
                printf '%s\n' "$shelf"
                return 0
            fi
        done
    done < "$1"
    return 1
}

# shelf_of RULES NAME: for a.tar.gz ask for tar.gz first, then for gz
shelf_of() {
    rest=$(after_dot "$2") || return 1
    while [ -n "$rest" ]; do
        shelf_for "$1" "$rest" && return 0
        case $rest in
            *.*) rest=${rest#*.} ;;
            *) return 1 ;;
        esac
    done
    return 1
}
