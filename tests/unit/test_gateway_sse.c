/* test_gateway_sse.c - server-sent events, however they are cut. */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "orchestrator/gateway/sse.h"

/* Writes "EVENT=DATA;" for each. */
static void
on_event(void *ctx, const char *event, const char *data, size_t len)
{
	assert_int_equal(data[len], '\0');
	(void)buf_printf(ctx, "%s=", event);
	(void)buf_add(ctx, data, len);
	(void)buf_addc(ctx, ';');
}

static void
expect_n(const char *in, size_t len, const char *want)
{
	struct sse s;
	struct buf got;

	for (size_t piece = 1; piece <= len; piece++) {
		buf_init(&got, 4096);
		sse_init(&s, on_event, &got);
		for (size_t at = 0; at < len; at += piece)
			assert_int_equal(
			    sse_feed(&s, in + at,
				len - at < piece ? len - at : piece),
			    0);
		assert_int_equal(sse_end(&s), 0);
		assert_string_equal(buf_str(&got), want);
		sse_clear(&s);
		buf_clear(&got);
	}
}

static void
expect(const char *in, const char *want)
{
	expect_n(in, strlen(in), want);
}

static void
test_line_ends(void **state unused_arg)
{
	expect("data: a\n\ndata: b\n\n", "=a;=b;");
	expect("data: a\r\n\r\ndata: b\r\n\r\n", "=a;=b;");
	expect("data: a\r\rdata: b\r\r", "=a;=b;");
	expect("data: a\r\n\ndata: b\n\r\n", "=a;=b;");
}

static void
test_fields(void **state unused_arg)
{
	expect("event: x\ndata: a\n\ndata: b\n\n", "x=a;=b;");
	expect("data:a\ndata:  b\n\n", "=a\n b;");
	expect("data\n\n", "=;");
	expect("data:\ndata:\n\n", "=\n;");
	expect("data: a: b\n\n", "=a: b;");
	expect(": note\n\nid: 7\nretry: 3\nfoo: x\ndata: a\n\n", "=a;");
	expect("event: lost\n\ndata: a\n\n", "=a;");
	expect("Data: a\ndatas: b\n\n", "");
	expect("\xef\xbb\xbf"
	       "data: a\n\n",
	    "=a;");
	expect("data: a\n\n\xef\xbb\xbf"
	       "data: b\n\n",
	    "=a;");
}

static void
test_end(void **state unused_arg)
{
	expect("data: a\n", "=a;");
	expect("data: a", "=a;");
	expect("\n\n\n", "");
	expect("event: x", "");
}

static void
test_long_event_name(void **state unused_arg)
{
	char in[200] = "event: ";
	char want[80] = "";

	memset(in + 7, 'e', 100);
	strlcpy(in + 107, "\ndata: a\n\n", sizeof in - 107);
	memset(want, 'e', 63);
	strlcpy(want + 63, "=a;", sizeof want - 63);
	expect(in, want);
}

static void
test_nul(void **state unused_arg)
{
	struct sse s;
	struct buf got;

	buf_init(&got, 100);
	sse_init(&s, on_event, &got);
	assert_int_equal(sse_feed(&s, "data: a\0b\n\n", 11), 0);
	assert_int_equal(got.len, 5);
	assert_memory_equal(got.data, "=a\0b;", 5);
	sse_clear(&s);
	buf_clear(&got);
}

static void
ignore(void *ctx, const char *event unused_arg, const char *data unused_arg,
    size_t len unused_arg)
{
	++*(unsigned *)ctx;
}

static void
fill(const char *head, const char *piece, bool lines)
{
	struct sse s;
	unsigned events = 0;
	size_t n = strlen(piece), fed = 0;
	int r;

	sse_init(&s, ignore, &events);
	r = sse_feed(&s, head, strlen(head));
	while (r == 0 && fed < 2 * SSE_EVENT_MAX) {
		r = sse_feed(&s, piece, n);
		fed += n;
	}
	assert_int_equal(r, -1);
	assert_true(s.over);
	assert_in_range(s.line.len + s.data.len, 0, 2 * SSE_EVENT_MAX);
	/* For good. */
	assert_int_equal(sse_feed(&s, "\n\ndata: a\n\n", 11), -1);
	assert_int_equal(sse_end(&s), -1);
	assert_int_equal(events, 0);
	assert_true(lines || s.data.len == 0);
	sse_clear(&s);
}

static void
test_caps(void **state unused_arg)
{
	char piece[1025], line[1025];

	memset(piece, 'x', sizeof piece - 1);
	piece[sizeof piece - 1] = '\0';
	memcpy(line, piece, sizeof line);
	memcpy(line, "data: ", 6);
	line[sizeof line - 2] = '\n';
	fill("data: ", piece, false);
	fill("", piece, false);
	fill("", line, true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line_ends),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_long_event_name),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_caps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
