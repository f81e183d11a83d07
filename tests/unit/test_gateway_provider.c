/*
 * A provider against a scripted server: retries, the shared limiter, what is
 * thrown away and what is told. The D cases come from tests/cases/D.jsonl as
 * they were handed to us; waits are slept faster, and compared as planned.
 */
#include "common/compat.h"

#include <sys/mman.h>

#include <setjmp.h>

#include <cmocka.h>

#include "common/fdio.h"
#include "orchestrator/gateway/gate.h"
#include "orchestrator/gateway/http.h"
#include "orchestrator/gateway/model.h"
#include "orchestrator/gateway/provider.h"

#include "test_gateway_server.h"

#define KEY "sk-test-key-0123456789"
#define ASKS_MAX 32
#define CHUNK(delta, finish) \
	"data: {\"choices\":[{\"index\":0,\"delta\":" delta \
	",\"finish_reason\":" finish "}]}\n\n"
#define USAGE(in, out) \
	"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":" #in \
	",\"completion_tokens\":" #out "}}\n\n"
#define END "data: [DONE]\n\n"
#define CALL \
	CHUNK("{\"tool_calls\":[{\"index\":0,\"id\":\"t1\",\"function\":" \
	      "{\"name\":\"run_command\",\"arguments\":" \
	      "\"{\\\"command\\\":\\\"ls\\\"}\"}}]}", \
	    "null")

static const char ok_stream[] = CHUNK("{\"role\":\"assistant\",\"content\":"
				      "\"ok\"}",
    "null") CHUNK("{}", "\"stop\"") USAGE(10, 2) END;
static const char empty_stream[] = CHUNK("{}", "\"stop\"") USAGE(10, 0) END;

struct answer {
	bool come;
	json_t *message;
	struct fault fault;
	struct usage usage, lost;
	unsigned requests, order;
};

struct bed {
	struct server_bed server;
	struct loop *loop;
	struct http *http;
	struct provider p;
	struct endpoint *ep;
	struct wire wire, *wires[1];
	void *call[ASKS_MAX];
	struct answer a[ASKS_MAX];
	unsigned come, wanted, planned;
	/* what was told as lost; spent: that is the budget */
	bool tell, spent, cancel_in_lost;
	unsigned told;
	struct usage used[REQUESTS_MAX];
	uint64_t micro[REQUESTS_MAX];
	uint64_t waits[REQUESTS_MAX];
	enum fault_kind kinds[REQUESTS_MAX];
	char said[REQUESTS_MAX][512];
};

struct slot {
	struct bed *b;
	unsigned i;
};

static struct slot slots[ASKS_MAX];

static void
on_done(void *ctx, struct provider_answer *p)
{
	struct slot *s = ctx;
	struct answer *a = &s->b->a[s->i];

	assert_false(a->come);
	assert_true((p->message != NULL) == (p->fault.kind == FAULT_NONE));
	*a = (struct answer){ true, p->message, p->fault, p->usage, p->lost,
		p->requests, s->b->come };
	if (++s->b->come == s->b->wanted)
		loop_stop(s->b->loop, 0);
}

static bool
on_lost(void *ctx, const struct usage *u, uint64_t micro)
{
	struct slot *s = ctx;
	struct bed *b = s->b;

	assert_false(b->a[s->i].come);
	assert_true(u->given);
	b->used[b->told] = *u;
	b->micro[b->told++] = micro;
	if (b->cancel_in_lost) {
		b->p.cancel(b->p.self, b->call[s->i]);
		loop_stop(b->loop, 0);
	}
	return !b->spent;
}

static void
on_planned(void *ctx, const struct fault *why, uint64_t ms)
{
	struct bed *b = ctx;

	if (b->planned == REQUESTS_MAX)
		return;
	b->kinds[b->planned] = why->kind;
	(void)strlcpy(
	    b->said[b->planned], why->text, sizeof b->said[b->planned]);
	b->waits[b->planned++] = ms;
}

static void
bed_open(struct bed *b, const struct dialect *d)
{
	struct strv none = { 0 };
	json_t *m = json_pack("{s:s, s:s}", "role", "user", "content", "hi");

	*b = (struct bed){ 0 };
	bed_start(&b->server);
	b->loop = loop_create();
	b->http = http_create(b->loop, NULL);
	assert_int_equal(d->wire(m, &b->wire, NULL), 0);
	json_decref(m);
	strv_clear(&none);
	b->wires[0] = &b->wire;
	b->ep = xcalloc(1, sizeof *b->ep);
	*b->ep = (struct endpoint){
		.provider = xasprintf("p%u", b->server.port),
		.model = xstrdup("m"),
		.url = xasprintf("http://127.0.0.1:%u/v1", b->server.port),
		.dialect = d,
		.key = xstrdup(KEY),
		.key_len = strlen(KEY),
		.max_output = 1000,
		.parallel = 8,
		.max_retries = 8,
		.idle_ms = 20000,
	};
}

static void
bed_provide(struct bed *b, unsigned speed)
{
	bed_run(&b->server);
	provider_http(&b->p, b->ep, b->http, b->loop, 7);
	provider_http_hook(&b->p, speed, on_planned, b);
}

static void
bed_ask(struct bed *b, unsigned i)
{
	struct provider_ask q = {
		.worker = "w",
		.turn = i + 1,
		.wires = b->wires,
		.n = 1,
		.late = i % 2 ? "late" : NULL,
		.lost = b->tell ? on_lost : NULL,
		.done = on_done,
		.ctx = &slots[i],
	};

	slots[i] = (struct slot){ b, i };
	b->p.ask(b->p.self, &q, &b->call[i]);
	assert_non_null(b->call[i]);
	assert_false(b->a[i].come);
}

static void
bed_go(struct bed *b, unsigned n, unsigned speed)
{
	bed_provide(b, speed);
	b->wanted = n;
	for (unsigned i = 0; i < n; i++)
		bed_ask(b, i);
	(void)loop_run(b->loop);
}

static void
bed_close(struct bed *b)
{
	b->p.free(b->p.self);
	http_free(b->http);
	loop_free(b->loop);
	bed_stop(&b->server);
	wire_clear(&b->wire);
	for (size_t i = 0; i < ASKS_MAX; i++) {
		assert_null(strstr(b->a[i].fault.text, KEY));
		json_decref(b->a[i].message);
	}
	for (unsigned i = 0; i < b->planned; i++)
		assert_null(strstr(b->said[i], KEY));
}

static const char *
content(const struct answer *a)
{
	return json_string_value(json_object_get(a->message, "content"));
}

/* The number sent as max_tokens in request i. */
static uint64_t
sent_output(const struct bed *b, unsigned i)
{
	const char *at = strstr(b->server.requests[i], "\"max_tokens\":");

	return at != NULL ? strtoul(at + 13, NULL, 10) : 0;
}

/* --- the handed cases ----------------------------------------------------- */

static json_t *
load_case(const char *id)
{
	char *start = xasprintf("{\"id\": \"%s\"", id), *at;
	json_t *c = NULL;
	struct buf b;

	buf_init(&b, BUF_NOMAX);
	assert_int_equal(file_read("tests/cases/D.jsonl", false, &b, NULL), 0);
	at = strstr(buf_str(&b), start);
	assert_non_null(at);
	assert_int_equal(json_parse(at, strcspn(at, "\n"), 65536, &c, NULL), 0);
	free(start);
	buf_clear(&b);
	return c;
}

/* What stands for a reply in the data. */
static char *
spell_out(const char *body)
{
	char *long_text, *r;

	if (strncmp(body, "<valid completion", 17) == 0)
		return xstrdup(ok_stream);
	if (strncmp(body, "<SSE: complete run_command call", 31) == 0)
		return xstrdup(CALL);
	if (strncmp(body, "<completion with usage all zero", 31) == 0) {
		long_text = xmalloc(4001);
		memset(long_text, 'x', 4000);
		long_text[4000] = '\0';
		r = xasprintf("data: {\"choices\":[{\"index\":0,\"delta\":"
			      "{\"content\":\"%s\"}}]}\n\n%s",
		    long_text, CHUNK("{}", "\"stop\"") USAGE(0, 0) END);
		free(long_text);
		return r;
	}
	return xstrdup(body);
}

static void
add_response(struct server_bed *s, const json_t *r)
{
	const char *name;
	const json_t *v;
	struct buf headers;
	char *body = spell_out(json_string_value(json_object_get(r, "body")));

	buf_init(&headers, BUF_NOMAX);
	json_object_foreach (json_object_get(r, "headers"), name, v)
		(void)buf_printf(
		    &headers, "%s: %s\r\n", name, json_string_value(v));
	bed_reply(s, (unsigned)json_integer_value(json_object_get(r, "status")),
	    buf_str(&headers), body);
	free(body);
	buf_clear(&headers);
}

static json_t *
case_run(struct bed *b, const char *id)
{
	json_t *c = load_case(id), *in = json_object_get(c, "input"), *r, *list;
	size_t i;

	bed_open(b, &dialect_chat);
	list = json_object_get(in, "responses");
	json_array_foreach (list, i, r)
		add_response(&b->server, r);
	if ((r = json_object_get(in, "responses_repeat")) != NULL)
		add_response(&b->server, r);
	if ((r = json_object_get(in, "max_retries")) != NULL)
		b->ep->max_retries = (unsigned)json_integer_value(r);
	if ((r = json_object_get(in, "max_retry_wait_s")) != NULL)
		b->ep->max_wait_ms = (uint64_t)json_integer_value(r) * 1000;
	bed_go(b, 1, 100);
	r = json_object_get(json_object_get(c, "expected"), "requests");
	if (r != NULL) {
		assert_int_equal(b->server.n_requests, json_integer_value(r));
		assert_int_equal(b->a[0].requests, json_integer_value(r));
	}
	return c;
}

static void
check_ok(struct bed *b, json_t *c)
{
	assert_int_equal(b->a[0].fault.kind, FAULT_NONE);
	assert_string_equal(content(&b->a[0]), "ok");
	assert_true(b->a[0].usage.given);
	json_decref(c);
	bed_close(b);
}

static void
check_error(struct bed *b, json_t *c, const char *name)
{
	assert_string_equal(fault_name(b->a[0].fault.kind), name);
	json_decref(c);
	bed_close(b);
}

static void
test_d001(void **state unused_arg)
{
	struct bed b;
	json_t *c = case_run(&b, "D-001");

	assert_int_equal(b.planned, 1);
	assert_true(b.waits[0] >= 7000 && b.waits[0] < 8000);
	check_ok(&b, c);
}

static void
test_d002(void **state unused_arg)
{
	uint64_t start = loop_now_ms();
	struct bed b;
	json_t *c = case_run(&b, "D-002");

	assert_true(loop_now_ms() - start < 60000); /* of 9 days */
	assert_int_equal(b.planned, 0);
	assert_non_null(strstr(b.a[0].fault.text, "9 days"));
	check_error(&b, c, "quota_exhausted");
}

static void
test_d003(void **state unused_arg)
{
	struct bed b;
	json_t *c = case_run(&b, "D-003");

	assert_int_equal(b.server.n_requests, 5);
	assert_int_equal(b.planned, 4);
	for (unsigned i = 1; i < b.planned; i++)
		assert_true(b.waits[i] >= b.waits[i - 1]);
	assert_true(b.waits[3] >= 2000);
	check_error(&b, c, "rate_limited");
}

static void
test_d004(void **state unused_arg)
{
	struct bed b;
	json_t *c = case_run(&b, "D-004");

	assert_int_equal(b.planned, 2);
	assert_int_equal(b.kinds[0], FAULT_OVERLOAD);
	assert_int_equal(b.kinds[1], FAULT_OVERLOAD);
	assert_in_range(b.waits[0], 250, 500);
	assert_in_range(b.waits[1], 500, 1000);
	check_ok(&b, c);
}

static void
test_d005(void **state unused_arg)
{
	struct bed b;
	json_t *c = case_run(&b, "D-005");

	assert_int_equal(b.kinds[0], FAULT_OVERLOAD);
	assert_null(strstr(content(&b.a[0]), "busy"));
	check_ok(&b, c);
}

static void
test_d006(void **state unused_arg)
{
	struct bed b;
	json_t *c = case_run(&b, "D-006");

	assert_int_equal(b.kinds[0], FAULT_SERVER);
	assert_non_null(strstr(b.said[0], "502"));
	assert_null(strchr(b.said[0], '<'));
	check_ok(&b, c);
}

/* The lost attempt's call is nowhere: neither run nor in the history. */
static void
test_d007(void **state unused_arg)
{
	struct bed b;
	json_t *c = case_run(&b, "D-007");

	assert_int_equal(b.server.n_requests, 2);
	assert_int_equal(b.kinds[0], FAULT_BROKEN);
	assert_null(json_object_get(b.a[0].message, "tool_calls"));
	assert_string_equal(strstr(b.server.requests[0], "\r\n\r\n"),
	    strstr(b.server.requests[1], "\r\n\r\n"));
	check_ok(&b, c);
}

/* The provider's part: the same request again, byte for byte, one answer. */
static void
test_d008(void **state unused_arg)
{
	json_t *c = load_case("D-008");
	struct bed b;

	bed_open(&b, &dialect_chat);
	bed_raw(&b.server, NULL)->after = AFTER_RESET;
	bed_stream(&b.server, ok_stream);
	bed_go(&b, 1, 100);
	assert_int_equal(b.server.n_requests, 2);
	assert_string_equal(b.server.requests[0], b.server.requests[1]);
	assert_int_equal(b.kinds[0], FAULT_NETWORK);
	check_ok(&b, c);
}

static void
test_d009(void **state unused_arg)
{
	json_t *c = load_case("D-009"), *list, *m, *r;
	struct bed b;
	size_t i;

	list = json_object_get(json_object_get(c, "input"), "messages");
	json_array_foreach (list, i, m) {
		bed_open(&b, &dialect_chat);
		r = json_pack("{s:i, s:{}, s:s}", "status", 400, "headers",
		    "body", json_string_value(m));
		add_response(&b.server, r);
		bed_go(&b, 1, 100);
		assert_int_equal(b.server.n_requests, 1);
		json_decref(r);
		check_error(&b, NULL, "context_overflow");
	}
	json_decref(c);
}

static void
test_d010(void **state unused_arg)
{
	json_t *c = load_case("D-010"), *in = json_object_get(c, "input");
	uint64_t tokens, in_t, out_t, micro;
	struct provider_ask q = { .n = 1 };
	json_t *m;
	char *text;
	struct bed b;

	bed_open(&b, &dialect_chat);
	tokens =
	    (uint64_t)json_integer_value(json_object_get(in, "prompt_tokens"));
	b.ep->context =
	    (uint64_t)json_integer_value(json_object_get(in, "context_limit"));
	b.ep->max_output = (uint64_t)json_integer_value(
	    json_object_get(in, "configured_max_output"));
	b.ep->price = (struct price){ true, 1000000, 100000, 2000000, 4000000 };
	text = xmalloc(tokens * 4 + 1);
	memset(text, 'x', tokens * 4);
	text[tokens * 4] = '\0';
	m = json_pack("{s:s, s:s}", "role", "user", "content", text);
	wire_clear(&b.wire);
	assert_int_equal(dialect_chat.wire(m, &b.wire, NULL), 0);
	json_decref(m);
	free(text);
	/* it counts 8000 then */
	bed_stream(&b.server,
	    CHUNK("{\"content\":\"a\"}", "\"stop\"") USAGE(8000, 2) END);
	bed_go(&b, 1, 100);
	assert_true(sent_output(&b, 0) > 1000);
	assert_true(sent_output(&b, 0) <= 1192);
	/* a ratio that was learned narrows it, whatever is asked for */
	b.wanted = 2;
	bed_ask(&b, 1);
	(void)loop_run(b.loop);
	assert_true(sent_output(&b, 1) > 0 && sent_output(&b, 1) <= 192);
	q.wires = b.wires;
	b.p.estimate(b.p.self, &q, &in_t, &out_t, &micro);
	assert_true(in_t >= 8000 && out_t <= 192);
	assert_true(micro >= in_t * 2 + out_t * 4); /* cache write at most */
	json_decref(c);
	bed_close(&b);
}

static void
test_d011(void **state unused_arg)
{
	struct bed b;
	json_t *c = case_run(&b, "D-011");

	assert_null(b.a[0].message);
	check_error(&b, c, "content_filter");
}

/* The provider's part: what is not counted is not given out as zero. */
static void
test_d012(void **state unused_arg)
{
	struct bed b;
	json_t *c = case_run(&b, "D-012");

	assert_int_equal(b.a[0].fault.kind, FAULT_NONE);
	assert_int_equal(strlen(content(&b.a[0])), 4000);
	assert_false(b.a[0].usage.given);
	json_decref(c);
	bed_close(&b);
}

static void
test_d013(void **state unused_arg)
{
	struct bed b;
	json_t *c = case_run(&b, "D-013");

	assert_non_null(strstr(b.server.requests[0], KEY));
	check_error(&b, c, "auth");
	bed_open(&b, &dialect_chat);
	bed_reply(&b.server, 403, "",
	    "{\"error\":{\"message\":\"key " KEY " is not allowed\"}}");
	bed_go(&b, 1, 100);
	assert_int_equal(b.server.n_requests, 1);
	assert_non_null(strstr(b.a[0].fault.text, "is not allowed"));
	check_error(&b, NULL, "auth");
}

/* --- more of their kind --------------------------------------------------- */

static void
test_real_wait(void **state unused_arg)
{
	uint64_t start = loop_now_ms();
	struct bed b;

	bed_open(&b, &dialect_chat);
	bed_reply(&b.server, 429, "Retry-After: 1\r\n", "{}");
	bed_stream(&b.server, ok_stream);
	bed_go(&b, 1, 1);
	assert_in_range(loop_now_ms() - start, 1000, 60000);
	check_ok(&b, NULL);
}

/* One refusal slows all and fails none; the order is kept. */
static void
test_fleet(void **state unused_arg)
{
	struct bed b;

	bed_open(&b, &dialect_chat);
	b.ep->parallel = 2;
	bed_stream(&b.server, ok_stream);
	for (int i = 0; i < 5; i++)
		bed_reply(&b.server, 429, "Retry-After: 3\r\n", "{}");
	bed_stream(&b.server, ok_stream);
	bed_go(&b, 12, 100);
	assert_true(b.server.most_busy <= 2);
	for (unsigned i = 0; i < 12; i++) {
		assert_int_equal(b.a[i].fault.kind, FAULT_NONE);
		if (i > 1)
			assert_true(b.a[i].order >= i - 2);
	}
	assert_int_equal(b.server.n_requests, 17);
	bed_close(&b);
}

static void
check_broken(struct bed *b, enum fault_kind kind, unsigned requests)
{
	bed_stream(&b->server, ok_stream);
	bed_go(b, 1, 100);
	assert_int_equal(b->server.n_requests, requests);
	assert_int_equal(b->kinds[0], kind);
	check_ok(b, NULL);
}

static void
test_broken_streams(void **state unused_arg)
{
	const char *head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream"
			   "\r\n\r\n";
	char *half = xasprintf("%s%.40s", head, ok_stream);
	struct bed b;

	bed_open(&b, &dialect_chat);
	bed_raw(&b.server, half)->after = AFTER_CLOSE;
	check_broken(&b, FAULT_BROKEN, 2);
	bed_open(&b, &dialect_chat);
	bed_raw(&b.server, half)->after = AFTER_STALL;
	b.ep->idle_ms = 1500;
	check_broken(&b, FAULT_BROKEN, 2);
	bed_open(&b, &dialect_chat);
	bed_raw(&b.server, half)->after = AFTER_RESET;
	check_broken(&b, FAULT_BROKEN, 2);
	free(half);
	/* 200 and a login page; a type that is no stream */
	bed_open(&b, &dialect_chat);
	bed_reply(&b.server, 200, "Content-Type: text/html\r\n",
	    "<html><title>Sign in</title></html>");
	check_broken(&b, FAULT_SERVER, 2);
	bed_open(&b, &dialect_chat);
	bed_reply(&b.server, 200, "Content-Type: image/png\r\n", "\x89PNG");
	check_broken(&b, FAULT_BROKEN, 2);
	bed_open(&b, &dialect_chat);
	bed_reply(&b.server, 200, "", "");
	check_broken(&b, FAULT_BROKEN, 2);
	bed_open(&b, &dialect_chat);
	bed_reply(&b.server, 200, "", "{\"error\":{\"message\":\"x\"}}");
	check_broken(&b, FAULT_SERVER, 2);
}

/* It is never given up early, nor later than that. */
static void
test_other_retries(void **state unused_arg)
{
	struct bed b;

	bed_open(&b, &dialect_chat);
	bed_reply(&b.server, 500, "", "oops " KEY);
	bed_go(&b, 1, 100);
	assert_int_equal(b.server.n_requests, 5);
	assert_int_equal(b.a[0].requests, 5);
	check_error(&b, NULL, "server_error");
	bed_open(&b, &dialect_chat);
	b.ep->max_retries = 0;
	bed_reply(&b.server, 429, "", "");
	bed_go(&b, 1, 100);
	assert_int_equal(b.server.n_requests, 1);
	check_error(&b, NULL, "rate_limited");
}

/* What to do is said, by the names of the sources alone. */
static void
test_remedy(void **state unused_arg)
{
	static const struct {
		unsigned status;
		bool key;
		const char *says;
	} rows[] = {
		{ 401, true, "no (the key is that of X_KEY)" },
		{ 401, false, "no (no key was sent: X_KEY is not set)" },
		{ 404, true, "no (-m names the model, X_URL the server)" },
		{ 400, true, "HTTP 400: no" },
	};
	struct bed b;
	size_t len;

	for (size_t i = 0; i < nitems(rows); i++) {
		bed_open(&b, &dialect_chat);
		b.ep->key_from = xstrdup("X_KEY");
		b.ep->url_from = xstrdup("X_URL");
		if (!rows[i].key) {
			free(b.ep->key);
			b.ep->key = NULL;
			b.ep->key_len = 0;
		}
		bed_reply(&b.server, rows[i].status, "",
		    "{\"error\":{\"message\":\"no\"}}");
		bed_go(&b, 1, 100);
		len = strlen(b.a[0].fault.text);
		assert_true(len >= strlen(rows[i].says));
		assert_string_equal(
		    b.a[0].fault.text + len - strlen(rows[i].says),
		    rows[i].says);
		bed_close(&b);
	}
}

/* A server that takes the request and is silent: that is said, once; not again
 * as soon as another call was answered. */
static void
test_silent(void **state unused_arg)
{
	int fd = memfd_create("log", MFD_CLOEXEC);
	char said[4096] = "", *at;
	struct bed b;

	assert_true(fd >= 0);
	bed_open(&b, &dialect_chat);
	bed_raw(&b.server, "")->after = AFTER_STALL;
	bed_stream(&b.server, ok_stream);
	bed_raw(&b.server, "")->after = AFTER_STALL;
	b.ep->idle_ms = 1500;
	b.ep->max_retries = 1;
	log_set_fd(fd);
	bed_go(&b, 1, 100);
	assert_int_equal(b.a[0].fault.kind, FAULT_NONE);
	b.wanted++;
	bed_ask(&b, 1);
	(void)loop_run(b.loop);
	assert_int_not_equal(b.a[1].fault.kind, FAULT_NONE);
	log_set_fd(STDERR_FILENO);
	assert_true(pread(fd, said, sizeof said - 1, 0) > 0);
	at = strstr(said, "waiting for an answer of 127.0.0.1");
	assert_non_null(at);
	assert_null(strstr(at + 1, "waiting for an answer"));
	(void)close(fd);
	bed_close(&b);
}

/* Complete, but the server holds the connection; in single bytes. */
static void
test_good_streams(void **state unused_arg)
{
	struct bed b;

	bed_open(&b, &dialect_chat);
	b.ep->idle_ms = 60000;
	bed_stream(&b.server, ok_stream)->after = AFTER_STALL;
	bed_go(&b, 1, 100);
	assert_int_equal(b.server.n_requests, 1);
	check_ok(&b, NULL);
	bed_open(&b, &dialect_chat);
	bed_stream(&b.server, ok_stream)->piece = 1;
	bed_go(&b, 1, 100);
	assert_int_equal(b.server.n_requests, 1);
	check_ok(&b, NULL);
	bed_open(&b, &dialect_chat); /* no stream, though asked for */
	bed_reply(&b.server, 200, "Content-Type: application/json\r\n",
	    "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
	    "\"content\":\"ok\"},\"finish_reason\":\"stop\"}],\"usage\":"
	    "{\"prompt_tokens\":9,\"completion_tokens\":1}}");
	bed_go(&b, 1, 100);
	assert_int_equal(b.server.n_requests, 1);
	check_ok(&b, NULL);
}

static void
test_empty(void **state unused_arg)
{
	struct bed b;

	bed_open(&b, &dialect_chat);
	bed_stream(&b.server, empty_stream);
	bed_go(&b, 1, 100);
	assert_int_equal(b.server.n_requests, 3);
	assert_int_equal(b.a[0].fault.kind, FAULT_NONE);
	assert_string_equal(content(&b.a[0]), "");
	assert_true(b.a[0].lost.given);
	assert_int_equal(b.a[0].lost.in_tokens, 20);
	bed_close(&b);
	bed_open(&b, &dialect_chat); /* cut by the limit: that is an answer */
	bed_stream(&b.server, CHUNK("{}", "\"length\"") USAGE(10, 5) END);
	bed_go(&b, 1, 100);
	assert_int_equal(b.server.n_requests, 1);
	assert_string_equal(
	    json_string_value(json_object_get(b.a[0].message, "stop")),
	    "length");
	bed_close(&b);
}

static void
test_output_lowered(void **state unused_arg)
{
	struct bed b;

	bed_open(&b, &dialect_chat);
	bed_reply(&b.server, 400, "",
	    "{\"error\":{\"message\":\"max_tokens is too large: 1000. This "
	    "model supports at most 300 completion tokens\"}}");
	bed_stream(&b.server, ok_stream);
	bed_go(&b, 2, 100);
	assert_int_equal(b.a[0].fault.kind, FAULT_NONE);
	assert_int_equal(sent_output(&b, 0), 1000);
	b.wanted = 3;
	bed_ask(&b, 2);
	(void)loop_run(b.loop);
	assert_int_equal(sent_output(&b, b.server.n_requests - 1), 300);
	bed_close(&b);
	bed_open(&b, &dialect_chat); /* no number, and refused again */
	bed_reply(&b.server, 400, "",
	    "{\"error\":{\"message\":\"max_tokens is too large\"}}");
	bed_go(&b, 1, 100);
	assert_int_equal(b.server.n_requests, 2);
	assert_int_equal(sent_output(&b, 1), 500);
	check_error(&b, NULL, "output_limit");
	bed_open(&b, &dialect_chat); /* a window that only the server knows */
	b.ep->max_output = 8192;
	bed_reply(&b.server, 400, "",
	    "{\"message\":\"'max_tokens' is too large: 8192. This model's "
	    "maximum context length is 8192 tokens and your request has 15 "
	    "input tokens\"}");
	bed_stream(&b.server, ok_stream);
	bed_go(&b, 1, 100);
	assert_int_equal(b.server.n_requests, 2);
	assert_in_range(sent_output(&b, 1), 8000, 8191);
	check_ok(&b, NULL);
}

/* What does not fit is not even sent. */
static void
test_overflow_here(void **state unused_arg)
{
	struct bed b;

	bed_open(&b, &dialect_chat);
	b.ep->context = 20;
	bed_stream(&b.server, ok_stream);
	bed_go(&b, 1, 100);
	assert_int_equal(b.server.n_requests, 0);
	check_error(&b, NULL, "context_overflow");
}

/* Cancelled in the queue, while it runs, while it sleeps. */
static void
test_cancel(void **state unused_arg)
{
	static const unsigned rounds[] = { 0, 1, 10, 40 };
	struct bed b;

	for (size_t i = 0; i < nitems(rounds); i++) {
		bed_open(&b, &dialect_chat);
		b.ep->parallel = 1;
		b.ep->idle_ms = 5000;
		bed_reply(&b.server, i % 2 ? 500 : 429, "", "");
		bed_provide(&b, 1);
		bed_ask(&b, 0);
		bed_ask(&b, 1);
		for (unsigned k = 0; k < rounds[i]; k++)
			(void)loop_once(b.loop, 5);
		b.p.cancel(b.p.self, b.call[0]);
		for (unsigned k = 0; k < rounds[i]; k++)
			(void)loop_once(b.loop, 5);
		assert_false(b.a[0].come);
		if (i % 2)
			b.p.cancel(b.p.self, b.call[1]);
		bed_close(&b); /* ends the other */
		assert_false(b.a[1].come);
	}
}

static void
test_anthropic(void **state unused_arg)
{
	static const char stream[] =
	    "event: message_start\ndata: {\"type\":\"message_start\","
	    "\"message\":{\"id\":\"x\",\"role\":\"assistant\",\"content\":[],"
	    "\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\n"
	    "event: content_block_start\ndata: {\"type\":"
	    "\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
	    "\"text\",\"text\":\"\"}}\n\n"
	    "event: content_block_delta\ndata: {\"type\":"
	    "\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
	    "\"text_delta\",\"text\":\"ok\"}}\n\n"
	    "event: content_block_stop\ndata: {\"type\":"
	    "\"content_block_stop\",\"index\":0}\n\n"
	    "event: message_delta\ndata: {\"type\":\"message_delta\","
	    "\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":"
	    "{\"output_tokens\":2}}\n\n"
	    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
	char *cut = xstrndup(stream, strlen(stream) / 2);
	struct bed b;

	bed_open(&b, &dialect_anthropic);
	bed_stream(&b.server, cut);
	bed_stream(&b.server,
	    "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":"
	    "\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n");
	bed_stream(&b.server, stream);
	bed_go(&b, 1, 100);
	assert_int_equal(b.server.n_requests, 3);
	assert_int_equal(b.kinds[0], FAULT_BROKEN);
	assert_int_equal(b.kinds[1], FAULT_OVERLOAD);
	assert_non_null(strstr(b.server.requests[0], "x-api-key: " KEY));
	free(cut);
	check_ok(&b, NULL);
}

/* --- what is thrown away -------------------------------------------------- */

/* 32 bytes of text, 11 of arguments, 9 of a name; nobody counted them. */
static const char cut_stream[] =
    CHUNK("{\"content\":\"0123456789abcdef0123456789abcdef\"}", "null")
	CHUNK("{\"tool_calls\":[{\"index\":0,\"id\":\"t\",\"function\":"
	      "{\"name\":\"read_file\",\"arguments\":\"{\\\"path\\\":\\\"a"
	      "\"}}]}",
	    "null");

static void
lost_open(struct bed *b)
{
	bed_open(b, &dialect_chat);
	b->tell = true;
	b->ep->price =
	    (struct price){ true, 1000000, 1000000, 1000000, 4000000 };
}

static void
test_lost(void **state unused_arg)
{
	struct bed b;

	lost_open(&b);
	bed_reply(&b.server, 500, "", ""); /* nothing was begun */
	bed_stream(&b.server, cut_stream);
	bed_stream(&b.server, empty_stream);
	bed_stream(&b.server, ok_stream);
	bed_go(&b, 1, 100);
	assert_int_equal(b.server.n_requests, 4);
	assert_int_equal(b.told, 2);
	assert_in_range(b.used[0].in_tokens, 1, 100);
	assert_in_range(b.used[0].out_tokens, 14, 18);
	assert_int_equal(
	    b.micro[0], b.used[0].in_tokens + 4 * b.used[0].out_tokens);
	assert_int_equal(b.used[1].in_tokens, 10);
	assert_int_equal(b.micro[1], 10);
	assert_false(b.a[0].lost.given);
	check_ok(&b, NULL);
}

static void
test_lost_budget(void **state unused_arg)
{
	struct bed b;

	lost_open(&b);
	b.spent = true;
	bed_stream(&b.server, cut_stream);
	bed_go(&b, 1, 100);
	assert_int_equal(b.server.n_requests, 1);
	assert_int_equal(b.told, 1);
	assert_string_equal(b.a[0].fault.text, "the budget is spent");
	check_error(&b, NULL, "cancelled");
	lost_open(&b); /* the one who is told cancels */
	b.cancel_in_lost = true;
	bed_stream(&b.server, cut_stream);
	bed_go(&b, 1, 100);
	assert_int_equal(b.told, 1);
	assert_false(b.a[0].come);
	bed_close(&b);
}

/* Over a cap: twice more. */
static void
test_giants(void **state unused_arg)
{
	char *name = xmalloc(1001), *stream;
	struct bed b;

	memset(name, 'n', 1000);
	name[1000] = '\0';
	stream = xasprintf(
	    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{"
	    "\"index\":0,\"id\":\"t\",\"function\":{\"name\":\"%s\"}}]}}]}"
	    "\n\n",
	    name);
	lost_open(&b);
	bed_stream(&b.server, stream);
	bed_go(&b, 1, 100);
	assert_int_equal(b.server.n_requests, 3);
	assert_int_equal(b.told, 3);
	check_error(&b, NULL, "too_large");
	bed_open(&b, &dialect_chat);
	bed_stream(&b.server, stream);
	check_broken(&b, FAULT_TOOLARGE, 2);
	free(stream);
	free(name);
}

/* --- what a server wants -------------------------------------------------- */

static void
test_output_renamed(void **state unused_arg)
{
	struct bed b;

	bed_open(&b, &dialect_chat);
	b.ep->max_retries = 0;
	bed_reply(&b.server, 400, "",
	    "{\"error\":{\"message\":\"Unsupported parameter: 'max_tokens' is "
	    "not supported with this model. Use 'max_completion_tokens' "
	    "instead.\",\"code\":\"unsupported_parameter\"}}");
	bed_stream(&b.server, ok_stream);
	bed_go(&b, 1, 100);
	assert_int_equal(b.server.n_requests, 2);
	assert_int_equal(b.waits[0], 0);
	assert_non_null(
	    strstr(b.server.requests[1], "\"max_completion_tokens\":1000"));
	b.wanted = 2;
	bed_ask(&b, 1); /* it is remembered */
	(void)loop_run(b.loop);
	assert_int_equal(b.server.n_requests, 3);
	check_ok(&b, NULL);
	bed_open(&b, &dialect_chat); /* the other way round, and in vain */
	b.ep->quirks.max_completion = true;
	bed_reply(&b.server, 400, "",
	    "{\"error\":{\"message\":\"Unknown field: "
	    "max_completion_tokens\"}}");
	bed_go(&b, 1, 100);
	assert_int_equal(b.server.n_requests, 2);
	assert_int_equal(sent_output(&b, 1), 1000);
	check_error(&b, NULL, "bad_request");
}

/* Ten times as long as we would wait on our own, not more. */
static void
test_long_wait(void **state unused_arg)
{
	struct bed b;

	bed_open(&b, &dialect_chat);
	b.ep->max_wait_ms = 1000;
	bed_reply(&b.server, 429, "Retry-After: 10\r\n", "{}");
	bed_reply(&b.server, 503, "Retry-After: 9\r\n", "{}");
	bed_reply(&b.server, 503, "Retry-After: 11\r\n", "{}");
	bed_stream(&b.server, ok_stream);
	bed_go(&b, 1, 100);
	assert_int_equal(b.waits[0], 10000);
	assert_int_equal(b.waits[1], 9000);
	assert_int_equal(b.waits[2], 1000);
	check_ok(&b, NULL);
	bed_open(&b, &dialect_chat);
	b.ep->max_wait_ms = 1000;
	bed_reply(&b.server, 429, "Retry-After: 11\r\n", "{}");
	bed_go(&b, 1, 100);
	assert_int_equal(b.server.n_requests, 1);
	check_error(&b, NULL, "quota_exhausted");
}

/* A server that says our key back to us. */
static void
test_key_in_reply(void **state unused_arg)
{
	struct bed b;
	char *text;

	bed_open(&b, &dialect_chat);
	bed_stream(&b.server,
	    CHUNK("{\"content\":\"it is sk-TEST-key-\"}", "null")
		CHUNK("{\"content\":\"0123456789, yes\"}", "null")
		    CHUNK("{\"tool_calls\":[{\"index\":0,\"id\":\"t1\","
			  "\"function\":{\"name\":\"run_command\","
			  "\"arguments\":\"{\\\"command\\\":\\\"echo " KEY
			  "\\\"}\"}}]}",
			"\"tool_calls\"") USAGE(10, 2) END);
	bed_go(&b, 1, 100);
	assert_string_equal(
	    content(&b.a[0]), "it is **********************, yes");
	text = json_text(b.a[0].message);
	assert_null(strcasestr(text, KEY));
	assert_non_null(strstr(text, "echo **********************"));
	free(text);
	bed_close(&b);
	bed_open(&b, &dialect_chat); /* a word is no secret */
	free(b.ep->key);
	b.ep->key = xstrdup("ok");
	b.ep->key_len = 2;
	bed_stream(&b.server, ok_stream);
	bed_go(&b, 1, 100);
	check_ok(&b, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_d001),
		cmocka_unit_test(test_d002),
		cmocka_unit_test(test_d003),
		cmocka_unit_test(test_d004),
		cmocka_unit_test(test_d005),
		cmocka_unit_test(test_d006),
		cmocka_unit_test(test_d007),
		cmocka_unit_test(test_d008),
		cmocka_unit_test(test_d009),
		cmocka_unit_test(test_d010),
		cmocka_unit_test(test_d011),
		cmocka_unit_test(test_d012),
		cmocka_unit_test(test_d013),
		cmocka_unit_test(test_real_wait),
		cmocka_unit_test(test_fleet),
		cmocka_unit_test(test_broken_streams),
		cmocka_unit_test(test_other_retries),
		cmocka_unit_test(test_good_streams),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_output_lowered),
		cmocka_unit_test(test_overflow_here),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_anthropic),
		cmocka_unit_test(test_remedy),
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_lost_budget),
		cmocka_unit_test(test_giants),
		cmocka_unit_test(test_output_renamed),
		cmocka_unit_test(test_long_wait),
		cmocka_unit_test(test_key_in_reply),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
