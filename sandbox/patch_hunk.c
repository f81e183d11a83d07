/* patch_hunk.c - the body of a file's part of a patch. */
#include "common/compat.h"

#include <errno.h>

#include "sandbox/patch.h"

#define LINES_MAX 100000000U

int
patch_syntax(struct err *e, const char *what)
{
	return err_set(e, ERR_SYNTAX, "not a patch: %s", what);
}

struct patch_line
patch_peek(const char *at, const char *end)
{
	struct patch_line l = { .s = at, .next = at, .is_end = at == end };
	const char *nl;

	if (l.is_end)
		return l;
	nl = memchr(at, '\n', (size_t)(end - at));
	l.len = (size_t)((nl != NULL ? nl : end) - at);
	l.next = nl != NULL ? nl + 1 : end;
	if (l.len > 0 && at[l.len - 1] == '\r')
		l.len--;
	return l;
}

bool
patch_starts(const struct patch_line *l, const char *prefix)
{
	size_t n = strlen(prefix);

	return l->len >= n && memcmp(l->s, prefix, n) == 0;
}

/* Digits; max + 1 when it is more. */
static bool
get_count(const char **s, const char *end, uint32_t max, uint32_t *ret)
{
	const char *start = *s;
	uint64_t v = 0;

	for (; *s < end && **s >= '0' && **s <= '9'; (*s)++) {
		v = v * 10 + (uint64_t)(**s - '0');
		v = v > max ? (uint64_t)max + 1 : v;
	}
	*ret = (uint32_t)v;
	return *s > start;
}

/* "-12,3" or "-12" */
static bool
get_range(const char **s, const char *end, char sign, uint32_t *ret_n)
{
	uint32_t at;

	*ret_n = 1;
	if (*s >= end || *(*s)++ != sign ||
	    !get_count(s, end, LINES_MAX, &at) || at > LINES_MAX)
		return false;
	if (*s >= end || **s != ',')
		return true;
	(*s)++;
	return get_count(s, end, LINES_MAX, ret_n) && *ret_n <= LINES_MAX;
}

static bool
hunk_header(const struct patch_line *l, uint32_t *ret_old, uint32_t *ret_new)
{
	const char *s = l->s + 3, *end = l->s + l->len;

	if (!patch_starts(l, "@@ -") || !get_range(&s, end, '-', ret_old) ||
	    s >= end || *s++ != ' ' || !get_range(&s, end, '+', ret_new))
		return false;
	return end - s >= 3 && memcmp(s, " @@", 3) == 0;
}

/* Count one line of a hunk; what is wrong with it, or NULL. */
static const char *
hunk_line(const struct patch_line *l, uint32_t *old, uint32_t *new)
{
	/* Editors take the blank of an empty line of context away. */
	char c = l->len > 0 ? l->s[0] : ' ';

	if (c != ' ' && c != '-' && c != '+' && c != '\\')
		return "a hunk is shorter than it says";
	if ((*old == 0 && (c == ' ' || c == '-')) ||
	    (*new == 0 && (c == ' ' || c == '+')))
		return "a hunk is longer than it says";
	*old -= c == ' ' || c == '-';
	*new -= c == ' ' || c == '+';
	return NULL;
}

static int
hunk(const char **at, const char *end, struct err *e)
{
	struct patch_line l = patch_peek(*at, end);
	uint32_t old, new;
	const char *why;

	if (!hunk_header(&l, &old, &new))
		return patch_syntax(e, "a hunk's header can't be read");
	*at = l.next;
	while (old > 0 || new > 0) {
		l = patch_peek(*at, end);
		if (l.is_end)
			return patch_syntax(e, "it ends inside a hunk");
		why = hunk_line(&l, &old, &new);
		if (why != NULL)
			return patch_syntax(e, why);
		*at = l.next;
	}
	l = patch_peek(*at, end);
	if (patch_starts(&l, "\\ "))
		*at = l.next;
	return 0;
}

int
patch_hunks(
    const char **at, const char *end, struct patch_file *f, struct err *e)
{
	struct patch_line l;
	int r = 0;

	f->body = *at;
	for (l = patch_peek(*at, end); r == 0 && patch_starts(&l, "@@ -");
	     l = patch_peek(*at, end))
		r = hunk(at, end, e);
	f->body_len = (size_t)(*at - f->body);
	return r;
}

/* "literal 12", lines of base 85, an empty line; once more for the way back. */
int
patch_binary(
    const char **at, const char *end, struct patch_file *f, struct err *e)
{
	struct patch_line l = patch_peek(*at, end);
	const char *s;
	uint32_t size;
	int i;

	f->binary = true;
	f->body = *at;
	*at = l.next;
	for (i = 0; i < 2; i++) {
		l = patch_peek(*at, end);
		if (!patch_starts(&l, "literal ") &&
		    !patch_starts(&l, "delta "))
			break;
		s = (const char *)memchr(l.s, ' ', l.len) + 1;
		if (!get_count(&s, l.s + l.len, PATCH_LITERAL_MAX, &size))
			return patch_syntax(e, "a binary size can't be read");
		if (size > PATCH_LITERAL_MAX)
			return err_set(e, ERR_LIMIT,
			    "the patch makes a file of more than %u bytes",
			    PATCH_LITERAL_MAX);
		*at = l.next;
		for (l = patch_peek(*at, end); l.len > 0;
		     l = patch_peek(*at, end)) {
			if (memchr(l.s, ' ', l.len) != NULL)
				return patch_syntax(
				    e, "binary data can't be read");
			*at = l.next;
		}
		*at = l.next; /* the empty line */
	}
	f->body_len = (size_t)(*at - f->body);
	return i > 0 ? 0 : patch_syntax(e, "binary data are missing");
}

int
patch_check_target(const struct patch_file *f, struct err *e)
{
	const char *at = f->body, *end = f->body + f->body_len;
	struct patch_line l;
	struct buf target;
	size_t hunks = 0;
	int r = 0;

	buf_init(&target, 8192);
	for (; at < end && r == 0; at = l.next) {
		l = patch_peek(at, end);
		if (*at == '@' && hunks++ > 0)
			r = patch_syntax(e, "a link with two hunks");
		else if (*at == ' ' || l.len == 0)
			r = err_set(e, ERR_DENIED,
			    "the patch changes a part of a link");
		else if (*at == '+')
			r = buf_add(&target, at + 1, (size_t)(l.next - at - 1));
	}
	if (r == -ENOBUFS)
		r = err_set(e, ERR_LIMIT, "a link's target is too long");
	if (r == 0 && target.len > 0 && target.data[target.len - 1] == '\n')
		target.len--;
	if (r == 0)
		r = patch_check_link(f->to, buf_str(&target), target.len, e);
	buf_clear(&target);
	return r;
}
