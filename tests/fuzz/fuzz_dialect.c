/*
 * Whatever a server sends becomes a message of ours or a fault, the same in any
 * pieces, and every dialect can send it back as sound JSON. First byte: the
 * dialect (3), stream or body (2), the pieces.
 */
#include "common/compat.h"

#include "common/text.h"
#include "orchestrator/gateway/dialect.h"
#include "orchestrator/gateway/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct dialect *const dialects[] = { &dialect_chat,
	&dialect_responses, &dialect_anthropic };

struct target {
	const struct dialect *d;
	struct reply r;
};

static void
must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz_dialect: %s\n", what);
	abort();
}

static void
on_event(void *ctx, const char *event, const char *data, size_t len)
{
	struct target *t = ctx;

	t->d->event(&t->r, event, data, len);
}

/* Our message as text, yours. */
static char *
read_stream(struct target *t, const uint8_t *data, size_t size, size_t piece)
{
	struct sse s;
	size_t n;
	json_t *m;
	char *text;

	reply_init(&t->r);
	sse_init(&s, on_event, t);
	for (size_t at = 0; at < size; at += n) {
		n = size - at < piece ? size - at : piece;
		(void)sse_feed(&s, data + at, n);
	}
	(void)sse_end(&s);
	sse_clear(&s);
	t->d->end(&t->r);
	m = reply_message(&t->r, t->d->name, 1);
	text = json_text(m);
	json_decref(m);
	return text;
}

static char *
read_body(struct target *t, const uint8_t *data, size_t size)
{
	char *copy = malloc(size + 1), *text;
	json_t *m;

	must(copy != NULL, "memory");
	memcpy(copy, data, size);
	copy[size] = '\0';
	reply_init(&t->r);
	t->d->json(&t->r, copy, size);
	free(copy);
	must(t->r.done || t->r.fault.kind != FAULT_NONE,
	    "a body that is neither a reply nor a fault");
	m = reply_message(&t->r, t->d->name, 1);
	text = json_text(m);
	json_decref(m);
	return text;
}

static void
check_reply(const struct reply *r)
{
	must(!r->done || r->fault.kind == FAULT_NONE, "done with a fault");
	must(r->bytes <= REPLY_TEXT_MAX, "over the cap");
	must(r->n_calls <= REPLY_CALLS_MAX, "too many calls");
	must(text_is_utf8(r->fault.text, strlen(r->fault.text)),
	    "the fault's text is not UTF-8");
	must(!r->usage.given ||
		r->usage.cached + r->usage.cache_write <= r->usage.in_tokens,
	    "more is cached than sent");
}

static void
check_ids(const json_t *calls)
{
	const json_t *a, *b;
	size_t i, k;

	json_array_foreach (calls, i, a) {
		must(*json_string_value(json_object_get(a, "id")) != '\0',
		    "an empty id");
		json_array_foreach (calls, k, b)
			must(i == k ||
				!json_equal(json_object_get(a, "id"),
				    json_object_get(b, "id")),
			    "an id twice");
	}
}

static void
check_request(const json_t *m, const struct dialect *d)
{
	struct wire w;
	struct wire *v = &w;
	struct request q = {
		.model = "m", .msgs = &v, .n = 1, .late = "\"late\""
	};
	struct err e;
	struct buf b;
	json_t *j;

	must(d->wire(m, &w, &e) == 0, "no wire form");
	buf_init(&b, BUF_NOMAX);
	must(d->body(&q, &b, &e) == 0, "no body");
	j = json_loadb(b.data, b.len, JSON_REJECT_DUPLICATES, NULL);
	must(json_is_object(j), "the request is no JSON");
	json_decref(j);
	buf_clear(&b);
	wire_clear(&w);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct target t = { 0 };
	struct err e;
	char *text, *again;
	json_t *m = NULL;
	bool stream;

	if (size < 2 || size > 256 << 10)
		return 0;
	t.d = dialects[data[0] % 3];
	stream = data[0] / 3 % 2 == 0;
	text = stream ? read_stream(&t, data + 1, size - 1, size)
		      : read_body(&t, data + 1, size - 1);
	check_reply(&t.r);
	reply_clear(&t.r);
	if (stream) {
		again = read_stream(
		    &t, data + 1, size - 1, 1 + (size_t)data[0] / 6);
		must(strcmp(text, again) == 0, "the pieces matter");
		reply_clear(&t.r);
		free(again);
	}
	must(json_parse(text, strlen(text), 8 << 20, &m, &e) == 0, e.text);
	free(text);
	check_ids(json_object_get(m, "tool_calls"));
	for (size_t i = 0; i < nitems(dialects); i++)
		check_request(m, dialects[i]);
	json_decref(m);
	return 0;
}
