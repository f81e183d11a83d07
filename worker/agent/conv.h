/*
 * conv.h - a conversation that only grows at its end.
 *
 * Messages are JSON texts; the text that was hashed once is never made again,
 * so that a provider's cache and the orchestrator's store both hit. What the
 * orchestrator was sent is not sent again unless it asks.
 */
#ifndef WORKER_AGENT_CONV_H
#define WORKER_AGENT_CONV_H

#include "common/hash.h"
#include "common/json.h"
#include "worker/agent/link.h"

struct conv_msg {
	char *text;
	size_t len;
	unsigned char hash[HASH_LEN];
};

struct conv {
	struct conv_msg *v;
	size_t n;
	size_t known; /* the first messages that the orchestrator has */
};

#define CONV_MESSAGE_MAX ((size_t)1 << 20)

void conv_clear(struct conv *c);
/* Steals j. ERR_LIMIT when it is too large to be sent. */
int conv_add(struct conv *c, json_t *j, struct err *e);
int conv_add_text(struct conv *c, const char *s, size_t len, struct err *e);

/* Ask the model, for as long as it takes. *ret: the answer, whose status is
 * "ok", "budget" or "error"; yours. */
int conv_ask(struct conv *c, struct link *l, uint64_t turn, struct msg **ret,
    struct err *e);

/* For conv_ask, and for tests: fill m, whose arrays are kept in *hashes and
 * *bodies. need: hashes that are asked for, else what is new. */
void conv_request(const struct conv *c, uint64_t turn, const void *need,
    size_t need_len, struct buf *hashes, const char ***bodies, struct msg *m);

#endif
