/*
 * dialect_responses.c - OpenAI Responses without state on the server: store is
 * false, reasoning travels encrypted and comes back untouched.
 * https://platform.openai.com/docs/api-reference/responses
 *
 * Where a reply holds reasoning, all its items go back in their order and with
 * their ids: the server refuses a reasoning item whose next item is another.
 */
#include "common/compat.h"

#include "common/log.h"
#include "orchestrator/gateway/dialect_priv.h"

/* --- writing ---------------------------------------------------------------
 */

static json_t *
message(const char *role, const char *content)
{
	json_t *j = json_object();

	json_object_set_new(j, "type", json_string("message"));
	json_object_set_new(j, "role", json_string(role));
	json_object_set_new(j, "content", json_string(content));
	return j;
}

static json_t *
user_message(const char *text)
{
	return message("user", text);
}

static json_t *
result_item(const char *id, const char *text)
{
	json_t *j = json_object();

	json_object_set_new(j, "type", json_string("function_call_output"));
	json_object_set_new(j, "call_id", json_string(id));
	json_object_set_new(j, "output", json_string(text));
	return j;
}

static const struct message_form form = { user_message, result_item };

static void
add_tools(struct buf *b, const json_t *list)
{
	json_t *o, *t;
	size_t i;

	json_array_foreach (list, i, t) {
		o = json_object();
		json_object_set_new(o, "type", json_string("function"));
		json_object_set(o, "name", json_object_get(t, "name"));
		if (json_is_string(json_object_get(t, "description")))
			json_object_set(o, "description",
			    json_object_get(t, "description"));
		json_object_set(
		    o, "parameters", json_object_get(t, "parameters"));
		/* Left out it means true: no optional arguments. */
		json_object_set_new(o, "strict", json_false());
		wire_add(b, o);
	}
}

static void
on_text(void *ctx, const char *text)
{
	wire_add(ctx, message("assistant", text));
}

static void
on_block(void *ctx, const json_t *block)
{
	wire_add(ctx, json_incref((json_t *)(uintptr_t)block));
}

static void
on_call(void *ctx, const json_t *call, const char *id)
{
	json_t *o = json_object();
	char name[65], *args;

	call_name(call, name);
	json_decref(call_args(call, &args));
	json_object_set_new(o, "type", json_string("function_call"));
	if (id != NULL)
		json_object_set_new(o, "id", json_string(id));
	json_object_set(o, "call_id", json_object_get(call, "id"));
	json_object_set_new(o, "name", json_string(name));
	json_object_set_new(o, "arguments", json_string(args));
	wire_add(ctx, o);
	free(args);
}

static int
responses_wire(const json_t *m, struct wire *ret, struct err *e)
{
	const char *content = json_string_value(json_object_get(m, "content"));
	const char *id = json_string_value(json_object_get(m, "tool_call_id"));
	struct buf b;
	const struct said s = { &b, on_block, on_text, on_call };
	enum role role;
	int r;

	if ((r = wire_check(m, &role, e)) < 0)
		return r;
	*ret = (struct wire){ 0 };
	buf_init(&b, BUF_NOMAX);
	switch (role) {
	case ROLE_TOOLS:
		add_tools(&b, json_object_get(m, "tools"));
		break;
	case ROLE_SYSTEM:
		wire_add(&b, message("system", content));
		break;
	case ROLE_USER:
		wire_add(&b, user_message(content));
		break;
	case ROLE_TOOL:
		wire_add(&b, result_item(id, content));
		strv_add(&ret->ids, id);
		break;
	case ROLE_ASSISTANT:
		said_walk(m, dialect_responses.name, &s);
		said_ids(m, &ret->ids);
		break;
	}
	wire_done(&b, role, ret);
	return 0;
}

/* Models without reasoning refuse to be asked for it. */
static bool
reasons(const char *model)
{
	static const char *const plain[] = { "gpt-3", "gpt-4", "chatgpt",
		"gpt-5-chat", "gpt-5.1-chat", "gpt-5.2-chat", "ft:gpt-3",
		"ft:gpt-4" };
	const char *slash = strrchr(model, '/');

	if (slash != NULL)
		model = slash + 1;
	for (size_t i = 0; i < nitems(plain); i++) {
		if (strncmp(model, plain[i], strlen(plain[i])) == 0)
			return false;
	}
	return true;
}

static json_t *
head(const struct request *q, bool tools)
{
	json_t *h = json_object(), *o;

	json_object_set_new(h, "model", json_string(q->model));
	json_object_set_new(h, "stream", json_true());
	json_object_set_new(h, "store", json_false());
	if (reasons(q->model)) {
		o = json_array();
		json_array_append_new(
		    o, json_string("reasoning.encrypted_content"));
		json_object_set_new(h, "include", o);
	}
	if (q->max_output > 0)
		json_object_set_new(h, "max_output_tokens",
		    json_integer((json_int_t)q->max_output));
	if (q->effort != NULL) {
		o = json_object();
		json_object_set_new(o, "effort", json_string(q->effort));
		json_object_set_new(h, "reasoning", o);
	}
	if (q->cache_key != NULL)
		json_object_set_new(
		    h, "prompt_cache_key", json_string(q->cache_key));
	if (tools && !q->quirks.no_parallel)
		json_object_set_new(h, "parallel_tool_calls", json_true());
	return h;
}

static int
responses_body(const struct request *q, struct buf *ret, struct err *e)
{
	return body_openai(q, ret, head, "input", &form, e);
}

const struct dialect dialect_responses = {
	.name = "openai-responses",
	.path = "/responses",
	.headers = bearer_headers,
	.wire = responses_wire,
	.body = responses_body,
	.event = responses_event,
	.json = responses_json,
	.end = responses_end,
};
