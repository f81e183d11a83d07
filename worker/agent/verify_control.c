/* verify_control.c - the runs after the last one; see control.h. */
#include "common/compat.h"

#include "common/log.h"
#include "worker/agent/control.h"
#include "worker/agent/restore.h"
#include "worker/agent/verify.h"

/* The same tests without those that must fail. */
static char *
fails_again(struct verify *v, uint64_t limit, const struct control *c,
    const struct test_run *before, const char *name)
{
	struct test_run t = { 0 };
	struct err e;
	char *why = NULL;
	size_t i;

	for (i = 0; i < c->files.n; i++) {
		if (verify_undo(v, c->files.v[i], &e) < 0)
			return NULL;
	}
	restore_renew(v->a);
	if (test_run(v->a, limit, 0, &t, &e) == 0 &&
	    (name = control_other(c, &t, before, &v->a->task->flaky)) != NULL)
		why = xasprintf("passed once and fails when it is run again: "
				"%.300s",
		    name);
	test_run_clear(&t);
	return why;
}

/* The tree before the patch, with the tests that must fail. */
static size_t
on_base(struct verify *v, uint64_t limit, const struct control *c)
{
	struct test_run t = { 0 };
	struct err e;
	size_t i, n = 0;

	for (i = 0; i < v->left.n; i++) {
		if (verify_undo(v, v->left.v[i], &e) < 0)
			return 0;
	}
	if (test_run(v->a, limit, 0, &t, &e) == 0)
		n = control_failing(c, &t);
	test_run_clear(&t);
	return n;
}

char *
verify_control(struct verify *v, uint64_t limit, const struct test_run *before,
    bool *ret_can_fail)
{
	struct agent *a = v->a;
	struct test_run t = { 0 };
	struct control c;
	const char *name = NULL;
	struct err e;
	char *why = NULL;
	size_t failing = 0, want;

	*ret_can_fail = false;
	if (!control_plant(a, v->base_fd, &c))
		return NULL;
	restore_renew(a);
	if (test_run(a, limit, 0, &t, &e) < 0) {
		log_warn("no control run: %s", e.text);
	} else if ((name = control_other(&c, &t, before, &a->task->flaky)) !=
	    NULL) {
		why = fails_again(v, limit, &c, before, name);
	} else if ((failing = control_failing(&c, &t)) < c.tokens.n &&
	    (want = on_base(v, limit, &c)) > failing) {
		why = xasprintf("of %zu tests added to %.200s that must fail, "
				"%zu fail on the tree before and %zu with the "
				"patch: it keeps tests from failing",
		    c.tokens.n, c.files.v[0], want, failing);
	}
	*ret_can_fail = why == NULL && failing > 0;
	test_run_clear(&t);
	control_clear(&c);
	return why;
}
