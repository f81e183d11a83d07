/* shell_brace.c - one word with braces becomes several. */
#include "common/compat.h"

#include <ctype.h>
#include <limits.h>

#include "sandbox/policy/shell_priv.h"

/* --- braces ----------------------------------------------------------------
 */

#define BRACES_MAX 256

struct expansion {
	struct sh_parser *p;
	struct sh_word **words;
	size_t *n;
	size_t made;
	unsigned flags; /* of the whole word */
	char *var;
	bool braces; /* it came of some */
};

/* "~+", "~-", "~2": what the shell holds in variables of its own. */
static unsigned
tilde_of_shell(const struct sh_word *w)
{
	return w->len > 1 && strchr("+-0123456789", w->text[1]) != NULL
	    ? SH_COMPUTED
	    : 0;
}

static void
finish(struct expansion *x, const char *text, const bool *plain, size_t n)
{
	const char *close = n > 0 ? memrchr(text, ']', n) : NULL;
	struct sh_word *w;

	/* Nothing is left of an empty one, unless there are quotes in it: those
	 * can't be told here, and a command of that name there is none. */
	if (n == 0 && x->braces) {
		x->made++;
		return;
	}
	*x->words = sh_grow(x->p->out, *x->words, *x->n, sizeof **x->words);
	w = &(*x->words)[(*x->n)++];
	*w = (struct sh_word){ .text = sh_dup(x->p->out, text, n),
		.len = n,
		.flags = x->flags,
		.var = x->var };
	for (size_t i = 0; i < n; i++) {
		if (plain[i] && text[i] != '\0' &&
		    strchr("*?[", text[i]) != NULL &&
		    (text[i] != '[' || (close != NULL && close > text + i)))
			w->flags |= SH_GLOB;
	}
	if (n > 0 && plain[0] && text[0] == '~')
		w->flags |= SH_TILDE | tilde_of_shell(w);
	x->made++;
}

/* The end of the brace that opens at i, and whether there is a comma or ".." at
 * its own level; 0: it is none. */
static size_t
brace_end(const char *text, const bool *plain, size_t n, size_t i,
    bool *ret_list, bool *ret_range)
{
	size_t depth = 0;

	*ret_list = *ret_range = false;
	for (size_t k = i + 1; k < n; k++) {
		if (!plain[k])
			continue;
		if (text[k] == '{') {
			depth++;
		} else if (text[k] == '}') {
			if (depth-- == 0)
				return k;
		} else if (text[k] == ',' && depth == 0) {
			*ret_list = true;
		} else if (text[k] == '.' && depth == 0 && k + 1 < n &&
		    plain[k + 1] && text[k + 1] == '.') {
			*ret_range = true;
		}
	}
	return 0;
}

/* Of "007", as many digits as all items then have; else 0. */
static int
zeros(const char *s, const char *end)
{
	const char *digits = s + (*s == '-');

	return *digits == '0' && end > digits + 1 ? (int)(end - s) : 0;
}

/* 1..3, a..f, 1..10..2, 01..10; into ret, separated by NUL. False: it is none,
 * or (*more) there are more than are made. */
static bool
range(const char *s, size_t len, struct sh_draft *ret, bool *more)
{
	char buf[64], text[80];
	long a, b, by = 1, count;
	char *end;
	bool chars = false;
	int width = 0, other;

	*more = len >= sizeof buf &&
	    (isdigit((unsigned char)*s) || strchr("+-", *s) != NULL);
	if (len >= sizeof buf)
		return false;
	memcpy(buf, s, len);
	buf[len] = '\0';
	a = strtol(buf, &end, 10);
	if (end == buf && isalpha((unsigned char)buf[0])) {
		chars = true;
		a = buf[0];
		end = buf + 1;
	} else if (end == buf) {
		return false;
	}
	if (strncmp(end, "..", 2) != 0)
		return false;
	if (!chars)
		width = zeros(buf, end);
	s = end + 2;
	b = chars ? *s : strtol(s, &end, 10);
	if (chars) {
		if (!isalpha((unsigned char)*s))
			return false;
		end = (char *)(uintptr_t)s + 1;
	} else if (end == s) {
		return false;
	} else if (width > 0 || zeros(s, end) > 0) {
		width = (int)(strcspn(buf, "."));
		other = (int)(end - s);
		width = other > width ? other : width;
	}
	if (strncmp(end, "..", 2) == 0) {
		s = end + 2;
		by = strtol(s, &end, 10);
		if (end == s)
			return false;
		by = by < -LONG_MAX ? LONG_MAX
		    : by < 0        ? -by
		    : by == 0       ? 1
				    : by;
	}
	if (*end != '\0')
		return false;
	*more = a > 1000000 || a < -1000000 || b > 1000000 || b < -1000000 ||
	    by <= 0 || by > 1000000;
	if (*more)
		return false;
	count = (a < b ? b - a : a - b) / by + 1;
	*more = count > BRACES_MAX;
	if (*more)
		return false;
	for (long i = 0; i < count; i++) {
		long v = a < b ? a + i * by : a - i * by;
		int l = chars ? snprintf(text, sizeof text, "%c", (char)v)
			      : snprintf(text, sizeof text, "%0*ld", width, v);

		for (int k = 0; k <= l; k++)
			sh_put(ret, text[k], false);
	}
	return true;
}

static void expand(struct expansion *x, const char *text, const bool *plain,
    size_t n, size_t from);

/* head + middle + tail, and on from where the middle begins. */
static void
join(struct expansion *x, const char *text, const bool *plain, size_t open,
    const char *mid, const bool *mid_plain, size_t mid_len, size_t close,
    size_t n)
{
	struct sh_draft d = { 0 };

	if (x->made >= BRACES_MAX)
		return;
	for (size_t i = 0; i < open; i++)
		sh_put(&d, text[i], plain[i]);
	for (size_t i = 0; i < mid_len; i++)
		sh_put(&d, mid[i], mid_plain != NULL && mid_plain[i]);
	for (size_t i = close + 1; i < n; i++)
		sh_put(&d, text[i], plain[i]);
	sh_put(&d, '\0', false);
	x->braces = true;
	expand(x, d.text, d.plain, d.n - 1, open);
	sh_draft_clear(&d);
}

static void
expand_list(struct expansion *x, const char *text, const bool *plain, size_t n,
    size_t open, size_t close)
{
	size_t start = open + 1, depth = 0;

	for (size_t k = open + 1; k <= close; k++) {
		if (!plain[k])
			continue;
		if (text[k] == '{')
			depth++;
		else if (k < close && text[k] == '}')
			depth--;
		else if (depth == 0 && (text[k] == ',' || k == close)) {
			join(x, text, plain, open, text + start, plain + start,
			    k - start, close, n);
			start = k + 1;
		}
	}
}

static void
expand(struct expansion *x, const char *text, const bool *plain, size_t n,
    size_t from)
{
	struct sh_draft items = { 0 };
	bool list, ranged, more;
	size_t end;

	for (size_t i = from; i < n; i++) {
		if (!plain[i] || text[i] != '{')
			continue;
		if (!sh_step(x->p, (n - i) / 8)) /* looked at, no more */
			return;
		end = brace_end(text, plain, n, i, &list, &ranged);
		if (end == 0)
			continue;
		if (list) {
			expand_list(x, text, plain, n, i, end);
			return;
		}
		more = false;
		if (ranged && range(text + i + 1, end - i - 1, &items, &more)) {
			for (size_t k = 0; k < items.n;
			     k += strlen(items.text + k) + 1)
				join(x, text, plain, i, items.text + k, NULL,
				    strlen(items.text + k), end, n);
			sh_draft_clear(&items);
			return;
		}
		if (more)
			x->flags |= SH_COMPUTED;
		sh_draft_clear(&items);
		items = (struct sh_draft){ 0 };
	}
	finish(x, text, plain, n);
}

void
sh_expand_braces(
    struct sh_parser *p, struct sh_draft *d, struct sh_word **words, size_t *n)
{
	struct expansion x = {
		.p = p,
		.words = words,
		.n = n,
		.flags = d->flags | (d->assign ? SH_ASSIGN : 0),
		.var = d->var,
	};
	const size_t before = *n;

	sh_put(d, '\0', false);
	d->n--;
	if (d->assign || p->plain)
		finish(&x, d->text, d->plain, d->n);
	else
		expand(&x, d->text, d->plain, d->n, 0);
	/* Some of them are missing. */
	if (x.made >= BRACES_MAX) {
		for (size_t i = before; i < *n; i++)
			(*words)[i].flags |= SH_COMPUTED;
	}
}
