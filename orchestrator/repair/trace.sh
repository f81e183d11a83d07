#!/bin/sh
# trace.sh FILE... - the tracers as C: trace_scripts[], NULL at the end. Comments
# on lines of their own and indentation in blanks are left out: a command that
# writes one has 8 KiB.
set -eu

printf '#include "orchestrator/repair/trace.h"\n\n'
printf '#pragma GCC diagnostic ignored "-Woverlength-strings"\n\n'
printf 'const struct trace_script trace_scripts[] = {\n'
for file; do
	case $file in
	*.js | *.c) comment='^[ 	]*//' ;;
	*) comment='^[ 	]*#' ;;
	esac
	printf '\t{ "%s",\n' "${file##*/}"
	sed -e "\\,$comment,d" -e '/^$/d' \
	    -e ':a' -e 's/^\(	*\)    /\1	/' -e ta \
	    -e 's/[\\"]/\\&/g; s/^/\t  "/; s/$/\\n"/' "$file"
	printf '\t},\n'
done
printf '\t{ 0 },\n};\n'
