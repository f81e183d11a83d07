#!/bin/sh
# demo.sh FORAY - fix a real bug with four sandboxed workers and no key.
set -eu
foray=$1
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d "${TMPDIR:-/tmp}/foray-demo.XXXXXX")
trap 'rm -rf "$dir"' EXIT
bug=${DEMO_BUG:-$(cat "$here/demo-bug")}
cp -r "$here/bugs/$bug/repo" "$dir/$bug"
cd "$dir/$bug"
git init -q .
git add -A
git -c user.name=demo -c user.email=demo@localhost commit -q -m 'a program with a bug'
test=$(sed -n 's/.*"test": *"\(.*\)".*/\1/p' "$here/bugs/$bug/bug.json" | head -n 1)

echo "A program with a failing test:"
echo "  \$ $test"
sh -c "$test" >"$dir/out" 2>&1 && { echo "the tests pass already?" >&2; exit 1; }
tail -n 6 "$dir/out" | sed 's/^/    /'
echo
echo "  \$ foray run -C . -t '$test' -n 4"
patch=$("$foray" run -C . -t "$test" -n 4)
echo
echo "The verified patch ($patch):"
sed 's/^/    /' "$patch"
git apply "$patch"
echo "Applied. The tests again:"
echo "  \$ $test"
sh -c "$test" >"$dir/out" 2>&1 || { tail "$dir/out" >&2; exit 1; }
tail -n 3 "$dir/out" | sed 's/^/    /'
echo
echo "demo: fixed and verified by 4 parallel workers, each in a sandbox of its own"
