#!/bin/sh
# conf.sh get|list|check FILE ...
set -u

here=$(dirname "$0")
. "$here/lib/text.sh"
. "$here/lib/ini.sh"
. "$here/lib/env.sh"

usage() {
    echo "usage: conf.sh get|list|check FILE ..." >&2
    exit 2
}

# lookup FILE NAME DEFAULT
lookup() {
    in_env=$(env_get "$2")
    in_file=$(ini_get "$1" "$2") || return 1
    first_of "$in_file" "$in_env" "$3"
}

# list FILE SECTION
list() {
    settings=$(ini_lines "$1") || return 1
    printf '%s\n' "$settings" | while IFS= read -r setting; do
        if [ -z "$2" ] || [ "${setting%%.*}" = "$2" ]; then
            printf '%s\n' "$setting"
        fi
    done
}

[ $# -ge 2 ] || usage
command=$1
file=$2
if [ ! -r "$file" ]; then
    echo "conf.sh: $file: cannot read" >&2
    exit 1
fi

case $command in
    get)
        [ $# -ge 3 ] || usage
        lookup "$file" "$3" "${4-}"
        ;;
    list) list "$file" "${3-}" ;;
    check) ini_lines "$file" > /dev/null ;;
    *) usage ;;
esac
