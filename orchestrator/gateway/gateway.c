#include "common/compat.h"

#include <sys/queue.h>
#include <sys/tree.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/loop.h"
#include "orchestrator/gateway/gateway.h"
#include "orchestrator/store/transcript.h"

#define MAX_MESSAGES 16384 /* in one conversation */

/* A message seen in this run, parsed once, shared by all conversations. */
struct body {
	RB_ENTRY(body) entry;
	unsigned char hash[HASH_LEN];
	json_t *json;
};

/* What a worker asked last. */
struct conv {
	TAILQ_ENTRY(conv) entry;
	char *worker;
	unsigned char *hashes; /* n * HASH_LEN */
	size_t n;
	uint64_t turn; /* answered */
	char *reply;   /* the answer's JSON text */
	json_t *array; /* of the n messages */
};

RB_HEAD(bodies, body);
TAILQ_HEAD(convs, conv);

struct gateway {
	struct store *store;
	struct ledger *ledger;
	struct provider provider;
	struct bodies bodies;
	struct convs convs;
	struct buf need;
	char error[1024];
	uint64_t t0_ms;
};

static int
body_cmp(const struct body *a, const struct body *b)
{
	return memcmp(a->hash, b->hash, HASH_LEN);
}

/* libbsd's RB_GENERATE_STATIC wants __unused, which glibc has not. */
RB_GENERATE_INTERNAL(bodies, body, entry, body_cmp, unused_arg static)

struct gateway *
gateway_create(
    struct store *s, struct ledger *l, struct provider *p, uint64_t t0_ms)
{
	struct gateway *g = xcalloc(1, sizeof *g);

	g->store = s;
	g->ledger = l;
	g->provider = *p;
	*p = (struct provider){ 0 };
	g->t0_ms = t0_ms;
	RB_INIT(&g->bodies);
	TAILQ_INIT(&g->convs);
	buf_init(&g->need, MAX_MESSAGES * HASH_LEN);
	return g;
}

static void
conv_free(struct gateway *g, struct conv *c)
{
	TAILQ_REMOVE(&g->convs, c, entry);
	json_decref(c->array);
	free(c->worker);
	free(c->hashes);
	free(c->reply);
	free(c);
}

void
gateway_free(struct gateway *g)
{
	struct body *b, *next;
	struct conv *c, *c_next;

	if (g == NULL)
		return;
	TAILQ_FOREACH_SAFE (c, &g->convs, entry, c_next)
		conv_free(g, c);
	RB_FOREACH_SAFE (b, bodies, &g->bodies, next) {
		RB_REMOVE(bodies, &g->bodies, b);
		json_decref(b->json);
		free(b);
	}
	if (g->provider.free != NULL)
		g->provider.free(g->provider.self);
	buf_clear(&g->need);
	free(g);
}

const struct provider *
gateway_provider(const struct gateway *g)
{
	return &g->provider;
}

static struct conv *
conv_get(struct gateway *g, const char *worker)
{
	struct conv *c;

	TAILQ_FOREACH (c, &g->convs, entry)
		if (strcmp(c->worker, worker) == 0)
			return c;
	c = xcalloc(1, sizeof *c);
	c->worker = xstrdup(worker);
	c->array = json_array();
	TAILQ_INSERT_TAIL(&g->convs, c, entry);
	return c;
}

void
gateway_worker_gone(struct gateway *g, const char *worker)
{
	struct conv *c, *next;

	TAILQ_FOREACH_SAFE (c, &g->convs, entry, next)
		if (strcmp(c->worker, worker) == 0)
			conv_free(g, c);
	if (g->provider.worker_gone != NULL)
		g->provider.worker_gone(g->provider.self, worker);
}

/* Keep a message's JSON under its hash; takes j. */
static struct body *
body_keep(struct gateway *g, const unsigned char hash[HASH_LEN], json_t *j)
{
	struct body *b = xcalloc(1, sizeof *b), *old;

	memcpy(b->hash, hash, HASH_LEN);
	b->json = j;
	if ((old = RB_INSERT(bodies, &g->bodies, b)) != NULL) {
		json_decref(b->json);
		free(b);
		return old;
	}
	return b;
}

static struct body *
body_find(struct gateway *g, const unsigned char *hash)
{
	struct body key, *b;
	json_t *j;
	char *text;

	memcpy(key.hash, hash, HASH_LEN);
	if ((b = RB_FIND(bodies, &g->bodies, &key)) != NULL)
		return b;
	if ((text = store_message_get(g->store, hash)) == NULL)
		return NULL;
	if (json_parse(text, strlen(text), MSG_MAX_BYTES, &j, NULL) == 0)
		b = body_keep(g, hash, j);
	free(text);
	return b;
}

static int
take_bodies(struct gateway *g, const struct msg_model *q, struct err *e)
{
	unsigned char hash[HASH_LEN];
	json_t *j;
	size_t i;
	int r;

	for (i = 0; i < q->bodies.n; i++) {
		const char *s = q->bodies.v[i];

		if (json_parse(s, strlen(s), MSG_MAX_BYTES, &j, e) < 0)
			return err_prefix(e, "message %zu", i + 1);
		if (!json_is_object(j)) {
			json_decref(j);
			return err_set(
			    e, ERR_PROTO, "message %zu is no object", i + 1);
		}
		hash_bytes(s, strlen(s), hash);
		(void)body_keep(g, hash, j);
		if ((r = store_message(g->store, hash, s, e)) < 0)
			return r;
	}
	return 0;
}

/* Make c->array the conversation of q. Hashes that are not known go to
 * g->need. */
static void
put_together(struct gateway *g, struct conv *c, const struct msg_model *q,
    size_t *ret_base)
{
	const unsigned char *h = q->hashes;
	size_t n = q->hashes_len / HASH_LEN, base = 0, i;
	struct body *b;

	while (base < n && base < c->n &&
	    memcmp(h + base * HASH_LEN, c->hashes + base * HASH_LEN,
		HASH_LEN) == 0)
		base++;
	*ret_base = base;
	buf_reset(&g->need);
	for (i = base; i < n; i++)
		if (body_find(g, h + i * HASH_LEN) == NULL)
			(void)buf_add(&g->need, h + i * HASH_LEN, HASH_LEN);
	if (g->need.len > 0)
		return;
	while (json_array_size(c->array) > base)
		(void)json_array_remove(
		    c->array, json_array_size(c->array) - 1);
	for (i = base; i < n; i++) {
		b = body_find(g, h + i * HASH_LEN);
		(void)json_array_append(c->array, b->json);
	}
	c->n = n;
	c->hashes = xreallocarray(c->hashes, n, HASH_LEN);
	memcpy(c->hashes, h, n * HASH_LEN);
}

static void
answer(struct gateway *g, struct gateway_reply *ret, const char *status,
    const struct err *why)
{
	ret->m.u.model_result.status = status;
	if (why != NULL) {
		size_t n = strlcpy(g->error, why->text, sizeof g->error);

		(void)n;
		ret->m.u.model_result.error = g->error;
	}
}

static double
now_s(const struct gateway *g)
{
	return (double)(loop_now_ms() - g->t0_ms) / 1000.0;
}

static int
record(struct gateway *g, struct conv *c, const char *subtask, unsigned attempt,
    const struct msg_model *q, size_t base, const json_t *reply, uint64_t ms,
    struct err *e)
{
	const unsigned char *h = q->hashes;
	struct store_exchange x = {
		.worker = c->worker,
		.subtask = subtask,
		.attempt = attempt,
		.turn = (unsigned)q->turn,
		.base = base,
		.tail = h + base * HASH_LEN,
		.tail_len = q->hashes_len - base * HASH_LEN,
		.status = "ok",
		.reply = c->reply,
		.ms = ms,
		.t = now_s(g),
	};
	size_t i, n = json_array_size(c->array);
	int r;

	for (i = base; i < n; i++) {
		const json_t *m = json_array_get(c->array, i);
		const char *role;

		/* The model's own earlier replies are there already. */
		if (json_get_str(m, "role", true, &role, NULL) == 0 &&
		    strcmp(role, "assistant") == 0)
			continue;
		r = transcript_add(
		    g->store, c->worker, x.t, (unsigned)q->turn, m, e);
		if (r < 0)
			return r;
	}
	r = transcript_add(
	    g->store, c->worker, x.t, (unsigned)q->turn, reply, e);
	return r < 0 ? r : store_exchange(g->store, &x, e);
}

static int
ask_provider(struct gateway *g, struct conv *c, const char *subtask,
    unsigned attempt, const struct msg_model *q, size_t base,
    struct gateway_reply *ret, struct err *e)
{
	uint64_t start = loop_now_ms();
	json_t *reply = NULL;
	struct err why = { 0 };
	int r;

	if (ledger_reserve(g->ledger, &why) < 0) {
		answer(g, ret, "budget", &why);
		return 0;
	}
	if (g->provider.reply(
		g->provider.self, c->worker, c->array, &reply, &why) < 0) {
		ledger_release(g->ledger);
		answer(g, ret, "error", &why);
		return 0;
	}
	ret->ms = loop_now_ms() - start;
	ledger_settle(g->ledger, 0, 0, 0);
	free(c->reply);
	c->reply = json_text(reply);
	c->turn = q->turn;
	r = record(g, c, subtask, attempt, q, base, reply, ret->ms, e);
	json_decref(reply);
	ret->fresh = true;
	answer(g, ret, "ok", NULL);
	ret->m.u.model_result.message = c->reply;
	return r;
}

int
gateway_ask(struct gateway *g, const char *worker, const char *subtask,
    unsigned attempt, const struct msg_model *q, struct gateway_reply *ret,
    struct err *e)
{
	struct conv *c = conv_get(g, worker);
	struct err why = { 0 };
	size_t base;

	*ret = (struct gateway_reply){ .m.type = MSG_MODEL_RESULT };
	ret->m.u.model_result.turn = q->turn;
	if (q->hashes_len == 0 || q->hashes_len % HASH_LEN != 0 ||
	    q->hashes_len / HASH_LEN > MAX_MESSAGES) {
		(void)err_set(&why, ERR_PROTO,
		    "a request lists 1 to %d message hashes", MAX_MESSAGES);
		answer(g, ret, "error", &why);
		return 0;
	}
	if (c->reply != NULL && c->turn == q->turn &&
	    c->n == q->hashes_len / HASH_LEN &&
	    memcmp(c->hashes, q->hashes, q->hashes_len) == 0) {
		answer(g, ret, "ok", NULL);
		ret->m.u.model_result.message = c->reply;
		return 0;
	}
	if (take_bodies(g, q, &why) < 0) {
		answer(g, ret, "error", &why);
		return 0;
	}
	put_together(g, c, q, &base);
	if (g->need.len > 0) {
		answer(g, ret, "need", NULL);
		ret->m.u.model_result.need = g->need.data;
		ret->m.u.model_result.need_len = g->need.len;
		return 0;
	}
	return ask_provider(g, c, subtask, attempt, q, base, ret, e);
}
