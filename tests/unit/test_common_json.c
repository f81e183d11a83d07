#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "common/json.h"

static int
parse(const char *s, json_t **ret, struct err *e)
{
	return json_parse(s, strlen(s), 100000, ret, e);
}

/* What the text looks like after reading and writing. */
static void
check(const char *in, const char *out)
{
	struct err e;
	json_t *j;
	char *s;

	e.text[0] = '\0';
	if (parse(in, &j, &e) != 0)
		fail_msg("%s: %s", in, e.text);
	s = json_text(j);
	assert_string_equal(s, out);
	free(s);
	json_decref(j);
}

static void
test_parse(void **state)
{
	static const char *const bad[] = { "", "{", "1 2", "{\"a\":1,\"a\":2}",
		"\"\x01\"", "\"\xff\"", "nul", "[1,]", "\"\\u00\"",
		"\"\\ud800\\u00", "\"\\", "99999999999999999999999" };
	struct err e;
	json_t *j;

	(void)state;
	check("[1, 2]", "[1,2]");
	check("null", "null");
	check("\"x\"", "\"x\"");
	for (size_t i = 0; i < nitems(bad); i++)
		assert_int_equal(parse(bad[i], &j, &e), ERR_SYNTAX);
	assert_int_equal(json_parse("[]", 2, 1, &j, &e), ERR_LIMIT);
}

static void
test_repair(void **state)
{
	(void)state;
	check("\"a\\u0000b\"",
	    "\"a\xef\xbf\xbd"
	    "b\"");
	/* The backslash is escaped: text, not an escape. */
	check("\"\\\\u0000\"", "\"\\\\u0000\"");
	check("\"\\\\\\u0000\"", "\"\\\\\xef\xbf\xbd\"");
	check("\"\\\"\\u0000\"", "\"\\\"\xef\xbf\xbd\"");
	check("\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\"");
	check("\"\\ud83d\"", "\"\xef\xbf\xbd\"");
	check("\"\\ud83d\\n\"", "\"\xef\xbf\xbd\\n\"");
	check("\"\\ud83d\\ud83d\\ude00\"", "\"\xef\xbf\xbd\xf0\x9f\x98\x80\"");
	check("\"\\ude00x\"", "\"\xef\xbf\xbdx\"");
	check("\"\\uDC00\\uD800\"", "\"\xef\xbf\xbd\xef\xbf\xbd\"");
	check("{\"\\u0000\":\"\\u00000\"}",
	    "{\"\xef\xbf\xbd\":\"\xef\xbf\xbd"
	    "0\"}");
}

static void
test_depth(void **state)
{
	char s[300];
	struct err e;
	json_t *j;

	(void)state;
	memset(s, '[', 64);
	memset(s + 64, ']', 64);
	s[128] = '\0';
	check(s, s);
	memset(s, '[', 65);
	memset(s + 65, ']', 65);
	s[130] = '\0';
	assert_int_equal(parse(s, &j, &e), ERR_LIMIT);
	/* Brackets in strings do not count. */
	memset(s, '[', 202);
	s[0] = s[201] = '"';
	s[202] = '\0';
	check(s, s);
}

static void
test_get(void **state)
{
	struct strv v = { 0 };
	struct err e;
	const char *s;
	uint64_t n;
	json_t *j;
	bool b;

	(void)state;
	assert_int_equal(
	    parse("{\"s\":\"x\",\"n\":5,\"neg\":-1,\"b\":true,\"z\":null,"
		  "\"v\":[\"a\",\"b\"],\"mix\":[\"a\",1]}",
		&j, &e),
	    0);
	assert_int_equal(json_get_str(j, "s", true, &s, &e), 0);
	assert_string_equal(s, "x");
	assert_int_equal(json_get_str(j, "none", false, &s, &e), 0);
	assert_null(s);
	assert_int_equal(json_get_str(j, "none", true, &s, &e), ERR_SYNTAX);
	assert_int_equal(json_get_str(j, "z", true, &s, &e), ERR_SYNTAX);
	assert_int_equal(json_get_str(j, "n", false, &s, &e), ERR_SYNTAX);
	assert_string_equal(e.text, "\"n\" must be a string, not a number");
	assert_int_equal(json_get_u64(j, "n", 0, 5, &n, &e), 0);
	assert_int_equal(n, 5);
	assert_int_equal(json_get_u64(j, "n", 0, 4, &n, &e), ERR_SYNTAX);
	assert_int_equal(json_get_u64(j, "neg", 0, 4, &n, &e), ERR_SYNTAX);
	assert_int_equal(json_get_u64(j, "s", 0, 4, &n, &e), ERR_SYNTAX);
	assert_int_equal(json_get_u64(j, "z", 3, 4, &n, &e), 0);
	assert_int_equal(n, 3);
	assert_int_equal(json_get_bool(j, "b", false, &b, &e), 0);
	assert_true(b);
	assert_int_equal(json_get_bool(j, "none", true, &b, &e), 0);
	assert_true(b);
	assert_int_equal(json_get_bool(j, "n", true, &b, &e), ERR_SYNTAX);
	assert_int_equal(json_get_strv(j, "v", 2, &v, &e), 0);
	assert_int_equal(v.n, 2);
	assert_int_equal(json_get_strv(j, "v", 1, &v, &e), ERR_LIMIT);
	assert_int_equal(json_get_strv(j, "mix", 9, &v, &e), ERR_SYNTAX);
	assert_int_equal(v.n, 2);
	assert_int_equal(json_get_strv(j, "none", 9, &v, &e), 0);
	assert_int_equal(v.n, 0);
	assert_int_equal(
	    json_get_str(json_object_get(j, "v"), "s", false, &s, &e),
	    ERR_SYNTAX);
	assert_int_equal(json_get_str(NULL, "s", false, &s, &e), ERR_SYNTAX);
	json_decref(j);
}

static void
test_make(void **state)
{
	struct strv v = { 0 };
	json_t *j;
	char *s;

	(void)state;
	j = json_str_lossy("a\xff\0\xc3\xa4", 5);
	assert_string_equal(
	    json_string_value(j), "a\xef\xbf\xbd\xef\xbf\xbd\xc3\xa4");
	json_decref(j);
	strv_addl(&v, "b", "\xfe", (char *)NULL);
	j = json_from_strv(&v);
	s = json_text(j);
	assert_string_equal(s, "[\"b\",\"\xef\xbf\xbd\"]");
	free(s);
	json_decref(j);
	strv_clear(&v);
	j = json_pack("{s:i,s:i}", "z", 1, "a", 2);
	s = json_text(j);
	assert_string_equal(s, "{\"z\":1,\"a\":2}");
	free(s);
	s = json_text_sorted(j);
	assert_string_equal(s, "{\"a\":2,\"z\":1}");
	free(s);
	json_decref(j);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_repair),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_get),
		cmocka_unit_test(test_make),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
