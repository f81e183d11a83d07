/*
 * trace.h - the commands that find out which lines the tests execute.
 *
 *	struct trace t;
 *	trace_scan(&t, conv);
 *	if (!t.asked && trace_ask(reply, conv, facts, &reading) > 0)
 *		... the reply has run_command calls; answered, scan again
 *	t.found: t.spectrum is what came of it
 *	trace_clear(&t);
 *
 * The test command runs once more, below a tracer of ours that is written to
 * the command's temporary directory, with a time limit of its own. Whatever
 * goes wrong there (no interpreter, a tracer that fails or hangs, a report
 * that is cut) only means that nothing is found.
 */
#ifndef REPAIR_TRACE_H
#define REPAIR_TRACE_H

#include "orchestrator/repair/reading.h"
#include "orchestrator/repair/spectrum.h"

/* Tests that take longer are not run once more for this. */
#define TRACE_MAX_TEST_MS 2000

struct trace {
	bool asked; /* calls are in the conversation, and answered */
	bool found; /* spectrum is set */
	struct spectrum spectrum;
};

/* In trace_scripts.c, made from trace/: without comments, NAME.EXTENSION. */
struct trace_script {
	const char *name, *text;
};
extern const struct trace_script trace_scripts[];

void trace_scan(struct trace *t, const json_t *conv);
/* Adds the calls for the language of most of what was read; their number. An
 * explorer's tests run on a copy of a tree that is not too large, since what
 * they leave behind would be part of its work. */
size_t trace_ask(json_t *reply, const json_t *conv, const struct facts *f,
    const struct reading *r);
void trace_clear(struct trace *t);

/* For tests: the commands themselves, each to free; 0 when there are none. tmp:
 * the temporary directory, NULL: the environment says. */
#define TRACE_MAX_CALLS 2
size_t trace_commands(const char *test, enum token_dialect d, bool copy,
    const char *tmp, const char *nonce, char *ret[TRACE_MAX_CALLS]);

#endif
