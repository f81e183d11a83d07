#!/bin/sh
# contacts.sh [-f FILE] add|show|call|remove|list|groups ...
set -u

here=$(dirname "$0")
. "$here/lib/book.sh"
. "$here/lib/show.sh"

usage() {
    echo "usage: contacts.sh [-f FILE] add|show|call|remove|list|groups ..." >&2
    exit 2
}

book=${HOME:-.}/.contacts
if [ "${1:-}" = -f ]; then
    [ $# -ge 2 ] || usage
    book=$2
    shift 2
fi
[ $# -gt 0 ] || usage
command=$1
shift
[ -e "$book" ] || : > "$book"

case $command in
    add)
        [ $# -ge 2 ] && [ $# -le 4 ] || usage
        add "$1" "$2" "${3:-}" "${4:-}"
        ;;
    show | call | remove)
        [ $# -eq 1 ] || usage
        "$command" "$1"
        ;;
    list) list "${1:-}" ;;
    groups) groups ;;
    *) usage ;;
esac
