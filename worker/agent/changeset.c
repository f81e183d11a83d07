/*
 * changeset.c - which of the changed files belong in the patch.
 *
 * What an edit tool wrote is meant. What commands left behind may be a fix made
 * with sed, or a cache, or a build's output: files that git ignores, that
 * are binary or that tools are known to litter stay out.
 */
#include "common/compat.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/changes.h"
#include "sandbox/policy/guard.h"
#include "worker/agent/agent.h"
#include "worker/agent/changeset.h"
#include "worker/agent/edit.h"
#include "worker/agent/exec.h"

#define MAX_CHANGES 20000

/* Never meant, new or changed. */
static const char *const litter[] = { "**/__pycache__/**", "*.pyc", "*.pyo",
	"**/.pytest_cache/**", "**/.mypy_cache/**", "**/.ruff_cache/**",
	"**/.hypothesis/**", "**/.tox/**", "**/.nox/**", "**/node_modules/**",
	"**/.nyc_output/**", "**/.cache/**", ".coverage", ".coverage.*", "*.o",
	"*.obj", "*.class", "*.gcda", "*.gcno", "*.gcov", "*.swp",
	".foray-*.tmp", "**/Testing/Temporary/**", "**/CMakeFiles/**",
	"**/.git/**", "nohup.out", "core", ".DS_Store" };
/* Not meant when new. */
static const char *const litter_new[] = { "**/target/**", "**/build/**",
	"**/dist/**", "**/*.egg-info/**", "**/coverage/**", "**/htmlcov/**",
	"Cargo.lock", "*.orig", "*.rej", "*.bak", "*.log", "**/.venv/**",
	"**/venv/**" };

static bool
matches(const char *const *list, size_t n, const char *path)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (text_glob(list[i], path))
			return true;
	}
	return false;
}

bool
changeset_is_litter(const char *path, bool is_new)
{
	return matches(litter, nitems(litter), path) ||
	    (is_new && matches(litter_new, nitems(litter_new), path));
}

static bool
starts_binary(const struct agent *a, const char *rel)
{
	struct treefs_name n = { .rel = xstrdup(rel) };
	char head[4096];
	ssize_t len = 0;
	int fd;

	fd = treefs_fd(&a->fs, &n, 0, NULL);
	if (fd >= 0) {
		len = read(fd, head, sizeof head);
		fd_close(&fd);
	}
	treefs_name_clear(&n);
	return len > 0 && edit_is_binary(head, (size_t)len);
}

/* Mark in drop[] what git ignores, of the changes that are neither written by a
 * tool nor dropped already. Without git or a repository: nothing. */
static void
ask_git(struct agent *a, const struct changes *c, bool *drop)
{
	struct sandbox_spec spec;
	struct exec x = { .timeout_ms = 30000, .keep = 4 << 20 };
	struct strv ignored = { 0 };
	struct buf in;
	struct err e;
	size_t i, n;
	const char *p, *end;

	buf_init(&in, BUF_NOMAX);
	for (i = 0; i < c->n; i++) {
		if (!drop[i] && !strv_has(&a->written, c->v[i].path))
			(void)buf_add(
			    &in, c->v[i].path, strlen(c->v[i].path) + 1);
	}
	spec_copy(&spec, &a->cfg.inner);
	spec_set_cwd(&spec, a->cfg.root);
	strv_clear(&spec.argv);
	strv_addl(&spec.argv, "git", "-c", "core.fsmonitor=false", "-c",
	    "core.quotePath=false", "check-ignore", "-z", "--stdin",
	    (char *)NULL);
	x.spec = &spec;
	x.input = buf_str(&in);
	x.input_len = in.len;
	if (in.len > 0 && exec_run(&x, &e) == 0 && x.status == 0) {
		p = buf_str(&x.head);
		for (end = p + x.head.len; p < end; p += n + 1) {
			n = strnlen(p, (size_t)(end - p));
			strv_addn(&ignored, p, n);
		}
		strv_sort(&ignored);
	}
	for (i = 0; i < c->n && ignored.n > 0; i++) {
		if (!drop[i] && !strv_has(&a->written, c->v[i].path) &&
		    strv_has(&ignored, c->v[i].path))
			drop[i] = true;
	}
	strv_clear(&ignored);
	exec_clear(&x);
	spec_clear(&spec);
	buf_clear(&in);
}

struct chosen {
	const struct changes *c;
	const bool *drop;
};

static int
cmp_change(const void *key, const void *elem)
{
	return strcmp(key, ((const struct change *)elem)->path);
}

static bool
is_wanted(const char *path, enum change_kind kind, void *ctx)
{
	const struct chosen *ch = ctx;
	const struct change *hit;

	(void)kind;
	hit = bsearch(path, ch->c->v, ch->c->n, sizeof *ch->c->v, cmp_change);
	return hit != NULL && !ch->drop[hit - ch->c->v];
}

/* A directory for the diff's two small trees. Yours, removed by the caller. */
static char *
scratch(const struct agent *a)
{
	char *dir = path_join(a->cfg.tmp, "foray-diff-XXXXXX");

	if (mkdtemp(dir) == NULL) {
		free(dir);
		return NULL;
	}
	return dir;
}

int
changeset_patch(
    struct agent *a, struct strv *ret_notes, struct buf *ret, struct err *e)
{
	struct changes c = { 0 };
	struct chosen ch;
	bool *drop = NULL;
	char *tmp = NULL;
	size_t i, left = 0, installed = 0;
	int r;

	for (i = 0; i < a->refused.n; i++)
		strv_addf(ret_notes,
		    "the worker tried to change %.400s, which is protected: "
		    "refused",
		    a->refused.v[i]);
	r = changes_list(
	    a->cfg.base, a->cfg.up, a->cfg.root, MAX_CHANGES, &c, e);
	if (r < 0)
		return r;
	drop = xcalloc(c.n + 1, sizeof *drop);
	for (i = 0; i < c.n; i++) {
		const struct change *v = &c.v[i];

		if (strv_has(&a->reproducer, v->path)) {
			drop[i] = true; /* it joins the patch at the end */
		} else if (v->kind != CHANGE_NEW &&
		    treefs_is_guarded(&a->fs, v->path)) {
			drop[i] = true;
			strv_addf(ret_notes,
			    "changed but left out of the patch: %.400s is "
			    "protected",
			    v->path);
		} else if (guard_is_installed(v->path)) {
			drop[i] = true;
			if (installed++ == 0)
				strv_addf(ret_notes,
				    "changed but left out of the patch: "
				    "%.400s is installed or made",
				    v->path);
		} else if (!strv_has(&a->written, v->path)) {
			drop[i] = changeset_is_litter(
				      v->path, v->kind == CHANGE_NEW) ||
			    (v->kind != CHANGE_DELETED &&
				starts_binary(a, v->path));
		}
		left += !drop[i];
	}
	if (left > 0)
		ask_git(a, &c, drop);
	for (i = left = 0; i < c.n; i++)
		left += !drop[i];
	if (left == 0)
		goto out;
	if ((tmp = scratch(a)) == NULL) {
		r = err_set(e, ERR_SANDBOX, "no directory can be made in %s",
		    a->cfg.tmp);
		goto out;
	}
	ch = (struct chosen){ &c, drop };
	r = changes_patch(
	    &c, a->cfg.base, a->cfg.root, tmp, is_wanted, &ch, ret, e);
out:
	if (tmp != NULL)
		(void)path_rmtree(tmp, NULL);
	free(tmp);
	free(drop);
	changes_clear(&c);
	return r < 0 ? r : 0;
}
