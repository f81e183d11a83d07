/* test_agent_cases.h - reading tests/cases/CLASS.jsonl, the collected failures
 * of other tools. Run from the top of the tree. */
#ifndef TESTS_UNIT_TEST_AGENT_CASES_H
#define TESTS_UNIT_TEST_AGENT_CASES_H

#include "tests/unit/test_agent_bed.h"

/* The case with this id; a new reference. */
static inline json_t *
case_get(const char *id)
{
	char path[64];
	const char *p, *nl, *got;
	struct buf b;
	json_t *j = NULL;

	snprintf(path, sizeof path, "tests/cases/%c.jsonl", id[0]);
	buf_init(&b, 1 << 20);
	if (file_read(path, false, &b, NULL) < 0)
		fail_msg("%s can't be read (run this from the top)", path);
	for (p = buf_str(&b); *p != '\0'; p = nl + 1) {
		nl = strchr(p, '\n');
		assert_non_null(nl);
		assert_int_equal(
		    json_parse(p, (size_t)(nl - p), 1 << 20, &j, NULL), 0);
		got = json_string_value(json_object_get(j, "id"));
		if (strcmp(got, id) == 0)
			break;
		json_decref(j);
		j = NULL;
	}
	buf_clear(&b);
	if (j == NULL)
		fail_msg("%s is not in %s", id, path);
	return j;
}

static inline json_t *
case_in(const json_t *c, const char *key)
{
	return json_object_get(json_object_get(c, "input"), key);
}

static inline const char *
case_str(const json_t *obj, const char *key)
{
	return json_string_value(json_object_get(obj, key));
}

/* Are all of a string, or of a list of strings, in text? */
static inline bool
case_contains(const json_t *want, const char *text)
{
	const json_t *v;
	size_t i;

	if (json_is_string(want))
		return strstr(text, json_string_value(want)) != NULL;
	json_array_foreach (want, i, v) {
		if (strstr(text, json_string_value(v)) == NULL)
			return false;
	}
	return json_is_array(want);
}

/* How many cases the file has. */
static inline size_t
case_count(char class)
{
	char path[64];
	struct buf b;
	size_t n = 0;

	snprintf(path, sizeof path, "tests/cases/%c.jsonl", class);
	buf_init(&b, 1 << 20);
	assert_int_equal(file_read(path, false, &b, NULL), 0);
	for (size_t i = 0; i < b.len; i++)
		n += b.data[i] == '\n';
	buf_clear(&b);
	return n;
}

#endif
