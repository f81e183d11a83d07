/* What json_parse() takes, it takes again after writing, and the same. */
#include "common/compat.h"

#include "common/json.h"
#include "common/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz_json: %s\n", what);
	abort();
}

static void
getters(const json_t *j)
{
	struct strv v = { 0 };
	struct err e;
	const char *s;
	uint64_t n;
	bool b;

	if (json_get_str(j, "s", true, &s, &e) == 0)
		must(text_is_utf8(s, strlen(s)), "a string is not UTF-8");
	if (json_get_u64(j, "n", 0, 1000, &n, &e) == 0)
		must(n <= 1000, "a number over its limit");
	(void)json_get_bool(j, "b", false, &b, &e);
	if (json_get_strv(j, "v", 3, &v, &e) == 0)
		must(v.n <= 3, "too many strings");
	strv_clear(&v);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *j = NULL, *again = NULL;
	struct err e;
	char *text;

	e.text[0] = '\0';
	if (json_parse((const char *)data, size, 4096, &j, &e) < 0) {
		must(e.text[0] != '\0', "no reason given");
		must(j == NULL, "a result with a failure");
		return 0;
	}
	must(size <= 4096, "over the limit");
	getters(j);
	text = json_text(j);
	must(json_parse(text, strlen(text), 65536, &again, &e) == 0, e.text);
	must(json_equal(j, again), "not the same again");
	free(text);
	json_decref(again);
	text = json_text_sorted(j);
	free(text);
	json_decref(j);

	j = json_str_lossy((const char *)data, size);
	must(json_string_length(j) == strlen(json_string_value(j)),
	    "a NUL in a string");
	json_decref(j);
	return 0;
}
