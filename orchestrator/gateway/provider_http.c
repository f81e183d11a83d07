/*
 * A request is in one of three places: in the gate's queue, running, or
 * sleeping before it joins the queue again. Its body is made when it runs,
 * since what is left for the output may have changed.
 */
#include "common/compat.h"

#include <inttypes.h>

#include "common/log.h"
#include "common/loop.h"
#include "orchestrator/gateway/server.h"

#define BODY_MAX ((size_t)32 << 20)
#define IDLE_MS 300000
#define TOTAL_MS 1800000 /* of a reply: comments are bytes too */
#define TOKEN_BYTES 3    /* of a reply that nobody counted */
#define EMPTY_RETRIES 2
#define SLOW_MS 15000 /* of silence, until it is said that it is waited for */
#define SILENT_MS (60 * 1000) /* until that is said again */

static size_t
prompt_bytes(const struct provider_ask *q)
{
	size_t n = q->late != NULL ? strlen(q->late) : 0;

	for (size_t i = 0; i < q->n; i++)
		n += q->wires[i]->len;
	return n;
}

static void
server_estimate(void *self, const struct provider_ask *q, uint64_t *ret_in,
    uint64_t *ret_out, uint64_t *ret_micro)
{
	const struct server *s = self;
	size_t bytes = prompt_bytes(q);
	struct usage in = { 0 }, written;

	in.in_tokens = guess_high(&s->guess, bytes);
	in.out_tokens = server_output(s, q, bytes);
	written = in;
	written.cache_write = in.in_tokens;
	*ret_in = in.in_tokens;
	*ret_out = in.out_tokens;
	*ret_micro = price_cost(&s->ep->price, &in);
	if (price_cost(&s->ep->price, &written) > *ret_micro)
		*ret_micro = price_cost(&s->ep->price, &written);
}

/* --- a reply -------------------------------------------------------------- */

static bool
is_empty(const struct reply *r)
{
	return r->n_calls == 0 &&
	    buf_str(&r->text)[strspn(buf_str(&r->text), " \t\r\n")] == '\0' &&
	    (r->stop == STOP_END || r->stop == STOP_NONE ||
		r->stop == STOP_CALLS);
}

/* What a reply that is thrown away has used. Servers count the output at the
 * end, so of one that broke off at least what was seen counts. */
static struct usage
used(const struct ask *a, const struct reply *r)
{
	struct usage u = r->usage;
	uint64_t seen =
	    (r->bytes + r->reasoning_bytes + TOKEN_BYTES - 1) / TOKEN_BYTES;

	if (!u.given)
		u = (struct usage){
			.given = true,
			.in_tokens = guess_tokens(&a->s->guess, a->bytes),
			.out_tokens = seen,
		};
	else if (!r->done && u.out_tokens < seen)
		u.out_tokens = seen;
	return u;
}

static enum provider_class
class_of(const struct fault *f)
{
	if (f->kind == FAULT_NONE)
		return CLASS_2XX;
	if (f->status == 429)
		return CLASS_429;
	return f->status / 100 == 4 ? CLASS_4XX
	    : f->status / 100 == 5  ? CLASS_5XX
				    : CLASS_NONE;
}

static void
on_attempt(void *ctx, struct attempt *t)
{
	struct ask *a = ctx;
	struct server *s = a->s;
	struct provider_answer answer = { .usage = t->reply.usage,
		.ms = t->ms };
	struct fault why = t->fault;
	bool fine = t->fault.kind == FAULT_NONE, begun = t->begun;
	struct usage lost = t->reply.usage;

	s->requests[class_of(&t->fault)]++;
	if (t->reply.usage.given)
		guess_learn(&s->guess, a->bytes, t->reply.usage.in_tokens);
	if (fine && t->reply.stop == STOP_FILTER)
		fault_set(&why, FAULT_FILTER,
		    "the reply was stopped by a content filter");
	if (why.kind == FAULT_NONE && is_empty(&t->reply) &&
	    a->empties < EMPTY_RETRIES && a->empties < s->ep->max_retries)
		fault_set(&why, FAULT_BROKEN, "the reply is empty");
	if (why.kind == FAULT_NONE) {
		attempt_scrub(t, s->ep->key);
		answer.message =
		    reply_message(&t->reply, s->ep->dialect->name, a->q.turn);
	} else if (a->q.lost != NULL) {
		lost = used(a, &t->reply);
	}
	a->running = false;
	loop_del(s->loop, a->slow);
	a->slow = NULL;
	gate_leave(s->gate, fine);
	attempt_clear(t);
	if (answer.message != NULL)
		ask_done(a, &answer);
	else if (begun && !ask_lost(a, &lost))
		return;
	else if (fine && why.kind == FAULT_BROKEN)
		ask_retry_empty(a, &why);
	else
		ask_retry(a, &why);
}

/* --- a request ------------------------------------------------------------ */

static int
send_body(struct ask *a, struct buf *body, struct err *e)
{
	struct server *s = a->s;
	struct strv headers = { 0 };
	size_t len = body->len;
	struct http_request q = {
		.url = s->ep->url,
		.headers = &headers,
		.body_len = len,
		.taken = buf_detach(body, NULL),
		.idle_ms = s->ep->idle_ms > 0 ? s->ep->idle_ms : IDLE_MS,
		.total_ms = TOTAL_MS,
		.plain = s->ep->plain,
	};
	int r;

	s->ep->dialect->headers(s->ep->key, &headers);
	r = attempt_start(&a->attempt, &q, e);
	for (size_t i = 0; i < headers.n; i++)
		explicit_bzero(headers.v[i], strlen(headers.v[i]));
	strv_clear(&headers);
	return r;
}

static int
send_request(struct ask *a, struct err *e)
{
	struct server *s = a->s;
	struct request q = {
		.model = s->ep->model,
		.max_output = a->sent_output,
		.effort = s->ep->effort,
		.cache_key = s->cache_key[0] != '\0' ? s->cache_key : NULL,
		.quirks = s->ep->quirks,
		.msgs = a->q.wires,
		.n = a->q.n,
		.late = a->q.late,
	};
	struct buf body;
	int r;

	a->sent_completion = q.quirks.max_completion;
	buf_init(&body, BODY_MAX);
	(void)buf_reserve(&body, a->bytes + a->q.n * 64 + 4096);
	if ((r = s->ep->dialect->body(&q, &body, e)) == 0)
		r = send_body(a, &body, e);
	buf_clear(&body);
	return r;
}

/* For all that wait, and at most once a minute. */
static void
on_slow(void *ctx)
{
	struct ask *a = ctx;
	struct server *s = a->s;
	uint64_t now = loop_now_ms();
	struct log_ids old;
	char *host;

	a->slow = NULL;
	if (a->attempt.begun || now < s->silent_ms)
		return;
	s->silent_ms = now + SILENT_MS;
	host = http_url_host(s->ep->url);
	log_ids_get(&old);
	log_ids_set(&a->ids);
	log_info("%s: waiting for an answer of %s, for %d s so far", s->name,
	    host != NULL ? host : "its server", SLOW_MS / 1000);
	log_ids_set(&old);
	free(host);
}

/* The gate has let it in. */
static void
on_go(void *ctx)
{
	struct ask *a = ctx;
	struct server *s = a->s;
	struct fault why = { 0 };
	struct err e = { 0 };
	int r;

	a->attempt = (struct attempt){
		.loop = s->loop,
		.http = s->http,
		.dialect = s->ep->dialect,
		.max_wait_ms = server_max_wait(s),
		.done = on_attempt,
		.ctx = a,
	};
	attempt_init(&a->attempt);
	a->running = true;
	a->sent_output = server_output(s, &a->q, a->bytes);
	if (a->sent_output == 0) {
		fault_set(&why, FAULT_OVERFLOW,
		    "the conversation needs about %" PRIu64
		    " tokens, the context window holds %" PRIu64,
		    guess_tokens(&s->guess, a->bytes), s->context);
		why.context = s->context;
		ask_fail(a, &why);
		return;
	}
	a->requests++;
	if ((r = send_request(a, &e)) == 0) {
		a->slow = gate_timer(s->gate, SLOW_MS, on_slow, a);
		return;
	}
	a->requests--;
	fault_set(&why, r == ERR_LIMIT ? FAULT_OVERFLOW : FAULT_REQUEST, "%s",
	    e.text);
	ask_fail(a, &why);
}

/* --- public --------------------------------------------------------------- */

static void
server_ask(void *self, const struct provider_ask *q, void **ret_call)
{
	struct server *s = self;
	struct ask *a = xcalloc(1, sizeof *a);
	struct wire **wires = xcalloc(q->n + 1, sizeof(struct wire *));

	if (q->n > 0)
		memcpy(wires, q->wires, q->n * sizeof(struct wire *));
	log_ids_get(&a->ids);
	a->s = s;
	a->q = *q;
	a->q.worker = NULL;
	a->q.conv = NULL;
	a->q.wires = wires;
	a->q.late = q->late != NULL ? xstrdup(q->late) : NULL;
	a->bytes = prompt_bytes(q);
	a->wait = (struct gate_wait){ .go = on_go, .ctx = a };
	TAILQ_INSERT_TAIL(&s->asks, a, entry);
	gate_join(s->gate, &a->wait);
	*ret_call = a;
}

static void
server_cancel(void *self unused_arg, void *call)
{
	struct ask *a = call;

	if (a->telling)
		a->gone = true;
	else
		ask_free(a);
}

static void
server_state(void *self, struct provider_state *ret)
{
	const struct server *s = self;

	memcpy(ret->requests, s->requests, sizeof ret->requests);
	ret->retries = s->retries;
	ret->queued = gate_queued(s->gate);
	ret->in_flight = gate_limiter(s->gate)->in_flight;
	ret->width = (uint64_t)gate_limiter(s->gate)->width;
}

static void
server_free(void *self)
{
	struct server *s = self;
	struct ask *a;

	while ((a = TAILQ_FIRST(&s->asks)) != NULL)
		ask_free(a);
	gate_put(s->gate);
	model_free(s->ep);
	free(s->name);
	free(s);
}

void
provider_http(struct provider *ret, struct endpoint *ep, struct http *h,
    struct loop *l, uint64_t seed)
{
	struct server *s = xcalloc(1, sizeof *s);

	s->ep = ep;
	s->http = h;
	s->loop = l;
	s->seed = seed;
	s->context = ep->context;
	s->name = xasprintf("%s/%s", ep->provider, ep->model);
	s->gate = gate_get(l, ep->provider, ep->parallel, seed);
	TAILQ_INIT(&s->asks);
	guess_init(&s->guess);
	/* All workers of a run share a prefix; others refuse the field. */
	if (strncmp(ep->url, "https://api.openai.com/", 23) == 0)
		(void)snprintf(s->cache_key, sizeof s->cache_key,
		    "foray-%016" PRIx64, seed);
	*ret = (struct provider){
		.name = s->name,
		.dialect = ep->dialect,
		.ask = server_ask,
		.cancel = server_cancel,
		.estimate = server_estimate,
		.state = server_state,
		.free = server_free,
		.self = s,
	};
}

void
provider_http_hook(struct provider *p, unsigned speed,
    void (*planned)(void *ctx, const struct fault *why, uint64_t ms), void *ctx)
{
	struct server *s = p->self;

	gate_speed(s->gate, speed);
	s->planned = planned;
	s->planned_ctx = ctx;
}
