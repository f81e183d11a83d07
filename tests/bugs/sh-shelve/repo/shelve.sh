#!/bin/sh
# shelve.sh [-n] RULES FROM TO
set -u

here=$(dirname "$0")
. "$here/lib/names.sh"
. "$here/lib/rules.sh"

usage() {
    echo "usage: shelve.sh [-n] RULES FROM TO" >&2
    exit 2
}

dry=no
while getopts n option; do
    case $option in
        n) dry=yes ;;
        *) usage ;;
    esac
done
shift $((OPTIND - 1))
[ $# -eq 3 ] || usage

if [ ! -r "$1" ]; then
    echo "shelve.sh: $1: no rules" >&2
    exit 1
fi
for path in "$2"/*; do
    [ -f "$path" ] || continue
    file=${path##*/}
    shelf=$(shelf_of "$1" "$file") || continue
    echo "$file -> $shelf"
    [ "$dry" = no ] || continue
    mkdir -p "$3/$shelf"
    mv "$path" "$3/$shelf/$(free_name "$3/$shelf" "$file")"
done
