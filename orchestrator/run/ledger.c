#include "common/compat.h"

#include <inttypes.h>

#include "orchestrator/run/ledger.h"

int
ledger_reserve(struct ledger *l, struct err *e)
{
	if (l->max_calls != 0 && l->calls + l->reserved >= l->max_calls) {
		l->spent = true;
		return err_set(e, ERR_BUDGET,
		    "the budget of %" PRIu64 " model calls is spent",
		    l->max_calls);
	}
	if (l->max_tokens != 0 &&
	    l->in_tokens + l->out_tokens >= l->max_tokens) {
		l->spent = true;
		return err_set(e, ERR_BUDGET,
		    "the budget of %" PRIu64 " tokens is spent", l->max_tokens);
	}
	l->reserved++;
	return 0;
}

void
ledger_settle(struct ledger *l, uint64_t in_tokens, uint64_t out_tokens,
    uint64_t cached_tokens)
{
	l->reserved--;
	l->calls++;
	l->in_tokens += in_tokens;
	l->out_tokens += out_tokens;
	l->cached_tokens += cached_tokens;
}

void
ledger_release(struct ledger *l)
{
	l->reserved--;
}

json_t *
ledger_usage(const struct ledger *l)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:f}", "calls",
	    (json_int_t)l->calls, "in_tokens", (json_int_t)l->in_tokens,
	    "out_tokens", (json_int_t)l->out_tokens, "cached_tokens",
	    (json_int_t)l->cached_tokens, "cost_usd",
	    (double)l->cost_micro / 1e6);
}
