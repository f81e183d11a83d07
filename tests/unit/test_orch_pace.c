/* How fast edits are tried, and the line that says so. */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "common/log.h"
#include "orchestrator/run/pace.h"
#include "orchestrator/view/plain.h"

static void
fields(struct pace *p, uint64_t now, uint64_t tried, uint64_t total,
    const char *want)
{
	json_t *j = json_object();
	char *text;

	pace_fields(p, now, tried, total, j);
	text = json_dumps(
	    j, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(6));
	assert_string_equal(text, want);
	free(text);
	json_decref(j);
}

static void
test_unknown(void **state)
{
	struct pace p = { 0 };

	(void)state;
	fields(&p, 1000, 0, 0, "{\"tried\":0}");
	fields(&p, 1000, 0, 50, "{\"candidates\":50,\"tried\":0}");
	pace_add(&p, 1000, 4);
	fields(&p, 1900, 4, 50, "{\"candidates\":50,\"tried\":4}");
	/* too few for a rate, then enough */
	fields(&p, 9000, 4, 50, "{\"candidates\":50,\"tried\":4}");
	pace_add(&p, 9000, 12);
	fields(&p, 9000, 16, 50,
	    "{\"candidates\":50,\"left_s\":17,\"rate\":2.0,\"tried\":16}");
	/* nobody knows how many there are: our own count, and no rest */
	fields(&p, 9000, 3, 0, "{\"rate\":2.0,\"tried\":16}");
}

static void
test_steady(void **state)
{
	struct pace p = { 0 };
	uint64_t now = 77;

	(void)state;
	for (int i = 0; i < 1000; i++, now += 100)
		pace_add(&p, now, 4);
	assert_true(pace_rate(&p, now) > 38 && pace_rate(&p, now) < 42);
	/* What is slower now is seen before long. */
	for (int i = 0; i < 1000; i++, now += 100)
		pace_add(&p, now, i % 10 == 0);
	assert_true(pace_rate(&p, now) < 1.2);
	/* Never backwards, never more than all. */
	p = (struct pace){ 0 };
	pace_add(&p, 1000, 0);
	pace_add(&p, 101000, 100);
	fields(&p, 101000, 700, 1000,
	    "{\"candidates\":1000,\"left_s\":300,\"rate\":1.0,\"tried\":700}");
	fields(&p, 101000, 650, 1000,
	    "{\"candidates\":1000,\"left_s\":300,\"rate\":1.0,\"tried\":700}");
	fields(&p, 101000, 1200, 1000,
	    "{\"candidates\":1000,\"left_s\":0,\"rate\":1.0,\"tried\":1000}");
}

static void
line_is(const char *event, const char *want)
{
	json_t *j = json_loads(event, 0, NULL);
	char text[300] = "";
	FILE *f = tmpfile();
	struct plain *p = plain_create(f);

	assert_non_null(j);
	plain_event(p, "progress", j);
	plain_event(p, "progress", j); /* not twice within a while */
	rewind(f);
	assert_true(fread(text, 1, sizeof text - 1, f) < sizeof text - 1);
	assert_string_equal(text, want);
	plain_free(p);
	(void)fclose(f);
	json_decref(j);
}

#define SOON "{\"t\":40.0,\"what\":\"try\",\"worker\":\"w1\""
#define HEAD "  40.00s            "

static void
test_line(void **state)
{
	(void)state;
	line_is(SOON ",\"tried\":240,\"candidates\":1000,\"rate\":38.2,"
		     "\"left_s\":20}",
	    HEAD "tried 240 of 1,000 edits, 38/s, about 20 s left\n");
	line_is(SOON ",\"tried\":1234567,\"rate\":0.4}",
	    HEAD "tried 1,234,567 edits, 0.4/s\n");
	line_is(SOON ",\"tried\":1}", HEAD "tried 1 edit\n");
	line_is(SOON ",\"tried\":10,\"candidates\":100,\"rate\":0.2,"
		     "\"left_s\":450}",
	    HEAD "tried 10 of 100 edits, 0.2/s, about 8 min left\n");
	line_is(SOON ",\"tried\":100,\"candidates\":100,\"rate\":9.0,"
		     "\"left_s\":0}",
	    HEAD "tried 100 of 100 edits, 9.0/s\n");
	line_is("{\"t\":2.0,\"what\":\"try\",\"tried\":1}", "");
	line_is("{\"t\":40.0,\"what\":\"test\",\"worker\":\"w1\"}", "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_steady),
		cmocka_unit_test(test_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
