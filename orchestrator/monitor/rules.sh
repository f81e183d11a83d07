#!/bin/sh
# rules.sh FILE.json... - the rules as C: monitor_supplied[].
set -eu

printf '#include "orchestrator/monitor/rules.h"\n\n'
printf 'const struct monitor_supplied monitor_supplied[] = {\n'
for file; do
	name=${file##*/}
	printf '\t{ "%s",\n' "${name%.json}"
	sed 's/[\\"]/\\&/g; s/^/\t  "/; s/$/\\n"/' "$file"
	printf '\t},\n'
done
printf '\t{ 0 },\n};\n'
