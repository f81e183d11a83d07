/* builtin_priv.h - what provider_builtin.c and builtin_explore.c share; for
 * nobody else. */
#ifndef ORCHESTRATOR_GATEWAY_BUILTIN_PRIV_H
#define ORCHESTRATOR_GATEWAY_BUILTIN_PRIV_H

#include "orchestrator/gateway/provider_builtin.h"
#include "orchestrator/repair/trial.h"

#define BUILTIN_SOURCES_MAX 60
#define BUILTIN_ERRORS_MAX 3
#define BUILTIN_FINDING_MAX 1000

/* A cache of what the worker's conversation says. */
struct worker {
	char *name;
	uint32_t id; /* for the queue */
	size_t seen; /* messages that are settled */
	size_t calls, errors;
	uint64_t sent_ms; /* when the last trial was asked for; 0: none is */
	uint64_t pace_ms; /* of one candidate there; 0: not known */
	bool narrowed;    /* a narrower command than the whole was used */
	size_t tried[QUEUE_MAX_HYPO];
	size_t late[QUEUE_MAX_HYPO];  /* of these, timed out */
	size_t broke[QUEUE_MAX_HYPO]; /* passed that, and not the whole */
	/* operators, a bit each */
	uint64_t kinds[QUEUE_MAX_HYPO][REPAIR_OPS_MAX / 64];
	char *news;   /* to be told with the next trial; NULL: none */
	json_t *last; /* the last reply, and the message it answers */
	json_t *last_to;
	size_t last_len;
};

struct builtin {
	uint64_t seed;
	uint64_t until_ms; /* of the pass; 0: no limit */
	uint64_t end_ms;   /* of the run, as the facts have it; the same */
	uint64_t look_ms;  /* when it began to look for sources, or 0 */
	struct queue *q;
	struct source *src[BUILTIN_SOURCES_MAX];
	size_t n_src;
	struct ladder ladder; /* of all workers: whose control was answered */
	struct worker *w;
	size_t n_w;
	/* The last trials of all workers, a bit each: did it time out? */
	uint32_t recent;
	size_t n_recent;
	uint32_t measurer; /* the worker that takes the time now; 0: nobody */
};

/* provider_builtin.c */
/* Whole seconds that are left, UINT64_MAX without a limit. */
uint64_t builtin_left_s(const struct builtin *b);
json_t *builtin_finish(const json_t *conv, const char *verdict,
    const char *hypothesis, json_t *findings, json_t *evidence,
    const char *reason);
json_t *builtin_stuck(
    const json_t *conv, const struct facts *f, const char *reason);
/* What is needed before candidates are tried: sources, the queue, controls.
 * NULL: all is there. Otherwise the reply that asks for more, or gives up. */
json_t *builtin_prepare(
    struct builtin *b, const json_t *conv, const struct facts *f);

/*
 * builtin_late.c: trials that time out.
 */
/* A candidate's run timed out. full: it had passed a narrower step. args: of
 * the call. */
void builtin_late(struct builtin *b, struct worker *w, size_t cand, bool full,
    const json_t *args);
/* Nothing else is left to try: the few that timed out may be dealt once more.
 * How many. */
size_t builtin_second(struct builtin *b);
/* How a trial ended. */
void builtin_ended(struct builtin *b, bool late);
/* Most trials time out: the reply that takes the tests' time on the tree as it
 * is. over: nothing is left to try. NULL: no need. */
json_t *builtin_measure(
    struct builtin *b, struct worker *w, const json_t *conv, bool over);
/* What that said. */
void builtin_measured(struct builtin *b, struct worker *w,
    const struct facts *f, const json_t *args, const char *text);

/* builtin_explore.c: the next reply of a worker with role explore. */
json_t *builtin_explore(struct builtin *b, struct worker *w, const json_t *conv,
    const struct facts *f);

#endif
