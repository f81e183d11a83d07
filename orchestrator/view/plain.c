/*
 * plain.c - one row an event: how it reads for a person.
 */
#include "common/compat.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/num.h"
#include "common/tests_reason.h"
#include "common/text.h"
#include "orchestrator/run/run.h"
#include "orchestrator/view/plain_priv.h"

/* of the failing tests' output */
#define OUTPUT_LINES 8
#define PLANNED_SHOWN 8
#define WARNED_MAX 100

bool
plain_rewrites(void)
{
	const char *kind = getenv("TERM");

	return kind != NULL && *kind != '\0' && strcmp(kind, "dumb") != 0;
}

struct plain *
plain_create(FILE *out)
{
	struct plain *p = xcalloc(1, sizeof *p);

	p->out = out;
	p->tty = isatty(fileno(out)) == 1;
	p->rewrites = p->tty && plain_rewrites();
	return p;
}

void
plain_free(struct plain *p)
{
	if (p == NULL)
		return;
	plain_clear(p);
	free(p->who);
	free(p->doing);
	strv_clear(&p->warned);
	free(p);
}

static double
time_of(const json_t *ev)
{
	return json_real_value(json_object_get(ev, "t"));
}

static const char *
str(const json_t *ev, const char *key)
{
	const char *s = json_string_value(json_object_get(ev, key));

	return s != NULL ? s : "";
}

static long long
num(const json_t *ev, const char *key)
{
	return (long long)json_integer_value(json_object_get(ev, key));
}

static size_t
count(const json_t *ev, const char *key)
{
	return json_array_size(json_object_get(ev, key));
}

static void
line(struct plain *p, const json_t *ev, const char *who, const char *what)
{
	plain_say(p, time_of(ev), who, what);
}

static void printed(struct plain *p, const json_t *ev, const char *who,
    const char *fmt, ...) printflike(4, 5);

static void
printed(
    struct plain *p, const json_t *ev, const char *who, const char *fmt, ...)
{
	struct buf b;
	va_list ap;

	buf_init(&b, 64 << 10);
	va_start(ap, fmt);
	(void)buf_vprintf(&b, fmt, ap);
	va_end(ap);
	line(p, ev, who, buf_str(&b));
	buf_clear(&b);
}

static void
on_run_started(struct plain *p, const json_t *ev)
{
	p->resumed = p->begun = json_is_true(json_object_get(ev, "resumed"));
	printed(p, ev, "run", "%s on %s (%lld workers, model %s)",
	    str(ev, "run"), str(ev, "repo"), num(ev, "workers"),
	    str(ev, "model"));
}

static void
on_snapshot(struct plain *p, const json_t *ev)
{
	const char *left = str(ev, "left_out");

	printed(p, ev, "snapshot", "%lld files, %.1f MiB%s in %lld ms%s%s",
	    num(ev, "files"), (double)num(ev, "bytes") / (1 << 20),
	    json_is_true(json_object_get(ev, "reused")) ? ", unchanged" : "",
	    num(ev, "ms"), left[0] != '\0' ? "; left out: " : "", left);
}

/* The end of what the failing tests wrote, a few lines. */
static void
output_tail(struct plain *p, const json_t *ev)
{
	const char *text = str(ev, "output"), *from = text + strlen(text);
	const char *reason = tests_reason(text);
	int lines = 0;

	while (from > text && from[-1] == '\n')
		from--;
	while (from > text && lines < OUTPUT_LINES)
		if (*--from == '\n' && ++lines == OUTPUT_LINES)
			from++;
	if (reason != NULL)
		from = reason;
	for (lines = 0; *from != '\0' && lines < OUTPUT_LINES; lines++) {
		int n = (int)strcspn(from, "\n");

		printed(p, ev, "", "| %.*s", n, from);
		from += n + (from[n] == '\n');
	}
}

static void
on_baseline(struct plain *p, const json_t *ev)
{
	const json_t *v;
	size_t i;

	plain_goes(p, 0, "", NULL);
	printed(p, ev, "baseline",
	    "%lld pass, %lld fail, %zu flaky; %lld ms a run", num(ev, "passed"),
	    num(ev, "failed"), count(ev, "flaky"), num(ev, "test_ms"));
	json_array_foreach (json_object_get(ev, "failing"), i, v)
		if (i < 5)
			printed(p, ev, "", "fails: %s", json_string_value(v));
	json_array_foreach (json_object_get(ev, "flaky"), i, v)
		if (i < 5)
			printed(p, ev, "", "flaky: %s", json_string_value(v));
	output_tail(p, ev);
}

static void
on_planned(struct plain *p, const json_t *ev)
{
	bool pass = json_is_true(json_object_get(ev, "pass"));
	size_t i, n = count(ev, "hypotheses");
	const json_t *v;

	plain_goes(p, 0, "", NULL);
	if (pass)
		printed(p, ev, "builtin", "%s%s", n > 0 ? "tries first: " : "",
		    str(ev, "reason"));
	else
		printed(p, ev, "plan", "%zu hypotheses%s%s", n,
		    *str(ev, "reason") != '\0' ? "; " : "", str(ev, "reason"));
	if (json_is_number(json_object_get(ev, "ceiling_usd")))
		printed(p, ev, "", "they may cost $%.2f at most",
		    json_number_value(json_object_get(ev, "ceiling_usd")));
	json_array_foreach (json_object_get(ev, "hypotheses"), i, v) {
		if (i == PLANNED_SHOWN && n > PLANNED_SHOWN + 1) {
			printed(p, ev, "",
			    "and %zu more, less likely (foray show)",
			    n - PLANNED_SHOWN);
			break;
		}
		printed(
		    p, ev, "", "%s: %s", str(v, "id"), str(v, "hypothesis"));
	}
}

/* What a worker does, and on which machine where there are several. */
static void
does(struct plain *p, const json_t *ev, const char *what, const char *label)
{
	const char *host = p->others ? str(ev, "host") : "";

	printed(p, ev, str(ev, "worker"), "%s%s%s%s", what, label,
	    *host != '\0' ? " on " : "", host);
}

static void
on_assigned(struct plain *p, const json_t *ev)
{
	const char *kind = str(ev, "kind");

	p->begun = true;
	if (strcmp(kind, "explore") == 0)
		does(p, ev, "takes ", str(ev, "label"));
	else if (strcmp(kind, "reproduce") == 0)
		does(p, ev, "writes a test that shows the bug", "");
	else if (strcmp(kind, "confirm") == 0)
		does(p, ev, "runs it in a fresh sandbox", "");
	else if (strcmp(kind, "baseline") == 0)
		does(p, ev, "runs the tests as they are", "");
	/* No plan has shown what the person said. */
	if (text_starts(str(ev, "label"), "hint-"))
		printed(p, ev, "", "%s: %s", str(ev, "label"),
		    str(ev, "hypothesis"));
	if (strcmp(kind, "confirm") == 0)
		plain_goes(p, time_of(ev), str(ev, "worker"),
		    "runs it in a fresh sandbox");
	else if (strcmp(kind, "baseline") == 0)
		plain_goes(p, time_of(ev), str(ev, "worker"),
		    "runs the tests as they are");
}

/* "1,234,567" */
static void
put_number(struct buf *b, long long n)
{
	char digits[24];
	int len = snprintf(digits, sizeof digits, "%lld", n), i;

	for (i = 0; i < len; i++)
		(void)buf_printf(b, "%s%c",
		    i > 0 && digits[i - 1] != '-' && (len - i) % 3 == 0 ? ","
									: "",
		    digits[i]);
}

/* "tried 240 of 1,000 edits, 38/s, about 20 s left": as much of it as is known.
 */
static void
put_tried(struct buf *b, const json_t *ev)
{
	double rate = json_number_value(json_object_get(ev, "rate"));
	const json_t *left = json_object_get(ev, "left_s");
	long long s = num(ev, "left_s");

	(void)buf_adds(b, "tried ");
	put_number(b, num(ev, "tried"));
	if (num(ev, "candidates") > 0) {
		(void)buf_adds(b, " of ");
		put_number(b, num(ev, "candidates"));
	}
	(void)buf_printf(b, " edit%s",
	    num(ev, "candidates") == 0 && num(ev, "tried") == 1 ? "" : "s");
	if (rate > 0)
		(void)buf_printf(b, ", %.*f/s", rate < 10 ? 1 : 0, rate);
	if (left != NULL && s > 0 && s < 120)
		(void)buf_printf(b, ", about %lld s left", s);
	else if (left != NULL && s > 0)
		(void)buf_printf(b, ", about %lld min left", (s + 30) / 60);
}

static void
on_progress(struct plain *p, const json_t *ev)
{
	double t = time_of(ev);
	bool edits = strcmp(str(ev, "what"), "try") == 0;
	bool snapshot = strcmp(str(ev, "what"), "snapshot") == 0;
	struct buf b;

	if (t - p->last < (p->tty ? 0.1 : PLAIN_STEADY_S) || p->held ||
	    (!p->tty && !edits && !snapshot))
		return;
	p->last = t;
	buf_init(&b, 1024);
	if (edits)
		put_tried(&b, ev);
	else if (snapshot)
		(void)buf_printf(&b, "%s: its host gets the snapshot, %s",
		    str(ev, "worker"), str(ev, "text"));
	else if (num(ev, "total") > 0)
		(void)buf_printf(&b, "%s: %s %lld/%lld", str(ev, "worker"),
		    str(ev, "what"), num(ev, "done"), num(ev, "total"));
	if (p->tty && b.len > 0)
		plain_status(p, t, buf_str(&b));
	else if (b.len > 0)
		line(p, ev, "", buf_str(&b));
	buf_clear(&b);
}

static void
on_summary(struct plain *p, const json_t *ev)
{
	char tried[48] = "";

	if (strcmp(str(ev, "kind"), "explore") != 0)
		return;
	if (num(ev, "tried") > 0)
		(void)snprintf(tried, sizeof tried, " (%lld edit%s tried)",
		    num(ev, "tried"), num(ev, "tried") == 1 ? "" : "s");
	printed(p, ev, str(ev, "worker"), "%s: %s%s%s%s", str(ev, "label"),
	    str(ev, "verdict"), *str(ev, "reason") != '\0' ? ", " : "",
	    str(ev, "reason"), tried);
}

static void
on_verify_started(struct plain *p, const json_t *ev)
{
	const char *host = p->others ? str(ev, "host") : "";
	char *doing =
	    xasprintf("verifies the patch of %s", str(ev, "candidate"));

	plain_goes(p, time_of(ev), str(ev, "worker"), doing);
	free(doing);
	printed(p, ev, str(ev, "worker"),
	    "verifies the patch of %s in a fresh sandbox%s%s",
	    str(ev, "candidate"), *host != '\0' ? " on " : "", host);
}

static void
on_verified(struct plain *p, const json_t *ev)
{
	plain_goes(p, 0, "", NULL);
	printed(p, ev, "verified", "%s: %s%s%s", str(ev, "candidate"),
	    json_is_true(json_object_get(ev, "ok")) ? "it holds" : "refused",
	    *str(ev, "reason") != '\0' ? ": " : "", str(ev, "reason"));
}

static void
on_reproduced(struct plain *p, const json_t *ev)
{
	const json_t *v;
	size_t i;

	plain_goes(p, 0, "", NULL);
	printed(p, ev, "reproduced", "`%s` fails with: %s", str(ev, "command"),
	    str(ev, "expect"));
	json_array_foreach (json_object_get(ev, "files"), i, v)
		printed(p, ev, "", "adds: %s", json_string_value(v));
	output_tail(p, ev);
}

static void
on_reproducer_refused(struct plain *p, const json_t *ev)
{
	printed(
	    p, ev, "refused", "%s: %s", str(ev, "label"), str(ev, "reason"));
}

static void
on_worker_gone(struct plain *p, const json_t *ev)
{
	const char *why = str(ev, "reason");

	if (strcmp(why, "exited") == 0 || strcmp(why, "cancelled") == 0 ||
	    strcmp(why, "stopped") == 0)
		return;
	printed(p, ev, str(ev, "worker"), "gone: %s%s%s", why,
	    *str(ev, "detail") != '\0' ? ": " : "", str(ev, "detail"));
}

static void
on_host_down(struct plain *p, const json_t *ev)
{
	printed(p, ev, "host", "%s is lost: %s", str(ev, "host"),
	    str(ev, "reason"));
}

static void
on_host_aside(struct plain *p, const json_t *ev)
{
	printed(p, ev, "host", "%s is set aside for %lld s: %s",
	    str(ev, "host"), num(ev, "seconds"), str(ev, "reason"));
}

static void
on_door_lost(struct plain *p, const json_t *ev)
{
	printed(p, ev, "host", "no more can come in: %s", str(ev, "reason"));
}

static void
on_waiting(struct plain *p, const json_t *ev)
{
	p->begun = true;
	printed(
	    p, ev, "host", "none there: waiting at %s", str(ev, "endpoint"));
}

static void
on_host_up(struct plain *p, const json_t *ev)
{
	p->begun = true;
	if (*str(ev, "address") == '\0')
		return;
	p->others = true;
	printed(p, ev, "host", "%s has come from %s: %lld slots",
	    str(ev, "host"), str(ev, "address"), num(ev, "slots"));
}

static void
on_host_refused(struct plain *p, const json_t *ev)
{
	printed(p, ev, "host", "refused: %s: %s", str(ev, "address"),
	    str(ev, "reason"));
}

/* A price that is not known is no price of nothing; the built-in model has no
 * bill. */
static void
put_bill(struct plain *p, const json_t *ev, const json_t *usage)
{
	double usd = json_real_value(json_object_get(usage, "cost_usd"));
	double wall = json_real_value(json_object_get(ev, "wall_s"));
	long long tokens = num(usage, "in_tokens") + num(usage, "out_tokens");
	long long calls = num(usage, "calls");

	if (tokens > 0 && usd == 0)
		printed(p, ev, "",
		    "%lld model call%s, %lld tokens (price not known), %.1f s",
		    calls, calls == 1 ? "" : "s", tokens, wall);
	else if (usd > 0)
		printed(p, ev, "", "%lld model call%s, $%.4f, %.1f s", calls,
		    calls == 1 ? "" : "s", usd, wall);
}

static bool
goes_on(const char *status)
{
	return strcmp(status, "interrupted") == 0 ||
	    strcmp(status, "budget") == 0 || strcmp(status, "error") == 0;
}

/* No patch: where to look, and how to go on. What was asked for can't be asked
 * for in other words by a resume. */
static void
put_next(struct plain *p, const json_t *ev)
{
	const char *run = str(ev, "run");

	if (num(ev, "exit") == EXIT_USAGE && !p->resumed)
		printed(p, ev, "",
		    "`foray show %s` shows the record; `foray run` with "
		    "another -t (-k) starts anew",
		    run);
	else if (goes_on(str(ev, "status")))
		printed(p, ev, "",
		    "`foray show %s` shows what was tried, `foray resume %s` "
		    "carries on",
		    run, run);
	else
		printed(p, ev, "", "`foray show %s` shows what was tried", run);
}

static void
on_run_finished(struct plain *p, const json_t *ev)
{
	const json_t *u = json_object_get(ev, "usage"), *v;
	const char *status = str(ev, "status"), *reason = str(ev, "reason");
	size_t i;

	plain_goes(p, 0, "", NULL);
	printed(p, ev, status, "%s",
	    strcmp(status, reason) != 0 ? reason : "by a signal");
	json_array_foreach (json_object_get(ev, "warnings"), i, v)
		printed(p, ev, "warning", "%s", json_string_value(v));
	json_array_foreach (json_object_get(ev, "others"), i, v)
		printed(p, ev, "", "%s holds, too: %s (%s)",
		    str(v, "candidate"), str(v, "fix"), str(v, "patch"));
	json_array_foreach (json_object_get(ev, "protected"), i, v)
		printed(p, ev, "protected",
		    "%s could not be changed: the test commands name or run "
		    "it. Only if the bug, and no test, is in there: "
		    "--unprotect %s",
		    json_string_value(v), json_string_value(v));
	put_bill(p, ev, u);
	if (strcmp(str(ev, "evidence"), "reproducer") == 0)
		printed(p, ev, "evidence",
		    "a test that a worker wrote; the patch has it, read it");
	if (json_is_true(json_object_get(ev, "applied")))
		printed(p, ev, "patch", "%s, applied to the tree",
		    str(ev, "patch"));
	else if (*str(ev, "branch") != '\0')
		printed(p, ev, "patch", "%s, committed on branch %s",
		    str(ev, "patch"), str(ev, "branch"));
	else if (json_object_get(ev, "patch") != NULL)
		printed(p, ev, "patch",
		    "%s (`foray diff` shows it, `foray apply` applies it)",
		    str(ev, "patch"));
	else if (p->begun)
		put_next(p, ev);
}

static void
on_reviewed(struct plain *p, const json_t *ev)
{
	printed(p, ev, "reviewed", "%s: %s%s%s", str(ev, "candidate"),
	    json_is_true(json_object_get(ev, "ok")) ? "no objection"
						    : "an objection",
	    *str(ev, "reason") != '\0' ? ": " : "", str(ev, "reason"));
}

static void
on_permission(struct plain *p, const json_t *ev)
{
	bool allow = strcmp(str(ev, "verdict"), "allow") == 0;

	printed(p, ev, str(ev, "worker"), "%s (%s): %s",
	    allow ? "allowed" : "denied", str(ev, "by"), str(ev, "reason"));
}

static void
on_monitor(struct plain *p, const json_t *ev)
{
	printed(p, ev, str(ev, "worker"), "monitor, %s: %s: %s (%s: %s)",
	    str(ev, "action"), str(ev, "rule"), str(ev, "why"), str(ev, "act"),
	    str(ev, "subject"));
}

static void
on_hook(struct plain *p, const json_t *ev)
{
	const char *verdict = str(ev, "verdict");
	const char *warning = str(ev, "warning");

	if (strcmp(verdict, "deny") == 0)
		printed(p, ev,
		    *str(ev, "worker") != '\0' ? str(ev, "worker") : "hook",
		    "denied (%s hook): %s", str(ev, "on"), str(ev, "reason"));
	else if (*warning != '\0' && !strv_has(&p->warned, warning)) {
		/* Each time is on record; for a person once is enough. */
		printed(p, ev, "hook", "%s", warning);
		if (p->warned.n < WARNED_MAX)
			strv_add(&p->warned, warning);
	}
}

void
plain_hold(struct plain *p, bool hold)
{
	if (hold)
		plain_clear(p);
	p->held = hold;
}

static const struct {
	const char *name;
	void (*show)(struct plain *, const json_t *);
} rows[] = {
	{ "run_started", on_run_started },
	{ "reviewed", on_reviewed },
	{ "permission", on_permission },
	{ "monitor", on_monitor },
	{ "hook", on_hook },
	{ "snapshot", on_snapshot },
	{ "baseline", on_baseline },
	{ "planned", on_planned },
	{ "assigned", on_assigned },
	{ "progress", on_progress },
	{ "summary", on_summary },
	{ "verify_started", on_verify_started },
	{ "verified", on_verified },
	{ "reproduced", on_reproduced },
	{ "reproducer_refused", on_reproducer_refused },
	{ "worker_gone", on_worker_gone },
	{ "host_up", on_host_up },
	{ "door_lost", on_door_lost },
	{ "host_aside", on_host_aside },
	{ "host_down", on_host_down },
	{ "host_refused", on_host_refused },
	{ "waiting", on_waiting },
	{ "run_finished", on_run_finished },
};

void
plain_event(struct plain *p, const char *name, const json_t *event)
{
	size_t i;

	for (i = 0; i < nitems(rows); i++)
		if (strcmp(rows[i].name, name) == 0)
			rows[i].show(p, event);
	(void)fflush(p->out);
}
