/* dialect_read.c - what a server sent, see dialect_priv.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "orchestrator/gateway/dialect_priv.h"
#include "orchestrator/gateway/sse.h"

#define COUNT_MAX ((uint64_t)1 << 50)

json_t *
read_object(struct reply *r, const char *s, size_t len)
{
	json_t *j = NULL;
	struct err e;

	if (r->fault.kind != FAULT_NONE || strspn(s, " \t\r\n") >= len)
		return NULL;
	if (json_parse(s, len, BODY_JSON_MAX, &j, &e) < 0) {
		fault_set(&r->fault, FAULT_BROKEN, "the reply is corrupt: %s",
		    e.text);
		return NULL;
	}
	if (!json_is_object(j)) {
		fault_set(&r->fault, FAULT_BROKEN,
		    "the reply is corrupt: no JSON object");
		json_decref(j);
		return NULL;
	}
	return j;
}

const char *
read_str(const json_t *obj, const char *key)
{
	const char *s = json_string_value(json_object_get(obj, key));

	return s != NULL && *s != '\0' ? s : NULL;
}

json_t *
read_typed(struct reply *r, const char **event, const char *data, size_t len)
{
	const char *type;
	json_t *j;

	if (r->done || strncmp(data + strspn(data, " \t"), "[DONE]", 6) == 0)
		return NULL;
	if ((j = read_object(r, data, len)) == NULL)
		return NULL;
	type = read_str(j, "type");
	if (type == NULL && json_object_get(j, "error") != NULL)
		type = "error";
	if (type != NULL)
		*event = type;
	return j;
}

uint64_t
read_count(const json_t *obj, const char *key)
{
	const json_t *j = json_object_get(obj, key);
	double d = json_number_value(j);

	if (!(d > 0))
		return 0;
	if (d >= (double)COUNT_MAX)
		return COUNT_MAX;
	return (uint64_t)d;
}

long
read_index(const json_t *obj, const char *key)
{
	const json_t *j = json_object_get(obj, key);
	json_int_t n = json_is_integer(j) ? json_integer_value(j) : -1;

	return n >= 0 && n <= 1000000 ? (long)n : -1;
}

void
read_model(struct reply *r, const json_t *obj)
{
	const char *s = read_str(obj, "model");

	if (s != NULL && r->model[0] == '\0')
		text_escape_to(r->model, sizeof r->model, s, strlen(s));
}

static void
error_with_status(struct reply *r, const json_t *error, long status)
{
	json_t *o = json_object();
	char *text;

	json_object_set(o, "error", (json_t *)(uintptr_t)error);
	text = json_text(o);
	fault_from_http(&r->fault, status, "application/json", NULL, text,
	    strlen(text), UINT64_MAX, 0);
	free(text);
	json_decref(o);
}

void
read_error(struct reply *r, const json_t *error)
{
	const json_t *code = json_object_get(error, "code");
	const char *type = read_str(error, "code");
	json_int_t n = json_integer_value(code);

	if (r->fault.kind != FAULT_NONE)
		return;
	if (type == NULL)
		type = read_str(error, "type");
	if (json_is_string(error))
		fault_from_error(&r->fault, NULL, json_string_value(error));
	else if (n >= 400 && n <= 599)
		error_with_status(r, error, (long)n);
	else
		fault_from_error(&r->fault, type, read_str(error, "message"));
	if (r->fault.kind == FAULT_NONE)
		fault_set(
		    &r->fault, FAULT_SERVER, "the server reports an error");
}

void
read_text(struct reply *r, const json_t *string)
{
	if (json_is_string(string))
		(void)reply_text(
		    r, json_string_value(string), json_string_length(string));
}

void
read_args(struct reply *r, struct reply_call *c, const json_t *args)
{
	if (json_is_string(args)) {
		(void)reply_args(
		    r, c, json_string_value(args), json_string_length(args));
	} else if (args != NULL && !json_is_null(args) &&
	    c->args_json == NULL) {
		if (reply_keep(r,
			json_dumpb(args, NULL, 0,
			    JSON_COMPACT | JSON_ENCODE_ANY)) == 0)
			c->args_json = json_incref((json_t *)(uintptr_t)args);
	}
}

void
read_id(struct reply_call *c, const char *id)
{
	if (c->id == NULL && id != NULL && strlen(id) <= REPLY_ID_MAX)
		c->id = xstrdup(id);
}

void
read_usage(struct reply *r, const struct usage *u)
{
	if (u->in_tokens == 0 && u->out_tokens == 0)
		return;
	r->usage = *u;
	r->usage.given = true;
	if (r->usage.cached > u->in_tokens)
		r->usage.cached = u->in_tokens;
	if (r->usage.cache_write > u->in_tokens - r->usage.cached)
		r->usage.cache_write = u->in_tokens - r->usage.cached;
	if (r->usage.reasoning > u->out_tokens)
		r->usage.reasoning = u->out_tokens;
}

/* --- blocks to be sent back ------------------------------------------------
 */

void
block_open(struct reply *r, json_t *block, long index)
{
	json_decref(r->scratch);
	r->scratch = block;
	r->current = index;
	buf_reset(&r->aside);
	buf_reset(&r->sig);
}

static void
add_piece(struct reply *r, struct buf *b, const json_t *string)
{
	size_t len = json_string_length(string);

	if (r->scratch == NULL || len == 0 || reply_keep(r, len) < 0)
		return;
	(void)buf_add(b, json_string_value(string), len);
}

void
block_text(struct reply *r, const json_t *string)
{
	add_piece(r, &r->aside, string);
}

void
block_sig(struct reply *r, const json_t *string)
{
	add_piece(r, &r->sig, string);
}

void
block_close(struct reply *r, const char *text_key, const char *sig_key)
{
	json_t *block = r->scratch;

	if (block == NULL)
		return;
	r->scratch = NULL;
	r->current = -1;
	/* Counted already as it came. */
	r->bytes -= r->aside.len + r->sig.len;
	if (r->aside.len > 0)
		json_object_set_new(block, text_key,
		    json_str_lossy(r->aside.data, r->aside.len));
	if (r->sig.len > 0)
		json_object_set_new(
		    block, sig_key, json_str_lossy(r->sig.data, r->sig.len));
	(void)reply_opaque(r, block);
}

void
mark_text(struct reply *r)
{
	json_t *m;

	if (r->marked)
		return;
	r->marked = true;
	m = json_object();
	json_object_set_new(m, "at", json_string("text"));
	(void)reply_opaque(r, m);
}

void
mark_call(struct reply *r, const char *id)
{
	json_t *m = json_object();

	json_object_set_new(m, "at", json_string("call"));
	json_object_set_new(m, "n", json_integer((json_int_t)r->n_calls - 1));
	if (id != NULL)
		json_object_set_new(m, "id", json_str_lossy(id, strlen(id)));
	(void)reply_opaque(r, m);
}
