#!/bin/sh
# banned.sh - calls that this tree does not use: unbounded, unsafe, or running
# a shell outside a sandbox. Bare strtol and atoi hide errors: common/num.h.
status=0
if grep -rnE '(^|[^_[:alnum:].>])(system|popen|sprintf|vsprintf|strcpy|strcat|strncpy|gets|strtok|atoi|atol|mktemp|tmpnam|alloca)[[:space:]]*\(' \
	common proto sandbox worker orchestrator --include='*.c' | grep -vE ':[[:space:]]*/?\*'; then
	echo 'banned: use the functions of common/ instead'
	status=1
fi
# What is under trace/ is no part of a program of ours: it is linked into those
# whose tests are traced.
for f in $(find common proto sandbox worker orchestrator -name '*.c' \
	! -path 'orchestrator/repair/trace/*'); do
	first=$(grep -m 1 '^#include' "$f")
	[ "$first" = '#include "common/compat.h"' ] ||
		{ echo "$f: the first include must be common/compat.h"; status=1; }
done
# groff puts the closing quotes of such a line at its end.
if grep -nE '^\.[A-Z][a-z]q (Ql|Dq|Sq) .* No ' orchestrator/foray.1 worker/host/foray-host.8; then
	echo 'man pages: .Po, .Ql on a line of its own, .Pc'
	status=1
fi
exit $status
