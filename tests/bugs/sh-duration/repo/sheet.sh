#!/bin/bash
# sheet.sh FILE [WHO]
here=$(dirname "$0")
. "$here/lib/duration.sh"
. "$here/lib/sheet.sh"

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    echo "usage: sheet.sh FILE [WHO]" >&2
    exit 2
fi
if [ $# -eq 2 ]; then
    sum_of "$1" "$2"
else
    sums_by_task "$1"
fi
