/*
 * convs.h - the conversations that pass the gateway: each message is kept once,
 * by its hash, parsed once and put in its wire form once, and shared by all
 * conversations that hold it.
 */
#ifndef ORCHESTRATOR_GATEWAY_CONVS_H
#define ORCHESTRATOR_GATEWAY_CONVS_H

#include "common/hash.h"
#include "orchestrator/gateway/dialect.h"
#include "orchestrator/store/store.h"
#include "proto/msg.h"

#define CONV_MAX_MESSAGES 16384

struct convs;
struct call;

/* What a worker asked last. */
struct conv {
	char *worker;
	unsigned char *hashes; /* n * HASH_LEN */
	size_t n;
	size_t base; /* so many are those of its request before this one */
	/* Of its last exchange that is on record. */
	unsigned char *recorded;
	size_t n_recorded;
	unsigned char digest[HASH_LEN]; /* of hashes: names the conversation */
	json_t *array;                  /* the n messages */
	struct wire **wires;            /* the n messages for the dialect */
	struct call *call;              /* the gateway's, under way; or NULL */
};

/* d: NULL when no wire form is wanted. */
struct convs *convs_create(struct store *s, const struct dialect *d);
void convs_free(struct convs *c);
struct conv *convs_get(struct convs *c, const char *worker);
struct conv *convs_find(struct convs *c, const char *worker); /* or NULL */
void convs_drop(struct convs *c, const char *worker);

/* Take the bodies of q, then make the worker's conversation that of q. Hashes
 * whose bodies are not known go to need, and the conversation stays as it was.
 * ERR_PROTO when q is malformed; a store's error else. */
int convs_take(struct convs *c, struct conv *v, const struct msg_model *q,
    struct buf *need, struct err *e);
/* How many messages are those of the last exchange on record; from then on that
 * is this one. */
size_t conv_recorded(struct conv *v);
/* The role of message i, "" when it has none. */
const char *conv_role(const struct conv *v, size_t i);

#endif
