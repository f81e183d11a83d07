/*
 * replay.h - the monitor's rules over a chain that is there already: what they
 * would have hit, and what a run that goes on had seen before.
 */
#ifndef ORCHESTRATOR_MONITOR_REPLAY_H
#define ORCHESTRATOR_MONITOR_REPLAY_H

#include "orchestrator/monitor/monitor.h"
#include "orchestrator/store/store.h"

/* Facts of a run: its tree, its protected files, the person's own commands. */
void replay_place(struct store *s, struct monitor_place *ret);
/* For a later replay. */
int replay_save_guarded(
    struct store *s, const struct strv *guarded, struct err *e);

/* Every line of the run's audit.jsonl, in order. hit (may be NULL) is called
 * for each rule that a line completes; line counts from 1. Lines that can't be
 * read are passed over: audit_verify() says what is wrong with them. */
int replay_chain(struct store *s, struct monitor *m,
    void (*hit)(void *ctx, uint64_t line, const struct monitor_act *a,
	const struct monitor_hit *h),
    void *ctx, struct err *e);

#endif
