/* What is read of a repository, and how much, whatever lies beside it. */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "orchestrator/repair/reading.h"

/* Names that list_dir shows at once. */
static size_t page = 500;

static void
answer(json_t *conv, json_t *reply, size_t call, const char *text)
{
	const json_t *calls = json_object_get(reply, "tool_calls");

	json_array_append_new(conv,
	    json_pack("{s:s, s:O, s:s}", "role", "tool", "tool_call_id",
		json_object_get(json_array_get(calls, call), "id"), "content",
		text));
}

/* As list_dir has it: a page of names from offset on. */
static void
print_page(struct buf *b, const struct strv *names, size_t offset)
{
	size_t i;

	buf_clear(b);
	for (i = offset - 1; i < names->n && i < offset - 1 + page; i++)
		(void)buf_printf(b, "%s\n", names->v[i]);
	if (i < names->n)
		(void)buf_printf(b,
		    "[... %zu more left out; offset %zu goes on]\n",
		    names->n - i, i + 1);
}

/* Plays the tools until nothing more is wanted: the paths that were read. */
static void
play(const struct strv *names, struct facts *f, const char *test_text,
    bool hurry, struct strv *ret_read, size_t *ret_pages)
{
	json_t *conv = json_array(), *reply, *args;
	struct reading r;
	struct buf b;
	size_t n;

	buf_init(&b, 1 << 20);
	*ret_pages = 0;
	for (;;) {
		reading_scan(&r, conv, f, hurry);
		reply = dialog_reply("x");
		n = reading_more(&r, conv, reply);
		reading_clear(&r);
		json_array_append_new(conv, reply);
		for (size_t i = 0; i < n; i++) {
			const json_t *call = json_array_get(
			    json_object_get(reply, "tool_calls"), i);
			const char *path;

			assert_int_equal(
			    json_parse(dialog_str(call, "arguments"),
				strlen(dialog_str(call, "arguments")), 1 << 20,
				&args, NULL),
			    0);
			path = dialog_str(args, "path");
			if (strcmp(dialog_str(call, "name"), "list_dir") == 0) {
				++*ret_pages;
				print_page(&b, names,
				    (size_t)json_integer_value(
					json_object_get(args, "offset")));
			} else {
				strv_add(ret_read, path);
				buf_clear(&b);
				(void)buf_printf(&b, "%s (lines 1-1 of 1)\n%s",
				    path,
				    strstr(path, "test") != NULL ? test_text
								 : "x = 1");
			}
			answer(conv, reply, i, buf_str(&b));
			json_decref(args);
		}
		if (n == 0)
			break;
	}
	buf_clear(&b);
	json_decref(conv);
}

static size_t
place_of(const struct strv *v, const char *s)
{
	for (size_t i = 0; i < v->n; i++)
		if (strcmp(v->v[i], s) == 0)
			return i;
	return SIZE_MAX;
}

static void
add_many(struct strv *v, const char *end, size_t n)
{
	char path[64];

	for (size_t i = 0; i < n; i++) {
		(void)snprintf(
		    path, sizeof path, "d%zu/f%zu%s", i / 1000, i, end);
		strv_add(v, path);
	}
}

/* 21,000 files of data, whose names could be those of scripts: few are read,
 * and the sources are found behind them. */
static void
test_data(void **state unused_arg)
{
	struct strv names = { 0 }, got = { 0 };
	struct facts f = { .output = (char *)"FAIL: test_a" };
	size_t pages;

	add_many(&names, "", 21000);
	strv_add(&names, "src/calc.py");
	strv_add(&names, "tests/test_calc.py");
	play(&names, &f, "import calc, f1", false, &got, &pages);
	assert_int_equal(pages, 43);
	assert_in_range(got.n, 2, 12);
	assert_int_equal(place_of(&got, "tests/test_calc.py"), 0);
	assert_true(place_of(&got, "src/calc.py") <= 1);
	strv_clear(&got);
	/* A script that the test speaks of is no data. */
	f.output = (char *)"sh: deploy failed";
	strv_clear(&names);
	add_many(&names, "", 3000);
	strv_add(&names, "tools/deploy");
	play(&names, &f, "", false, &got, &pages);
	assert_true(place_of(&got, "tools/deploy") < 4);
	strv_clear(&got);
	strv_clear(&names);
}

/* As many sources: what is listed and read ends, with the related ones first.
 */
static void
test_sources(void **state unused_arg)
{
	struct strv names = { 0 }, got = { 0 };
	struct facts f = { .output = (char *)"File \"d3/f3210.py\", line 1" };
	size_t pages;

	add_many(&names, ".py", 150000);
	play(&names, &f, "", false, &got, &pages);
	assert_int_equal(pages, 40);
	assert_in_range(got.n, 2, 48);
	assert_int_equal(place_of(&got, "d3/f3210.py"), 0);
	strv_clear(&got);
	/* Names that are no sources end, too. */
	page = 100;
	f.output = (char *)"";
	strv_clear(&names);
	strv_add(&names, "a.py");
	add_many(&names, "", 150000);
	play(&names, &f, "", false, &got, &pages);
	assert_int_equal(pages, 200);
	assert_int_equal(place_of(&got, "a.py"), 0);
	strv_clear(&got);
	/* No time: the first page has to do. */
	play(&names, &f, "", true, &got, &pages);
	assert_int_equal(pages, 1);
	assert_int_equal(place_of(&got, "a.py"), 0);
	strv_clear(&got);
	strv_clear(&names);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_sources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
