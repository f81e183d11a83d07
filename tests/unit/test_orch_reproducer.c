/* A reproducer as a worker hands it in, and what it takes out of a fix. */
#include "common/compat.h"

#include <setjmp.h>
#include <sys/stat.h>

#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fdio.h"
#include "common/path.h"
#include "orchestrator/run/reproducer.h"
#include "sandbox/changes.h"

#define ADD(f, line) \
	"diff --git a/" f " b/" f \
	"\nnew file mode 100644\n--- /dev/null\n+++ " \
	"b/" f "\n@@ -0,0 +1 @@\n+" line "\n"
#define CHANGE(f) \
	"diff --git a/" f " b/" f "\n--- a/" f "\n+++ b/" f \
	"\n@@ -1 +1 @@\n-a\n+b\n"
#define GONE(f) \
	"diff --git a/" f " b/" f "\ndeleted file mode 100644\n--- a/" f \
	"\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"

static const char good[] = ADD("t/b.sh", "exit 1") ADD("t/a.sh", "exit 0");
static const char command[] = "command: sh t/b.sh";
static const char expect[] = "expect: want 3";

/* The two findings, NULL for none; NULL when it is well-formed. */
static const char *
why_not(const char *one, const char *two, const char *patch, const char *tree)
{
	static struct err e;
	struct strv findings = { 0 };
	struct reproducer rp;
	int r;

	strv_add(&findings, "a sentence about the cause");
	if (one != NULL)
		strv_add(&findings, one);
	if (two != NULL)
		strv_add(&findings, two);
	r = reproducer_read(&findings, patch, strlen(patch), tree, &rp, &e);
	strv_clear(&findings);
	if (r < 0)
		return e.text;
	reproducer_clear(&rp);
	return NULL;
}

static void
refused(const char *one, const char *two, const char *patch, const char *part)
{
	const char *why = why_not(one, two, patch, NULL);

	if (why == NULL || strstr(why, part) == NULL)
		fail_msg("\"%s\" is not in: %s", part,
		    why != NULL ? why : "(nothing)");
}

static void
test_good(void **state unused_arg)
{
	struct strv findings = { 0 };
	struct reproducer rp;
	struct err e;

	strv_addl(&findings, "Command:  `sh t/b.sh 'a  b'` ", "it is -lt",
	    " expect: want 3, got 2\n", (char *)NULL);
	if (reproducer_read(&findings, good, sizeof good - 1, NULL, &rp, &e) <
	    0)
		fail_msg("%s", e.text);
	assert_string_equal(rp.command, "sh t/b.sh 'a  b'");
	assert_string_equal(rp.expect, "want 3, got 2");
	assert_int_equal(rp.files.n, 2);
	assert_string_equal(rp.files.v[0], "t/a.sh");
	assert_string_equal(rp.files.v[1], "t/b.sh");
	assert_int_equal(rp.patch_len, sizeof good - 1);
	assert_string_equal(rp.patch, good);
	reproducer_clear(&rp);
	strv_clear(&findings);
}

static void
test_findings(void **state unused_arg)
{
	char longest[1024] = "command: ";

	memset(longest + 9, 'x', sizeof longest - 10);
	assert_null(why_not(command, expect, good, NULL));
	assert_null(why_not("command: `a` `b`",
	    "expect: \xc3\xa4\xc3\xa4\xc3\xa4", good, NULL));
	refused(NULL, expect, good, "no finding \"command: ...\"");
	refused(command, NULL, good, "no finding \"expect: ...\"");
	refused("the command: x", expect, good, "no finding");
	refused(command, command, good, "two findings");
	refused("command:  ", expect, good, "command is empty");
	refused("command: a\nb", expect, good, "not one line");
	refused("command: a\033[1mb", expect, good, "not one line");
	refused(longest, expect, good, "longer than");
	refused(command, "expect: ab", good, "shorter than 3");
	refused(command, "expect: \xc3\xa4\xc3\xa4", good, "shorter than 3");
	refused(command, "expect:   a   ", good, "shorter than 3");
}

static void
test_patch(void **state unused_arg)
{
	struct buf many;

	refused(command, expect, "", "no new file");
	refused(command, expect, "hello\n", "its patch");
	refused(command, expect, ADD("t/a.sh", "x") CHANGE("max.sh"),
	    "changes max.sh: only new files");
	refused(command, expect, ADD("t/a.sh", "x") GONE("max.sh"),
	    "changes max.sh: only new files");
	refused(command, expect,
	    "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename "
	    "to y\n",
	    "changes x: only new files");
	refused(command, expect, ADD("conftest.py", "x"), "decides how other");
	refused(command, expect, ADD("t/Makefile", "x"), "decides how other");
	refused(command, expect,
	    "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ "
	    "b/l\n@@ -0,0 +1 @@\n+t\n\\ No newline at end of file\n",
	    "symbolic link");
	refused(command, expect, ADD(".git/hooks/x", "x"), "its patch");
	refused(command, expect, ADD("../x", "x"), "its patch");
	refused(command, expect, ADD("t/a.sh", "x") ADD("t/a.sh", "y"), "a.sh");
	refused(command, expect, ADD("t/\xff.sh", "x"), "no text");
	refused(command, expect,
	    "diff --git \"a/t/\\033x\" \"b/t/\\033x\"\nnew file mode 100644\n--- "
	    "/dev/null\n+++ \"b/t/\\033x\"\n@@ -0,0 +1 @@\n+x\n",
	    "no text");
	buf_init(&many, 1 << 20);
	for (int i = 0; i <= REPRODUCER_FILES; i++)
		(void)buf_printf(&many,
		    "diff --git a/t/%d b/t/%d\nnew file mode 100644\n--- "
		    "/dev/null\n+++ b/t/%d\n@@ -0,0 +1 @@\n+x\n",
		    i, i, i);
	refused(command, expect, buf_str(&many), "at most 16");
	buf_clear(&many);
}

static void
test_there_already(void **state unused_arg)
{
	char dir[] = "/tmp/foray-repro-XXXXXX";
	char *sub, *file;
	const char *why;

	assert_non_null(mkdtemp(dir));
	sub = path_join(dir, "t");
	file = path_join(dir, "t/a.sh");
	assert_null(why_not(command, expect, good, dir));
	assert_int_equal(mkdir(sub, 0700), 0);
	assert_null(why_not(command, expect, good, dir));
	assert_int_equal(symlink("nowhere", file), 0);
	why = why_not(command, expect, good, dir);
	assert_non_null(why);
	assert_non_null(strstr(why, "t/a.sh, which is there already"));
	(void)path_rmtree(dir, NULL);
	free(sub);
	free(file);
}

/* The patch that is left; yours. */
static char *
strip(const char *patch)
{
	struct strv findings = { 0 };
	struct reproducer rp;
	struct buf b;

	strv_addl(&findings, command, expect, (char *)NULL);
	assert_int_equal(
	    reproducer_read(&findings, good, sizeof good - 1, NULL, &rp, NULL),
	    0);
	buf_init(&b, 1 << 20);
	reproducer_strip(&rp, patch, strlen(patch), &b);
	reproducer_clear(&rp);
	strv_clear(&findings);
	return buf_detach(&b, NULL);
}

/* Only these paths are left, "" for nothing at all. */
static void
stripped(const char *patch, const char *paths)
{
	char *left = strip(patch);
	struct strv got = { 0 };
	struct buf b;

	buf_init(&b, 4096);
	if (*left != '\0')
		assert_int_equal(
		    patch_paths(left, strlen(left), &got, NULL), 0);
	for (size_t i = 0; i < got.n; i++)
		(void)buf_printf(&b, "%s%s", i > 0 ? " " : "", got.v[i]);
	assert_string_equal(buf_str(&b), paths);
	buf_clear(&b);
	strv_clear(&got);
	free(left);
}

static void
kept(const char *patch)
{
	char *left = strip(patch);

	assert_string_equal(left, patch);
	free(left);
}

static void
test_strip(void **state unused_arg)
{
	kept("mail\n" CHANGE("t/c.sh") "-- \n2.1\n");
	kept("hello\n");
	kept("");
	stripped(CHANGE("x") CHANGE("t/a.sh") CHANGE("y"), "x y");
	stripped(GONE("t/b.sh"), "");
	stripped(ADD("t/a.sh", "exit 0") CHANGE("x"), "x");
	stripped(ADD("t/a.sh/x", "1") CHANGE("x"), "x");
	stripped("diff --git a/t/a.sh b/z\nsimilarity index 100%\nrename from "
		 "t/a.sh\nrename to z\n" CHANGE("x"),
	    "x");
	stripped("diff --git a/z b/t/a.sh\nsimilarity index 100%\ncopy from "
		 "z\ncopy to t/a.sh\n" CHANGE("x"),
	    "x");
}

/* What a person gets: git takes it as one patch. */
static void
test_join(void **state unused_arg)
{
	struct strv findings = { 0 }, paths = { 0 };
	struct reproducer rp;
	struct buf b;
	struct err e;

	strv_addl(&findings, command, expect, (char *)NULL);
	assert_int_equal(
	    reproducer_read(&findings, good, sizeof good - 1, NULL, &rp, NULL),
	    0);
	buf_init(&b, 1 << 20);
	reproducer_join(&rp, CHANGE("x"), sizeof CHANGE("x") - 2, &b);
	assert_string_equal(buf_str(&b),
	    CHANGE("x") ADD("t/b.sh", "exit 1") ADD("t/a.sh", "exit 0"));
	if (patch_paths(buf_str(&b), b.len, &paths, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(paths.n, 3);
	buf_clear(&b);
	strv_clear(&paths);
	reproducer_clear(&rp);
	strv_clear(&findings);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_findings),
		cmocka_unit_test(test_patch),
		cmocka_unit_test(test_there_already),
		cmocka_unit_test(test_strip),
		cmocka_unit_test(test_join),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
