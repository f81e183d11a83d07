#!/bin/sh
# prune.sh [-lx] [-d DAYS] [-m LEAST] [-t YYYYMMDD] FOLDER
set -u

here=$(dirname "$0")
. "$here/lib/dates.sh"
. "$here/lib/series.sh"
. "$here/lib/choose.sh"

days=30
least=2
today=$(date +%Y%m%d)
remove=no
list=no

usage() {
    echo "usage: prune.sh [-lx] [-d DAYS] [-m LEAST] [-t YYYYMMDD] FOLDER" >&2
    exit 2
}

is_number() {
    case $1 in
        '' | *[!0-9]*) return 1 ;;
    esac
}

while getopts lxd:m:t: option; do
    case $option in
        l) list=yes ;;
        x) remove=yes ;;
        d) days=$OPTARG ;;
        m) least=$OPTARG ;;
        t) today=$OPTARG ;;
        *) usage ;;
    esac
done
shift $((OPTIND - 1))

[ $# -eq 1 ] || usage
is_number "$days" || usage
is_number "$least" || usage
is_date "$today" || usage
if [ ! -d "$1" ]; then
    echo "prune.sh: $1: no such folder" >&2
    exit 1
fi

day=$(day_number "$today")
if [ "$list" = yes ]; then
    for series in $(all_series "$1"); do
        report "$1" "$series" "$day"
    done
    exit 0
fi

for series in $(all_series "$1"); do
    choose "$1" "$series" "$day" "$days" "$least"
done > "${TMPDIR:-/tmp}/prune.$$"
while read -r name; do
    echo "$name"
    if [ "$remove" = yes ]; then
        rm -f "$1/$name"
    fi
done < "${TMPDIR:-/tmp}/prune.$$"
rm -f "${TMPDIR:-/tmp}/prune.$$"
