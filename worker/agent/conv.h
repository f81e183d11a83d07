/*
 * conv.h - a conversation that only grows at its end.
 *
 * Messages are JSON texts; the text that was hashed once is never made again,
 * so that a provider's cache and the orchestrator's store both hit. What the
 * orchestrator was sent is not sent again unless it asks. Only the context
 * policy (context.h) changes what stands there already.
 */
#ifndef WORKER_AGENT_CONV_H
#define WORKER_AGENT_CONV_H

#include "common/hash.h"
#include "common/json.h"
#include "worker/agent/link.h"

enum conv_role {
	CONV_TOOLS,
	CONV_SYSTEM,
	CONV_USER,
	CONV_ASSISTANT,
	CONV_RESULT
};

struct conv_msg {
	enum conv_role role;
	bool known; /* the orchestrator has it */
	bool stub;  /* a result that was dropped; set by trim_drop */
	char *text;
	size_t len;
	unsigned char hash[HASH_LEN];
};

struct conv {
	struct conv_msg *v;
	size_t n;
};

#define CONV_MESSAGE_MAX ((size_t)1 << 20)
#define CONV_LATE_MAX 8192
#define CONV_NAME_MAX 128

void conv_clear(struct conv *c);
/* Steals j, whose "role" decides. ERR_LIMIT when it is too large to be sent. */
int conv_add(struct conv *c, json_t *j, struct err *e);
int conv_add_text(struct conv *c, enum conv_role role, const char *s,
    size_t len, struct err *e);
/* A user message; kind (may be NULL) tells the orchestrator what it is:
 * "memory", "summary". text may be any bytes. */
int conv_add_user(
    struct conv *c, const char *kind, const char *text, struct err *e);
/* A "role":"tool" message, as conv_add takes it. Of a name that a model made up
 * the first CONV_NAME_MAX bytes are enough. */
json_t *conv_result(
    const char *id, const char *name, const char *text, size_t len);
size_t conv_name_len(const char *name);

/* For the context policy. Replace from..to-1 by j (stolen; NULL: nothing). */
int conv_splice(
    struct conv *c, size_t from, size_t to, json_t *j, struct err *e);
/* The message as JSON; a new reference, NULL: it can't be read. */
json_t *conv_json(const struct conv *c, size_t i);

/* Ask the model, for as long as it takes. late (may be NULL) goes with the
 * request and is not kept. *ret: the answer, whose status is not "need"; yours.
 */
int conv_ask(struct conv *c, struct link *l, uint64_t turn, const char *late,
    struct msg **ret, struct err *e);

/* For conv_ask, and for tests: fill m, whose arrays are kept in *hashes and
 * *bodies. need: hashes that are asked for, else what is new. */
void conv_request(const struct conv *c, uint64_t turn, const void *need,
    size_t need_len, struct buf *hashes, const char ***bodies, struct msg *m);

#endif
