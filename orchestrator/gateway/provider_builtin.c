/*
 * The built-in model: plan and explore as a function of the conversation and
 * of one queue of candidates. A worker's state here is only a cache of what
 * its conversation says.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/loop.h"
#include "common/text.h"
#include "orchestrator/gateway/builtin_priv.h"
#include "orchestrator/repair/reading.h"
#include "orchestrator/repair/suspect.h"
#include "orchestrator/repair/trace.h"

#define WORKERS_MAX 4000
#define LOOK_MS 8000 /* for sources; then what is found has to do */

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
	b->look_ms = 0;
	while (b->n_src > 0)
		source_free(b->src[--b->n_src]);
}

void
builtin_free(struct builtin *b)
{
	if (b == NULL)
		return;
	forget_queue(b);
	ladder_clear(&b->ladder);
	for (size_t i = 0; i < b->n_w; i++) {
		free(b->w[i].name);
		free(b->w[i].news);
		json_decref(b->w[i].last);
		json_decref(b->w[i].last_to);
	}
	free(b->w);
	free(b);
}

void
builtin_until(struct builtin *b, uint64_t at_ms)
{
	b->until_ms = at_ms;
}

uint64_t
builtin_left_s(const struct builtin *b)
{
	uint64_t now = loop_now_ms(), end = b->until_ms;

	if (end == 0 || (b->end_ms != 0 && b->end_ms < end))
		end = b->end_ms;
	if (end == 0)
		return UINT64_MAX;
	return end > now ? (end - now) / 1000 : 0;
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
	if (b->measurer == w->id)
		b->measurer = 0;
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
	struct source *files[BUILTIN_SOURCES_MAX];
	float *weight[BUILTIN_SOURCES_MAX];
	struct cands c = { 0 };
	struct hints hints;
	size_t n = 0;
	struct suspect_facts sf = { .output = f->output,
		.failing = &f->failing,
		.spectrum = t->found ? &t->spectrum : NULL };

	for (int pass = 0; pass < 2; pass++) { /* sources, then tests */
		for (size_t i = 0; i < r->n_file && n < BUILTIN_SOURCES_MAX;
		     i++) {
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
	hints_init(&hints, &f->failing);
	sf.hints = &hints;
	suspect_lines(&sf, files, b->n_src, n, weight);
	c.hints = &hints;
	for (size_t i = 0; i < n; i++) {
		if (i >= b->n_src) {
			source_free(files[i]);
			continue;
		}
		b->src[i] = files[i];
		repair_generate(&c, files, b->n_src, (uint32_t)i, weight[i]);
		free(weight[i]);
	}
	b->end_ms = f->budget_ms > 0 ? loop_now_ms() + f->budget_ms : 0;
	b->q = queue_create(&c, b->src, b->n_src, trial_most(f), b->seed);
	cands_clear(&c);
	hints_clear(&hints);
}

json_t *
builtin_finish(const json_t *conv, const char *verdict, const char *hypothesis,
    json_t *findings, json_t *evidence, const char *reason)
{
	json_t *reply = dialog_reply("%s", reason);
	json_t *args = json_object();

	json_object_set_new(args, "verdict", json_string(verdict));
	json_object_set_new(args, "hypothesis",
	    json_str_lossy(hypothesis,
		text_cut(hypothesis, strlen(hypothesis), BUILTIN_FINDING_MAX)));
	json_object_set_new(
	    args, "findings", findings != NULL ? findings : json_array());
	json_object_set_new(
	    args, "evidence", evidence != NULL ? evidence : json_array());
	json_object_set_new(
	    args, "reason", json_str_lossy(reason, strlen(reason)));
	dialog_call(reply, conv, "finish", args);
	return reply;
}

json_t *
builtin_stuck(const json_t *conv, const struct facts *f, const char *reason)
{
	return builtin_finish(conv, "stuck", f->hypothesis, NULL, NULL, reason);
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
	if (b->look_ms == 0)
		b->look_ms = loop_now_ms();
	reading_scan(&r, conv, f, loop_now_ms() - b->look_ms > LOOK_MS);
	if (!r.listed && r.errors >= BUILTIN_ERRORS_MAX) {
		reply = builtin_stuck(conv, f, r.error);
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
	return builtin_stuck(conv, f,
	    none ? "No source file in a language that the built-in model "
		   "reads was found in the directory of the run (-C), outside "
		   "of the protected files. If the sources are elsewhere in "
		   "the repository, name a directory that holds them and the "
		   "tests with -C, and go to the tests in the command: -t "
		   "'cd DIR && ...'. If the bug is in a file that is protected "
		   "because a test command names or runs it: --unprotect FILE."
		 : "The sources hold nothing that the built-in model's edits "
		   "apply to.");
}

json_t *
builtin_prepare(struct builtin *b, const json_t *conv, const struct facts *f)
{
	json_t *reply;

	if (f->plan && builtin_left_s(b) == 0)
		return builtin_stuck(conv, f, BUILTIN_OVER);
	reply = read_sources(b, conv, f);
	if (reply != NULL || (reply = nothing(b, conv, f)) != NULL)
		return reply;
	if (f->tests.n == 0)
		return NULL;
	ladder_set(&b->ladder, f);
	return ladder_control(&b->ladder, conv, f);
}

static json_t *
plan(struct builtin *b, const json_t *conv, const struct facts *f)
{
	json_t *reply = builtin_prepare(b, conv, f), *list;
	char *reason;

	if (reply != NULL)
		return reply;
	list = json_array();
	for (size_t i = 0; i < queue_n_hypo(b->q); i++) {
		const struct hypo *h = queue_hypo(b->q, i);
		char *s = xasprintf("%s: %s", h->name, h->sentence);

		json_array_append_new(list, json_str_lossy(s, strlen(s)));
		free(s);
	}
	reason = xasprintf("%zu candidate edits", queue_n_cand(b->q));
	reply = builtin_finish(conv, "done", "", list, NULL, reason);
	free(reason);
	return reply;
}

/* Is there one among the tried edits that makes the tests pass? */
static bool
has_pass(const json_t *result)
{
	const char *text = dialog_str(result, "content");
	json_t *j = NULL, *one;
	bool yes;
	size_t i;

	if (json_parse(text, strlen(text), RESULT_MAX, &j, NULL) < 0)
		return false;
	yes = json_array_size(json_object_get(j, "passed")) > 0;
	json_array_foreach (json_object_get(j, "results"), i, one)
		yes |= json_is_true(json_object_get(one, "pass"));
	json_decref(j);
	return yes;
}

/* What the person's hook refuses is not tried in other words, and nothing that
 * was tried speaks against the hypothesis. */
static json_t *
denied(struct builtin *b, struct worker *w, const json_t *conv,
    const struct facts *f, const char *objection)
{
	char *reason = xasprintf("denied by a hook: %.*s",
	    (int)text_cut(
		objection, strcspn(objection, "\n"), BUILTIN_FINDING_MAX),
	    objection);
	json_t *reply = builtin_stuck(conv, f, reason);

	if (b->q != NULL)
		queue_return(b->q, w->id);
	free(reason);
	return reply;
}

int
builtin_reply(struct builtin *b, const char *worker, const json_t *conv,
    json_t **ret_message, struct err *e)
{
	struct worker *w = get_worker(b, worker);
	size_t n = json_array_size(conv);
	json_t *to = json_array_get(conv, n > 0 ? n - 1 : 0);
	struct facts f;
	json_t *reply, *plain;
	char *objection;

	if (w == NULL)
		return err_set(e, ERR_MODEL, "too many workers for one run");
	if (w->last != NULL && w->last_len == n && json_equal(w->last_to, to)) {
		*ret_message = json_deep_copy(w->last);
		return 0;
	}
	if (facts_parse(conv, &f, e) < 0)
		return ERR_MODEL;
	plain = dialog_plain(conv, "try_edits", &objection);
	/* An objection to edits that fail anyway (a linter's) ends nothing. */
	if (objection != NULL && has_pass(json_array_get(plain, n - 1)))
		reply = denied(b, w, plain, &f, objection);
	else
		reply = f.plan ? plan(b, plain, &f)
			       : builtin_explore(b, w, plain, &f);
	free(objection);
	json_decref(plain);
	facts_clear(&f);
	json_decref(w->last);
	json_decref(w->last_to);
	w->last = json_deep_copy(reply);
	w->last_to = json_deep_copy(to);
	w->last_len = n;
	*ret_message = reply;
	return 0;
}

bool
builtin_outlook(
    const struct builtin *b, uint64_t *ret_total, uint64_t *ret_done)
{
	if (b->q == NULL)
		return false;
	*ret_total = queue_n_cand(b->q);
	*ret_done = 0;
	for (size_t i = 0; i < queue_n_hypo(b->q); i++)
		*ret_done += queue_hypo(b->q, i)->tried;
	return *ret_total > 0;
}
