#!/bin/sh
# rotate.sh [-n KEEP] [-s BYTES] FILE...
set -u

here=$(dirname "$0")
. "$here/lib/names.sh"
. "$here/lib/sizes.sh"
. "$here/lib/shift.sh"

keep=3
min_size=0

usage() {
    echo "usage: rotate.sh [-n KEEP] [-s BYTES] FILE..." >&2
    exit 2
}

while getopts n:s: option; do
    case $option in
        n) keep=$OPTARG ;;
        s) min_size=$(to_bytes "$OPTARG") || usage ;;
        *) usage ;;
    esac
done
shift $((OPTIND - 1))

is_number "$keep" || usage
[ "$keep" -gt 0 ] || usage
[ $# -gt 0 ] || usage

status=0
for file in "$@"; do
    if [ ! -f "$file" ]; then
        echo "rotate.sh: $file: no such file" >&2
        status=1
        continue
    fi
    large_enough "$file" "$min_size" || continue
    drop_beyond "$file" "$keep"
    shift_generations "$file" "$keep"
    : > "$file"
    old=$(count_generations "$file")
    echo "$file: $old old"
done
exit $status
