/* snapshot_import_check.c - is a manifest that came from elsewhere one? */
#include "common/compat.h"

#include <sys/stat.h>

#include <errno.h>
#include <string.h>

#include "common/log.h"
#include "common/text.h"
#include "sandbox/snapshot_import_priv.h"

#define NAME_MAX_BYTES 255

int
import_bad(const struct snap_entry *en, const char *why, struct err *e)
{
	struct buf b;

	buf_init(&b, BUF_NOMAX);
	(void)text_escape(&b, en->path, strlen(en->path));
	err_set(e, ERR_PROTO, "the snapshot that came is not usable: %.300s %s",
	    buf_str(&b), why);
	buf_clear(&b);
	return ERR_PROTO;
}

/* Relative, in normal form, no part named .git. */
static bool
is_path(const char *p)
{
	size_t n;

	if (strlen(p) > WALK_PATH_MAX)
		return false;
	for (;; p += n + 1) {
		n = strcspn(p, "/");
		if (n == 0 || n > NAME_MAX_BYTES || (n == 1 && p[0] == '.') ||
		    (n == 2 && p[0] == '.' && p[1] == '.') ||
		    (n == 4 && strncmp(p, ".git", 4) == 0))
			return false;
		if (p[n] == '\0')
			return true;
	}
}

static const char *
what_is_wrong(const struct snap_entry *en)
{
	if (!is_path(en->path))
		return "is no path below a tree";
	switch (en->type) {
	case 'f':
		if ((en->mode & ~0777u) != 0)
			return "has a mode that no file may have";
		if (en->size > INT64_MAX)
			return "has a size that no file has";
		return NULL;
	case 'd':
		return (en->mode & ~01777u) != 0
		    ? "has a mode that no directory may have"
		    : NULL;
	case 'l':
		return en->target[0] == '\0' ||
			strlen(en->target) > WALK_PATH_MAX
		    ? "is a link to nowhere"
		    : NULL;
	default:
		return NULL; /* a file that could not be read */
	}
}

/* Is dir the directory that path lies in? */
static bool
is_in(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 && path[n] == '/' &&
	    strchr(path + n + 1, '/') == NULL;
}

/* The order is that of a walk, so a directory stands before what is in it, and
 * the open ones are a stack: each begins with the one below it. */
int
import_check(const struct snap_list *l, struct err *e)
{
	const struct snap_entry *en, **dir;
	uint64_t sum = 0;
	size_t i, n = 0, size = 16;
	const char *why = NULL;

	dir = xcalloc(size, sizeof *dir);
	for (i = 0; i < l->n && why == NULL; i++) {
		en = &l->v[i];
		why = what_is_wrong(en);
		if (why == NULL && i > 0 &&
		    walk_cmp(l->v[i - 1].path, en->path) >= 0)
			why = "is not in order";
		if (why != NULL)
			break;
		while (n > 0 && !is_in(en->path, dir[n - 1]->path))
			n--;
		if (n == 0 && strchr(en->path, '/') != NULL)
			why = "is not in a directory of the tree";
		if (en->type == 'f' && en->size > INT64_MAX - sum)
			why = "is too large together with the others";
		else if (en->type == 'f')
			sum += en->size;
		if (en->type == 'd') {
			if (n == size) {
				size *= 2;
				dir = xreallocarray(dir, size, sizeof *dir);
			}
			dir[n++] = en;
		}
	}
	free(dir);
	return why != NULL ? import_bad(&l->v[i < l->n ? i : i - 1], why, e)
			   : 0;
}

static bool
has_too_many(const char *text)
{
	size_t n = 0;

	while ((text = strchr(text, '\n')) != NULL && n <= SNAPSHOT_ENTRIES_MAX)
		n++, text++;
	return n > SNAPSHOT_ENTRIES_MAX;
}

int
import_manifest(char *text, size_t len, const char *id, uint64_t owner,
    struct manifest *ret, struct err *e)
{
	struct manifest m;
	char *real;
	int r;

	if (len == 0)
		return err_set(e, ERR_PROTO, "what came is no manifest");
	if (has_too_many(text))
		return err_set(e, ERR_LIMIT,
		    "the snapshot has more than %u files, which is the limit "
		    "for sending one to another machine",
		    SNAPSHOT_ENTRIES_MAX);
	if (manifest_read(text, len, &m) < 0)
		return err_set(
		    e, ERR_PROTO, "what came is no manifest of a snapshot");
	r = import_check(&m.list, e);
	if (r == 0) {
		real = manifest_id(&m, (uid_t)owner);
		if (strcmp(real, id) != 0 || strcmp(m.id, id) != 0)
			r = err_set(e, ERR_PROTO,
			    "the manifest that came is of snapshot %.32s, "
			    "not of %s",
			    real, id);
		free(real);
	}
	if (r < 0)
		manifest_clear(&m);
	else
		*ret = m;
	return r;
}
