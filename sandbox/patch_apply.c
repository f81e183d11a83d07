/* patch_apply.c - a checked patch, written anew and given to git apply. */
#include "common/compat.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "sandbox/changes.h"
#include "sandbox/gitrun.h"
#include "sandbox/patch.h"
#include "sandbox/walk.h"

#define MODE_FILE 0100644
#define MODE_LINK 0120000

/* --- writing
 * ------------------------------------------------------------------ */

static int
put_side(
    struct buf *dst, const char *what, const char *prefix, const char *name)
{
	int r;

	if (name == NULL)
		return buf_printf(dst, "%s /dev/null\n", what);
	r = buf_printf(dst, "%s ", what);
	if (r == 0)
		r = patch_quote(dst, prefix, name);
	return r < 0 ? r : buf_addc(dst, '\n');
}

static int
put_modes(struct buf *dst, const struct patch_file *f)
{
	uint32_t old = f->old_mode, new = f->new_mode;
	int r = 0;

	if (f->verb == PATCH_CREATE)
		return buf_printf(
		    dst, "new file mode %06o\n", new != 0 ? new : MODE_FILE);
	if (f->verb == PATCH_DELETE)
		return buf_printf(dst, "deleted file mode %06o\n",
		    old != 0 ? old : MODE_FILE);
	if (new != 0 && old != 0 && old != new)
		r = buf_printf(dst, "old mode %06o\n", old);
	if (r == 0 && new != 0 && old != new)
		r = buf_printf(dst, "new mode %06o\n", new);
	return r;
}

static int
put_names(struct buf *dst, const struct patch_file *f)
{
	const char *verb = f->verb == PATCH_RENAME ? "rename" : "copy";
	const char *from = f->from != NULL ? f->from : f->to;
	const char *to = f->to != NULL ? f->to : f->from;
	int r;

	r = buf_adds(dst, "diff --git ");
	if (r == 0)
		r = patch_quote(dst, "a/", from);
	if (r == 0)
		r = buf_addc(dst, ' ');
	if (r == 0)
		r = patch_quote(dst, "b/", to);
	if (r == 0)
		r = buf_addc(dst, '\n');
	if (r == 0)
		r = put_modes(dst, f);
	if (r < 0 || (f->verb != PATCH_RENAME && f->verb != PATCH_COPY))
		return r;
	r = buf_printf(dst, "%s from ", verb);
	if (r == 0)
		r = patch_quote(dst, "", from);
	if (r == 0)
		r = buf_printf(dst, "\n%s to ", verb);
	if (r == 0)
		r = patch_quote(dst, "", to);
	return r < 0 ? r : buf_addc(dst, '\n');
}

static int
put_file(struct buf *dst, const struct patch_file *f)
{
	size_t len = f->body_len;
	int r;

	/* git refuses a head that says nothing. */
	if (f->verb == PATCH_CHANGE && f->body_len == 0 &&
	    (f->new_mode == 0 || f->new_mode == f->old_mode))
		return 0;
	r = put_names(dst, f);
	if (r == 0 && f->index != NULL) {
		r = buf_add(dst, f->index, f->index_len);
		if (r == 0)
			r = buf_addc(dst, '\n');
	}
	if (r == 0 && !f->binary && f->body_len > 0) {
		r = put_side(dst, "---", "a/", f->from);
		if (r == 0)
			r = put_side(dst, "+++", "b/", f->to);
	}
	while (f->binary && len > 0 &&
	    (f->body[len - 1] == '\n' || f->body[len - 1] == '\r'))
		len--;
	if (r == 0)
		r = buf_add(dst, f->body, len);
	if (r == 0 && len > 0 && f->body[len - 1] != '\n')
		r = buf_addc(dst, '\n');
	/* Binary data end with an empty line. */
	if (r == 0 && f->binary)
		r = buf_addc(dst, '\n');
	return r;
}

int
gitpatch_write(const struct gitpatch *p, struct buf *dst)
{
	size_t i;
	int r = 0;

	for (i = 0; i < p->n && r == 0; i++)
		r = put_file(dst, &p->v[i]);
	return r;
}

/* --- paths
 * -------------------------------------------------------------------- */

int
patch_paths(const char *patch, size_t len, struct strv *ret, struct err *e)
{
	struct strv all = { 0 }, out = { 0 };
	struct gitpatch p;
	size_t i;
	int r;

	r = gitpatch_parse(patch, len, &p, e);
	if (r < 0)
		return r;
	for (i = 0; i < p.n; i++) {
		if (p.v[i].from != NULL)
			strv_add(&all, p.v[i].from);
		if (p.v[i].to != NULL)
			strv_add(&all, p.v[i].to);
	}
	strv_sort(&all);
	for (i = 0; i < all.n; i++) {
		if (i == 0 || strcmp(all.v[i], all.v[i - 1]) != 0)
			strv_add(&out, all.v[i]);
	}
	strv_clear(&all);
	gitpatch_clear(&p);
	strv_clear(ret);
	*ret = out;
	return 0;
}

/* --- against the tree
 * ----------------------------------------------------------- */

struct target {
	struct strv deleted; /* sorted */
	struct cursor cur;
	struct err *e;
};

static int
str_cmp(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool
is_deleted(const struct target *t, const char *path)
{
	return t->deleted.n > 0 &&
	    bsearch(&path, t->deleted.v, t->deleted.n, sizeof *t->deleted.v,
		str_cmp) != NULL;
}

/* What is at path: S_IFMT bits, 0 for nothing. No link lies on the way, or it
 * is an error; one that the patch deletes is no longer there for what follows.
 */
static int
look(struct target *t, const char *path, mode_t *ret)
{
	char *part = xstrdup(path);
	const char *name;
	struct stat st;
	size_t i, n = strlen(path);
	int at, r = 0;

	*ret = 0;
	for (i = 0; i <= n && r == 0; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		part[i] = '\0';
		at = cursor_parent(&t->cur, part, &name);
		if (at == -ENOENT ||
		    (at >= 0 &&
			fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0 &&
			errno == ENOENT))
			break;
		if (at < 0 || fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
			r = err_set(t->e, at < 0 ? at : -errno, "%s: %s", part,
			    strerror(at < 0 ? -at : errno));
			break;
		}
		if (i == n) {
			*ret = st.st_mode & S_IFMT;
			break;
		}
		if (S_ISLNK(st.st_mode) && !is_deleted(t, part))
			r = err_set(t->e, ERR_DENIED,
			    "%s is a symbolic link: nothing is written through "
			    "it",
			    part);
		else if (!S_ISDIR(st.st_mode))
			break; /* git finds out whether it goes away */
		part[i] = '/';
	}
	free(part);
	return r;
}

/* A link may be changed only by a part that says that it is one. */
static int
check_file(struct target *t, const struct patch_file *f)
{
	mode_t from = 0, to = 0;
	int r = 0;

	if (f->from != NULL)
		r = look(t, f->from, &from);
	if (r == 0 && f->to != NULL &&
	    (f->from == NULL || strcmp(f->from, f->to) != 0))
		r = look(t, f->to, &to);
	if (r < 0)
		return r;
	if (S_ISLNK(from) && f->old_mode != MODE_LINK &&
	    f->verb != PATCH_DELETE)
		return err_set(t->e, ERR_DENIED,
		    "%s is a symbolic link: the patch takes it for a file",
		    f->from);
	if (S_ISLNK(from) && f->verb != PATCH_DELETE && f->verb != PATCH_CHANGE)
		return err_set(t->e, ERR_DENIED,
		    "%s is a symbolic link: it is not moved", f->from);
	if (S_ISLNK(to) && !is_deleted(t, f->to))
		return err_set(t->e, ERR_DENIED,
		    "%s is a symbolic link: it is not overwritten", f->to);
	return 0;
}

static int
check_tree(const char *dir, const struct gitpatch *p, struct err *e)
{
	struct target t = { .e = e };
	size_t i;
	int fd, r = 0;

	fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, -errno, "%s: %s", dir, strerror(errno));
	for (i = 0; i < p->n; i++) {
		if (p->v[i].verb == PATCH_DELETE)
			strv_add(&t.deleted, p->v[i].from);
	}
	strv_sort(&t.deleted);
	cursor_init(&t.cur, fd);
	for (i = 0; i < p->n && r == 0; i++)
		r = check_file(&t, &p->v[i]);
	cursor_clear(&t.cur);
	strv_clear(&t.deleted);
	fd_close(&fd);
	return r;
}

/* Could it be taken back? */
static bool
is_there_already(const char *dir, const struct buf *text)
{
	struct gitrun g = { .cwd = dir };
	struct err e;
	bool yes;

	strv_addl(
	    &g.args, "apply", "-p1", "--check", "--reverse", "-", (char *)NULL);
	g.input = text->data;
	g.input_len = text->len;
	yes = gitrun(&g, &e) == 0;
	gitrun_clear(&g);
	return yes;
}

int
patch_apply(const char *dir, const char *patch, size_t len, bool check_only,
    struct err *e)
{
	struct gitrun g = { .cwd = dir };
	struct gitpatch p;
	struct buf text;
	int r;

	r = gitpatch_parse(patch, len, &p, e);
	if (r < 0)
		return r;
	buf_init(&text, 4 * len + ((size_t)1 << 20));
	r = check_tree(dir, &p, e);
	if (r == 0 && gitpatch_write(&p, &text) < 0)
		r = err_set(e, ERR_LIMIT, "the patch is too large");
	if (r < 0 || text.len == 0)
		goto out;
	strv_addl(&g.args, "apply", "-p1", "--whitespace=nowarn", (char *)NULL);
	if (check_only)
		strv_add(&g.args, "--check");
	strv_add(&g.args, "-");
	g.input = text.data;
	g.input_len = text.len;
	r = gitrun(&g, e);
	if (r > 0 && is_there_already(dir, &text))
		r = err_set(e, ERR_USAGE,
		    "the patch is applied already: the tree is as it makes it");
	else if (r > 0)
		r = err_set(e, ERR_USAGE, "the patch does not apply: %s",
		    g.said[0] != '\0' ? g.said : "git apply failed");
out:
	gitrun_clear(&g);
	buf_clear(&text);
	gitpatch_clear(&p);
	return r;
}
