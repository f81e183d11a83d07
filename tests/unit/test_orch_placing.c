/* Which host gets a subtask; and labels. */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include <string.h>

#include "orchestrator/run/placing.h"
#include "proto/label.h"

/* The number of the host that is chosen of n, -1: none. */
static int
choose(const struct placing *p, int n, const struct placing_want *w)
{
	int best = -1;

	for (int i = 0; i < n; i++)
		if (placing_better(&p[i], best >= 0 ? &p[best] : NULL, w))
			best = i;
	return best;
}

static void
test_slots(void **state)
{
	const struct placing_want any = { 0 };
	struct placing p[] = {
		{ .slots = 4, .busy = 4 },
		{ .slots = 4, .busy = 3 },
		{ .slots = 2, .busy = 0 },
		{ .slots = 9, .busy = 7 },
	};

	(void)state;
	assert_int_equal(choose(p, 1, &any), -1);
	assert_int_equal(choose(p, 2, &any), 1);
	assert_int_equal(choose(p, 4, &any), 2); /* equal: the first */
	p[2].draining = true;
	assert_int_equal(choose(p, 4, &any), 3);
	/* Who has the snapshot comes before who has more slots. */
	p[1].has_snapshot = true;
	assert_int_equal(choose(p, 4, &any), 1);
	p[1].busy = 4;
	assert_int_equal(choose(p, 4, &any), 3);
}

/* Work leaves free what is there for judging it. */
static void
test_judging(void **state)
{
	const struct placing_want work = { 0 }, judge = { .judges = true };
	struct placing p[] = {
		{ .slots = 2, .busy = 1, .judging = 1 },
		{ .slots = 1, .busy = 1 },
	};

	(void)state;
	assert_int_equal(choose(p, 2, &work), -1);
	assert_int_equal(choose(p, 2, &judge), 0);
	p[0].busy = 0;
	assert_int_equal(choose(p, 2, &work), 0);
	p[0].busy = 2;
	assert_int_equal(choose(p, 2, &judge), -1);
}

/* A host is not asked to start many workers at once: their messages would wait
 * behind all of the starts. */
static void
test_starting(void **state)
{
	const struct placing_want work = { 0 }, judge = { .judges = true };
	struct placing p[] = {
		{ .slots = 9, .busy = 4, .starting = 4, .at_once = 4 },
		{ .slots = 2, .busy = 1, .starting = 1, .at_once = 4 },
	};

	(void)state;
	assert_int_equal(choose(p, 1, &work), -1);
	assert_int_equal(choose(p, 1, &judge), 0);
	assert_int_equal(choose(p, 2, &work), 1);
	assert_int_equal(placing_soon(&p[0]), 5);
	assert_int_equal(placing_soon(&p[1]), 0); /* it may have one now */
	p[0].judging = 1;
	assert_int_equal(placing_soon(&p[0]), 4);
	p[0].starting = 3;
	assert_int_equal(choose(p, 2, &work), 0);
	assert_int_equal(placing_soon(&p[0]), 0);
	p[0].starting = 4;
	p[0].draining = true;
	assert_int_equal(placing_soon(&p[0]), 0);
	p[0].draining = false;
	p[0].busy = 9;
	assert_int_equal(placing_soon(&p[0]), 0);
	p[0].busy = 4;
	p[0].at_once = 0; /* any number */
	assert_int_equal(choose(p, 1, &work), 0);
}

static void
test_memory(void **state)
{
	const struct placing_want w = { .memory_mib = 1000 };
	const struct placing_want huge = { .memory_mib = UINT64_MAX };
	struct placing p[] = {
		{ .slots = 8, .busy = 2, .memory_mib = 2999 },
		{ .slots = 4, .busy = 3, .memory_mib = 4000 },
		{ .slots = 4, .busy = 3, .memory_mib = 5000 },
	};
	struct placing unknown = { .slots = 2, .busy = 1 };
	struct placing small = { .slots = 2, .memory_mib = 10 };

	(void)state;
	assert_int_equal(choose(p, 1, &w), -1);
	assert_int_equal(choose(p, 2, &w), 1);
	assert_int_equal(choose(p, 3, &w), 2); /* more is left */
	p[0].memory_mib++;
	assert_int_equal(choose(p, 3, &w), 0);
	assert_int_equal(choose(p, 3, &huge), -1);
	assert_true(placing_better(&unknown, NULL, &w));
	/* Where nothing runs there is room for anything, once. */
	assert_true(placing_better(&small, NULL, &huge));
	small.busy = 1;
	assert_false(placing_better(&small, NULL, &w));
}

static void
test_labels(void **state)
{
	struct strv want = { 0 };
	const struct placing_want w = { .labels = &want };
	struct placing p = { .slots = 1 };
	struct err e;

	(void)state;
	assert_true(placing_better(&p, NULL, &w));
	assert_int_equal(labels_add(&want, "gpu,zone=a", "-l", &e), 0);
	assert_int_equal(labels_add(&want, "gpu", "-l", &e), 0);
	assert_int_equal(want.n, 2);
	assert_false(placing_better(&p, NULL, &w));
	assert_int_equal(labels_add(&p.labels, "zone=b,gpu", "-l", &e), 0);
	assert_false(placing_fits(&p, &w));
	assert_int_equal(labels_add(&p.labels, "zone=a", "-l", &e), 0);
	assert_true(placing_fits(&p, &w));
	assert_true(placing_better(&p, NULL, &w));
	strv_clear(&want);
	strv_clear(&p.labels);
}

static void
test_bad_labels(void **state)
{
	static const char *const bad[] = { "", ",", "a,", ",a", "a b", "a\n",
		"\xc3\xa4", "$(x)" };
	char longest[LABEL_MAX + 2] = { 0 };
	struct strv v = { 0 };
	struct err e;
	size_t i;

	(void)state;
	for (i = 0; i < nitems(bad); i++) {
		assert_int_equal(
		    labels_add(&v, bad[i], "--label", &e), ERR_USAGE);
		assert_int_equal(strncmp(e.text, "--label: ", 9), 0);
		strv_clear(&v);
	}
	memset(longest, 'a', LABEL_MAX);
	assert_int_equal(labels_add(&v, longest, "-l", &e), 0);
	longest[LABEL_MAX] = 'a';
	assert_int_equal(labels_add(&v, longest, "-l", &e), ERR_USAGE);
	for (i = v.n; i < LABELS_MAX; i++) {
		char one[16];

		(void)snprintf(one, sizeof one, "l%zu", i);
		assert_int_equal(labels_add(&v, one, "-l", &e), 0);
	}
	assert_int_equal(labels_add(&v, "more", "-l", &e), ERR_USAGE);
	strv_clear(&v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots),
		cmocka_unit_test(test_judging),
		cmocka_unit_test(test_starting),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_bad_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
