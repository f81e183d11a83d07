/*
 * dialect_priv.h - what the dialects share; no one else includes it.
 *
 * Reading (dialect_read.c): getters that never trust a type, and the block
 * that is open while its text streams in. Writing (dialect_wire.c): the parts
 * of our messages, and the order of a request.
 */
#ifndef ORCHESTRATOR_GATEWAY_DIALECT_PRIV_H
#define ORCHESTRATOR_GATEWAY_DIALECT_PRIV_H

#include "orchestrator/gateway/dialect.h"

#define BODY_JSON_MAX ((size_t)16 << 20)

/* --- reading ---------------------------------------------------------------
 */

/* A new reference, or NULL: nothing in it, or no JSON object (fault is set). */
json_t *read_object(struct reply *r, const char *s, size_t len);
/* The same of an event, whose own "type" goes before the stream's name for it.
 * NULL also after the reply's end. */
json_t *read_typed(
    struct reply *r, const char **event, const char *data, size_t len);
/* NULL when it is missing, empty or no string. */
const char *read_str(const json_t *obj, const char *key);
/* 0 when it is missing or no count. */
uint64_t read_count(const json_t *obj, const char *key);
long read_index(const json_t *obj, const char *key); /* -1: none */
void read_model(struct reply *r, const json_t *obj);
/* An error as a string or an object {code, type, message}. */
void read_error(struct reply *r, const json_t *error);
void read_text(struct reply *r, const json_t *string);
/* Arguments as text or as an object; null: none. */
void read_args(struct reply *r, struct reply_call *c, const json_t *args);
void read_id(struct reply_call *c, const char *id);
/* Usage is taken when it counts something. */
void read_usage(struct reply *r, const struct usage *u);

/* Takes block. Its text comes to aside, its signature to sig. */
void block_open(struct reply *r, json_t *block, long index);
void block_text(struct reply *r, const json_t *string);
void block_sig(struct reply *r, const json_t *string); /* the next piece */
/* Puts the block with them into opaque; nothing when none is open. */
void block_close(struct reply *r, const char *text_key, const char *sig_key);
void mark_text(struct reply *r);
/* The call that was made last; id: more members, taken, or NULL. */
void mark_call(struct reply *r, const char *id);

/* --- writing: the parts of a message ---------------------------------------
 */

/* ERR_PROTO: no role, content or shape of ours. */
int wire_check(const json_t *m, enum role *ret, struct err *e);
void wire_add(struct buf *b, json_t *value); /* takes value; comma-joined */
void wire_done(struct buf *b, enum role role, struct wire *ret);

/* What an assistant message consists of, in the order to send. */
struct said {
	void *ctx;
	void (*block)(void *ctx, const json_t *block);
	void (*text)(void *ctx, const char *text);
	/* id: of the item, as the server named it; NULL */
	void (*call)(void *ctx, const json_t *call, const char *id);
};
/* text is left out when it is blank, opaque blocks when they are of another
 * api, everything when there is neither text nor a call. */
void said_walk(const json_t *m, const char *api, const struct said *s);
void said_ids(const json_t *m, struct strv *ret);

/* The arguments of a call as an object (new reference) and, unless ret_text is
 * NULL, as text: the model's own where it is sound JSON. */
json_t *call_args(const json_t *call, char **ret_text);
/* [A-Za-z0-9_-], at most 64. */
void call_name(const json_t *call, char dst[65]);

/* --- writing: the order of a request ---------------------------------------
 */

struct step {
	const struct wire *w; /* NULL: */
	const char *missing;  /* the id of a call that has no result */
	bool user_side;       /* result or user */
};

struct plan {
	struct step *v;
	size_t n;
	const struct wire *tools; /* NULL: none */
};

extern const char missing_text[];

/* All but the tools; empty wires are left out. */
void plan_make(const struct request *q, struct plan *ret);
void plan_clear(struct plan *p);

struct message_form {
	json_t *(*user)(const char *text); /* ends in the text */
	json_t *(*result)(const char *id, const char *text);
};
/* The steps, comma-joined, late at their end. <0: over the maximum. */
int body_steps(struct buf *b, const struct plan *p,
    const struct message_form *f, const char *late);
/* The object without its closing brace. Takes head. */
int body_head(struct buf *b, json_t *head);
/* ,"tools":[...]; nothing when there are none. */
int body_tools(struct buf *b, const struct plan *p);
/* text, ending in '}', with one more member. */
int body_with_member(
    struct buf *b, const char *text, size_t len, const char *member);
/* The whole body as both of OpenAI's APIs have it: head(), the tools, then the
 * messages as the list key. */
int body_openai(const struct request *q, struct buf *ret,
    json_t *(*head)(const struct request *q, bool tools), const char *key,
    const struct message_form *form, struct err *e);
int body_over(const struct buf *b, struct err *e); /* ERR_LIMIT */

/* Reading of a dialect whose writing is in another file. */
void chat_event(
    struct reply *r, const char *event, const char *data, size_t len);
void chat_json(struct reply *r, const char *body, size_t len);
void chat_end(struct reply *r);
void responses_event(
    struct reply *r, const char *event, const char *data, size_t len);
void responses_json(struct reply *r, const char *body, size_t len);
void responses_end(struct reply *r);
void anthropic_event(
    struct reply *r, const char *event, const char *data, size_t len);
void anthropic_json(struct reply *r, const char *body, size_t len);
void anthropic_end(struct reply *r);

void bearer_headers(const char *key, struct strv *ret);

#endif
