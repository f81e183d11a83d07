/*
 * placing.h - which host gets a subtask. Pure.
 *
 * A host can take it when it has a free slot and the labels that are wanted, is
 * not draining or full, starts not as many already as it does at once (what
 * judges others' work goes before), and has the memory: the subtask's limit
 * beside those of what runs there. A host where nothing runs takes any subtask:
 * the limit is a limit, not a need. Of those that can, one that has the
 * snapshot is taken, then the one with the most free slots, then with the most
 * memory left, then the first.
 */
#ifndef ORCHESTRATOR_RUN_PLACING_H
#define ORCHESTRATOR_RUN_PLACING_H

#include "common/strv.h"

struct placing {
	unsigned slots, busy;
	unsigned judging;    /* of its slots: for what judges others' work */
	unsigned starting;   /* of the busy ones: not up yet */
	unsigned at_once;    /* of those; 0: any number */
	uint64_t memory_mib; /* 0: not known */
	struct strv labels;
	bool draining;
	bool full; /* it says so, whatever busy is */
	bool has_snapshot;
};

/* The same for all subtasks of a run. */
struct placing_want {
	const struct strv *labels; /* NULL: any host */
	uint64_t memory_mib;       /* limit of a subtask; 0: the host's own */
	bool judges;               /* it may have the slots for that */
};

/* Does it have the labels? */
bool placing_fits(const struct placing *p, const struct placing_want *w);
/* Free slots that it gets work for as soon as what it starts is up. */
unsigned placing_soon(const struct placing *p);
/* Can it take one, and is it better than the best so far (NULL: none)? */
bool placing_better(const struct placing *p, const struct placing *best,
    const struct placing_want *w);

#endif
