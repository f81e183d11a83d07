/* What a test runner, or a hostile test, prints. */
#include "common/compat.h"

#include "common/tests_parse.h"
#include "common/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct test_report t;
	struct buf b;
	size_t i;

	buf_init(&b, 4 << 20);
	if (size > 0 && text_clean(&b, (const char *)data, size, 4096) == 0) {
		tests_parse(buf_str(&b), b.len, &t);
		for (i = 0; i < t.failed.n; i++) {
			if (strlen(t.failed.v[i]) > TESTS_MAX_NAME ||
			    !text_is_utf8(t.failed.v[i], strlen(t.failed.v[i])))
				abort();
		}
		for (i = 1; i < t.passed.n; i++) {
			if (strcmp(t.passed.v[i - 1], t.passed.v[i]) >= 0)
				abort();
		}
		test_report_clear(&t);
	}
	buf_clear(&b);
	return 0;
}
