/*
 * ladder.h - the commands that a candidate has to pass, the quickest first.
 *
 * The last step is the whole test command: it alone decides. Before it come
 * narrower ones (narrow.h), each after a control: on the tree as it is it must
 * fail by the tests that fail anyhow and say the same of them, and it must be
 * done clearly sooner. So no step refutes a fix because it can't succeed: for
 * want of a test that leaves something behind, for coverage, for an option
 * that the runner does not know.
 *
 *	ladder_set(&l, facts);
 *	while ((reply = ladder_control(&l, conv, facts)) != NULL)
 *		... a turn with one try_edits is played
 *	s = ladder_first(&l);              try candidates with s->command
 *	s = ladder_after(&l, command);     those that pass, with this; NULL: it
 *	                                   was the last
 */
#ifndef REPAIR_LADDER_H
#define REPAIR_LADDER_H

#include "orchestrator/repair/dialog.h"

#define LADDER_STEPS 3 /* the tests, their files, all */

enum step_state {
	STEP_NEW, /* its control is to be run */
	STEP_GOOD,
	STEP_BAD
};

struct step {
	char *command;
	enum step_state state;
	uint64_t ms; /* of a run */
	uint64_t limit_ms;
};

struct ladder {
	struct step v[LADDER_STEPS]; /* the last of n: the whole */
	size_t n;
};

/* Makes the steps; nothing happens when they are those of these facts. f has a
 * test command. */
void ladder_set(struct ladder *l, const struct facts *f);
void ladder_clear(struct ladder *l);
/* Takes note of the answers in conv. The reply that asks for the next control,
 * a try_edits with one edit that changes nothing; NULL: there is none. */
json_t *ladder_control(
    struct ladder *l, const json_t *conv, const struct facts *f);
/* What a control said, text as run_command answers. */
bool ladder_judge(const struct facts *f, const char *text);

/* A call that takes the time of the first step on the tree as it is, now: what
 * else the machine does may have made it slower. */
void ladder_ask_now(const struct ladder *l, json_t *reply, const json_t *conv,
    uint64_t limit_ms);
bool ladder_is_now(const char *name, const json_t *args);
/* What that said: limits are widened to what they are for such a time, to
 * most_ms each. False: they are wide enough. */
bool ladder_now(struct ladder *l, const struct facts *f, const char *command,
    const char *text, uint64_t most_ms);

const struct step *ladder_first(const struct ladder *l);
/* A command that is no step counts as narrow: the whole follows. */
const struct step *ladder_after(const struct ladder *l, const char *command);

#endif
