#include "common/compat.h"

#include <time.h>

#include "common/log.h"
#include "common/loop.h"
#include "orchestrator/gateway/attempt.h"

#define WHOLE_MAX ((size_t)8 << 20) /* a reply that is no stream */
#define REFUSAL_MAX ((size_t)64 << 10)
#define SNIFF 8       /* bytes that tell the shape */
#define GRACE_MS 1000 /* for the connection's end, after the reply's */
#define KEY_MIN 12    /* a shorter one may be any word */

static void
on_event(void *ctx, const char *event, const char *data, size_t len)
{
	struct attempt *a = ctx;

	if (!a->reply.done && a->reply.fault.kind == FAULT_NONE)
		a->dialect->event(&a->reply, event, data, len);
}

void
attempt_init(struct attempt *a)
{
	reply_init(&a->reply);
	sse_init(&a->sse, on_event, a);
	buf_init(&a->raw, WHOLE_MAX);
	a->fault = (struct fault){ 0 };
	a->begun = false;
	a->shape = SHAPE_UNKNOWN;
	a->call = NULL;
	a->grace = NULL;
}

void
attempt_clear(struct attempt *a)
{
	http_cancel(a->call);
	a->call = NULL;
	loop_del(a->loop, a->grace);
	a->grace = NULL;
	reply_clear(&a->reply);
	sse_clear(&a->sse);
	buf_clear(&a->raw);
}

/* --- the key -------------------------------------------------------------- */

static void
scrub_buf(struct buf *b, const char *key)
{
	if (b->len > 0)
		(void)fault_scrub_whole(b->data, b->len, key);
}

static void
scrub_str(char *s, const char *key)
{
	if (s != NULL)
		(void)fault_scrub_whole(s, strlen(s), key);
}

/* Every string in it. As deep as the parser allowed. */
static void
scrub_json(json_t *j, const char *key)
{
	const char *name;
	json_t *v;
	size_t i;
	char *s;

	json_object_foreach (j, name, v)
		scrub_json(v, key);
	json_array_foreach (j, i, v)
		scrub_json(v, key);
	if (!json_is_string(j))
		return;
	i = json_string_length(j);
	s = xmalloc(i + 1);
	memcpy(s, json_string_value(j), i + 1);
	if (fault_scrub_whole(s, i, key))
		(void)json_string_setn(j, s, i);
	free(s);
}

/* Also where it is the name of a member. */
static void
scrub_call(struct reply_call *c, const char *key)
{
	char *s;

	scrub_str(c->id, key);
	scrub_str(c->name, key);
	scrub_buf(&c->args, key);
	if (c->args_json == NULL)
		return;
	s = json_text(c->args_json);
	if (c->args.len == 0 && fault_scrub_whole(s, strlen(s), key)) {
		(void)buf_adds(&c->args, s);
		json_decref(c->args_json);
		c->args_json = NULL;
	}
	free(s);
}

void
attempt_scrub(struct attempt *a, const char *key)
{
	struct reply *r = &a->reply;

	if (key == NULL || strlen(key) < KEY_MIN)
		return;
	scrub_buf(&r->text, key);
	for (size_t i = 0; i < r->n_calls; i++)
		scrub_call(&r->calls[i], key);
	scrub_json(r->opaque, key);
}

/* --- the bytes ------------------------------------------------------------ */

/* Servers are careless with content types: what it looks like counts, but HTML
 * is never a reply. */
static enum shape
sniff(const struct buf *b, const char *content_type, bool all)
{
	const char *s = buf_str(b), *end = s + b->len;

	if (strncasecmp(content_type, "text/html", 9) == 0)
		return SHAPE_WHOLE;
	if (b->len >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0)
		s += 3;
	s += strspn(s, " \t\r\n");
	if (end - s < SNIFF && !all)
		return b->len < 4096 ? SHAPE_UNKNOWN : SHAPE_WHOLE;
	if (s[0] == ':' || strncmp(s, "data:", 5) == 0 ||
	    strncmp(s, "event:", 6) == 0 || strncmp(s, "id:", 3) == 0 ||
	    strncmp(s, "retry:", 6) == 0)
		return SHAPE_STREAM;
	return SHAPE_WHOLE;
}

static int
feed(struct attempt *a, const void *p, size_t len)
{
	if (sse_feed(&a->sse, p, len) == 0)
		return 0;
	fault_set(&a->fault, FAULT_TOOLARGE,
	    "an event of the stream is over "
	    "%zu bytes",
	    SSE_EVENT_MAX);
	return -1;
}

static int
keep(struct attempt *a, long status, const void *p, size_t len)
{
	size_t max = status / 100 == 2 ? WHOLE_MAX : REFUSAL_MAX;

	if (a->raw.len + len <= max)
		return buf_add(&a->raw, p, len);
	if (status / 100 == 2)
		fault_set(&a->fault, FAULT_TOOLARGE,
		    "the reply is over %zu bytes", max);
	else if (a->raw.len < max)
		(void)buf_add(&a->raw, p, max - a->raw.len);
	return status / 100 == 2 ? -1 : 0;
}

static void settle(struct attempt *a);

/* The reply is complete, and the server does not end it. */
static void
on_grace(void *ctx)
{
	struct attempt *a = ctx;

	a->grace = NULL;
	http_cancel(a->call);
	a->call = NULL;
	settle(a);
}

static int
on_data(
    void *ctx, long status, const char *content_type, const void *p, size_t len)
{
	struct attempt *a = ctx;

	a->begun |= status / 100 == 2;
	if (a->shape == SHAPE_STREAM) {
		if (feed(a, p, len) < 0)
			return -1;
	} else if (keep(a, status, p, len) < 0) {
		return -1;
	}
	if (a->shape == SHAPE_UNKNOWN) {
		a->shape = status / 100 != 2
		    ? SHAPE_WHOLE
		    : sniff(&a->raw, content_type, false);
		if (a->shape == SHAPE_STREAM &&
		    feed(a, a->raw.data, a->raw.len) < 0)
			return -1;
	}
	if (a->reply.fault.kind != FAULT_NONE)
		return -1; /* no need to hear more */
	if (a->reply.done && a->grace == NULL)
		a->grace = loop_timer_add(a->loop, GRACE_MS, 0, on_grace, a);
	return 0;
}

/* --- the end -------------------------------------------------------------- */

/* The stream came to its end; did the reply? */
static void
end_stream(struct attempt *a)
{
	if (sse_end(&a->sse) < 0) {
		fault_set(&a->fault, FAULT_TOOLARGE,
		    "an event of the stream is over %zu bytes", SSE_EVENT_MAX);
		return;
	}
	if (!a->reply.done && a->reply.fault.kind == FAULT_NONE)
		a->dialect->end(&a->reply);
}

static void
end_whole(struct attempt *a, const struct http_reply *r)
{
	if (strncasecmp(r->content_type, "text/html", 9) != 0 &&
	    buf_str(&a->raw)[strspn(buf_str(&a->raw), " \t\r\n")] == '{')
		a->dialect->json(&a->reply, buf_str(&a->raw), a->raw.len);
	if (a->reply.done || a->reply.fault.kind != FAULT_NONE)
		return;
	fault_from_http(&a->fault, r->status, r->content_type, NULL,
	    buf_str(&a->raw), a->raw.len, a->max_wait_ms, time(NULL));
}

/* What the outcome is, once all is read. */
static void
settle(struct attempt *a)
{
	a->ms = loop_now_ms() - a->start_ms;
	if (a->fault.kind == FAULT_NONE)
		a->fault = a->reply.fault;
	if (a->fault.kind == FAULT_NONE && !a->reply.done)
		fault_set(&a->fault, FAULT_BROKEN,
		    "the stream ended before the reply did");
	a->done(a->ctx, a);
}

static void
on_done(void *ctx, const struct http_reply *r)
{
	struct attempt *a = ctx;
	bool ours = a->fault.kind != FAULT_NONE || a->reply.done ||
	    a->reply.fault.kind != FAULT_NONE;

	a->begun |= r->status / 100 == 2;
	a->call = NULL;
	loop_del(a->loop, a->grace);
	a->grace = NULL;
	if (ours) {
		; /* known before the connection's end */
	} else if (r->status >= 300) {
		/* Also when the explanation broke off. */
		fault_from_http(&a->fault, r->status, r->content_type,
		    r->retry_after[0] != '\0' ? r->retry_after : NULL,
		    buf_str(&a->raw), a->raw.len, a->max_wait_ms, time(NULL));
	} else if (r->fault.kind != FAULT_NONE) {
		a->fault = r->fault;
	} else {
		if (a->shape == SHAPE_UNKNOWN)
			a->shape = sniff(&a->raw, r->content_type, true);
		if (a->shape != SHAPE_STREAM)
			end_whole(a, r);
		else if (a->sse.started ||
		    feed(a, a->raw.data, a->raw.len) == 0)
			end_stream(a);
	}
	settle(a);
}

int
attempt_start(struct attempt *a, struct http_request *q, struct err *e)
{
	a->start_ms = loop_now_ms();
	q->on_data = on_data;
	q->on_done = on_done;
	q->ctx = a;
	return http_start(a->http, q, &a->call, e);
}
