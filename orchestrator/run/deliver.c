/* deliver.c - see deliver.h. */
#include "common/compat.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "orchestrator/run/deliver.h"
#include "orchestrator/run/hooks.h"
#include "orchestrator/run/reproduce.h"
#include "orchestrator/verify/apply.h"
#include "sandbox/changes.h"

bool
deliver_holds(struct subtask *t)
{
	struct strv paths = { 0 };
	struct err e;
	int r;

	if (strcmp(t->verdict, "fixed") != 0)
		return false;
	r = patch_paths(t->patch, t->patch_len, &paths, &e);
	strv_clear(&paths);
	if (r == 0)
		return true;
	free(t->verdict);
	free(t->reason);
	t->verdict = xstrdup("refuted");
	t->reason = xstrdup(e.text);
	return false;
}

/* A Stop hook has the last word on a patch. */
static bool
may_deliver(struct run *r, const char *path)
{
	char *why = NULL;

	if (hooks_may_deliver(r, path, &why))
		return true;
	r->exit = EXIT_UNFIXED;
	r->status = "unfixed";
	free(r->why);
	r->why = xasprintf("a Stop hook refuses the verified patch: %s", why);
	free(why);
	return false;
}

void
deliver_none(struct run *r)
{
	char *why = NULL;

	if (!hooks_may_deliver(r, NULL, &why))
		log_warn("a Stop hook objects, but there is no patch: %s", why);
	free(why);
}

void
deliver_patch(struct run *r, char **ret_path)
{
	struct subtask *w = r->winner;
	struct err e = { 0 };
	char *unseen = NULL;
	struct buf b;
	int rc = 0;

	buf_init(&b, BUF_NOMAX);
	reproduce_final(r, w, &b);
	*ret_path = path_join(store_dir(r->store), "patches/final.patch");
	if ((rc = file_write(*ret_path, b.data, b.len, 0600, &e)) == 0 &&
	    !may_deliver(r, *ret_path)) {
		(void)unlink(*ret_path);
		free(*ret_path);
		*ret_path = NULL;
	} else if (rc == 0) {
		if (r->o.apply &&
		    (unseen = apply_unseen(b.data, b.len)) != NULL)
			rc = err_set(&e, ERR_DENIED,
			    "it adds %.400s, which decides how tests run and "
			    "which none has seen: look at it, then `foray "
			    "apply` applies it",
			    unseen);
		else if (r->o.apply)
			rc = apply_tree(r->root, b.data, b.len, &e);
		else if (r->o.branch != NULL)
			rc = apply_branch(
			    r->root, r->o.branch, b.data, b.len, w->fix, &e);
		if (rc == 0 && r->o.branch != NULL && !r->o.apply &&
		    apply_is_dirty(r->snap.tree))
			strv_add(&w->findings,
			    "the patch was verified together with what is not "
			    "committed, and the branch does not have that: "
			    "run the tests there");
	}
	buf_clear(&b);
	free(unseen);
	if (rc == 0)
		return;
	/* Verified, but not where the person wanted it. */
	r->exit = EXIT_FATAL;
	r->status = "error";
	free(r->why);
	r->why = xasprintf("the fix is verified but could not be put in "
			   "place: %s",
	    e.text);
}
