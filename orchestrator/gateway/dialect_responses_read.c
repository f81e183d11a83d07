/*
 * dialect_responses_read.c - a response as events, or whole.
 *
 * An item is taken when it is done; its deltas only show what is on its way,
 * but those of arguments and text count where the server forgets to repeat
 * them.
 */
#include "common/compat.h"

#include "common/log.h"
#include "orchestrator/gateway/dialect_priv.h"

static void
take_usage(struct reply *r, const json_t *u)
{
	const json_t *in = json_object_get(u, "input_tokens_details");
	const json_t *out = json_object_get(u, "output_tokens_details");
	const struct usage n = {
		.in_tokens = read_count(u, "input_tokens"),
		.out_tokens = read_count(u, "output_tokens"),
		.cached = read_count(in, "cached_tokens"),
		.cache_write = read_count(in, "cache_write_tokens"),
		.reasoning = read_count(out, "reasoning_tokens"),
	};

	read_usage(r, &n);
}

static struct reply_call *
call_at(struct reply *r, long index)
{
	if (index >= 0)
		return reply_call_find(r, index);
	return r->n_calls > 0 ? &r->calls[r->n_calls - 1] : NULL;
}

static void
begin_call(struct reply *r, const json_t *item, long index)
{
	struct reply_call *c;
	const char *name = read_str(item, "name");

	if (index >= 0 && reply_call_find(r, index) != NULL)
		return;
	if ((c = reply_call_new(r, index)) == NULL)
		return;
	read_id(c, read_str(item, "call_id"));
	if (name != NULL)
		(void)reply_name(r, c, name);
	mark_call(r, read_str(item, "id"));
}

/* The whole arguments, said again at the end: they replace the pieces. */
static void
whole_args(struct reply *r, struct reply_call *c, const json_t *args)
{
	if (c == NULL || json_string_length(args) == 0)
		return;
	r->bytes -= c->args.len;
	buf_reset(&c->args);
	read_args(r, c, args);
}

static void
message_text(struct reply *r, const json_t *item)
{
	const json_t *parts = json_object_get(item, "content"), *p;
	size_t i;

	json_array_foreach (parts, i, p) {
		read_text(r, json_object_get(p, "text"));
		read_text(r, json_object_get(p, "refusal"));
	}
}

/* Kept whole: it goes back beside the reasoning (see settle). */
static void
keep(struct reply *r, const json_t *item)
{
	(void)reply_opaque(r, json_incref((json_t *)(uintptr_t)item));
}

static void
done_item(struct reply *r, const json_t *item, long index)
{
	const char *type = read_str(item, "type");
	struct reply_call *c;

	if (type == NULL)
		return;
	if (strcmp(type, "function_call") == 0) {
		c = index >= 0 ? reply_call_find(r, index) : NULL;
		if (c == NULL) {
			begin_call(r, item, index);
			c = call_at(r, index);
		}
		whole_args(r, c, json_object_get(item, "arguments"));
	} else if (strcmp(type, "message") == 0) {
		/* marked: its text came in pieces */
		if (!r->marked)
			message_text(r, item);
		r->marked = false;
		keep(r, item);
	} else if (strcmp(type, "reasoning") == 0 &&
	    read_str(item, "encrypted_content") != NULL) {
		keep(r, item);
	}
}

/* Without reasoning nothing is worth sending back as it came. */
static void
settle(struct reply *r)
{
	const json_t *b;
	const char *type;
	size_t i;

	json_array_foreach (r->opaque, i, b) {
		type = read_str(b, "type");
		if (type != NULL && strcmp(type, "reasoning") == 0)
			return;
	}
	json_decref(r->opaque);
	r->opaque = NULL;
}

static void
take_items(struct reply *r, const json_t *response)
{
	const json_t *items = json_object_get(response, "output"), *item;
	size_t i;

	json_array_foreach (items, i, item) {
		r->marked = false;
		done_item(r, item, (long)i);
	}
}

/* The end, as completed, incomplete or failed. */
static void
finish(struct reply *r, const json_t *response)
{
	const json_t *error = json_object_get(response, "error");
	const char *status = read_str(response, "status"), *why;

	read_model(r, response);
	take_usage(r, json_object_get(response, "usage"));
	if (error != NULL && !json_is_null(error)) {
		read_error(r, error);
		return;
	}
	if (r->n_calls == 0 && r->text.len == 0 && r->opaque == NULL)
		take_items(r, response);
	why =
	    read_str(json_object_get(response, "incomplete_details"), "reason");
	r->stop = r->n_calls > 0 ? STOP_CALLS : STOP_END;
	if (status != NULL && strcmp(status, "incomplete") == 0)
		r->stop = why != NULL && strcmp(why, "content_filter") == 0
		    ? STOP_FILTER
		    : STOP_LENGTH;
	else if (status != NULL && strcmp(status, "completed") != 0 &&
	    r->fault.kind == FAULT_NONE)
		fault_set(&r->fault, FAULT_BROKEN,
		    "the response ended as %.60s", status);
	settle(r);
	r->done = r->fault.kind == FAULT_NONE;
}

static void
take_delta(struct reply *r, const char *type, const json_t *j)
{
	const json_t *delta = json_object_get(j, "delta");
	struct reply_call *c;

	if (strcmp(type, "response.output_text.delta") == 0 ||
	    strcmp(type, "response.refusal.delta") == 0) {
		r->marked = true;
		read_text(r, delta);
	} else if (strcmp(type, "response.function_call_arguments.delta") ==
	    0) {
		c = call_at(r, read_index(j, "output_index"));
		if (c != NULL)
			read_args(r, c, delta);
	} else if (strncmp(type, "response.reasoning", 18) == 0) {
		r->reasoning_bytes += json_string_length(delta);
	}
}

static void
take_event(struct reply *r, const char *type, const json_t *j)
{
	const json_t *item = json_object_get(j, "item");
	const json_t *response = json_object_get(j, "response");
	const char *kind = read_str(item, "type");
	long index = read_index(j, "output_index");

	if (strcmp(type, "response.output_item.added") == 0) {
		if (kind != NULL && strcmp(kind, "function_call") == 0)
			begin_call(r, item, index);
	} else if (strcmp(type, "response.output_item.done") == 0) {
		done_item(r, item, index);
	} else if (strcmp(type, "response.function_call_arguments.done") == 0) {
		whole_args(
		    r, call_at(r, index), json_object_get(j, "arguments"));
	} else if (strcmp(type, "response.completed") == 0 ||
	    strcmp(type, "response.incomplete") == 0 ||
	    strcmp(type, "response.failed") == 0 ||
	    strcmp(type, "response.cancelled") == 0) {
		finish(r, response);
	} else if (strcmp(type, "error") == 0) {
		read_error(r,
		    json_is_object(json_object_get(j, "error"))
			? json_object_get(j, "error")
			: j);
	} else {
		take_delta(r, type, j);
		read_model(r, response);
	}
}

void
responses_event(
    struct reply *r, const char *event, const char *data, size_t len)
{
	json_t *j = read_typed(r, &event, data, len);

	if (j != NULL)
		take_event(r, event, j);
	json_decref(j);
}

void
responses_json(struct reply *r, const char *body, size_t len)
{
	json_t *j = read_object(r, body, len);

	if (json_object_size(json_object_get(j, "error")) == 0 &&
	    !json_is_array(json_object_get(j, "output")) &&
	    r->fault.kind == FAULT_NONE)
		fault_set(&r->fault, FAULT_BROKEN, "the reply has no output");
	finish(r, j);
	json_decref(j);
}

void
responses_end(struct reply *r unused_arg)
{
}
