/*
 * baseline.c - the tests as they are, twice, before anything is changed: what
 * fails, what is flaky, how long it takes.
 */
#include "common/compat.h"

#include "common/log.h"
#include "worker/agent/agent.h"
#include "worker/agent/output.h"
#include "worker/agent/testrun.h"

#define NAMES_MAX 1000
#define LIMIT_MS 1800000 /* of a command, when TASK sets none */

/* A command that can't run its tests ends the run here. */
static bool
has_trouble(struct agent *a, const struct test_run *t)
{
	size_t i;
	char *why;

	for (i = 0; i < t->n; i++) {
		why = test_command_trouble(a->task->tests.v[i], &t->v[i]);
		if (why == NULL)
			continue;
		(void)output_add(&a->out.output, buf_str(&t->v[i].output),
		    t->v[i].output.len, OUTPUT_MAX);
		agent_end(a, "error", "%s", why);
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

/* How many passed whatever happens: flaky ones that passed now don't count. */
static uint64_t
steady(const struct test_run *t, const struct strv *flaky)
{
	uint64_t n = t->n_passed, shy = 0;
	size_t i;

	for (i = 0; i < flaky->n; i++)
		shy += !test_run_failed(t, flaky->v[i]);
	return n > shy ? n - shy : 0;
}

void
baseline_run(struct agent *a)
{
	struct test_run one = { 0 }, two = { 0 };
	uint64_t limit, n;
	struct err e;

	if (a->task->tests.n == 0) {
		agent_end(a, "error",
		    "there is no test command: give one with "
		    "-t");
		return;
	}
	limit = a->task->call_ms > 0 ? a->task->call_ms : LIMIT_MS;
	if (test_run(a, limit, &one, &e) < 0) {
		agent_end(a, "error", "%s", e.text);
		goto out;
	}
	if (has_trouble(a, &one))
		goto out;
	if (test_run(a, limit, &two, &e) < 0) {
		agent_end(a, "error", "%s", e.text);
		goto out;
	}
	if (has_trouble(a, &two))
		goto out;
	compare(a, &one, &two);
	a->out.tests_passed = steady(&one, &a->out.flaky);
	n = steady(&two, &a->out.flaky);
	if (n < a->out.tests_passed)
		a->out.tests_passed = n;
	a->out.tests_failed =
	    one.n_failed > two.n_failed ? one.n_failed : two.n_failed;
	a->out.per_test = one.per_test && two.per_test;
	a->out.test_ms =
	    one.longest_ms > two.longest_ms ? one.longest_ms : two.longest_ms;
	a->out.slowest_ms =
	    one.slowest_ms > two.slowest_ms ? one.slowest_ms : two.slowest_ms;
	show_failing(a, a->out.failing.n > 0 || one.n_failed > 0 ? &one : &two);
	agent_end(a, "done", "%llu passed, %zu failing, %zu flaky",
	    (unsigned long long)a->out.tests_passed, a->out.failing.n,
	    a->out.flaky.n);
out:
	test_run_clear(&one);
	test_run_clear(&two);
}
