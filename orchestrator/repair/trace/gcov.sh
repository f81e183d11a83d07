#!/bin/sh
# gcov.sh NONCE - the report (spectrum.h) from what hook.c left: one directory a
# test beside this file, with counters whose notes are in the copy of the tree.
# What a failing row looks at may have been computed before the row above it, so
# what that one executed counts as executed by both.
d=${0%/*}
tree=$d/copy
for t in "$d"/t/*.*.[fpx]; do
	test -d "$t" || exit 1
	printf 'test %s\n' "${t##*/}"
	find "$t" -name '*.gcda' | while IFS= read -r f; do
		n=${f#"$t"}
		ln -s "${n%.gcda}.gcno" "${f%.gcda}.gcno" 2>/dev/null
	done
	(cd "$tree" && find "$t" -name '*.gcda' -exec gcov -t {} + 2>/dev/null)
done | awk -v tree="$(cd "$tree" && pwd -P)/" -v nonce="$1" '
function failing(key,  part) {
	bad[key]++
	split(key, part, SUBSEP)
	weight[part[1]]++
}
function finish(  key, seen) {
	for (key in now) {
		seen = 1
		if (what == "x")
			other[key] = 1
		else if (what == "p")
			good[key]++
		else
			failing(key)
	}
	if (seen)
		tests[what]++
	for (key in before) {
		if (what == "f" && seen && !(key in now))
			failing(key)
	}
	delete before
	for (key in now)
		before[key] = 1
	delete now
}
function flush(  i) {
	if (from > 0)
		row = row (row == "" ? "" : ",") from (to > from ? "-" to : "")
	if (length(row) > 1500 || done) {
		if (row != "")
			text = text kind " " row "\n"
		row = ""
	}
	from = 0
}
function kind_of(f, l) {
	if (bad[f, l] + good[f, l] > 0)
		return bad[f, l] + 0 "/" good[f, l] + 0
	return (f, l) in other ? "x" : "-"
}
function report(f,  l, k, n, i, kinds) {
	n = 0
	for (l = 1; l <= most[f]; l++) {
		if (!((f, l) in code))
			continue
		k = kind_of(f, l)
		if (!(k in kinds)) {
			kinds[k] = 1
			names[n++] = k
		}
	}
	text = "= " f "\n"
	for (i = 0; i < n; i++) {
		kind = names[i]
		row = ""
		done = from = 0
		for (l = 1; l <= most[f]; l++) {
			if (!((f, l) in code))
				continue
			if (kind_of(f, l) != kind)
				flush()
			else {
				if (from == 0)
					from = l
				to = l
			}
		}
		done = 1
		flush()
	}
	return text
}
$1 == "test" && NF == 2 {
	finish()
	split($2, name, ".")
	if (name[1] != pid)
		delete before
	pid = name[1]
	what = name[3]
	next
}
{
	i = index($0, ":")
	count = substr($0, 1, i - 1)
	rest = substr($0, i + 1)
	i = index(rest, ":")
	line = substr(rest, 1, i - 1) + 0
	gsub(/[ *]/, "", count)
	if (line == 0) {
		if (substr(rest, i + 1, 7) == "Source:") {
			file = substr(rest, i + 8)
			sub(/^\.\//, "", file)
			if (index(file, tree) == 1)
				file = substr(file, length(tree) + 1)
			skip = file ~ /^\/|\.\.\/|(^|\/)(tests?|spec|testing)\/|(^|\/)test[-_.]|[-_]tests?\./
		}
		next
	}
	if (skip || count == "-" || count == "")
		next
	code[file, line] = 1
	if (line > most[file])
		most[file] = line
	if (count !~ /^[0-9]/ || count + 0 == 0)
		next
	now[file, line] = 1
}
END {
	finish()
	size = 0
	body = ""
	while (1) {
		best = ""
		for (f in most)
			if (best == "" || weight[f] + 0 > weight[best] + 0)
				best = f
		if (best == "")
			break
		piece = report(best)
		delete most[best]
		if (size + length(piece) > 14000)
			continue
		size += length(piece)
		body = body piece
	}
	if (body != "")
		printf "foray-spectrum %s %d %d\n%send %s\n", nonce, tests["f"],
		    tests["p"], body, nonce
}'
