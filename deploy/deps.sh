#!/bin/sh
# deps.sh USE PACKAGE... - install the Debian packages that are missing; where
# that is not allowed, say which ones, what for, and the command.
set -eu
use=$1
shift

if ! command -v dpkg-query >/dev/null; then
	echo "deps: this is no Debian system; for $use it needs the equivalents of: $*" >&2
	exit 1
fi
missing=
for p in "$@"; do
	case $(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null || :) in
	installed) ;;
	*) missing="$missing $p" ;;
	esac
done
# A program that is there already need not come from a package.
rest=
for p in $missing; do
	case $p in
	nodejs) command -v node >/dev/null && continue ;;
	golang-go) command -v go >/dev/null && continue ;;
	default-jdk-headless) command -v javac >/dev/null && continue ;;
	python3 | git | make | gcc | clang | clang-tidy | clang-format | cppcheck)
		command -v "$p" >/dev/null && continue ;;
	esac
	rest="$rest $p"
done
[ -n "$rest" ] || exit 0

sudo=
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
		if [ ! -t 0 ] || ! command -v sudo >/dev/null; then
			echo "deps: for $use these packages are missing:$rest" >&2
			echo "deps: installing needs root. Run: apt-get install --no-install-recommends$rest" >&2
			exit 1
		fi
	fi
	sudo=sudo
fi
echo "deps: for $use:$rest"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086
if ! { $sudo env DEBIAN_FRONTEND=noninteractive apt-get update -q &&
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
		--no-install-recommends $rest; } >"$log" 2>&1; then
	tail -n 20 "$log" >&2
	echo "deps: apt-get failed. Run: apt-get install --no-install-recommends$rest" >&2
	exit 1
fi
