/* worker/agent: summary.c, treefs.c, changeset.c, config.c, conv.c, tool.c. */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "worker/agent/agent.h"
#include "worker/agent/changeset.h"
#include "worker/agent/conv.h"
#include "worker/agent/output.h"
#include "worker/agent/tool.h"

/* --- summary ------------------------------------------------------------- */

static void
fill(struct strv *v, size_t n, size_t len)
{
	char *s = xmalloc(len + 1);

	memset(s, 'x', len);
	s[len] = '\0';
	memcpy(s, "\xc3\xa9", 2);
	memcpy(s + len - 1, "\xc3", 1); /* not UTF-8 */
	for (size_t i = 0; i < n; i++)
		strv_add(v, s);
	free(s);
}

/* A hypothesis for each of many workers; of others' findings a few are enough.
 */
static void
test_plan_fits(void **state)
{
	struct outcome o = { .verdict = "done" };
	struct msg m = { .type = MSG_SUMMARY };
	struct msg_summary *s = &m.u.summary;
	struct buf b;
	struct err e;

	(void)state;
	buf_init(&o.output, BUF_NOMAX);
	for (int i = 0; i < 2000; i++)
		strv_addf(&o.findings, "H%d: the fault is in file %d", i, i);
	fill(&o.evidence, 100, 3000);
	o.reason = xstrdup(o.evidence.v[0]);
	o.hypothesis = xstrdup(o.evidence.v[0]);
	summary_fit(&o, true);
	assert_int_equal(o.findings.n, 1024);
	s->subtask = "s";
	s->attempt = 1;
	s->verdict = o.verdict;
	s->findings = msg_strs_of(&o.findings);
	s->evidence = msg_strs_of(&o.evidence);
	s->reason = o.reason;
	s->hypothesis = o.hypothesis;
	buf_init(&b, BUF_NOMAX);
	if (msg_encode(&m, &b, &e) < 0)
		fail_msg("%s", e.text);
	assert_true(b.len < MSG_MAX_SUMMARY);
	summary_fit(&o, false);
	assert_int_equal(o.findings.n, 64);
	buf_clear(&b);
	outcome_clear(&o);
}

static void
test_summary_fits(void **state)
{
	struct outcome o = { .verdict = "stuck" };
	struct msg m = { .type = MSG_SUMMARY };
	struct msg_summary *s = &m.u.summary;
	struct buf b;
	struct err e;

	(void)state;
	fill(&o.findings, 100, 3000);
	fill(&o.evidence, 100, 3000);
	fill(&o.failing, 1000, 400);
	fill(&o.flaky, 1000, 400);
	o.reason = xstrdup(o.findings.v[0]);
	o.hypothesis = xstrdup(o.findings.v[0]);
	buf_init(&o.output, BUF_NOMAX);
	for (int i = 0; i < 10000; i++)
		(void)buf_printf(&o.output, "\033[31mline %d\033[0m\n", i);
	summary_fit(&o, false);
	s->subtask = "s";
	s->attempt = 1;
	s->verdict = o.verdict;
	s->findings = msg_strs_of(&o.findings);
	s->evidence = msg_strs_of(&o.evidence);
	s->failing = msg_strs_of(&o.failing);
	s->flaky = msg_strs_of(&o.flaky);
	s->reason = o.reason;
	s->hypothesis = o.hypothesis;
	s->output = buf_str(&o.output);
	buf_init(&b, BUF_NOMAX);
	if (msg_encode(&m, &b, &e) < 0)
		fail_msg("%s", e.text);
	assert_true(b.len < MSG_MAX_SUMMARY);
	assert_true(o.findings.n > 5);
	assert_non_null(strstr(s->output, "line 0\n"));
	assert_non_null(strstr(s->output, "line 9999\n"));
	assert_null(strchr(s->output, '\033'));
	buf_clear(&b);
	outcome_clear(&o);
}

/* --- treefs -------------------------------------------------------------- */

struct tree {
	char dir[64];
	char *root;
	struct treefs fs;
};

static int
tree_setup(void **state)
{
	static struct tree t;
	char *p;

	t = (struct tree){ .dir = "/tmp/foray-treefs-XXXXXX" };
	assert_non_null(mkdtemp(t.dir));
	t.root = path_join(t.dir, "ws");
	assert_int_equal(mkdir(t.root, 0755), 0);
	p = path_join(t.root, "sub");
	assert_int_equal(mkdir(p, 0755), 0);
	assert_int_equal(treefs_open(&t.fs, t.root, p, t.dir, "/tmp", NULL), 0);
	free(p);
	*state = &t;
	return 0;
}

static int
tree_teardown(void **state)
{
	struct tree *t = *state;

	treefs_close(&t->fs);
	free(t->root);
	return path_rmtree(t->dir, NULL);
}

static void
name_is(struct tree *t, const char *path, const char *rel, bool tmp)
{
	struct treefs_name n;
	struct err e;

	if (treefs_name(&t->fs, path, &n, &e) < 0) {
		if (rel != NULL)
			fail_msg("%s: %s", path, e.text);
		return;
	}
	if (rel == NULL)
		fail_msg("%s was taken for %s", path, n.rel);
	assert_string_equal(n.rel, rel);
	assert_int_equal(n.tmp, tmp);
	treefs_name_clear(&n);
}

static void
test_treefs_names(void **state)
{
	struct tree *t = *state;
	char *p;

	name_is(t, "a", "sub/a", false);
	name_is(t, "./a//b/", "sub/a/b", false);
	name_is(t, "../a", "a", false);
	name_is(t, "..", ".", false);
	name_is(t, ".", "sub", false);
	name_is(t, "../../a", NULL, false);
	name_is(t, "../../ws/a", NULL, false);
	name_is(t, "", NULL, false);
	name_is(t, "/etc/passwd", NULL, false);
	name_is(t, "/", NULL, false);
	name_is(t, "/tmp/x/y", "x/y", true);
	name_is(t, "/tmp", ".", true);
	name_is(t, "/tmp/../etc/passwd", NULL, false);
	p = path_join(t->root, "a/../b");
	name_is(t, p, "b", false);
	free(p);
	p = xasprintf("%s-evil/a", t->root); /* B-017 */
	if (text_starts(t->root, "/tmp/"))
		name_is(t, p, p + 5, true);
	free(p);
}

static void
test_treefs_writes(void **state)
{
	struct tree *t = *state;
	struct timespec ts[2] = { { .tv_sec = time(NULL) + 1000 },
		{ .tv_sec = time(NULL) + 1000 } };
	struct treefs_name n = { .rel = xstrdup("x/y/z") };
	const char *const guarded[] = { "test.c", "b" };
	struct stat st;
	struct buf b;
	bool exists;
	char *p;

	treefs_guard(&t->fs, guarded, 2);
	assert_int_equal(treefs_write(&t->fs, "x/y/z", "one", 3, 0, NULL), 0);
	p = path_join(t->root, "x/y/z");
	assert_int_equal(stat(p, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	assert_int_equal(chmod(p, 0711), 0);
	assert_int_equal(utimensat(AT_FDCWD, p, ts, 0), 0);
	assert_int_equal(treefs_write(&t->fs, "x/y/z", "two", 3, 0, NULL), 0);
	assert_int_equal(stat(p, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0711);
	assert_int_equal(st.st_mtime, ts[0].tv_sec + 1);
	free(p);
	buf_init(&b, 100);
	assert_int_equal(treefs_read(&t->fs, &n, &b, &st, NULL), 0);
	assert_string_equal(buf_str(&b), "two");
	buf_clear(&b);
	treefs_name_clear(&n);
	assert_int_equal(treefs_write(&t->fs, "x", "", 0, 0, NULL), -EISDIR);
	assert_int_equal(
	    treefs_write(&t->fs, "test.c", "", 0, 0, NULL), ERR_DENIED);
	assert_int_equal(
	    treefs_write(&t->fs, "a/.GIT/x", "", 0, 0, NULL), ERR_DENIED);
	assert_int_equal(
	    treefs_may_write(&t->fs, "no/dir/f", &exists, NULL), 0);
	assert_false(exists);
	assert_int_equal(treefs_remove(&t->fs, "x/y/z", NULL), 0);
	assert_int_equal(treefs_remove(&t->fs, "x/y/z", NULL), -ENOENT);
}

static void
link_in(struct tree *t, const char *to, const char *name)
{
	char *p = path_join(t->root, name);

	assert_int_equal(symlink(to, p), 0);
	free(p);
}

static void
test_treefs_links(void **state)
{
	struct tree *t = *state;
	struct treefs_name n = { .rel = xstrdup("out/f") };
	const char *const guarded[] = { "sub/t" };

	treefs_guard(&t->fs, guarded, 1);
	link_in(t, "..", "out");
	link_in(t, "/etc/passwd", "abs");
	link_in(t, "/proc/self/root", "magic");
	link_in(t, "sub", "in");
	assert_int_equal(treefs_fd(&t->fs, &n, 0, NULL), ERR_DENIED);
	free(n.rel);
	n.rel = xstrdup("abs");
	assert_int_equal(treefs_fd(&t->fs, &n, 0, NULL), ERR_DENIED);
	free(n.rel);
	n.rel = xstrdup("magic/etc/passwd");
	assert_int_equal(treefs_fd(&t->fs, &n, 0, NULL), ERR_DENIED);
	treefs_name_clear(&n);
	assert_int_equal(
	    treefs_write(&t->fs, "out/f", "", 0, 0, NULL), ERR_DENIED);
	assert_int_equal(
	    treefs_write(&t->fs, "abs", "", 0, 0, NULL), ERR_DENIED);
	assert_int_equal(
	    treefs_write(&t->fs, "in/t", "", 0, 0, NULL), ERR_DENIED);
	assert_int_equal(treefs_write(&t->fs, "in/u", "", 0, 0, NULL), 0);
}

/* --- the rest ------------------------------------------------------------ */

static void
test_litter(void **state)
{
	(void)state;
	assert_true(changeset_is_litter("a/__pycache__/b.txt", false));
	assert_true(changeset_is_litter("__pycache__/b.pyc", true));
	assert_true(changeset_is_litter("x/y.pyc", false));
	assert_true(changeset_is_litter("target/debug/x", true));
	assert_true(changeset_is_litter("node_modules/a/b.js", true));
	assert_false(changeset_is_litter("target/debug/x", false));
	assert_false(changeset_is_litter("src/a.c", true));
	assert_false(changeset_is_litter("src/core/a.py", true));
}

static void
test_output(void **state)
{
	struct buf b;
	char line[16];

	(void)state;
	buf_init(&b, BUF_NOMAX);
	assert_false(output_add(&b, "a\r\nb\033[1m!\n", 11, 100));
	assert_string_equal(buf_str(&b), "a\nb!\n");
	buf_clear(&b);
	output_last_line("one\n  two \n\n \n", 14, line, sizeof line);
	assert_string_equal(line, "two");
	output_last_line("", 0, line, sizeof line);
	assert_string_equal(line, "");
	output_last_line("0123456789abcd\xc3\xa9", 16, line, sizeof line);
	assert_string_equal(line, "0123456789abcd");
}

/* Node counts its tests behind what it says of them. */
static void
test_node_reason(void **state)
{
	static const char tap[] =
	    "TAP version 13\nnot ok 1 - x\n  ---\n  duration_ms: 1\n"
	    "  error: |-\n    Expected values to be strictly equal:\n    \n"
	    "    1 !== 2\n    \n  code: 'ERR_ASSERTION'\n  stack: |-\n"
	    "    at T (/a.js:2:21)\n  ...\n1..1\n# tests 1\n# pass 0\n"
	    "# duration_ms 9.4\n";
	static const char spec[] =
	    "\xe2\x84\xb9 tests 1\n\xe2\x84\xb9 fail 1\n"
	    "\xe2\x9c\x96 x (1ms)\n  TypeError: a.b is not a function\n"
	    "      at T (/a.js:2:21)\n";
	static const char other[] =
	    "ValueError: no\n# of tests 3\n# pass on\nlast\n";
	char line[80], small[12];

	(void)state;
	output_last_line(tap, strlen(tap), line, sizeof line);
	assert_string_equal(
	    line, "Expected values to be strictly equal: 1 !== 2");
	output_last_line(tap, strlen(tap), small, sizeof small);
	assert_string_equal(small, "Expected va");
	output_last_line(spec, strlen(spec), line, sizeof line);
	assert_string_equal(line, "TypeError: a.b is not a function");
	output_last_line(other, strlen(other), line, sizeof line);
	assert_string_equal(line, "last");
}

static void
test_tools_are_listed(void **state)
{
	json_t *j = tool_list(), *list, *row;
	char *one, *two;
	size_t i;

	(void)state;
	list = json_object_get(j, "tools");
	assert_int_equal(json_array_size(list), 11);
	json_array_foreach (list, i, row) {
		assert_true(json_is_object(json_object_get(row, "parameters")));
		assert_non_null(
		    tool_find(json_string_value(json_object_get(row, "name"))));
	}
	/* E-006: the same bytes each time */
	one = json_text(j);
	json_decref(j);
	j = tool_list();
	two = json_text(j);
	assert_string_equal(one, two);
	json_decref(j);
	free(one);
	free(two);
}

static void
test_conv_is_split(void **state)
{
	struct conv c = { 0 };
	struct buf hashes;
	const char **bodies = NULL;
	char *big = xmalloc(1000001);
	struct msg m;
	size_t i;

	(void)state;
	memset(big, 'x', 1000000);
	big[1000000] = '\0';
	for (i = 0; i < 9; i++)
		assert_int_equal(
		    conv_add_text(&c, CONV_USER, big, 1000000 - i, NULL), 0);
	assert_int_equal(conv_add_text(&c, CONV_USER, "small", 5, NULL), 0);
	assert_int_equal(
	    conv_add_text(&c, CONV_USER, big, CONV_MESSAGE_MAX + 1, NULL),
	    ERR_LIMIT);
	buf_init(&hashes, BUF_NOMAX);
	conv_request(&c, 7, NULL, 0, &hashes, &bodies, &m);
	assert_int_equal(m.u.model.turn, 7);
	assert_int_equal(m.u.model.hashes_len, 10 * HASH_LEN);
	assert_int_equal(m.u.model.bodies.n, 5); /* the small one fits too */
	for (i = 0; i < 9; i++)
		c.v[i].known = true;
	conv_request(&c, 8, NULL, 0, &hashes, &bodies, &m);
	assert_int_equal(m.u.model.bodies.n, 1);
	conv_request(&c, 8, c.v[3].hash, HASH_LEN, &hashes, &bodies, &m);
	assert_int_equal(m.u.model.bodies.n, 1);
	assert_ptr_equal(m.u.model.bodies.v[0], c.v[3].text);
	free(big);
	free(bodies);
	buf_clear(&hashes);
	conv_clear(&c);
}

static void
bad_config(const char *s)
{
	struct config c;
	struct err e;

	assert_true(config_parse(s, strlen(s), &c, &e) < 0);
}

static void
test_config(void **state)
{
	(void)state;
	bad_config("");
	bad_config("[]");
	bad_config("{}");
	bad_config("{\"protocol\":9}");
	bad_config("{\"protocol\":1,\"token\":\"t\",\"socket\":\"s\","
		   "\"worker\":\"w\",\"root\":\"rel\"}");
	bad_config("{\"protocol\":1,\"token\":\"t\",\"socket\":\"s\","
		   "\"worker\":\"w\",\"root\":\"/r\",\"layout\":\"overlay\"}");
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, tree_setup, tree_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summary_fits),
		cmocka_unit_test(test_plan_fits),
		T(test_treefs_names),
		T(test_treefs_writes),
		T(test_treefs_links),
		cmocka_unit_test(test_litter),
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_node_reason),
		cmocka_unit_test(test_tools_are_listed),
		cmocka_unit_test(test_conv_is_split),
		cmocka_unit_test(test_config),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
