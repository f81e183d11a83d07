/*
 * turn.h - the state of a worker's conversation, for turn.c and compact.c.
 */
#ifndef WORKER_AGENT_TURN_H
#define WORKER_AGENT_TURN_H

#include "worker/agent/agent.h"
#include "worker/agent/context.h"
#include "worker/agent/conv.h"
#include "worker/agent/notes.h"
#include "worker/agent/watch.h"

struct turns {
	struct agent *a;
	struct conv conv;
	struct context ctx;
	struct notes notes;
	struct watch watch;
	struct strv ids;     /* of all calls so far */
	struct strv steered; /* said to the model with the next request */
	uint64_t turn;
	unsigned no_calls;  /* messages in a row without one */
	unsigned giants;    /* answers in a row that were too large */
	unsigned saved;     /* files of dropped results */
	size_t saved_bytes; /* in them */
	unsigned stops;     /* times that a hook sent it on */
	bool overflowed;    /* the last request was too long */
	bool went_on;       /* a cut-off message was answered so already */
	bool diverged;      /* recorded results are no longer looked at */
};

/* One request. *ret: an answer whose status is "ok", "overflow" or "too_large";
 * yours. With NULL there the worker has ended (budget, error). */
void turns_ask(struct turns *t, const char *late, struct msg **ret);

/* What changes from turn to turn, for its request; appended. */
void turns_late(const struct turns *t, struct buf *ret);

/* Before a request: make room in the window, by a summary if need be. force:
 * the provider said that the conversation is too long. The worker ends when
 * that can't be done. */
void turns_make_room(struct turns *t, bool force);

/* call.c: make a call, add its one result. recorded: of MODEL_RESULT. */
int turns_call(struct turns *t, const json_t *call,
    const struct msg_strs *recorded, struct err *e);

/* compact.c: a summary by the model instead of the middle. */
void compact(struct turns *t);

/* recorded.c: what an earlier attempt got for the same call: borrowed text of
 * the message, and the same as JSON (a new reference). */
enum recorded {
	RECORDED_NONE,
	RECORDED_SAME,   /* *ret_text is to stand in the conversation */
	RECORDED_DIFFERS /* the outcome; line says how */
};
enum recorded recorded_find(const struct msg_strs *v, const char *id,
    const char *name, const char *fresh, const char **ret_text,
    json_t **ret_json, char *line, size_t line_size);
/* The recorded result of this call, whatever it would be now; false: none. */
bool recorded_result(
    const struct msg_strs *v, const json_t *call, struct buf *ret);

#endif
