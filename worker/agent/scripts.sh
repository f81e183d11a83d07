#!/bin/sh
# scripts.sh FILE... - programs for the commands' sandbox as C strings: NAME.EXT
# becomes script_NAME_EXT[]. Comment lines need not be carried about.
set -eu

printf '#include "worker/agent/scripts.h"\n'
for file; do
	name=${file##*/}
	case $name in
	*.py) comment='^ *#' ;;
	*.js) comment='^ *//' ;;
	esac
	printf '\nconst char script_%s[] = {\n' "$(echo "$name" | tr . _)"
	grep -v "$comment" "$file" | od -An -v -tx1 |
		sed 's/ \([0-9a-f]*\)/ 0x\1,/g'
	printf '\t0,\n};\n'
done
