/* candidate.c - see candidate.h. */
#include "common/compat.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/spawn.h"
#include "sandbox/container.h"
#include "worker/agent/candidate.h"
#include "worker/agent/command.h"
#include "worker/agent/edit.h"
#include "worker/agent/tool.h"

#define CHANGES_MAX 100
#define CHECK_KEEP 16384
#define COPY_LIMIT_MS 300000

/* A file with this candidate's edits. */
struct edited {
	char *rel;
	struct buf data;
	mode_t mode;
	int64_t mtime;
};

struct edits {
	struct edited v[CHANGES_MAX];
	size_t n;
};

static void
edits_clear(struct edits *es)
{
	while (es->n > 0) {
		es->n--;
		free(es->v[es->n].rel);
		buf_clear(&es->v[es->n].data);
	}
}

static int
open_file(struct agent *a, struct edits *es, const char *path, bool create,
    struct edited **ret, struct err *e)
{
	struct treefs_name name = { 0 };
	struct stat st = { 0 };
	struct edited *f;
	bool exists = false;
	size_t i;
	int r;

	if ((r = treefs_name(&a->fs, path, &name, e)) < 0)
		return r;
	for (i = 0; i < es->n && strcmp(es->v[i].rel, name.rel) != 0; i++)
		;
	f = &es->v[i];
	if (i == es->n) {
		if (name.tmp)
			r = err_set(e, ERR_DENIED,
			    "%.200s lies outside the workspace", path);
		else
			r = treefs_may_write(&a->fs, name.rel, &exists, e);
		if (r == 0 && !exists && !create)
			r = err_set(e, -ENOENT, "%.200s does not exist", path);
		if (r < 0)
			goto out;
		*f = (struct edited){ .mode = 0644 };
		buf_init(&f->data, TREEFS_MAX_FILE);
		if (exists &&
		    (r = treefs_read(&a->fs, &name, &f->data, &st, e)) < 0) {
			buf_clear(&f->data);
			goto out;
		}
		if (exists) {
			f->mode = st.st_mode & 0777;
			f->mtime = (int64_t)st.st_mtime;
		}
		f->rel = xstrdup(name.rel);
		es->n++;
	}
	*ret = f;
out:
	treefs_name_clear(&name);
	return r;
}

static int
edits_make(
    struct agent *a, struct edits *es, const json_t *changes, struct err *e)
{
	const json_t *v;
	struct edit_done done;
	struct edited *f;
	struct buf fresh;
	size_t i;
	int r;

	if (json_array_size(changes) == 0 ||
	    json_array_size(changes) > CHANGES_MAX)
		return err_set(
		    e, ERR_USAGE, "1 to %d changes are needed", CHANGES_MAX);
	json_array_foreach (changes, i, v) {
		struct edit ed = {
			.old_text = arg_str(v, "old", ""),
			.new_text = arg_str(v, "new", ""),
			.line = arg_u64(v, "line", 0),
		};
		const char *path = arg_str(v, "path", "");

		r = open_file(a, es, path, *ed.old_text == '\0', &f, e);
		if (r < 0)
			return r;
		buf_init(&fresh, TREEFS_MAX_FILE);
		r = edit_apply(path, buf_str(&f->data), f->data.len, &ed,
		    &fresh, &done, e);
		if (r < 0) {
			buf_clear(&fresh);
			return r;
		}
		buf_clear(&f->data);
		f->data = fresh;
	}
	return 0;
}

/* Directories of the layer hide the mode of those below. */
static void
copy_dir_modes(struct agent *a, int dirfd, const char *rel)
{
	struct stat st;
	char *dir = path_dir(rel), *up;

	while (strcmp(dir, ".") != 0 && strcmp(dir, "/") != 0) {
		if (fstatat(a->fs.root_fd, dir, &st, AT_SYMLINK_NOFOLLOW) ==
			0 &&
		    S_ISDIR(st.st_mode) &&
		    fchmodat(dirfd, dir, st.st_mode & 0777, 0) < 0)
			break; /* the layer's default stays */
		up = path_dir(dir);
		free(dir);
		dir = up;
	}
	free(dir);
}

static int
write_edits(
    struct agent *a, const struct edits *es, const char *dir, struct err *e)
{
	size_t i;
	int fd, r = 0;

	fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_set(
		    e, ERR_SANDBOX, "open %s: %s", dir, strerror(errno));
	for (i = 0; i < es->n && r == 0; i++) {
		r = treefs_put(fd, es->v[i].rel, buf_str(&es->v[i].data),
		    es->v[i].data.len, es->v[i].mode, es->v[i].mtime, e);
		if (r == 0)
			copy_dir_modes(a, fd, es->v[i].rel);
	}
	fd_close(&fd);
	return r;
}

static int
make_dir(const char *dir, const char *name, char **ret, struct err *e)
{
	*ret = path_join(dir, name);
	if (mkdir(*ret, 0755) < 0)
		return err_set(
		    e, ERR_SANDBOX, "mkdir %s: %s", *ret, strerror(errno));
	return 0;
}

static int
start_overlay(
    struct agent *a, struct candidate *c, const struct edits *es, struct err *e)
{
	char *layer = NULL;
	int r;

	if ((r = make_dir(c->dir, "layer", &layer, e)) < 0 ||
	    (r = make_dir(c->dir, "ov", &c->overlay.dir, e)) < 0 ||
	    (r = write_edits(a, es, layer, e)) < 0)
		goto out;
	strv_add(&c->overlay.lowers, layer);
	if (a->cfg.up != NULL) {
		strv_add(&c->overlay.lowers, a->cfg.up);
		strv_add(&c->overlay.lowers, a->cfg.base);
	} else {
		strv_add(&c->overlay.lowers, a->cfg.root);
	}
	c->overlay.on_tmpfs = true;
	c->x.overlay = &c->overlay;
	r = exec_start(&c->x, e);
out:
	free(layer);
	return r;
}

static int
copy_tree(struct agent *a, const char *dst, struct err *e)
{
	struct strv argv = { 0 };
	struct spawn_result res;
	struct buf msg;
	struct spawn s = { .argv = &argv, .timeout_ms = COPY_LIMIT_MS };
	char *cp = NULL;
	int r;

	if (path_system("cp", &cp) < 0)
		return err_set(e, ERR_SANDBOX, "there is no program cp");
	buf_init(&msg, 4096);
	s.out = s.err = &msg;
	strv_addl(&argv, cp, "-a", "--reflink=auto", "--", (char *)NULL);
	free(cp);
	strv_addf(&argv, "%s/.", a->cfg.root);
	strv_add(&argv, dst);
	r = spawn_run(&s, &res, e);
	if (r == 0 && (res.status != 0 || res.timed_out))
		r = err_set(e, ERR_SANDBOX,
		    "the workspace can't be copied: %.400s", buf_str(&msg));
	strv_clear(&argv);
	buf_clear(&msg);
	return r;
}

/* The spec names the workspace and its /tmp; this copy has its own. */
static int
take_places(
    struct agent *a, struct candidate *c, const char *tree, struct err *e)
{
	char *old, *tmp;
	int r;

	if (c->spec.backend != BACKEND_CONTAINER)
		return 0;
	old = path_join(a->cfg.tmp, "cmd");
	tmp = path_join(c->dir, "tmp");
	container_move(&c->spec, a->cfg.root, tree);
	container_move(&c->spec, old, tmp);
	r = container_make_tmp(tmp, e);
	free(old);
	free(tmp);
	return r;
}

static int
start_copy(
    struct agent *a, struct candidate *c, const struct edits *es, struct err *e)
{
	char *tree = NULL;
	size_t i;
	int r;

	if ((r = make_dir(c->dir, "tree", &tree, e)) < 0 ||
	    (r = copy_tree(a, tree, e)) < 0 ||
	    (r = write_edits(a, es, tree, e)) < 0 ||
	    (r = take_places(a, c, tree, e)) < 0)
		goto out;
	for (i = 0; i < c->spec.n_mounts; i++) {
		struct sandbox_mount *m = &c->spec.mounts[i];

		if (m->src != NULL && strncmp(m->src, "@merged", 7) == 0) {
			char *src = xasprintf("%s%s", tree, m->src + 7);

			free(m->src);
			m->src = src;
		}
	}
	c->x.overlay = NULL;
	r = exec_start(&c->x, e);
out:
	free(tree);
	return r;
}

static int
new_dir(struct agent *a, struct candidate *c, struct err *e)
{
	c->dir = path_joinf(a->cfg.tmp, "foray-try-%u-XXXXXX", ++a->dirs);
	if (mkdtemp(c->dir) == NULL) {
		free(c->dir);
		c->dir = NULL;
		return err_set(e, ERR_SANDBOX,
		    "no directory can be made in %s: %s", a->cfg.tmp,
		    strerror(errno));
	}
	return 0;
}

int
candidate_start(struct agent *a, struct candidate *c, const json_t *changes,
    const char *check, uint64_t timeout_ms, struct err *e)
{
	struct edits *es = xcalloc(1, sizeof *es);
	struct err why;
	int r;

	*c = (struct candidate){ 0 };
	command_spec(a, &a->cfg.candidate, check, &c->spec);
	c->x.spec = &c->spec;
	c->x.timeout_ms = timeout_ms;
	c->x.keep = CHECK_KEEP;
	c->started = true;
	if ((r = edits_make(a, es, changes, e)) < 0)
		goto out;
	if ((r = new_dir(a, c, e)) < 0)
		goto out;
	if (!a->no_overlay && c->spec.backend == BACKEND_BWRAP) {
		r = start_overlay(a, c, es, &why);
		if (r == 0)
			goto out;
		log_info("candidates are copied: %s", why.text);
		a->no_overlay = true;
	}
	r = start_copy(a, c, es, e);
	if (r < 0)
		r = err_set(e, ERR_SANDBOX, "no copy of the workspace: %.800s",
		    e != NULL ? e->text : "");
out:
	edits_clear(es);
	free(es);
	if (r < 0)
		candidate_clear(c);
	return r;
}

void
candidate_clear(struct candidate *c)
{
	if (!c->started)
		return;
	exec_clear(&c->x);
	spec_clear(&c->spec);
	overlay_clear(&c->overlay);
	if (c->dir != NULL)
		(void)path_rmtree(c->dir, NULL);
	free(c->dir);
	c->dir = NULL;
	c->started = false;
}
