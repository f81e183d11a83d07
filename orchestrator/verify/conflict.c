#include "common/compat.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/verify/conflict.h"

#define HUNKS_MAX 5
#define LINES_MAX 12
#define LINE_MAX_BYTES 200
#define FILE_MAX ((size_t)16 << 20)

struct line {
	const char *p;
	size_t len; /* without its newline */
};

struct reader {
	const char *p, *end;
};

static bool
next_line(struct reader *r, struct line *ret)
{
	const char *nl;

	if (r->p >= r->end)
		return false;
	nl = memchr(r->p, '\n', (size_t)(r->end - r->p));
	ret->p = r->p;
	ret->len = (size_t)((nl != NULL ? nl : r->end) - r->p);
	r->p = nl != NULL ? nl + 1 : r->end;
	return true;
}

static bool
starts(const struct line *l, const char *with)
{
	return l->len >= strlen(with) && memcmp(l->p, with, strlen(with)) == 0;
}

static void
show(struct buf *b, const struct line *l, size_t from)
{
	char text[LINE_MAX_BYTES];

	(void)text_escape_to(text, sizeof text, l->p + from, l->len - from);
	(void)buf_printf(b, "    %s\n", text);
}

/* A reader that stands at line n (from 1) of the file. */
static struct reader
at_line(const struct buf *file, unsigned long n)
{
	struct reader r = { file->data, (const char *)file->data + file->len };
	struct line l;

	while (n > 1 && next_line(&r, &l))
		n--;
	return r;
}

/* Does the file have the old lines of the hunk there? sign: '-'; '+': the new
 * ones. */
static bool
fits(struct reader file, struct reader hunk, char sign, unsigned long old)
{
	struct line have, want;

	while (old > 0 && next_line(&hunk, &want)) {
		if (want.len > 0 && *want.p != ' ' && *want.p != sign)
			continue;
		old--;
		if (!next_line(&file, &have) ||
		    have.len + 1 != (want.len > 0 ? want.len : 1) ||
		    (have.len > 0 && memcmp(have.p, want.p + 1, have.len) != 0))
			return false;
	}
	return true;
}

static void
show_both(struct buf *b, const char *path, unsigned long at, struct reader file,
    struct reader hunk, unsigned long old, unsigned long made)
{
	char name[LINE_MAX_BYTES];
	struct line l;
	unsigned long n;

	(void)text_escape_to(name, sizeof name, path, strlen(path));
	(void)buf_printf(b, "%s line %lu: the tree has\n", name, at);
	for (n = 0; n < old && n < LINES_MAX && next_line(&file, &l); n++)
		show(b, &l, 0);
	(void)buf_printf(b, "  the patch would make it\n");
	for (n = 0; n < made && n < LINES_MAX && next_line(&hunk, &l);) {
		if (l.len > 0 && *l.p != ' ' && *l.p != '+')
			continue;
		show(b, &l, l.len > 0);
		n++;
	}
}

/* "@@ -OLD[,N] +NEW[,M] @@" */
static bool
hunk_head(const struct line *l, unsigned long *ret_at, unsigned long *ret_old,
    unsigned long *ret_made_at, unsigned long *ret_made)
{
	char text[80];
	char *p = text;

	if (!starts(l, "@@ -"))
		return false;
	(void)snprintf(text, sizeof text, "%.*s", (int)l->len - 4, l->p + 4);
	*ret_at = strtoul(p, &p, 10);
	*ret_old = *p == ',' ? strtoul(p + 1, &p, 10) : 1;
	if (strncmp(p, " +", 2) != 0)
		return false;
	*ret_made_at = strtoul(p + 2, &p, 10);
	*ret_made = *p == ',' ? strtoul(p + 1, &p, 10) : 1;
	return *ret_made_at != ULONG_MAX;
}

void
conflict_describe(
    const char *root, const char *patch, size_t len, struct buf *b)
{
	struct reader r = { patch, patch + len };
	unsigned long at, old, made_at, made;
	unsigned shown = 0;
	char *path = NULL, *full;
	struct buf file;
	struct line l;

	buf_init(&file, FILE_MAX);
	while (shown < HUNKS_MAX && next_line(&r, &l)) {
		if (starts(&l, "--- a/")) {
			free(path);
			path = xstrndup(l.p + 6, l.len - 6);
			full = path_join(root, path);
			buf_reset(&file);
			if (file_read(full, true, &file, NULL) < 0) {
				free(path);
				path = NULL;
			}
			free(full);
		} else if (path != NULL &&
		    hunk_head(&l, &at, &old, &made_at, &made) &&
		    !fits(at_line(&file, at), r, '-', old) &&
		    !fits(at_line(&file, made_at), r, '+', made)) {
			show_both(
			    b, path, at, at_line(&file, at), r, old, made);
			shown++;
		}
	}
	free(path);
	buf_clear(&file);
}
