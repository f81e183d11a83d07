#include "common/compat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/text.h"
#include "orchestrator/run/reproduce.h"
#include "orchestrator/run/topology.h"

#define TESTS_MAX 64   /* of TASK.tests: there must be room for one */
#define WRONG_MAX 1000 /* bytes of why one was refused */

bool
reproduce_wanted(const struct run *r)
{
	return r->base.failing.n == 0 && r->o.task != NULL &&
	    r->tests.n < TESTS_MAX && strcmp(r->model, "builtin") != 0;
}

static unsigned
count(const struct run *r)
{
	const struct subtask *t;
	unsigned n = 0;

	TAILQ_FOREACH (t, &r->subtasks, entry)
		n += t->kind == KIND_REPRODUCE;
	return n;
}

void
reproduce_begin(struct run *r)
{
	char label[32];

	(void)snprintf(label, sizeof label, "reproduce-%u", count(r) + 1);
	(void)sched_add(r, KIND_REPRODUCE, label, NULL, NULL, NULL, 0);
}

struct subtask *
reproduce_of(const struct run *r, const char *label)
{
	struct subtask *t;

	TAILQ_FOREACH (t, &r->subtasks, entry)
		if (t->kind == KIND_REPRODUCE && t->repro != NULL &&
		    text_starts(label, "confirm-") &&
		    strcmp(label + strlen("confirm-"),
			t->label + strlen("reproduce-")) == 0)
			return t;
	return NULL;
}

/* --- what summaries say -------------------------------------------------- */

/* It holds names and words of others: made one clean line. */
static void
refuse(struct subtask *t, const char *why)
{
	char line[WRONG_MAX];

	(void)text_escape_to(line, sizeof line, why, strlen(why));
	t->wrong = xstrdup(line);
}

static void
refuse_verdict(struct subtask *t)
{
	char *why = xasprintf("it ended with \"%s\" in place of \"done\"%s%s",
	    t->verdict, *t->reason != '\0' ? ": " : "", t->reason);

	refuse(t, why);
	free(why);
}

static void
take_written(struct run *r, struct subtask *t)
{
	struct reproducer rp;
	struct err e = { 0 };

	if (strcmp(t->verdict, "done") != 0) {
		refuse_verdict(t);
		return;
	}
	if (reproducer_read(&t->findings, t->patch, t->patch_len, r->snap.tree,
		&rp, &e) < 0) {
		refuse(t, e.text);
		return;
	}
	t->repro = xmalloc(sizeof *t->repro);
	*t->repro = rp;
}

static void
put_first(struct strv *list, const char *s)
{
	struct strv all = { 0 };

	strv_add(&all, s);
	strv_extend(&all, list);
	strv_clear(list);
	*list = all;
}

/* The tests are no longer green: what fails is the reproducer. How many passed
 * before stays, and what was flaky: no reproducer may excuse another test. */
static void
take_confirmed(struct run *r, struct subtask *t, const struct msg_summary *m)
{
	struct baseline *b = &r->base;
	struct reproducer *rp = t->of->repro;

	if (strcmp(t->verdict, "done") != 0 || m->failing.n == 0) {
		refuse(
		    t, *t->reason != '\0' ? t->reason : "it is not confirmed");
		return;
	}
	r->repro = rp;
	put_first(&r->tests, rp->command);
	msg_strs_to(&m->failing, &b->failing);
	free(b->output);
	b->output = xstrdup(msg_str(m->output));
	b->failed = m->tests_failed;
	b->test_ms = m->test_ms;
	b->slowest_ms = m->slowest_ms;
	b->per_test = m->per_test;
	run_event(r, "reproduced",
	    json_pack("{s:s, s:s, s:o, s:s, s:o, s:o}", "command", rp->command,
		"expect", rp->expect, "files", json_from_strv(&rp->files),
		"subtask", t->of->id, "failing", json_from_strv(&b->failing),
		"output", json_str_lossy(b->output, strlen(b->output))));
}

static void
strip(const struct run *r, struct subtask *t)
{
	struct buf b;

	buf_init(&b, BUF_NOMAX);
	reproducer_strip(r->repro, t->patch, t->patch_len, &b);
	free(t->patch);
	t->patch = buf_detach(&b, &t->patch_len);
}

void
reproduce_take(struct run *r, struct subtask *t, const struct msg_summary *m)
{
	if (t->kind == KIND_REPRODUCE)
		take_written(r, t);
	else if (t->kind == KIND_CONFIRM)
		take_confirmed(r, t, m);
	else if (t->kind == KIND_EXPLORE && r->repro != NULL &&
	    t->patch_len > 0)
		strip(r, t);
}

/* --- what follows -------------------------------------------------------- */

/* Did no worker come to a word of its own? Then it is not the task's fault. */
static bool
all_errors(const struct run *r)
{
	const struct subtask *t;

	TAILQ_FOREACH (t, &r->subtasks, entry)
		if ((t->kind == KIND_REPRODUCE || t->kind == KIND_CONFIRM) &&
		    t->verdict != NULL && strcmp(t->verdict, "error") != 0)
			return false;
	return true;
}

static void
refused(struct run *r, const struct subtask *t)
{
	run_event(r, "reproducer_refused",
	    json_pack("{s:s, s:s, s:s}", "subtask", t->id, "label", t->label,
		"reason", t->wrong));
	if (strcmp(t->verdict, "budget") == 0)
		run_end(
		    r, EXIT_BUDGET, "budget", "no reproducer: %s", t->reason);
	else if (count(r) < MAX_ATTEMPTS)
		reproduce_begin(r);
	else if (all_errors(r))
		run_end(r, EXIT_FATAL, "error", "no reproducer: %s", t->wrong);
	else
		run_end(
		    r, EXIT_UNFIXED, "unfixed", "no reproducer: %s", t->wrong);
}

void
reproduce_after(struct run *r, struct subtask *t)
{
	struct subtask *c;
	char label[32];

	if (t->repro == NULL) {
		refused(r, t);
		return;
	}
	(void)snprintf(label, sizeof label, "confirm-%.20s",
	    t->label + strlen("reproduce-"));
	c = sched_add(r, KIND_CONFIRM, label, NULL, NULL, t->repro->patch,
	    t->repro->patch_len);
	c->of = t;
}

void
reproduce_confirm_after(struct run *r, struct subtask *t)
{
	if (t->wrong != NULL)
		refused(r, t);
	else
		topology_begin(r);
}

/* --- what workers are told ----------------------------------------------- */

void
reproduce_task(const struct run *r, const struct subtask *t, struct strv *own,
    struct msg_task *m)
{
	const struct reproducer *rp;

	if (t->kind == KIND_CONFIRM) {
		rp = t->of->repro;
		strv_copy(own, &r->tests);
		put_first(own, rp->command);
		m->tests = msg_strs_of(own);
		m->patch = rp->patch;
		m->patch_len = rp->patch_len;
		m->expect = rp->expect;
	} else if (r->repro != NULL &&
	    (t->kind == KIND_PLAN || t->kind == KIND_EXPLORE ||
		t->kind == KIND_VERIFY || t->kind == KIND_REVIEW)) {
		m->base_patch = r->repro->patch;
		m->base_patch_len = r->repro->patch_len;
	}
}

static const char role[] =
    "All tests pass, so none of them shows the bug of the task. Write a test "
    "that shows the bug; do not fix it: others will, and are judged by your "
    "test.\n"
    "\n"
    "- Add new files only, as few and as small as possible. A change of an "
    "existing file is refused, and so is a file that configures how tests are "
    "run or built.\n"
    "- It fails while the bug is there and passes once it is fixed, whatever "
    "the fix looks like; it fails by an assertion about what the task "
    "describes, not by an import error or a missing file.\n"
    "- It is deterministic, needs no network and ends soon.\n"
    "- The given tests must pass as before with your files in place. Where "
    "they find your test by themselves it may fail there under its own name, "
    "but must not make a whole command fail that names no tests.\n"
    "- Run it with run_command, twice, and see it fail.\n"
    "\n"
    "End with finish (verdict done) whose findings are exactly these:\n"
    "    \"command: ...\"  one line for sh that runs that test alone, from "
    "the work directory, and exits non-zero while the bug is there\n"
    "    \"expect: ...\"   a piece of one line of its output that shows that "
    "it failed for this reason, such as the assertion's message; it must be "
    "in the output each time\n"
    "    and one sentence about the cause, if you know it.\n"
    "The test is then run twice on the untouched code by somebody else.\n";

void
reproduce_role(const struct run *r, struct buf *b)
{
	const struct subtask *t;

	(void)buf_adds(b, role);
	TAILQ_FOREACH (t, &r->subtasks, entry)
		if (t->wrong != NULL)
			(void)buf_printf(b,
			    "\nAn earlier attempt (%s) was refused: %s\n",
			    t->label, t->wrong);
}

void
reproduce_note(const struct run *r, struct buf *b)
{
	size_t i;

	if (r->repro == NULL)
		return;
	(void)buf_adds(b,
	    "The first command was written by another worker to show the bug "
	    "of the task and was confirmed to fail; its files are protected:");
	for (i = 0; i < r->repro->files.n; i++)
		(void)buf_printf(b, " %s", r->repro->files.v[i]);
	(void)buf_printf(b, "\nIt fails with: %s\n", r->repro->expect);
}

/* --- the end ------------------------------------------------------------- */

void
reproduce_final(
    const struct run *r, const struct subtask *winner, struct buf *ret)
{
	if (r->repro != NULL)
		reproducer_join(
		    r->repro, winner->patch, winner->patch_len, ret);
	else
		(void)buf_add(ret, winner->patch, winner->patch_len);
}
