#!/bin/sh
# clock.sh START END - both as H:MM or as minutes since midnight
here=$(dirname "$0")
. "$here/lib/read.sh"
. "$here/lib/show.sh"

total() {
    case $1 in
    *:*) minutes "$1" ;;
    *) echo "$1" ;;
    esac
}

[ $# = 2 ] || { echo "usage: clock.sh START END" >&2; exit 2; }
echo "$(show "$(total "$1")")-$(show "$(total "$2")")"
