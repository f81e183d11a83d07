/*
 * baseline.c - the tests as they are, twice, before anything is changed: what
 * fails, what is flaky, how long it takes.
 */
#include "common/compat.h"

#include "common/log.h"
#include "worker/agent/agent.h"
#include "worker/agent/baseline.h"
#include "worker/agent/collect.h"
#include "worker/agent/command.h"
#include "worker/agent/exec.h"
#include "worker/agent/output.h"

#define NAMES_MAX 1000
/* A loop that a test is in is a failure, not a slow test: processor time that
 * leads to nothing. The second time it is no surprise. */
#define STALL_MS 15000
#define STALL_AGAIN_MS 5000
#define CHECK_MS 3000
#define LIMIT_MS 1800000 /* of a command, when TASK sets none */

/* A command that can't run its tests ends the run here. */
static bool
has_trouble(struct agent *a, const char *verdict, const struct test_run *t)
{
	size_t i;
	char *why;

	for (i = 0; i < t->n; i++) {
		why = test_command_trouble(a->task->tests.v[i], &t->v[i]);
		if (why == NULL)
			why = collect_trouble(a->task->tests.v[i], &t->v[i],
			    a->cfg.root, a->cfg.workdir,
			    msg_str(a->task->prompt)[0] != '\0');
		if (why == NULL)
			continue;
		why = collect_offer(why, a->task->tests.v[i], &t->v[i],
		    strv_getenv(&a->cfg.inner.env, "PATH"));
		(void)output_add(&a->out.output, buf_str(&t->v[i].output),
		    t->v[i].output.len, OUTPUT_MAX);
		agent_end(a, verdict, "%s", why);
		free(why);
		return true;
	}
	return false;
}

static void
merge(struct strv *dst, const char *name)
{
	/* More than a summary holds; a hostile runner may name any number. */
	if (dst->n < NAMES_MAX && !strv_has(dst, name))
		strv_add(dst, name);
}

/* Names that fail in one run only are flaky, those in both fail. */
static void
compare(struct agent *a, const struct test_run *one, const struct test_run *two)
{
	size_t i, k;

	for (i = 0; i < one->n; i++) {
		for (k = 0; k < one->v[i].failed.n; k++) {
			const char *s = one->v[i].failed.v[k];

			merge(test_run_failed(two, s) ? &a->out.failing
						      : &a->out.flaky,
			    s);
		}
	}
	for (i = 0; i < two->n; i++) {
		for (k = 0; k < two->v[i].failed.n; k++) {
			const char *s = two->v[i].failed.v[k];

			if (!test_run_failed(one, s))
				merge(&a->out.flaky, s);
		}
	}
	strv_sort(&a->out.failing);
	strv_sort(&a->out.flaky);
}

static void
show_failing(struct agent *a, const struct test_run *t)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		if (t->v[i].failed.n == 0)
			continue;
		(void)output_add(&a->out.output, buf_str(&t->v[i].output),
		    t->v[i].output.len, OUTPUT_MAX);
		return;
	}
}

uint64_t
baseline_steady(const struct test_run *t, size_t first,
    const char *const *flaky, size_t n_flaky)
{
	uint64_t n = 0, shy = 0;
	size_t i;

	for (i = first; i < t->n; i++)
		n += t->v[i].n_passed;
	for (i = 0; i < n_flaky; i++)
		shy += !test_run_failed(t, flaky[i]);
	return n > shy ? n - shy : 0;
}

static uint64_t
larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void
measure(struct agent *a, const struct test_run *one, const struct test_run *two)
{
	struct outcome *o = &a->out;
	const char *const *flaky;
	uint64_t n;

	compare(a, one, two);
	flaky = (const char *const *)o->flaky.v;
	o->tests_passed = baseline_steady(one, 0, flaky, o->flaky.n);
	n = baseline_steady(two, 0, flaky, o->flaky.n);
	if (n < o->tests_passed)
		o->tests_passed = n;
	o->tests_failed = larger(one->n_failed, two->n_failed);
	o->per_test = one->per_test && two->per_test;
	o->test_ms = larger(one->longest_ms, two->longest_ms);
	o->slowest_ms = larger(one->slowest_ms, two->slowest_ms);
	show_failing(a, o->failing.n > 0 || one->n_failed > 0 ? one : two);
}

static bool
run_once(
    struct agent *a, const char *verdict, uint64_t stall_ms, struct test_run *t)
{
	uint64_t limit = a->task->call_ms > 0 ? a->task->call_ms : LIMIT_MS;
	struct err e;

	if (test_run(a, limit, stall_ms, t, &e) < 0) {
		agent_end(a, "error", "%s", e.text);
		return false;
	}
	return !has_trouble(a, verdict, t);
}

static bool
is_stalled(const struct test_run *t)
{
	size_t i;

	for (i = 0; i < t->n && !t->v[i].stalled; i++)
		;
	return i < t->n;
}

bool
baseline_twice(struct agent *a, const char *verdict, struct test_run *one,
    struct test_run *two)
{
	*one = *two = (struct test_run){ 0 };
	if (!run_once(a, verdict, STALL_MS, one) ||
	    !run_once(
		a, verdict, is_stalled(one) ? STALL_AGAIN_MS : STALL_MS, two))
		return false;
	measure(a, one, two);
	return true;
}

/* A check that can't run refuses every fix: better said now. What takes longer
 * than a moment was found, and what it says of the tree is nothing new. */
static bool
can_check(struct agent *a, const char *cmd)
{
	struct exec x = { .timeout_ms = CHECK_MS };
	struct sandbox_spec spec;
	struct buf raw;
	char last[200];
	struct err e;
	bool ok;

	if (agent_audit(a, "test", cmd, NULL, &e) < 0) {
		agent_end(a, "error", "check `%.200s`: %s", cmd, e.text);
		return false;
	}
	command_spec(a, &a->cfg.inner, cmd, &spec);
	x.spec = &spec;
	buf_init(&raw, BUF_NOMAX);
	ok = exec_run(&x, &e) == 0;
	if (!ok) {
		agent_end(a, "error", "%s", e.text);
	} else if (!x.timed_out && (x.status == 127 || x.status == 126)) {
		(void)exec_text(&x, &raw);
		output_last_line(buf_str(&raw), raw.len, last, sizeof last);
		agent_end(a, "error",
		    "the check `%.200s` can't run: %s (%s). %s, or give "
		    "another with -k",
		    cmd,
		    x.status == 127 ? "command not found" : "not executable",
		    last, x.status == 127 ? "Install it" : TESTRUN_NO_EXEC);
		ok = false;
	}
	buf_clear(&raw);
	exec_clear(&x);
	spec_clear(&spec);
	return ok;
}

static bool
can_check_all(struct agent *a)
{
	size_t i;

	for (i = 0; i < a->task->checks.n; i++)
		if (!can_check(a, a->task->checks.v[i]))
			return false;
	return true;
}

void
baseline_run(struct agent *a)
{
	struct test_run one, two;

	if (a->task->tests.n == 0) {
		agent_end(a, "error",
		    "there is no test command: give one with "
		    "-t");
		return;
	}
	if (baseline_twice(a, "error", &one, &two) && can_check_all(a))
		agent_end(a, "done", "%llu passed, %zu failing, %zu flaky",
		    (unsigned long long)a->out.tests_passed, a->out.failing.n,
		    a->out.flaky.n);
	test_run_clear(&one);
	test_run_clear(&two);
}
