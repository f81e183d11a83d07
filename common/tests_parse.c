/* tests_parse.c - which runner, and what all parsers share. */
#include "common/compat.h"

#include "common/log.h"
#include "common/tests_parse.h"
#include "common/text.h"

void
tline_init(struct tline *l, const char *s, size_t len)
{
	*l = (struct tline){ .p = s, .end = s + len };
}

bool
tline_next(struct tline *l)
{
	const char *nl;

	if (l->p >= l->end)
		return false;
	nl = memchr(l->p, '\n', (size_t)(l->end - l->p));
	l->s = l->p;
	l->len = nl != NULL ? (size_t)(nl - l->p) : (size_t)(l->end - l->p);
	l->p = nl != NULL ? nl + 1 : l->end;
	while (l->len > 0 && strchr(" \t\r", l->s[l->len - 1]) != NULL)
		l->len--;
	l->indent = 0;
	while (l->len > 0 && (*l->s == ' ' || *l->s == '\t')) {
		l->s++;
		l->len--;
		l->indent++;
	}
	return true;
}

bool
tline_starts(const struct tline *l, const char *prefix)
{
	size_t n = strlen(prefix);

	return l->len >= n && memcmp(l->s, prefix, n) == 0;
}

bool
tline_ends(const struct tline *l, const char *suffix)
{
	size_t n = strlen(suffix);

	return l->len >= n && memcmp(l->s + l->len - n, suffix, n) == 0;
}

size_t
tline_find(const struct tline *l, size_t from, const char *what)
{
	const char *hit;

	if (from >= l->len)
		return l->len;
	hit = memmem(l->s + from, l->len - from, what, strlen(what));
	return hit != NULL ? (size_t)(hit - l->s) : l->len;
}

bool
tline_at(const struct tline *l, size_t off, const char *what)
{
	size_t n = strlen(what);

	return off <= l->len && l->len - off >= n &&
	    memcmp(l->s + off, what, n) == 0;
}

bool
tline_num(const struct tline *l, size_t off, uint64_t *ret, size_t *end)
{
	uint64_t n = 0;
	size_t i;

	for (i = off; i < l->len && l->s[i] >= '0' && l->s[i] <= '9'; i++) {
		if (n < UINT32_MAX)
			n = n * 10 + (uint64_t)(l->s[i] - '0');
	}
	if (i == off)
		return false;
	*ret = n < UINT32_MAX ? n : UINT32_MAX;
	if (end != NULL)
		*end = i;
	return true;
}

bool
tline_ms(const char *s, size_t len, double unit_ms, uint64_t *ret)
{
	double v = 0, scale = 1;
	bool point = false, any = false;
	size_t i;

	for (i = 0; i < len; i++) {
		if (s[i] == '.' && !point) {
			point = true;
		} else if (s[i] >= '0' && s[i] <= '9') {
			any = true;
			v = v * 10 + (s[i] - '0');
			if (point)
				scale *= 10;
			if (v > 1e15)
				return false;
		} else {
			return false;
		}
	}
	if (!any)
		return false;
	*ret = (uint64_t)(v / scale * unit_ms + 0.5);
	return true;
}

static void
add_name(struct strv *v, const char *name, size_t len)
{
	struct buf b;

	if (v->n >= TESTS_MAX_NAMES || len == 0)
		return;
	if (text_is_utf8(name, len)) {
		strv_addn(v, name, text_cut(name, len, TESTS_MAX_NAME));
		return;
	}
	/* A title was cut within a character. */
	buf_init(&b, BUF_NOMAX);
	if (text_clean(&b, name, len, 0) == 0)
		strv_addn(v, buf_str(&b),
		    text_cut(buf_str(&b), b.len, TESTS_MAX_NAME));
	buf_clear(&b);
}

void
report_pass(struct test_report *t, const char *name, size_t len)
{
	t->n_passed++;
	add_name(&t->passed, name, len);
}

void
report_fail(struct test_report *t, const char *name, size_t len)
{
	t->n_failed++;
	add_name(&t->failed, name, len);
}

void
report_slow(struct test_report *t, uint64_t ms)
{
	/* A day at most: it becomes a field with a limit. */
	if (ms > t->slowest_ms && ms < 86400000)
		t->slowest_ms = ms;
}

void
test_report_clear(struct test_report *t)
{
	strv_clear(&t->passed);
	strv_clear(&t->failed);
	*t = (struct test_report){ 0 };
}

static void
sort_unique(struct strv *v)
{
	size_t i, k = 0;

	strv_sort(v);
	for (i = 0; i < v->n; i++) {
		if (k > 0 && strcmp(v->v[k - 1], v->v[i]) == 0)
			free(v->v[i]);
		else
			v->v[k++] = v->v[i];
	}
	if (v->v != NULL)
		v->v[k] = NULL;
	v->n = k;
}

/* A name that failed once did not pass. */
static void
drop_failed(struct test_report *t)
{
	size_t i, j = 0, k = 0;

	for (i = 0; i < t->passed.n; i++) {
		while (j < t->failed.n &&
		    strcmp(t->failed.v[j], t->passed.v[i]) < 0)
			j++;
		if (j < t->failed.n &&
		    strcmp(t->failed.v[j], t->passed.v[i]) == 0)
			free(t->passed.v[i]);
		else
			t->passed.v[k++] = t->passed.v[i];
	}
	if (t->passed.v != NULL)
		t->passed.v[k] = NULL;
	t->passed.n = k;
}

/* Those with a summary line of their own first: the others' marks may stand in
 * what a test prints. */
static bool (*const parsers[])(const char *, size_t, struct test_report *) = {
	parse_pytest,
	parse_cargo,
	parse_ctest,
	parse_prove,
	parse_unittest,
	parse_go,
	parse_tap,
	parse_spec,
};

void
tests_parse(const char *s, size_t len, struct test_report *ret)
{
	size_t i;

	for (i = 0; i < nitems(parsers); i++) {
		*ret = (struct test_report){ 0 };
		if (parsers[i](s, len, ret))
			break;
		test_report_clear(ret);
	}
	sort_unique(&ret->passed);
	sort_unique(&ret->failed);
	drop_failed(ret);
}
