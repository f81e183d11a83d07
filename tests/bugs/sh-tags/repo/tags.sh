#!/bin/sh
# tags.sh all|count|find|beside|untagged FOLDER [TAG...]
set -u

here=$(dirname "$0")
. "$here/lib/note.sh"
. "$here/lib/index.sh"

usage() {
    echo "usage: tags.sh all|count|find|beside|untagged FOLDER [TAG...]" >&2
    exit 2
}

[ $# -ge 2 ] || usage
command=$1
folder=$2
shift 2
if [ ! -d "$folder" ]; then
    echo "tags.sh: $folder: no such folder" >&2
    exit 1
fi

case $command in
    all) all_tags "$folder" ;;
    count) count_tags "$folder" ;;
    find)
        [ $# -gt 0 ] || usage
        find_notes "$folder" "$@"
        ;;
    beside)
        [ $# -eq 1 ] || usage
        beside "$folder" "$1"
        ;;
    untagged) untagged "$folder" ;;
    *) usage ;;
esac
