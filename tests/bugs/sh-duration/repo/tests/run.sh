#!/bin/bash
# Prints TAP; exit status 1 if a test fails.
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
LC_ALL=C
export LC_ALL
count=0
failed=0

# is NAME EXPECTED ACTUAL
is() {
    count=$((count + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $count - $1"
    else
        failed=$((failed + 1))
        echo "not ok $count - $1"
        echo "#   expected '$2'"
        echo "#   got      '$3'"
    fi
}

. "$root/lib/duration.sh"
. "$root/lib/sheet.sh"

is "seconds" 45 "$(to_seconds 45s)"
is "minutes and seconds" 150 "$(to_seconds 2m30s)"
is "hours" 5400 "$(to_seconds 1h30m)"
is "a day" 86400 "$(to_seconds 1d)"
is "two days and an hour" 176400 "$(to_seconds 2d1h)"
is "a week" 604800 "$(to_seconds 1w)"
is "no unit means seconds" 90 "$(to_seconds 90)"
is "leading zeros" 485 "$(to_seconds 08m05s)"
is "nothing" 1 "$(to_seconds '' > out; echo $?)"
is "unknown unit" 1 "$(to_seconds 3y > out; echo $?)"
is "number missing" 1 "$(to_seconds 1hm > out; echo $?)"
is "units in the wrong order" 1 "$(to_seconds 3s1h > out; echo $?)"

is "shown" "1h 1m 1s" "$(to_text 3661)"
is "zero parts are left out" "1d 5s" "$(to_text 86405)"
is "nothing shown" "0s" "$(to_text 0)"
is "weeks shown" "1w 6d" "$(to_text 1123200)"
is "rounded" "3h 25m" "$(to_text 12299 60)"

cat > sheet <<'END'
# who what how long
ann  plan   1h30m
bob  build  2h
ann  build  45m

ann  trip   26h
END
is "sum of one" "1d 4h 15m" "$(sum_of sheet ann)"
is "sum of another" "2h" "$(sum_of sheet bob)"
is "sum of nobody" "0s" "$(sum_of sheet eve)"
is "sum by what" "build 2h 45m
plan 1h 30m
trip 1d 2h" "$(sums_by_task sheet)"
echo "eve what 3x" >> sheet
is "bad line" "sheet:7: bad duration 3x" "$(sum_of sheet eve 2>&1)"

echo "1..$count"
[ "$failed" -eq 0 ]
