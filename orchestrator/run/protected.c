/* protected.c - see protected.h. */
#include "common/compat.h"

#include <string.h>

#include "common/path.h"
#include "common/text.h"
#include "orchestrator/run/checkers.h"
#include "orchestrator/run/protected.h"
#include "sandbox/changes.h"
#include "sandbox/policy/guard.h"

#define MAX_PROTECTED 8192 /* TASK.guarded */
#define MAX_WANTED 8

void
protected_below(const struct strv *files, const char *workdir, struct strv *ret)
{
	size_t i;

	for (i = 0; i < files->n; i++) {
		const char *p = workdir[0] == '\0'
		    ? files->v[i]
		    : path_rel(files->v[i], workdir);

		if (p != NULL)
			strv_add(ret, p);
	}
}

int
protected_find(struct run *r, struct err *e)
{
	struct strv files = { 0 }, below = { 0 }, commands = { 0 };
	struct strv globs = { 0 }, free_globs = { 0 };
	char *dir;
	int rc;

	strv_copy(&commands, &r->tests);
	strv_extend(&commands, &r->o.checks);
	/* A build output is no test: it must be free to be made anew. */
	if ((rc = snapshot_unignored(&r->snap, &files, e)) < 0 ||
	    (rc = guard_globs(
		 "--protect", &r->o.protect, r->root, &files, &globs, e)) < 0 ||
	    (rc = guard_globs("--unprotect", &r->o.unprotect, r->root, &files,
		 &free_globs, e)) < 0)
		goto out;
	protected_below(&files, r->workdir, &below);
	dir = path_join(r->snap.tree, r->workdir);
	checkers_find(dir, &below, &commands);
	free(dir);
	guard_select(&files, &globs, &commands, r->workdir, &r->guarded);
	guard_free(&free_globs, &globs, &r->guarded, &r->freed);
	if (r->guarded.n > MAX_PROTECTED)
		rc = err_set(e, ERR_USAGE,
		    "%zu files are tests or run them and would be protected; "
		    "%d at most can be: run foray on a copy with a part of "
		    "them, or free some with --unprotect",
		    r->guarded.n, MAX_PROTECTED);
out:
	strv_clear(&files);
	strv_clear(&below);
	strv_clear(&commands);
	strv_clear(&globs);
	strv_clear(&free_globs);
	return rc;
}

/* --- what is told --------------------------------------------------------- */

/* Does a finding of changeset.c say that this file could not be changed? */
static bool
is_refused(const char *finding, const char *path)
{
	static const char *const starts[] = { "the worker tried to change ",
		"changed but left out of the patch: " };
	static const char *const ends[] = { ", which is protected: refused",
		" is protected" };
	size_t i, n = strlen(path);

	for (i = 0; i < nitems(starts); i++)
		if (text_starts(finding, starts[i]) &&
		    strncmp(finding + strlen(starts[i]), path, n) == 0 &&
		    strcmp(finding + strlen(starts[i]) + n, ends[i]) == 0)
			return true;
	return false;
}

static bool
is_wanted(const struct run *r, const char *path)
{
	const struct subtask *t;
	size_t i;

	TAILQ_FOREACH (t, &r->subtasks, entry)
		for (i = 0; i < t->findings.n; i++)
			if (is_refused(t->findings.v[i], path))
				return true;
	return false;
}

json_t *
protected_wanted(const struct run *r)
{
	json_t *ret = json_array();
	size_t i;

	for (i = 0; i < r->guarded.n && json_array_size(ret) < MAX_WANTED; i++)
		if (!guard_is_builtin(r->guarded.v[i]) &&
		    is_wanted(r, r->guarded.v[i]))
			(void)json_array_append_new(ret,
			    json_str_lossy(
				r->guarded.v[i], strlen(r->guarded.v[i])));
	if (json_array_size(ret) == 0) {
		json_decref(ret);
		ret = NULL;
	}
	return ret;
}

void
protected_freed(
    const struct run *r, const char *patch, size_t len, struct strv *ret)
{
	struct strv paths = { 0 };
	struct err e;
	size_t i;

	if (r->freed.n > 0 && patch_paths(patch, len, &paths, &e) == 0)
		for (i = 0; i < paths.n; i++)
			if (strv_has(&r->freed, paths.v[i]))
				strv_addf(ret,
				    "the patch changes %.400s, which "
				    "--unprotect freed: see that it does not "
				    "change what the tests expect",
				    paths.v[i]);
	strv_clear(&paths);
}
