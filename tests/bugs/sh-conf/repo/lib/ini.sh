# Reading INI files.

# ini_lines FILE: every setting as "section.key=value"
ini_lines() {
    section=
    number=0
    while IFS= read -r line || [ -n "$line" ]; do
        number=$((number + 1))
        line=$(trim "$line")
        case $line in
            '' | '#'* | ';'*) ;;
            '['*']')
                section=${line#?}
                section=${section%?}
                ;;
            *=*)
                key=$(trim "${line%%=*}")
                value=$(unquote "$(trim "${line#*=}")")
                printf '%s.%s=%s\n' "$section" "$key" "$value"
                ;;
            *)
                echo "conf.sh: line $number: $line" >&2
                return 1
                ;;
        esac
    done < "$1"
}

# ini_get FILE NAME: the value set last
ini_get() {
    found=
    settings=$(ini_lines "$1") || return 1
    while IFS= read -r setting; do
        if [ "${setting%%=*}" = "$2" ]; then
            found=${setting#*=}
        fi
    done <<EOF
$settings
EOF
    printf '%s\n' "$found"
}
