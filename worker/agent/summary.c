/* summary.c - the only result of a subtask, within its limits; see agent.h. */
#include "common/compat.h"

#include <errno.h>

#include "common/log.h"
#include "common/loop.h"
#include "common/text.h"
#include "worker/agent/agent.h"
#include "worker/agent/changeset.h"
#include "worker/agent/output.h"

/* Shares of MSG_MAX_SUMMARY, 64 KiB; the rest is for names and numbers. */
#define HYPOTHESIS_MAX 1024
#define REASON_MAX 2048
#define OUTPUT_SHARE 12288
#define FINDINGS_SHARE 16384
#define FINDINGS_MAX 64
#define PLAN_MAX 1024 /* as SUMMARY takes: one for each of many workers */
#define EVIDENCE_SHARE 6144
#define FAILING_SHARE 16384
#define FLAKY_SHARE 4096
#define ITEM_COST 3 /* msgpack's header of a string */

#define SEND_AGAIN_MS 2000
#define GIVE_UP_MS 60000
#define PATCH_MAX ((size_t)1 << 20)

/* Clean text of at most max bytes. Yours. */
static char *
fit_text(const char *s, size_t max)
{
	struct buf b;
	char *out;

	buf_init(&b, BUF_NOMAX);
	(void)text_clean(&b, s, strlen(s), 0);
	out = xstrndup(buf_str(&b), text_cut(buf_str(&b), b.len, max));
	buf_clear(&b);
	return out;
}

static void
fit_str(char **s, size_t max)
{
	char *fitted;

	if (*s == NULL)
		return;
	fitted = fit_text(*s, max);
	free(*s);
	*s = fitted;
}

static void
fit_list(struct strv *v, size_t max_n, size_t max_item, size_t share)
{
	struct strv out = { 0 };
	size_t i, used = 0, len;
	char *s;

	for (i = 0; i < v->n && out.n < max_n; i++) {
		s = fit_text(v->v[i], max_item);
		len = strlen(s) + ITEM_COST;
		if (used + len > share) {
			free(s);
			break;
		}
		used += len;
		strv_take(&out, &s);
	}
	strv_clear(v);
	*v = out;
}

/* A plan's are all that it has to say: it may have the shares of the rest. */
static void
fit_findings(struct outcome *o, bool plan)
{
	if (plan && o->failing.n == 0 && o->flaky.n == 0 && o->output.len == 0)
		fit_list(&o->findings, PLAN_MAX, 1024,
		    FINDINGS_SHARE + FAILING_SHARE + FLAKY_SHARE +
			OUTPUT_SHARE);
	else
		fit_list(&o->findings, FINDINGS_MAX, 1024, FINDINGS_SHARE);
}

void
summary_fit(struct outcome *o, bool plan)
{
	struct buf b;

	fit_str(&o->hypothesis, HYPOTHESIS_MAX);
	fit_str(&o->reason, REASON_MAX);
	fit_findings(o, plan);
	fit_list(&o->evidence, 64, 512, EVIDENCE_SHARE);
	fit_list(&o->failing, 256, 256, FAILING_SHARE);
	fit_list(&o->flaky, 256, 256, FLAKY_SHARE);
	buf_init(&b, BUF_NOMAX);
	(void)output_add(&b, buf_str(&o->output), o->output.len, OUTPUT_SHARE);
	buf_clear(&o->output);
	o->output = b;
}

void
outcome_clear(struct outcome *o)
{
	free(o->hypothesis);
	free(o->reason);
	strv_clear(&o->findings);
	strv_clear(&o->evidence);
	strv_clear(&o->failing);
	strv_clear(&o->flaky);
	buf_clear(&o->output);
	buf_clear(&o->patch);
}

int
summary_patch(struct agent *a, struct err *e)
{
	struct buf patch;
	int r;

	buf_init(&patch, 64 << 20);
	r = changeset_patch(a, &a->out.findings, &patch, e);
	if (r == 0 && patch.len > PATCH_MAX)
		r = err_set(e, ERR_LIMIT,
		    "the patch of all changes is %zu bytes large; at most %zu "
		    "are allowed",
		    patch.len, PATCH_MAX);
	else if (r == -ENOBUFS)
		r = err_set(e, ERR_LIMIT, "the patch is far too large");
	if (r < 0) {
		buf_clear(&patch);
		return r;
	}
	buf_clear(&a->out.patch);
	a->out.patch = patch;
	return 0;
}

static bool
is_ack_for(const struct msg *m, const void *ctx)
{
	return strcmp(m->u.summary_ack.subtask, ctx) == 0;
}

int
summary_send(struct agent *a, struct err *e)
{
	struct outcome *o = &a->out;
	struct msg m = { .type = MSG_SUMMARY }, *ack;
	struct msg_summary *s = &m.u.summary;
	int r;

	summary_fit(o, strcmp(a->task->kind, "plan") == 0);
	s->subtask = a->task->subtask;
	s->attempt = a->task->attempt;
	s->verdict = o->verdict != NULL ? o->verdict : "error";
	s->hypothesis = o->hypothesis;
	s->findings = msg_strs_of(&o->findings);
	s->evidence = msg_strs_of(&o->evidence);
	s->reason = o->reason;
	s->output = o->output.len > 0 ? buf_str(&o->output) : NULL;
	s->patch = o->patch.len > 0 ? buf_str(&o->patch) : NULL;
	s->patch_len = o->patch.len;
	s->failing = msg_strs_of(&o->failing);
	s->flaky = msg_strs_of(&o->flaky);
	s->tests_passed = o->tests_passed;
	s->tests_failed = o->tests_failed;
	s->per_test = o->per_test;
	s->test_ms = o->test_ms;
	s->slowest_ms = o->slowest_ms;
	s->tried = a->tried;
	s->calls = a->calls;
	s->tools = a->tools;
	s->wall_ms = loop_now_ms() - a->started_ms;
	r = link_call(a->link, &m, MSG_SUMMARY_ACK, is_ack_for,
	    a->task->subtask, SEND_AGAIN_MS, GIVE_UP_MS, &ack, e);
	if (r < 0)
		return r;
	msg_free(ack);
	return 0;
}
