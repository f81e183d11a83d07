/*
 * ledger.h - what a run may spend, and what it has spent: model calls and time
 * (money and tokens join here). A call is reserved before it is made and
 * settled after it, so that the sum can't pass the limit.
 */
#ifndef ORCHESTRATOR_RUN_LEDGER_H
#define ORCHESTRATOR_RUN_LEDGER_H

#include "common/err.h"
#include "common/json.h"

struct ledger {
	uint64_t max_calls;   /* 0: no limit */
	uint64_t max_time_ms; /* 0: no limit */
	uint64_t max_tokens;  /* 0: no limit; input and output together */
	uint64_t calls, reserved;
	uint64_t in_tokens, out_tokens, cached_tokens;
	uint64_t cost_micro; /* millionths of a dollar */
	bool spent;          /* something was refused */
};

/* 0, or ERR_BUDGET naming the limit that is reached. */
int ledger_reserve(struct ledger *l, struct err *e);
void ledger_settle(struct ledger *l, uint64_t in_tokens, uint64_t out_tokens,
    uint64_t cached_tokens);
/* The call was not made after all. */
void ledger_release(struct ledger *l);
json_t *ledger_usage(const struct ledger *l);

#endif
