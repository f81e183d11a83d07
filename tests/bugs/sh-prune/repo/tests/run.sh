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

prune() {
    sh "$root/prune.sh" -t 20240310 "$@" 2>/dev/null
}

# backups NAME...: make empty files in a fresh folder "store"
backups() {
    rm -rf store
    mkdir store
    for name in "$@"; do
        : > "store/$name"
    done
}

is "usage" 2 "$(prune > out; echo $?)"
is "bad number" 2 "$(prune -d 3x store > out; echo $?)"
is "bad date" 2 "$(sh "$root/prune.sh" -t 20241301 store 2>/dev/null; echo $?)"
is "no such folder" 1 "$(prune nowhere > out; echo $?)"

backups
is "empty folder" "" "$(prune -d 3 store)"

backups db-20240309.tar db-20240310.tar
is "nothing is old" "" "$(prune -d 3 store)"

backups db-20240305.tar db-20240306.tar db-20240307.tar db-20240308.tar
is "older than the limit" "db-20240305.tar
db-20240306.tar" "$(prune -d 3 -m 1 store)"

backups db-20240228.tar db-20240229.tar db-20240301.tar
is "over the end of a leap February" "db-20240228.tar" \
    "$(prune -d 10 -m 1 store)"

backups db-20231230.tar db-20240102.tar
is "over the end of a year" "db-20231230.tar" "$(prune -d 70 -m 1 store)"

backups db-20240101.tar db-20240102.tar db-20240103.tar db-20240104.tar
is "the least number stays, however old" "db-20240101.tar" \
    "$(prune -d 3 -m 3 store)"

backups db-20240101.tar db-20240102.tar db-20240309.tar db-20240310.tar
is "young ones count as staying" "db-20240101.tar
db-20240102.tar" "$(prune -d 3 -m 2 store)"

backups db-20240101.tar db-20240102.tar
is "two stay by default" "" "$(prune -d 3 store)"

backups a-20240101.tar a-20240102.tar a-20240308.tar b-20240301.tar
is "each series by itself" "a-20240101.tar
a-20240102.tar" "$(prune -d 5 -m 1 store)"

backups db-20240101.tar.old db-20240102.tar notes.txt db-2024.tar \
    db-20240309.tar
is "other files are left alone" "db-20240102.tar" "$(prune -d 3 -m 1 store)"

backups db-20240101.tar db-20240102.tar db-20240102.tar.keep \
    db-20240103.tar db-20240309.tar
is "pinned ones stay" "db-20240101.tar
db-20240103.tar" "$(prune -d 3 -m 1 store)"
is "pinned ones count as staying" "db-20240101.tar" "$(prune -d 3 -m 3 store)"
is "listed with their ages" "db-20240101.tar 69
db-20240102.tar 68 pinned
db-20240103.tar 67
db-20240309.tar 1" "$(prune -l store)"

backups db-20240101.tar db-20240309.tar
prune -x -d 3 -m 1 store > out
is "removed with -x" "db-20240309.tar" "$(ls store)"

echo "1..$count"
[ "$failed" -eq 0 ]
