#include "common/compat.h"

#include <sys/queue.h>

#include <stdlib.h>

#include "common/log.h"
#include "orchestrator/monitor/items.h"
#include "orchestrator/monitor/monitor.h"
#include "orchestrator/monitor/window.h"
#include "sandbox/policy/rules.h"

#define BUCKETS 256
#define WAYS 4 /* windows among which one makes room */

/* The windows of one rule: one, or with "same" one a subject. */
struct windows {
	size_t n;
	struct window **v;
	uint64_t *keys;
};

struct watched {
	LIST_ENTRY(watched) bucket;
	TAILQ_ENTRY(watched) age;
	char *name;
	uint64_t hash, acts;
	struct windows *rules; /* one a rule */
	unsigned char *told;
};

LIST_HEAD(bucket, watched);
TAILQ_HEAD(ages, watched);

struct monitor {
	struct monitor_rules rules;
	struct monitor_place place;
	struct bucket buckets[BUCKETS];
	struct ages ages;
	size_t n_workers;
	uint64_t acts, last_ms;
	struct windows *run; /* of rules whose scope is the run */
	size_t windows;      /* alive */
};

/* FNV-1a: only to tell apart; who collides with himself gains a slot. */
static uint64_t
hash_str(const char *s)
{
	uint64_t h = 14695981039346656037u;

	for (; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211u;
	return h;
}

/* --- windows -------------------------------------------------------------- */

static void
windows_clear(struct monitor *m, struct windows *ws)
{
	size_t i;

	for (i = 0; i < ws->n; i++) {
		m->windows -= ws->v[i] != NULL;
		window_free(ws->v[i]);
	}
	free(ws->v);
	free(ws->keys);
	*ws = (struct windows){ 0 };
}

/* Of the ways of a key the one that is its, is free, or makes room. */
static size_t
slot_of(const struct windows *ws, uint64_t key)
{
	size_t ways = ws->n < WAYS ? ws->n : WAYS, i;
	size_t set = (size_t)(key % (ws->n / ways)) * ways, best = set;

	for (i = set; i < set + ways; i++)
		if (ws->v[i] != NULL && ws->keys[i] == key)
			return i;
	for (i = set; i < set + ways; i++) {
		if (ws->v[i] == NULL)
			return i;
		if (window_held(ws->v[i]) < window_held(ws->v[best]) ||
		    (window_held(ws->v[i]) == window_held(ws->v[best]) &&
			window_last_ms(ws->v[i]) < window_last_ms(ws->v[best])))
			best = i;
	}
	return best;
}

static struct window *
window_of(struct monitor *m, struct windows *ws,
    const struct monitor_rule *rule, uint64_t subject)
{
	uint64_t key = rule->same ? subject : 0;
	size_t at;

	if (ws->n == 0) {
		ws->n = !rule->same ? 1
		    : rule->run     ? MONITOR_KEYS_RUN
				    : MONITOR_KEYS;
		ws->v = xcalloc(ws->n, sizeof(struct window *));
		ws->keys = xcalloc(ws->n, sizeof *ws->keys);
	}
	at = slot_of(ws, key);
	if (ws->v[at] == NULL || ws->keys[at] != key) {
		m->windows += ws->v[at] == NULL;
		window_free(ws->v[at]);
		ws->v[at] = window_create(rule);
		ws->keys[at] = key;
	}
	return ws->v[at];
}

/* --- workers -------------------------------------------------------------- */

static void
watched_free(struct monitor *m, struct watched *w)
{
	size_t i;

	LIST_REMOVE(w, bucket);
	TAILQ_REMOVE(&m->ages, w, age);
	m->n_workers--;
	for (i = 0; i < m->rules.n; i++)
		windows_clear(m, &w->rules[i]);
	free(w->rules);
	free(w->told);
	free(w->name);
	free(w);
}

static struct watched *
watched_find(struct monitor *m, const char *name)
{
	uint64_t h = hash_str(name);
	struct watched *w;

	LIST_FOREACH(w, &m->buckets[h % BUCKETS], bucket)
	if (w->hash == h && strcmp(w->name, name) == 0)
		return w;
	return NULL;
}

static struct watched *
watched_get(struct monitor *m, const char *name)
{
	struct watched *w = watched_find(m, name);

	if (w != NULL)
		return w;
	if (m->n_workers == MONITOR_WORKERS)
		watched_free(m, TAILQ_FIRST(&m->ages));
	w = xcalloc(1, sizeof *w);
	w->name = xstrdup(name);
	w->hash = hash_str(name);
	w->rules = xcalloc(m->rules.n + 1, sizeof *w->rules);
	w->told = xcalloc(m->rules.n + 1, 1);
	LIST_INSERT_HEAD(&m->buckets[w->hash % BUCKETS], w, bucket);
	TAILQ_INSERT_TAIL(&m->ages, w, age);
	m->n_workers++;
	return w;
}

void
monitor_worker_gone(struct monitor *m, const char *worker)
{
	struct watched *w = m != NULL ? watched_find(m, worker) : NULL;

	if (w != NULL)
		watched_free(m, w);
}

void
monitor_all_gone(struct monitor *m)
{
	struct watched *w, *next;

	TAILQ_FOREACH_SAFE (w, &m->ages, age, next)
		watched_free(m, w);
}

/* --- rules ---------------------------------------------------------------- */

static bool
fits_act(const struct monitor_step *s, const struct monitor_act *a)
{
	if (s->acts.n > 0 && !strv_has(&s->acts, a->act))
		return false;
	if (s->verdict == NULL)
		return strcmp(a->verdict, "deny") != 0;
	return strcmp(s->verdict, "any") == 0 ||
	    strcmp(s->verdict, a->verdict) == 0;
}

static bool
fits_item(const struct monitor_step *s, const struct item *it)
{
	return (s->classes == 0 || (s->classes & it->classes) != 0) &&
	    (s->subject == NULL || rule_star(s->subject, it->subject, true));
}

struct feeding {
	struct monitor *m;
	struct watched *w;
	const struct monitor_act *a;
	const struct monitor_rule *rule;
	struct windows *ws;
	uint64_t t_ms;
};

static bool
take(const struct feeding *f, unsigned steps, const struct item *it)
{
	struct seen s = { .steps = steps,
		.t_ms = f->t_ms,
		.n = f->rule->run ? f->m->acts : f->w->acts,
		.weight = it->weight,
		.subject = hash_str(it->subject),
		.worker = f->w->hash };

	return window_take(window_of(f->m, f->ws, f->rule, s.subject), &s);
}

/* The item that completes the rule, or NULL. */
static const struct item *
feed_rule(const struct feeding *f, const struct items *items)
{
	unsigned whole = 0, i, bits[MONITOR_STEPS_MAX] = { 0 };
	size_t k;

	for (i = 0; i < f->rule->n_steps; i++) {
		bits[i] = fits_act(&f->rule->steps[i], f->a);
		if (bits[i] && f->rule->steps[i].classes == 0 &&
		    fits_item(&f->rule->steps[i], &items->v[0]))
			whole |= 1u << i;
	}
	if (whole != 0 && take(f, whole, &items->v[0]))
		return &items->v[0];
	for (i = 0; i < f->rule->n_steps; i++)
		for (k = 1; k < items->n; k++)
			if (bits[i] && f->rule->steps[i].classes != 0 &&
			    fits_item(&f->rule->steps[i], &items->v[k]) &&
			    take(f, 1u << i, &items->v[k]))
				return &items->v[k];
	return NULL;
}

/* Strongest first. */
static size_t
put_hit(struct monitor_hit *v, size_t n, size_t max,
    const struct monitor_rule *rule, const char *subject)
{
	size_t i = n;

	if (n == max) {
		if (max == 0 || v[max - 1].rule->action >= rule->action)
			return n;
		free(v[max - 1].subject);
		i = max - 1;
		n--;
	}
	for (; i > 0 && v[i - 1].rule->action < rule->action; i--)
		v[i] = v[i - 1];
	v[i] = (struct monitor_hit){ rule, xstrdup(subject) };
	return n + 1;
}

static bool
is_ours(const struct monitor_act *a)
{
	return *a->worker == '\0' || strcmp(a->act, "monitor") == 0 ||
	    strcmp(a->act, "network_end") == 0;
}

size_t
monitor_feed(struct monitor *m, const struct monitor_act *a,
    struct monitor_hit *ret, size_t max)
{
	struct feeding f = { .m = m, .a = a };
	const struct item *it;
	struct items items;
	size_t i, n = 0;
	double ms = a->t * 1000.0;

	if (is_ours(a) || m->rules.n == 0)
		return 0;
	if (ms > (double)m->last_ms && ms < 1e15)
		m->last_ms = (uint64_t)ms;
	f.t_ms = m->last_ms;
	f.w = watched_get(m, a->worker);
	m->acts++;
	f.w->acts++;
	items_of(&m->place, a->act, a->subject, a->detail, &items);
	for (i = 0; i < m->rules.n; i++) {
		f.rule = &m->rules.v[i];
		if (f.rule->action == MONITOR_OFF)
			continue;
		f.ws = f.rule->run ? &m->run[i] : &f.w->rules[i];
		if ((it = feed_rule(&f, &items)) == NULL)
			continue;
		if (f.rule->action <= MONITOR_STEER &&
		    f.w->told[i] >= MONITOR_TOLD)
			continue;
		if (f.w->told[i] < MONITOR_TOLD)
			f.w->told[i]++;
		n = put_hit(ret, n, max, f.rule, it->subject);
	}
	items_clear(&items);
	return n;
}

/* --- life ----------------------------------------------------------------- */

struct monitor *
monitor_create(struct monitor_rules *rules, struct monitor_place *place)
{
	struct monitor *m = xcalloc(1, sizeof *m);

	m->rules = *rules;
	m->place = *place;
	*rules = (struct monitor_rules){ 0 };
	*place = (struct monitor_place){ 0 };
	m->run = xcalloc(m->rules.n + 1, sizeof *m->run);
	TAILQ_INIT(&m->ages);
	return m;
}

void
monitor_free(struct monitor *m)
{
	size_t i;

	if (m == NULL)
		return;
	monitor_all_gone(m);
	for (i = 0; i < m->rules.n; i++)
		windows_clear(m, &m->run[i]);
	free(m->run);
	monitor_rules_clear(&m->rules);
	monitor_place_clear(&m->place);
	free(m);
}

const struct monitor_rules *
monitor_rules(const struct monitor *m)
{
	return &m->rules;
}

struct monitor_place *
monitor_place(struct monitor *m)
{
	return &m->place;
}

size_t
monitor_windows(const struct monitor *m)
{
	return m->windows;
}
