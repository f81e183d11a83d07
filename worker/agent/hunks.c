/*
 * hunks.c - put a patch's hunks into a text; see envelope.h.
 *
 * Hunks go in in order, each after the one before. A place is tried exactly,
 * then without the blanks at the ends of lines; never with another
 * indentation, since the added lines would then be wrong.
 */
#include "common/compat.h"

#include <errno.h>

#include "common/log.h"
#include "common/text.h"
#include "worker/agent/edit.h"
#include "worker/agent/envelope.h"

#define BOM "\xef\xbb\xbf"
#define NOWHERE ((size_t)-1)

struct line {
	const char *s;
	size_t len; /* without its end */
	size_t eol; /* 0, 1 or 2 bytes behind it */
};

struct lines {
	struct line *v;
	size_t n;
	bool crlf; /* most of them */
};

static void
split(const char *s, size_t len, struct lines *ret)
{
	size_t size = 0, crlf = 0;
	const char *end = s + len, *nl;

	*ret = (struct lines){ 0 };
	while (s < end) {
		struct line l = { .s = s };

		nl = memchr(s, '\n', (size_t)(end - s));
		l.len = nl != NULL ? (size_t)(nl - s) : (size_t)(end - s);
		l.eol = nl != NULL;
		s += l.len + l.eol;
		if (nl != NULL && l.len > 0 && l.s[l.len - 1] == '\r') {
			l.len--;
			l.eol = 2;
			crlf++;
		}
		if (ret->n == size) {
			size = size == 0 ? 64 : size * 2;
			ret->v = xreallocarray(ret->v, size, sizeof *ret->v);
		}
		ret->v[ret->n++] = l;
	}
	ret->crlf = crlf * 2 > ret->n;
}

static size_t
rtrim(const char *s, size_t len)
{
	while (len > 0 && (s[len - 1] == ' ' || s[len - 1] == '\t'))
		len--;
	return len;
}

static bool
same(const struct lines *t, size_t i, const char *text, bool loose)
{
	const char *s = t->v[i].s;
	size_t len = t->v[i].len, n = strlen(text);

	if (i == 0 && len >= 3 && memcmp(s, BOM, 3) == 0 &&
	    !text_starts(text, BOM)) {
		s += 3;
		len -= 3;
	}
	if (loose) {
		len = rtrim(s, len);
		n = rtrim(text, n);
	}
	return len == n && memcmp(s, text, n) == 0;
}

/* The lines of a hunk that the file must have. */
static size_t
old_lines(const struct hunk *h, const char **ret)
{
	size_t i, n = 0;

	for (i = 0; i < h->n; i++) {
		if (h->v[i].tag != '+')
			ret[n++] = h->v[i].text;
	}
	return n;
}

static bool
match_at(
    const struct lines *t, size_t i, const char **old, size_t n, bool loose)
{
	size_t k;

	if (n > t->n || i > t->n - n)
		return false;
	for (k = 0; k < n; k++) {
		if (!same(t, i + k, old[k], loose))
			return false;
	}
	return true;
}

static bool
anchor_is(const struct lines *t, size_t i, const char *text)
{
	const char *s = t->v[i].s;
	size_t len = rtrim(s, t->v[i].len), n = rtrim(text, strlen(text));

	while (len > 0 && (*s == ' ' || *s == '\t')) {
		s++;
		len--;
	}
	while (n > 0 && (*text == ' ' || *text == '\t')) {
		text++;
		n--;
	}
	return len == n && memcmp(s, text, n) == 0;
}

/* The line behind the last anchor; NOWHERE and an error when one is missing. */
static size_t
pass_anchors(const char *name, const struct lines *t, const struct hunk *h,
    size_t from, struct err *e)
{
	size_t i, k;

	for (k = 0; k < h->anchors.n; k++) {
		for (i = from; i < t->n && !anchor_is(t, i, h->anchors.v[k]);
		     i++)
			;
		/* Part of a line: "@@ def f(" */
		if (i == t->n) {
			for (i = from; i < t->n &&
			     memmem(t->v[i].s, t->v[i].len, h->anchors.v[k],
				 strlen(h->anchors.v[k])) == NULL;
			     i++)
				;
		}
		if (i == t->n) {
			err_set(e, ERR_NOTFOUND,
			    "%.200s: the line of \"@@ %.200s\" is not found",
			    name, h->anchors.v[k]);
			return NOWHERE;
		}
		from = i + 1;
	}
	return from;
}

static int
not_found(const char *name, const struct lines *t, const struct hunk *h,
    const char **old, size_t n, struct err *e)
{
	char shown[160];
	size_t i, k, a, best = 0, at = 0;

	/* The place where most lines from the start agree. */
	for (i = 0; i < t->n && t->n * n < 50000000; i++) {
		for (k = 0;
		     k < n && i + k < t->n && same(t, i + k, old[k], true); k++)
			;
		if (k > best) {
			best = k;
			at = i;
		}
	}
	(void)h;
	a = best < n ? best : 0;
	text_escape_to(shown, sizeof shown, old[a], strlen(old[a]));
	if (best > 0)
		return err_set(e, ERR_NOTFOUND,
		    "%.200s: a hunk does not fit: %zu of its lines stand at "
		    "line %zu, but not this one: \"%s\". Read the file and copy "
		    "its lines exactly",
		    name, best, at + 1, shown);
	for (i = 0; i < t->n; i++) {
		if (anchor_is(t, i, old[a]))
			return err_set(e, ERR_NOTFOUND,
			    "%.200s: a hunk does not fit: line %zu differs from "
			    "\"%s\" in its indentation (tabs or spaces)",
			    name, i + 1, shown);
	}
	return err_set(e, ERR_NOTFOUND,
	    "%.200s: a hunk does not fit: its line \"%s\" is not in the file",
	    name, shown);
}

/* Where the hunk goes in: an index of lines, or negative. */
static int
locate(const char *name, const struct lines *t, const struct hunk *h,
    size_t cursor, size_t *ret, struct err *e)
{
	const char **old;
	size_t n, i, from, hits = 0, best = NOWHERE, first = 0, second = 0;
	int r = 0, loose;

	old = xcalloc(h->n + 1, sizeof *old);
	n = old_lines(h, old);
	from = pass_anchors(name, t, h, cursor, e);
	if (from == NOWHERE) {
		r = ERR_NOTFOUND;
		goto out;
	}
	if (n == 0) {
		if (h->anchors.n > 0)
			best = from;
		else if (h->at_end || t->n == 0)
			best = t->n;
		else if (h->line > 0 || h->n == 0)
			best = h->line < t->n ? h->line : t->n;
		if (best == NOWHERE || best < cursor)
			r = err_set(e, ERR_NOTFOUND,
			    "%.200s: a hunk only adds lines and does not say "
			    "where: give it lines of context or \"@@ LINE\"",
			    name);
		*ret = best;
		goto out;
	}
	for (loose = 0; loose < 2 && best == NOWHERE; loose++) {
		/* The anchor itself may be repeated as context. */
		for (i = from > cursor && h->anchors.n > 0 ? from - 1 : from;
		     n <= t->n && i <= t->n - n; i++) {
			size_t d, bd;

			if (!match_at(t, i, old, n, loose != 0))
				continue;
			if (h->at_end && i + n != t->n)
				continue;
			hits++;
			if (hits == 1)
				first = i + 1;
			else if (hits == 2)
				second = i + 1;
			if (best == NOWHERE) {
				best = i;
				continue;
			}
			if (h->line == 0)
				continue;
			d = i + 1 > h->line ? i + 1 - h->line : h->line - i - 1;
			bd = best + 1 > h->line ? best + 1 - h->line
						: h->line - best - 1;
			if (d < bd)
				best = i;
		}
	}
	if (best == NOWHERE)
		r = not_found(name, t, h, old, n, e);
	else if (hits > 1 && h->line == 0 && h->anchors.n == 0)
		r = err_set(e, ERR_USAGE,
		    "%.200s: a hunk fits at %zu places (lines %zu, %zu%s): give "
		    "more context, or \"@@ LINE\" with a line above it",
		    name, hits, first, second, hits > 2 ? ", ..." : "");
	*ret = best;
out:
	free(old);
	return r;
}

struct out {
	struct buf *b;
	bool crlf; /* of the file, for lines with no neighbour */
	int r;
};

static void
put(struct out *o, const char *s, size_t len)
{
	if (o->r == 0)
		o->r = buf_add(o->b, s, len);
}

static void
put_eol(struct out *o, bool crlf)
{
	put(o, crlf ? "\r\n" : "\n", crlf ? 2 : 1);
}

/* Line i of the file as it is; an end is added when more follows. */
static void
keep(struct out *o, const struct lines *t, size_t i)
{
	if (i >= t->n)
		return;
	put(o, t->v[i].s, t->v[i].len + t->v[i].eol);
	if (t->v[i].eol == 0)
		put_eol(o, o->crlf);
}

static bool
crlf_near(const struct lines *t, size_t i)
{
	if (i < t->n && t->v[i].eol > 0)
		return t->v[i].eol == 2;
	if (i > 0 && i - 1 < t->n && t->v[i - 1].eol > 0)
		return t->v[i - 1].eol == 2;
	return t->crlf;
}

/* Write the hunk at line `at`; returns the line behind it. */
static size_t
put_hunk(struct out *o, const struct lines *t, const struct hunk *h, size_t at,
    struct patch_count *count)
{
	size_t k;
	bool bom = at == 0 && t->n > 0 && t->v[0].len >= 3 &&
	    memcmp(t->v[0].s, BOM, 3) == 0;

	for (k = 0; k < h->n; k++) {
		const char *s = h->v[k].text;

		switch (h->v[k].tag) {
		case ' ':
			keep(o, t, at++);
			bom = false;
			break;
		case '-':
			at++;
			count->removed++;
			break;
		default:
			if (bom && !text_starts(s, BOM))
				put(o, BOM, 3);
			bom = false;
			put(o, s, strlen(s));
			put_eol(o, crlf_near(t, at));
			count->added++;
		}
	}
	return at;
}

static void
cut_eol(struct buf *b, size_t start)
{
	if (b->len > start && b->data[b->len - 1] == '\n')
		b->len--;
	if (b->len > start && b->data[b->len - 1] == '\r')
		b->len--;
	if (b->data != NULL)
		b->data[b->len] = '\0';
}

static int
new_file(const struct patch_file *f, struct buf *ret, struct patch_count *count)
{
	struct out o = { .b = ret };
	size_t i, k, start = ret->len;
	bool cut = false;

	for (i = 0; i < f->n; i++) {
		for (k = 0; k < f->v[i].n; k++) {
			const char *s = f->v[i].v[k].text;

			if (f->v[i].v[k].tag == '-')
				continue;
			put(&o, s, strlen(s));
			put_eol(&o, false);
			count->added++;
		}
		cut = f->v[i].new_no_newline;
	}
	if (o.r == 0 && cut)
		cut_eol(ret, start);
	return o.r;
}

int
patch_file_apply(const struct patch_file *f, const char *src, size_t len,
    struct buf *ret, struct patch_count *count, struct err *e)
{
	struct lines t;
	struct out o = { .b = ret };
	size_t i, at = 0, place = 0, start = ret->len, k;
	bool newline;
	int r = 0;

	*count = (struct patch_count){ 0 };
	if (f->kind == PATCH_ADD) {
		r = new_file(f, ret, count);
		goto done;
	}
	if (edit_is_binary(src, len))
		return err_set(e, ERR_USAGE,
		    "%.200s is a binary file and can't be patched as text",
		    f->path);
	split(src, len, &t);
	o.crlf = t.crlf;
	newline = len == 0 || src[len - 1] == '\n';
	for (i = 0; i < f->n && r == 0; i++) {
		const struct hunk *h = &f->v[i];

		if (h->n == 0)
			continue;
		r = locate(f->path, &t, h, at, &place, e);
		if (r < 0)
			break;
		for (k = at; k < place; k++)
			keep(&o, &t, k);
		at = put_hunk(&o, &t, h, place, count);
		if (at == t.n && (h->old_no_newline || h->new_no_newline))
			newline = !h->new_no_newline;
	}
	for (; r == 0 && at < t.n; at++)
		keep(&o, &t, at);
	free(t.v);
	if (r == 0 && o.r == 0 && !newline)
		cut_eol(ret, start);
	if (r == 0)
		r = o.r;
done:
	if (r == -ENOBUFS)
		r = err_set(
		    e, ERR_LIMIT, "%.200s would become too large", f->path);
	if (r < 0) {
		ret->len = start;
		if (ret->data != NULL)
			ret->data[start] = '\0';
	}
	return r;
}
