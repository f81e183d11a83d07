/*
 * test_gateway_cases_c.c - malformed model output that other tools met
 * (tests/cases/C.jsonl), through the dialect that it concerns, in several
 * chunkings. What a case expects of others is named in `elsewhere_too`.
 */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "common/fdio.h"
#include "common/text.h"
#include "orchestrator/gateway/dialect.h"
#include "orchestrator/gateway/sse.h"

static const char cases_file[] = "tests/cases/C.jsonl";

/* The id, and what of it is shown by whose tests. */
static const char *const elsewhere_too[][2] = {
	{ "C-002",
	    "worker: the result of a cut call says that it was truncated" },
	{ "C-003", "worker: a shorter call is asked for" },
	{ "C-007", "worker: a call with the id of an earlier turn is made" },
	{ "C-010", "worker: calls are made although the reply says stop" },
	{ "C-015", "worker: arguments encoded twice are read" },
	{ "C-017", "worker: raw control characters in a string are read" },
	{ "C-018", "worker: an escape that JSON lacks is read" },
	{ "C-019", "worker: the error of an unknown tool lists the tools" },
	{ "C-020", "worker: the same unknown tool again ends as no progress" },
	{ "C-021", "worker: a tool is found whatever its letter case" },
	{ "C-024", "worker: output is cut between characters" },
	{ "C-026",
	    "worker: the message is kept through compaction and resume" },
	{ "C-027",
	    "worker: an empty message is not kept, retries are bounded" },
	{ "C-012", "ledger: the estimate counts against the budget" },
	{ "C-030",
	    "provider: the request is made again, a bounded number of times" },
	{ "C-031", "http: the idle limit ends the call" },
};

struct outcome {
	struct reply r;
	json_t *message;
	const struct dialect *d;
};

struct test_case {
	const char *id;
	const char *bytes;
	size_t len;
	const json_t *expected;
	const struct dialect *d;
	bool sse;
};

static bool
is_shown_elsewhere(const char *id)
{
	for (size_t i = 0; i < nitems(elsewhere_too); i++) {
		if (strcmp(elsewhere_too[i][0], id) == 0)
			return true;
	}
	return false;
}

/* --- reading -------------------------------------------------------------- */

static void
on_event(void *ctx, const char *event, const char *data, size_t len)
{
	struct outcome *o = ctx;

	o->d->event(&o->r, event, data, len);
}

/* size 0: pieces of random length */
static void
feed(struct outcome *o, const struct test_case *c, size_t size, unsigned seed)
{
	struct sse s;
	size_t n;

	sse_init(&s, on_event, o);
	for (size_t at = 0; at < c->len; at += n) {
		n = size;
		if (size == 0) {
			seed = seed * 1103515245u + 12345u;
			n = 1 + (seed >> 16) % 40;
		}
		if (n > c->len - at)
			n = c->len - at;
		assert_int_equal(sse_feed(&s, c->bytes + at, n), 0);
	}
	assert_int_equal(sse_end(&s), 0);
	sse_clear(&s);
	o->d->end(&o->r);
}

static void
read_case(
    struct outcome *o, const struct test_case *c, size_t size, unsigned seed)
{
	*o = (struct outcome){ .d = c->d };
	reply_init(&o->r);
	if (c->sse)
		feed(o, c, size, seed);
	else
		c->d->json(&o->r, c->bytes, c->len);
	o->message = reply_message(&o->r, c->d->name, 1);
}

static void
outcome_clear(struct outcome *o)
{
	reply_clear(&o->r);
	json_decref(o->message);
}

static void
same_in_pieces(const struct outcome *whole, const struct test_case *c)
{
	const size_t sizes[] = { 1, 7, 0, 0, 0 };
	struct outcome o;

	for (unsigned i = 0; i < nitems(sizes); i++) {
		read_case(&o, c, sizes[i], i * 977 + 3);
		assert_true(json_equal(o.message, whole->message));
		assert_int_equal(o.r.done, whole->r.done);
		assert_int_equal(o.r.stop, whole->r.stop);
		assert_int_equal(o.r.fault.kind, whole->r.fault.kind);
		assert_memory_equal(
		    &o.r.usage, &whole->r.usage, sizeof o.r.usage);
		outcome_clear(&o);
	}
}

/* --- requests ------------------------------------------------------------- */

static json_t *
body_of(const struct dialect *d, json_t *conv)
{
	size_t n = json_array_size(conv), i;
	struct wire *w = calloc(n + 1, sizeof *w);
	struct wire **v = calloc(n + 1, sizeof *v);
	struct request q = { .model = "m", .msgs = v, .n = n };
	struct buf b;
	struct err e;
	json_t *j;

	assert_non_null(w);
	assert_non_null(v);
	buf_init(&b, BUF_NOMAX);
	for (i = 0; i < n; i++) {
		assert_int_equal(
		    d->wire(json_array_get(conv, i), &w[i], &e), 0);
		v[i] = &w[i];
	}
	assert_int_equal(d->body(&q, &b, &e), 0);
	assert_true(text_is_utf8(b.data, b.len));
	j = json_loadb(b.data, b.len, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(j);
	buf_clear(&b);
	for (i = 0; i < n; i++)
		wire_clear(&w[i]);
	free(v);
	free(w);
	return j;
}

static json_t *
conv_of(json_t *message)
{
	json_t *conv = json_array(), *c, *calls, *t;
	size_t i;

	json_array_append_new(
	    conv, json_pack("{ssss}", "role", "user", "content", "go"));
	json_array_append(conv, message);
	calls = json_object_get(message, "tool_calls");
	json_array_foreach (calls, i, c) {
		t = json_pack("{sssOsssO}", "role", "tool", "tool_call_id",
		    json_object_get(c, "id"), "content", "RESULT", "name",
		    json_object_get(c, "name"));
		json_array_append_new(conv, t);
	}
	return conv;
}

/* Arguments in a chat request must be JSON objects to servers that read them.
 */
static void
sound_chat(const json_t *body)
{
	const json_t *m, *c, *s;
	size_t i, k;
	json_t *j;

	json_array_foreach (json_object_get(body, "messages"), i, m) {
		json_array_foreach (json_object_get(m, "tool_calls"), k, c) {
			s = json_object_get(
			    json_object_get(c, "function"), "arguments");
			j = json_loads(json_string_value(s), 0, NULL);
			assert_true(json_is_object(j));
			json_decref(j);
		}
	}
}

/* The reply can be sent back, by every dialect. */
static void
next_request(const struct outcome *o)
{
	const char *const names[] = { "openai-chat", "openai-responses",
		"anthropic" };
	json_t *conv = conv_of(o->message), *body;

	for (size_t i = 0; i < nitems(names); i++) {
		body = body_of(dialect_find(names[i]), conv);
		if (i == 0)
			sound_chat(body);
		json_decref(body);
	}
	json_decref(conv);
}

/* --- what is expected of a reply -------------------------------------------
 */

static json_t *
call_args(const json_t *call)
{
	const json_t *t = json_object_get(call, "arguments");
	json_t *j = NULL;
	struct err e;

	assert_int_equal(json_parse(json_string_value(t), json_string_length(t),
			     1 << 20, &j, &e),
	    0);
	return j;
}

static void
check_call(const json_t *call, const json_t *want)
{
	const char *const keys[] = { "id", "name" };
	const json_t *v;
	json_t *args;

	for (size_t i = 0; i < nitems(keys); i++) {
		if ((v = json_object_get(want, keys[i])) != NULL)
			assert_string_equal(json_string_value(v),
			    json_string_value(json_object_get(call, keys[i])));
	}
	if ((v = json_object_get(want, "args")) != NULL) {
		args = call_args(call);
		assert_true(json_equal(args, v));
		json_decref(args);
	}
	assert_null(json_object_get(call, "cut"));
}

static void
check_calls(const struct outcome *o, const json_t *want)
{
	const json_t *calls = json_object_get(o->message, "tool_calls"), *w;
	size_t i;

	assert_true(o->r.done);
	assert_int_equal(json_array_size(calls), json_array_size(want));
	json_array_foreach (want, i, w)
		check_call(json_array_get(calls, i), w);
}

static void
check_text(const struct outcome *o, const json_t *want)
{
	assert_true(o->r.done);
	assert_true(json_equal(json_object_get(o->message, "content"), want));
}

static void
check_usage(const struct outcome *o, const json_t *want)
{
	assert_true(o->r.usage.given);
	assert_int_equal(o->r.usage.in_tokens,
	    json_integer_value(json_object_get(want, "input")));
	assert_int_equal(o->r.usage.out_tokens,
	    json_integer_value(json_object_get(want, "output")));
}

static void
check_not_run(const struct outcome *o, const json_t *want)
{
	const json_t *c;
	size_t i;

	assert_true(json_is_false(want));
	if (!o->r.done || o->r.fault.kind != FAULT_NONE)
		return;
	json_array_foreach (json_object_get(o->message, "tool_calls"), i, c)
		assert_true(json_is_true(json_object_get(c, "cut")));
}

static void
check_class(const struct outcome *o, const json_t *want)
{
	const char *s = json_string_value(want);
	const json_t *stop = json_object_get(o->message, "stop");

	if (strcmp(s, "output_limit") == 0) {
		assert_int_equal(o->r.stop, STOP_LENGTH);
		assert_string_equal(json_string_value(stop), "length");
	} else {
		assert_string_equal(s, "corrupt_stream");
		assert_int_equal(o->r.fault.kind, FAULT_BROKEN);
		assert_true(fault_retryable(o->r.fault.kind));
		assert_false(o->r.done);
	}
}

static void
check_estimate(const struct outcome *o, const json_t *want)
{
	assert_string_equal(json_string_value(want), "estimate");
	assert_false(o->r.usage.given);
}

static void
check_own_id(const struct outcome *o, const json_t *want unused_arg)
{
	const json_t *call =
	    json_array_get(json_object_get(o->message, "tool_calls"), 0);

	assert_string_equal(
	    json_string_value(json_object_get(call, "id")), "call_1_1");
}

static void
check_replaced(const struct outcome *o, const json_t *want)
{
	json_t *args = call_args(
	    json_array_get(json_object_get(o->message, "tool_calls"), 0));

	assert_non_null(strstr(json_string_value(json_object_get(args, "new")),
	    json_string_value(want)));
	json_decref(args);
}

static void
check_not_kept(const struct outcome *o, const json_t *want unused_arg)
{
	struct wire w;
	struct err e;

	assert_int_equal(o->d->wire(o->message, &w, &e), 0);
	assert_int_equal(w.len, 0);
	wire_clear(&w);
}

static void
check_no_blank(const struct outcome *o, const json_t *want unused_arg)
{
	struct wire w;
	struct err e;

	assert_int_equal(o->d->wire(o->message, &w, &e), 0);
	assert_null(strstr(w.text, "\"text\""));
	wire_clear(&w);
}

static void
check_done(const struct outcome *o, const json_t *want unused_arg)
{
	assert_true(o->r.done);
	assert_int_equal(o->r.fault.kind, FAULT_NONE);
}

static void
check_open(const struct outcome *o, const json_t *want unused_arg)
{
	assert_false(o->r.done);
}

/* Hints, and what the worker, the ledger or the connection shows. */
static void
elsewhere(const struct outcome *o unused_arg, const json_t *want unused_arg)
{
}

static const struct {
	const char *key;
	void (*check)(const struct outcome *o, const json_t *want);
} keys[] = {
	{ "calls", check_calls },
	{ "text", check_text },
	{ "usage", check_usage },
	{ "executed", check_not_run },
	{ "classified", check_class },
	{ "usage_source", check_estimate },
	{ "id_generated", check_own_id },
	{ "new_contains", check_replaced },
	{ "appended_to_history", check_not_kept },
	{ "next_request_has_blank_text_block", check_no_blank },
	{ "complete", check_done },
	{ "idle_timeout_fires", check_open },
	{ "next_request_valid", elsewhere },
	{ "request_body_valid_json_and_utf8", elsewhere },
	{ "or", elsewhere },
	{ "never", elsewhere },
	{ "next", elsewhere },
	{ "note", elsewhere },
	{ "retry", elsewhere },
	{ "run_finished", elsewhere },
	{ "max_wait_s", elsewhere },
	{ "budget_increased", elsewhere },
	{ "tool_result_error_contains", elsewhere },
};

/* The worker judges it: it must get exactly what the model wrote. */
static void
passed_on(const struct outcome *o, const struct test_case *c)
{
	json_t *body = json_loads(c->bytes, 0, NULL), *call, *f;

	assert_non_null(body);
	call = json_array_get(json_object_get(o->message, "tool_calls"), 0);
	f = json_object_get(body, "choices");
	f = json_object_get(json_array_get(f, 0), "message");
	f = json_array_get(json_object_get(f, "tool_calls"), 0);
	f = json_object_get(f, "function");
	assert_true(o->r.done);
	assert_null(json_object_get(call, "cut"));
	assert_true(json_equal(
	    json_object_get(call, "name"), json_object_get(f, "name")));
	assert_true(json_equal(json_object_get(call, "arguments"),
	    json_object_get(f, "arguments")));
	json_decref(body);
}

static void
check_key(const struct outcome *o, const char *key, const json_t *want)
{
	for (size_t i = 0; i < nitems(keys); i++) {
		if (strcmp(keys[i].key, key) == 0) {
			keys[i].check(o, want);
			return;
		}
	}
	fail_msg("\"%s\" is not understood", key);
}

static void
check_reply(const struct test_case *c)
{
	static const char *const judged[] = { "C-015", "C-017", "C-018",
		"C-019", "C-020", "C-021" };
	struct outcome o;
	const char *key;
	const json_t *want;

	read_case(&o, c, c->len + 1, 0);
	if (c->sse)
		same_in_pieces(&o, c);
	next_request(&o);
	for (size_t i = 0; i < nitems(judged); i++) {
		if (strcmp(judged[i], c->id) == 0) {
			passed_on(&o, c);
			outcome_clear(&o);
			return;
		}
	}
	json_object_foreach ((json_t *)(uintptr_t)c->expected, key, want)
		check_key(&o, key, want);
	outcome_clear(&o);
}

/* --- message lists -------------------------------------------------------- */

/* OpenAI's list as our conversation. */
static json_t *
from_openai(json_t *list)
{
	json_t *conv = json_array(), *m, *c, *o, *f, *calls;
	size_t i, k;

	json_array_foreach (list, i, m) {
		o = json_copy(m);
		calls = json_array();
		json_array_foreach (json_object_get(m, "tool_calls"), k, c) {
			f = json_object_get(c, "function");
			json_array_append_new(calls,
			    json_pack("{sOsOsO}", "id",
				json_object_get(c, "id"), "name",
				json_object_get(f, "name"), "arguments",
				json_object_get(f, "arguments")));
		}
		if (json_array_size(calls) > 0)
			json_object_set(o, "tool_calls", calls);
		json_decref(calls);
		json_array_append_new(conv, o);
	}
	return conv;
}

static const char *
at_str(const json_t *list, size_t i, const char *key)
{
	const char *s =
	    json_string_value(json_object_get(json_array_get(list, i), key));

	assert_non_null(s);
	return s;
}

static void
same_id_twice(json_t *list)
{
	json_t *conv = from_openai(list), *body, *m;

	json_array_append_new(conv,
	    json_pack("{ssssss}", "role", "tool", "tool_call_id", "list_dir:0",
		"content", "B"));
	body = body_of(&dialect_chat, conv);
	m = json_object_get(body, "messages");
	assert_int_equal(json_array_size(m), 4);
	assert_string_equal(at_str(m, 1, "content"), "A");
	assert_string_equal(at_str(m, 3, "content"), "B");
	json_decref(body);
	json_decref(conv);
}

static void
missing_result(json_t *list)
{
	json_t *conv = from_openai(list), *body, *m;

	body = body_of(&dialect_chat, conv);
	m = json_object_get(body, "messages");
	assert_int_equal(json_array_size(m), 4);
	assert_string_equal(at_str(m, 2, "tool_call_id"), "t2");
	assert_string_equal(at_str(m, 3, "tool_call_id"), "t1");
	assert_non_null(strstr(at_str(m, 3, "content"), "interrupted"));
	json_decref(body);
	body = body_of(&dialect_anthropic, conv);
	m = json_object_get(
	    json_array_get(json_object_get(body, "messages"), 2), "content");
	assert_int_equal(json_array_size(m), 2);
	assert_string_equal(at_str(m, 1, "tool_use_id"), "t1");
	json_decref(body);
	json_decref(conv);
}

static void
text_between(json_t *list)
{
	json_t *conv = from_openai(list), *body, *m;

	body = body_of(&dialect_chat, conv);
	m = json_object_get(body, "messages");
	assert_int_equal(json_array_size(m), 3);
	assert_string_equal(at_str(m, 0, "role"), "assistant");
	assert_string_equal(at_str(m, 1, "role"), "tool");
	assert_string_equal(at_str(m, 2, "role"), "user");
	json_decref(body);
	body = body_of(&dialect_anthropic, conv);
	m = json_object_get(
	    json_array_get(json_object_get(body, "messages"), 1), "content");
	assert_string_equal(at_str(m, 0, "type"), "tool_result");
	assert_string_equal(at_str(m, 1, "type"), "text");
	json_decref(body);
	json_decref(conv);
}

/* The reply of the case, through a store (text and back), and sent again. */
static void
signed_thinking(json_t *list)
{
	json_t *reply = json_array_get(list, 1), *conv, *body, *again, *want;
	struct outcome o = { .d = &dialect_anthropic };
	char *text = json_text(reply);
	struct err e;

	reply_init(&o.r);
	o.d->json(&o.r, text, strlen(text));
	assert_true(o.r.done);
	free(text);
	o.message = reply_message(&o.r, o.d->name, 1);
	text = json_text(o.message);
	assert_int_equal(
	    json_parse(text, strlen(text), 1 << 20, &again, &e), 0);
	free(text);
	conv = conv_of(again);
	body = body_of(o.d, conv);
	reply = json_array_get(json_object_get(body, "messages"), 1);
	want = json_object_get(json_array_get(list, 1), "content");
	assert_true(json_equal(json_object_get(reply, "content"), want));
	json_decref(body);
	json_decref(conv);
	json_decref(again);
	outcome_clear(&o);
}

static void
trailing_blank(json_t *list)
{
	json_t *body = body_of(&dialect_anthropic, list), *m;

	m = json_object_get(
	    json_array_get(json_object_get(body, "messages"), 1), "content");
	assert_string_equal(at_str(m, 0, "text"), "done.");
	json_decref(body);
}

static const struct {
	const char *id;
	void (*check)(json_t *list);
} lists[] = {
	{ "C-007", same_id_twice },
	{ "C-022", missing_result },
	{ "C-023", text_between },
	{ "C-026", signed_thinking },
	{ "C-029", trailing_blank },
};

static void
check_list(const struct test_case *c)
{
	json_t *list = json_loads(c->bytes, 0, NULL);
	bool found = false;

	assert_non_null(list);
	for (size_t i = 0; i < nitems(lists); i++) {
		if (strcmp(lists[i].id, c->id) != 0)
			continue;
		lists[i].check(list);
		found = true;
	}
	assert_true(found);
	json_decref(list);
}

/* --- all ------------------------------------------------------------------ */

static void
check_case(json_t *j)
{
	static const struct {
		const char *api;
		const struct dialect *d;
		bool sse;
	} apis[] = {
		{ "openai-chat-sse", &dialect_chat, true },
		{ "openai-chat-json", &dialect_chat, false },
		{ "anthropic-sse", &dialect_anthropic, true },
		{ "anthropic-json", &dialect_anthropic, false },
	};
	const json_t *input = json_object_get(j, "input");
	const char *api = json_string_value(json_object_get(input, "api"));
	struct test_case c = {
		.id = json_string_value(json_object_get(j, "id")),
		.bytes = json_string_value(json_object_get(input, "bytes")),
		.len = json_string_length(json_object_get(input, "bytes")),
		.expected = json_object_get(j, "expected"),
	};

	print_message("%s %s%s\n", c.id,
	    json_string_value(json_object_get(j, "title")),
	    is_shown_elsewhere(c.id) ? " (in part)" : "");
	for (size_t i = 0; i < nitems(apis); i++) {
		if (strcmp(apis[i].api, api) != 0)
			continue;
		c.d = apis[i].d;
		c.sse = apis[i].sse;
		check_reply(&c);
		return;
	}
	/* It holds nothing of a model's. */
	if (strcmp(api, "tool-output") == 0)
		assert_true(is_shown_elsewhere(c.id));
	else
		check_list(&c);
}

static void
test_cases(void **state unused_arg)
{
	struct buf b;
	struct err e;
	unsigned n = 0;
	char *line, *rest, *end;
	json_t *j;

	buf_init(&b, 1 << 20);
	assert_int_equal(file_read(cases_file, false, &b, &e), 0);
	rest = b.data;
	while (rest != NULL && *rest != '\0') {
		line = rest;
		end = strchr(rest, '\n');
		rest = end != NULL ? end + 1 : NULL;
		if (end != NULL)
			*end = '\0';
		j = json_loads(line, 0, NULL);
		assert_non_null(j);
		check_case(j);
		json_decref(j);
		n++;
	}
	assert_int_equal(n, 34);
	buf_clear(&b);
	for (size_t i = 0; i < nitems(elsewhere_too); i++)
		print_message("rest of %s, %s\n", elsewhere_too[i][0],
		    elsewhere_too[i][1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
