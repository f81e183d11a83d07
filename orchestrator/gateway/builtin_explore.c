/*
 * builtin_explore.c - the part of the built-in model that tries candidates.
 *
 * They are tried with the first step of the ladder; those that pass it with
 * the next, up to the whole test command. Only what passes that is settled as
 * passing, and becomes an edit.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/loop.h"
#include "common/text.h"
#include "orchestrator/gateway/builtin_priv.h"

/* What is as likely as an edit that passes is tried while so much is left. */
#define BAND_LEAST_S 8

/* all: with the whole test command. args: of the call. */
static void
count(struct builtin *b, struct worker *w, const struct trial_result *t,
    bool all, const json_t *args)
{
	const char *first = ladder_first(&b->ladder)->command;
	bool full = strcmp(dialog_str(args, "check"), first) != 0;

	w->narrowed |= !all;
	for (size_t i = 0; i < t->n; i++) {
		const struct cand *c = queue_cand(b->q, t->cand[i]);

		if (!t->tried[i]) {
			if (c->holder == w->id)
				queue_undeal(b->q, t->cand[i]);
			continue;
		}
		if (!all && t->passed[i])
			continue; /* what comes next decides */
		w->tried[c->hypo]++;
		if (t->late[i]) {
			w->late[c->hypo]++;
			builtin_late(b, w, t->cand[i], full, args);
		} else {
			builtin_ended(b, false);
			queue_settle(b->q, t->cand[i], t->passed[i]);
			w->broke[c->hypo] +=
			    all && w->narrowed && !t->passed[i];
		}
		if (c->op < REPAIR_OPS_MAX)
			w->kinds[c->hypo][c->op / 64] |= (uint64_t)1
			    << (c->op % 64);
	}
}

/* What one took in the last call, times how many run at once: less than the
 * plain command when it could run in batches. */
static void
pace(struct worker *w, const struct trial_result *t, const struct facts *f)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += t->tried[i];
	if (w->sent_ms > 0 && n > 0)
		w->pace_ms = 1 + (loop_now_ms() - w->sent_ms) * f->parallel / n;
	w->sent_ms = 0;
}

/* How many to deal now. */
static size_t
deal_size(
    const struct builtin *b, const struct worker *w, const struct facts *f)
{
	uint64_t ms = ladder_first(&b->ladder)->ms;

	return trial_size(f,
	    w->pace_ms > 0 && w->pace_ms < ms ? w->pace_ms : ms, w->calls,
	    w->errors);
}

/* Take note of the answers that came since the last time. */
static void
settle(struct builtin *b, struct worker *w, const json_t *conv,
    const struct facts *f)
{
	size_t n = json_array_size(conv);
	struct trial_result t;

	if (n < w->seen) { /* shortened, or a new attempt: count afresh */
		queue_return(b->q, w->id);
		w->seen = w->calls = w->errors = 0;
		w->pace_ms = w->sent_ms = 0;
		w->narrowed = false;
		memset(w->tried, 0, sizeof w->tried);
		memset(w->late, 0, sizeof w->late);
		memset(w->broke, 0, sizeof w->broke);
		memset(w->kinds, 0, sizeof w->kinds);
	}
	for (; w->seen < n; w->seen++) {
		const json_t *m = json_array_get(conv, w->seen);
		const char *text = dialog_str(m, "content"), *name;
		json_t *args;

		if (!dialog_is(m, "tool"))
			continue;
		name = dialog_answered(conv, w->seen, &args);
		if (ladder_is_now(name, args)) {
			builtin_measured(b, w, f, args, text);
		} else if (strcmp(name, "try_edits") == 0) {
			w->errors = dialog_is_error(text) ? w->errors + 1 : 0;
			trial_read(b->q, args, text, &t);
			w->calls += t.n > 0; /* 0: a control */
			pace(w, &t, f);
			count(b, w, &t,
			    ladder_after(
				&b->ladder, dialog_str(args, "check")) == NULL,
			    args);
		} else if (strcmp(name, "edit_file") == 0) {
			w->errors += dialog_is_error(text);
			queue_offer(b->q, trial_find(b->q, args, false), w->id);
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
		buf_init(&t, BUILTIN_FINDING_MAX);
		(void)buf_printf(&t, "%zu edit%s in %s (", w->tried[h],
		    w->tried[h] == 1 ? "" : "s", hy->place);
		for (size_t o = 0; o < n_repair_ops && o < REPAIR_OPS_MAX;
		     o++) {
			if (!(w->kinds[h][o / 64] & (uint64_t)1 << (o % 64)))
				continue;
			(void)buf_printf(&t, "%s%s", sep, repair_ops[o].name);
			sep = ", ";
		}
		(void)buf_adds(&t, "): ");
		if (w->late[h] > 0)
			(void)buf_printf(&t, "%zu timed out%s", w->late[h],
			    w->late[h] < w->tried[h] ? ", " : "");
		if (w->late[h] < w->tried[h])
			(void)buf_printf(&t, "none%s makes the tests pass",
			    w->late[h] > 0 ? " of the others" : "");
		if (w->broke[h] > 0)
			(void)buf_printf(&t,
			    "; %zu mend%s what failed and break%s others",
			    w->broke[h], w->broke[h] == 1 ? "s" : "",
			    w->broke[h] == 1 ? "s" : "");
		json_array_append_new(list, json_str_lossy(buf_str(&t), t.len));
		buf_clear(&t);
	}
	return list;
}

/* Nothing is left to try, or no time: what was ruled out. */
static json_t *
give_up(struct builtin *b, struct worker *w, const json_t *conv,
    const struct facts *f)
{
	json_t *list = findings(b, w, f->hypothesis_id);
	bool none = json_array_size(list) == 0;
	bool late = queue_left(b->q) > 0;
	size_t tried = 0, slow = 0;
	json_t *reply;
	char *why;
	char *left = late
	    ? xasprintf("%zu less likely edits were not tried: the time for it "
			"is over",
		  queue_left(b->q))
	    : xstrdup("every candidate edit of this hypothesis was tried by "
		      "others");

	for (size_t h = 0; h < QUEUE_MAX_HYPO; h++) {
		tried += w->tried[h];
		slow += w->late[h];
	}
	if (none && !late && queue_n_late(b->q) > 0)
		why = xasprintf("Others have tried its edits; none helped, and "
				"%zu timed out.",
		    queue_n_late(b->q));
	else if (!late && slow * 2 >= tried && slow > 0)
		why = xasprintf(BUILTIN_TIMED_OUT
		    ": whether one of them helps is not known.",
		    slow, tried);
	else
		why = xstrdup(late ? BUILTIN_OVER
			: none     ? "Others have tried its edits; none helped."
				   : "No candidate edit is left.");
	queue_return(b->q, w->id);
	if (none != late) /* with nothing tried it says nothing of the tree */
		json_array_append_new(list, json_string(left));
	free(left);
	reply = builtin_finish(conv,
	    late || (slow > 0 && slow * 2 >= tried) ? "stuck" : "refuted",
	    f->hypothesis, list, NULL, why);
	free(why);
	return reply;
}

/* Call try_edits for the first of n candidates; what is too much for one
 * call goes back. */
static void
start_trial(struct builtin *b, const json_t *conv, json_t *reply,
    const uint32_t *cand, size_t n, const struct step *check, bool stop)
{
	size_t keep = n;
	json_t *args = trial_args(b->q, cand, &keep, check, stop);

	trial_within(args, builtin_left_s(b));
	for (size_t i = keep; i < n; i++)
		queue_undeal(b->q, cand[i]);
	dialog_call(reply, conv, "try_edits", args);
}

static json_t *
deal(struct builtin *b, struct worker *w, const json_t *conv,
    const struct facts *f)
{
	const struct step *check = ladder_first(&b->ladder);
	uint32_t got[TRIAL_MAX];
	size_t n = builtin_left_s(b) == 0
	    ? 0
	    : queue_next(
		  b->q, w->id, f->hypothesis_id, deal_size(b, w, f), got);
	const struct hypo *hy;
	json_t *reply;
	size_t h;

	reply = builtin_measure(b, w, conv, n == 0);
	if (reply != NULL) {
		for (size_t i = 0; i < n; i++)
			queue_undeal(b->q, got[i]);
		return reply;
	}
	if (n == 0 && builtin_left_s(b) > 0 && builtin_second(b) > 0)
		n = queue_next(
		    b->q, w->id, f->hypothesis_id, deal_size(b, w, f), got);
	if (n == 0)
		return give_up(b, w, conv, f);
	h = queue_cand(b->q, got[0])->hypo;
	hy = queue_hypo(b->q, h);
	if (w->calls == 0 && h == queue_hypo_find(b->q, f->hypothesis_id))
		reply = dialog_reply("%s%s: %s. %zu small edits may mend it; "
				     "the likeliest are tried now.",
		    w->news != NULL ? w->news : "", hy->name, hy->sentence,
		    hy->total);
	else
		reply = dialog_reply("%s%s%s, %zu of %zu tried: now %s and "
				     "others.",
		    w->news != NULL ? w->news : "",
		    h != queue_hypo_find(b->q, f->hypothesis_id)
			? "Helping with "
			: "",
		    hy->name, hy->tried, hy->total,
		    queue_cand(b->q, got[0])->what);
	free(w->news);
	w->news = NULL;
	start_trial(b, conv, reply, got, n, check, true);
	w->sent_ms = loop_now_ms();
	return reply;
}

/* What passes one step goes on to the next. NULL: that was the last, or nothing
 * passed. */
static json_t *
advance(
    struct builtin *b, const json_t *conv, const json_t *args, const char *text)
{
	const struct step *next =
	    ladder_after(&b->ladder, dialog_str(args, "check"));
	struct trial_result t;
	uint32_t got[TRIAL_MAX];
	json_t *reply;
	size_t n = 0;

	if (next == NULL)
		return NULL;
	trial_read(b->q, args, text, &t);
	for (size_t i = 0; i < t.n; i++)
		if (t.passed[i])
			got[n++] = t.cand[i];
	if (n == 0)
		return NULL;
	reply = dialog_reply("%s in %s mends what failed: now %s with `%s`.",
	    queue_cand(b->q, got[0])->what, queue_source(b->q, got[0])->path,
	    n > 1 ? "all such edits" : "it", next->command);
	start_trial(b, conv, reply, got, n, next,
	    json_is_true(json_object_get(args, "stop_on_pass")));
	return reply;
}

/*
 * An edit passes. What is about as likely is tried as well, once and if there
 * is time: it may pass too and be the better one. Then the best is made.
 */
static json_t *
passing(struct builtin *b, struct worker *w, const json_t *conv,
    const struct facts *f, bool last)
{
	const struct step *check = ladder_first(&b->ladder);
	size_t best = queue_best(b->q), n = 0;
	uint32_t got[TRIAL_MAX];
	json_t *reply;

	if (best == QUEUE_NONE)
		return NULL;
	if (!last && builtin_left_s(b) > BAND_LEAST_S)
		n = queue_band(b->q, w->id, best, deal_size(b, w, f), got);
	if (n == 0) {
		reply = dialog_reply("%s in %s makes the tests pass.",
		    queue_cand(b->q, best)->what,
		    queue_source(b->q, best)->path);
		dialog_call(
		    reply, conv, "edit_file", trial_edit(b->q, best, false));
		return reply;
	}
	reply = dialog_reply("%s in %s makes the tests pass; those that are as "
			     "likely are tried before the best is taken.",
	    queue_cand(b->q, best)->what, queue_source(b->q, best)->path);
	start_trial(b, conv, reply, got, n, check, false);
	return reply;
}

static json_t *
fixed(struct builtin *b, const json_t *conv, const struct facts *f, size_t cand)
{
	const struct cand *c = queue_cand(b->q, cand);
	const struct source *s = queue_source(b->q, cand);
	const struct hypo *h = queue_hypo(b->q, c->hypo);
	char *ev = xasprintf("%s:%u", s->path, c->line);
	json_t *evidence = json_pack("[o]", json_str_lossy(ev, strlen(ev)));

	free(ev);
	queue_offer(b->q, cand, 0);
	return builtin_finish(conv, "fixed",
	    h->name[0] != '\0' && f->hypothesis_id != NULL &&
		    strcmp(h->name, f->hypothesis_id) == 0 &&
		    *f->hypothesis != '\0'
		? f->hypothesis
		: h->sentence,
	    trial_passed(b->q, cand), evidence,
	    "An edit makes the tests pass.");
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
			undo = trial_edit(b->q, c, true);
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

/* The last answer that decides what to do next; a process that starts anew may
 * have read sources since. *ret_args is a new reference. */
static const char *
last_answer(const json_t *conv, json_t **ret_args, const char **ret_text)
{
	const char *name;

	for (size_t i = json_array_size(conv); i-- > 0;) {
		const json_t *m = json_array_get(conv, i);

		if (!dialog_is(m, "tool"))
			continue;
		name = dialog_answered(conv, i, ret_args);
		if (strcmp(name, "try_edits") == 0 ||
		    strcmp(name, "edit_file") == 0 ||
		    strcmp(name, "finish") == 0) {
			*ret_text = dialog_str(m, "content");
			return name;
		}
		json_decref(*ret_args);
	}
	*ret_args = NULL;
	*ret_text = "";
	return "";
}

/* text: the last error, of which the first line says most. */
static json_t *
tools_fail(const json_t *conv, const struct facts *f, const char *text)
{
	size_t len = strcspn(text, "\n");
	char *why = xasprintf("The tools failed several times in a row: %.*s",
	    (int)text_cut(text, len, 200), text);
	json_t *reply = builtin_stuck(conv, f, why);

	free(why);
	return reply;
}

json_t *
builtin_explore(struct builtin *b, struct worker *w, const json_t *conv,
    const struct facts *f)
{
	json_t *reply = builtin_prepare(b, conv, f), *args;
	const char *name, *text;
	size_t cand;

	if (reply != NULL)
		return reply;
	if (f->tests.n == 0)
		return builtin_stuck(
		    conv, f, "There is no test command to check with.");
	settle(b, w, conv, f);
	name = last_answer(conv, &args, &text);
	if (w->errors >= BUILTIN_ERRORS_MAX) {
		json_decref(args);
		return tools_fail(conv, f, text);
	}
	if (strcmp(name, "try_edits") == 0) {
		reply = advance(b, conv, args, text);
		if (reply == NULL)
			reply = passing(b, w, conv, f,
			    !json_is_true(
				json_object_get(args, "stop_on_pass")));
	} else if (strcmp(name, "edit_file") == 0 && !dialog_is_error(text)) {
		cand = trial_find(b->q, args, false);
		if (cand != QUEUE_NONE)
			reply = fixed(b, conv, f, cand);
	} else if (strcmp(name, "finish") == 0 &&
	    strcmp(dialog_str(args, "verdict"), "fixed") == 0) {
		reply = take_back(b, conv);
	}
	json_decref(args);
	/* What passed and was not offered, by whom ever it was found. */
	if (reply == NULL && strcmp(name, "try_edits") != 0)
		reply = passing(b, w, conv, f, true);
	return reply != NULL ? reply : deal(b, w, conv, f);
}
