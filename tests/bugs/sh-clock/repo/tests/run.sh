#!/bin/sh
# Prints TAP; exit status 1 if a test fails.
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/lib/read.sh"
. "$root/lib/show.sh"
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
        echo "#   expected '$2', got '$3'"
    fi
}

is "midnight is read" 0 "$(minutes 0:00)"
is "minutes after midnight are read" 9 "$(minutes 0:09)"
is "midnight is shown" 0:00 "$(show 0)"
is "minutes after midnight are shown" 0:23 "$(show 23)"
is "a span at night" 0:05-0:20 "$(sh "$root/clock.sh" 5 20)"
is "usage" 2 "$(sh "$root/clock.sh" 5 2>/dev/null; echo $?)"
is "times are read" "65 425 1439" "$(minutes 1:05) $(minutes 7:05) $(minutes 23:59)"
is "times are shown" "1:05 7:05 23:59" "$(show 65) $(show 425) $(show 1439)"
echo "1..$count"
[ "$failed" = 0 ]
