/* Heads of requests to the proxy, and where their bodies end. */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "orchestrator/egress/head.h"

static int
parse(const char *s, struct head *h)
{
	struct err e = { 0 };
	int r = head_http(s, strlen(s), h, &e);

	if (r > HEAD_DONE)
		assert_true(e.text[0] != '\0');
	return r;
}

static void
good(const char *s, const char *host, unsigned port, const char *out)
{
	struct head h;
	size_t i;

	/* Byte by byte it is not there until it is. */
	for (i = 1; i < strlen(s); i++) {
		char *part = strndup(s, i);

		assert_int_equal(head_http(part, i, &h, NULL), HEAD_MORE);
		free(part);
	}
	assert_int_equal(parse(s, &h), HEAD_DONE);
	assert_int_equal(h.used, strlen(s));
	assert_string_equal(h.target.host, host);
	assert_int_equal(h.target.port, port);
	assert_string_equal(buf_str(&h.out), out);
	head_clear(&h);
}

static void
test_good(void **state unused_arg)
{
	good("CONNECT pypi.org:443 HTTP/1.1\r\nHost: pypi.org:443\r\n\r\n",
	    "pypi.org", 443, "");
	good("CONNECT PYPI.org.:443 HTTP/1.0\r\n\r\n", "pypi.org", 443, "");
	good("CONNECT pypi.org:443 HTTP/1.1\r\nHost: pypi.org\r\n\r\n",
	    "pypi.org", 443, "");
	good("CONNECT [::1]:443 HTTP/1.1\r\n\r\n", "::1", 443, "");
	good("GET http://a.org/x?y=http://b HTTP/1.1\r\nHost: a.org\r\n\r\n",
	    "a.org", 80,
	    "GET /x?y=http://b HTTP/1.1\r\nHost: a.org\r\n"
	    "Connection: close\r\n\r\n");
	good("GET HTTP://A.org:8080?q HTTP/1.1\r\nhost:a.org:8080\r\n\r\n",
	    "a.org", 8080,
	    "GET /?q HTTP/1.1\r\nHost: a.org:8080\r\n"
	    "Connection: close\r\n\r\n");
	good("GET http://[::1]:81/ HTTP/1.1\r\nHost: [::1]:81\r\n\r\n", "::1",
	    81,
	    "GET / HTTP/1.1\r\nHost: [::1]:81\r\nConnection: close\r\n\r\n");
	good("HEAD http://a.org HTTP/1.0\r\nAccept: */*\r\n\r\n", "a.org", 80,
	    "HEAD / HTTP/1.0\r\nHost: a.org\r\nAccept: */*\r\n"
	    "Connection: close\r\n\r\n");
}

/* What is for us does not go on. */
static void
test_hop(void **state unused_arg)
{
	good("POST http://a.org/ HTTP/1.1\r\nHost: a.org\r\n"
	     "Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic x\r\n"
	     "Connection: keep-alive, X-Mine ,x-other\r\nX-Mine: 1\r\n"
	     "X-Other: 2\r\nKeep-Alive: 5\r\nTE: trailers\r\nUpgrade: h2c\r\n"
	     "HTTP2-Settings: x\r\nX-Kept:  3 \r\nContent-Length: 4\r\n\r\n",
	    "a.org", 80,
	    "POST / HTTP/1.1\r\nHost: a.org\r\nX-Kept: 3\r\n"
	    "Content-Length: 4\r\nConnection: close\r\n\r\n");
}

#define HEAD "GET http://a.org/ HTTP/1.1\r\nHost: a.org\r\n"

static void
test_bad(void **state unused_arg)
{
	static const char *const list[] = {
		"\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a.org\r\n\r\n",
		"GET https://a.org/ HTTP/1.1\r\nHost: a.org\r\n\r\n",
		"GET ftp://a.org/ HTTP/1.1\r\nHost: a.org\r\n\r\n",
		"GET http:///x HTTP/1.1\r\nHost: a.org\r\n\r\n",
		"GET http://a.org/ HTTP/1.1\r\n\r\n",
		"GET http://a.org/ HTTP/1.1\r\nHost: b.org\r\n\r\n",
		"GET http://a.org/ HTTP/1.1\r\nHost: a.org:81\r\n\r\n",
		"GET http://a.org:81/ HTTP/1.1\r\nHost: a.org\r\n\r\n",
		"GET http://a.org/ HTTP/1.0\r\nHost: b.org\r\n\r\n",
		"GET http://u:p@a.org/ HTTP/1.1\r\nHost: a.org\r\n\r\n",
		"GET http://a.org\\@b.org/ HTTP/1.1\r\nHost: a.org\r\n\r\n",
		"GET http://a.org#@b.org/ HTTP/1.1\r\nHost: a.org\r\n\r\n",
		"GET  http://a.org/ HTTP/1.1\r\nHost: a.org\r\n\r\n",
		"GET http://a.org/ x HTTP/1.1\r\nHost: a.org\r\n\r\n",
		"GET http://a.org/\tx HTTP/1.1\r\nHost: a.org\r\n\r\n",
		"GET http://a.org/ HTTP/1.1 \r\nHost: a.org\r\n\r\n",
		"G(T http://a.org/ HTTP/1.1\r\nHost: a.org\r\n\r\n",
		"GET http://a.org/\xc3\xa4 HTTP/1.1\r\nHost: a.org\r\n\r\n",
		"GET http://a.org/ HTTP/1.1\r\nHost : a.org\r\n\r\n",
		HEAD "Host: a.org\r\n\r\n",
		HEAD "X\r\n\r\n",
		HEAD ": x\r\n\r\n",
		HEAD "A: b\r\n folded\r\n\r\n",
		HEAD "A: b\nC: d\r\n\r\n",
		HEAD "A: b\rC: d\r\n\r\n",
		HEAD "A: b\x01\r\n\r\n",
		HEAD "A B: c\r\n\r\n",
		HEAD "Content-Length: 1\r\nContent-Length: 1\r\n\r\n",
		HEAD "Content-Length: 1, 1\r\n\r\n",
		HEAD "Content-Length: +1\r\n\r\n",
		HEAD "Content-Length: -1\r\n\r\n",
		HEAD "Content-Length: 0x1\r\n\r\n",
		HEAD "Content-Length:\r\n\r\n",
		HEAD "Content-Length: 99999999999999999999\r\n\r\n",
		HEAD "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		HEAD "Transfer-Encoding: gzip, chunked\r\n\r\n",
		HEAD "Transfer-Encoding: xchunked\r\n\r\n",
		HEAD "Transfer-Encoding: chunked\r\n"
		     "Transfer-Encoding: chunked\r\n\r\n",
		HEAD "Connection: close\r\nConnection: x\r\n\r\n",
		HEAD "Connection: content-length\r\nContent-Length: 1\r\n\r\n",
		HEAD "Connection: transfer-encoding\r\n\r\n",
		"GET http://a.org/ HTTP/1.0\r\n"
		"Transfer-Encoding: chunked\r\n\r\n",
		"CONNECT a.org HTTP/1.1\r\nHost: a.org\r\n\r\n",
		"CONNECT a.org:443 HTTP/1.1\r\nHost: b.org:443\r\n\r\n",
		"CONNECT http://a.org:443/ HTTP/1.1\r\nHost: a.org\r\n\r\n",
		"CONNECT a.org:443@b.org:443 HTTP/1.1\r\n\r\n",
		"CONNECT a.org:443/../b.org:443 HTTP/1.1\r\n\r\n",
		"CONNECT a.org:443\t HTTP/1.1\r\n\r\n",
		"CONNECT a.org:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\n",
		"CONNECT a.org:443 HTTP/1.1\r\n"
		"Transfer-Encoding: chunked\r\n\r\n",
		"CONNECT 127.1:443 HTTP/1.1\r\n\r\n",
		"CONNECT 2130706433:443 HTTP/1.1\r\n\r\n",
		"\x16\x03\x01\x02\r\n\r\n",
	};
	struct head h;
	size_t i;

	for (i = 0; i < nitems(list); i++)
		if (parse(list[i], &h) < 400)
			fail_msg("not refused: %s", list[i]);
	assert_int_equal(parse("GET http://a.org/ HTTP/2.0\r\n\r\n", &h), 505);
	assert_int_equal(
	    head_http(HEAD "A: \0\r\n\r\n", sizeof HEAD + 8, &h, NULL), 400);
}

static void
test_size(void **state unused_arg)
{
	char *s = malloc(HEAD_MAX + 1);
	struct head h;
	int n;

	n = snprintf(s, HEAD_MAX, HEAD "X: ");
	memset(s + n, 'x', HEAD_MAX - (size_t)n);
	assert_int_equal(head_http(s, HEAD_MAX - 1, &h, NULL), HEAD_MORE);
	assert_int_equal(head_http(s, HEAD_MAX, &h, NULL), 431);
	memcpy(s + HEAD_MAX - 4, "\r\n\r\n", 4);
	assert_int_equal(head_http(s, HEAD_MAX, &h, NULL), HEAD_DONE);
	head_clear(&h);
	free(s);
}

/* How much of the text is the body; -1: it is none. */
static int
body_of(const char *head, const char *text, size_t step)
{
	struct head h;
	struct body b;
	size_t at = 0, k, n;

	assert_int_equal(parse(head, &h), HEAD_DONE);
	body_init(&b, &h);
	head_clear(&h);
	while (at < strlen(text) && !b.done && !b.bad) {
		n = strlen(text) - at < step ? strlen(text) - at : step;
		k = body_take(&b, text + at, n);
		at += k;
		if (k < n)
			break;
	}
	return b.bad ? -1 : (int)at;
}

static void
test_body(void **state unused_arg)
{
	static const char chunked[] = HEAD "Transfer-Encoding: Chunked\r\n\r\n";
	static const struct {
		const char *text;
		int n;
	} list[] = {
		{ "3\r\nabc\r\n0\r\n\r\nGET http://b.org", 13 },
		{ "3;x=y\r\nabc\r\n00\r\nT: x\r\nU: y\r\n\r\nGET", 30 },
		{ "A\r\n0123456789\r\n0\r\n\r\n", 20 },
		{ "3\r\nabcd\r\n", -1 },
		{ "3\nabc\r\n0\r\n\r\n", -1 },
		{ " 3\r\nabc\r\n", -1 },
		{ "0x3\r\nabc\r\n", -1 },
		{ "\r\n", -1 },
		{ "1111111111111111\r\n", -1 },
		{ "3\r\nabc\n0\r\n", -1 },
		{ "0\r\nT: x\nU", -1 },
	};
	size_t i, step;

	for (step = 1; step < 9; step += 7) {
		assert_int_equal(body_of(HEAD "\r\n", "GET", step), 0);
		assert_int_equal(
		    body_of(HEAD "Content-Length: 0\r\n\r\n", "GET", step), 0);
		assert_int_equal(
		    body_of(HEAD "Content-Length: 2\r\n\r\n", "abGET", step),
		    2);
		assert_int_equal(
		    body_of("CONNECT a:1 HTTP/1.1\r\n\r\n", "abGET", step), 5);
		for (i = 0; i < nitems(list); i++)
			if (body_of(chunked, list[i].text, step) != list[i].n)
				fail_msg("%s: %d", list[i].text,
				    body_of(chunked, list[i].text, step));
	}
}

#define SOCKS(s) head_socks(s, sizeof s - 1, &h, &e)

static void
test_socks(void **state unused_arg)
{
	static const char name[] = "\5\1\0\3\7Pypi.or\1\xbb";
	struct head h;
	struct err e;
	size_t used = 0, i;

	assert_int_equal(head_socks_hello("\5", 1, &used), HEAD_MORE);
	assert_int_equal(head_socks_hello("\5\2\2", 3, &used), HEAD_MORE);
	assert_int_equal(head_socks_hello("\5\2\2\0x", 5, &used), HEAD_DONE);
	assert_int_equal(used, 4);
	assert_int_equal(head_socks_hello("\5\1\2", 3, &used), 0xff);
	assert_int_equal(head_socks_hello("\5\0", 2, &used), 0xff);

	for (i = 0; i < sizeof name - 1; i++)
		assert_int_equal(head_socks(name, i, &h, &e), HEAD_MORE);
	assert_int_equal(SOCKS(name), HEAD_DONE);
	assert_string_equal(h.target.host, "pypi.or");
	assert_int_equal(h.target.port, 443);
	assert_int_equal(SOCKS("\5\1\0\1\x0a\1\2\3\0\x50"), HEAD_DONE);
	assert_string_equal(h.target.host, "10.1.2.3");
	assert_int_equal(
	    SOCKS("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\x50"), HEAD_DONE);
	assert_string_equal(h.target.host, "::1");
	assert_int_equal(h.target.kind, TARGET_IP6);
	/* IPv4 as IPv6, and as a name: the same target */
	assert_int_equal(
	    SOCKS("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\1\0\x50"),
	    HEAD_DONE);
	assert_string_equal(h.target.host, "127.0.0.1");
	assert_int_equal(SOCKS("\5\1\0\3\x09"
			       "127.0.0.1\0\x50"),
	    HEAD_DONE);
	assert_int_equal(h.target.kind, TARGET_IP4);

	assert_int_equal(SOCKS("\5\2\0\1\x0a\1\2\3\0\x50"), 7);
	assert_int_equal(SOCKS("\5\3\0\1\x0a\1\2\3\0\x50"), 7);
	assert_int_equal(SOCKS("\5\1\0\2\x0a\1\2\3\0\x50"), 8);
	assert_int_equal(SOCKS("\4\1\0\1\x0a\1\2\3\0\x50"), 400);
	assert_int_equal(SOCKS("\5\1\1\1\x0a\1\2\3\0\x50"), 400);
	assert_int_equal(SOCKS("\5\1\0\1\x0a\1\2\3\0\0"), 400);
	assert_int_equal(SOCKS("\5\1\0\3\3a\0b\0\x50"), 2);
	assert_int_equal(SOCKS("\5\1\0\3\0\0\x50"), 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_hop),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_body),
		cmocka_unit_test(test_socks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
