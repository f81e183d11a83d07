/*
 * verify_tests.c - do the tests that failed pass now, and those that passed
 * still?
 */
#include "common/compat.h"

#include "common/log.h"
#include "worker/agent/baseline.h"
#include "worker/agent/output.h"
#include "worker/agent/restore.h"
#include "worker/agent/verify.h"

#define LEAST_LIMIT_MS 10000
#define TIMES 10
#define NAMES_MAX 1000

static bool
in_list(const struct msg_strs *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (strcmp(list->v[i], name) == 0)
			return true;
	}
	return false;
}

/* Names that the baseline could not all hold are no measure of what is new. */
static bool
is_full(const struct msg_strs *list)
{
	return list->n >= 200;
}

/* Where a reproducer shows the bug, all passed before it: then all must pass.
 */
static bool
has_reproducer(const struct agent *a)
{
	return a->task->base_patch_len > 0;
}

/* The first command must come to pass; names that fail in another one must
 * have failed before. A reproducer has its names from a model: they excuse
 * nothing. Returns the name that is against it, or NULL. */
static const char *
against(const struct agent *a, const struct test_run *t)
{
	const struct msg_task *task = a->task;
	size_t i, k;

	for (i = 0; i < t->n; i++) {
		for (k = 0; k < t->v[i].failed.n; k++) {
			const char *s = t->v[i].failed.v[k];

			if (in_list(&task->flaky, s) &&
			    !(has_reproducer(a) && i == 0))
				continue;
			if (i > 0 && !has_reproducer(a) &&
			    (in_list(&task->failing, s) ||
				is_full(&task->failing)))
				continue;
			return s;
		}
	}
	return NULL;
}

/* Tests that no longer run, for they were deleted or are skipped: how many. */
static uint64_t
missing(const struct agent *a, const struct test_run *t, const char **ret_name)
{
	const struct msg_task *task = a->task;
	size_t first = has_reproducer(a); /* it was not there then */
	uint64_t want = task->tests_passed, have, skipped = 0;
	bool exact = !has_reproducer(a), all_names = true;
	size_t i;

	*ret_name = NULL;
	for (i = 0; i < t->n; i++) {
		exact = exact && (t->v[i].exact || !t->v[i].parsed);
		all_names = all_names && t->v[i].all_names;
	}
	for (i = first; i < t->n; i++)
		skipped += t->v[i].n_skipped;
	have = baseline_steady(t, first, task->flaky.v, task->flaky.n);
	for (i = 0; i < task->failing.n && task->per_test; i++) {
		const char *s = task->failing.v[i];

		if (test_run_failed(t, s) || test_run_passed(t, s))
			continue;
		/* "tests/x.py" and commands stand for what did not load. */
		if (all_names && strstr(s, "::") != NULL) {
			*ret_name = s;
			return 1;
		}
	}
	/* Each that failed and no longer does must have passed. */
	for (i = 0; i < task->failing.n && exact && task->per_test; i++)
		want += !test_run_failed(t, task->failing.v[i]);
	if (want > task->tests_passed && skipped == 0)
		want = task->tests_passed;
	for (i = 0; i < task->failing.n && have < want && skipped > 0; i++) {
		const char *s = task->failing.v[i];

		if (*ret_name == NULL && !test_run_failed(t, s) &&
		    !test_run_passed(t, s))
			*ret_name = s;
	}
	return have < want ? want - have : 0;
}

/* Does the reproducer still run, and all of it? The reason why not; yours. */
static char *
reproducer_gone(const struct agent *a, const struct test_run *t)
{
	char *why;

	if (!has_reproducer(a) || t->n == 0)
		return NULL;
	if ((why = test_command_trouble(a->task->tests.v[0], &t->v[0])) != NULL)
		return why;
	if (t->v[0].n_passed > 0 && t->v[0].n_skipped == 0)
		return NULL;
	return xasprintf("the reproducer no longer runs: %llu tests pass, %llu "
			 "are skipped",
	    (unsigned long long)t->v[0].n_passed,
	    (unsigned long long)t->v[0].n_skipped);
}

static void
fill(struct agent *a, const struct test_run *t)
{
	struct outcome *o = &a->out;
	size_t i, k;

	for (i = 0; i < t->n; i++) {
		for (k = 0; k < t->v[i].failed.n; k++) {
			if (o->failing.n < NAMES_MAX &&
			    !strv_has(&o->failing, t->v[i].failed.v[k]))
				strv_add(&o->failing, t->v[i].failed.v[k]);
		}
		if (t->v[i].failed.n > 0 && o->output.len == 0)
			(void)output_add(&o->output, buf_str(&t->v[i].output),
			    t->v[i].output.len, OUTPUT_MAX);
	}
	o->tests_passed = t->n_passed;
	o->tests_failed = t->n_failed;
	o->per_test = t->per_test;
	o->test_ms = t->longest_ms;
	o->slowest_ms = t->slowest_ms;
}

static bool
timed_out(struct agent *a, const struct test_run *t, uint64_t limit)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		if (!t->v[i].timed_out)
			continue;
		agent_end(a, "refuted",
		    "the test command `%.200s` timed out after %llu s",
		    a->task->tests.v[i], (unsigned long long)(limit / 1000));
		return true;
	}
	return false;
}

/* The patch can end the process, and only its exit status speaks for it. */
static const char *
nothing_but_exit(const struct verify *v, const struct test_run *t)
{
	return !t->per_test && v->signs.exits.n > 0 ? v->signs.exits.v[0]
						    : NULL;
}

/* Names of tests that passed were there before. */
static bool
names_gone(const struct agent *a, const struct test_run *t)
{
	size_t i;

	for (i = has_reproducer(a); i < t->n; i++) {
		if (!t->v[i].parsed)
			return a->task->per_test && a->task->tests_passed > 0;
	}
	return false;
}

/* A command whose exit status is all that it says, and no test that had to fail
 * showed that it can fail: a person is told. */
static void
warn_of_exit(struct agent *a, const struct test_run *t)
{
	size_t i = has_reproducer(a);

	while (i < t->n && t->v[i].parsed)
		i++;
	if (i < t->n)
		strv_addf(&a->out.findings,
		    "only the exit status of `%.200s` says that the tests pass "
		    "with the patch: it names none",
		    i < a->task->tests.n ? a->task->tests.v[i] : "");
}

static void
judge(struct verify *v, uint64_t limit, const struct test_run *t)
{
	struct agent *a = v->a;
	const struct msg_task *task = a->task;
	const char *name;
	uint64_t gone;
	char *why = NULL;
	bool can_fail = false;

	/* What can't be written is no matter of trust; here it could be. */
	if ((name = restore_changed(a->restore)) != NULL)
		agent_end(a, "refuted",
		    "%.300s is protected and was changed while the tests ran",
		    name);
	else if ((name = against(a, t)) != NULL)
		agent_end(a, "refuted", "%s: %.300s",
		    in_list(&task->failing, name) ? "it still fails"
						  : "a test fails now",
		    name);
	else if (t->n > 0 && t->v[0].status != 0 && t->v[0].failed.n == 0)
		agent_end(a, "refuted", "the test command exits with %d",
		    t->v[0].status);
	else if ((why = reproducer_gone(a, t)) != NULL)
		agent_end(a, "refuted", "%s", why);
	else if (names_gone(a, t))
		agent_end(a, "refuted",
		    "the output no longer says which tests passed, as it did "
		    "before (`%.200s`)",
		    task->tests.v[t->n - 1]);
	else if ((name = nothing_but_exit(v, t)) != NULL)
		agent_end(a, "refuted",
		    "only the exit status says that the tests pass, and the "
		    "patch can set it: %.600s",
		    name);
	else if ((gone = missing(a, t, &name)) > 0 && name != NULL &&
	    t->n_skipped > 0)
		agent_end(a, "refuted",
		    "a test that failed is skipped now: %.300s (%llu are "
		    "skipped)",
		    name, (unsigned long long)t->n_skipped);
	else if (gone > 0 && name != NULL)
		agent_end(a, "refuted",
		    "a test that failed no longer runs (deleted or skipped): "
		    "%.300s",
		    name);
	else if (gone > 0)
		agent_end(a, "refuted",
		    "%llu tests that ran before are skipped or gone (%llu "
		    "passed before, %llu now, %llu skipped)",
		    (unsigned long long)gone,
		    (unsigned long long)task->tests_passed,
		    (unsigned long long)t->n_passed,
		    (unsigned long long)t->n_skipped);
	else if ((why = verify_control(v, limit, t, &can_fail)) != NULL)
		agent_end(a, "refuted", "%s", why);
	else
		agent_end(a, "fixed", "%llu test%s",
		    (unsigned long long)t->n_passed,
		    t->n_passed == 1 ? " passes" : "s pass");
	if (!can_fail && strcmp(a->out.verdict, "fixed") == 0)
		warn_of_exit(a, t);
	free(why);
}

void
verify_tests(struct verify *v)
{
	struct agent *a = v->a;
	uint64_t limit = a->task->test_ms * TIMES;
	struct test_run t = { 0 };
	struct err e;

	if (limit < LEAST_LIMIT_MS)
		limit = LEAST_LIMIT_MS;
	if (a->task->call_ms > 0 && limit > a->task->call_ms)
		limit = a->task->call_ms;
	if (test_run(a, limit, 0, &t, &e) < 0) {
		agent_end(a, "error", "%s", e.text);
	} else {
		fill(a, &t);
		if (!timed_out(a, &t, limit))
			judge(v, limit, &t);
	}
	test_run_clear(&t);
}
