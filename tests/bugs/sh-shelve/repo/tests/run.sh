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

shelve() {
    sh "$root/shelve.sh" "$@" 2>/dev/null
}

# files NAME...: make a fresh folder "in" with files that contain their names
files() {
    rm -rf in out
    mkdir in out
    for name in "$@"; do
        printf '%s' "$name" > "in/$name"
    done
}

# tree: "path=content" of all files in out
tree() {
    (cd out && find . -type f | sort | while read -r path; do
        printf '%s=%s\n' "${path#./}" "$(cat "$path")"
    done)
}

cat > rules <<'END'
# where things go
pictures: jpg png Tiff
papers: pdf txt
archives: tar.gz zip
END

is "usage" 2 "$(shelve rules > log; echo $?)"
files
is "no such rules" 1 "$(shelve norules in out > log; echo $?)"
is "nothing to do" "" "$(shelve rules in out)"

files a.jpg b.pdf c.png
is "says what goes where" "a.jpg -> pictures
b.pdf -> papers
c.png -> pictures" "$(shelve rules in out)"
is "is there" "papers/b.pdf=b.pdf
pictures/a.jpg=a.jpg
pictures/c.png=c.png" "$(tree)"
is "and is no longer here" "" "$(ls in)"

files a.xyz noext .hidden.txt
is "what no rule knows stays" "" "$(shelve rules in out)"
is "where it was" "a.xyz noext" "$(ls in | tr '\n' ' ' | sed 's/ $//')"

files src.tar.gz plain.gz
shelve rules in out > log
is "the longest extension counts" "archives/src.tar.gz=src.tar.gz" "$(tree)"

files DSC01.JPG Scan.Pdf
shelve rules in out > log
is "extensions in capitals" "papers/Scan.Pdf=Scan.Pdf
pictures/DSC01.JPG=DSC01.JPG" "$(tree)"

files old.tiff
shelve rules in out > log
is "capitals in the rules" "pictures/old.tiff=old.tiff" "$(tree)"

files "my trip.jpg"
shelve rules in out > log
is "a name with a blank" "pictures/my trip.jpg=my trip.jpg" "$(tree)"

files a.txt
mkdir -p out/papers
echo old > out/papers/a.txt
echo older > out/papers/a-1.txt
shelve rules in out > log
is "nothing is overwritten" "papers/a-1.txt=older
papers/a-2.txt=a.txt
papers/a.txt=old" "$(tree)"

files a.jpg
is "only says so with -n" "a.jpg -> pictures" "$(shelve -n rules in out)"
is "and does nothing" "" "$(tree)"
is "as one can see" "a.jpg" "$(ls in)"

echo "1..$count"
[ "$failed" -eq 0 ]
