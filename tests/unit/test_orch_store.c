/* The run store: facts, messages by hash, the first summary counts. */
#include "common/compat.h"

#include <errno.h>
#include <setjmp.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/path.h"
#include "orchestrator/store/store.h"
#include "orchestrator/store/transcript.h"

static char dir[] = "/tmp/foray-test-store-XXXXXX";

static int
setup(void **state unused_arg)
{
	memcpy(dir + sizeof dir - 7, "XXXXXX", 6);
	return mkdtemp(dir) == NULL || setenv("XDG_STATE_HOME", dir, 1) < 0;
}

static int
teardown(void **state unused_arg)
{
	return path_rmtree(dir, NULL);
}

static void
test_facts(void **state unused_arg)
{
	struct store *s, *t;
	char *v;

	assert_int_equal(store_create(&s, NULL), 0);
	assert_int_equal(store_set(s, "status", "running", NULL), 0);
	assert_null(store_get(s, "nothing"));
	assert_int_equal(store_open(NULL, false, &t, NULL), 0);
	v = store_status(t);
	assert_string_equal(v, "running");
	free(v);
	store_close(s); /* as when the process died */
	v = store_status(t);
	assert_string_equal(v, "crashed");
	free(v);
	store_close(t);
}

static void
test_find(void **state unused_arg)
{
	struct store *a, *b;
	char *id = NULL;
	struct err e = { 0 };

	assert_int_equal(store_find(NULL, &id, &e), ERR_NOTFOUND);
	assert_int_equal(store_create(&a, NULL), 0);
	assert_int_equal(store_create(&b, NULL), 0);
	assert_int_equal(store_find(store_id(a), &id, &e), 0);
	assert_string_equal(id, store_id(a));
	free(id);
	assert_int_equal(store_find("2", &id, &e), ERR_NOTFOUND);
	assert_non_null(strstr(e.text, "2 runs"));
	assert_int_equal(store_find("../x", &id, &e), ERR_NOTFOUND);
	assert_int_equal(store_find("", &id, &e), ERR_NOTFOUND);
	store_close(a);
	store_close(b);
}

static int
one_row(const struct store_row *row, void *ctx)
{
	assert_string_equal(row->summary, "{\"first\":1}");
	assert_string_equal(row->worker, "w2");
	assert_int_equal(row->attempts, 2);
	++*(int *)ctx;
	return 0;
}

static void
test_first_summary_counts(void **state unused_arg)
{
	struct store *s;
	int n = 0;

	assert_int_equal(store_create(&s, NULL), 0);
	assert_int_equal(
	    store_subtask(s, "t1", "explore", "H1", "why", "running", NULL), 0);
	assert_int_equal(store_attempt(s, "t1", 1, "w1", "killed", 1, NULL), 0);
	assert_int_equal(store_attempt(s, "t1", 2, "w2", "ready", 2, NULL), 0);
	assert_int_equal(store_summary(s, "t1", 2, "w2", 3, "{\"first\":1}",
			     "patch", 5, NULL),
	    0);
	assert_int_equal(
	    store_summary(s, "t1", 1, "w1", 4, "{\"late\":1}", NULL, 0, NULL),
	    1);
	assert_int_equal(store_subtasks(s, one_row, &n, NULL), 0);
	assert_int_equal(n, 1);
	store_close(s);
}

static void
test_messages(void **state unused_arg)
{
	unsigned char h[HASH_LEN] = { 7, 0, 9 };
	struct store *s;
	char *v;

	assert_int_equal(store_create(&s, NULL), 0);
	assert_null(store_message_get(s, h));
	assert_int_equal(store_message(s, h, "{\"a\":1}", NULL), 0);
	assert_int_equal(store_message(s, h, "{\"a\":1}", NULL), 0);
	v = store_message_get(s, h);
	assert_string_equal(v, "{\"a\":1}");
	free(v);
	store_close(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_facts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_find, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_first_summary_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_messages, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
