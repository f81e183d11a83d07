#!/bin/sh
# size.sh - no source file over 600 lines.
find common proto sandbox worker orchestrator -name '*.[ch]' -exec wc -l {} + |
	awk '$2 != "total" && $1 > 600 { print $2 ": " $1 " lines, 600 is the most"; bad = 1 } END { exit bad }'
