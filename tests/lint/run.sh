#!/bin/sh
# run.sh - all lint checks; each says what it found; status 1 when any did.
set -u
cd "$(dirname "$0")/../.." || exit 1
status=0
check() {
	name=$1
	shift
	if out=$("$@" 2>&1); then
		printf '  ok      %s\n' "$name"
	else
		printf '  FAILED  %s\n%s\n' "$name" "$out" | head -n 60
		status=1
	fi
}
files=$(git ls-files '*.c' '*.h' 2>/dev/null)
[ -n "$files" ] || files=$(find common proto sandbox worker orchestrator tests -name '*.[ch]')
sources=$(printf '%s\n' $files | grep '\.c$' | grep -v '^tests/bugs/')
files=$(printf '%s\n' $files | grep -v '^tests/bugs/')

check format clang-format --dry-run -Werror $files
check layers sh tests/lint/layers.sh
check sizes sh tests/lint/size.sh
check banned sh tests/lint/banned.sh
check headers sh tests/lint/headers.sh
check protocol-page python3 tests/lint/proto_doc.py --check
check names sh tests/lint/names.sh
check shellcheck shellcheck -s sh -e SC2086,SC2044,SC2013,SC2046,SC2016 $(git ls-files '*.sh' | grep -v '^tests/bugs/')
for page in $(find orchestrator worker proto sandbox -name '*.[178]'); do
	check "$page" mandoc -Tlint -Wwarning "$page"
done
check spelling codespell -q 3 -L 'ot,te,nd,ba,fo,inout,ue,hist,ro,pass-thru,statics,addr,ans,crate,doas' $(git ls-files '*.[ch178]' '*.md' '*.sh' '*.def' | grep -v '^tests/bugs/')
check cppcheck cppcheck -q --std=c11 --language=c --enable=warning,performance,portability \
	--library=bsd --include=tests/lint/cppcheck.h \
	--inline-suppr --error-exitcode=1 --suppressions-list=tests/lint/cppcheck.txt \
	-DFORAY_VERSION='"x"' -DLIBEXECDIR='"x"' -DDATADIR='"x"' -D_GNU_SOURCE -I. -j"$(nproc)" \
	$(printf '%s\n' $sources | grep -v '^tests/')
[ -n "${FAST:-}" ] || check clang-tidy sh tests/lint/tidy.sh
exit $status
