/* verify_control.c - the runs after the last one; see control.h, canary.h,
 * reads.h. First those with the patch, then, where something did not fail as it
 * must, those on the tree before it. */
#include "common/compat.h"

#include "common/log.h"
#include "worker/agent/canary.h"
#include "worker/agent/control.h"
#include "worker/agent/reads.h"
#include "worker/agent/restore.h"
#include "worker/agent/verify.h"

static int
undo(struct verify *v, const struct strv *files)
{
	struct err e;
	size_t i;

	for (i = 0; i < files->n; i++) {
		if (verify_undo(v, files->v[i], &e) < 0)
			return -1;
	}
	return 0;
}

/* --- tests that are added ------------------------------------------------- */

/* The same tests without those that must fail. */
static char *
fails_again(struct verify *v, uint64_t limit, const struct control *c,
    const struct test_run *before, const char *name)
{
	struct test_run t = { 0 };
	struct err e;
	char *why = NULL;

	if (undo(v, &c->files) < 0)
		return NULL;
	restore_renew(v->a);
	if (test_run(v->a, limit, 0, &t, &e) == 0 &&
	    (name = control_other(c, &t, before, &v->a->task->flaky)) != NULL)
		why = xasprintf("passed once and fails when it is run again: "
				"%.300s",
		    name);
	test_run_clear(&t);
	return why;
}

/* With the patch: how many of how many failed; *ret_doubt: fewer. */
static char *
added(struct verify *v, uint64_t limit, const struct test_run *before,
    size_t *ret_failing, bool *ret_doubt)
{
	struct agent *a = v->a;
	struct test_run t = { 0 };
	struct control c;
	const char *name;
	struct err e;
	char *why = NULL;

	if (!control_plant(a, v->base_fd, &c))
		return NULL;
	restore_renew(a);
	if (test_run(a, limit, 0, &t, &e) < 0) {
		log_warn("no control run: %s", e.text);
	} else if ((name = control_other(&c, &t, before, &a->task->flaky)) !=
	    NULL) {
		why = fails_again(v, limit, &c, before, name);
	} else {
		*ret_failing = control_failing(&c, &t);
		*ret_doubt = *ret_failing < c.tokens.n;
	}
	(void)undo(v, &c.files);
	test_run_clear(&t);
	control_clear(&c);
	return why;
}

/* On the tree before the patch: do more of them fail there? */
static char *
added_before(struct verify *v, uint64_t limit, size_t failing)
{
	struct test_run t = { 0 };
	struct control c;
	struct err e;
	char *why = NULL;
	size_t want;

	if (!control_plant(v->a, v->base_fd, &c))
		return NULL;
	restore_renew(v->a);
	if (test_run(v->a, limit, 0, &t, &e) == 0 &&
	    (want = control_failing(&c, &t)) > failing)
		why = xasprintf("of %zu tests added to %.200s that must fail, "
				"%zu fail on the tree before and %zu with the "
				"patch: it keeps tests from failing",
		    c.tokens.n, c.files.v[0], want, failing);
	(void)undo(v, &c.files);
	test_run_clear(&t);
	control_clear(&c);
	return why;
}

/* --- canaries ------------------------------------------------------------- */

/* One run with them. How many failed; drop: of c only the others stay. */
static size_t
fly(struct verify *v, uint64_t limit, enum canary_place where, bool drop,
    struct canaries *c)
{
	struct strv files = { 0 };
	struct test_run t = { 0 };
	struct err e;
	size_t n = 0;

	strv_extend(&files, &c->files);
	canary_plant(v->a, v->base_fd, where, c);
	restore_renew(v->a);
	if (c->files.n == 0)
		n = 0;
	else if (test_run(v->a, limit, 0, &t, &e) == 0)
		n = canary_seen(c, &t, drop);
	else
		strv_clear(&c->files);
	(void)undo(v, &files);
	strv_clear(&files);
	test_run_clear(&t);
	return n;
}

/* With the patch. ret: files in which none failed though one should. */
static size_t
canaries(struct verify *v, uint64_t limit, const struct test_run *before,
    struct canaries *ret)
{
	const struct msg_task *task = v->a->task;
	size_t i, n;

	*ret = (struct canaries){ 0 };
	for (i = 0; i < before->n && before->v[i].parsed; i++)
		continue;
	if (i == before->n || !canary_find(v->a, v->base_fd, ret))
		return 0;
	n = fly(v, limit, CANARY_END, true, ret);
	/* The first that fails may keep those behind it from running. */
	if (n > 0 && ret->named && ret->files.n > 0)
		n += fly(v, limit, CANARY_END, true, ret);
	if (n > 0 && !ret->named)
		strv_clear(&ret->files);
	/* A test may well end before its last line, or count its failures. When
	 * the patch has nothing that could end it, only what does not fail at
	 * its start, either, says something. */
	if (ret->files.n > 0 && !canary_may_end(task->patch, task->patch_len))
		(void)fly(v, limit, CANARY_HEAD, true, ret);
	return n;
}

/* On the tree before: does any of them fail there, behind its imports? */
static char *
canaries_before(struct verify *v, uint64_t limit, struct canaries *c)
{
	char *first = xstrdup(c->files.v[0]), *why = NULL;

	if (fly(v, limit, CANARY_HEAD, false, c) > 0)
		why = xasprintf("what must fail in %.200s does not "
				"fail with the patch, and on the tree before "
				"it does: the process ends too early, or "
				"asserts do nothing",
		    first);
	free(first);
	return why;
}

/* --- a watch on the tests ------------------------------------------------- */

/* On the tree before: is the same read there, too? */
static char *
watched_before(struct verify *v, uint64_t limit, const struct reads *with)
{
	struct reads before;
	const char *more;
	char *why = NULL;

	reads_run(v->a, v->base_fd, limit, &before);
	more = reads_more(with, &before);
	if (with->seen != NULL && before.seen == NULL)
		why = xasprintf("it reads %.200s while the tests run, and on "
				"the tree before it does not: what it answers "
				"may come from there",
		    with->seen);
	else if (more != NULL)
		why = xasprintf("something that it starts or loads reads "
				"%.200s while the tests run, and on the tree "
				"before nothing does: what it answers may come "
				"from there",
		    more);
	reads_clear(&before);
	return why;
}

char *
verify_control(struct verify *v, uint64_t limit, const struct test_run *before,
    bool *ret_can_fail)
{
	const struct msg_task *task = v->a->task;
	struct canaries c = { 0 };
	size_t failing = 0, seen = 0;
	bool doubt = false;
	struct reads r = { 0 };
	char *why;
	bool read;

	why = added(v, limit, before, &failing, &doubt);
	if (why == NULL)
		seen = canaries(v, limit, before, &c);
	if (why == NULL && reads_may(task->patch, task->patch_len))
		reads_run(v->a, v->base_fd, limit, &r);
	read = r.seen != NULL || reads_unseen(&r);
	if (why == NULL && (doubt || read || c.files.n > 0) &&
	    undo(v, &v->left) == 0) {
		if (doubt)
			why = added_before(v, limit, failing);
		if (why == NULL && c.files.n > 0)
			why = canaries_before(v, limit, &c);
		if (why == NULL && read)
			why = watched_before(v, limit, &r);
	}
	reads_clear(&r);
	*ret_can_fail = why == NULL && failing + seen > 0;
	canary_clear(&c);
	return why;
}
