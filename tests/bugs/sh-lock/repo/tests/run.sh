#!/bin/sh
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

lock() {
    sh "$root/lock.sh" -d "$work/locks" "$@" 2>/dev/null
}

# status COMMAND...: its output and exit status
status() {
    out=$("$@")
    echo "$out $?"
}

is "usage" " 2" "$(status lock)"
is "unknown command" " 2" "$(status lock grab db ann)"
is "bad name" " 2" "$(status lock acquire ../db ann 100)"
is "nobody holds it" "free 0" "$(status lock holder db 100)"

is "acquire" " 0" "$(status lock acquire db ann 100)"
is "holder" "ann 0" "$(status lock holder db 100)"
is "somebody else has it" " 1" "$(status lock acquire db bob 110)"
is "again by its holder" " 0" "$(status lock acquire db ann 110)"
is "another lock" " 0" "$(status lock acquire web bob 110)"
is "list" "db ann
web bob 0" "$(status lock list 120)"

is "release" " 0" "$(status lock release db ann)"
is "is free then" "free 0" "$(status lock holder db 120)"
is "release what is free" " 1" "$(status lock release db ann)"
is "bob takes it" " 0" "$(status lock acquire db bob 120)"
is "only its holder can release it" " 1" "$(status lock release db ann)"
is "and has it still" "bob 0" "$(status lock holder db 120)"

is "renewed" " 0" "$(status lock renew web bob 150)"
is "not yet stale" "bob 0" "$(status lock holder web 209)"
is "not renewed by another" " 1" "$(status lock renew web ann 150)"
is "stale" "free 0" "$(status lock holder web 211)"
is "a stale one can be had" " 0" "$(status lock acquire web cid 211)"
is "by one" "cid 0" "$(status lock holder web 212)"

echo "1..$count"
[ "$failed" -eq 0 ]
