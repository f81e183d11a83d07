#!/bin/sh
# batch_script.sh FILE.py - the program as C: batch_script[]. Comment lines need
# not be carried about.
set -eu

printf '#include "worker/agent/batch_script.h"\n\n'
printf 'const char batch_script[] = {\n'
grep -v '^ *#' "$1" | od -An -v -tx1 | sed 's/ \([0-9a-f]*\)/ 0x\1,/g'
printf '\t0,\n};\n'
