/*
 * tests_spec.c - ticks and crosses: node --test, mocha, jest, vitest; see
 * tests_parse.h.
 *
 * Titles of suites stand above their tests, less indented.
 */
#include "common/compat.h"

#include "common/buf.h"
#include "common/log.h"
#include "common/tests_parse.h"

#define DEPTH 16
#define SEP " \xe2\x80\xba " /* as jest writes it */

static const char *const ticks[] = { "\xe2\x9c\x94 ", "\xe2\x9c\x93 ",
	"\xe2\x88\x9a " };
static const char *const crosses[] = { "\xe2\x9c\x96 ", "\xe2\x9c\x95 ",
	"\xe2\x9c\x97 ", "\xc3\x97 " };
static const char *const skips[] = { "\xef\xb9\xa3 ", "\xe2\x97\x8b ",
	"\xe2\x86\x93 " };
static const char arrow[] = "\xe2\x96\xb6 ";  /* node: a suite */
static const char info[] = "\xe2\x84\xb9 ";   /* node: its numbers */
static const char bullet[] = "\xe2\x97\x8f "; /* jest: a failure */

struct title {
	char *text;
	size_t indent;
};

struct spec {
	struct title v[DEPTH];
	size_t n;
	struct test_report *t;
	char *file; /* of jest's last "FAIL path" */
	uint64_t passed, failed, skipped;
	bool numbers; /* those three were said */
	bool done;    /* results are over, details follow */
	bool jest;
	size_t marks;
};

static size_t
marked(const struct tline *l, const char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (tline_starts(l, list[i]))
			return strlen(list[i]);
	}
	return 0;
}

static void
pop(struct spec *p, size_t indent)
{
	while (p->n > 0 && p->v[p->n - 1].indent >= indent)
		free(p->v[--p->n].text);
}

static void
push(struct spec *p, size_t indent, const char *s, size_t len)
{
	pop(p, indent);
	if (p->n == DEPTH || len == 0)
		return;
	p->v[p->n++] =
	    (struct title){ xstrndup(s, len < 200 ? len : 200), indent };
}

/* Without " (1.2ms)", " (3 ms)", " 12ms", " (1.5s)"; *ms is set when there. */
static size_t
strip_time(const char *s, size_t len, uint64_t *ms)
{
	size_t end = len, num, start;
	double unit;
	bool paren = end > 0 && s[end - 1] == ')';

	*ms = 0;
	if (paren)
		end--;
	if (end < 2 || s[end - 1] != 's')
		return len;
	end--;
	unit = 1000;
	if (s[end - 1] == 'm') {
		unit = 1;
		end--;
	}
	while (end > 0 && s[end - 1] == ' ')
		end--;
	num = end;
	while (num > 0 &&
	    ((s[num - 1] >= '0' && s[num - 1] <= '9') || s[num - 1] == '.'))
		num--;
	if (num == end || !tline_ms(s + num, end - num, unit, ms))
		return len;
	start = num;
	if (paren) {
		if (start == 0 || s[start - 1] != '(')
			return len;
		start--;
	}
	if (start == 0 || s[start - 1] != ' ')
		return len;
	while (start > 0 && s[start - 1] == ' ')
		start--;
	return start;
}

static char *
full_name(const struct spec *p, const char *s, size_t len)
{
	struct buf b;
	size_t i;

	buf_init(&b, 8192);
	for (i = 0; i < p->n; i++)
		(void)buf_printf(&b, "%s" SEP, p->v[i].text);
	(void)buf_add(&b, s, len);
	return buf_detach(&b, NULL);
}

static void
mark(struct spec *p, const struct tline *l, size_t skip, bool pass)
{
	const char *s = l->s + skip;
	size_t len = l->len - skip;
	uint64_t ms;
	char *name;

	len = strip_time(s, len, &ms);
	/* node 22 closes a suite with a mark of its own. */
	if (p->n > 0 && p->v[p->n - 1].indent >= l->indent) {
		bool closes = p->v[p->n - 1].indent == l->indent &&
		    strlen(p->v[p->n - 1].text) == len &&
		    memcmp(p->v[p->n - 1].text, s, len) == 0;

		pop(p, l->indent);
		if (closes)
			return;
	}
	p->marks++;
	name = full_name(p, s, len);
	if (pass) {
		report_pass(p->t, name, strlen(name));
		report_slow(p->t, ms);
	} else {
		report_fail(p->t, name, strlen(name));
	}
	free(name);
}

/* "Tests:  1 failed, 2 passed, 3 total" and "Tests  1 failed | 2 passed (3)" */
static void
jest_numbers(struct spec *p, const struct tline *l)
{
	size_t i = 5, end;
	uint64_t n;

	p->passed = p->failed = p->skipped = 0;
	while (i < l->len) {
		if (!tline_num(l, i, &n, &end)) {
			i++;
			continue;
		}
		if (tline_at(l, end, " passed"))
			p->passed = n;
		else if (tline_at(l, end, " failed"))
			p->failed = n;
		else if (tline_at(l, end, " skipped") ||
		    tline_at(l, end, " todo"))
			p->skipped += n;
		i = end;
	}
	p->numbers = true;
	p->jest = true;
}

static bool
word_number(const struct tline *l, const char *word, uint64_t *ret)
{
	size_t end;
	uint64_t n;

	/* mocha: "5 passing (10ms)" */
	if (!tline_num(l, 0, &n, &end) || !tline_at(l, end, word))
		return false;
	*ret = n;
	return true;
}

static void
numbers(struct spec *p, const struct tline *l)
{
	uint64_t n;
	size_t k = strlen(info);

	if (tline_starts(l, info)) {
		struct tline r = *l;

		r.s += k;
		r.len -= k;
		if (tline_starts(&r, "tests ")) {
			p->done = p->numbers = true;
		} else if (tline_starts(&r, "pass ") &&
		    tline_num(&r, 5, &n, NULL)) {
			p->passed = n;
		} else if ((tline_starts(&r, "fail ") &&
			       tline_num(&r, 5, &n, NULL)) ||
		    (tline_starts(&r, "cancelled ") &&
			tline_num(&r, 10, &n, NULL))) {
			p->failed += n;
		} else if ((tline_starts(&r, "skipped ") &&
			       tline_num(&r, 8, &n, NULL)) ||
		    (tline_starts(&r, "todo ") && tline_num(&r, 5, &n, NULL))) {
			p->skipped += n;
		}
	} else if (word_number(l, " passing", &n)) {
		p->passed = n;
		p->numbers = p->done = true;
	} else if (p->done && word_number(l, " failing", &n)) {
		p->failed = n;
	} else if (p->done && word_number(l, " pending", &n)) {
		p->skipped = n;
	} else if (tline_starts(l, "Tests:  ") || tline_starts(l, "Tests  ")) {
		jest_numbers(p, l);
	}
}

static void
jest_line(struct spec *p, const struct tline *l)
{
	size_t k = strlen(bullet), at = 5;

	if (tline_starts(l, "FAIL ") && l->len > 5) {
		while (at < l->len && l->s[at] == ' ')
			at++;
		free(p->file);
		p->file = xstrndup(l->s + at, l->len - at);
		p->n = p->n > 0 ? (pop(p, 0), 0) : 0;
		/* vitest: "FAIL  a.test.js > suite > name" */
		if (tline_find(l, at, " > ") < l->len)
			report_fail(p->t, l->s + at, l->len - at);
		return;
	}
	if (!tline_starts(l, bullet) || p->file == NULL)
		return;
	if (tline_at(l, k, "Test suite failed to run"))
		report_fail(p->t, p->file, strlen(p->file));
	else if (!tline_at(l, k, "Console"))
		report_fail(p->t, l->s + k, l->len - k);
}

static void
spec_line(struct spec *p, const struct tline *l)
{
	size_t k, end;
	uint64_t n, ms;

	if (l->len == 0)
		return;
	numbers(p, l);
	jest_line(p, l);
	if (p->done)
		return;
	if (tline_starts(l, arrow)) {
		k = strlen(arrow);
		end = strip_time(l->s + k, l->len - k, &ms);
		push(p, l->indent, l->s + k, end);
	} else if ((k = marked(l, ticks, nitems(ticks))) > 0) {
		mark(p, l, k, true);
	} else if ((k = marked(l, crosses, nitems(crosses))) > 0) {
		mark(p, l, k, false);
	} else if (marked(l, skips, nitems(skips)) > 0) {
		return;
	} else if (l->indent >= 2 && tline_num(l, 0, &n, &end) &&
	    tline_at(l, end, ") ")) {
		mark(p, l, end + 2, false); /* mocha: "1) name" */
	} else if (l->indent >= 2 && l->len < 200) {
		push(p, l->indent, l->s, l->len);
	}
}

bool
parse_spec(const char *s, size_t len, struct test_report *t)
{
	struct spec p = { .t = t };
	struct tline l;

	tline_init(&l, s, len);
	while (tline_next(&l))
		spec_line(&p, &l);
	pop(&p, 0);
	free(p.file);
	if (!p.numbers)
		return false;
	t->runner = "spec";
	t->all_names = t->n_passed >= p.passed && p.passed > 0;
	t->exact = true;
	t->n_passed = p.passed;
	t->n_failed = p.failed;
	t->n_skipped = p.skipped;
	t->none = p.passed + p.failed + p.skipped == 0;
	return true;
}
