/*
 * unified.c - unified diffs, plain or git's; see envelope.h.
 *
 * The counts of a hunk header end a hunk only where a blank line leaves it
 * open: models count badly, and their lines say what they are.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "worker/agent/envelope.h"

struct diff {
	const char *p, *end;
	const char *line;
	size_t len;
	uint64_t no;
	struct patch *patch;
	struct patch_file *f; /* NULL: none is open */
	struct hunk *h;
	uint64_t old_left, new_left;
	char *from, *to; /* of a git header */
	bool is_new, is_gone, exec;
};

static bool
peek(const struct diff *d, const char *prefix)
{
	size_t n = strlen(prefix);

	return (size_t)(d->end - d->p) >= n && memcmp(d->p, prefix, n) == 0;
}

static bool
next_line(struct diff *d)
{
	const char *nl;

	if (d->p >= d->end)
		return false;
	nl = memchr(d->p, '\n', (size_t)(d->end - d->p));
	d->line = d->p;
	d->len = nl != NULL ? (size_t)(nl - d->p) : (size_t)(d->end - d->p);
	d->p = nl != NULL ? nl + 1 : d->end;
	if (d->len > 0 && d->line[d->len - 1] == '\r')
		d->len--;
	d->no++;
	return true;
}

static bool
starts(const struct diff *d, const char *prefix)
{
	size_t n = strlen(prefix);

	return d->len >= n && memcmp(d->line, prefix, n) == 0;
}

/* git's C-style quoting. Yours. */
static char *
unquote(const char *s, size_t len)
{
	struct buf b;
	size_t i;

	buf_init(&b, 65536);
	for (i = 1; i < len && s[i] != '"'; i++) {
		int c = (unsigned char)s[i], k;

		if (c == '\\' && i + 1 < len) {
			c = (unsigned char)s[++i];
			if (c >= '0' && c <= '7') {
				c -= '0';
				for (k = 0; k < 2 && i + 1 < len &&
				     s[i + 1] >= '0' && s[i + 1] <= '7';
				     k++)
					c = (c * 8 + (s[++i] - '0')) & 255;
			} else if (c == 't') {
				c = '\t';
			} else if (c == 'n') {
				c = '\n';
			}
		}
		if (c != '\0')
			(void)buf_addc(&b, (char)c); /* at most 64 KiB */
	}
	return buf_detach(&b, NULL);
}

/* The name behind "--- " and the like; NULL for /dev/null. Yours. */
static char *
file_name(const char *s, size_t len, char side)
{
	char *name, *out;
	const char *tab;

	while (len > 0 && *s == ' ') {
		s++;
		len--;
	}
	if (len > 0 && *s == '"') {
		name = unquote(s, len);
		if (name == NULL)
			name = xstrdup("");
	} else {
		tab = memchr(s, '\t', len);
		if (tab != NULL)
			len = (size_t)(tab - s);
		while (len > 0 && s[len - 1] == ' ')
			len--;
		name = xstrndup(s, len);
	}
	if (strcmp(name, "/dev/null") == 0) {
		free(name);
		return NULL;
	}
	if (side != '\0' && name[0] == side && name[1] == '/') {
		out = xstrdup(name + 2);
		free(name);
		return out;
	}
	return name;
}

static void
set_name(char **dst, char *name)
{
	free(*dst);
	*dst = name;
}

/* A git header without "---" lines (pure rename, mode, empty file) ends. */
static void
end_header(struct diff *d)
{
	if (d->f == NULL && d->from != NULL && d->to != NULL) {
		if (d->is_new)
			d->f = patch_add_file(
			    d->patch, PATCH_ADD, d->to, strlen(d->to));
		else if (d->is_gone)
			d->f = patch_add_file(
			    d->patch, PATCH_DELETE, d->from, strlen(d->from));
		else if (strcmp(d->from, d->to) != 0)
			d->f = patch_add_file(
			    d->patch, PATCH_UPDATE, d->from, strlen(d->from));
		if (d->f != NULL && d->f->kind == PATCH_UPDATE)
			d->f->move_to = xstrdup(d->to);
	}
	set_name(&d->from, NULL);
	set_name(&d->to, NULL);
	d->is_new = d->is_gone = d->exec = false;
	d->f = NULL;
	d->h = NULL;
}

/* "diff --git a/x b/x": names without blanks only; others come later. */
static void
git_line(struct diff *d)
{
	const char *s = d->line + 11, *sp;
	size_t len = d->len - 11;

	end_header(d);
	sp = memchr(s, ' ', len);
	if (sp == NULL || memchr(sp + 1, ' ', len - (size_t)(sp + 1 - s)))
		return;
	d->from = file_name(s, (size_t)(sp - s), 'a');
	d->to = file_name(sp + 1, len - (size_t)(sp + 1 - s), 'b');
}

static int
open_file(struct diff *d, struct err *e)
{
	char *from, *to;
	bool exec = d->exec, moved;

	from = file_name(d->line + 4, d->len - 4, 'a');
	if (!next_line(d) || !starts(d, "+++ ")) {
		free(from);
		return err_set(e, ERR_SYNTAX,
		    "patch line %llu: a \"+++ \" line must follow \"--- \"",
		    (unsigned long long)d->no);
	}
	to = file_name(d->line + 4, d->len - 4, 'b');
	moved = d->from != NULL && d->to != NULL && from != NULL &&
	    to != NULL && strcmp(from, d->from) == 0 &&
	    strcmp(to, d->to) == 0 && strcmp(from, to) != 0;
	set_name(&d->from, NULL);
	set_name(&d->to, NULL);
	d->is_new = d->is_gone = d->exec = false;
	d->h = NULL;
	if (from == NULL && to == NULL)
		return err_set(e, ERR_SYNTAX,
		    "patch line %llu: both names are /dev/null",
		    (unsigned long long)d->no);
	if (from == NULL) {
		d->f = patch_add_file(d->patch, PATCH_ADD, to, strlen(to));
		d->f->exec = exec;
	} else if (to == NULL) {
		d->f =
		    patch_add_file(d->patch, PATCH_DELETE, from, strlen(from));
	} else {
		/* Without a git header "x.orig" and the like may stand in
		 * "---": the new name counts. */
		d->f = patch_add_file(d->patch, PATCH_UPDATE, moved ? from : to,
		    strlen(moved ? from : to));
		if (moved)
			d->f->move_to = xstrdup(to);
	}
	free(from);
	free(to);
	return 0;
}

static void
no_newline(struct diff *d)
{
	char tag;

	if (d->h == NULL || d->h->n == 0)
		return;
	tag = d->h->v[d->h->n - 1].tag;
	if (tag != '+')
		d->h->old_no_newline = true;
	if (tag != '-')
		d->h->new_no_newline = true;
}

static bool
hunk_line_of(struct diff *d)
{
	char tag = d->len > 0 ? *d->line : ' ';

	if (d->h == NULL || d->f == NULL)
		return false;
	if (d->len == 0 && d->old_left == 0 && d->new_left == 0)
		return false;
	if (tag == '\\') {
		no_newline(d);
		return true;
	}
	if (tag != ' ' && tag != '+' && tag != '-')
		return false;
	hunk_add(d->h, tag, d->len > 0 ? d->line + 1 : "",
	    d->len > 0 ? d->len - 1 : 0);
	if (tag != '+' && d->old_left > 0)
		d->old_left--;
	if (tag != '-' && d->new_left > 0)
		d->new_left--;
	return true;
}

static int
one_line(struct diff *d, struct err *e)
{
	uint64_t line, old_n, new_n;

	if (starts(d, "diff --git ")) {
		git_line(d);
		return 0;
	}
	if (starts(d, "--- ") && peek(d, "+++ ") &&
	    (d->h == NULL || (d->old_left == 0 && d->new_left == 0) ||
		d->h->n > 0))
		return open_file(d, e);
	if (starts(d, "@@")) {
		if (d->f == NULL)
			return err_set(e, ERR_SYNTAX,
			    "patch line %llu: a hunk before any \"--- \" and "
			    "\"+++ \" lines that name its file",
			    (unsigned long long)d->no);
		d->h = patch_add_hunk(d->f);
		d->old_left = d->new_left = 0;
		if (hunk_header(d->line, d->len, &line, &old_n, &new_n)) {
			d->h->line = line;
			d->old_left = old_n;
			d->new_left = new_n;
		}
		return 0;
	}
	if (hunk_line_of(d))
		return 0;
	d->h = NULL;
	if (starts(d, "new file mode ")) {
		d->is_new = true;
		d->exec =
		    d->len >= 6 && memcmp(d->line + d->len - 3, "755", 3) == 0;
	} else if (starts(d, "deleted file mode ")) {
		d->is_gone = true;
	} else if (starts(d, "rename from ")) {
		set_name(&d->from, file_name(d->line + 12, d->len - 12, 0));
	} else if (starts(d, "rename to ")) {
		set_name(&d->to, file_name(d->line + 10, d->len - 10, 0));
	} else if (starts(d, "GIT binary patch") ||
	    starts(d, "Binary files ")) {
		return err_set(e, ERR_SYNTAX,
		    "patch line %llu: binary patches can't be applied here",
		    (unsigned long long)d->no);
	}
	return 0;
}

int
unified_parse(const char *s, size_t len, struct patch *ret, struct err *e)
{
	struct diff d = { .p = s, .end = s + len, .patch = ret };
	int r = 0;

	while (r == 0 && next_line(&d)) {
		if (ret->n > ENVELOPE_MAX_FILES || d.no > 200000)
			r = err_set(e, ERR_LIMIT, "the patch is too large");
		else
			r = one_line(&d, e);
	}
	end_header(&d);
	if (r == 0 && ret->n == 0)
		r = err_set(e, ERR_SYNTAX,
		    "this is neither a unified diff (\"--- a/PATH\", \"+++ "
		    "b/PATH\", \"@@ -1,3 +1,3 @@\") nor a \"*** Begin Patch\" "
		    "envelope");
	return r;
}
