/* The conversations that pass the gateway. */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include <string.h>

#include "orchestrator/gateway/convs.h"

/* The name that a conversation is dropped by may be its own. */
static void
test_drop(void **state)
{
	struct convs *c = convs_create(NULL, NULL);
	struct conv *a = convs_get(c, "w1"), *b = convs_get(c, "w2");

	(void)state;
	assert_ptr_not_equal(a, b);
	convs_drop(c, a->worker);
	assert_ptr_equal(convs_get(c, "w2"), b);
	convs_drop(c, b->worker);
	convs_drop(c, "w3");
	convs_free(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
