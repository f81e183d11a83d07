/* dialect_anthropic_read.c - a message as events, or whole. */
#include "common/compat.h"

#include "common/log.h"
#include "orchestrator/gateway/dialect_priv.h"

/* The parts of the prompt are counted apart, and the counts of a stream grow:
 * the last of each holds. */
static void
take_usage(struct reply *r, const json_t *u)
{
	uint64_t cached = read_count(u, "cache_read_input_tokens");
	uint64_t written = read_count(u, "cache_creation_input_tokens");
	uint64_t in = read_count(u, "input_tokens");
	uint64_t out = read_count(u, "output_tokens");
	struct usage n = r->usage;

	if (in + cached + written > 0) {
		n.in_tokens = in + cached + written;
		n.cached = cached;
		n.cache_write = written;
	}
	if (out > 0)
		n.out_tokens = out;
	read_usage(r, &n);
}

static void
take_stop(struct reply *r, const char *why)
{
	static const struct {
		const char *why;
		enum stop stop;
	} words[] = {
		{ "tool_use", STOP_CALLS },
		{ "max_tokens", STOP_LENGTH },
		{ "model_context_window_exceeded", STOP_LENGTH },
		{ "refusal", STOP_FILTER },
		{ "pause_turn", STOP_PAUSE },
	};

	if (why == NULL)
		return;
	r->stop = STOP_END;
	for (size_t i = 0; i < nitems(words); i++) {
		if (strcmp(why, words[i].why) == 0)
			r->stop = words[i].stop;
	}
}

static void
close_block(struct reply *r)
{
	block_close(r, "thinking", "signature");
}

static void
begin_call(struct reply *r, const json_t *b, long index)
{
	const json_t *input = json_object_get(b, "input");
	const char *name = read_str(b, "name");
	struct reply_call *c = reply_call_new(r, index);

	if (c == NULL)
		return;
	read_id(c, read_str(b, "id"));
	if (name != NULL)
		(void)reply_name(r, c, name);
	/* Empty where the input follows in pieces. */
	if (json_object_size(input) > 0)
		read_args(r, c, input);
	mark_call(r, NULL);
}

/* A block, whole or as it begins. */
static void
take_block(struct reply *r, const json_t *b, long index)
{
	const char *type = read_str(b, "type");
	json_t *copy = (json_t *)(uintptr_t)b;

	if (type == NULL)
		return;
	if (strcmp(type, "text") == 0) {
		mark_text(r);
		read_text(r, json_object_get(b, "text"));
	} else if (strcmp(type, "tool_use") == 0) {
		begin_call(r, b, index);
	} else if (strcmp(type, "thinking") == 0) {
		close_block(r);
		copy = json_copy(copy);
		block_open(r, copy, index);
		block_text(r, json_object_get(b, "thinking"));
		block_sig(r, json_object_get(b, "signature"));
	} else if (strcmp(type, "redacted_thinking") == 0) {
		(void)reply_opaque(r, json_incref(copy));
	}
}

static void
take_delta(struct reply *r, const json_t *d, long index)
{
	const char *type = read_str(d, "type");
	const json_t *piece = json_object_get(d, "partial_json");
	struct reply_call *c;

	if (type == NULL)
		return;
	if (strcmp(type, "text_delta") == 0) {
		read_text(r, json_object_get(d, "text"));
	} else if (strcmp(type, "input_json_delta") == 0) {
		c = reply_call_find(r, index);
		if (c != NULL && json_is_string(piece))
			read_args(r, c, piece);
	} else if (index != r->current) {
		return;
	} else if (strcmp(type, "thinking_delta") == 0) {
		block_text(r, json_object_get(d, "thinking"));
	} else if (strcmp(type, "signature_delta") == 0) {
		block_sig(r, json_object_get(d, "signature"));
	}
}

static void
finish(struct reply *r)
{
	close_block(r);
	r->done = r->fault.kind == FAULT_NONE;
}

static void
take_event(struct reply *r, const char *type, const json_t *j)
{
	const json_t *m = json_object_get(j, "message");
	const json_t *delta = json_object_get(j, "delta");
	long index = read_index(j, "index");

	if (strcmp(type, "message_start") == 0) {
		read_model(r, m);
		take_usage(r, json_object_get(m, "usage"));
	} else if (strcmp(type, "content_block_start") == 0) {
		take_block(r, json_object_get(j, "content_block"), index);
	} else if (strcmp(type, "content_block_delta") == 0) {
		take_delta(r, delta, index);
	} else if (strcmp(type, "content_block_stop") == 0) {
		if (index == r->current)
			close_block(r);
	} else if (strcmp(type, "message_delta") == 0) {
		take_stop(r, read_str(delta, "stop_reason"));
		take_usage(r, json_object_get(j, "usage"));
	} else if (strcmp(type, "message_stop") == 0) {
		finish(r);
	} else if (strcmp(type, "error") == 0) {
		read_error(r, json_object_get(j, "error"));
	}
}

void
anthropic_event(
    struct reply *r, const char *event, const char *data, size_t len)
{
	json_t *j = read_typed(r, &event, data, len);

	if (j != NULL)
		take_event(r, event, j);
	json_decref(j);
}

void
anthropic_json(struct reply *r, const char *body, size_t len)
{
	json_t *j = read_object(r, body, len), *b;
	const json_t *content = json_object_get(j, "content");
	size_t i;

	if (json_object_get(j, "error") != NULL)
		read_error(r, json_object_get(j, "error"));
	else if (!json_is_array(content) && r->fault.kind == FAULT_NONE)
		fault_set(&r->fault, FAULT_BROKEN, "the reply has no content");
	read_model(r, j);
	json_array_foreach (content, i, b) {
		take_block(r, b, (long)i);
		close_block(r);
	}
	take_stop(r, read_str(j, "stop_reason"));
	take_usage(r, json_object_get(j, "usage"));
	finish(r);
	json_decref(j);
}

void
anthropic_end(struct reply *r unused_arg)
{
}
