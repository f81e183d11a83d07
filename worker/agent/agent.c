/* agent.c - acts that all parts of a worker share; see agent.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/loop.h"
#include "common/text.h"
#include "worker/agent/agent.h"

#define DEFAULT_LIMIT_MS 120000
#define ASK_AGAIN_MS 30000
#define DAY_S 86400

static bool
is_verdict_for(const struct msg *m, const void *ctx)
{
	return m->u.verdict.seq == *(const uint64_t *)ctx;
}

int
agent_audit(struct agent *a, const char *act, const char *subject,
    const char *detail, struct err *e)
{
	struct msg m = { .type = MSG_AUDIT }, *answer;
	uint64_t seq = ++a->audit_seq;
	int r;

	m.u.audit.seq = seq;
	m.u.audit.act = act;
	m.u.audit.subject = subject;
	m.u.audit.detail = detail;
	r = link_call(a->link, &m, MSG_VERDICT, is_verdict_for, &seq,
	    ASK_AGAIN_MS, 0, &answer, e);
	if (r < 0)
		return r;
	a->audit_denied = strcmp(answer->u.verdict.verdict, "allow") != 0;
	if (a->audit_denied)
		r = err_set(e, ERR_DENIED, "denied: %s",
		    answer->u.verdict.reason != NULL &&
			    *answer->u.verdict.reason != '\0'
			? answer->u.verdict.reason
			: "policy does not allow it");
	msg_free(answer);
	return r;
}

static void
progress(struct agent *a, struct msg *m)
{
	struct err e;

	m->u.progress.call = a->tools;
	if (link_send(a->link, m, &e) < 0)
		log_debug("PROGRESS: %s", e.text);
}

void
agent_progress(struct agent *a, const char *what, const char *tool,
    const char *verdict, const char *text, uint64_t ms)
{
	struct msg m = { .type = MSG_PROGRESS };
	char line[240];

	m.u.progress.what = what;
	m.u.progress.tool = tool;
	m.u.progress.verdict = verdict;
	m.u.progress.ms = ms;
	if (text != NULL) {
		text_escape_to(line, sizeof line, text, strlen(text));
		m.u.progress.text = line;
	}
	progress(a, &m);
}

void
agent_progress_n(
    struct agent *a, const char *what, uint64_t done, uint64_t total)
{
	struct msg m = { .type = MSG_PROGRESS };

	m.u.progress.what = what;
	m.u.progress.done = done;
	m.u.progress.total = total;
	progress(a, &m);
}

void
agent_end(struct agent *a, const char *verdict, const char *fmt, ...)
{
	struct buf b;
	va_list ap;

	if (a->out.verdict != NULL)
		return;
	a->out.verdict = verdict;
	buf_init(&b, 65536);
	va_start(ap, fmt);
	(void)buf_vprintf(&b, fmt, ap); /* cut to the limit when sent */
	va_end(ap);
	free(a->out.reason);
	a->out.reason = buf_detach(&b, NULL);
}

uint64_t
agent_limit_ms(const struct agent *a, uint64_t want)
{
	uint64_t max = a->task->call_ms;

	if (want == 0)
		want = max > 0 ? max : DEFAULT_LIMIT_MS;
	return max > 0 && want > max ? max : want;
}

uint64_t
agent_limit_s(const struct agent *a, uint64_t want_s)
{
	return agent_limit_ms(a, (want_s < DAY_S ? want_s : DAY_S) * 1000);
}
