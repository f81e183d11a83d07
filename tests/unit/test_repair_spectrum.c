/* The report of which lines the tests execute: reading it, and what it makes of
 * the lines of a source; the commands that ask for it. */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/log.h"
#include "common/text.h"
#include "orchestrator/repair/suspect.h"
#include "orchestrator/repair/trace.h"

#define NONCE "00112233445566ff"

static const char code[] = "LIMIT = 3\n"
			   "\n"
			   "def alpha(x,\n"
			   "          y):\n"
			   "    z = (x +\n"
			   "         y)\n"
			   "    if z:\n"
			   "        return 1\n"
			   "    return LIMIT\n"
			   "\n"
			   "def beta(x):\n"
			   "    return x\n";

static int
parse(struct spectrum *sp, const char *body)
{
	char *text = xasprintf("exit status 0\nnoise\nforay-spectrum %s %send "
			       "%s\nmore\n",
	    NONCE, body, NONCE);
	int r;

	*sp = (struct spectrum){ 0 };
	r = spectrum_parse(sp, text, NONCE);
	free(text);
	return r;
}

static void
test_parse(void **state)
{
	struct spectrum sp;
	const struct spectrum_file *f;

	(void)state;
	assert_int_equal(parse(&sp,
			     "2 10\n= a b.py\nx 1,3\n2/0 4-6,8\n- 9\n"
			     "= sub/c.py\n0/10 1000000\n"),
	    0);
	assert_int_equal(sp.failed, 2);
	assert_int_equal(sp.passed, 10);
	assert_int_equal(sp.n_file, 2);
	assert_int_equal(sp.n_range, 6);
	f = spectrum_find(&sp, "a b.py");
	assert_non_null(f);
	assert_int_equal(f->n, 5);
	assert_int_equal(sp.range[2].first, 4);
	assert_int_equal(sp.range[2].last, 6);
	assert_int_equal(sp.range[2].failed, 2);
	assert_int_equal(sp.range[2].kind, SPECTRUM_RUN);
	assert_int_equal(sp.range[4].kind, SPECTRUM_UNRUN);
	f = spectrum_find(&sp, "sub/c.py");
	assert_non_null(f);
	assert_int_equal(sp.range[f->first].passed, 10);
	assert_null(spectrum_find(&sp, "c.py"));
	spectrum_clear(&sp);
}

static void
test_refused(void **state)
{
	static const char *const bodies[] = { "", "1\n", "1 1\n",
		"1 1\n= a.py\n", "-1 1\n= a.py\nx 1\n", "1 1\nx 1\n",
		"1 1\n= a.py\nx \n", "1 1\n= a.py\nx 0\n",
		"1 1\n= a.py\nx 3-2\n", "1 1\n= a.py\nx 1,\n",
		"1 1\n= a.py\nx 1-\n", "1 1\n= a.py\nx1\n",
		"1 1\n= a.py\n2/0 1\n", "1 1\n= a.py\n1/2 1\n",
		"1 1\n= a.py\n0/0 1\n", "1 1\n= a.py\n1/ 1\n",
		"1 1\n= a.py\nx 1000001\n",
		"1 1\n= a.py\nx 99999999999999999999\n", "1 1\n= \nx 1\n",
		"1 1\n= a.py\ny 1\n", "1 1\n= a.py\n\nx 1\n",
		"1 1\n= a.py\nx 1\n[... 10 bytes left out ...]\nx 2\n" };
	struct spectrum sp;
	struct buf b;

	(void)state;
	for (size_t i = 0; i < nitems(bodies); i++) {
		assert_int_equal(parse(&sp, bodies[i]), -1);
		assert_null(sp.file);
	}
	/* Another's, one whose end is cut off, one in the middle of a row. */
	assert_int_equal(
	    spectrum_parse(
		&sp, "foray-spectrum 12 1 1\n= a\nx 1\nend 12\n", NONCE),
	    -1);
	assert_int_equal(
	    spectrum_parse(&sp, "foray-spectrum 12 1 1\n= a\nx 1\n", "12"), -1);
	assert_int_equal(
	    spectrum_parse(
		&sp, " foray-spectrum 12 1 1\n= a\nx 1\nend 12\n", "12"),
	    -1);
	assert_int_equal(
	    spectrum_parse(&sp, "foray-spectrum  1 1\n= a\nx 1\nend \n", ""),
	    -1);
	/* More than is taken. */
	buf_init(&b, BUF_NOMAX);
	(void)buf_adds(&b, "1 1\n= a.py\nx 1");
	for (int i = 0; i < SPECTRUM_MAX_RANGES; i++)
		(void)buf_adds(&b, ",1");
	(void)buf_adds(&b, "\n");
	assert_int_equal(parse(&sp, buf_str(&b)), -1);
	buf_reset(&b);
	(void)buf_adds(&b, "1 1\n");
	for (int i = 0; i <= SPECTRUM_MAX_FILES; i++)
		(void)buf_adds(&b, "= a.py\nx 1\n");
	assert_int_equal(parse(&sp, buf_str(&b)), -1);
	buf_clear(&b);
}

struct bed {
	struct spectrum sp;
	struct source *s;
	struct spectrum_line *line; /* [1] is line 1 */
	float *weight;
};

static void
bed_init(struct bed *b, const char *body)
{
	struct strv failing = { 0 };
	struct suspect_facts f = {
		.output = "", .failing = &failing, .spectrum = &b->sp
	};

	assert_int_equal(parse(&b->sp, body), 0);
	b->s = source_create("mod.py", code, strlen(code));
	assert_non_null(b->s);
	b->line = xcalloc(b->s->n_line + 1, sizeof *b->line);
	spectrum_lines(
	    &b->sp, spectrum_find(&b->sp, "mod.py"), b->s, b->line + 1);
	strv_add(&failing, "test_x");
	suspect_lines(&f, &b->s, 1, 1, &b->weight);
	strv_clear(&failing);
}

static void
bed_clear(struct bed *b)
{
	free(b->weight);
	free(b->line);
	source_free(b->s);
	spectrum_clear(&b->sp);
}

static void
test_lines(void **state)
{
	struct bed b;

	(void)state;
	/* As Python says it: 5 and 6 are one statement, 6 has no counter. */
	bed_init(&b, "1 3\n= mod.py\nx 1,3,11\n1/3 5,7\n1/0 8\n0/3 9\n- 12\n");
	assert_int_equal(b.line[1].kind, SPECTRUM_OUTSIDE);
	assert_int_equal(b.line[2].kind, SPECTRUM_NONE);
	assert_int_equal(b.line[5].kind, SPECTRUM_RUN);
	assert_true(b.line[5].ochiai > 0.49f && b.line[5].ochiai < 0.51f);
	assert_int_equal(b.line[6].kind, SPECTRUM_RUN);
	assert_true(b.line[6].ochiai > 0.49f);
	assert_true(b.line[8].ochiai > 0.99f);
	assert_true(b.line[9].ochiai < 0.01f);
	/* A head has something of its function, all of it. */
	assert_int_equal(b.line[3].kind, SPECTRUM_RUN);
	assert_true(b.line[4].ochiai > 0.5f && b.line[4].ochiai < 1);
	assert_int_equal(b.line[11].kind, SPECTRUM_UNRUN);
	assert_int_equal(b.line[12].kind, SPECTRUM_UNRUN);

	assert_true(b.weight[7] > 2 * b.weight[4]);
	assert_true(b.weight[4] > 2 * b.weight[8]);
	assert_true(b.weight[8] > 10 * b.weight[11]);
	assert_true(b.weight[0] > 10 * b.weight[11]);
	assert_true(b.weight[11] > 0);
	bed_clear(&b);
}

/* Tests that are not told apart: what nobody executes still comes last. */
static void
test_no_tests(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, "0 0\n= mod.py\nx 1-9\n- 11-12\n");
	assert_int_equal(b.line[5].kind, SPECTRUM_OUTSIDE);
	assert_true(b.weight[4] > 10 * b.weight[11]);
	bed_clear(&b);
	/* Nothing is said of this file. */
	bed_init(&b, "1 1\n= other.py\n1/0 1-12\n");
	assert_int_equal(b.line[5].kind, SPECTRUM_NONE);
	assert_true(b.weight[4] > 0);
	bed_clear(&b);
}

/* Ranges that overlap or lie beyond the end take no time and do no harm. */
static void
test_ranges(void **state)
{
	struct bed b;
	struct buf t;

	(void)state;
	buf_init(&t, BUF_NOMAX);
	(void)buf_adds(&t, "1 1\n= mod.py\n- 500-1000000\nx 1");
	for (int i = 0; i < SPECTRUM_MAX_RANGES - 3; i++)
		(void)buf_adds(&t, ",1-1000000");
	(void)buf_adds(&t, "\n1/0 1\n");
	bed_init(&b, buf_str(&t));
	assert_int_equal(b.line[12].kind, SPECTRUM_OUTSIDE);
	bed_clear(&b);
	buf_clear(&t);
}

/* Within what run_command takes, the test command quoted, our nonce in it. */
static void
test_commands(void **state)
{
	static const enum token_dialect all[] = { DIALECT_PY, DIALECT_JS,
		DIALECT_C };
	char *call[TRACE_MAX_CALLS], *longish = xmalloc(9000);
	size_t n;

	(void)state;
	for (size_t i = 0; i < nitems(all); i++) {
		n = trace_commands(
		    "a 'b' c", all[i], false, "/tmp", NONCE, call);
		assert_int_equal(n, 2);
		assert_non_null(
		    strstr(call[1], "sh -c 'a '\\''b'\\'' c') >/dev/null"));
		for (size_t k = 0; k < n; k++) {
			assert_true(strlen(call[k]) < 8192);
			assert_non_null(strstr(call[k], "/foray-trace-" NONCE));
			assert_null(strstr(call[k], "$TMPDIR"));
			assert_null(strstr(call[k], ">\"$"));
			free(call[k]);
		}
		/* What is written can be told from its own words here, too. */
		n = trace_commands("a", all[i], false, NULL, NONCE, call);
		assert_int_equal(n, 2);
		for (size_t k = 0; k < n; k++) {
			assert_true(strlen(call[k]) < 8192);
			assert_null(strstr(call[k], ">\"$d"));
			free(call[k]);
		}
	}
	assert_int_equal(
	    trace_commands("true", DIALECT_SH, false, "/tmp", NONCE, call), 0);
	memset(longish, 'x', 8999);
	longish[8999] = '\0';
	assert_int_equal(
	    trace_commands(longish, DIALECT_PY, false, "/tmp", NONCE, call), 0);
	free(longish);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_no_tests),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
