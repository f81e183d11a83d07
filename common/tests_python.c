/* tests_python.c - pytest and unittest; see tests_parse.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/tests_parse.h"

/* --- pytest -------------------------------------------------------------- */

/* "=== 4 failed, 2 passed in 0.06s ===", or without the frame under -q. */
static bool
pytest_summary(const struct tline *l, struct test_report *t)
{
	struct test_report got = { 0 };
	size_t i = 0, end, in;
	uint64_t n, deselected = 0;
	bool any = false;

	while (i < l->len && l->s[i] == '=')
		i++;
	while (i < l->len && l->s[i] == ' ')
		i++;
	in = tline_find(l, i, " in ");
	if (in == l->len || in + 4 >= l->len || l->s[in + 4] < '0' ||
	    l->s[in + 4] > '9')
		return false;
	if (in - i == 12 && memcmp(l->s + i, "no tests ran", 12) == 0) {
		t->none = true;
		t->n_passed = t->n_failed = t->n_skipped = 0;
		return true;
	}
	while (i < in && tline_num(l, i, &n, &end)) {
		const char *w = l->s + end + 1;
		size_t left = end < in ? in - end - 1 : 0, k = 0;

		while (k < left && w[k] >= 'a' && w[k] <= 'z')
			k++;
		if (k == 6 && memcmp(w, "passed", 6) == 0)
			got.n_passed += n;
		else if (k == 7 && memcmp(w, "xpassed", 7) == 0)
			got.n_passed += n;
		else if ((k == 6 && memcmp(w, "failed", 6) == 0) ||
		    (k >= 5 && memcmp(w, "error", 5) == 0))
			got.n_failed += n;
		else if ((k == 7 && memcmp(w, "skipped", 7) == 0) ||
		    (k == 7 && memcmp(w, "xfailed", 7) == 0))
			got.n_skipped += n;
		else if (k == 10 && memcmp(w, "deselected", 10) == 0)
			deselected += n;
		else if (!(k >= 7 && memcmp(w, "warning", 7) == 0) &&
		    !(k == 5 && memcmp(w, "rerun", 5) == 0))
			return false;
		any = true;
		i = end + 1 + k;
		while (i < in && (l->s[i] == ',' || l->s[i] == ' '))
			i++;
	}
	if (!any || i < in)
		return false;
	t->none =
	    deselected > 0 && got.n_passed + got.n_failed + got.n_skipped == 0;
	t->n_passed = got.n_passed;
	t->n_failed = got.n_failed;
	t->n_skipped = got.n_skipped + deselected;
	return true;
}

/* "FAILED a.py::T::test_x[a b] - AssertionError: ..." */
static size_t
pytest_name_len(const char *s, size_t len)
{
	size_t i, depth = 0;

	for (i = 0; i < len; i++) {
		if (s[i] == '[')
			depth++;
		else if (s[i] == ']' && depth > 0)
			depth--;
		else if (depth == 0 && len - i >= 3 &&
		    memcmp(s + i, " - ", 3) == 0)
			return i;
	}
	/* An unclosed bracket: the message was cut in the name. */
	for (i = 0; i + 3 <= len; i++) {
		if (memcmp(s + i, " - ", 3) == 0)
			return i;
	}
	return len;
}

/* "a.py::test_x PASSED   [ 33%]", or xdist's "[gw0] [ 33%] PASSED a.py::x" */
static void
pytest_verbose(const struct tline *l, struct test_report *t)
{
	size_t at, n, end;

	if (tline_starts(l, "[gw")) {
		at = tline_find(l, 0, "] PASSED ");
		if (at < l->len && l->len > at + 9)
			report_pass(t, l->s + at + 9, l->len - at - 9);
		return;
	}
	if (l->indent > 0 || tline_find(l, 0, "::") == l->len)
		return;
	n = l->len;
	/* The last mark of the line, for names that hold the word. */
	for (at = tline_find(l, 0, " PASSED"), end = at; at < n;
	     at = tline_find(l, at + 1, " PASSED"))
		end = at;
	if (end < n && end > 0 && (end + 7 == n || l->s[end + 7] == ' '))
		report_pass(t, l->s, end);
}

bool
parse_pytest(const char *s, size_t len, struct test_report *t)
{
	enum {
		PROGRESS,
		DETAILS,
		SUMMARY
	} part = PROGRESS;
	struct test_report sum = { 0 };
	struct tline l;
	bool found = false;
	uint64_t verbose;
	size_t i;

	tline_init(&l, s, len);
	while (tline_next(&l)) {
		if (l.indent == 0 && pytest_summary(&l, &sum)) {
			found = true;
			continue;
		}
		if (l.len >= 3 && l.indent == 0 &&
		    (tline_starts(&l, "===") || tline_starts(&l, "!!!"))) {
			if (tline_find(&l, 0, " test session starts ") <
			    l.len) {
				part = PROGRESS;
			} else if (tline_find(&l, 0,
				       " short test summary info ") < l.len) {
				part = SUMMARY;
				strv_clear(&t->failed);
			} else {
				part = part == SUMMARY ? SUMMARY : DETAILS;
			}
			continue;
		}
		if (part == PROGRESS)
			pytest_verbose(&l, t);
		if (part != SUMMARY || l.indent > 0)
			continue;
		for (i = 0; i < 2; i++) {
			const char *mark = i == 0 ? "FAILED " : "ERROR ";
			size_t n = strlen(mark);

			if (tline_starts(&l, mark) && l.len > n)
				report_fail(t, l.s + n,
				    pytest_name_len(l.s + n, l.len - n));
		}
	}
	if (!found)
		return false;
	verbose = t->passed.n;
	t->runner = "pytest";
	t->n_passed = sum.n_passed;
	t->n_failed = sum.n_failed;
	t->n_skipped = sum.n_skipped;
	t->none =
	    sum.none || (sum.n_passed + sum.n_failed + sum.n_skipped == 0);
	t->exact = true;
	t->all_names = verbose >= sum.n_passed && sum.n_passed > 0;
	return true;
}

/* --- unittest ------------------------------------------------------------ */

/* "test_x (mod.Cls.test_x)" and the older "test_x (mod.Cls)", perhaps with
 * " (i=1)" of a subtest: "mod.Cls.test_x (i=1)". Yours, NULL: it is none. */
static char *
unittest_id(const char *s, size_t len)
{
	const char *open = memchr(s, '(', len), *close;
	size_t name, in;
	char *base, *out;

	if (open == NULL || open == s || open[-1] != ' ')
		return NULL;
	name = (size_t)(open - s) - 1;
	close = memchr(open, ')', len - (size_t)(open - s));
	if (close == NULL || name == 0 || memchr(s, ' ', name) != NULL)
		return NULL;
	in = (size_t)(close - open) - 1;
	if (in == 0)
		return NULL;
	if (in > name && memcmp(close - name, s, name) == 0 &&
	    close[-(ptrdiff_t)name - 1] == '.')
		base = xstrndup(open + 1, in);
	else
		base = xasprintf("%.*s.%.*s", (int)in, open + 1, (int)name, s);
	len -= (size_t)(close + 1 - s);
	if (len > 200)
		len = 200;
	out = xasprintf("%s%.*s", base, (int)len, close + 1);
	free(base);
	return out;
}

/* "FAILED (failures=1, errors=2, skipped=1)" */
static uint64_t
unittest_count(const struct tline *l, const char *key)
{
	size_t at = tline_find(l, 0, key);
	uint64_t n = 0;

	if (at < l->len)
		(void)tline_num(l, at + strlen(key), &n, NULL);
	return n;
}

static void
unittest_failed(const struct tline *l, size_t skip, struct test_report *t)
{
	char *id = unittest_id(l->s + skip, l->len - skip);

	if (id != NULL)
		report_fail(t, id, strlen(id));
	else
		report_fail(t, l->s + skip, l->len - skip);
	free(id);
}

bool
parse_unittest(const char *s, size_t len, struct test_report *t)
{
	struct tline l, before = { 0 };
	uint64_t ran = 0, n, bad = 0, skipped = 0;
	bool found = false, rule = false, named = false;
	size_t end;
	char *id;

	tline_init(&l, s, len);
	while (tline_next(&l)) {
		if (tline_starts(&l, "Ran ") && tline_num(&l, 4, &n, &end) &&
		    tline_at(&l, end, " test")) {
			found = true;
			ran += n;
		} else if (rule && tline_starts(&l, "FAIL: ")) {
			unittest_failed(&l, 6, t);
		} else if (rule && tline_starts(&l, "ERROR: ")) {
			unittest_failed(&l, 7, t);
		} else if (found &&
		    (tline_starts(&l, "FAILED (") ||
			tline_starts(&l, "OK ("))) {
			bad += unittest_count(&l, "failures=") -
			    unittest_count(&l, "expected failures=") +
			    unittest_count(&l, "errors=");
			skipped += unittest_count(&l, "skipped=") +
			    unittest_count(&l, "expected failures=");
		} else if (tline_ends(&l, " ... ok")) {
			id = unittest_id(l.s, l.len - 7);
			/* With a docstring the name is on the line before. */
			if (id == NULL && before.s != NULL)
				id = unittest_id(before.s, before.len);
			if (id != NULL) {
				report_pass(t, id, strlen(id));
				named = true;
			}
			free(id);
		}
		rule = l.indent == 0 && tline_starts(&l, "==========");
		before = l;
	}
	if (!found)
		return false;
	t->runner = "unittest";
	t->all_names = named;
	t->n_failed = bad > t->failed.n ? bad : t->failed.n;
	t->n_skipped = skipped;
	t->n_passed = ran > bad + skipped ? ran - bad - skipped : 0;
	t->none = ran == 0 && t->failed.n == 0;
	/* Subtests fail apart from their test: not the same thing. */
	t->exact = true;
	return true;
}
