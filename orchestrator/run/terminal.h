/*
 * terminal.h - a question to the person at the terminal, asked without waiting.
 *
 *	struct terminal *t = terminal_open(loop, answered, ctx);  NULL: none
 *	terminal_ask(t, text, 60000);   one at a time
 *	... answered(ctx, TERMINAL_ONCE)
 *	terminal_close(t);
 */
#ifndef ORCHESTRATOR_RUN_TERMINAL_H
#define ORCHESTRATOR_RUN_TERMINAL_H

#include "common/loop.h"

enum terminal_answer {
	TERMINAL_DENY,
	TERMINAL_ONCE,
	TERMINAL_RUN, /* for this run */
	TERMINAL_LATE /* the time was up: a denial */
};

struct terminal;

/* NULL when there is no terminal, or when it is not ours to read: in the
 * background. */
struct terminal *terminal_open(struct loop *l,
    void (*answered)(void *ctx, enum terminal_answer a), void *ctx);
void terminal_close(struct terminal *t);
/* text: lines, escaped already. The answers and the time are named below it. */
void terminal_ask(struct terminal *t, const char *text, uint64_t wait_ms);
bool terminal_busy(const struct terminal *t);
/* The one who asked is gone. */
void terminal_withdraw(struct terminal *t);

#endif
