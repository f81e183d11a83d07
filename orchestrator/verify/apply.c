#include "common/compat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/verify/apply.h"
#include "sandbox/changes.h"
#include "sandbox/gitrun.h"
#include "sandbox/policy/guard.h"

#define PATHS_ASKED 64 /* of a patch that does not fit */

char *
apply_unseen(const char *patch, size_t len)
{
	struct strv paths = { 0 };
	char *found = NULL;
	size_t i;

	if (patch_paths(patch, len, &paths, NULL) == 0) {
		for (i = 0; i < paths.n && found == NULL; i++) {
			if (guard_is_setup(paths.v[i]))
				found = xstrdup(paths.v[i]);
		}
	}
	strv_clear(&paths);
	return found;
}

int
apply_tree(const char *root, const char *patch, size_t len, struct err *e)
{
	struct strv paths = { 0 };
	int r;

	if ((r = patch_paths(patch, len, &paths, e)) == 0 &&
	    (r = patch_apply(root, patch, len, true, e)) == 0)
		r = patch_apply(root, patch, len, false, e);
	strv_clear(&paths);
	return r;
}

/* The output without its last newline goes to *ret (may be NULL). */
static int
git(const char *root, const char *index, const void *input, size_t input_len,
    char **ret, struct err *e, ...)
{
	struct gitrun g = { .cwd = root,
		.persons = true,
		.input = input,
		.input_len = input_len,
		.timeout_ms = 120000 };
	struct buf out;
	const char *arg;
	va_list ap;
	int r;

	buf_init(&out, 1 << 20);
	g.out = &out;
	strv_setenv(&g.env, "GIT_INDEX_FILE", index);
	va_start(ap, e);
	while ((arg = va_arg(ap, const char *)) != NULL)
		strv_add(&g.args, arg);
	va_end(ap);
	r = gitrun(&g, e);
	if (r > 0)
		r = gitrun_failed(&g, r, e);
	if (r == 0 && ret != NULL) {
		*ret = buf_detach(&out, NULL);
		(*ret)[strcspn(*ret, "\n")] = '\0';
	}
	buf_clear(&out);
	gitrun_clear(&g);
	return r;
}

int
apply_branch_check(const char *root, const char *branch, struct err *e)
{
	char *ref = xasprintf("refs/heads/%s", branch);
	int r = 0;

	if (git(root, "/dev/null", NULL, 0, NULL, NULL, "rev-parse", "--verify",
		"-q", "HEAD^{commit}", (char *)NULL) < 0)
		r = err_set(e, ERR_USAGE,
		    "--branch: %s is no git repository with a commit", root);
	else if (*branch == '-' || strcmp(branch, "HEAD") == 0 ||
	    git(root, "/dev/null", NULL, 0, NULL, NULL, "check-ref-format", ref,
		(char *)NULL) < 0)
		r = err_set(e, ERR_USAGE,
		    "--branch: \"%s\" is no name for a branch", branch);
	else if (git(root, "/dev/null", NULL, 0, NULL, NULL, "rev-parse",
		     "--verify", "-q", ref, (char *)NULL) == 0)
		r = err_set(e, ERR_USAGE,
		    "--branch: a branch \"%s\" is there already", branch);
	free(ref);
	return r;
}

bool
apply_is_dirty(const char *snapshot_tree)
{
	struct gitrun g = { .cwd = snapshot_tree, .timeout_ms = 60000 };
	char *dir = path_join(snapshot_tree, ".git");
	struct buf out;
	bool dirty;

	strv_setenv(&g.env, "GIT_DIR", dir);
	strv_setenv(&g.env, "GIT_WORK_TREE", snapshot_tree);
	strv_addl(&g.args, "--no-optional-locks", "status", "--porcelain",
	    "--ignore-submodules=all", (char *)NULL);
	buf_init(&out, 1 << 20);
	g.out = &out;
	dirty = gitrun(&g, NULL) != 0 || out.len > 0;
	buf_clear(&out);
	gitrun_clear(&g);
	free(dir);
	return dirty;
}

/* The submodule that holds the path, and that the commit names; yours. NULL: it
 * is in none. */
static char *
module_of(const char *root, const char *index, const char *head, char *path)
{
	char *dir = path_dir(path), *line = NULL;
	bool found = false;

	free(path);
	if (strcmp(dir, ".") == 0 || strcmp(dir, "/") == 0) {
		free(dir);
		return NULL;
	}
	if (git(root, index, NULL, 0, &line, NULL, "ls-tree", "--full-tree",
		head, "--", dir, (char *)NULL) == 0)
		found = text_starts(line, "160000 ");
	free(line);
	return found ? dir : module_of(root, index, head, dir);
}

/* Why git could not put it there, and what can. */
static void
explain(const char *root, const char *index, const char *head,
    const struct strv *paths, struct err *e)
{
	char *module = NULL;
	size_t i;

	for (i = 0; module == NULL && i < paths->n && i < PATHS_ASKED; i++)
		module = module_of(root, index, head, xstrdup(paths->v[i]));
	if (module != NULL)
		(void)err_set(e, e->code,
		    "%.300s is in the submodule %.300s, which has commits of "
		    "its own: no branch out here can hold the fix; `foray "
		    "apply` without --branch puts it on the tree",
		    paths->v[i - 1], module);
	else
		(void)err_prefix(e,
		    "the patch was made on the tree with its uncommitted "
		    "changes and does not fit HEAD; `foray apply` without "
		    "--branch puts it on the tree");
	free(module);
}

int
apply_branch(const char *root, const char *branch, const char *patch,
    size_t len, const char *subject, struct err *e)
{
	char index[] = "/tmp/foray-index-XXXXXX";
	char *dir = mkdtemp(index), *file = NULL, *ref = NULL;
	char *head = NULL, *tree = NULL, *commit = NULL, *message = NULL;
	struct strv paths = { 0 };
	int r;

	if (dir == NULL)
		return err_set(e, -errno, "%s: %s", index, strerror(errno));
	if ((r = apply_branch_check(root, branch, e)) < 0)
		goto out;
	file = path_join(dir, "index");
	ref = xasprintf("refs/heads/%s", branch);
	message = xasprintf("Fix: %s\n\nFound and verified by foray.\n",
	    subject != NULL ? subject : "failing test");
	if ((r = patch_paths(patch, len, &paths, e)) < 0 ||
	    (r = git(root, file, NULL, 0, &head, e, "rev-parse", "--verify",
		 "HEAD^{commit}", (char *)NULL)) < 0 ||
	    (r = git(root, file, NULL, 0, NULL, e, "read-tree", head,
		 (char *)NULL)) < 0)
		goto out;
	if ((r = git(root, file, patch, len, NULL, e, "apply", "--cached",
		 "--whitespace=nowarn", "-", (char *)NULL)) < 0) {
		explain(root, file, head, &paths, e);
		goto out;
	}
	if ((r = git(root, file, NULL, 0, &tree, e, "write-tree",
		 (char *)NULL)) < 0)
		goto out;
	/* A fresh machine: the person has not told git who they are. */
	if (git(root, file, NULL, 0, NULL, NULL, "var", "GIT_COMMITTER_IDENT",
		(char *)NULL) == 0)
		r = git(root, file, message, strlen(message), &commit, e,
		    "commit-tree", tree, "-p", head, (char *)NULL);
	else
		r = git(root, file, message, strlen(message), &commit, e, "-c",
		    "user.name=foray", "-c", "user.email=foray@localhost",
		    "commit-tree", tree, "-p", head, (char *)NULL);
	if (r < 0)
		goto out;
	/* The last argument: it must not exist yet. */
	r = git(root, file, NULL, 0, NULL, e, "update-ref", ref, commit,
	    "0000000000000000000000000000000000000000", (char *)NULL);
	if (r < 0)
		(void)err_prefix(e, "branch %s", branch);
out:
	strv_clear(&paths);
	(void)path_rmtree(dir, NULL);
	free(file);
	free(ref);
	free(head);
	free(tree);
	free(commit);
	free(message);
	return r;
}
