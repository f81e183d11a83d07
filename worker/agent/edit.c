/*
 * edit.c - see edit.h.
 *
 * Matching works on a copy in which every CRLF is a newline; at[] gives, for
 * each byte of the copy, where it lies in the source.
 */
#include "common/compat.h"

#include <ctype.h>
#include <errno.h>

#include "common/json.h"
#include "common/log.h"
#include "common/text.h"
#include "worker/agent/edit.h"

#define MAX_LISTED 20

struct norm {
	char *s;
	size_t len;
	size_t *at; /* len + 1 entries; NULL: the same offsets */
	size_t n_crlf;
	size_t n_lf; /* lone ones */
};

bool
edit_is_binary(const char *s, size_t len)
{
	return len > 0 && memchr(s, '\0', len) != NULL;
}

static void
norm_init(struct norm *n, const char *s, size_t len, bool map)
{
	size_t i, o = 0;

	*n = (struct norm){ 0 };
	n->s = xmalloc(len + 1);
	if (map)
		n->at = xcalloc(len + 1, sizeof *n->at);
	for (i = 0; i < len; i++) {
		if (map)
			n->at[o] = i;
		if (s[i] == '\r' && i + 1 < len && s[i + 1] == '\n') {
			n->n_crlf++;
			i++;
		} else if (s[i] == '\n') {
			n->n_lf++;
		}
		n->s[o++] = s[i];
	}
	if (map)
		n->at[o] = len;
	n->s[o] = '\0';
	n->len = o;
}

static void
norm_clear(struct norm *n)
{
	free(n->s);
	free(n->at);
}

static uint64_t
line_of(const char *s, size_t off)
{
	const char *p = s, *end = s + off;
	uint64_t line = 1;

	while ((p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
		line++;
		p++;
	}
	return line;
}

/* The places of old, at most max of them kept; returns how many there are. */
static size_t
find_all(const struct norm *t, const char *old, size_t old_len, bool overlap,
    size_t *ret, size_t max)
{
	const char *p = t->s, *hit;
	size_t left, n = 0;

	while ((left = t->len - (size_t)(p - t->s)) >= old_len &&
	    (hit = memmem(p, left, old, old_len)) != NULL) {
		if (n < max)
			ret[n] = (size_t)(hit - t->s);
		n++;
		p = hit + (overlap ? 1 : old_len);
	}
	return n;
}

/* A line without the blanks at its ends. */
static const char *
trim(const char *s, size_t len, size_t *ret_len)
{
	while (len > 0 && isspace((unsigned char)*s)) {
		s++;
		len--;
	}
	while (len > 0 && isspace((unsigned char)s[len - 1]))
		len--;
	*ret_len = len;
	return s;
}

static size_t
line_len(const char *s, const char *end)
{
	const char *nl = memchr(s, '\n', (size_t)(end - s));

	return nl != NULL ? (size_t)(nl - s) : (size_t)(end - s);
}

/* Do the lines of old stand at p but for blanks at their ends? */
static bool
loose_match(const char *p, const char *end, const char *old)
{
	const char *old_end = old + strlen(old), *a, *b;
	size_t n, m, an, bn;

	while (old < old_end) {
		m = line_len(old, old_end);
		if (p >= end)
			return false;
		n = line_len(p, end);
		a = trim(p, n, &an);
		b = trim(old, m, &bn);
		if (an != bn || memcmp(a, b, an) != 0)
			return false;
		p += n + (p + n < end);
		old += m + (old + m < old_end);
	}
	return true;
}

static bool
indent_has(const char *s, size_t len, char c)
{
	size_t i;

	for (i = 0; i < len && (s[i] == ' ' || s[i] == '\t'); i++) {
		if (s[i] == c)
			return true;
	}
	return false;
}

/* Why old is not there: the hint that lets the next try succeed. */
static int
not_found(
    const char *name, const struct norm *t, const char *old, struct err *e)
{
	const char *p, *end = t->s + t->len, *first, *got;
	size_t first_len, n, got_len;
	uint64_t line = 1, near = 0;

	first = old + strspn(old, "\n");
	first = trim(first, line_len(first, old + strlen(old)), &first_len);
	for (p = t->s; p < end; p += n + 1, line++) {
		n = line_len(p, end);
		if (loose_match(p, end, old)) {
			const char *how = "in blanks (indentation or ends of "
					  "lines)";

			if (indent_has(p, n, '\t') &&
			    !indent_has(
				old, line_len(old, old + strlen(old)), '\t'))
				how = "in blanks: the file is indented with "
				      "tabs, `old` with spaces";
			else if (indent_has(p, n, ' ') &&
			    indent_has(
				old, line_len(old, old + strlen(old)), '\t'))
				how = "in blanks: the file is indented with "
				      "spaces, `old` with tabs";
			return err_set(e, ERR_NOTFOUND,
			    "`old` does not occur in %.200s; the text at line "
			    "%llu differs only %s. Copy it exactly as read_file "
			    "shows it",
			    name, (unsigned long long)line, how);
		}
		got = trim(p, n, &got_len);
		if (near == 0 && first_len >= 3 && got_len == first_len &&
		    memcmp(got, first, got_len) == 0)
			near = line;
	}
	if (near != 0)
		return err_set(e, ERR_NOTFOUND,
		    "`old` does not occur in %.200s; its first line stands at "
		    "line %llu, but what follows differs. Read the file again",
		    name, (unsigned long long)near);
	return err_set(e, ERR_NOTFOUND,
	    "`old` does not occur in %.200s. Read the file and copy the text "
	    "exactly",
	    name);
}

static void
list_lines(
    const struct norm *t, const size_t *v, size_t n, char *dst, size_t size)
{
	size_t i, at = 0;
	int k;

	dst[0] = '\0';
	for (i = 0; i < n && i < MAX_LISTED && at + 24 < size; i++) {
		k = snprintf(dst + at, size - at, "%s%llu", i > 0 ? ", " : "",
		    (unsigned long long)line_of(t->s, v[i]));
		at += (size_t)k;
	}
	if (i < n && at + 6 < size)
		snprintf(dst + at, size - at, ", ...");
}

/* Keep in v only what starts on the line; returns how many. */
static size_t
only_line(const struct norm *t, size_t *v, size_t n, uint64_t line)
{
	size_t i, k = 0;

	for (i = 0; i < n; i++) {
		if (line_of(t->s, v[i]) == line)
			v[k++] = v[i];
	}
	return k;
}

/* Does the text around this place end its lines with CRLF? */
static bool
place_crlf(
    const struct norm *t, const char *src, size_t len, size_t a, size_t b)
{
	const char *nl;
	size_t o;

	nl = memchr(t->s + a, '\n', b - a);
	if (nl == NULL)
		nl = memchr(t->s + b, '\n', t->len - b);
	if (nl == NULL)
		return t->n_crlf > t->n_lf;
	o = t->at[nl - t->s];
	return o < len && src[o] == '\r';
}

static int
add_text(struct buf *ret, const char *s, size_t len, bool crlf)
{
	const char *nl;
	size_t n;
	int r;

	while (len > 0) {
		nl = crlf ? memchr(s, '\n', len) : NULL;
		n = nl != NULL ? (size_t)(nl - s) : len;
		if ((r = buf_add(ret, s, n)) < 0)
			return r;
		if (nl != NULL) {
			if ((r = buf_add(ret, "\r\n", 2)) < 0)
				return r;
			n++;
		}
		s += n;
		len -= n;
	}
	return 0;
}

static int
rebuild(const struct norm *t, const char *src, size_t len, const size_t *v,
    size_t n, size_t old_len, const struct norm *fresh, struct buf *ret)
{
	size_t i, from = 0, start = ret->len;
	bool crlf = t->n_crlf > t->n_lf, had, has, whole_tail;
	int r;

	for (i = 0; i < n; i++) {
		crlf = place_crlf(t, src, len, v[i], v[i] + old_len);
		if ((r = buf_add(ret, src + from, t->at[v[i]] - from)) < 0 ||
		    (r = add_text(ret, fresh->s, fresh->len, crlf)) < 0)
			return r;
		from = t->at[v[i] + old_len];
	}
	if ((r = buf_add(ret, src + from, len - from)) < 0)
		return r;
	/* The end of the file stays as it was. */
	whole_tail = from == len && len > 0 && ret->len > start;
	had = len > 0 && src[len - 1] == '\n';
	has = ret->len > start && ret->data[ret->len - 1] == '\n';
	if (!whole_tail || had == has)
		return 0;
	if (had)
		return buf_adds(ret, crlf ? "\r\n" : "\n");
	if (fresh->len == 0)
		return 0;
	ret->len--;
	if (ret->len > start && ret->data[ret->len - 1] == '\r')
		ret->len--;
	ret->data[ret->len] = '\0';
	return 0;
}

int
edit_apply(const char *name, const char *src, size_t len, const struct edit *ed,
    struct buf *ret, struct edit_done *done, struct err *e)
{
	struct norm t = { 0 }, old = { 0 }, fresh = { 0 };
	size_t *v = NULL, n, total, max, at = ret->len;
	char lines[320];
	int r = 0;

	if (edit_is_binary(src, len))
		return err_set(e, ERR_USAGE,
		    "%.200s is a binary file and can't be edited as text",
		    name);
	norm_init(&old, ed->old_text, strlen(ed->old_text), false);
	norm_init(&fresh, ed->new_text, strlen(ed->new_text), false);
	norm_init(&t, src, len, true);
	if (strcmp(old.s, fresh.s) == 0) {
		r = err_set(e, ERR_USAGE,
		    "`old` and `new` are the same: nothing would change");
		goto out;
	}
	if (old.len == 0) {
		if (len != 0) {
			r = err_set(e, ERR_USAGE,
			    "`old` is empty, but %.200s exists and is not: say "
			    "which text to replace",
			    name);
			goto out;
		}
		r = add_text(ret, fresh.s, fresh.len, false);
		*done = (struct edit_done){ 1, 1 };
		goto out;
	}
	max = t.len / old.len + 1;
	if (!ed->replace_all)
		max = t.len + 1 < 10000 ? t.len + 1 : 10000;
	v = xcalloc(max, sizeof *v);
	total = n = find_all(&t, old.s, old.len, !ed->replace_all, v, max);
	if (n > max)
		n = max;
	if (total == 0) {
		r = not_found(name, &t, old.s, e);
		goto out;
	}
	list_lines(&t, v, n, lines, sizeof lines);
	if (ed->line != 0) {
		n = only_line(&t, v, n, ed->line);
		if (n == 0)
			r = err_set(e, ERR_NOTFOUND,
			    "`old` does not start on line %llu of %.200s; it "
			    "starts on line %s",
			    (unsigned long long)ed->line, name, lines);
		else if (n > 1 && !ed->replace_all)
			r = err_set(e, ERR_USAGE,
			    "`old` occurs %zu times on line %llu of %.200s: "
			    "give more of the text around it",
			    n, (unsigned long long)ed->line, name);
	} else if (total > 1 && !ed->replace_all) {
		r = err_set(e, ERR_USAGE,
		    "`old` occurs %zu times in %.200s, on lines %s: give more "
		    "of the text around it, or `line`, or `replace_all`",
		    total, name, lines);
	}
	if (r < 0)
		goto out;
	*done = (struct edit_done){ n, line_of(t.s, v[0]) };
	r = rebuild(&t, src, len, v, n, old.len, &fresh, ret);
	if (r == 0 && ret->len - at == len &&
	    memcmp(ret->data + at, src, len) == 0)
		r = err_set(
		    e, ERR_USAGE, "nothing would change in %.200s", name);
out:
	if (r == -ENOBUFS)
		r = err_set(
		    e, ERR_LIMIT, "%.200s would become too large", name);
	if (r < 0) {
		ret->len = at;
		if (ret->data != NULL)
			ret->data[at] = '\0';
	}
	free(v);
	norm_clear(&t);
	norm_clear(&old);
	norm_clear(&fresh);
	return r;
}

static bool
begins_line(const char *s, size_t at)
{
	return at == 0 || s[at - 1] == '\n';
}

char *
edit_said(const char *old, size_t old_len, const char *new_text, size_t new_len)
{
	size_t most = old_len < new_len ? old_len : new_len;
	size_t head = 0, tail = 0, i;
	json_t *j;
	char *text;

	for (i = 0; i < most && old[i] == new_text[i]; i++)
		if (old[i] == '\n')
			head = i + 1;
	for (i = 1;
	     i <= most - head && old[old_len - i] == new_text[new_len - i]; i++)
		if (begins_line(old, old_len - i) &&
		    begins_line(new_text, new_len - i))
			tail = i;
	old_len -= head + tail;
	new_len -= head + tail;
	j = json_pack("{s:o, s:o}", "old",
	    json_str_lossy(
		old + head, text_cut(old + head, old_len, EDIT_SAID_MAX)),
	    "new",
	    json_str_lossy(new_text + head,
		text_cut(new_text + head, new_len, EDIT_SAID_MAX)));
	text = json_text(j);
	json_decref(j);
	return text;
}
