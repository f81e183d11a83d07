#include "common/compat.h"

#include <sys/queue.h>
#include <sys/tree.h>

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "orchestrator/gateway/convs.h"

/* A message seen in this run. */
struct body {
	RB_ENTRY(body) entry;
	unsigned char hash[HASH_LEN];
	json_t *json;
	struct wire wire; /* for the dialect */
};

struct item {
	RB_ENTRY(item) entry;
	struct conv conv;
};

RB_HEAD(bodies, body);
RB_HEAD(items, item);

struct convs {
	struct store *store;
	const struct dialect *dialect;
	struct bodies bodies;
	struct items items;
};

static int
body_cmp(const struct body *a, const struct body *b)
{
	return memcmp(a->hash, b->hash, HASH_LEN);
}

/* libbsd's RB_GENERATE_STATIC wants __unused, which glibc has not. */
RB_GENERATE_INTERNAL(bodies, body, entry, body_cmp, unused_arg static)

static int
item_cmp(const struct item *a, const struct item *b)
{
	return strcmp(a->conv.worker, b->conv.worker);
}

RB_GENERATE_INTERNAL(items, item, entry, item_cmp, unused_arg static)

static struct item *
item_find(struct convs *c, const char *worker)
{
	struct item key = { .conv.worker = (char *)(uintptr_t)worker };

	return RB_FIND(items, &c->items, &key);
}

struct convs *
convs_create(struct store *s, const struct dialect *d)
{
	struct convs *c = xcalloc(1, sizeof *c);

	c->store = s;
	c->dialect = d;
	RB_INIT(&c->bodies);
	RB_INIT(&c->items);
	return c;
}

static void
item_free(struct convs *c, struct item *it)
{
	RB_REMOVE(items, &c->items, it);
	json_decref(it->conv.array);
	free(it->conv.worker);
	free(it->conv.hashes);
	free(it->conv.recorded);
	free(it->conv.wires);
	free(it);
}

void
convs_free(struct convs *c)
{
	struct body *b, *next;
	struct item *it, *it_next;

	if (c == NULL)
		return;
	RB_FOREACH_SAFE (it, items, &c->items, it_next)
		item_free(c, it);
	RB_FOREACH_SAFE (b, bodies, &c->bodies, next) {
		RB_REMOVE(bodies, &c->bodies, b);
		json_decref(b->json);
		wire_clear(&b->wire);
		free(b);
	}
	free(c);
}

struct conv *
convs_get(struct convs *c, const char *worker)
{
	struct item *it = item_find(c, worker);

	if (it != NULL)
		return &it->conv;
	it = xcalloc(1, sizeof *it);
	it->conv.worker = xstrdup(worker);
	it->conv.array = json_array();
	(void)RB_INSERT(items, &c->items, it);
	return &it->conv;
}

struct conv *
convs_find(struct convs *c, const char *worker)
{
	struct item *it = item_find(c, worker);

	return it != NULL ? &it->conv : NULL;
}

void
convs_drop(struct convs *c, const char *worker)
{
	/* worker may be its own. */
	struct item *it = item_find(c, worker);

	if (it != NULL)
		item_free(c, it);
}

const char *
conv_role(const struct conv *v, size_t i)
{
	const char *role;

	if (json_get_str(
		json_array_get(v->array, i), "role", true, &role, NULL) < 0)
		return "";
	return role;
}

/* Keep a message's JSON under its hash; takes j. */
static int
body_keep(struct convs *c, const unsigned char hash[HASH_LEN], json_t *j,
    struct body **ret, struct err *e)
{
	struct body *b = xcalloc(1, sizeof *b), *old;
	int r;

	memcpy(b->hash, hash, HASH_LEN);
	b->json = j;
	if ((old = RB_FIND(bodies, &c->bodies, b)) != NULL) {
		*ret = old;
		r = 0;
		goto drop;
	}
	if (c->dialect != NULL && (r = c->dialect->wire(j, &b->wire, e)) < 0)
		goto drop;
	(void)RB_INSERT(bodies, &c->bodies, b);
	*ret = b;
	return 0;
drop:
	json_decref(b->json);
	free(b);
	return r;
}

static struct body *
body_find(struct convs *c, const unsigned char *hash)
{
	struct body key, *b = NULL;
	json_t *j;
	char *text;

	memcpy(key.hash, hash, HASH_LEN);
	if ((b = RB_FIND(bodies, &c->bodies, &key)) != NULL)
		return b;
	if ((text = store_message_get(c->store, hash)) == NULL)
		return NULL;
	if (json_parse(text, strlen(text), MSG_MAX_BYTES, &j, NULL) == 0 &&
	    body_keep(c, hash, j, &b, NULL) < 0)
		b = NULL;
	free(text);
	return b;
}

static int
take_bodies(struct convs *c, const struct msg_model *q, struct err *e)
{
	unsigned char hash[HASH_LEN];
	struct body *b;
	json_t *j;
	size_t i;
	int r;

	for (i = 0; i < q->bodies.n; i++) {
		const char *s = q->bodies.v[i];

		if (json_parse(s, strlen(s), MSG_MAX_BYTES, &j, e) < 0) {
			(void)err_prefix(e, "message %zu", i + 1);
			return ERR_PROTO;
		}
		if (!json_is_object(j)) {
			json_decref(j);
			return err_set(
			    e, ERR_PROTO, "message %zu is no object", i + 1);
		}
		hash_bytes(s, strlen(s), hash);
		if ((r = body_keep(c, hash, j, &b, e)) < 0)
			return r;
		if ((r = store_message(c->store, hash, s, e)) < 0)
			return r;
	}
	return 0;
}

static size_t
common_start(
    const unsigned char *a, size_t n_a, const unsigned char *b, size_t n_b)
{
	size_t i = 0;

	while (i < n_a && i < n_b &&
	    memcmp(a + i * HASH_LEN, b + i * HASH_LEN, HASH_LEN) == 0)
		i++;
	return i;
}

size_t
conv_recorded(struct conv *v)
{
	size_t base = common_start(v->hashes, v->n, v->recorded, v->n_recorded);

	v->recorded = xreallocarray(v->recorded, v->n, HASH_LEN);
	memcpy(v->recorded, v->hashes, v->n * HASH_LEN);
	v->n_recorded = v->n;
	return base;
}

static void
put_together(struct convs *c, struct conv *v, const unsigned char *h, size_t n)
{
	struct body *b;
	size_t i;

	while (json_array_size(v->array) > v->base)
		(void)json_array_remove(
		    v->array, json_array_size(v->array) - 1);
	v->wires = xreallocarray(v->wires, n, sizeof(struct wire *));
	for (i = v->base; i < n; i++) {
		b = body_find(c, h + i * HASH_LEN);
		(void)json_array_append(v->array, b->json);
		v->wires[i] = &b->wire;
	}
	v->n = n;
	v->hashes = xreallocarray(v->hashes, n, HASH_LEN);
	memcpy(v->hashes, h, n * HASH_LEN);
	hash_bytes(h, n * HASH_LEN, v->digest);
}

int
convs_take(struct convs *c, struct conv *v, const struct msg_model *q,
    struct buf *need, struct err *e)
{
	const unsigned char *h = q->hashes;
	size_t n = q->hashes_len / HASH_LEN, i, base;
	int r;

	buf_reset(need);
	if (n == 0 || q->hashes_len % HASH_LEN != 0 || n > CONV_MAX_MESSAGES)
		return err_set(e, ERR_PROTO,
		    "a request lists 1 to %d message hashes",
		    CONV_MAX_MESSAGES);
	if ((r = take_bodies(c, q, e)) < 0)
		return r;
	base = common_start(h, n, v->hashes, v->n);
	for (i = base; i < n; i++)
		if (body_find(c, h + i * HASH_LEN) == NULL)
			(void)buf_add(need, h + i * HASH_LEN, HASH_LEN);
	if (need->len > 0)
		return 0;
	v->base = base;
	put_together(c, v, h, n);
	return 0;
}
