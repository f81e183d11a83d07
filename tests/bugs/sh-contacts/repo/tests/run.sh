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

contacts() {
    sh "$root/contacts.sh" -f "$work/book" "$@" 2>/dev/null
}

is "usage" 2 "$(contacts > out; echo $?)"
is "unknown command" 2 "$(contacts drop Ann > out; echo $?)"
is "empty book" "" "$(contacts list)"
is "nobody" 1 "$(contacts show Ann > out; echo $?)"

contacts add Ann "555 0101"
contacts add "Bob Ray" "555 0102" work "Plays the drums"
contacts add Cid "555 0103" family "back|slash \\new"
is "list" "Ann
Bob Ray
Cid" "$(contacts list)"
is "list of a group" "Bob Ray" "$(contacts list work)"
is "show" "Ann
  555 0101" "$(contacts show Ann)"
is "show with a note" "Bob Ray
  555 0102
  work
  Plays the drums" "$(contacts show "Bob Ray")"
is "a note with signs in it" "Cid
  555 0103
  family
  back|slash \\new" "$(contacts show Cid)"
is "there already" 1 "$(contacts add Ann 1 > out; echo $?)"

contacts add "A|B Ltd" "555 0104" work
is "a name with a bar" "A|B Ltd
  555 0104
  work" "$(contacts show "A|B Ltd")"

contacts add Dee "555 0105" "" "second floor
ring twice"
is "a note of two lines" "Dee
  555 0105
  second floor
  ring twice" "$(contacts show Dee)"
contacts add Eve "555 0106"
is "does not disturb the list" "Ann
A|B Ltd
Bob Ray
Cid
Dee
Eve" "$(contacts list)"

is "call" "555 0102" "$(contacts call "Bob Ray")"
is "remove" 0 "$(contacts remove Ann; echo $?)"
is "remove twice" 1 "$(contacts remove Ann; echo $?)"
is "the others stay" "555 0106" "$(contacts call Eve)"
is "groups" "family
work" "$(contacts groups)"

echo "1..$count"
[ "$failed" -eq 0 ]
