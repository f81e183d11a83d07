/* However a stream is cut, its events are the same. First byte: the pieces. */
#include "common/compat.h"

#include "orchestrator/gateway/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz_sse: %s\n", what);
	abort();
}

static void
on_event(void *ctx, const char *event, const char *data, size_t len)
{
	struct buf *b = ctx;

	must(data[len] == '\0', "no NUL after the data");
	must(strlen(event) < sizeof(((struct sse *)0)->event), "event name");
	(void)buf_printf(b, "%zu %s %zu ", strlen(event), event, len);
	(void)buf_add(b, data, len);
}

static void
run(const uint8_t *data, size_t size, size_t piece, struct buf *ret)
{
	struct sse s;
	size_t n;

	buf_init(ret, BUF_NOMAX);
	sse_init(&s, on_event, ret);
	for (size_t at = 0; at < size; at += n) {
		n = size - at < piece ? size - at : piece;
		must(sse_feed(&s, data + at, n) == 0, "over the cap");
	}
	must(sse_end(&s) == 0, "over the cap");
	sse_clear(&s);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole, pieces;

	if (size < 2 || size > SSE_EVENT_MAX / 2)
		return 0;
	run(data + 1, size - 1, size, &whole);
	run(data + 1, size - 1, 1 + data[0] % 32, &pieces);
	must(whole.len == pieces.len &&
		(whole.len == 0 ||
		    memcmp(whole.data, pieces.data, whole.len) == 0),
	    "the events differ");
	buf_clear(&whole);
	buf_clear(&pieces);
	return 0;
}
