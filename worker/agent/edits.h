/*
 * edits.h - the files of one candidate of try_edits, with its edits made.
 *
 *	struct edits es = { 0 };
 *	if (edits_make(a, &es, changes, e) == 0)
 *		edits_write(a, &es, dir, e);    or look at es.v[]
 *	edits_clear(&es);
 */
#ifndef WORKER_AGENT_EDITS_H
#define WORKER_AGENT_EDITS_H

#include <sys/types.h>

#include "common/json.h"
#include "worker/agent/agent.h"

struct edited {
	char *rel;       /* below the root */
	struct buf data; /* with the edits */
	struct buf old;  /* as the workspace has it; empty for a new file */
	mode_t mode;
	int64_t mtime;
	bool exists; /* in the workspace */
};

struct edits {
	struct edited *v;
	size_t n;
};

/* changes: [{path, old, new, line?}], none: the tree as it is. ERR_DENIED and
 * others: this candidate can't be. */
int edits_make(
    struct agent *a, struct edits *es, const json_t *changes, struct err *e);
/* The files below another directory, with the directories' modes. */
int edits_write(
    struct agent *a, const struct edits *es, const char *dir, struct err *e);
void edits_clear(struct edits *es);

#endif
