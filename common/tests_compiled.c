/* tests_compiled.c - go test, cargo test, ctest; see tests_parse.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/tests_parse.h"

/* --- go ------------------------------------------------------------------ */

struct go_test {
	char *name;
	bool pass;
};

struct go {
	struct go_test *v; /* since the last package line */
	size_t n, size;
	bool verbose;
	struct test_report *t;
};

static void
go_add(struct go *g, const char *name, size_t len, bool pass)
{
	if (g->n >= TESTS_MAX_NAMES || len == 0)
		return;
	if (g->n == g->size) {
		g->size = g->size == 0 ? 64 : g->size * 2;
		g->v = xreallocarray(g->v, g->size, sizeof *g->v);
	}
	g->v[g->n++] = (struct go_test){ xstrndup(name, len), pass };
}

/* A package ends: its name qualifies the tests above. */
static void
go_package(struct go *g, const char *pkg, size_t len, bool failed)
{
	size_t i, bad = 0;
	char *name;

	for (i = 0; i < g->n; i++) {
		name = xasprintf(
		    "%.*s.%s", (int)(len < 200 ? len : 200), pkg, g->v[i].name);
		if (g->v[i].pass) {
			report_pass(g->t, name, strlen(name));
		} else {
			report_fail(g->t, name, strlen(name));
			bad++;
		}
		free(name);
		free(g->v[i].name);
	}
	if (failed && bad == 0) /* did not build, panicked */
		report_fail(g->t, pkg, len);
	else if (!failed && g->n == 0)
		g->t->n_passed++;
	g->n = 0;
}

static void
go_result(struct go *g, const struct tline *l)
{
	size_t paren, n = l->len - 10;
	const char *s = l->s + 10;
	uint64_t ms;
	bool pass = tline_starts(l, "--- PASS: ");

	paren = tline_find(l, 10, " (");
	if (paren < l->len)
		n = paren - 10;
	go_add(g, s, n, pass);
	if (pass && paren + 4 < l->len && tline_ends(l, "s)") &&
	    tline_ms(l->s + paren + 2, l->len - paren - 4, 1000, &ms))
		report_slow(g->t, ms);
}

bool
parse_go(const char *s, size_t len, struct test_report *t)
{
	struct go g = { .t = t };
	struct tline l;
	size_t end;
	bool found = false, skipped_pkg = false;

	tline_init(&l, s, len);
	while (tline_next(&l)) {
		if (tline_starts(&l, "=== RUN ")) {
			g.verbose = true;
		} else if (tline_starts(&l, "--- PASS: ") ||
		    tline_starts(&l, "--- FAIL: ")) {
			go_result(&g, &l);
		} else if (tline_starts(&l, "--- SKIP: ")) {
			t->n_skipped++;
		} else if (l.indent == 0 &&
		    (tline_starts(&l, "ok  \t") ||
			tline_starts(&l, "FAIL\t"))) {
			bool failed = *l.s == 'F';
			size_t at = 5;

			found = true;
			for (end = at;
			     end < l.len && l.s[end] != '\t' && l.s[end] != ' ';
			     end++)
				;
			if (!failed &&
			    tline_find(&l, end, "[no tests to run]") < l.len)
				continue;
			go_package(&g, l.s + at, end - at, failed);
		} else if (l.indent == 0 && tline_starts(&l, "?   \t")) {
			skipped_pkg = true;
		}
	}
	if (g.n > 0 && g.verbose) { /* killed before its package's line */
		found = true;
		go_package(&g, "main", 4, false);
	}
	while (g.n > 0)
		free(g.v[--g.n].name);
	free(g.v);
	if (!found && !skipped_pkg)
		return false;
	t->runner = "go";
	t->all_names = g.verbose;
	t->exact = g.verbose;
	t->none = t->n_passed + t->n_failed + t->n_skipped == 0;
	return true;
}

/* --- cargo --------------------------------------------------------------- */

static uint64_t
number_before(const struct tline *l, const char *word)
{
	size_t at = tline_find(l, 0, word), i;
	uint64_t n = 0;

	if (at == l->len || at == 0)
		return 0;
	for (i = at; i > 0 && l->s[i - 1] >= '0' && l->s[i - 1] <= '9'; i--)
		;
	(void)tline_num(l, i, &n, NULL);
	return n;
}

bool
parse_cargo(const char *s, size_t len, struct test_report *t)
{
	struct tline l;
	uint64_t passed = 0, failed = 0, skipped = 0;
	bool found = false;
	size_t at;

	tline_init(&l, s, len);
	while (tline_next(&l)) {
		if (l.indent > 0)
			continue;
		if (tline_starts(&l, "test result: ")) {
			found = true;
			passed += number_before(&l, " passed");
			failed += number_before(&l, " failed");
			skipped += number_before(&l, " ignored");
			continue;
		}
		if (!tline_starts(&l, "test ") ||
		    (at = tline_find(&l, 5, " ... ")) == l.len)
			continue;
		if (tline_ends(&l, " ... ok"))
			report_pass(t, l.s + 5, at - 5);
		else if (tline_at(&l, at, " ... FAILED"))
			report_fail(t, l.s + 5, at - 5);
	}
	if (!found)
		return false;
	t->runner = "cargo";
	t->all_names = t->n_passed >= passed;
	t->n_passed = passed;
	t->n_failed = failed > t->failed.n ? failed : t->failed.n;
	t->n_skipped = skipped;
	t->exact = true;
	t->none = passed + failed + skipped == 0;
	return true;
}

/* --- ctest --------------------------------------------------------------- */

/* "2/6 Test #2: bad.one ......***Failed    0.01 sec" */
static void
ctest_line(const struct tline *l, struct test_report *t)
{
	size_t at, end, dots, sec;
	uint64_t n, ms;
	bool pass;

	if (!tline_num(l, 0, &n, &end) || end >= l->len || l->s[end] != '/')
		return;
	at = tline_find(l, end, " Test");
	if (at == l->len)
		return;
	at = tline_find(l, at, ": ");
	if (at == l->len)
		return;
	at += 2;
	/* The dots in front of the result; a name may hold some too. */
	dots = tline_find(l, at, " ..");
	if (dots == l->len)
		dots = tline_find(l, at, " ");
	if (dots == l->len)
		return;
	for (end = dots + 1; end < l->len && l->s[end] == '.'; end++)
		;
	pass = tline_at(l, end, "   Passed");
	if (tline_at(l, end, "***Skipped") ||
	    tline_at(l, end, "***Not Run (Disabled)")) {
		t->n_skipped++;
	} else if (pass) {
		report_pass(t, l->s + at, dots - at);
	} else {
		report_fail(t, l->s + at, dots - at);
	}
	if (!pass || !tline_ends(l, " sec"))
		return;
	for (sec = l->len - 4; sec > 0 && l->s[sec - 1] != ' '; sec--)
		;
	if (tline_ms(l->s + sec, l->len - 4 - sec, 1000, &ms))
		report_slow(t, ms);
}

bool
parse_ctest(const char *s, size_t len, struct test_report *t)
{
	struct tline l;
	bool found = false;

	tline_init(&l, s, len);
	while (tline_next(&l)) {
		ctest_line(&l, t);
		if (tline_find(&l, 0, "% tests passed, ") < l.len)
			found = true;
		else if (tline_starts(&l, "No tests were found!!!") ||
		    tline_starts(&l, "No test configuration file found!"))
			found = t->none = true;
	}
	if (!found)
		return false;
	t->runner = "ctest";
	t->all_names = true;
	t->exact = true;
	t->none = t->n_passed + t->n_failed + t->n_skipped == 0;
	return true;
}
