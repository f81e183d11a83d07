/*
 * trial.h - the candidates of one call of try_edits, run several at once.
 *
 * A slot for each command that may run at a time. What a slot does: a candidate
 * by the plain command in a sandbox of its own, or in its lane (batch.h), a
 * proof that lanes can be trusted, or the plain command again for a candidate
 * that passed in a lane, and for a few of those that failed.
 */
#ifndef WORKER_AGENT_TRIAL_H
#define WORKER_AGENT_TRIAL_H

#include "common/json.h"
#include "worker/agent/agent.h"

struct trial {
	/* set by the caller */
	struct agent *a;
	const json_t *edits;
	const char *check;
	uint64_t timeout_ms;
	bool stop_on_pass;
	uint64_t end_ms; /* loop_now_ms() when all are over; 0: none */
	size_t n;        /* edits */
	/* results */
	size_t done;
	json_t *passed;    /* yours, an array of numbers from 1 */
	json_t **results;  /* n of them, NULL: not tried */
	struct err broken; /* code != 0: no copies can be made */
};

void trial_run(struct trial *t);

#endif
