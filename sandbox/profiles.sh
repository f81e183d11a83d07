#!/bin/sh
# profiles.sh FILE.json... - the profiles as C: profile_supplied[].
set -eu

printf '#include "sandbox/profile_def.h"\n\n'
printf 'const struct profile_supplied profile_supplied[] = {\n'
for file; do
	name=${file##*/}
	printf '\t{ "%s",\n' "${name%.json}"
	sed 's/[\\"]/\\&/g; s/^/\t  "/; s/$/\\n"/' "$file"
	printf '\t},\n'
done
printf '\t{ 0 },\n};\n'
