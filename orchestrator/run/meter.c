#include "common/compat.h"

#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "orchestrator/metrics/process.h"
#include "orchestrator/metrics/scrape.h"
#include "orchestrator/metrics/table.h"
#include "orchestrator/run/meter.h"
#include "orchestrator/run/pass.h"
#include "orchestrator/run/wanted.h"

enum {
	MODEL_PAID, /* or the one there is */
	MODEL_PASS
};

struct meter {
	struct scrape *scrape;
	struct figures f; /* counters; gauges are filled in for each scrape */
	char *providers[FIGURES_MODELS];
};

/* --- counters ------------------------------------------------------------- */

static void
count(uint64_t *at, const char *const *names, const json_t *ev, const char *key)
{
	at[figures_place(names, json_string_value(json_object_get(ev, key)))]++;
}

void
meter_event(struct run *r, const char *name, const json_t *ev)
{
	struct figures *f;

	if (r->meter == NULL)
		return;
	f = &r->meter->f;
	if (strcmp(name, "assigned") == 0)
		f->attempts++;
	else if (strcmp(name, "summary") == 0)
		count(f->summaries, names_verdict, ev, "verdict");
	else if (strcmp(name, "worker_gone") == 0)
		count(f->exits, names_exit, ev, "reason");
	else if (strcmp(name, "tool_call") == 0)
		count(f->tools, names_tool, ev, "verdict");
}

static struct model_figures *
model_of(struct run *r, const struct subtask *t)
{
	bool own = t != NULL && t->pass && pass_gateway(r) != NULL;

	return &r->meter->f.models[own ? MODEL_PASS : MODEL_PAID];
}

void
meter_note(struct run *r, const struct gateway_note *n)
{
	const struct worker *w;
	const struct subtask *t;
	struct model_figures *m;

	if (r->meter == NULL)
		return;
	w = sched_worker(r, n->worker);
	if (w != NULL)
		t = w->subtask;
	else /* it has ended */
		TAILQ_FOREACH (t, &r->subtasks, entry)
			if (strcmp(t->id, n->subtask) == 0)
				break;
	m = model_of(r, t);
	m->calls[figures_place(names_call, n->recorded ? "recorded" : "ok")]++;
	if (n->recorded)
		return;
	histogram_add(&m->call, bounds_call, n->ms);
	histogram_add(&m->added, bounds_added,
	    n->whole_ms > n->ms ? n->whole_ms - n->ms : 0);
}

void
meter_fault(struct run *r, const struct worker *w)
{
	if (r->meter != NULL)
		model_of(r, w != NULL ? w->subtask : NULL)
		    ->calls[figures_place(names_call, "failed")]++;
}

/* --- what is read --------------------------------------------------------- */

static void
read_hosts(const struct run *r, struct figures *f)
{
	struct hosts_figures h = { 0 };

	if (r->hosts != NULL)
		hosts_figures(r->hosts, &h);
	f->hosts[figures_place(names_host_state, "ready")] = h.ready;
	f->hosts[figures_place(names_host_state, "draining")] = h.draining;
	f->slots = h.slots;
	f->slots_busy = h.busy;
	f->slots_wanted = wanted_slots(r);
	f->bad = h.bad + r->refused;
}

static void
read_work(const struct run *r, struct figures *f)
{
	const struct subtask *t;
	const struct worker *w;

	memset(f->workers, 0, sizeof f->workers);
	memset(f->subtasks, 0, sizeof f->subtasks);
	TAILQ_FOREACH (w, &r->workers, entry)
		f->workers[figures_place(names_worker,
		    w->summary      ? "done"
			: w->held   ? "held"
			: !w->ready ? "starting"
				    : "working")]++;
	TAILQ_FOREACH (t, &r->subtasks, entry)
		f->subtasks[figures_place(
		    names_subtask, sched_state_str(t->state))]++;
	f->tried = r->pace.done;
	f->audit = audit_lines(r->audit);
}

static void
read_model(struct meter *m, size_t which, const struct gateway *g)
{
	struct model_figures *f = &m->f.models[which];
	const struct provider *p;
	const char *slash;

	if (g == NULL)
		return;
	p = gateway_provider(g);
	slash = strchr(p->name, '/');
	if (m->providers[which] == NULL)
		m->providers[which] = slash != NULL
		    ? xstrndup(p->name, (size_t)(slash - p->name))
		    : xstrdup(p->name);
	f->provider = m->providers[which];
	f->model = slash != NULL ? slash + 1 : p->name;
	if (p->state != NULL)
		p->state(p->self, &f->state);
}

static uint64_t
minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t
left(uint64_t max, uint64_t spent)
{
	return max == 0 ? UINT64_MAX : minus(max, spent);
}

static void
read_money(const struct run *r, struct figures *f)
{
	const struct ledger *l = &r->ledger;
	const struct spend *s = &l->spent;
	uint64_t ms = (uint64_t)(run_now(r) * 1000.0);

	f->tokens[figures_place(names_token, "input")] =
	    minus(s->in_tokens, s->cached_tokens + s->cache_write_tokens);
	f->tokens[figures_place(names_token, "cache_read")] = s->cached_tokens;
	f->tokens[figures_place(names_token, "cache_write")] =
	    s->cache_write_tokens;
	f->tokens[figures_place(names_token, "output")] =
	    minus(s->out_tokens, s->reasoning_tokens);
	f->tokens[figures_place(names_token, "reasoning")] =
	    s->reasoning_tokens;
	f->cost_micro = s->micro;
	f->left_calls = left(l->max_calls, s->calls);
	f->left_tokens = left(l->max_tokens, s->in_tokens + s->out_tokens);
	f->left_micro = left(l->max_micro, s->micro);
	f->left_ms = left(l->max_time_ms, ms);
}

static uint64_t
store_size(const struct run *r)
{
	static const char *const names[] = { "run.db", "run.db-wal",
		"audit.jsonl" };
	uint64_t sum = 0;
	struct stat st;
	char *path;
	size_t i;

	for (i = 0; i < nitems(names); i++) {
		path = path_join(store_dir(r->store), names[i]);
		if (stat(path, &st) == 0)
			sum += (uint64_t)st.st_size;
		free(path);
	}
	return sum;
}

static void
on_scrape(void *ctx, struct buf *b)
{
	struct run *r = ctx;
	struct meter *m = r->meter;
	struct figures *f = &m->f;
	const struct gateway *own = pass_gateway(r);

	f->run = store_id(r->store);
	read_hosts(r, f);
	read_work(r, f);
	read_model(m, MODEL_PAID, r->gateway);
	read_model(m, MODEL_PASS, own);
	f->calls_waiting = r->gateway != NULL ? gateway_waiting(r->gateway) : 0;
	if (own != NULL)
		f->calls_waiting += gateway_waiting(own);
	read_money(r, f);
	f->store_bytes = store_size(r);
	f->busy_us = loop_busy_max_us(r->loop);
	process_figures(f);
	metrics_text(f, b);
}

/* --- start and end -------------------------------------------------------- */

int
meter_start(struct run *r, struct err *e)
{
	int rc;

	if (r->o.metrics == NULL)
		return 0;
	r->meter = xcalloc(1, sizeof *r->meter);
	rc = scrape_start(
	    r->loop, r->o.metrics, on_scrape, r, &r->meter->scrape, e);
	if (rc < 0) {
		free(r->meter);
		r->meter = NULL;
		return rc;
	}
	run_event(r, "metrics",
	    json_pack("{s:s}", "url", scrape_url(r->meter->scrape)));
	log_info("metrics: %s", scrape_url(r->meter->scrape));
	return 0;
}

/* For what is read after the run: its last numbers. */
static void
write_last(struct run *r)
{
	char *path = path_join(store_dir(r->store), METER_FILE);
	struct err e = { 0 };
	struct buf b;

	buf_init(&b, BUF_NOMAX);
	on_scrape(r, &b);
	if (file_write(path, buf_str(&b), b.len, 0600, &e) < 0)
		log_warn("%s", e.text);
	buf_clear(&b);
	free(path);
}

void
meter_stop(struct run *r)
{
	size_t i;

	if (r->meter == NULL)
		return;
	write_last(r);
	scrape_free(r->meter->scrape);
	for (i = 0; i < FIGURES_MODELS; i++)
		free(r->meter->providers[i]);
	free(r->meter);
	r->meter = NULL;
}
