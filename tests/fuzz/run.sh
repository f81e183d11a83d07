#!/bin/sh
# run.sh DIR SECONDS - run every fuzzer of DIR on its corpus for that long.
set -eu
dir=$1
seconds=$2
here=$(dirname "$0")
status=0
for f in "$dir"/fuzz_*; do
	case $f in *.o | *.d) continue ;; esac
	name=$(basename "$f")
	corpus=$here/corpus/${name#fuzz_}
	work=$(mktemp -d)
	printf '%s: ' "$name"
	if "$f" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
		-artifact_prefix="$work/" -print_final_stats=1 "$work" "$corpus" \
		>"$work.log" 2>&1; then
		sed -n 's/^stat::number_of_executed_units: */executions /p' "$work.log"
		rm -rf "$work" "$work.log"
	else
		echo "FAILED, see $work.log and $work"
		status=1
	fi
done
exit $status
