/* http.c against servers that behave badly. */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "orchestrator/gateway/http.h"

#include "test_gateway_server.h"

struct bed {
	struct server_bed server;
	struct loop *loop;
	struct http *http;
	struct http_call *call;
	struct http_request q;
	char url[64];
	struct buf body;
	struct http_reply reply;
	unsigned done;
	bool refuse, cancel;
};

static int
on_data(void *ctx, long status unused_arg, const char *type unused_arg,
    const void *p, size_t len)
{
	struct bed *b = ctx;

	(void)buf_add(&b->body, p, len);
	if (b->cancel) {
		http_cancel(b->call);
		loop_stop(b->loop, 0);
	}
	return b->refuse;
}

static void
on_done(void *ctx, const struct http_reply *r)
{
	struct bed *b = ctx;

	b->reply = *r;
	b->done++;
	loop_stop(b->loop, 0);
}

static void
bed_open(struct bed *b)
{
	*b = (struct bed){ 0 };
	bed_start(&b->server);
	b->loop = loop_create();
	b->http = http_create(b->loop, NULL);
	assert_non_null(b->http);
	buf_init(&b->body, BUF_NOMAX);
	(void)snprintf(
	    b->url, sizeof b->url, "http://127.0.0.1:%u/v1/x", b->server.port);
	b->q = (struct http_request){
		.url = b->url,
		.body = "{}",
		.body_len = 2,
		.idle_ms = 10000,
		.on_data = on_data,
		.on_done = on_done,
		.ctx = b,
	};
}

static void
bed_go(struct bed *b)
{
	struct err e = { 0 };

	bed_run(&b->server);
	if (http_start(b->http, &b->q, &b->call, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(b->done, 0);
	(void)loop_run(b->loop);
}

static void
bed_close(struct bed *b)
{
	http_free(b->http);
	loop_free(b->loop);
	buf_clear(&b->body);
	bed_stop(&b->server);
}

static void
test_plain(void **state unused_arg)
{
	struct strv headers = { 0 };
	struct bed b;

	bed_open(&b);
	strv_addl(&headers, "Authorization: Bearer k1", "X-A: b", (char *)NULL);
	b.q.headers = &headers;
	bed_reply(&b.server, 200, "Content-Type: text/plain\r\n", "hello")
	    ->piece = 1;
	bed_go(&b);
	assert_int_equal(b.done, 1);
	assert_int_equal(b.reply.fault.kind, FAULT_NONE);
	assert_int_equal(b.reply.status, 200);
	assert_string_equal(b.reply.content_type, "text/plain");
	assert_string_equal(buf_str(&b.body), "hello");
	assert_non_null(
	    strstr(b.server.requests[0], "Authorization: Bearer k1\r\n"));
	assert_non_null(strstr(b.server.requests[0], "POST /v1/x "));
	assert_null(strcasestr(b.server.requests[0], "accept-encoding"));
	assert_null(strcasestr(b.server.requests[0], "expect:"));
	strv_clear(&headers);
	bed_close(&b);
}

/* The wait a server asks for, in each form; a 100 before it does not count. */
static void
test_retry_after(void **state unused_arg)
{
	struct bed b;

	bed_open(&b);
	bed_raw(&b.server,
	    "HTTP/1.1 100 Continue\r\nRetry-After: 99\r\n\r\n"
	    "HTTP/1.1 429 X\r\nretry-after:\t7 \r\nContent-Length: 0\r\n\r\n");
	bed_reply(&b.server, 429, "retry-after-ms: 250\r\n", "");
	bed_go(&b);
	assert_int_equal(b.reply.status, 429);
	assert_string_equal(b.reply.retry_after, "7");
	assert_int_equal(http_start(b.http, &b.q, &b.call, NULL), 0);
	(void)loop_run(b.loop);
	assert_string_equal(b.reply.retry_after, "0.250");
	bed_close(&b);
}

static void
check_fault(const char *raw, enum after after, enum fault_kind kind)
{
	struct bed b;

	bed_open(&b);
	if (after == AFTER_STALL)
		b.q.idle_ms = 300;
	bed_raw(&b.server, raw)->after = after;
	bed_go(&b);
	if (b.reply.fault.kind != kind)
		fail_msg("%s: %s, not %s", raw != NULL ? raw : "(nothing)",
		    fault_name(b.reply.fault.kind), fault_name(kind));
	assert_int_equal(b.done, 1);
	bed_close(&b);
}

static void
test_faults(void **state unused_arg)
{
	check_fault(NULL, AFTER_RESET, FAULT_NETWORK);
	check_fault(NULL, AFTER_CLOSE, FAULT_NETWORK);
	check_fault(NULL, AFTER_STALL, FAULT_BROKEN);
	check_fault("HTTP/1.1 200 OK\r\nContent-Le", AFTER_STALL, FAULT_BROKEN);
	check_fault("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab",
	    AFTER_CLOSE, FAULT_BROKEN);
	check_fault("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab",
	    AFTER_STALL, FAULT_BROKEN);
	check_fault("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab",
	    AFTER_RESET, FAULT_BROKEN);
	check_fault("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		    "5\r\nab",
	    AFTER_CLOSE, FAULT_BROKEN);
	check_fault("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		    "zz\r\nab",
	    AFTER_CLOSE, FAULT_BROKEN);
	check_fault("garbage\r\n\r\n", AFTER_CLOSE, FAULT_BROKEN);
}

static void
test_refused_connection(void **state unused_arg)
{
	struct bed b;

	bed_open(&b);
	bed_raw(&b.server, NULL);
	b.q.url = "http://127.0.0.1:1/";
	bed_go(&b);
	assert_int_equal(b.reply.fault.kind, FAULT_NETWORK);
	assert_int_equal(b.reply.status, 0);
	bed_close(&b);
}

/* Slow is not silent. */
static void
test_slow(void **state unused_arg)
{
	struct step *s;
	struct bed b;

	bed_open(&b);
	b.q.idle_ms = 1500;
	s = bed_reply(&b.server, 200, "", "0123456789");
	s->piece = 4;
	s->pause_us = 150000;
	bed_go(&b);
	assert_int_equal(b.reply.fault.kind, FAULT_NONE);
	assert_int_equal(b.body.len, 10);
	assert_true(b.reply.total_ms > 1500);
	bed_close(&b);
}

static void
test_total_time(void **state unused_arg)
{
	struct step *s;
	struct bed b;

	bed_open(&b);
	b.q.total_ms = 300;
	s = bed_reply(&b.server, 200, "", "0123456789");
	s->piece = 1;
	s->pause_us = 50000;
	bed_go(&b);
	assert_int_equal(b.reply.fault.kind, FAULT_NETWORK);
	bed_close(&b);

	/* a drip is never silent */
	bed_open(&b);
	b.q.total_ms = 300;
	b.q.idle_ms = 250;
	s = bed_raw(&b.server, "HTTP/1.1 200 OK\r\n\r\n");
	free(s->bytes);
	s->len += 4096;
	s->bytes = xmalloc(s->len);
	memset(s->bytes, ':', s->len);
	memcpy(s->bytes, "HTTP/1.1 200 OK\r\n\r\n", 19);
	s->piece = 19;
	s->pause_us = 20000;
	bed_go(&b);
	assert_int_equal(b.reply.fault.kind, FAULT_BROKEN);
	assert_true(b.body.len > 0 && b.body.len < 4096);
	bed_close(&b);
}

static void
test_caps(void **state unused_arg)
{
	struct bed b;
	char *line;

	/* without a length and without an end */
	bed_open(&b);
	b.q.max_bytes = 1000;
	bed_raw(&b.server,
	    "HTTP/1.1 200 OK\r\n\r\n0123456789012345678901234567"
	    "890123456789012345678901234567890123456789")
	    ->repeat = 1000;
	bed_go(&b);
	assert_int_equal(b.reply.fault.kind, FAULT_TOOLARGE);
	assert_true(b.body.len <= 1000);
	bed_close(&b);

	/* headers without end */
	bed_open(&b);
	line = xmalloc(2001);
	memset(line, 'a', 2000);
	memcpy(line, "HTTP/1.1 200 OK\r\nX: ", 20);
	memcpy(line + 1998, "\r\n", 3);
	bed_raw(&b.server, line)->after = AFTER_STALL;
	memcpy(line, "X-AAAAAAAAAAAAAAAA: ", 20);
	free(b.server.steps[0].bytes);
	b.server.steps[0].bytes = xasprintf("HTTP/1.1 200 OK\r\n%s", line);
	b.server.steps[0].len = strlen(b.server.steps[0].bytes);
	b.server.steps[0].repeat = 200; /* the status line too: as 100s do */
	bed_go(&b);
	assert_int_not_equal(b.reply.fault.kind, FAULT_NONE);
	assert_int_equal(b.body.len, 0);
	bed_close(&b);

	/* one header of megabytes */
	bed_open(&b);
	b.q.idle_ms = 3000;
	memset(line, 'a', 2000);
	memcpy(line, "HTTP/1.1 200 OK\r\nX: ", 20);
	line[2000] = '\0';
	bed_raw(&b.server, line);
	b.server.steps[0].repeat = 500;
	bed_go(&b);
	assert_int_not_equal(b.reply.fault.kind, FAULT_NONE);
	free(line);
	bed_close(&b);
}

/* Nobody asked for it: it is not unpacked. */
static void
test_no_compression(void **state unused_arg)
{
	struct bed b;

	bed_open(&b);
	bed_reply(&b.server, 200, "Content-Encoding: gzip\r\n",
	    "\x1f\x8b\x08 no gzip");
	bed_go(&b);
	assert_int_equal(b.reply.fault.kind, FAULT_NONE);
	assert_memory_equal(b.body.data, "\x1f\x8b\x08 no gzip", 11);
	bed_close(&b);
}

/* The key goes to nobody else. */
static void
test_redirect(void **state unused_arg)
{
	struct strv headers = { 0 };
	struct server_bed other;
	struct bed b;
	char to[96];

	bed_start(&other);
	bed_reply(&other, 200, "", "stolen");
	bed_run(&other);
	bed_open(&b);
	strv_add(&headers, "Authorization: Bearer k1");
	b.q.headers = &headers;
	(void)snprintf(
	    to, sizeof to, "Location: http://127.0.0.1:%u/\r\n", other.port);
	bed_reply(&b.server, 307, to, "");
	bed_go(&b);
	assert_int_equal(b.reply.status, 307);
	assert_int_equal(other.n_requests, 0);
	assert_int_equal(b.server.n_requests, 1);
	strv_clear(&headers);
	bed_close(&b);
	bed_stop(&other);
}

static void
test_cancel(void **state unused_arg)
{
	struct bed b;

	/* from within its own data */
	bed_open(&b);
	b.cancel = true;
	bed_reply(&b.server, 200, "", "hello");
	bed_go(&b);
	for (int i = 0; i < 20; i++)
		(void)loop_once(b.loop, 5);
	assert_int_equal(b.done, 0);
	assert_int_equal(b.body.len, 5);
	bed_close(&b);

	/* before anything */
	bed_open(&b);
	bed_reply(&b.server, 200, "", "hello");
	bed_run(&b.server);
	assert_int_equal(http_start(b.http, &b.q, &b.call, NULL), 0);
	http_cancel(b.call);
	http_cancel(NULL);
	for (int i = 0; i < 20; i++)
		(void)loop_once(b.loop, 5);
	assert_int_equal(b.done, 0);
	bed_close(&b);

	/* by the return value */
	bed_open(&b);
	b.refuse = true;
	bed_reply(&b.server, 200, "", "hello");
	bed_go(&b);
	assert_int_equal(b.reply.fault.kind, FAULT_CANCELLED);
	bed_close(&b);

	/* http_free with a call that runs */
	bed_open(&b);
	bed_raw(&b.server, NULL)->after = AFTER_STALL;
	bed_run(&b.server);
	assert_int_equal(http_start(b.http, &b.q, &b.call, NULL), 0);
	for (int i = 0; i < 10; i++)
		(void)loop_once(b.loop, 5);
	bed_close(&b);
	assert_int_equal(b.done, 0);
}

#define MANY 90 /* more than one pool takes */

struct many {
	struct bed *bed;
	struct http_call *calls[MANY];
	unsigned done, ok, more;
};

static void
on_one(void *ctx, const struct http_reply *r)
{
	struct many *m = ctx;

	m->ok += r->fault.kind == FAULT_NONE && r->status == 200;
	if (m->more > 0) {
		m->more--;
		assert_int_equal(
		    http_start(m->bed->http, &m->bed->q, &m->bed->call, NULL),
		    0);
	}
	if (++m->done == MANY)
		loop_stop(m->bed->loop, 0);
}

static void
test_many(void **state unused_arg)
{
	struct many m = { 0 };
	struct step *s;
	struct bed b;

	bed_open(&b);
	s = bed_raw(
	    &b.server, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde");
	s->after = AFTER_KEEP;
	s->piece = 7;
	s->pause_us = 1000;
	bed_run(&b.server);
	m.bed = &b;
	b.q.on_data = NULL;
	b.q.on_done = on_one;
	b.q.ctx = &m;
	for (int i = 0; i < MANY; i++)
		assert_int_equal(
		    http_start(b.http, &b.q, &m.calls[i], NULL), 0);
	/* Some go, wherever they are, and as many come in their place. */
	for (int i = 0; i < MANY; i += 5) {
		http_cancel(m.calls[i]);
		m.more++;
	}
	(void)loop_run(b.loop);
	assert_int_equal(m.ok, MANY);
	assert_int_equal(m.more, 0);
	bed_close(&b);

	/* Freed in the middle of as many. */
	bed_open(&b);
	bed_raw(&b.server, NULL)->after = AFTER_STALL;
	bed_run(&b.server);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(
		    http_start(b.http, &b.q, &m.calls[i], NULL), 0);
	for (int i = 0; i < 10; i++)
		(void)loop_once(b.loop, 5);
	bed_close(&b);
	assert_int_equal(b.done, 0);
}

/* Nobody waits for what another call learns of the server, in any pool. */
static void
test_side_by_side(void **state unused_arg)
{
	struct http_call *calls[MANY];
	struct bed b;

	bed_open(&b);
	bed_raw(&b.server, NULL)->after = AFTER_STALL;
	bed_run(&b.server);
	for (size_t i = 0; i < nitems(calls); i++)
		assert_int_equal(http_start(b.http, &b.q, &calls[i], NULL), 0);
	while (bed_asked(&b.server) < nitems(calls) && b.done == 0)
		(void)loop_once(b.loop, 5);
	assert_int_equal(b.done, 0);
	bed_close(&b);

	/* Nor after a connection was closed, when all is forgotten. */
	bed_open(&b);
	bed_reply(&b.server, 200, "", "hello");
	bed_raw(&b.server, NULL)->after = AFTER_STALL;
	bed_go(&b);
	assert_int_equal(b.done, 1);
	for (size_t i = 0; i < nitems(calls); i++)
		assert_int_equal(http_start(b.http, &b.q, &calls[i], NULL), 0);
	while (bed_asked(&b.server) < 1 + nitems(calls) && b.done == 1)
		(void)loop_once(b.loop, 5);
	assert_int_equal(b.done, 1);
	bed_close(&b);
}

static void
test_urls(void **state unused_arg)
{
	static const struct {
		const char *url;
		bool plain, ok;
	} t[] = {
		{ "https://api.example.com/v1", false, true },
		{ "http://127.0.0.1:80/", false, true },
		{ "http://127.9.9.9/", false, true },
		{ "http://localhost:11434/v1", false, true },
		{ "http://LOCALHOST/", false, true },
		{ "http://[::1]:80/", false, true },
		{ "http://10.0.0.1/", false, false },
		{ "http://10.0.0.1/", true, true },
		{ "http://127.0.0.1.example.com/", false, false },
		{ "http://localhost.example.com/", false, false },
		{ "http://128.0.0.1/", false, false },
		{ "http://u:p@127.0.0.1/", false, false },
		{ "https://u@example.com/", false, false },
		{ "http://127.0.0.1@example.com/", false, false },
		{ "file:///etc/passwd", true, false },
		{ "ftp://127.0.0.1/", true, false },
		{ "gopher://127.0.0.1/", true, false },
		{ "", true, false },
		{ "http://", true, false },
	};
	struct strv headers = { 0 };
	struct bed b;
	struct err e;

	for (size_t i = 0; i < nitems(t); i++)
		if ((http_url_check(t[i].url, t[i].plain, &e) == 0) != t[i].ok)
			fail_msg("%s", t[i].url);
	bed_open(&b);
	bed_raw(&b.server, NULL);
	bed_run(&b.server);
	b.q.url = "http://192.0.2.1/";
	assert_int_equal(http_start(b.http, &b.q, &b.call, &e), ERR_USAGE);
	b.q.url = b.url;
	strv_add(&headers, "Authorization: Bearer a\r\nX-Evil: b");
	b.q.headers = &headers;
	assert_int_equal(http_start(b.http, &b.q, &b.call, &e), ERR_USAGE);
	assert_null(strstr(e.text, "Bearer"));
	strv_clear(&headers);
	bed_close(&b);
}

/* curl would take http_proxy; the pinned address wins over names. */
static void
test_proxy_and_pin(void **state unused_arg)
{
	struct bed b;
	char pin[64], url[64];

	bed_open(&b);
	setenv("http_proxy", "http://127.0.0.1:1/", 1);
	setenv("ALL_PROXY", "http://127.0.0.1:1/", 1);
	bed_reply(&b.server, 200, "", "direct");
	(void)snprintf(
	    pin, sizeof pin, "nowhere.invalid:%u:127.0.0.1", b.server.port);
	(void)snprintf(
	    url, sizeof url, "http://nowhere.invalid:%u/", b.server.port);
	b.q.resolve = pin;
	b.q.plain = true;
	b.q.url = url;
	bed_go(&b);
	assert_string_equal(buf_str(&b.body), "direct");
	unsetenv("http_proxy");
	unsetenv("ALL_PROXY");
	bed_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_retry_after),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_refused_connection),
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_total_time),
		cmocka_unit_test(test_caps),
		cmocka_unit_test(test_no_compression),
		cmocka_unit_test(test_redirect),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_side_by_side),
		cmocka_unit_test(test_urls),
		cmocka_unit_test(test_proxy_and_pin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
