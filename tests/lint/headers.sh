#!/bin/sh
# headers.sh - each header compiles alone.
status=0
cflags=$(pkg-config --cflags libbsd-overlay msgpack jansson libzmq)
for h in $(find common proto sandbox worker orchestrator -name '*.h'); do
	printf '#include "%s"\n' "$h" |
		gcc -std=c11 -D_GNU_SOURCE -I. $cflags -Wall -Wextra -Werror -fsyntax-only -x c - ||
		{ echo "$h does not compile alone"; status=1; }
done
exit $status
