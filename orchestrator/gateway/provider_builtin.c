/*
 * The built-in model: plan and explore as a function of the conversation and
 * of one queue of candidates. A worker's state here is only a cache of what
 * its conversation says.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "orchestrator/gateway/provider.h"
#include "orchestrator/gateway/provider_builtin.h"
#include "orchestrator/repair/reading.h"
#include "orchestrator/repair/suspect.h"
#include "orchestrator/repair/trace.h"
#include "orchestrator/repair/trial.h"

#define SOURCES_MAX 60
#define WORKERS_MAX 4000
#define ERRORS_MAX 3
#define FINDING_MAX 1000

struct worker {
	char *name;
	uint32_t id; /* for the queue */
	size_t seen; /* messages that are settled */
	size_t calls, errors;
	size_t tried[QUEUE_MAX_HYPO];
	uint64_t kinds[QUEUE_MAX_HYPO]; /* operators, a bit each */
	json_t *last; /* the last reply, and the message it answers */
	json_t *last_to;
	size_t last_len;
};

struct builtin {
	uint64_t seed;
	struct queue *q;
	struct source *src[SOURCES_MAX];
	size_t n_src;
	struct worker *w;
	size_t n_w;
};

struct builtin *
builtin_create(uint64_t seed)
{
	struct builtin *b = xcalloc(1, sizeof *b);

	b->seed = seed;
	return b;
}

static void
forget_queue(struct builtin *b)
{
	queue_free(b->q);
	b->q = NULL;
	while (b->n_src > 0)
		source_free(b->src[--b->n_src]);
}

void
builtin_free(struct builtin *b)
{
	if (b == NULL)
		return;
	forget_queue(b);
	for (size_t i = 0; i < b->n_w; i++) {
		free(b->w[i].name);
		json_decref(b->w[i].last);
		json_decref(b->w[i].last_to);
	}
	free(b->w);
	free(b);
}

static struct worker *
find_worker(struct builtin *b, const char *name)
{
	for (size_t i = 0; i < b->n_w; i++) {
		if (strcmp(b->w[i].name, name) == 0)
			return &b->w[i];
	}
	return NULL;
}

static struct worker *
get_worker(struct builtin *b, const char *name)
{
	struct worker *w = find_worker(b, name);

	if (w != NULL || b->n_w >= WORKERS_MAX)
		return w;
	b->w = xreallocarray(b->w, b->n_w + 1, sizeof *b->w);
	w = &b->w[b->n_w++];
	*w = (struct worker){ .name = xstrdup(name), .id = (uint32_t)b->n_w };
	return w;
}

void
builtin_worker_gone(struct builtin *b, const char *worker)
{
	struct worker *w = find_worker(b, worker);

	if (w == NULL)
		return;
	if (b->q != NULL)
		queue_return(b->q, w->id);
	json_decref(w->last);
	json_decref(w->last_to);
	w->last = w->last_to = NULL;
	w->seen = 0;
}

/* Candidates from what was read. */
static void
build_queue(struct builtin *b, const struct reading *r, const struct facts *f,
    const struct trace *t)
{
	struct source *files[SOURCES_MAX];
	float *weight[SOURCES_MAX];
	struct cands c = { 0 };
	size_t n = 0;
	struct suspect_facts sf = { .output = f->output,
		.failing = &f->failing,
		.spectrum = t->found ? &t->spectrum : NULL };

	for (int pass = 0; pass < 2; pass++) { /* sources, then tests */
		for (size_t i = 0; i < r->n_file && n < SOURCES_MAX; i++) {
			const struct reading_file *rf = &r->file[i];

			if (rf->test != (pass == 1) || rf->failed ||
			    rf->text.len == 0)
				continue;
			files[n] = source_create(
			    rf->path, buf_str(&rf->text), rf->text.len);
			n += files[n] != NULL;
		}
		if (pass == 0)
			b->n_src = n;
	}
	suspect_lines(&sf, files, b->n_src, n, weight);
	for (size_t i = 0; i < n; i++) {
		if (i >= b->n_src) {
			source_free(files[i]);
			continue;
		}
		repair_generate(&c, files[i], (uint32_t)i, weight[i]);
		b->src[i] = files[i];
		free(weight[i]);
	}
	b->q = queue_create(&c, b->src, b->n_src, b->seed);
	cands_clear(&c);
}

static json_t *
finish(const json_t *conv, const char *verdict, const char *hypothesis,
    json_t *findings, json_t *evidence, const char *reason)
{
	json_t *reply = dialog_reply("%s", reason);
	json_t *args = json_object();

	json_object_set_new(args, "verdict", json_string(verdict));
	json_object_set_new(args, "hypothesis",
	    json_str_lossy(hypothesis,
		text_cut(hypothesis, strlen(hypothesis), FINDING_MAX)));
	json_object_set_new(
	    args, "findings", findings != NULL ? findings : json_array());
	json_object_set_new(
	    args, "evidence", evidence != NULL ? evidence : json_array());
	json_object_set_new(
	    args, "reason", json_str_lossy(reason, strlen(reason)));
	dialog_call(reply, conv, "finish", args);
	return reply;
}

static json_t *
stuck(const json_t *conv, const struct facts *f, const char *reason)
{
	return finish(conv, "stuck", f->hypothesis, NULL, NULL, reason);
}

/*
 * Read what is needed for the queue, and see what the tests execute. NULL: the
 * queue is there. Otherwise the reply that asks for more, or gives up.
 */
static json_t *
read_sources(struct builtin *b, const json_t *conv, const struct facts *f)
{
	struct reading r;
	struct trace t = { 0 };
	json_t *reply = NULL;
	size_t n;

	if (b->q != NULL)
		return NULL;
	reading_scan(&r, conv, f);
	if (!r.listed && r.errors >= ERRORS_MAX) {
		reply = stuck(conv, f, r.error);
		goto out;
	}
	reply = dialog_reply(r.listed ? "Reading the sources and the tests."
				      : "First a look at what there is.");
	n = reading_more(&r, conv, reply);
	if (n > 0)
		goto out;
	json_decref(reply);
	trace_scan(&t, conv);
	reply = dialog_reply("Which lines do the tests execute?");
	if (!t.asked && trace_ask(reply, conv, f, &r) > 0)
		goto out;
	json_decref(reply);
	reply = NULL;
	build_queue(b, &r, f, &t);
out:
	trace_clear(&t);
	reading_clear(&r);
	return reply;
}

/* Why there is nothing to try; the next who asks reads anew. NULL: there is. */
static json_t *
nothing(struct builtin *b, const json_t *conv, const struct facts *f)
{
	bool none = b->n_src == 0;

	if (queue_n_cand(b->q) > 0)
		return NULL;
	forget_queue(b);
	return stuck(conv, f,
	    none ? "No source file in a language that the built-in model "
		   "reads was found outside of the protected files."
		 : "The sources hold nothing that the built-in model's edits "
		   "apply to.");
}

static json_t *
plan(struct builtin *b, const json_t *conv, const struct facts *f)
{
	json_t *reply = read_sources(b, conv, f), *list;
	char *reason;

	if (reply != NULL || (reply = nothing(b, conv, f)) != NULL)
		return reply;
	list = json_array();
	for (size_t i = 0; i < queue_n_hypo(b->q); i++) {
		const struct hypo *h = queue_hypo(b->q, i);
		char *s = xasprintf("%s: %s", h->name, h->sentence);

		json_array_append_new(list, json_str_lossy(s, strlen(s)));
		free(s);
	}
	reason = xasprintf("%zu candidate edits", queue_n_cand(b->q));
	reply = finish(conv, "done", "", list, NULL, reason);
	free(reason);
	return reply;
}

static void
count(struct builtin *b, struct worker *w, const struct trial_result *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct cand *c = queue_cand(b->q, t->cand[i]);

		if (!t->tried[i]) {
			if (c->holder == w->id)
				queue_undeal(b->q, t->cand[i]);
			continue;
		}
		queue_settle(b->q, t->cand[i], t->passed[i]);
		w->tried[c->hypo]++;
		w->kinds[c->hypo] |= (uint64_t)1 << (c->op % 64);
	}
}

/* Take note of the answers that came since the last time. */
static void
settle(struct builtin *b, struct worker *w, const json_t *conv)
{
	size_t n = json_array_size(conv);
	struct trial_result t;

	if (n < w->seen) { /* shortened, or a new attempt: count afresh */
		queue_return(b->q, w->id);
		w->seen = w->calls = w->errors = 0;
		memset(w->tried, 0, sizeof w->tried);
		memset(w->kinds, 0, sizeof w->kinds);
	}
	for (; w->seen < n; w->seen++) {
		const json_t *m = json_array_get(conv, w->seen);
		const char *text = dialog_str(m, "content"), *name;
		json_t *args;

		if (!dialog_is(m, "tool"))
			continue;
		name = dialog_answered(conv, w->seen, &args);
		if (strcmp(name, "try_edits") == 0) {
			w->calls++;
			w->errors = dialog_is_error(text) ? w->errors + 1 : 0;
			trial_read(b->q, args, text, &t);
			count(b, w, &t);
		} else if (dialog_is_error(text) &&
		    strcmp(name, "edit_file") == 0) {
			w->errors++;
		}
		json_decref(args);
	}
}

/* "212 edits in f() (x.py:1-9): relation, constant; none makes ..." */
static json_t *
findings(struct builtin *b, const struct worker *w, const char *own)
{
	json_t *list = json_array();
	size_t first = queue_hypo_find(b->q, own);

	for (size_t k = 0; k < queue_n_hypo(b->q) + 1; k++) {
		size_t h = k == 0 ? first : k - 1;
		const struct hypo *hy = queue_hypo(b->q, h);
		struct buf t;
		const char *sep = "";

		if (hy == NULL || (k > 0 && h == first) || w->tried[h] == 0)
			continue;
		buf_init(&t, FINDING_MAX);
		(void)buf_printf(&t, "%zu edit%s in %s (", w->tried[h],
		    w->tried[h] == 1 ? "" : "s", hy->place);
		for (size_t o = 0; o < n_repair_ops && o < 64; o++) {
			if (!(w->kinds[h] & (uint64_t)1 << o))
				continue;
			(void)buf_printf(&t, "%s%s", sep, repair_ops[o].name);
			sep = ", ";
		}
		(void)buf_adds(&t, "): none makes the tests pass");
		json_array_append_new(list, json_str_lossy(buf_str(&t), t.len));
		buf_clear(&t);
	}
	return list;
}

static json_t *
deal(struct builtin *b, struct worker *w, const json_t *conv,
    const struct facts *f)
{
	uint32_t got[TRIAL_MAX];
	size_t n = queue_next(b->q, w->id, f->hypothesis_id,
	    trial_size(f, w->calls, w->errors), got);
	size_t keep = n, own = queue_hypo_find(b->q, f->hypothesis_id), h;
	const struct hypo *hy;
	json_t *args, *reply;

	if (n == 0) {
		json_t *list = findings(b, w, f->hypothesis_id);
		bool none = json_array_size(list) == 0;

		queue_return(b->q, w->id);
		if (none)
			json_array_append_new(list,
			    json_string("every candidate edit of this "
					"hypothesis was tried by others"));
		return finish(conv, "refuted", f->hypothesis, list, NULL,
		    none ? "Others have tried its edits; none helped."
			 : "No candidate edit is left.");
	}
	args = trial_args(b->q, got, &keep, f);
	for (size_t i = keep; i < n; i++)
		queue_undeal(b->q, got[i]);
	h = queue_cand(b->q, got[0])->hypo;
	hy = queue_hypo(b->q, h);
	if (w->calls == 0 && h == own)
		reply = dialog_reply("%s: %s. %zu small edits may mend it; the "
				     "first %zu are tried now.",
		    hy->name, hy->sentence, hy->total, keep);
	else
		reply = dialog_reply("%s%s, %zu of %zu tried: now %s and "
				     "%zu more.",
		    h != own ? "Helping with " : "", hy->name, hy->tried,
		    hy->total, queue_cand(b->q, got[0])->what, keep - 1);
	dialog_call(reply, conv, "try_edits", args);
	return reply;
}

/* The passing candidate of a try_edits answer that changes least. */
static size_t
best_passing(struct builtin *b, const json_t *args, const char *text)
{
	struct trial_result t;
	size_t best = QUEUE_NONE;

	trial_read(b->q, args, text, &t);
	for (size_t i = 0; i < t.n; i++) {
		if (t.passed[i] &&
		    (best == QUEUE_NONE ||
			queue_cand(b->q, t.cand[i])->changed <
			    queue_cand(b->q, best)->changed))
			best = t.cand[i];
	}
	return best;
}

static json_t *
fixed(struct builtin *b, const json_t *conv, const struct facts *f, size_t cand)
{
	const struct cand *c = queue_cand(b->q, cand);
	const struct source *s = queue_source(b->q, cand);
	const struct hypo *h = queue_hypo(b->q, c->hypo);
	char *ev = xasprintf("%s:%u", s->path, c->line);
	char *what = xasprintf("%s line %u: %s makes the tests pass (%s)",
	    s->path, c->line, c->what, repair_ops[c->op].sentence);
	json_t *list = json_pack("[o]",
	    json_str_lossy(what, text_cut(what, strlen(what), FINDING_MAX)));
	json_t *evidence = json_pack("[o]", json_str_lossy(ev, strlen(ev)));
	json_t *reply = finish(conv, "fixed",
	    h->name[0] != '\0' && f->hypothesis_id != NULL &&
		    strcmp(h->name, f->hypothesis_id) == 0 &&
		    *f->hypothesis != '\0'
		? f->hypothesis
		: h->sentence,
	    list, evidence, "An edit makes the tests pass.");

	free(ev);
	free(what);
	return reply;
}

/* The last edit_file of the conversation, undone; NULL when there is none. */
static json_t *
take_back(struct builtin *b, const json_t *conv)
{
	json_t *args, *undo = NULL, *reply;

	for (size_t i = json_array_size(conv); i-- > 0 && undo == NULL;) {
		const char *name;

		if (!dialog_is(json_array_get(conv, i), "tool"))
			continue;
		name = dialog_answered(conv, i, &args);
		if (strcmp(name, "edit_file") == 0) {
			size_t c = trial_find(b->q, args, false);

			json_decref(args);
			if (c == QUEUE_NONE ||
			    *queue_cand(b->q, c)->new_text == '\0')
				return NULL;
			undo = trial_edit(b->q, c);
			json_object_set(
			    undo, "tmp", json_object_get(undo, "old"));
			json_object_set(
			    undo, "old", json_object_get(undo, "new"));
			json_object_set(
			    undo, "new", json_object_get(undo, "tmp"));
			json_object_del(undo, "tmp");
			continue;
		}
		json_decref(args);
	}
	if (undo == NULL)
		return NULL;
	reply = dialog_reply("That did not hold: the edit is taken back.");
	dialog_call(reply, conv, "edit_file", undo);
	return reply;
}

static json_t *
explore(struct builtin *b, struct worker *w, const json_t *conv,
    const struct facts *f)
{
	size_t last, cand = QUEUE_NONE;
	const char *name = "", *text = "";
	json_t *reply = read_sources(b, conv, f), *args = NULL;

	if (reply != NULL || (reply = nothing(b, conv, f)) != NULL)
		return reply;
	if (f->tests.n == 0)
		return stuck(
		    conv, f, "There is no test command to check with.");
	settle(b, w, conv);
	if (w->errors >= ERRORS_MAX)
		return stuck(
		    conv, f, "The tools failed several times in a row.");
	last = dialog_last_call(conv);
	for (size_t i = json_array_size(conv); i-- > 0 && i > last;) {
		const json_t *m = json_array_get(conv, i);

		if (!dialog_is(m, "tool"))
			continue;
		json_decref(args);
		name = dialog_answered(conv, i, &args);
		text = dialog_str(m, "content");
	}
	if (strcmp(name, "try_edits") == 0) {
		cand = best_passing(b, args, text);
		if (cand != QUEUE_NONE) {
			reply = dialog_reply("%s in %s makes the tests pass.",
			    queue_cand(b->q, cand)->what,
			    queue_source(b->q, cand)->path);
			dialog_call(
			    reply, conv, "edit_file", trial_edit(b->q, cand));
		}
	} else if (strcmp(name, "edit_file") == 0 && !dialog_is_error(text)) {
		cand = trial_find(b->q, args, false);
		if (cand != QUEUE_NONE)
			reply = fixed(b, conv, f, cand);
	} else if (strcmp(name, "finish") == 0 &&
	    strcmp(dialog_str(args, "verdict"), "fixed") == 0) {
		reply = take_back(b, conv);
	}
	json_decref(args);
	return reply != NULL ? reply : deal(b, w, conv, f);
}

int
builtin_reply(struct builtin *b, const char *worker, const json_t *conv,
    json_t **ret_message, struct err *e)
{
	struct worker *w = get_worker(b, worker);
	size_t n = json_array_size(conv);
	json_t *to = json_array_get(conv, n > 0 ? n - 1 : 0);
	struct facts f;
	json_t *reply;

	if (w == NULL)
		return err_set(e, ERR_MODEL, "too many workers for one run");
	if (w->last != NULL && w->last_len == n && json_equal(w->last_to, to)) {
		*ret_message = json_deep_copy(w->last);
		return 0;
	}
	if (facts_parse(conv, &f, e) < 0)
		return ERR_MODEL;
	reply = f.plan ? plan(b, conv, &f) : explore(b, w, conv, &f);
	facts_clear(&f);
	json_decref(w->last);
	json_decref(w->last_to);
	w->last = json_deep_copy(reply);
	w->last_to = json_deep_copy(to);
	w->last_len = n;
	*ret_message = reply;
	return 0;
}

static void
provider_ask(void *self, const struct provider_ask *q, void **ret_call)
{
	struct err e;
	json_t *message = NULL;
	int r = builtin_reply(self, q->worker, q->conv, &message, &e);

	*ret_call = NULL;
	provider_answer_now(q, message, r < 0 ? e.text : NULL);
}

static void
provider_worker_gone(void *self, const char *worker)
{
	builtin_worker_gone(self, worker);
}

static void
provider_free(void *self)
{
	builtin_free(self);
}

void
provider_builtin(struct provider *ret, uint64_t seed)
{
	*ret = (struct provider){ .name = "builtin",
		.ask = provider_ask,
		.worker_gone = provider_worker_gone,
		.free = provider_free,
		.self = builtin_create(seed) };
}
