/*
 * Class F, processes and timeouts, and the tool results of class E: the cases
 * of tests/cases/F.jsonl and E.jsonl in real inner sandboxes. F-010's memory
 * and F-012 are whole-program matters: tests/integration/cases_f.py.
 */
#include "common/compat.h"

#include <dirent.h>

#include "common/text.h"
#include "tests/unit/test_agent_cases.h"

/* --- processes ----------------------------------------------------------- */

/* Processes below this one; children of the dead come to us. */
static size_t
descendants(void)
{
	char name[64], line[512];
	struct dirent *d;
	DIR *dir = opendir("/proc");
	size_t n = 0;
	FILE *f;
	int ppid;

	assert_non_null(dir);
	while ((d = readdir(dir)) != NULL) {
		if (d->d_name[0] < '0' || d->d_name[0] > '9')
			continue;
		snprintf(name, sizeof name, "/proc/%.20s/stat", d->d_name);
		if ((f = fopen(name, "re")) == NULL)
			continue;
		if (fgets(line, sizeof line, f) != NULL &&
		    sscanf(strrchr(line, ')') + 1, " %*c %d", &ppid) == 1 &&
		    ppid == getpid())
			n++;
		fclose(f);
	}
	closedir(dir);
	return n;
}

static void
none_left(const char *id)
{
	for (int i = 0; i < 1500; i++) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (descendants() == 0)
			return;
		usleep(20000);
	}
	fail_msg("%s: processes are left", id);
}

static bool
is_timeout(const char *result)
{
	return strncmp(result, "timed out after ", 16) == 0;
}

static void
check_exit(const char *id, const json_t *want, const char *key,
    const char *result, bool same)
{
	const json_t *v = json_object_get(want, key);
	char line[40];

	if (v == NULL)
		return;
	snprintf(line, sizeof line, "exit status %lld", json_integer_value(v));
	if ((strncmp(result, line, strlen(line)) == 0) != same)
		fail_msg("%s: %s: %s", id, key, result);
}

static void
check_f(const char *id, const json_t *want, const char *result)
{
	const json_t *v;

	check_exit(id, want, "exit_code", result, true);
	check_exit(id, want, "exit_code_not", result, false);
	if (json_is_true(json_object_get(want, "timed_out")) ||
	    json_is_true(json_object_get(want, "timed_out_or_stopped")))
		assert_true(is_timeout(result));
	else
		assert_false(is_timeout(result));
	if ((v = json_object_get(want, "output_contains")) != NULL &&
	    !case_contains(v, result))
		fail_msg("%s: %s", id, result);
	if ((v = json_object_get(want, "output")) != NULL)
		assert_string_equal(
		    strchr(result, '\n') + 1, json_string_value(v));
}

/* What they start runs for minutes: a busy machine is no fault. */
#define BUSY 6

static uint64_t command_began, command_ms;

/* The time of the call: from its message to its result. */
static void
time_it(struct bed *b, const struct msg_model *q, struct msg *m)
{
	(void)m;
	if (q->turn == b->n_replies)
		command_ms = loop_now_ms() - command_began;
	else
		command_began = loop_now_ms();
}

static void
play_f(const char *id, const char *setup)
{
	json_t *c = case_get(id), *args;
	const json_t *want = json_object_get(c, "expected");
	json_int_t within =
	    json_integer_value(json_object_get(want, "returns_within_s"));
	struct bed b;
	char *s;

	bed_open(&b);
	b.model = time_it;
	args = json_pack("{s:O, s:O*}", "command", case_in(c, "command"),
	    "timeout_s", case_in(c, "timeout_s"));
	s = json_text(args);
	if (setup != NULL)
		bed_call(&b, "run_command", setup);
	bed_call(&b, "run_command", s);
	bed_finish(&b, "done");
	bed_run(&b);
	if (setup != NULL) /* F-009: it is the editor that fails */
		bed_has(b.results.v[0], "exit status 0\n");
	if (setup != NULL)
		bed_has(b.results.v[1], "EDITOR");
	check_f(id, want, b.results.v[b.results.n - 1]);
	if (within > 0 && command_ms > (uint64_t)within * 1000 * BUSY)
		fail_msg("%s took %llu ms", id, (unsigned long long)command_ms);
	none_left(id);
	bed_close(&b);
	free(s);
	json_decref(args);
	json_decref(c);
}

static void
test_f(void **state)
{
	/* F-012: whole program only */
	static const char *const ids[] = { "F-001", "F-002", "F-003", "F-004",
		"F-005", "F-006", "F-007", "F-008", "F-009", "F-010", "F-011" };

	(void)state;
	bed_need_sandbox();
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	assert_int_equal(nitems(ids) + 1, case_count('F'));
	for (size_t i = 0; i < nitems(ids); i++)
		play_f(ids[i],
		    strcmp(ids[i], "F-009") != 0
			? NULL
			: "{\"command\":\"git init -q . && git config "
			  "user.name t && git config user.email t@t\"}");
}

/* --- results ------------------------------------------------------------- */

static void
say_command(struct bed *b, const json_t *command)
{
	json_t *args = json_pack("{s:O}", "command", command);
	char *s = json_text(args);

	bed_call(b, "run_command", s);
	free(s);
	json_decref(args);
}

static void
check_e(const char *id, const char *result)
{
	json_t *c = case_get(id);
	const json_t *want = json_object_get(c, "expected"), *v;

	if ((v = json_object_get(want, "result_bytes_max")) != NULL &&
	    strlen(result) > (size_t)json_integer_value(v))
		fail_msg("%s: %zu bytes", id, strlen(result));
	if ((v = json_object_get(want, "contains")) != NULL &&
	    !case_contains(v, result))
		fail_msg("%s: %.2000s", id, result);
	assert_true(text_is_utf8(result, strlen(result)));
	assert_null(strchr(result, '\033'));
	json_decref(c);
}

static void
test_e_commands(void **state)
{
	static const char *const ids[] = { "E-007", "E-009", "E-010" };
	struct bed b;
	json_t *c;

	(void)state;
	bed_need_sandbox();
	bed_open(&b);
	for (size_t i = 0; i < nitems(ids); i++) {
		c = case_get(ids[i]);
		say_command(&b, case_in(c, "command"));
		json_decref(c);
	}
	bed_finish(&b, "done");
	bed_run(&b);
	for (size_t i = 0; i < nitems(ids); i++)
		check_e(ids[i], b.results.v[i]);
	bed_has(b.results.v[0], "left out");
	bed_has(b.results.v[0], "bytes in all");
	bed_has(b.results.v[0], "/tmp/out-1.txt");
	bed_close(&b);
}

static void
test_e_008(void **state)
{
	char *line = xmalloc(600001);
	struct bed b;

	(void)state;
	bed_need_sandbox();
	bed_open(&b);
	memset(line, 'x', 600000);
	memcpy(line + 300000, "NEEDLE", 6);
	line[600000] = '\0';
	bed_text(&b, "min.js", line);
	free(line);
	bed_call(&b, "grep", "{\"pattern\":\"NEEDLE\"}");
	bed_finish(&b, "done");
	bed_run(&b);
	check_e("E-008", b.results.v[0]);
	bed_has(b.results.v[0], "a line of 600000 bytes");
	bed_close(&b);
}

/* E-011: an image is an error that tells its size, and the run goes on. */
static void
test_e_011(void **state)
{
	static const unsigned char png[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
					   "\0\0\x23\x28\0\0\0\x64\x08\2\0\0";
	struct bed b;
	json_t *c = case_get("E-011");

	(void)state;
	bed_open(&b);
	bed_put(&b, "shot.png", png, sizeof png - 1, 0644);
	bed_call(&b, "read_file", "{\"path\":\"shot.png\"}");
	bed_call(&b, "list_dir", "{}");
	bed_finish(&b, "done");
	bed_run(&b);
	bed_has(b.results.v[0], "error: ");
	bed_has(b.results.v[0],
	    case_str(
		json_object_get(c, "expected"), "tool_result_error_contains"));
	bed_has(b.results.v[0], "9000x100");
	bed_has_not(b.results.v[0], "IHDR");
	bed_has(b.results.v[1], "shot.png");
	assert_string_equal(b.summary->u.summary.verdict, "done");
	bed_close(&b);
	json_decref(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_f),
		cmocka_unit_test(test_e_commands),
		cmocka_unit_test(test_e_008),
		cmocka_unit_test(test_e_011),
	};

	bed_probe();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
