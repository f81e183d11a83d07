/*
 * pool.c - a worker that waits: started before it is needed.
 */
#include "common/compat.h"

#include "worker/host/pool.h"

#include "common/fdio.h"
#include "common/hash.h"
#include "common/log.h"

#define QUIET_MS 50  /* nothing has happened for so long */
#define LOOK_MS 5000 /* at memory and age */
#define AGE_MS ((uint64_t)10 * 60 * 1000)
#define LEAST_MEMORY ((uint64_t)256 << 20)

struct pool {
	struct slots *all;
	size_t max;
	struct loop_watch *quiet, *look;
	bool wanted;
	/* What a spare is made from; its strings are below. */
	struct msg_assign like;
	char *snapshot, *root, *workdir;
	unsigned char key[HASH_LEN];
};

/* What a worker is made from and can't be changed later. */
static void
make_key(const struct msg_assign *a, const struct sandbox_limits *outer,
    const struct sandbox_limits *inner, unsigned char ret[HASH_LEN])
{
	const char *strs[] = { msg_str(a->snapshot), msg_str(a->root),
		msg_str(a->workdir) };
	struct hash_state st;

	hash_init(&st);
	for (size_t i = 0; i < nitems(strs); i++)
		hash_update(&st, strs[i], strlen(strs[i]) + 1);
	hash_update(&st, &a->cache, sizeof a->cache);
	hash_update(&st, outer, sizeof *outer);
	hash_update(&st, inner, sizeof *inner);
	hash_final(&st, ret);
}

static bool
is_live_spare(const struct slot *s)
{
	return s->spare && s->state != SLOT_ENDING && s->child != NULL;
}

static size_t
count(const struct pool *p)
{
	const struct slot *s;
	size_t n = 0;

	TAILQ_FOREACH (s, &p->all->list, entry)
		n += is_live_spare(s);
	return n;
}

static bool
is_memory_short(void)
{
	uint64_t left = UINT64_MAX;
	const char *at;
	struct buf b;

	buf_init(&b, 65536);
	if (file_read("/proc/meminfo", false, &b, NULL) == 0 &&
	    (at = strstr(buf_str(&b), "MemAvailable:")) != NULL)
		left = strtoull(at + strlen("MemAvailable:"), NULL, 10) << 10;
	buf_clear(&b);
	return left < LEAST_MEMORY;
}

static void
end_spares(struct pool *p, bool all, const char *why)
{
	struct slot *s;

	TAILQ_FOREACH (s, &p->all->list, entry)
		if (is_live_spare(s) &&
		    (all || memcmp(s->key, p->key, HASH_LEN) != 0))
			slot_end(s, "spare", "%s", why);
}

static void
look_cb(void *ctx)
{
	struct pool *p = ctx;
	struct slot *s;

	p->look = NULL;
	if (is_memory_short())
		end_spares(p, true, "memory is short");
	TAILQ_FOREACH (s, &p->all->list, entry)
		if (is_live_spare(s) && loop_now_ms() - s->born_ms > AGE_MS) {
			slot_end(s, "spare", "nobody wanted it");
			p->wanted = false;
		}
	if (count(p) > 0)
		p->look =
		    loop_timer_add(p->all->conf.loop, LOOK_MS, 0, look_cb, p);
}

static void
quiet_cb(void *ctx)
{
	struct pool *p = ctx;
	struct slot *s;
	struct err e;

	p->quiet = NULL;
	end_spares(p, false, "another kind is wanted");
	if (!p->wanted || count(p) >= p->max || p->all->n >= p->all->conf.max ||
	    is_memory_short())
		return;
	if (slot_begin(p->all, "", &p->like, true, &s, &e) < 0) {
		/* The next ASSIGN will tell, if it still is so. */
		log_debug("no spare worker: %s", e.text);
		p->wanted = false;
		return;
	}
	memcpy(s->key, p->key, HASH_LEN);
	if (p->look == NULL)
		p->look =
		    loop_timer_add(p->all->conf.loop, LOOK_MS, 0, look_cb, p);
	if (count(p) < p->max)
		pool_poke(p);
}

struct slot *
pool_take(struct pool *p, const struct msg_assign *a,
    const struct sandbox_limits *outer, const struct sandbox_limits *inner)
{
	unsigned char key[HASH_LEN];
	struct slot *s, *best = NULL;

	make_key(a, outer, inner, key);
	/* Better one that is up. */
	TAILQ_FOREACH (s, &p->all->list, entry)
		if (is_live_spare(s) && memcmp(s->key, key, HASH_LEN) == 0 &&
		    (best == NULL || s->state == SLOT_UP))
			best = s;
	if (best != NULL) {
		best->spare = false;
		best->born_ms = loop_now_ms();
	}
	return best;
}

void
pool_like(struct pool *p, const struct msg_assign *a,
    const struct sandbox_limits *outer, const struct sandbox_limits *inner)
{
	if (p->max == 0)
		return;
	free(p->snapshot);
	free(p->root);
	free(p->workdir);
	p->like = *a;
	p->like.subtask = NULL;
	p->like.snapshot = p->snapshot = xstrdup(msg_str(a->snapshot));
	p->like.root = p->root = xstrdup(msg_str(a->root));
	p->like.workdir = p->workdir = xstrdup(msg_str(a->workdir));
	make_key(a, outer, inner, p->key);
	p->wanted = true;
	pool_poke(p);
}

void
pool_make_room(struct pool *p)
{
	struct slot *s;

	TAILQ_FOREACH (s, &p->all->list, entry)
		if (is_live_spare(s)) {
			slot_end(s, "spare", "its slot is needed");
			return;
		}
}

void
pool_poke(struct pool *p)
{
	if (!p->wanted)
		return;
	loop_del(p->all->conf.loop, p->quiet);
	p->quiet = loop_timer_add(p->all->conf.loop, QUIET_MS, 0, quiet_cb, p);
}

void
pool_end(struct pool *p, const char *why)
{
	p->wanted = false;
	end_spares(p, true, why);
}

struct pool *
pool_create(struct slots *all, size_t max)
{
	struct pool *p = xcalloc(1, sizeof *p);

	p->all = all;
	p->max = max;
	return p;
}

void
pool_free(struct pool *p)
{
	if (p == NULL)
		return;
	loop_del(p->all->conf.loop, p->quiet);
	loop_del(p->all->conf.loop, p->look);
	free(p->snapshot);
	free(p->root);
	free(p->workdir);
	free(p);
}
