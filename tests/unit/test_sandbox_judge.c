/*
 * The judge of commands: the collected failures of other tools (class A, and
 * I-006 and I-007) by their ids, everyday commands, and a table of what
 * wrappers, options and texts in texts come to. Run from the top of the tree.
 */
#include "common/compat.h"

#include <setjmp.h>
/* cmocka needs the ones above */
#include <cmocka.h>

#include <time.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/text.h"
#include "sandbox/policy/judge.h"

static const struct judge_place place = { "/ws", "/ws", "/home/u" };

static json_t *
strings(const char *list)
{
	json_t *a = json_array();
	size_t n;

	for (; *list != '\0'; list += n + strspn(list + n, "|")) {
		n = strcspn(list, "|");
		(void)json_array_append_new(a, json_stringn(list, n));
	}
	return a;
}

static struct rules *
rules_of(json_t *permissions)
{
	struct rules *r = rules_create();
	struct err e;

	if (rules_add(r, LAYER_USER, "test", permissions, &e) < 0)
		fail_msg("%s", e.text);
	json_decref(permissions);
	return r;
}

/* --- the collected cases -------------------------------------------------- */

/* "git log" in their grammar is "run_command(git log *)" in ours. */
static json_t *
convert(const json_t *input)
{
	static const char *const keys[] = { "write_inside_workspace",
		"write_outside_workspace", "read_outside_workspace",
		"write_roots", "deny_option", "default" };
	static const char *const lists[] = { "deny", "ask", "allow" };
	const json_t *policy = json_object_get(input, "policy"), *v;
	json_t *p = json_object(), *list;
	char *rule;
	size_t i, k;

	for (i = 0; i < nitems(lists); i++) {
		list = json_array();
		json_array_foreach (json_object_get(policy, lists[i]), k, v) {
			rule = xasprintf(
			    "run_command(%s *)", json_string_value(v));
			(void)json_array_append_new(list, json_string(rule));
			free(rule);
		}
		(void)json_object_set_new(p, lists[i], list);
	}
	for (i = 0; i < nitems(keys); i++) {
		json_t *x = json_object_get(policy, keys[i]);

		if (x == NULL)
			x = json_object_get(input, keys[i]);
		if (x != NULL)
			(void)json_object_set(p, keys[i], x);
	}
	return p;
}

static bool
is_wanted(const json_t *expected, enum ruling got)
{
	const json_t *v, *in = json_object_get(expected, "verdict_in");
	const char *one =
	    json_string_value(json_object_get(expected, "verdict"));
	size_t i;

	if (one != NULL)
		return strcmp(one, ruling_str(got)) == 0;
	json_array_foreach (in, i, v)
		if (strcmp(json_string_value(v), ruling_str(got)) == 0)
			return true;
	return false;
}

static int
play(const json_t *c)
{
	const json_t *input = json_object_get(c, "input");
	const json_t *expected = json_object_get(c, "expected");
	const char *id = json_string_value(json_object_get(c, "id"));
	const char *command =
	    json_string_value(json_object_get(input, "command"));
	const char *must =
	    json_string_value(json_object_get(expected, "reason_contains"));
	const char *must_if = json_string_value(
	    json_object_get(expected, "if_not_allow_reason_contains"));
	struct rules *r = rules_of(convert(input));
	struct verdict v;
	int bad = 0;

	judge_command(r, command, &place, &v);
	if (!is_wanted(expected, v.ruling)) {
		print_message("%s: %s\n  %s: %s\n", id, command,
		    ruling_str(v.ruling), v.reason);
		bad = 1;
	}
	if (must_if != NULL && v.ruling != RULING_ALLOW)
		must = must_if;
	if (must != NULL && strstr(v.reason, must) == NULL) {
		print_message("%s: \"%s\" lacks %s\n", id, v.reason, must);
		bad = 1;
	}
	verdict_clear(&v);
	rules_free(r);
	return bad;
}

/* Every case of the file but those of hooks (A-062 and later). */
static size_t
play_file(const char *path, int *failed)
{
	const char *p, *nl, *id;
	size_t played = 0;
	struct buf b;
	json_t *j;

	buf_init(&b, 1 << 20);
	if (file_read(path, false, &b, NULL) < 0)
		fail_msg("%s can't be read (run this from the top)", path);
	for (p = buf_str(&b); *p != '\0'; p = nl + 1) {
		nl = strchr(p, '\n');
		assert_int_equal(
		    json_parse(p, (size_t)(nl - p), 1 << 20, &j, NULL), 0);
		id = json_string_value(json_object_get(j, "id"));
		if (strcmp(id, "A-062") < 0 || strcmp(id, "I-006") == 0 ||
		    strcmp(id, "I-007") == 0) {
			*failed += play(j);
			played++;
		}
		json_decref(j);
	}
	buf_clear(&b);
	return played;
}

static void
test_cases(void **state)
{
	int failed = 0;

	(void)state;
	assert_int_equal(play_file("tests/cases/A.jsonl", &failed), 61);
	assert_int_equal(play_file("tests/cases/I.jsonl", &failed), 2);
	assert_int_equal(failed, 0);
}

/* --- everyday ------------------------------------------------------------- */

/* One command an entry; "\n" in a line is a newline. */
static void
test_everyday(void **state)
{
	struct rules *r = rules_create();
	struct timespec from, to;
	int failed = 0;
	size_t n = 0;
	char *text, *line, *at, *w;
	struct buf b;
	double us;

	(void)state;
	buf_init(&b, 1 << 20);
	if (file_read("tests/cases/everyday.txt", false, &b, NULL) < 0)
		fail_msg("everyday.txt can't be read");
	text = buf_detach(&b, NULL);
	(void)clock_gettime(CLOCK_MONOTONIC, &from);
	for (at = text; (line = strsep(&at, "\n")) != NULL;) {
		struct verdict v;

		if (*line == '\0' || strncmp(line, "##", 2) == 0)
			continue;
		for (w = line; (w = strstr(w, "\\n")) != NULL; w++) {
			if (w > line && w[-1] == '\\') {
				memmove(w - 1, w, strlen(w) + 1);
				continue;
			}
			*w = '\n';
			memmove(w + 1, w + 2, strlen(w + 2) + 1);
		}
		judge_command(r, line, &place, &v);
		if (v.ruling != RULING_ALLOW) {
			print_message("%s\n  %s: %s\n", line,
			    ruling_str(v.ruling), v.reason);
			failed++;
		}
		verdict_clear(&v);
		n++;
	}
	(void)clock_gettime(CLOCK_MONOTONIC, &to);
	us = (double)(to.tv_sec - from.tv_sec) * 1e6 +
	    (double)(to.tv_nsec - from.tv_nsec) / 1e3;
	print_message(
	    "%zu everyday commands, %.1f us each\n", n, us / (double)n);
	free(text);
	rules_free(r);
	assert_true(n >= 1000);
	assert_int_equal(failed, 0);
}

/* --- what each construct comes to ----------------------------------------- */

/* Rules are "word word|word", as in the cases; def: the default. */
static const struct row {
	const char *deny, *ask, *allow, *def;
	const char *command, *want;
} rows[] = {
#include "tests/unit/test_sandbox_judge_builds.h"
#include "tests/unit/test_sandbox_judge_calm.h"
#include "tests/unit/test_sandbox_judge_doubt.h"
#include "tests/unit/test_sandbox_judge_files.h"
#include "tests/unit/test_sandbox_judge_globs.h"
#include "tests/unit/test_sandbox_judge_lost.h"
#include "tests/unit/test_sandbox_judge_options.h"
#include "tests/unit/test_sandbox_judge_plain.h"
#include "tests/unit/test_sandbox_judge_reads.h"
#include "tests/unit/test_sandbox_judge_rows.h"
#include "tests/unit/test_sandbox_judge_starts.h"
#include "tests/unit/test_sandbox_judge_tools.h"
#include "tests/unit/test_sandbox_judge_tuned.h"
#include "tests/unit/test_sandbox_judge_turns.h"
#include "tests/unit/test_sandbox_judge_ways.h"
#include "tests/unit/test_sandbox_judge_writes.h"
#include "tests/unit/test_sandbox_judge_written.h"
};

static void
set_rules(json_t *p, const char *key, const char *list)
{
	json_t *in = strings(list), *out = json_array(), *v;
	char *rule;
	size_t i;

	json_array_foreach (in, i, v) {
		const char *s = json_string_value(v);

		rule = strchr(s, '(') != NULL
		    ? xstrdup(s)
		    : xasprintf("run_command(%s *)", s);
		(void)json_array_append_new(out, json_string(rule));
		free(rule);
	}
	(void)json_object_set_new(p, key, out);
	json_decref(in);
}

static void
test_rows(void **state)
{
	int failed = 0;
	size_t i;

	(void)state;
	for (i = 0; i < nitems(rows); i++) {
		const struct row *x = &rows[i];
		json_t *p = json_pack("{s:s}", "default", x->def);
		struct rules *r;
		struct verdict v;

		set_rules(p, "deny", x->deny);
		set_rules(p, "ask", x->ask);
		set_rules(p, "allow", x->allow);
		r = rules_of(p);
		judge_command(r, x->command, &place, &v);
		if (strcmp(ruling_str(v.ruling), x->want) != 0) {
			print_message("%s\n  (deny %s, allow %s, default %s) "
				      "%s, not %s: %s\n",
			    x->command, x->deny, x->allow, x->def,
			    ruling_str(v.ruling), x->want, v.reason);
			failed++;
		}
		verdict_clear(&v);
		rules_free(r);
	}
	assert_int_equal(failed, 0);
}

/* A command may end anywhere, also before the value of an option. */
static void
test_cut(void **state)
{
	static const char *const ends[] = { " --target", " -t", " -o", " -C",
		" -f", " -e", " --file", " --output", " -exec", " --" };
	struct rules *r = rules_of(json_pack("{s:[s, s, s]}", "ask",
	    "Bash(rm:*)", "Edit(/tests/**)", "Read(.env)"));
	struct verdict v;
	char *cut;

	(void)state;
	for (size_t i = 0; i < nitems(rows); i++) {
		const char *from = rows[i].command, *at = from;

		while ((at = strpbrk(at, " =")) != NULL) {
			cut = xstrndup(from, (size_t)(at++ - from));
			judge_command(r, cut, &place, &v);
			assert_non_null(v.reason);
			verdict_clear(&v);
			free(cut);
		}
		for (size_t k = 0; k < nitems(ends); k++) {
			cut = xasprintf("%s%s", from, ends[k]);
			judge_command(r, cut, &place, &v);
			assert_non_null(v.reason);
			verdict_clear(&v);
			free(cut);
		}
	}
	rules_free(r);
}

/* --- the shape of the answer ---------------------------------------------- */

static void
test_parts(void **state)
{
	struct rules *r = rules_of(json_pack("{s:[s], s:[s], s:s}", "deny",
	    "Bash(rm:*)", "allow", "Bash(git log:*)", "default", "ask"));
	struct verdict v;
	char *text, *big;
	json_t *j;
	size_t i;

	(void)state;
	judge_command(r, "git log -3 && rm -r build", &place, &v);
	j = verdict_json(&v);
	text = json_text(j);
	assert_string_equal(text,
	    "{\"verdict\":\"deny\",\"reason\":\"rm -r build: denied by "
	    "Bash(rm:*) (user)\",\"parts\":[{\"command\":\"git log -3\","
	    "\"verdict\":\"allow\",\"rule\":\"Bash(git log:*)\",\"layer\":"
	    "\"user\"},{\"command\":\"rm -r build\",\"verdict\":\"deny\","
	    "\"rule\":\"Bash(rm:*)\",\"layer\":\"user\"}]}");
	free(text);
	json_decref(j);
	verdict_clear(&v);
	/* More parts than are kept: the one that decides is there. */
	big = xcalloc(1, 5000 * 9 + 40);
	for (i = 0; i < 5000; i++)
		memcpy(big + i * 9, "git log; ", 9);
	memcpy(big + i * 9, "rm -r x", 8);
	judge_command(r, big, &place, &v);
	assert_int_equal(v.ruling, RULING_DENY);
	assert_int_equal(v.parts[v.n - 1].ruling, RULING_DENY);
	assert_int_equal(v.n + v.more, 5001);
	verdict_clear(&v);
	free(big);
	rules_free(r);
}

/* An allow rule that is nearly enough is named, with what it lacks. */
static void
test_nearly(void **state)
{
	static const struct {
		const char *allow, *def, *command, *reason;
	} near[] = {
		{ "Bash(sudo *)", "allow", "sudo ls -l",
		    "Bash(sudo *) has a star there: a rule in full would allow it" },
		{ "Bash(git *)", "allow", "git -c core.pager=x log",
		    "Bash(git *) has a star there: a rule in full would allow it" },
		{ "Bash(timeout *)", "ask", "timeout 5 rm x",
		    "Bash(timeout *) does not spell out what it may start" },
		{ "Bash(ls *)", "allow", "sudo id",
		    "asked for: sudo (built in)" },
	};
	struct verdict v;
	struct rules *r;

	(void)state;
	for (size_t i = 0; i < nitems(near); i++) {
		r = rules_of(json_pack("{s:[s], s:s}", "allow", near[i].allow,
		    "default", near[i].def));
		judge_command(r, near[i].command, &place, &v);
		if (v.ruling != RULING_ASK ||
		    !text_ends(v.reason, near[i].reason))
			fail_msg("%s: %s", near[i].command, v.reason);
		verdict_clear(&v);
		rules_free(r);
	}
}

static void
test_tools(void **state)
{
	static const struct {
		const char *tool, *subject;
		enum ruling want;
	} calls[] = {
		{ "read_file", "a.c", RULING_ALLOW },
		{ "read_file", ".env", RULING_DENY },
		{ "read_file", "sub/.env", RULING_DENY },
		{ "grep", "sub/.env", RULING_DENY },
		{ "list_dir", "secret", RULING_DENY },
		{ "read_file", "secret/x/y", RULING_DENY },
		{ "read_file", "other/secret", RULING_ALLOW },
		{ "read_file", "/home/u/.ssh/id", RULING_DENY },
		{ "read_file", "../home/u/.ssh/id", RULING_DENY },
		{ "edit_file", "src/a.c", RULING_ALLOW },
		{ "edit_file", "tests/a.c", RULING_ASK },
		{ "apply_patch", "tests/x/../a.c", RULING_ASK },
		{ "fetch_url", "https://evil.example/x", RULING_DENY },
		{ "fetch_url", "https://a.evil.example:1/x", RULING_DENY },
		{ "fetch_url", "https://EVIL.example./x", RULING_DENY },
		{ "fetch_url", "https://ok@evil.example/x", RULING_DENY },
		{ "fetch_url", "https://good.example/x", RULING_ALLOW },
		{ "spawn_subagent", NULL, RULING_DENY },
		{ "finish", NULL, RULING_ALLOW },
		{ "run_command", "cat .env | wc", RULING_DENY },
		{ "run_command", "cat a.c > tests/x", RULING_ASK },
	};
	struct rules *r = rules_of(json_pack("{s:[s,s,s,s,s,s], s:[s]}", "deny",
	    "Read(.env)", "Read(/secret)", "Read(~/.ssh/**)",
	    "WebFetch(domain:*.evil.example)", "WebFetch(domain:evil.example)",
	    "Task", "ask", "Edit(tests/**)"));
	struct verdict v;

	(void)state;
	for (size_t i = 0; i < nitems(calls); i++) {
		judge_tool(r, calls[i].tool, calls[i].subject, &place, &v);
		if (v.ruling != calls[i].want)
			fail_msg("%s %s: %s", calls[i].tool, calls[i].subject,
			    v.reason);
		verdict_clear(&v);
	}
	rules_free(r);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_nearly),
		cmocka_unit_test(test_tools),
		cmocka_unit_test(test_everyday),
	};
	struct rules *r;
	struct verdict v;

	/* For a look by hand: COMMAND under the defaults. */
	if (argc == 2) {
		r = rules_create();
		judge_command(r, argv[1], &place, &v);
		(void)printf("%s: %s\n", ruling_str(v.ruling), v.reason);
		verdict_clear(&v);
		rules_free(r);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
