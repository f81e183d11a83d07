#!/bin/sh
# lock.sh [-d FOLDER] acquire|renew|release|holder|list ...
set -u

here=$(dirname "$0")
. "$here/lib/store.sh"
. "$here/lib/locks.sh"

folder=${TMPDIR:-/tmp}/locks
lifetime=60

usage() {
    echo "usage: lock.sh [-d FOLDER] acquire|renew|release|holder|list ..." >&2
    exit 2
}

# want NUMBER COUNT [NAME]: that many words, and a name that is one
want() {
    [ "$1" -le "$2" ] || usage
    case ${3:-x} in
        . | .. | */* | *' '*) usage ;;
    esac
}

now() {
    echo "${1:-$(date +%s)}"
}

if [ "${1:-}" = -d ]; then
    [ $# -ge 2 ] || usage
    folder=$2
    shift 2
fi
[ $# -gt 0 ] || usage
command=$1
shift
mkdir -p "$folder" || exit 1

case $command in
    acquire)
        want 2 $# "${1:-}"
        acquire "$1" "$2" "$(now "${3:-}")"
        ;;
    renew)
        want 2 $# "${1:-}"
        renew "$1" "$2" "$(now "${3:-}")"
        ;;
    release)
        want 2 $# "${1:-}"
        release "$1" "$2"
        ;;
    holder)
        want 1 $# "${1:-}"
        holder "$1" "$(now "${2:-}")" || echo free
        ;;
    list)
        list "$(now "${1:-}")"
        ;;
    *) usage ;;
esac
