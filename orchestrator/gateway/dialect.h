/*
 * dialect.h - how one family of servers is spoken to: a table row each for
 * OpenAI Chat Completions, OpenAI Responses and Anthropic Messages. Pure: bytes
 * in, bytes out, no network, no clock.
 *
 * Our conversation is a list of messages (JSON objects):
 *	{"role":"tools","tools":[{"name","description","parameters"}]}
 *	                                               first, once
 *	{"role":"system","content":TEXT}
 *	{"role":"user","content":TEXT}
 *	{"role":"assistant",...}                       see reply.h
 *	{"role":"tool","tool_call_id":ID,"name":NAME,"content":TEXT}
 *
 * The wire form of a message depends on the message alone, and is made once
 * (wire): a request is those texts joined, so that what was sent before is sent
 * again byte for byte and a turn costs what is new in it. Key order is fixed,
 * and what does not change (model, tools, parameters) comes first.
 *
 * A body for more messages begins with the bytes of a body for fewer, up to the
 * last byte of the text of the last message (late and the closing quotes follow
 * it); with Anthropic apart from the cache_control members: each is the last
 * member of its block, and they move on with the conversation.
 *
 * What servers would refuse is put right here: results stand directly behind
 * their calls, before a user's text; a call without a result gets one that says
 * "interrupted"; a result without its call, and a second one, are left out;
 * arguments that are no JSON object become {"invalid_json":TEXT}; names are cut
 * down to the letters that all servers allow.
 */
#ifndef ORCHESTRATOR_GATEWAY_DIALECT_H
#define ORCHESTRATOR_GATEWAY_DIALECT_H

#include "common/buf.h"
#include "common/strv.h"
#include "orchestrator/gateway/reply.h"

/* What a server can't do, or does otherwise; from settings, found by name. */
struct quirks {
	bool no_stream_usage;  /* refuses stream_options */
	bool max_completion;   /* max_completion_tokens instead of max_tokens */
	bool no_parallel;      /* refuses parallel_tool_calls */
	bool no_cache_control; /* Anthropic API without prompt caching */
};

struct request {
	const char *model;
	uint64_t max_output; /* tokens; 0: not sent (Anthropic: 8192) */
	/* Reasoning effort ("low", "high"), or NULL. Anthropic: a number is a
	 * thinking budget in tokens (models that want one), a word is adaptive
	 * thinking. */
	const char *effort;
	const char *cache_key; /* prompt_cache_key, or NULL */
	struct quirks quirks;
	/* The conversation: the wire text of each message, and its role. */
	struct wire *const *msgs;
	size_t n;
	/* Appended to the last message and not part of the conversation (state
	 * that changes from turn to turn); NULL: none. It joins the last
	 * result's or user's text (Anthropic: a block behind it) instead of
	 * being a message, since a user's message between results makes
	 * servers drop the reasoning before it. */
	const char *late;
};

enum role {
	ROLE_TOOLS,
	ROLE_SYSTEM,
	ROLE_USER,
	ROLE_ASSISTANT,
	ROLE_TOOL
};

struct wire {
	enum role role;
	char *text; /* JSON values with a comma between them; may be "" */
	size_t len;
	struct strv ids; /* assistant: of its calls; tool: the one it answers */
};

struct dialect {
	const char *name; /* "openai-chat", "openai-responses", "anthropic" */
	const char *path; /* below the base URL, begins with '/' */
	/* Header lines ("Name: value"), the key's one included. */
	void (*headers)(const char *key, struct strv *ret);
	/* *ret is the caller's: wire_clear(). opaque blocks of another api
	 * are left out. ERR_PROTO: no message of ours. */
	int (*wire)(const json_t *m, struct wire *ret, struct err *e);
	/* The body of a streaming request. ERR_LIMIT: larger than ret may be.
	 */
	int (*body)(const struct request *q, struct buf *ret, struct err *e);
	/* One server-sent event; event may be "". */
	void (*event)(
	    struct reply *r, const char *event, const char *data, size_t len);
	/* A whole body that came as JSON although a stream was asked for. */
	void (*json)(struct reply *r, const char *body, size_t len);
	/* The stream's bytes have ended (no more events): may set done when
	 * the dialect's end was seen, even without an end marker. */
	void (*end)(struct reply *r);
};

extern const struct dialect dialect_chat, dialect_responses, dialect_anthropic;
const struct dialect *dialect_find(const char *name);
void wire_clear(struct wire *w);

#endif
