/* How many candidates run at once, by what their checks take. */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "common/log.h"
#include "worker/agent/flight.h"

#define MIB ((uint64_t)1024)

/* A machine whose processors tick; so much of it idle. */
struct machine {
	uint64_t idle, total;
	unsigned percent;
};

static void
checks(struct flight *f, struct machine *m, int n, uint64_t wall, uint64_t cpu,
    uint64_t rss)
{
	for (int i = 0; i < n; i++) {
		m->total += 100;
		m->idle += m->percent;
		flight_add(f, wall, cpu, rss, m->idle, m->total);
	}
}

static void
test_waiting(void **state)
{
	struct flight f = { 0 };
	struct machine m = { .total = 1000, .percent = 80 };

	(void)state;
	flight_begin(&f, 2, "make test", 0);
	assert_int_equal(flight_now(&f), 2);
	checks(&f, &m, 2, 600, 60, 20 * MIB);
	assert_int_equal(flight_now(&f), 4);
	checks(&f, &m, 4, 610, 60, 20 * MIB);
	assert_int_equal(flight_now(&f), 8);
	checks(&f, &m, 80, 650, 60, 20 * MIB);
	assert_int_equal(flight_now(&f), 8); /* no more than that */
	/* The same check later, and another one. */
	flight_begin(&f, 2, "make test", 0);
	assert_int_equal(flight_now(&f), 8);
	flight_begin(&f, 2, "make check", 0);
	assert_int_equal(flight_now(&f), 2);
}

static void
test_computing(void **state)
{
	struct flight f = { 0 };
	struct machine m = { .total = 1000, .percent = 80 };

	(void)state;
	flight_begin(&f, 1, "x", 0);
	checks(&f, &m, 40, 600, 550, 20 * MIB);
	assert_int_equal(flight_now(&f), 1);
	/* Computes little and slowly: others have the machine. */
	flight_begin(&f, 1, "y", 0);
	m.percent = 5;
	checks(&f, &m, 40, 600, 60, 20 * MIB);
	assert_int_equal(flight_now(&f), 1);
	/* Nobody knows. */
	flight_begin(&f, 1, "z", 0);
	m.percent = 0;
	for (int i = 0; i < 40; i++)
		flight_add(&f, 600, 60, 20 * MIB, 0, 0);
	assert_int_equal(flight_now(&f), 1);
}

/* More at once make each slower: back to the share, and not again at once. */
static void
test_back(void **state)
{
	struct flight f = { 0 };
	struct machine m = { .total = 1000, .percent = 80 };

	(void)state;
	flight_begin(&f, 1, "x", 0);
	checks(&f, &m, 2, 600, 60, 20 * MIB);
	assert_int_equal(flight_now(&f), 2);
	checks(&f, &m, 2, 1000, 60, 20 * MIB);
	assert_int_equal(flight_now(&f), 1);
	checks(&f, &m, 16, 600, 60, 20 * MIB);
	assert_int_equal(flight_now(&f), 1);
	checks(&f, &m, 2, 600, 60, 20 * MIB);
	assert_int_equal(flight_now(&f), 2);
}

static void
test_memory(void **state)
{
	struct flight f = { 0 };
	struct machine m = { .total = 1000, .percent = 80 };

	(void)state;
	flight_begin(&f, 1, "x", (uint64_t)1 << 30);
	checks(&f, &m, 20, 600, 60, 100 * MIB);
	assert_int_equal(flight_now(&f), 2); /* 4 would be 1.6 GiB */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_computing),
		cmocka_unit_test(test_back),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
