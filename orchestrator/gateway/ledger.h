/*
 * ledger.h - what may be spent and what is: model calls, tokens, money, time.
 *
 * A request is reserved before it is made and settled after it, here and in all
 * ledgers above (subtask, then run). A request goes ahead when it fits beside
 * what is spent and reserved; when it does not, it waits for the others to be
 * settled, and when there are none it may go ahead alone as long as anything is
 * left: the sum passes a limit by no more than one request. A reply that does
 * not say what it used counts as its reservation.
 */
#ifndef ORCHESTRATOR_GATEWAY_LEDGER_H
#define ORCHESTRATOR_GATEWAY_LEDGER_H

#include "common/err.h"
#include "common/json.h"

/* Money is in millionths of a dollar. Tokens: the whole input and the output,
 * reasoning included. */
struct amount {
	uint64_t in_tokens, out_tokens;
	uint64_t micro;
};

struct spend {
	uint64_t calls;
	uint64_t in_tokens, out_tokens;
	uint64_t cached_tokens, cache_write_tokens; /* of in_tokens */
	uint64_t reasoning_tokens;                  /* of out_tokens */
	uint64_t micro;
};

struct ledger {
	struct ledger *parent; /* NULL: the run's */
	/* 0: no limit */
	uint64_t max_calls, max_tokens, max_micro, max_time_ms;
	struct spend spent;
	struct amount reserved;
	uint64_t reserved_calls;
	bool out; /* something was refused */
};

/* 0; -EAGAIN: once another request is settled; ERR_BUDGET naming the limit. */
int ledger_reserve(struct ledger *l, const struct amount *a, struct err *e);
/* a as reserved. */
void ledger_settle(
    struct ledger *l, const struct amount *a, const struct spend *s);
/* The request was not made after all, or no reply came of it. */
void ledger_release(struct ledger *l, const struct amount *a);
/* Is there a limit of tokens or money, here or above? */
bool ledger_is_limited(const struct ledger *l);
/* Beside a reservation that stays. True: a limit is reached, here or above. */
bool ledger_charge(struct ledger *l, const struct spend *s);
void spend_add(struct spend *to, const struct spend *s);
/* {"calls","in_tokens","out_tokens","cached_tokens","reasoning_tokens",
 * "cost_usd"} */
json_t *spend_json(const struct spend *s);

#endif
