#!/bin/sh
# layers.sh - an include points down only: common < proto, sandbox <
# {worker/host, worker/agent, orchestrator}; the last three never include each
# other.
set -u
status=0
deny() { # deny FOLDER PATTERN
	if grep -rnE "^#include \"($2)" "$1" --include='*.[ch]'; then
		echo "layers: $1 may not include these"
		status=1
	fi
}
deny common 'proto/|sandbox/|worker/|orchestrator/'
deny proto 'sandbox/|worker/|orchestrator/'
deny sandbox 'proto/|worker/|orchestrator/'
deny worker/host 'worker/agent/|orchestrator/'
deny worker/agent 'worker/host/|orchestrator/'
deny orchestrator 'worker/'
# The worker stays tiny and the keys stay in one place.
if grep -rnE '#include <(curl|sqlite3)' common proto sandbox worker --include='*.[ch]'; then
	echo 'layers: curl and SQLite belong to the orchestrator'
	status=1
fi
exit $status
