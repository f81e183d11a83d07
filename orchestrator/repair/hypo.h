/* hypo.h - grouping candidates into at most QUEUE_MAX_HYPO hypotheses. */
#ifndef REPAIR_HYPO_H
#define REPAIR_HYPO_H

#include "orchestrator/repair/queue.h"

/* c is sorted, best first. Sets hypo of every candidate; returns the number of
 * hypotheses in ret, best first, with names, sentences and lists. */
size_t hypo_group(struct cands *c, struct source *const *sources,
    struct hypo ret[QUEUE_MAX_HYPO]);

#endif
