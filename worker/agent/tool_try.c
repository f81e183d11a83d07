/*
 * tool_try.c - try_edits: many alternative edits, one check, several at once.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/loop.h"
#include "common/text.h"
#include "worker/agent/agent.h"
#include "worker/agent/candidate.h"
#include "worker/agent/output.h"
#include "worker/agent/tool.h"

#define EDITS_MAX 200
#define WHY_MAX 121
#define LABEL_MAX 40
#define PROGRESS_MS 500
/* A sandbox that can't be set up says nothing of the edit. */
#define SANDBOX_TRIES 3

struct trial {
	struct agent *a;
	const json_t *edits;
	const char *check;
	uint64_t timeout_ms;
	bool stop_on_pass;
	uint64_t end_ms; /* of all together; 0: none */
	size_t n;        /* edits */
	size_t next;     /* not yet started */
	size_t done;
	bool stopped;
	json_t *passed;
	json_t **results;  /* n of them, NULL: not tried */
	struct err broken; /* code != 0: no copies can be made */
	uint64_t told_ms;
};

/* Where one candidate at a time runs. */
struct slot {
	struct candidate c;
	size_t i; /* of its edit */
	unsigned tries;
};

static void
record(struct trial *t, size_t i, bool pass, const char *why)
{
	json_t *j = json_object();
	const char *label = arg_str(json_array_get(t->edits, i), "label", NULL);

	json_object_set_new(j, "n", json_integer((json_int_t)i + 1));
	if (label != NULL)
		json_object_set_new(j, "label",
		    json_str_lossy(
			label, text_cut(label, strlen(label), LABEL_MAX)));
	json_object_set_new(j, "pass", json_boolean(pass));
	if (why != NULL)
		json_object_set_new(j, "why",
		    json_str_lossy(
			why, text_cut(why, strlen(why), WHY_MAX - 1)));
	t->results[i] = j;
	t->done++;
	if (pass) {
		json_array_append_new(
		    t->passed, json_integer((json_int_t)i + 1));
		if (t->stop_on_pass)
			t->stopped = true;
	}
}

static void
judge(struct trial *t, size_t i, const struct exec *x)
{
	char status[160], line[WHY_MAX], why[WHY_MAX + 80];
	struct buf raw;

	if (!x->timed_out && x->status == 0) {
		record(t, i, true, NULL);
		return;
	}
	buf_init(&raw, BUF_NOMAX);
	(void)exec_text(x, &raw);
	output_last_line(buf_str(&raw), raw.len, line, sizeof line);
	buf_clear(&raw);
	exec_status_str(x, status, sizeof status);
	snprintf(why, sizeof why, "%s%s%s",
	    text_starts(status, "exit status ") ? "exit " : "",
	    text_starts(status, "exit status ") ? status + 12 : status,
	    *line != '\0' ? ": " : "");
	(void)strlcat(why, line, sizeof why);
	record(t, i, false, why);
}

/* True: it runs. */
static bool
start(struct trial *t, struct slot *s, size_t i)
{
	struct err e;
	char why[WHY_MAX];
	int r;

	r = candidate_start(t->a, &s->c,
	    json_object_get(json_array_get(t->edits, i), "changes"), t->check,
	    t->timeout_ms, &e);
	if (r == 0) {
		s->i = i;
		s->tries++;
		return true;
	}
	if (r == ERR_SANDBOX) {
		t->broken = e;
		t->stopped = true;
		return false;
	}
	snprintf(why, sizeof why, "can't be applied: %.100s", e.text);
	record(t, i, false, why);
	return false;
}

static bool
start_next(struct trial *t, struct slot *s)
{
	s->tries = 0;
	while (t->next < t->n && !t->stopped) {
		if (start(t, s, t->next++)) {
			t->a->tried++;
			return true;
		}
	}
	return false;
}

/* True: it runs once more. */
static bool
finished(struct trial *t, struct slot *s)
{
	const struct exec *x = &s->c.x;
	bool again = !x->ran && s->tries < SANDBOX_TRIES && !t->stopped;

	flight_note(&t->a->flight, x);
	if (x->ran) {
		judge(t, s->i, x);
	} else if (again) {
		log_warn("a candidate's sandbox failed, once more: %.300s",
		    buf_str(&x->head));
	} else if (!t->stopped) {
		(void)err_set(&t->broken, ERR_SANDBOX,
		    "a candidate's sandbox failed %d times: %.300s",
		    SANDBOX_TRIES, buf_str(&x->head));
		t->stopped = true;
	}
	candidate_clear(&s->c);
	return again && start(t, s, s->i);
}

static void
tell(struct trial *t)
{
	uint64_t now = loop_now_ms();

	if (now - t->told_ms < PROGRESS_MS)
		return;
	t->told_ms = now;
	agent_progress_n(t->a, "try", t->done, t->n);
}

/* The time of all together is over: what runs now has no result. */
static bool
is_over(struct trial *t, struct slot *slots, struct exec **jobs, size_t par)
{
	size_t k;

	if (t->end_ms == 0 || loop_now_ms() < t->end_ms)
		return false;
	for (k = 0; k < par; k++) {
		if (jobs[k] == NULL)
			continue;
		candidate_clear(&slots[k].c);
		t->a->tried--;
	}
	return true;
}

static uint64_t
wait_ms(const struct trial *t)
{
	uint64_t now = loop_now_ms();

	if (t->end_ms == 0 || t->end_ms > now + PROGRESS_MS)
		return PROGRESS_MS;
	return t->end_ms > now ? t->end_ms - now : 0;
}

static void
run_all(struct trial *t)
{
	struct flight *f = &t->a->flight;
	size_t par = (size_t)t->a->cfg.parallel * FLIGHT_MORE;
	size_t running = 0, k;
	struct slot *slots = xcalloc(par, sizeof *slots);
	struct exec **jobs = xcalloc(par, sizeof(struct exec *)), *x;

	flight_begin(f, (size_t)t->a->cfg.parallel, t->check,
	    t->a->cfg.candidate.limits.memory_bytes);
	while (!is_over(t, slots, jobs, par)) {
		for (k = 0; k < par && running < flight_now(f); k++) {
			if (jobs[k] == NULL && start_next(t, &slots[k])) {
				jobs[k] = &slots[k].c.x;
				running++;
			}
		}
		if (running == 0)
			break;
		x = exec_wait(jobs, par, wait_ms(t));
		for (k = 0; k < par && x != NULL; k++) {
			if (jobs[k] != x || finished(t, &slots[k]))
				continue;
			jobs[k] = NULL;
			running--;
		}
		tell(t);
	}
	agent_progress_n(t->a, "try", t->done, t->n);
	free(slots);
	free(jobs);
}

/* What the record says of the edits: how many, and of which files. */
static char *
audit_detail(const json_t *edits)
{
	json_t *j = json_object(), *paths = json_array();
	const json_t *v, *ch;
	struct strv seen = { 0 };
	size_t i, k, bytes = 0;
	char *text;

	json_array_foreach (edits, i, v) {
		json_array_foreach (json_object_get(v, "changes"), k, ch) {
			const char *p = arg_str(ch, "path", "");

			/* Worst case of escaping, within AUDIT's 16 KiB. */
			if (strv_has(&seen, p))
				continue;
			if (bytes + strlen(p) * 6 > 12000) {
				json_object_set_new(j, "more", json_true());
				continue;
			}
			bytes += strlen(p) * 6 + 3;
			strv_add(&seen, p);
			json_array_append_new(paths, json_string(p));
		}
	}
	json_object_set_new(
	    j, "edits", json_integer((json_int_t)json_array_size(edits)));
	json_object_set_new(j, "paths", paths);
	text = json_text(j);
	json_decref(j);
	strv_clear(&seen);
	return text;
}

static char *
report(const struct trial *t)
{
	json_t *j = json_object(), *list = json_array();
	size_t i;
	char *text;

	json_object_set_new(j, "tried", json_integer((json_int_t)t->done));
	json_object_set(j, "passed", t->passed);
	for (i = 0; i < t->n; i++) {
		if (t->results[i] != NULL)
			json_array_append(list, t->results[i]);
	}
	json_object_set_new(j, "results", list);
	text = json_text(j);
	json_decref(j);
	return text;
}

static void
try_edits(struct agent *a, const json_t *args, struct tool_result *r)
{
	struct trial t = {
		.a = a,
		.edits = json_object_get(args, "edits"),
		.check = arg_str(args, "check", ""),
		.stop_on_pass = arg_bool(args, "stop_on_pass"),
		.told_ms = loop_now_ms(),
	};
	struct err e;
	uint64_t within_s;
	char *text;
	size_t i;
	int rc;

	t.n = json_array_size(t.edits);
	t.timeout_ms = agent_limit_s(a, arg_u64(args, "timeout_s", 0));
	if ((within_s = arg_u64(args, "within_s", 0)) > 0)
		t.end_ms = t.told_ms + agent_limit_s(a, within_s);
	if (t.n == 0 || t.n > EDITS_MAX) {
		tool_fail(r, "`edits` must hold 1 to %d edits", EDITS_MAX);
		return;
	}
	if (*t.check == '\0' || strlen(t.check) > AGENT_COMMAND_MAX) {
		tool_fail(r, "`check` must be a command of 1 to %d bytes",
		    AGENT_COMMAND_MAX);
		return;
	}
	text = audit_detail(t.edits);
	rc = agent_audit(a, "try", t.check, text, &e);
	free(text);
	if (rc < 0) {
		tool_fail_err(r, &e);
		return;
	}
	t.passed = json_array();
	t.results = xcalloc(t.n, sizeof(json_t *));
	run_all(&t);
	if (t.broken.code != 0) {
		tool_fail_err(r, &t.broken);
	} else {
		text = report(&t);
		(void)buf_adds(&r->text, text);
		free(text);
	}
	for (i = 0; i < t.n; i++)
		json_decref(t.results[i]);
	free(t.results);
	json_decref(t.passed);
}

const struct tool tool_try_edits = {
	"try_edits",
	"Try up to 200 alternative edits at once: each is applied to its own "
	"copy of the workspace as it is now, and the check command runs there. "
	"The result says which pass (exit status 0) and how the others failed. "
	"The workspace itself is not changed; apply the winner with edit_file.",
	"{\"type\":\"object\",\"properties\":{"
	"\"check\":{\"type\":\"string\",\"description\":\"shell command\"},"
	"\"edits\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
	"\"properties\":{\"label\":{\"type\":\"string\"},"
	"\"changes\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
	"\"properties\":{\"path\":{\"type\":\"string\"},"
	"\"old\":{\"type\":\"string\"},\"new\":{\"type\":\"string\"},"
	"\"line\":{\"type\":\"integer\"}},"
	"\"required\":[\"path\",\"old\",\"new\"]}}},"
	"\"required\":[\"changes\"]}},"
	"\"timeout_s\":{\"type\":\"integer\",\"description\":\"for each "
	"check\"},"
	"\"within_s\":{\"type\":\"integer\",\"description\":\"for all of "
	"them; what has no result by then is left out\"},"
	"\"stop_on_pass\":{\"type\":\"boolean\"}},"
	"\"required\":[\"check\",\"edits\"]}",
	try_edits,
};
