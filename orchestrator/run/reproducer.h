/*
 * reproducer.h - a test that a worker wrote to show the bug of a task, and what
 * it does to patches. Pure; findings and patches are hostile text.
 *
 *	struct reproducer rp;
 *	if (reproducer_read(&findings, patch, len, tree, &rp, e) == 0) {
 *		...
 *		reproducer_clear(&rp);
 *	}
 *
 * The findings hold, one each:
 *
 *	command: sh tests/repro.sh      runs that test alone, from the work
 *	                                directory; not 0 while the bug is there
 *	expect: want 3, got 2           a part of its output then
 *
 * and anything else besides.
 */
#ifndef ORCHESTRATOR_RUN_REPRODUCER_H
#define ORCHESTRATOR_RUN_REPRODUCER_H

#include "common/buf.h"
#include "common/err.h"
#include "common/strv.h"

#define REPRODUCER_FILES 16
/* Less than a finding of SUMMARY holds: one that was cut there is seen. */
#define REPRODUCER_COMMAND 900
#define REPRODUCER_EXPECT 3 /* characters at least */

struct reproducer {
	char *command;     /* one line */
	char *expect;      /* one line */
	struct strv files; /* below root, sorted; each of them is new */
	char *patch;       /* that adds them, as it came */
	size_t patch_len;
};

/* Refused with a sentence that tells its author what to do: ERR_USAGE, or what
 * gitpatch_parse gives. The patch may only add regular files, and none that
 * decides how tests run; none may be there in tree, the snapshot (NULL: not
 * looked at). */
int reproducer_read(const struct strv *findings, const char *patch, size_t len,
    const char *tree, struct reproducer *ret, struct err *e);
void reproducer_clear(struct reproducer *rp);

/* Append patch without the parts that touch a file of rp, or lie below one.
 * When there are none the bytes stay as they are, also those of what is no
 * patch at all. */
void reproducer_strip(const struct reproducer *rp, const char *patch,
    size_t len, struct buf *ret);
/* Append a fix that was stripped, and the reproducer: one patch. */
void reproducer_join(
    const struct reproducer *rp, const char *fix, size_t len, struct buf *ret);

#endif
