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

tags() {
    sh "$root/tags.sh" "$@" 2>/dev/null
}

# note NAME TITLE TAGS: a note, without a line of tags when there are none
note() {
    mkdir -p notes
    {
        echo "# $2"
        [ -z "$3" ] || echo "tags: $3"
        echo
        echo "tags: this line is text"
    } > "notes/$1.md"
}

is "usage" 2 "$(tags > out; echo $?)"
is "no such folder" 1 "$(tags all notes > out; echo $?)"

mkdir notes
is "unknown command" 2 "$(tags drop notes > out; echo $?)"
is "no notes" "" "$(tags all notes)"
note bread "Rye bread" "baking, rye"
is "tags of one note" "baking
rye" "$(tags all notes)"
note rolls "Rolls" "baking"
note soup "Lentil soup" "Cooking,lentils , quick"
note tea "Tea" ""
is "all tags, each once" "baking
cooking
lentils
quick
rye" "$(tags all notes)"

is "notes with a tag" "bread: Rye bread
rolls: Rolls" "$(tags find notes baking)"
is "notes with both tags" "bread: Rye bread" "$(tags find notes rye baking)"
is "the case does not matter" "soup: Lentil soup" "$(tags find notes QUICK)"
is "no part of a tag" "" "$(tags find notes bak)"
is "notes with none" "tea: Tea" "$(tags untagged notes)"

note buns "Buns" "rye, quick, baking"
note dal "Dal" "lentils, quick"
is "most used first" "3 baking
3 quick
2 lentils
2 rye
1 cooking" "$(tags count notes)"
is "found beside a tag" "baking
cooking
lentils
rye" "$(tags beside notes quick)"
is "found beside another" "quick
rye" "$(tags beside notes baking)"
is "still each once" "baking
cooking
lentils
quick
rye" "$(tags all notes)"

echo "1..$count"
[ "$failed" -eq 0 ]
