/* batch.c - see batch.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/tests_parse.h"
#include "common/text.h"
#include "worker/agent/batch.h"
#include "worker/agent/output.h"

#define CHECKS_MAX 4
/* A proof costs about as much as three or four plain runs. */
#define WORTH_PROVING 8
#define WORTH_A_LANE 3
/* Then the interpreter's start is little of it. */
#define WORTH_MS 6000
#define TEXT_MAX ((size_t)4 << 20) /* of a job's files */
#define LOST_MAX 4
#define DOUBT_EVERY 64

struct proof {
	bool begun, done;
	int status;
	bool timed_out;
	uint64_t ms;
	struct test_report report;
	char last[200]; /* line of its output */
};

struct batch {
	char *check;
	struct batch_cmd cmd;
	enum batch_state state;
	struct proof proofs[PROOFS];
	struct buf modules;
	unsigned lost, failed;
	size_t asked;  /* edits to try, in all calls so far */
	uint64_t used; /* for which was not for the longest time */
	struct lane *lanes;
	size_t n_lanes;
};

struct batches {
	struct batch v[CHECKS_MAX];
	size_t n;
	uint64_t clock;
};

static void
rest(struct batch *b)
{
	size_t k;

	for (k = 0; k < b->n_lanes; k++)
		lane_clear(&b->lanes[k]);
}

static void
forget_proofs(struct batch *b)
{
	size_t i;

	for (i = 0; i < PROOFS; i++) {
		test_report_clear(&b->proofs[i].report);
		b->proofs[i] = (struct proof){ 0 };
	}
}

static void
clear(struct batch *b)
{
	rest(b);
	forget_proofs(b);
	batch_cmd_clear(&b->cmd);
	buf_clear(&b->modules);
	free(b->lanes);
	free(b->check);
	*b = (struct batch){ 0 };
}

void
batch_rest(struct agent *a)
{
	size_t i;

	for (i = 0; a->batches != NULL && i < a->batches->n; i++)
		rest(&a->batches->v[i]);
}

void
batch_free(struct agent *a)
{
	size_t i;

	for (i = 0; a->batches != NULL && i < a->batches->n; i++)
		clear(&a->batches->v[i]);
	free(a->batches);
	a->batches = NULL;
}

enum batch_state
batch_state(const struct batch *b)
{
	return b->state;
}

void
batch_off(struct batch *b, const char *why)
{
	if (b->state == BATCH_OFF)
		return;
	log_info("no batches of this check: %s", why);
	b->state = BATCH_OFF;
}

/* --- which checks -------------------------------------------------------- */

static struct batch *
find(struct batches *all, const char *check)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		if (strcmp(all->v[i].check, check) == 0)
			return &all->v[i];
	return NULL;
}

static struct batch *
add(struct agent *a, struct batches *all, const char *check)
{
	const struct sandbox_spec *s = &a->cfg.candidate;
	struct batch *b = &all->v[0];
	size_t i;

	if (all->n < CHECKS_MAX) {
		b = &all->v[all->n++];
	} else {
		for (i = 1; i < all->n; i++)
			if (all->v[i].used < b->used)
				b = &all->v[i];
		clear(b);
	}
	*b = (struct batch){ .check = xstrdup(check) };
	buf_init(&b->modules, LANE_KEEP_MAX);
	b->n_lanes = (size_t)a->cfg.parallel * FLIGHT_MORE;
	b->lanes = xcalloc(b->n_lanes, sizeof *b->lanes);
	if (!batch_cmd_parse(check, strv_getenv(&s->env, "PATH"), &b->cmd))
		b->state = BATCH_OFF; /* as most are: not worth a word */
	return b;
}

static bool
has_lane(struct batch *b)
{
	size_t k;

	for (k = 0; k < b->n_lanes; k++)
		if (b->lanes[k].started)
			return true;
	return false;
}

struct batch *
batch_get(struct agent *a, const char *check, size_t n_edits)
{
	struct batch *b;

	if (!candidate_has_overlay(a))
		return NULL;
	if (a->batches == NULL)
		a->batches = xcalloc(1, sizeof *a->batches);
	b = find(a->batches, check);
	if (b == NULL && n_edits < WORTH_A_LANE)
		return NULL;
	if (b == NULL)
		b = add(a, a->batches, check);
	b->used = ++a->batches->clock;
	/* Small calls add up: who asks for few because each takes long needs
	 * lanes most. */
	b->asked += n_edits;
	if (b->state == BATCH_OFF ||
	    (b->state == BATCH_PROVING && b->asked < WORTH_PROVING) ||
	    (n_edits < WORTH_A_LANE && !has_lane(b)))
		return NULL;
	/* An earlier call did not come to their end; the tree may be another
	 * one by now. */
	if (b->state == BATCH_PROVING)
		forget_proofs(b);
	return b;
}

/* --- proofs -------------------------------------------------------------- */

bool
batch_next_proof(struct batch *b, enum batch_proof *ret)
{
	struct proof *p = b->proofs;

	if (b->state != BATCH_PROVING)
		return false;
	if (!p[PROOF_PLAIN].begun)
		*ret = PROOF_PLAIN;
	else if (!p[PROOF_FIRST].begun)
		*ret = PROOF_FIRST;
	else if (p[PROOF_FIRST].done && !p[PROOF_AGAIN].begun)
		*ret = PROOF_AGAIN;
	else
		return false;
	p[*ret].begun = true;
	return true;
}

static bool
is_same_list(const struct strv *a, const struct strv *b)
{
	size_t i;

	for (i = 0; a->n == b->n && i < a->n; i++)
		if (strcmp(a->v[i], b->v[i]) != 0)
			return false;
	return a->n == b->n;
}

/* "pytest -qq" says no numbers: then its last line counts. */
static bool
is_silent(const struct proof *p)
{
	const struct test_report *r = &p->report;

	return r->n_passed + r->n_failed + r->n_skipped + r->failed.n == 0;
}

static bool
is_same(const struct proof *a, const struct proof *b)
{
	if (is_silent(a) && strcmp(a->last, b->last) != 0)
		return false;
	return a->status == b->status && a->timed_out == b->timed_out &&
	    a->report.n_passed == b->report.n_passed &&
	    a->report.n_failed == b->report.n_failed &&
	    a->report.n_skipped == b->report.n_skipped &&
	    is_same_list(&a->report.failed, &b->report.failed);
}

static void
compare(struct batch *b)
{
	const struct proof *p = b->proofs;
	size_t i, n = 0;

	for (i = 0; i < PROOFS; i++) {
		if (!p[i].done)
			continue;
		n++;
		if (p[i].timed_out || p[i].ms > WORTH_MS)
			batch_off(b, "its tests take too long for them");
		else if (p[PROOF_PLAIN].done && !is_same(&p[0], &p[i]))
			batch_off(b, "they say other things than it");
	}
	if (n == PROOFS && b->state == BATCH_PROVING)
		b->state = BATCH_TRUSTED;
}

void
batch_proved(struct batch *b, enum batch_proof which, const struct exec *x)
{
	struct proof *p = &b->proofs[which];
	struct buf raw, clean;

	p->done = true;
	p->status = x->status;
	p->timed_out = x->timed_out || x->too_much;
	p->ms = x->ms;
	buf_init(&raw, BUF_NOMAX);
	buf_init(&clean, BUF_NOMAX);
	(void)exec_text(x, &raw);
	if (raw.len > 0)
		(void)text_clean(&clean, buf_str(&raw), raw.len, 4096);
	tests_parse(buf_str(&clean), clean.len, &p->report);
	output_last_line(buf_str(&clean), clean.len, p->last, sizeof p->last);
	buf_clear(&raw);
	buf_clear(&clean);
	compare(b);
}

void
batch_modules(struct batch *b, const struct buf *modules)
{
	buf_reset(&b->modules);
	(void)buf_add(&b->modules, buf_str(modules), modules->len);
}

bool
batch_doubts(struct batch *b)
{
	b->failed++;
	return b->failed == 1 || b->failed == DOUBT_EVERY / 8 ||
	    b->failed % DOUBT_EVERY == 0;
}

/* --- lanes --------------------------------------------------------------- */

bool
batch_takes(const struct batch *b, const struct edits *es)
{
	size_t i, bytes = 0;

	/* Without edits all that it says is wanted. */
	if (b->state != BATCH_TRUSTED || es->n == 0)
		return false;
	for (i = 0; i < es->n; i++) {
		if (!es->v[i].exists || !text_ends(es->v[i].rel, ".py"))
			return false;
		bytes += es->v[i].data.len + es->v[i].old.len;
	}
	return bytes <= TEXT_MAX;
}

struct lane *
batch_lane(struct agent *a, struct batch *b, size_t k)
{
	struct lane *l;
	struct err e;

	if (b->state == BATCH_OFF || k >= b->n_lanes)
		return NULL;
	l = &b->lanes[k];
	if (lane_is_idle(l))
		return l;
	lane_clear(l);
	if (lane_start(a, l, &b->cmd, &b->modules, &e) == 0)
		return l;
	lane_clear(l);
	batch_off(b, e.text);
	return NULL;
}

void
batch_lane_lost(struct batch *b, size_t k, bool dirty)
{
	lane_clear(&b->lanes[k]);
	b->lost++;
	if (b->state == BATCH_PROVING)
		batch_off(b,
		    dirty ? "its tests leave something behind"
			  : "it does not run in them");
	else if (b->lost > LOST_MAX + b->failed / 16)
		batch_off(b,
		    dirty ? "its tests leave something behind too often"
			  : "they break too often");
}
