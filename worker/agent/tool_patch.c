/*
 * tool_patch.c - apply_patch: all of a patch or nothing.
 *
 * The patch runs against texts in memory, in its own order; only when all of it
 * fitted, and every write was allowed, is anything written. A write that fails
 * half-way is undone.
 */
#include "common/compat.h"

#include <errno.h>

#include "common/log.h"
#include "worker/agent/agent.h"
#include "worker/agent/edit.h"
#include "worker/agent/envelope.h"
#include "worker/agent/tool.h"

/* A file as the patch sees it. */
struct vfile {
	char *rel;
	char *data; /* NULL: not there (now) */
	size_t len;
	char *orig; /* as it was on disk; NULL: it was not there */
	size_t orig_len;
	mode_t mode; /* 0: as it is, or the default */
	size_t added, removed;
	bool written; /* to the disk, by this call */
};

struct vfs {
	struct agent *a;
	struct vfile *v;
	size_t n;
};

static void
vfs_clear(struct vfs *fs)
{
	size_t i;

	for (i = 0; i < fs->n; i++) {
		free(fs->v[i].rel);
		free(fs->v[i].data);
		free(fs->v[i].orig);
	}
	free(fs->v);
}

/* The file by its name, read when it is new to us. */
static int
vfs_open(struct vfs *fs, const char *path, size_t *ret, struct err *e)
{
	struct treefs_name name = { 0 };
	struct stat st = { 0 };
	struct vfile *f;
	struct buf b;
	bool exists = false;
	size_t i;
	int r;

	if ((r = treefs_name(&fs->a->fs, path, &name, e)) < 0)
		return r;
	if (name.tmp) {
		r = err_set(
		    e, ERR_DENIED, "%.200s lies outside the workspace", path);
		goto out;
	}
	for (i = 0; i < fs->n; i++) {
		if (strcmp(fs->v[i].rel, name.rel) == 0) {
			*ret = i;
			goto out;
		}
	}
	if ((r = treefs_may_write(&fs->a->fs, name.rel, &exists, e)) < 0)
		goto out;
	buf_init(&b, TREEFS_MAX_FILE);
	if (exists && (r = treefs_read(&fs->a->fs, &name, &b, &st, e)) < 0) {
		buf_clear(&b);
		goto out;
	}
	fs->v = xreallocarray(fs->v, fs->n + 1, sizeof *fs->v);
	f = &fs->v[fs->n];
	*f = (struct vfile){ .rel = xstrdup(name.rel) };
	if (exists) {
		f->mode = st.st_mode & 0777;
		f->len = f->orig_len = b.len;
		f->data = buf_detach(&b, NULL);
		f->orig = xmalloc(f->len + 1);
		memcpy(f->orig, f->data, f->len);
	}
	*ret = fs->n++;
out:
	treefs_name_clear(&name);
	return r;
}

static void
set_data(struct vfile *f, char *data, size_t len)
{
	free(f->data);
	f->data = data;
	f->len = len;
}

static size_t
lines_of(const struct vfile *f)
{
	size_t i, n = 0;

	for (i = 0; i < f->len; i++)
		n += f->data[i] == '\n';
	return n + (f->len > 0 && f->data[f->len - 1] != '\n');
}

static int
update(struct vfs *fs, const struct patch_file *p, size_t at, struct err *e)
{
	struct patch_count count = { 0 };
	struct vfile *f = &fs->v[at], *to;
	struct buf fresh;
	size_t dst, len;
	char *data;
	int r;

	if (f->data == NULL)
		return err_set(e, -ENOENT,
		    "%.200s does not exist; to create it, use \"*** Add "
		    "File\" or \"--- /dev/null\"",
		    p->path);
	buf_init(&fresh, TREEFS_MAX_FILE);
	r = patch_file_apply(p, f->data, f->len, &fresh, &count, e);
	if (r < 0) {
		buf_clear(&fresh);
		return r;
	}
	data = buf_detach(&fresh, &len);
	f->added += count.added;
	f->removed += count.removed;
	if (p->move_to == NULL) {
		set_data(f, data, len);
		return 0;
	}
	r = vfs_open(fs, p->move_to, &dst, e);
	f = &fs->v[at];
	if (r < 0) {
		free(data);
		return r;
	}
	if (dst == at) { /* a move onto itself is no move */
		set_data(f, data, len);
		return 0;
	}
	to = &fs->v[dst];
	if (to->data != NULL) {
		free(data);
		return err_set(e, -EEXIST, "%.200s exists already", p->move_to);
	}
	set_data(to, data, len);
	to->mode = f->mode;
	to->added += f->added;
	to->removed += f->removed;
	set_data(f, NULL, 0);
	return 0;
}

static int
apply_one(struct vfs *fs, const struct patch_file *p, struct err *e)
{
	struct patch_count count = { 0 };
	struct vfile *f;
	struct buf fresh;
	size_t at, len;
	char *data;
	int r;

	if ((r = vfs_open(fs, p->path, &at, e)) < 0)
		return r;
	f = &fs->v[at];
	switch (p->kind) {
	case PATCH_UPDATE:
		return update(fs, p, at, e);
	case PATCH_DELETE:
		if (f->data == NULL)
			return err_set(
			    e, -ENOENT, "%.200s does not exist", p->path);
		f->removed += lines_of(f);
		set_data(f, NULL, 0);
		return 0;
	case PATCH_ADD:
		break;
	}
	if (f->data != NULL)
		return err_set(e, -EEXIST,
		    "%.200s exists already: update it, or delete it first",
		    p->path);
	buf_init(&fresh, TREEFS_MAX_FILE);
	r = patch_file_apply(p, "", 0, &fresh, &count, e);
	if (r < 0) {
		buf_clear(&fresh);
		return r;
	}
	data = buf_detach(&fresh, &len);
	set_data(f, data, len);
	f->added += count.added;
	if (p->exec)
		f->mode = 0755;
	return 0;
}

static bool
is_changed(const struct vfile *f)
{
	if ((f->data == NULL) != (f->orig == NULL))
		return true;
	return f->data != NULL &&
	    (f->len != f->orig_len || memcmp(f->data, f->orig, f->len) != 0);
}

static int
put(struct vfs *fs, const struct vfile *f, const char *data, size_t len,
    struct err *e)
{
	if (data == NULL)
		return treefs_remove(&fs->a->fs, f->rel, e);
	return treefs_write(&fs->a->fs, f->rel, data, len, f->mode, e);
}

static int
write_all(struct vfs *fs, struct err *e)
{
	size_t i;
	int r = 0;

	for (i = 0; i < fs->n && r == 0; i++) {
		struct vfile *f = &fs->v[i];

		if (!is_changed(f))
			continue;
		r = put(fs, f, f->data, f->len, e);
		f->written = r == 0;
	}
	if (r == 0)
		return 0;
	for (i = 0; i < fs->n; i++) {
		if (fs->v[i].written)
			(void)put(fs, &fs->v[i], fs->v[i].orig,
			    fs->v[i].orig_len, NULL);
	}
	return r;
}

static void
report(struct vfs *fs, struct tool_result *r)
{
	size_t i;

	for (i = 0; i < fs->n; i++) {
		const struct vfile *f = &fs->v[i];

		if (!is_changed(f))
			continue;
		tool_printf(r, "%s %s (+%zu -%zu)\n",
		    f->data == NULL       ? "deleted"
			: f->orig == NULL ? "added"
					  : "changed",
		    f->rel, f->added, f->removed);
		if (!strv_has(&fs->a->written, f->rel))
			strv_add(&fs->a->written, f->rel);
	}
	if (r->text.len == 0)
		tool_fail(r, "the patch changes nothing");
}

static int
may_write(struct agent *a, const struct vfile *f, struct err *e)
{
	char *said = edit_said(f->orig != NULL ? f->orig : "",
	    f->orig != NULL ? f->orig_len : 0, f->data != NULL ? f->data : "",
	    f->data != NULL ? f->len : 0);
	int r = agent_audit(a, "write", f->rel, said, e);

	free(said);
	return r;
}

static void
apply_patch(struct agent *a, const json_t *args, struct tool_result *r)
{
	const char *text = arg_str(args, "patch", "");
	struct vfs fs = { .a = a };
	struct patch p = { 0 };
	struct err e;
	size_t i;
	int rc;

	rc = patch_parse(text, strlen(text), &p, &e);
	for (i = 0; rc == 0 && i < p.n; i++)
		rc = apply_one(&fs, &p.v[i], &e);
	for (i = 0; rc == 0 && i < fs.n; i++) {
		if (is_changed(&fs.v[i]))
			rc = may_write(a, &fs.v[i], &e);
	}
	if (rc == 0)
		rc = write_all(&fs, &e);
	if (rc < 0) {
		tool_fail_err(r, &e);
		tool_printf(r, " (nothing was changed)");
	} else {
		report(&fs, r);
	}
	vfs_clear(&fs);
	patch_clear(&p);
}

const struct tool tool_apply_patch = {
	"apply_patch",
	"Apply a patch to one or more files, all of it or nothing: a unified "
	"diff (--- a/PATH, +++ b/PATH, @@ -1,3 +1,3 @@), or the form\n"
	"*** Begin Patch\n*** Update File: PATH\n@@ a line above the place\n"
	" context\n-old\n+new\n*** End Patch\n"
	"with *** Add File: PATH, *** Delete File: PATH and *** Move to: PATH.",
	"{\"type\":\"object\",\"properties\":{"
	"\"patch\":{\"type\":\"string\"}},"
	"\"required\":[\"patch\"]}",
	apply_patch,
};
