/* Permissions: how they are read, what the repository may, and matching. */
#include "common/compat.h"

#include <setjmp.h>
/* cmocka needs the ones above */
#include <cmocka.h>

#include "common/log.h"
#include "sandbox/policy/judge.h"

static const struct judge_place place = { "/ws/sub", "/ws", "/home/u" };

static json_t *
parse(const char *s)
{
	json_t *j = NULL;
	struct err e;

	if (json_parse(s, strlen(s), 1 << 16, &j, &e) < 0)
		fail_msg("%s: %s", s, e.text);
	return j;
}

/* What is wrong is named: the file, and the rule or the key. */
static void
test_errors(void **state)
{
	static const struct {
		const char *text, *names;
	} bad[] = {
		{ "[]", "not an object" },
		{ "{\"deni\":[]}", "\"deni\"" },
		{ "{\"deni\":[]}", "there are: deny, ask, allow, default" },
		{ "{\"deny\":null}", "\"deny\" is null" },
		{ "{\"deny_option\":null}", "\"deny_option\" is null" },
		{ "{\"default\":null}", "\"default\" is null" },
		{ "{\"deny\":[\"Bash(rm\\u0000)\"]}", "deny rule \"Bash(rm" },
		{ "{\"ask\":[\"Read(a\\u0007)\"]}", "control character" },
		{ "{\"write_roots\":[\"/a\\u0000\"]}", "control character" },
		{ "{\"deny\":\"rm\"}", "deny" },
		{ "{\"deny\":[1]}", "deny" },
		{ "{\"deny\":[\"\"]}", "1 to" },
		{ "{\"deny\":[\"Bash(rm\"]}", "deny rule \"Bash(rm\"" },
		{ "{\"deny\":[\"Bash()\"]}", "pattern is empty" },
		{ "{\"allow\":[\"Bash rm\"]}", "allow rule \"Bash rm\"" },
		{ "{\"ask\":[\"Bsh(rm)\"]}", "ask rule \"Bsh(rm)\"" },
		{ "{\"deny\":[\"WebFetch(x.y)\"]}", "domain:HOST" },
		{ "{\"deny\":[\"WebFetch(domain:x.y/z)\"]}", "domain:HOST" },
		{ "{\"deny\":[\"Task(x)\"]}", "takes no pattern" },
		{ "{\"deny\":[\"Read()\"]}", "path is empty" },
		{ "{\"deny\":[\"Edit(!a.sql)\"]}", "taken out" },
		{ "{\"deny\":[\"Edit([)\"]}", "no ]" },
		{ "{\"deny\":[\"Bash(curl:*, wget:*)\"]}", "one command" },
		{ "{\"deny\":[\"Bash(^curl.*)\"]}", "one command" },
		{ "{\"default\":\"maybe\"}", "\"default\"" },
		{ "{\"default\":1}", "default" },
		{ "{\"write_outside_workspace\":true}",
		    "write_outside_workspace" },
		{ "{\"write_roots\":\"/tmp\"}", "write_roots" },
		{ "{\"deny_option\":[]}", "deny_option" },
		{ "{\"deny_option\":{\"git\":\"-n\"}}", "git" },
		{ "{\"deny_option\":{\"git\":[\"n\"]}}", "begin with" },
		{ "{\"deny_option\":{\" \":[\"-n\"]}}", "no command" },
	};

	(void)state;
	for (size_t i = 0; i < nitems(bad); i++) {
		struct rules *r = rules_create();
		struct err e = { 0 };
		json_t *j = parse(bad[i].text);

		if (rules_add(r, LAYER_USER, "FILE", j, &e) != ERR_SYNTAX)
			fail_msg("%s was taken", bad[i].text);
		if (strstr(e.text, "FILE") == NULL ||
		    strstr(e.text, bad[i].names) == NULL)
			fail_msg("%s: %s", bad[i].text, e.text);
		json_decref(j);
		rules_free(r);
	}
}

static void
add(struct rules *r, enum rule_layer layer, const char *text)
{
	struct err e;
	json_t *j = parse(text);

	if (rules_add(r, layer, "FILE", j, &e) < 0)
		fail_msg("%s", e.text);
	json_decref(j);
}

static void
expect(const struct rules *r, const char *command, enum ruling want,
    enum rule_layer layer)
{
	struct verdict v;

	judge_command(r, command, &place, &v);
	if (v.ruling != want || v.parts[0].layer != layer)
		fail_msg("%s: %s", command, v.reason);
	verdict_clear(&v);
}

static void
test_layers(void **state)
{
	struct rules *r = rules_create();

	(void)state;
	/* The repository alone: all that loosens is ignored, and said. */
	add(r, LAYER_REPO,
	    "{\"allow\":[\"Bash\",\"Bash(git commit --no-verify *)\"],"
	    "\"default\":\"allow\",\"write_roots\":[\"/\"],"
	    "\"write_outside_workspace\":\"allow\",\"deny\":[\"Bash(rm *)\"]}");
	assert_int_equal(r->ignored.n, 5);
	assert_int_equal(r->n, 1);
	assert_int_equal(r->write_roots.n, 0);
	expect(r, "rm x", RULING_DENY, LAYER_REPO);
	expect(r, "ls", RULING_ALLOW, LAYER_BUILTIN);
	expect(r, "git commit --no-verify -m x", RULING_ASK, LAYER_BUILTIN);
	/* A stricter default counts, a looser one does not come back. */
	add(r, LAYER_REPO, "{\"default\":\"ask\"}");
	expect(r, "ls", RULING_ASK, LAYER_REPO);
	add(r, LAYER_REPO, "{\"default\":\"allow\"}");
	expect(r, "ls", RULING_ASK, LAYER_REPO);
	rules_free(r);

	/* The person's word, and theirs on top. */
	r = rules_create();
	add(r, LAYER_USER,
	    "{\"default\":\"ask\",\"allow\":[\"Bash(ls:*)\",\"Bash(rm *)\"],"
	    "\"deny\":[\"Bash(sudo *)\"]}");
	add(r, LAYER_REPO,
	    "{\"default\":\"deny\",\"ask\":[\"Bash(rm *)\"],"
	    "\"allow\":[\"Bash(sudo *)\"]}");
	expect(r, "ls", RULING_ALLOW, LAYER_USER);
	expect(r, "rm x", RULING_ASK, LAYER_REPO);
	expect(r, "sudo x", RULING_DENY, LAYER_USER);
	expect(r, "id", RULING_DENY, LAYER_REPO);
	rules_free(r);
}

static void
test_star(void **state)
{
	(void)state;
	assert_true(rule_star("a*c", "abbc", true));
	assert_true(rule_star("*", "", true));
	assert_true(rule_star("a*", "a", true));
	assert_true(rule_star("*a*b*", "xxaxbx", true));
	assert_false(rule_star("a*c", "abb", true));
	assert_false(rule_star("a", "ab", true));
	assert_true(rule_star("a*c", "a/c", true));
	assert_false(rule_star("a*c", "a/c", false));
	assert_true(rule_star("./s/*", "./s/x", false));
	/* no exponential time */
	assert_false(rule_star("*a*a*a*a*a*a*a*a*a*b",
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", true));
}

static void
test_paths(void **state)
{
	static const struct {
		const char *pattern, *path;
		bool want;
	} rows[] = {
		{ "//etc/passwd", "/etc/passwd", true },
		{ "//etc", "/etc/passwd", true },
		{ "//etc/**", "/etc/x/y", true },
		{ "//etc/*.conf", "/etc/a.conf", true },
		{ "//etc/*.conf", "/etc/x/a.conf", false },
		{ "~/.ssh/**", "/home/u/.ssh/id", true },
		{ "~/.ssh/**", "/home/v/.ssh/id", false },
		{ "~", "/home/u/x", true },
		{ "/src", "/ws/src/a", true },
		{ "/src/", "/ws/src/a", true },
		{ "/src", "/ws/sub/src", false },
		{ "/*.c", "/ws/a.c", true },
		{ "/*.c", "/ws/sub/a.c", false },
		{ "*.c", "/ws/sub/x/y.c", true },
		{ "*.c", "/ws/y.c", true }, /* deny: from the top too */
		{ "./*.c", "/ws/sub/y.c", true },
		{ "./*.c", "/ws/sub/x/y.c", false },
		{ "x/*.c", "/ws/sub/x/y.c", true },
		{ "**/gen/**", "/ws/sub/a/gen/y", true },
		{ ".env", "/ws/sub/deep/.env", true },
		{ ".env", "/ws/sub/.env.example", false },
		{ "secret", "/ws/sub/secret/a/b", true },
		{ "*.c", "/elsewhere/y.c", false },
	};

	(void)state;
	for (size_t i = 0; i < nitems(rows); i++) {
		struct rule x = { .ruling = RULING_DENY,
			.pattern = (char *)(uintptr_t)rows[i].pattern };

		if (rule_covers_path(&x, rows[i].path, &place) != rows[i].want)
			fail_msg("%s %s", rows[i].pattern, rows[i].path);
	}
}

static void
test_write_keys(void **state)
{
	struct rules *r = rules_create();

	(void)state;
	add(r, LAYER_USER,
	    "{\"write_inside_workspace\":\"ask\","
	    "\"write_outside_workspace\":\"deny\","
	    "\"read_outside_workspace\":\"ask\","
	    "\"write_roots\":[\"/tmp\",\"~/out\"],"
	    "\"allow\":[\"Edit(/gen/**)\"]}");
	expect(r, "> x", RULING_ASK, LAYER_USER);
	expect(r, "> /tmp/x", RULING_ASK, LAYER_USER);
	expect(r, "> ~/out/x", RULING_ASK, LAYER_USER);
	expect(r, "> /home/u/x", RULING_DENY, LAYER_USER);
	expect(r, "> ~v/x", RULING_DENY, LAYER_USER);
	expect(r, "> ../../x", RULING_DENY, LAYER_USER);
	expect(r, "ls > ../gen/x", RULING_ALLOW, LAYER_BUILTIN);
	expect(r, "ls > /dev/null", RULING_ALLOW, LAYER_BUILTIN);
	expect(r, "cat /etc/passwd", RULING_ASK, LAYER_USER);
	expect(r, "cat x", RULING_ALLOW, LAYER_BUILTIN);
	rules_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_layers),
		cmocka_unit_test(test_star),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_write_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
