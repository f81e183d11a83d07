#!/bin/sh
# gcov.sh NONCE - the report (spectrum.h) from what hook.c left: one directory a
# test beside this file, with counters whose notes are in the copy of the tree.
d=${0%/*}
tree=$d/copy
for t in "$d"/t/[fpx].*; do
	test -d "$t" || exit 1
	printf 'test %s\n' "${t##*/}"
	find "$t" -name '*.gcda' | while IFS= read -r f; do
		n=${f#"$t"}
		ln -s "${n%.gcda}.gcno" "${f%.gcda}.gcno" 2>/dev/null
	done
	(cd "$tree" && find "$t" -name '*.gcda' -exec gcov -t {} + 2>/dev/null)
done | awk -v tree="$(cd "$tree" && pwd -P)/" -v nonce="$1" '
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
	if (seen)
		tests[what]++
	what = substr($2, 1, 1)
	seen = 0
	number++
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
	seen = 1
	if (what == "x")
		other[file, line] = 1
	else if (had[file, line] != number) {
		had[file, line] = number
		if (what == "f") {
			bad[file, line]++
			weight[file]++
		} else
			good[file, line]++
	}
}
END {
	if (seen)
		tests[what]++
	size = 0
	body = ""
	while (1) {
		best = ""
		for (f in most)
			if (best == "" || weight[f] + 0 > weight[best] + 0)
				best = f
		if (best == "")
			break
		part = report(best)
		delete most[best]
		if (size + length(part) > 14000)
			continue
		size += length(part)
		body = body part
	}
	if (body != "")
		printf "foray-spectrum %s %d %d\n%send %s\n", nonce, tests["f"],
		    tests["p"], body, nonce
}'
