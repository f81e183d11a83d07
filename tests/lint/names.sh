#!/bin/sh
# names.sh - every command and long option of the programs is in its man page.
set -u
status=0
# A command without a purpose is started by foray itself.
for c in $(sed -n 's/^	\.name = "\(.*\)",/\1/p' $(grep -l '\.purpose' orchestrator/cmd_*.c)); do
	grep -q "^\.It Ic $c\|^\.Ss foray $c" orchestrator/foray.1 ||
		{ echo "foray.1 lacks the command $c"; status=1; }
done
for o in $(grep -ho '{ "[a-z-]*", \(no\|required\)_argument' orchestrator/cmd_*.c | cut -d'"' -f2 | sort -u); do
	grep -q -- "-$(printf %s "$o" | sed 's/-/\\\\-/g')\|-$o" orchestrator/foray.1 ||
		{ echo "foray.1 lacks --$o"; status=1; }
done
exit $status
