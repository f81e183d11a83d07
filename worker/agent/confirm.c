/*
 * confirm.c - does this reproducer show the bug? In a fresh workspace that has
 * its files, all tests run twice: its command fails both times in the same way
 * and for the reason given, and what passed before passes still.
 *
 * A test runner may find the new test by itself; where it fails there it is the
 * reproducer's own, by its name, and no objection.
 */
#include "common/compat.h"

#include <ctype.h>

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/changes.h"
#include "worker/agent/baseline.h"
#include "worker/agent/output.h"

#define STEM_LEAST 4
#define LINE_MAX_BYTES 4096

static int
apply(struct agent *a)
{
	const char *patch = a->task->patch;
	size_t len = a->task->patch_len;
	struct err e;

	if (patch_paths(patch, len, &a->reproducer, &e) == 0 &&
	    patch_apply(a->cfg.root, patch, len, false, &e) == 0)
		return 0;
	agent_end(a, "refuted", "its patch does not apply: %s", e.text);
	return -1;
}

/* --- its own command ----------------------------------------------------- */

/* As it came, or as the model was shown it. */
static bool
holds(const struct test_command *c, const char *expect)
{
	struct buf clean;
	bool found;

	buf_init(&clean, BUF_NOMAX);
	if (c->output.len > 0)
		(void)text_clean(
		    &clean, buf_str(&c->output), c->output.len, LINE_MAX_BYTES);
	found = memmem(buf_str(&c->output), c->output.len, expect,
		    strlen(expect)) != NULL ||
	    memmem(buf_str(&clean), clean.len, expect, strlen(expect)) != NULL;
	buf_clear(&clean);
	return found;
}

static bool
shows_bug(struct agent *a, const struct test_command *c)
{
	const char *expect = msg_str(a->task->expect);
	char last[300];

	if (c->status == 0) {
		agent_end(a, "refuted",
		    "its command exits with 0 although nothing is fixed: it "
		    "does not show the bug");
	} else if (c->n_skipped > 0) {
		agent_end(a, "refuted", "its command skips %llu tests",
		    (unsigned long long)c->n_skipped);
	} else if (*expect == '\0' || !holds(c, expect)) {
		output_last_line(
		    buf_str(&c->output), c->output.len, last, sizeof last);
		agent_end(a, "refuted",
		    "it fails for another reason: \"%.300s\" is not in its "
		    "output, whose last line is: %s",
		    expect, last);
	}
	return a->out.verdict == NULL;
}

static bool
same_names(const struct strv *x, const struct strv *y)
{
	size_t i;

	if (x->n != y->n)
		return false;
	for (i = 0; i < x->n; i++) {
		if (strcmp(x->v[i], y->v[i]) != 0)
			return false;
	}
	return true;
}

/* --- the others ---------------------------------------------------------- */

static bool
is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Is the file's name, without its suffix, a whole word of the test's? */
static bool
names_file(const char *test, const char *rel)
{
	const char *base = path_base(rel), *at = test;
	size_t n = strcspn(base, ".");
	char *stem;
	bool found = false;

	if (n < STEM_LEAST)
		return false;
	stem = xstrndup(base, n);
	while (!found && (at = strstr(at, stem)) != NULL) {
		found = (at == test || !is_word(at[-1])) && !is_word(at[n]);
		at++;
	}
	free(stem);
	return found;
}

static bool
is_own(const struct agent *a, const struct test_command *own, const char *test)
{
	size_t i;

	if (strv_has(&own->failed, test))
		return true;
	for (i = 0; i < a->reproducer.n; i++) {
		if (names_file(test, a->reproducer.v[i]))
			return true;
	}
	return false;
}

static bool
is_flaky(const struct agent *a, const char *test)
{
	const struct msg_strs *list = &a->task->flaky;
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (strcmp(list->v[i], test) == 0)
			return true;
	}
	return false;
}

/* Nothing but its own tests fails, and those do so in the other run, too. */
static bool
others_pass(
    struct agent *a, const struct test_run *t, const struct test_run *other)
{
	const struct msg_task *task = a->task;
	size_t i, k;

	for (i = 1; i < t->n; i++) {
		for (k = 0; k < t->v[i].failed.n; k++) {
			const char *s = t->v[i].failed.v[k];

			if (is_flaky(a, s) ||
			    (is_own(a, &t->v[0], s) &&
				test_run_failed(other, s)))
				continue;
			agent_end(a, "refuted",
			    "with its files in place a test that passed "
			    "before fails: %.300s (of `%.300s`)",
			    s, task->tests.v[i]);
			return false;
		}
	}
	if (baseline_steady(t, 1, task->flaky.v, task->flaky.n) >=
	    task->tests_passed)
		return true;
	agent_end(a, "refuted",
	    "with its files in place fewer tests pass than the %llu before",
	    (unsigned long long)task->tests_passed);
	return false;
}

static void
judge(struct agent *a, const struct test_run *one, const struct test_run *two)
{
	if (!shows_bug(a, &one->v[0]) || !shows_bug(a, &two->v[0]))
		return;
	if (!same_names(&one->v[0].failed, &two->v[0].failed))
		agent_end(a, "refuted",
		    "it does not fail the same way twice: it must be "
		    "deterministic");
	else if (others_pass(a, one, two) && others_pass(a, two, one))
		agent_end(a, "done",
		    "it fails twice with \"%.300s\"; %llu other tests pass",
		    a->task->expect, (unsigned long long)a->out.tests_passed);
}

void
confirm_run(struct agent *a)
{
	struct test_run one = { 0 }, two = { 0 };

	if (a->task->tests.n < 2)
		agent_end(a, "error", "there is no test command");
	else if (apply(a) == 0 && baseline_twice(a, "refuted", &one, &two))
		judge(a, &one, &two);
	test_run_clear(&one);
	test_run_clear(&two);
}
