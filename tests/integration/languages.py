#!/usr/bin/env python3
"""One bug in each language that tests/bugs has none of: the built-in model reads
it and mends it (orchestrator/repair/README.md)."""
import shutil

import lib

# Language, program that it needs, test command, the file with the bug, files.
ROWS = (
    ("awk", "awk", "sh test.sh", "total.awk", {
        "total.awk": r'''# Sum of the second column for each name; "#" begins a comment there.
function add(name, amount) {
	sums[name] += amount
	if (amount > most[name])
		most[name] = amount
}

function average(name, n) {
	if (n <= 1)
		return 0
	return sums[name] / n
}

/^#/ { next }
NF >= 2 { add($1, $2); count[$1]++ }
END {
	for (name in sums)
		print name, sums[name], most[name], average(name, count[name])
}
''', "test.sh": r'''bad=0
is() {
	if [ "$2" = "$3" ]; then
		echo "ok - $1"
	else
		echo "not ok - $1"
		echo "# $2"
		bad=1
	fi
}
run() { printf "$1" | awk -f total.awk | sort; }
is one "$(run 'a 5\n')" "a 5 5 5"
is two "$(run 'a 5\na 7\n')" "a 12 7 6"
is comment "$(run '# x 1\nb 2\nb 4\n')" "b 6 4 3"
echo 1..3
exit $bad
'''}),
    ("Perl", "prove", "prove -v t/slot.t", "lib/Slot.pm", {
         "lib/Slot.pm": r'''package Slot;
use strict;
use warnings;

# Free slots of a day, in minutes; '#' is no comment in a string.
sub overlaps {
	my ($from, $to, $other_from, $other_to) = @_;
	return $from <= $other_to && $other_from < $to;
}

sub free {
	my ($start, $end, @busy) = @_;
	my @free;
	for my $b (sort { $a->[0] <=> $b->[0] } @busy) {
		next unless overlaps($start, $end, $b->[0], $b->[1]);
		push @free, [$start, $b->[0]] if $b->[0] > $start;
		$start = $b->[1] if $b->[1] > $start;
	}
	push @free, [$start, $end] if $start < $end;
	return @free;
}

1;
''', "t/slot.t": r'''use strict;
use warnings;
use lib 'lib';
use Test::More tests => 4;
use Slot;
ok(Slot::overlaps(1, 5, 3, 9), 'overlap');
ok(!Slot::overlaps(5, 9, 1, 5), 'touching is no overlap');
ok(!Slot::overlaps(1, 5, 5, 9), 'touching at the end');
is_deeply([Slot::free(0, 10, [2, 4])], [[0, 2], [4, 10]], 'free');
'''}),
)


def mends(box, language, program, test, source, files):
    if shutil.which(program) is None:
        print("%s: left out, there is no %s" % (language, program))
        return
    r = box.run(box.repo(language, files), "-t", test, "-m", "builtin", "-n",
                "2", timeout=120)
    lib.equal(r.status, 0, language + ": fixed", r)
    patch = lib.read(r.finished.get("patch", "/dev/null"))
    lib.equal([x[6:] for x in patch.splitlines() if x.startswith("+++ b/")],
              [source], language + ": where the bug is", patch)
    places = [h["hypothesis"] for h in r.all("planned")[0]["hypotheses"]]
    lib.check(any("() (" in p for p in places),
              language + ": its functions are seen", places)


with lib.Box() as the_box:
    for row in ROWS:
        mends(the_box, *row)
lib.done()
