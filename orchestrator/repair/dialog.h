/*
 * dialog.h - reading a conversation and writing the next message of it.
 *
 * A conversation is a JSON array of messages as the gateway passes them. All
 * of it is untrusted: what has another shape than expected is skipped.
 */
#ifndef REPAIR_DIALOG_H
#define REPAIR_DIALOG_H

#include "common/json.h"

/* What the first user message says in its fenced block. */
struct facts {
	bool plan;           /* role plan; else explore */
	char *hypothesis_id; /* NULL: none */
	char *hypothesis;    /* "" when none */
	char *output;
	char *tmp; /* the workers' temporary directory; NULL: not known */
	struct strv tests, failing, guarded;
	uint64_t test_ms, parallel;
	uint64_t limit_ms;  /* of one run of the check; 0: from test_ms */
	uint64_t budget_ms; /* time for trying; 0: no limit */
	uint64_t share;     /* how many runs share a processor; 0: one has it */
};

int facts_parse(const json_t *conv, struct facts *ret, struct err *e);
void facts_clear(struct facts *f);

/* "" when the message has no such string. */
const char *dialog_str(const json_t *msg, const char *key);
bool dialog_is(const json_t *msg, const char *role);
bool dialog_is_error(const char *result);
/* The same without what the person's hooks added to results (common/notes.h), a
 * new reference. *ret_objection: what they hold against the last result, when
 * that is one of tool; yours, NULL: nothing. */
json_t *dialog_plain(
    const json_t *conv, const char *tool, char **ret_objection);
/* The call that the tool message at index i answers: its name and arguments
 * (a new reference, NULL when they are no object). */
const char *dialog_answered(const json_t *conv, size_t i, json_t **ret_args);
/* Index of the last assistant message that calls a tool; SIZE_MAX: none. */
size_t dialog_last_call(const json_t *conv);

/* A new assistant message; calls are numbered on from those in conv. */
json_t *dialog_reply(const char *fmt, ...) printflike(1, 2);
/* args is taken over. */
void dialog_call(
    json_t *reply, const json_t *conv, const char *tool, json_t *args);

#endif
