#!/bin/sh
# Prints TAP; exit status 1 if a test fails.
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
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

rotate() {
    sh "$root/rotate.sh" "$@" 2>/dev/null
}

# state FILE: "name=content" of the file and its old copies
state() {
    for name in "$1" "$1".[0-9]; do
        [ -e "$name" ] && printf '%s=%s ' "$name" "$(cat "$name")"
    done
}

is "usage" 2 "$(rotate > out; echo $?)"
is "keep must be a number" 2 "$(rotate -n x log > out; echo $?)"
is "keep must not be zero" 2 "$(rotate -n 0 log > out; echo $?)"
is "missing file" 1 "$(rotate nothing > out; echo $?)"

echo a > log
is "reports the number of old files" "log: 1 old" "$(rotate log)"
is "first rotation" "log= log.1=a " "$(state log)"

echo b > log
rotate log > out
is "second rotation" "log= log.1=b log.2=a " "$(state log)"

echo c > log
rotate log > out
echo d > log
rotate log > out
is "keeps three by default" "log= log.1=d log.2=c log.3=b " "$(state log)"

echo e > log
rotate -n 1 log > out
is "smaller keep drops the rest" "log= log.1=e " "$(state log)"

echo 12345 > big
rotate -s 7 big > out
is "below the size" "big=12345 " "$(state big)"
rotate -s 6 big > out
is "at the size" "big= big.1=12345 " "$(state big)"
echo x > big
rotate -s 1k big > out
is "size with a unit" "big=x big.1=12345 " "$(state big)"

echo 1 > "a b"
echo 2 > c
is "several files" "a b: 1 old
c: 1 old" "$(rotate "a b" c)"

echo "1..$count"
[ "$failed" -eq 0 ]
