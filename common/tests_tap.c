/* tests_tap.c - TAP, with indented subtests, and prove; see tests_parse.h. */
#include "common/compat.h"

#include "common/buf.h"
#include "common/log.h"
#include "common/tests_parse.h"

#define LEVELS 16

struct level {
	char *title; /* of the subtest that is open below this one */
	uint64_t below, below_bad; /* results of deeper levels since ours */
};

struct tap {
	struct level v[LEVELS];
	struct test_report *t;
	bool plan, version;
	bool last_pass; /* for the duration below it */
	size_t yaml;    /* indentation of an open block, + 1; 0: none */
	bool after_result;
};

/* Where "# SKIP" or "# TODO" begins; the line's length when there is none. */
static size_t
directive(const struct tline *l, size_t from, const char *word)
{
	size_t at = from, i, n = strlen(word);

	while ((at = tline_find(l, at, "#")) < l->len) {
		for (i = at + 1; i < l->len && l->s[i] == ' '; i++)
			;
		if (l->len - i >= n && strncasecmp(l->s + i, word, n) == 0 &&
		    (at == 0 || l->s[at - 1] != '\\'))
			return at;
		at++;
	}
	return l->len;
}

/* Titles of the levels above, then the name. Yours. */
static char *
full_name(const struct tap *tap, size_t level, const char *name, size_t len)
{
	struct buf b;
	size_t i;

	buf_init(&b, 4096);
	for (i = 0; i < level && i < LEVELS; i++) {
		if (tap->v[i].title != NULL)
			(void)buf_printf(&b, "%s > ", tap->v[i].title);
	}
	(void)buf_add(&b, name, len);
	return buf_detach(&b, NULL);
}

static void
set_title(struct tap *tap, size_t level, char *title)
{
	size_t i;

	for (i = level; i < LEVELS; i++) {
		free(tap->v[i].title);
		tap->v[i].title = NULL;
	}
	tap->v[level].title = title;
}

static void
result(struct tap *tap, const struct tline *l, size_t level, bool ok, size_t at)
{
	struct level *v = &tap->v[level];
	uint64_t number;
	size_t end = 0, i, name, name_end, k;
	bool skip, todo, parent = v->below > 0;
	char *full;

	for (i = at; i < l->len && l->s[i] == ' '; i++)
		;
	name = i;
	if (tline_num(l, i, &number, &end))
		name = end;
	while (name < l->len && l->s[name] == ' ')
		name++;
	if (name + 1 < l->len && l->s[name] == '-' && l->s[name + 1] == ' ')
		name += 2;
	name_end = directive(l, name, "skip");
	skip = name_end < l->len;
	if (!skip)
		name_end = directive(l, name, "todo");
	todo = !skip && name_end < l->len;
	while (name_end > name && l->s[name_end - 1] == ' ')
		name_end--;
	if (name_end == name && end > i) { /* only a number */
		name = i;
		name_end = end;
	}
	/* A parent repeats what its children said, unless it failed alone. */
	if (!parent || (!ok && !todo && !skip && v->below_bad == 0)) {
		full = full_name(tap, level, l->s + name, name_end - name);
		if (skip || (todo && !ok))
			tap->t->n_skipped++;
		else if (ok)
			report_pass(tap->t, full, strlen(full));
		else
			report_fail(tap->t, full, strlen(full));
		free(full);
	}
	tap->last_pass = ok && !parent && !skip;
	v->below = v->below_bad = 0;
	for (k = 0; k < level; k++) {
		tap->v[k].below++;
		tap->v[k].below_bad += !ok && !todo && !skip;
	}
	set_title(tap, level, NULL);
	tap->after_result = true;
}

static void
tap_line(struct tap *tap, const struct tline *l)
{
	size_t level = l->indent / 4, end;
	uint64_t n, ms;
	bool after = tap->after_result;

	if (level >= LEVELS)
		return;
	if (tap->yaml > 0) {
		if (l->len == 3 && memcmp(l->s, "...", 3) == 0 &&
		    l->indent + 1 == tap->yaml)
			tap->yaml = 0;
		else if (tap->last_pass && tline_starts(l, "duration_ms: ") &&
		    tline_ms(l->s + 13, l->len - 13, 1, &ms))
			report_slow(tap->t, ms);
		return;
	}
	tap->after_result = false;
	if (after && l->len == 3 && memcmp(l->s, "---", 3) == 0) {
		tap->yaml = l->indent + 1;
	} else if (tline_starts(l, "# Subtest: ")) {
		set_title(tap, level,
		    xstrndup(l->s + 11, l->len - 11 < 200 ? l->len - 11 : 200));
	} else if (l->indent % 4 != 0) {
		return;
	} else if (tline_starts(l, "TAP version ")) {
		tap->version = true;
	} else if (tline_starts(l, "1..") && tline_num(l, 3, &n, &end)) {
		tap->plan = true;
	} else if (tline_starts(l, "ok") && (l->len == 2 || l->s[2] == ' ')) {
		result(tap, l, level, true, 2);
	} else if (tline_starts(l, "not ok") &&
	    (l->len == 6 || l->s[6] == ' ')) {
		result(tap, l, level, false, 6);
	} else if (tline_starts(l, "Bail out!")) {
		report_fail(tap->t, l->s, l->len);
	}
}

bool
parse_tap(const char *s, size_t len, struct test_report *t)
{
	struct tap tap = { .t = t };
	struct tline l;

	tline_init(&l, s, len);
	while (tline_next(&l))
		tap_line(&tap, &l);
	set_title(&tap, 0, NULL);
	if (!tap.plan && !tap.version)
		return false;
	t->runner = "tap";
	t->all_names = true;
	t->exact = true;
	t->none = t->n_passed + t->n_failed + t->n_skipped == 0;
	return true;
}

/* --- prove: a file is a test --------------------------------------------- */

static int
cmp_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

bool
parse_prove(const char *s, size_t len, struct test_report *t)
{
	struct strv files = { 0 };
	struct tline l;
	uint64_t n = 0, tests = 0;
	bool found = false, report = false;
	size_t at, i;

	tline_init(&l, s, len);
	while (tline_next(&l)) {
		if (l.indent > 0)
			continue;
		at = tline_find(&l, 0, " ..");
		if (tline_starts(&l, "Test Summary Report")) {
			report = true;
		} else if (tline_starts(&l, "Files=") &&
		    (at = tline_find(&l, 0, ", Tests=")) < l.len &&
		    tline_num(&l, at + 8, &n, NULL)) {
			found = true;
			tests += n;
		} else if (report &&
		    (at = tline_find(&l, 0, "(Wstat: ")) < l.len) {
			while (at > 0 && l.s[at - 1] == ' ')
				at--;
			report_fail(t, l.s, at);
		} else if (!report && at < l.len && at > 0 &&
		    memchr(l.s, ' ', at) == NULL && files.n < TESTS_MAX_NAMES) {
			strv_addn(&files, l.s, at);
		}
	}
	strv_sort(&t->failed);
	for (i = 0; found && i < files.n; i++) {
		const char *name = files.v[i];

		if (t->failed.n == 0 ||
		    bsearch(&name, t->failed.v, t->failed.n, sizeof name,
			cmp_name) == NULL)
			report_pass(t, files.v[i], strlen(files.v[i]));
	}
	strv_clear(&files);
	if (!found)
		return false;
	t->runner = "prove";
	t->all_names = true;
	t->exact = true;
	t->none = tests == 0 && t->n_failed == 0;
	return true;
}
