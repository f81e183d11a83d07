#!/bin/sh
# tidy.sh - clang-tidy on all sources of the programs, warnings are errors.
set -u
cflags="-std=c11 -D_GNU_SOURCE -DFORAY_VERSION=\"x\" -DLIBEXECDIR=\"x\" -DDATADIR=\"x\" -I. $(pkg-config --cflags libbsd-overlay msgpack jansson libzmq)"
checks='-*,clang-analyzer-*,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling,bugprone-*,-bugprone-easily-swappable-parameters,-bugprone-reserved-identifier,-bugprone-macro-parentheses,-bugprone-narrowing-conversions,-bugprone-implicit-widening-of-multiplication-result,-bugprone-branch-clone,-bugprone-assignment-in-if-condition,misc-redundant-expression,portability-*,readability-inconsistent-declaration-parameter-name,readability-duplicate-include'
find common proto sandbox worker orchestrator -name '*.c' | sort |
	xargs -P "$(nproc)" -n 1 sh -c 'cflags=$1 checks=$2; shift 2
	clang-tidy --quiet --warnings-as-errors="*" --checks="$checks" "$@" -- $cflags 2>/dev/null' tidy "$cflags" "$checks"
