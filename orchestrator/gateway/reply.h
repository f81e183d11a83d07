/*
 * reply.h - a model's reply in the making: what a dialect reads out of a stream
 * or a body, and what becomes of it.
 *
 * Everything here came from a server: bounded, not trusted. A reply counts only
 * when its stream came to a clean end (done) without a fault; anything else is
 * thrown away as a whole.
 */
#ifndef ORCHESTRATOR_GATEWAY_REPLY_H
#define ORCHESTRATOR_GATEWAY_REPLY_H

#include "common/buf.h"
#include "common/json.h"
#include "orchestrator/gateway/fault.h"

/* Text, arguments and opaque blocks together; written as JSON they must fit
 * into a message of 1 MiB. */
#define REPLY_TEXT_MAX ((size_t)512 << 10)
#define REPLY_CALLS_MAX 128
#define REPLY_ID_MAX 4096 /* longer ids are replaced */
#define REPLY_NAME_MAX 256

enum stop {
	STOP_NONE,   /* the server has not said */
	STOP_END,    /* its turn is over */
	STOP_CALLS,  /* it wants results */
	STOP_LENGTH, /* the limit of output */
	STOP_FILTER, /* content filter or refusal */
	STOP_PAUSE   /* Anthropic pause_turn: ask again as it is */
};

struct usage {
	bool given;           /* the server counted, and not all zero */
	uint64_t in_tokens;   /* the whole prompt, cached part included */
	uint64_t cached;      /* of in_tokens: read from a cache */
	uint64_t cache_write; /* of in_tokens: written to a cache */
	uint64_t out_tokens;  /* reasoning included */
	uint64_t reasoning;   /* of out_tokens */
	bool has_cost;        /* the server names the price (OpenRouter) */
	uint64_t cost_micro;  /* millionths of a dollar */
};

struct reply_call {
	char *id;   /* as the server gave it; NULL: none */
	char *name; /* may come in pieces */
	struct buf args;
	long key;          /* the stream's index of it; -1: none */
	json_t *args_json; /* the server sent an object instead of text */
};

struct reply {
	struct buf text;
	struct reply_call *calls;
	size_t n_calls;
	/* Array of blocks to be sent back untouched, in the server's order, or
	 * NULL. Among them {"at":"text"} and {"at":"call","n":N} mark where
	 * the text and the calls stood. */
	json_t *opaque;
	size_t reasoning_bytes; /* of reasoning text seen and not kept */
	struct usage usage;
	enum stop stop;
	bool done;          /* the end marker of the stream, or a whole body */
	struct fault fault; /* an error inside a 200 reply, or a cap passed */
	char model[128];    /* as the server names it */
	size_t bytes;       /* kept so far: text, arguments, opaque blocks */
	/* private to the dialect */
	long current;     /* index of the open block */
	json_t *scratch;  /* the open block, */
	struct buf aside; /* its text */
	struct buf sig;   /* and its signature */
	bool marked;      /* {"at":"text"} is set */
};

void reply_init(struct reply *r);
void reply_clear(struct reply *r);
/* The bounded ways to fill it; over a cap they set fault and return -1 (NULL),
 * and so does everything after a fault. */
int reply_keep(struct reply *r, size_t len); /* counts bytes kept elsewhere */
int reply_text(struct reply *r, const char *s, size_t len);
/* A new block, taken. */
int reply_opaque(struct reply *r, json_t *block);
struct reply_call *reply_call_new(struct reply *r, long key);
/* The latest of that key, NULL: none. */
struct reply_call *reply_call_find(struct reply *r, long key);
/* A piece of the name; one that repeats it, or comes after arguments, is
 * ignored. */
int reply_name(struct reply *r, struct reply_call *c, const char *s);
/* Arguments that are "{}" so far were a placeholder and give way. */
int reply_args(
    struct reply *r, struct reply_call *c, const char *s, size_t len);

/*
 * Our assistant message, a new reference:
 * {"role":"assistant","content":TEXT,
 *  "tool_calls":[{"id":ID,"name":NAME,"arguments":TEXT}],
 *  "opaque":{"api":API,"blocks":[...]},  only when there are blocks
 *  "stop":"length"}                      only when it is not the normal end
 * arguments is the text that the model wrote, "{}" for none. Ids are made
 * unique within the message; empty ones become "call_TURN_N". A call whose
 * arguments are cut off (they end within a string, object or array, or the
 * limit of output came before they began) gets "cut":true and is never run.
 * Reasoning in the text (<think>...</think> at its head) is taken out. With
 * nothing in it at all: text "" and no calls; the caller decides.
 */
json_t *reply_message(const struct reply *r, const char *api, uint64_t turn);

#endif
