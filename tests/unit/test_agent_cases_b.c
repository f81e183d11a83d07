/*
 * Class B, edits and patches: each case of tests/cases/B.jsonl is played
 * through the real worker and its expectations are checked as they stand there.
 */
#include "common/compat.h"

#include <sodium.h>

#include "tests/unit/test_agent_cases.h"

static const char *const ids[] = { "B-001", "B-002", "B-003", "B-004", "B-005",
	"B-006", "B-007", "B-008", "B-009", "B-010", "B-011", "B-012", "B-013",
	"B-014", "B-015", "B-016", "B-017", "B-018", "B-019", "B-020", "B-021",
	"B-022", "B-023", "B-024" };

static char why[600]; /* the first expectation that does not hold */

static bool
no(const char *what, const char *detail)
{
	if (*why == '\0')
		snprintf(why, sizeof why, "%s: %.400s", what, detail);
	return false;
}

static size_t
unbase64(const char *s, unsigned char *dst, size_t size)
{
	size_t n = 0;

	assert_int_equal(sodium_base642bin(dst, size, s, strlen(s), NULL, &n,
			     NULL, sodium_base64_VARIANT_ORIGINAL),
	    0);
	return n;
}

/* --- laying it out ------------------------------------------------------- */

static void
put_files(struct bed *b, const json_t *c)
{
	const char *name, *mode;
	const json_t *v;
	unsigned char raw[256];
	mode_t m;

	json_object_foreach (case_in(c, "files"), name, v) {
		mode = case_str(case_in(c, "modes"), name);
		m = mode != NULL ? (mode_t)strtoul(mode, NULL, 8) : 0644;
		bed_put(
		    b, name, json_string_value(v), json_string_length(v), m);
	}
	json_object_foreach (case_in(c, "files_b64"), name, v) {
		bed_put(b, name, raw,
		    unbase64(json_string_value(v), raw, sizeof raw), 0644);
	}
	json_object_foreach (case_in(c, "outside"), name, v) {
		bed_put(
		    b, name, json_string_value(v), json_string_length(v), 0666);
	}
}

static void
put_links(struct bed *b, const json_t *c)
{
	const char *name;
	const json_t *v;
	char *path;
	size_t i;

	json_object_foreach (case_in(c, "symlinks"), name, v) {
		path = path_join(b->tree, name);
		assert_int_equal(symlink(json_string_value(v), path), 0);
		free(path);
	}
	json_array_foreach (case_in(c, "outside_dirs"), i, v) {
		path = path_join(b->tree, json_string_value(v));
		assert_int_equal(mkdir(path, 0755), 0);
		assert_int_equal(chmod(path, 0777), 0);
		free(path);
	}
}

static void
say_edit(struct bed *b, const json_t *c)
{
	const json_t *edit = case_in(c, "edit");
	bool patch = strcmp(case_str(edit, "type"), "patch") == 0;
	json_t *args;
	char *s;

	args = patch
	    ? json_pack("{s:O}", "patch", json_object_get(edit, "text"))
	    : json_pack("{s:O, s:O, s:O}", "path",
		  json_object_get(edit, "path"), "old",
		  json_object_get(edit, "old"), "new",
		  json_object_get(edit, "new"));
	assert_non_null(args);
	s = json_text(args);
	bed_call(b, patch ? "apply_patch" : "edit_file", s);
	bed_finish(b, "done");
	free(s);
	json_decref(args);
}

/* --- looking ------------------------------------------------------------- */

static bool
holds(struct bed *b, const char *name, const void *want, size_t len)
{
	char *path = path_join(b->tree, name);
	struct buf got;
	bool ok;

	buf_init(&got, 1 << 20);
	ok = file_read(path, true, &got, NULL) == 0 && got.len == len &&
	    memcmp(buf_str(&got), want, len) == 0;
	if (!ok)
		(void)no(name, buf_str(&got));
	buf_clear(&got);
	free(path);
	return ok;
}

static bool
files_hold(struct bed *b, const json_t *files, const json_t *files_b64)
{
	unsigned char raw[256];
	const char *name;
	const json_t *v;
	bool ok = true;

	json_object_foreach ((json_t *)(uintptr_t)files, name, v)
		ok = ok &&
		    holds(b, name, json_string_value(v), json_string_length(v));
	json_object_foreach ((json_t *)(uintptr_t)files_b64, name, v)
		ok = ok &&
		    holds(b, name, raw,
			unbase64(json_string_value(v), raw, sizeof raw));
	return ok;
}

static bool
modes_hold(struct bed *b, const json_t *modes)
{
	struct stat st;
	const char *name;
	const json_t *v;
	char *path;
	bool ok = true;

	json_object_foreach ((json_t *)(uintptr_t)modes, name, v) {
		path = path_join(b->tree, name);
		assert_int_equal(stat(path, &st), 0);
		free(path);
		if ((st.st_mode & 07777) !=
		    (mode_t)strtoul(json_string_value(v), NULL, 8))
			ok = no("mode", name);
	}
	return ok;
}

/* "Outside workspace" and the like name a kind: its word must be there. */
static bool
error_is(const char *kind, const char *result)
{
	static const char *const words[] = { "outside", "refused", "itself" };

	if (strncmp(result, "error: ", 7) != 0)
		return no("no error", result);
	for (size_t i = 0; i < nitems(words); i++) {
		if (strstr(kind, words[i]) != NULL &&
		    strstr(result, words[i]) == NULL)
			return no(kind, result);
	}
	return true;
}

static bool
outside_holds(struct bed *b, const json_t *want)
{
	const char *name = case_str(want, "link_still_link");
	struct stat st;
	const json_t *v;
	bool ok;
	char *path;
	size_t i;

	ok = files_hold(b, json_object_get(want, "outside_unchanged"), NULL);
	json_array_foreach (json_object_get(want, "outside_absent"), i, v) {
		path = path_join(b->tree, json_string_value(v));
		if (lstat(path, &st) == 0)
			ok = no("it is there", path);
		free(path);
	}
	if (name != NULL) {
		path = path_join(b->tree, name);
		if (lstat(path, &st) < 0 || !S_ISLNK(st.st_mode))
			ok = no("no link any more", name);
		free(path);
	}
	return ok;
}

static bool
lines_listed(const json_t *want, const char *result)
{
	const json_t *v;
	char line[16];
	size_t i;

	json_array_foreach (want, i, v) {
		snprintf(line, sizeof line, "%lld", json_integer_value(v));
		if (strstr(strstr(result, "lines"), line) == NULL)
			return no("line", result);
	}
	return true;
}

static bool fulfils(
    struct bed *b, const json_t *c, const json_t *want, const char *result);

static bool
one_of(struct bed *b, const json_t *c, const json_t *list, const char *result)
{
	const json_t *v;
	size_t i;

	json_array_foreach (list, i, v) {
		if (fulfils(b, c, v, result)) {
			*why = '\0';
			return true;
		}
	}
	return false;
}

/* Every key that may stand in an expectation; "never" is prose for what the
 * others exclude. */
static bool
fulfils(struct bed *b, const json_t *c, const json_t *want, const char *result)
{
	const char *key;
	const json_t *v;
	bool ok = true;

	json_object_foreach ((json_t *)(uintptr_t)want, key, v) {
		if (strcmp(key, "files") == 0)
			ok = ok && files_hold(b, v, NULL);
		else if (strcmp(key, "files_b64") == 0)
			ok = ok && files_hold(b, NULL, v);
		else if (strcmp(key, "files_unchanged") == 0)
			ok = ok &&
			    files_hold(b, case_in(c, "files"),
				case_in(c, "files_b64"));
		else if (strcmp(key, "modes") == 0)
			ok = ok && modes_hold(b, v);
		else if (strcmp(key, "error") == 0)
			ok = ok && error_is(json_string_value(v), result);
		else if (strcmp(key, "error_contains") == 0)
			ok = ok && error_is("", result) &&
			    (case_contains(v, result) || no(key, result));
		else if (strcmp(key, "error_lists_lines") == 0)
			ok = ok && lines_listed(v, result);
		else if (strcmp(key, "one_of") == 0)
			ok = ok && one_of(b, c, v, result);
		else if (strcmp(key, "report") == 0)
			ok = ok &&
			    (strstr(result, "changed plan.md (+1 -2)") ||
				no(key, result));
		else if (strcmp(key, "never") != 0 &&
		    strcmp(key, "outside_unchanged") != 0 &&
		    strcmp(key, "outside_absent") != 0 &&
		    strcmp(key, "link_still_link") != 0)
			fail_msg("unknown expectation %s", key);
	}
	return ok && outside_holds(b, want);
}

static void
play(const char *id)
{
	json_t *c = case_get(id);
	const char *mask = json_string_value(case_in(c, "umask"));
	struct bed b;
	mode_t old;

	*why = '\0';
	bed_open(&b);
	put_files(&b, c);
	put_links(&b, c);
	say_edit(&b, c);
	/* Only the worker's: the bed sets the modes of its own files. */
	old = umask(0);
	(void)umask(mask != NULL ? (mode_t)strtoul(mask, NULL, 8) : old);
	bed_run(&b);
	(void)umask(old);
	assert_true(b.results.n >= 1);
	if (!fulfils(&b, c, json_object_get(c, "expected"), b.results.v[0]))
		fail_msg("%s: %s\nresult: %s", id, why, b.results.v[0]);
	bed_close(&b);
	json_decref(c);
}

static void
test_b(void **state)
{
	(void)state;
	assert_int_equal(nitems(ids), case_count('B'));
	for (size_t i = 0; i < nitems(ids); i++)
		play(ids[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_b) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
