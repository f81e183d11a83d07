/*
 * dialect_chat.c - OpenAI Chat Completions and who imitates it: OpenRouter,
 * vLLM, llama.cpp, Ollama, SGLang, DeepSeek, Gemini, Mistral.
 * https://platform.openai.com/docs/api-reference/chat
 *
 * Reasoning comes back as the server names it ("reasoning_details",
 * "reasoning_content", "reasoning"), and so does the "extra_content" of a call
 * (Gemini signs calls and refuses them without): as blocks of their own types.
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
result_message(const char *id, const char *text)
{
	json_t *j = json_object();

	json_object_set_new(j, "role", json_string("tool"));
	json_object_set_new(j, "tool_call_id", json_string(id));
	json_object_set_new(j, "content", json_string(text));
	return j;
}

static const struct message_form form = { user_message, result_message };

static void
add_tools(struct buf *b, const json_t *list)
{
	json_t *f, *o, *t;
	size_t i;

	json_array_foreach (list, i, t) {
		f = json_object();
		json_object_set(f, "name", json_object_get(t, "name"));
		if (json_is_string(json_object_get(t, "description")))
			json_object_set(f, "description",
			    json_object_get(t, "description"));
		json_object_set(
		    f, "parameters", json_object_get(t, "parameters"));
		o = json_object();
		json_object_set_new(o, "type", json_string("function"));
		json_object_set_new(o, "function", f);
		wire_add(b, o);
	}
}

struct assistant {
	json_t *content, *calls, *details, *extra;
	const json_t *reasoning; /* the last such block */
};

static void
on_text(void *ctx, const char *text)
{
	struct assistant *a = ctx;

	a->content = json_string(text);
}

static void
on_call(void *ctx, const json_t *call, const char *id unused_arg)
{
	struct assistant *a = ctx;
	json_t *o = json_object(), *f = json_object();
	char name[65], *args;

	call_name(call, name);
	json_decref(call_args(call, &args));
	json_object_set_new(f, "name", json_string(name));
	json_object_set_new(f, "arguments", json_string(args));
	free(args);
	json_object_set(o, "id", json_object_get(call, "id"));
	json_object_set_new(o, "type", json_string("function"));
	json_object_set_new(o, "function", f);
	if (a->calls == NULL)
		a->calls = json_array();
	json_array_append_new(a->calls, o);
}

static void
on_block(void *ctx, const json_t *block)
{
	struct assistant *a = ctx;
	const char *type = read_str(block, "type");
	json_t *b = (json_t *)(uintptr_t)block;

	if (type == NULL)
		return;
	if (strcmp(type, "extra_content") == 0) {
		json_array_append(a->extra, b);
	} else if (strncmp(type, "reasoning.", 10) == 0) {
		if (a->details == NULL)
			a->details = json_array();
		json_array_append(a->details, b);
	} else if (strcmp(type, "reasoning") == 0 ||
	    strcmp(type, "reasoning_content") == 0) {
		a->reasoning = block;
	}
}

static void
add_extra(struct assistant *a)
{
	const json_t *b;
	size_t i;
	long n;

	json_array_foreach (a->extra, i, b) {
		n = read_index(b, "n");
		if (n >= 0 && json_object_get(b, "extra_content") != NULL)
			json_object_set(json_array_get(a->calls, (size_t)n),
			    "extra_content",
			    json_object_get(b, "extra_content"));
	}
}

static void
add_assistant(struct buf *b, const json_t *m)
{
	struct assistant a = { .extra = json_array() };
	const struct said s = { &a, on_block, on_text, on_call };
	json_t *o;

	said_walk(m, dialect_chat.name, &s);
	add_extra(&a);
	if (a.content != NULL || a.calls != NULL) {
		o = json_object();
		json_object_set_new(o, "role", json_string("assistant"));
		json_object_set_new(o, "content",
		    a.content != NULL ? json_incref(a.content) : json_null());
		if (a.details != NULL)
			json_object_set(o, "reasoning_details", a.details);
		else if (a.reasoning != NULL)
			json_object_set(o, read_str(a.reasoning, "type"),
			    json_object_get(a.reasoning, "text"));
		if (a.calls != NULL)
			json_object_set(o, "tool_calls", a.calls);
		wire_add(b, o);
	}
	json_decref(a.content);
	json_decref(a.calls);
	json_decref(a.details);
	json_decref(a.extra);
}

static int
chat_wire(const json_t *m, struct wire *ret, struct err *e)
{
	const char *content = json_string_value(json_object_get(m, "content"));
	const char *id = json_string_value(json_object_get(m, "tool_call_id"));
	enum role role;
	struct buf b;
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
		wire_add(&b, result_message(id, content));
		strv_add(&ret->ids, id);
		break;
	case ROLE_ASSISTANT:
		add_assistant(&b, m);
		said_ids(m, &ret->ids);
		break;
	}
	wire_done(&b, role, ret);
	return 0;
}

static json_t *
head(const struct request *q, bool tools)
{
	json_t *h = json_object(), *o;

	json_object_set_new(h, "model", json_string(q->model));
	json_object_set_new(h, "stream", json_true());
	if (!q->quirks.no_stream_usage) {
		o = json_object();
		json_object_set_new(o, "include_usage", json_true());
		json_object_set_new(h, "stream_options", o);
	}
	if (q->max_output > 0)
		json_object_set_new(h,
		    q->quirks.max_completion ? "max_completion_tokens"
					     : "max_tokens",
		    json_integer((json_int_t)q->max_output));
	if (q->effort != NULL)
		json_object_set_new(
		    h, "reasoning_effort", json_string(q->effort));
	if (q->cache_key != NULL)
		json_object_set_new(
		    h, "prompt_cache_key", json_string(q->cache_key));
	/* Refused without tools. */
	if (tools && !q->quirks.no_parallel)
		json_object_set_new(h, "parallel_tool_calls", json_true());
	return h;
}

static int
chat_body(const struct request *q, struct buf *ret, struct err *e)
{
	return body_openai(q, ret, head, "messages", &form, e);
}

const struct dialect dialect_chat = {
	.name = "openai-chat",
	.path = "/chat/completions",
	.headers = bearer_headers,
	.wire = chat_wire,
	.body = chat_body,
	.event = chat_event,
	.json = chat_json,
	.end = chat_end,
};
