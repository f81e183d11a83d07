/* How long a worker on another machine may have its subtask. */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include <string.h>

#include "orchestrator/run/lease.h"

#define S 1000ull
#define HOUR (3600 * S)

static void
test_begin(void **state)
{
	struct lease l;

	(void)state;
	lease_begin(&l, 5 * S);
	l.wall_ms = 60 * S;
	assert_null(lease_over(&l, 5 * S));
	assert_null(lease_over(&l, 124 * S));
	assert_non_null(strstr(lease_over(&l, 125 * S), "said nothing"));
	/* The clock of the one who asks is behind. */
	assert_null(lease_over(&l, 0));
	/* The snapshot comes, which may take longer than the work may. */
	l.heard_ms = 3 * HOUR;
	assert_null(lease_over(&l, 3 * HOUR + 119 * S));
	/* But not for ever. */
	l.heard_ms = 6 * HOUR + 5 * S;
	assert_non_null(strstr(lease_over(&l, l.heard_ms), "not begun"));
}

static void
test_wall(void **state)
{
	struct lease l;

	(void)state;
	lease_begin(&l, 0);
	l.wall_ms = 60 * S;
	/* It begins when the worker does. */
	lease_ready(&l, 120 * S, 100 * S);
	l.heard_ms = 174 * S;
	assert_null(lease_over(&l, 174 * S));
	l.heard_ms = 175 * S;
	assert_non_null(strstr(lease_over(&l, 175 * S), "time limit"));
}

static void
test_silence(void **state)
{
	struct lease l;

	(void)state;
	lease_begin(&l, 0);
	l.wall_ms = 6 * HOUR;
	lease_ready(&l, 120 * S, 10 * S);
	assert_null(lease_over(&l, 549 * S));
	assert_non_null(strstr(lease_over(&l, 550 * S), "done nothing"));
	l.heard_ms = 540 * S;
	assert_null(lease_over(&l, 1079 * S));
	assert_non_null(lease_over(&l, 1080 * S));
	/* Commands that may take long are given the time. */
	lease_ready(&l, HOUR, 1);
	assert_null(lease_over(&l, 2 * HOUR));
	assert_non_null(lease_over(&l, 2 * HOUR + 301 * S));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_begin),
		cmocka_unit_test(test_wall),
		cmocka_unit_test(test_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
