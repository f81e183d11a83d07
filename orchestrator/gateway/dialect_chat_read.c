/*
 * dialect_chat_read.c - chat completions, streamed or whole.
 *
 * Servers differ most in how they stream calls. A piece belongs to the call of
 * its id, else of its index, else to the last one. A new id with a name begins
 * a new call even where the index is old (Ollama gives them all 0); a new id
 * without a name does not (vLLM made one up for each piece).
 */
#include "common/compat.h"

#include "common/log.h"
#include "orchestrator/gateway/dialect_priv.h"

/* --- reasoning -------------------------------------------------------------
 */

static const char *
text_key(const json_t *block)
{
	const char *type = read_str(block, "type");

	return type != NULL && strcmp(type, "reasoning.summary") == 0
	    ? "summary"
	    : "text";
}

static void
flush(struct reply *r)
{
	block_close(r, text_key(r->scratch), "signature");
}

/* Whether a piece goes on with the open block. */
static bool
goes_on(const struct reply *r, const char *type, const json_t *piece)
{
	const char *open = read_str(r->scratch, "type");
	long index = read_index(piece, "index");

	return open != NULL && strcmp(open, type) == 0 &&
	    (index < 0 || index == r->current);
}

/* OpenRouter: the pieces of a text, and whole blocks of other types. */
static void
take_detail(struct reply *r, const json_t *d)
{
	const char *type = read_str(d, "type"), *key = text_key(d);
	json_t *block;

	if (type == NULL)
		return;
	if (strcmp(type, "reasoning.text") != 0 &&
	    strcmp(type, "reasoning.summary") != 0) {
		flush(r);
		(void)reply_opaque(r, json_copy((json_t *)(uintptr_t)d));
		return;
	}
	if (!goes_on(r, type, d)) {
		flush(r);
		block = json_copy((json_t *)(uintptr_t)d);
		json_object_del(block, key);
		json_object_del(block, "signature");
		block_open(r, block, read_index(d, "index"));
	}
	block_text(r, json_object_get(d, key));
	block_sig(r, json_object_get(d, "signature"));
}

static void
take_reasoning(struct reply *r, const json_t *delta)
{
	static const char *const keys[] = { "reasoning_content", "reasoning" };
	const json_t *details = json_object_get(delta, "reasoning_details"), *d;
	json_t *block;
	size_t i;

	json_array_foreach (details, i, d)
		take_detail(r, d);
	if (json_array_size(details) > 0)
		return;
	for (i = 0; i < nitems(keys); i++) {
		if (read_str(delta, keys[i]) == NULL)
			continue;
		if (!goes_on(r, keys[i], NULL)) {
			flush(r);
			block = json_object();
			json_object_set_new(
			    block, "type", json_string(keys[i]));
			block_open(r, block, -1);
		}
		block_text(r, json_object_get(delta, keys[i]));
		return;
	}
}

/* --- calls -----------------------------------------------------------------
 */

static struct reply_call *
by_id(struct reply *r, const char *id, long index)
{
	struct reply_call *c;

	for (size_t i = r->n_calls; i > 0; i--) {
		c = &r->calls[i - 1];
		if (c->id != NULL && strcmp(c->id, id) == 0 &&
		    (index < 0 || c->key < 0 || c->key == index))
			return c;
	}
	return NULL;
}

/* Whether what c has and what comes are two whole values: no JSON has "}{". */
static bool
begins_anew(const struct reply_call *c, const json_t *args)
{
	const char *s = json_string_value(args);

	if (c->args_json != NULL || json_is_object(args))
		return true;
	return s != NULL && *s == '{' && c->args.len > 0 &&
	    c->args.data[c->args.len - 1] == '}' &&
	    strcmp(c->args.data, "{}") != 0;
}

/* The call that a piece belongs to, NULL: a new one. */
static struct reply_call *
call_of(struct reply *r, const char *id, long index, const json_t *f)
{
	struct reply_call *c;

	if (id != NULL && (c = by_id(r, id, index)) != NULL)
		return c;
	if (index >= 0)
		c = reply_call_find(r, index);
	else
		c = r->n_calls > 0 ? &r->calls[r->n_calls - 1] : NULL;
	if (c == NULL || c->name == NULL || read_str(f, "name") == NULL)
		return c;
	if (id != NULL && c->id != NULL)
		return NULL;
	/* Neither told apart by ids. */
	if (index < 0 || begins_anew(c, json_object_get(f, "arguments")))
		return NULL;
	return c;
}

static void
keep_extra(struct reply *r, const struct reply_call *c, const json_t *piece)
{
	json_t *extra = json_object_get(piece, "extra_content"), *b;

	if (!json_is_object(extra))
		return;
	flush(r);
	b = json_object();
	json_object_set_new(b, "type", json_string("extra_content"));
	json_object_set_new(b, "n", json_integer((json_int_t)(c - r->calls)));
	json_object_set(b, "extra_content", extra);
	(void)reply_opaque(r, b);
}

static void
take_call(struct reply *r, const json_t *piece)
{
	const json_t *f = json_object_get(piece, "function");
	const char *id = read_str(piece, "id"), *name = read_str(f, "name");
	long index = read_index(piece, "index");
	struct reply_call *c;

	if (!json_is_object(piece) || !json_is_object(f))
		return;
	c = call_of(r, id, index, f);
	if (c == NULL && (c = reply_call_new(r, index)) == NULL)
		return;
	read_id(c, id);
	if (name != NULL)
		(void)reply_name(r, c, name);
	read_args(r, c, json_object_get(f, "arguments"));
	keep_extra(r, c, piece);
}

/* --- the rest --------------------------------------------------------------
 */

/* Text, or parts of which some are text (Mistral). */
static void
take_content(struct reply *r, const json_t *content)
{
	const json_t *part;
	size_t i;

	read_text(r, content);
	json_array_foreach (content, i, part)
		read_text(r, json_object_get(part, "text"));
}

static void
take_delta(struct reply *r, const json_t *d)
{
	const json_t *calls = json_object_get(d, "tool_calls"), *piece;
	size_t i;

	take_reasoning(r, d);
	take_content(r, json_object_get(d, "content"));
	read_text(r, json_object_get(d, "refusal"));
	json_array_foreach (calls, i, piece)
		take_call(r, piece);
}

static void
take_usage(struct reply *r, const json_t *u)
{
	const json_t *in = json_object_get(u, "prompt_tokens_details");
	const json_t *out = json_object_get(u, "completion_tokens_details");
	double cost = json_number_value(json_object_get(u, "cost")) * 1e6;
	struct usage n = {
		.in_tokens = read_count(u, "prompt_tokens"),
		.out_tokens = read_count(u, "completion_tokens"),
		.cached = read_count(in, "cached_tokens"),
		.cache_write = read_count(in, "cache_write_tokens"),
		.reasoning = read_count(out, "reasoning_tokens"),
	};

	if (n.cached == 0) /* DeepSeek; Moonshot */
		n.cached = read_count(u, "prompt_cache_hit_tokens");
	if (n.cached == 0)
		n.cached = read_count(u, "cached_tokens");
	if (cost > 0 && cost < 1e15) {
		n.has_cost = true;
		n.cost_micro = (uint64_t)cost;
		if ((double)n.cost_micro < cost)
			n.cost_micro++;
	}
	read_usage(r, &n);
}

static void
take_finish(struct reply *r, const char *why)
{
	static const struct {
		const char *why;
		enum stop stop;
	} words[] = {
		{ "length", STOP_LENGTH },
		{ "max_tokens", STOP_LENGTH },
		{ "model_length", STOP_LENGTH },
		{ "content_filter", STOP_FILTER },
		{ "tool_calls", STOP_CALLS },
		{ "function_call", STOP_CALLS },
	};

	if (strcasecmp(why, "error") == 0 || strcasecmp(why, "abort") == 0 ||
	    strcasecmp(why, "malformed_function_call") == 0) {
		if (r->fault.kind == FAULT_NONE)
			fault_set(&r->fault, FAULT_BROKEN,
			    "the server gave up: %.60s", why);
		return;
	}
	if (strcasecmp(why, "insufficient_system_resource") == 0 &&
	    r->fault.kind == FAULT_NONE)
		fault_set(&r->fault, FAULT_OVERLOAD, "%s", why);
	if (r->stop == STOP_LENGTH || r->stop == STOP_FILTER)
		return;
	r->stop = STOP_END;
	for (size_t i = 0; i < nitems(words); i++) {
		if (strcasecmp(why, words[i].why) == 0)
			r->stop = words[i].stop;
	}
}

/* A chunk or a whole completion. Returns the number of choices that count. */
static size_t
take_chunk(struct reply *r, const json_t *j)
{
	const json_t *list = json_object_get(j, "choices"), *c, *d;
	const char *object = read_str(j, "object"), *why;
	size_t i, n = 0;

	if (object != NULL && strcmp(object, "error") == 0)
		read_error(r, j);
	if (json_object_get(j, "error") != NULL &&
	    !json_is_null(json_object_get(j, "error")))
		read_error(r, json_object_get(j, "error"));
	read_model(r, j);
	json_array_foreach (list, i, c) {
		if (read_index(c, "index") > 0)
			continue;
		n++;
		d = json_object_get(c, "delta");
		take_delta(
		    r, json_is_object(d) ? d : json_object_get(c, "message"));
		take_usage(r, json_object_get(c, "usage"));
		if ((why = read_str(c, "finish_reason")) != NULL)
			take_finish(r, why);
	}
	take_usage(r, json_object_get(json_object_get(j, "x_groq"), "usage"));
	take_usage(r, json_object_get(j, "usage"));
	return n;
}

void
chat_end(struct reply *r)
{
	if (r->done || r->stop == STOP_NONE)
		return;
	flush(r);
	r->done = r->fault.kind == FAULT_NONE;
}

void
chat_event(struct reply *r, const char *event, const char *data, size_t len)
{
	const char *s = data + strspn(data, " \t");
	json_t *j;

	if (r->done)
		return;
	if (strncmp(s, "[DONE]", 6) == 0) {
		chat_end(r);
		return;
	}
	if ((j = read_object(r, data, len)) == NULL)
		return;
	if (strcmp(event, "error") == 0 &&
	    !json_is_object(json_object_get(j, "error")))
		read_error(r, j);
	(void)take_chunk(r, j);
	json_decref(j);
}

void
chat_json(struct reply *r, const char *body, size_t len)
{
	json_t *j = read_object(r, body, len);

	if (take_chunk(r, j) == 0 && r->fault.kind == FAULT_NONE)
		fault_set(&r->fault, FAULT_BROKEN, "the reply has no choices");
	flush(r);
	r->done = r->fault.kind == FAULT_NONE;
	json_decref(j);
}
