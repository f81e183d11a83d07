/* edits.c - see edits.h. */
#include "common/compat.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "worker/agent/edit.h"
#include "worker/agent/edits.h"
#include "worker/agent/tool.h"

#define CHANGES_MAX 100

void
edits_clear(struct edits *es)
{
	while (es->n > 0) {
		es->n--;
		free(es->v[es->n].rel);
		buf_clear(&es->v[es->n].data);
		buf_clear(&es->v[es->n].old);
	}
	free(es->v);
	es->v = NULL;
}

static int
read_file(struct agent *a, struct edited *f, const char *path,
    const struct treefs_name *name, bool create, struct err *e)
{
	struct stat st = { 0 };
	int r;

	if (name->tmp)
		return err_set(
		    e, ERR_DENIED, "%.200s lies outside the workspace", path);
	if ((r = treefs_may_write(&a->fs, name->rel, &f->exists, e)) < 0)
		return r;
	if (!f->exists)
		return create
		    ? 0
		    : err_set(e, -ENOENT, "%.200s does not exist", path);
	if ((r = treefs_read(&a->fs, name, &f->old, &st, e)) < 0)
		return r;
	f->mode = st.st_mode & 0777;
	f->mtime = (int64_t)st.st_mtime;
	return buf_add(&f->data, buf_str(&f->old), f->old.len);
}

static int
open_file(struct agent *a, struct edits *es, const char *path, bool create,
    struct edited **ret, struct err *e)
{
	struct treefs_name name = { 0 };
	struct edited *f;
	size_t i;
	int r;

	if ((r = treefs_name(&a->fs, path, &name, e)) < 0)
		return r;
	for (i = 0; i < es->n && strcmp(es->v[i].rel, name.rel) != 0; i++)
		;
	f = &es->v[i];
	if (i == es->n) {
		*f = (struct edited){ .mode = 0644 };
		buf_init(&f->data, TREEFS_MAX_FILE);
		buf_init(&f->old, TREEFS_MAX_FILE);
		if ((r = read_file(a, f, path, &name, create, e)) < 0) {
			buf_clear(&f->data);
			buf_clear(&f->old);
			goto out;
		}
		f->rel = xstrdup(name.rel);
		es->n++;
	}
	*ret = f;
out:
	treefs_name_clear(&name);
	return r;
}

int
edits_make(
    struct agent *a, struct edits *es, const json_t *changes, struct err *e)
{
	const json_t *v;
	struct edit_done done;
	struct edited *f;
	struct buf fresh;
	size_t i;
	int r;

	if (!json_is_array(changes) || json_array_size(changes) > CHANGES_MAX)
		return err_set(e, ERR_USAGE,
		    "`changes` must hold at most %d changes", CHANGES_MAX);
	es->v = xcalloc(json_array_size(changes), sizeof *es->v);
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

int
edits_write(
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
