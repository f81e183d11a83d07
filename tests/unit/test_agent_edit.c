/*
 * worker/agent/edit.c, envelope.c, unified.c, hunks.c: texts in, texts out. The
 * ids (B-001, ...) are of the collected failures of other tools.
 */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "worker/agent/edit.h"
#include "worker/agent/envelope.h"

/* Edit src; the new text (yours), or NULL with e set. */
static char *
edit(const char *src, size_t len, const char *old, const char *new,
    uint64_t line, bool all, struct err *e)
{
	struct edit ed = { old, new, line, all };
	struct edit_done done;
	struct buf b;

	buf_init(&b, 1 << 20);
	if (edit_apply("f", src, len, &ed, &b, &done, e) < 0) {
		assert_int_equal(b.len, 0);
		buf_clear(&b);
		return NULL;
	}
	return buf_detach(&b, NULL);
}

static void
edits(const char *src, const char *old, const char *new, const char *want)
{
	struct err e = { 0 };
	char *s = edit(src, strlen(src), old, new, 0, false, &e);

	if (s == NULL)
		fail_msg("%s", e.text);
	assert_string_equal(s, want);
	free(s);
}

static void
refuses(const char *src, const char *old, const char *new, uint64_t line,
    const char *why)
{
	struct err e = { 0 };

	assert_null(edit(src, strlen(src), old, new, line, false, &e));
	if (strstr(e.text, why) == NULL)
		fail_msg("\"%s\" is not in: %s", why, e.text);
}

static void
test_edit(void **state)
{
	const char *go = "func f() {\n\tif a {\n\t\tg()\n\t}\n}\n";

	(void)state;
	edits(go, "\tif a {\n\t\tg()\n\t}",
	    "\tif b {\n\t\tg()\n\t}", /* B-005 */
	    "func f() {\n\tif b {\n\t\tg()\n\t}\n}\n");
	refuses(
	    go, "    if a {\n        g()\n    }", "x", 0, "tab"); /* B-006 */
	refuses("int f(){\n return 1;\n}\nint g(){\n return 1;\n}\n",
	    " return 1;", " return 2;", 0, "2 times in f, on lines 2, 5");
	edits("a\tb\nc\td\ne\tf\n", "c\td", "c\tX", "a\tb\nc\tX\ne\tf\n");
	edits("PRICE\n", "PRICE", "$& $1 \\1 %s %n", "$& $1 \\1 %s %n\n");
	refuses("a\n", "", "b", 0, "empty"); /* B-024 */
	refuses("a\n", "a", "a", 0, "same");
	refuses("a\n", "b", "c", 0, "does not occur");
	refuses("aaa\n", "aa", "b", 0, "2 times");
	refuses("one thing\nother\n", "one thing\nelse", "x", 0, "line 1");
}

static void
test_edit_lines(void **state)
{
	struct err e;
	char *s;

	(void)state;
	s = edit("x\nx\nx\n", 6, "x", "y", 2, false, &e);
	assert_string_equal(s, "x\ny\nx\n");
	free(s);
	refuses("x\nx\n", "x", "y", 5, "starts on line 1, 2");
	refuses("x x\n", "x", "y", 1, "2 times on line 1");
	s = edit("x\nx x\n", 6, "x", "yy", 0, true, &e);
	assert_string_equal(s, "yy\nyy yy\n");
	free(s);
	s = edit("x\nx x\n", 6, "x", "z", 2, true, &e);
	assert_string_equal(s, "x\nz z\n");
	free(s);
}

static void
test_edit_line_ends(void **state)
{
	(void)state;
	edits("a\r\nb\r\nc\r\n", "a\nb", "a\nB\nb2", "a\r\nB\r\nb2\r\nc\r\n");
	edits("a\r\nb\r\n", "b", "x\ny", "a\r\nx\r\ny\r\n");
	edits("a\nb\n", "a\r\nb", "a\r\nc", "a\nc\n");
	/* mixed: as the place has it */
	edits("a\r\nb\nc\n", "b", "x\ny", "a\r\nx\ny\nc\n");
	edits("a\r\nb\nc\n", "a", "x\ny", "x\r\ny\r\nb\nc\n");
	/* the end of the file stays */
	edits("a\nb", "b", "c\n", "a\nc");
	edits("a\nb\n", "b\n", "c", "a\nc\n");
	edits("a\nb\n", "b\n", "", "a\n");
	edits("", "", "new\r\n", "new\n");
}

static void
test_edit_bytes(void **state)
{
	struct err e = { 0 };
	char *s;

	(void)state;
	s = edit("caf\xe9\nbar\n", 9, "bar", "baz", 0, false, &e); /* B-018 */
	assert_string_equal(s, "caf\xe9\nbaz\n");
	free(s);
	assert_null(
	    edit("\0\1ab\0cd\377", 8, "ab", "xy", 0, false, &e)); /* B-019 */
	assert_non_null(strstr(e.text, "binary"));
}

/* --- patches ------------------------------------------------------------- */

/* Apply a patch of one file to src; NULL with e set. */
static char *
patched(const char *src, const char *text, struct err *e)
{
	struct patch_count count;
	struct patch p;
	struct buf b;

	if (patch_parse(text, strlen(text), &p, e) < 0)
		return NULL;
	assert_int_equal(p.n, 1);
	buf_init(&b, 1 << 20);
	if (patch_file_apply(&p.v[0], src, strlen(src), &b, &count, e) < 0) {
		patch_clear(&p);
		buf_clear(&b);
		return NULL;
	}
	patch_clear(&p);
	return buf_detach(&b, NULL);
}

static void
patches(const char *src, const char *text, const char *want)
{
	struct err e = { 0 };
	char *s = patched(src, text, &e);

	if (s == NULL)
		fail_msg("%s", e.text);
	assert_string_equal(s, want);
	free(s);
}

static void
no_patch(const char *src, const char *text, const char *why)
{
	struct err e = { 0 };
	char *s = patched(src, text, &e);

	if (s != NULL)
		fail_msg("applied: %s", s);
	if (strstr(e.text, why) == NULL)
		fail_msg("\"%s\" is not in: %s", why, e.text);
}

#define ENV(body) "*** Begin Patch\n*** Update File: f\n" body "*** End Patch\n"

static void
test_envelope(void **state)
{
	(void)state;
	patches("a=1\r\nb=2\r\nc=3\r\n", ENV("@@\n a=1\n-b=2\n+b=20\n c=3\n"),
	    "a=1\r\nb=20\r\nc=3\r\n"); /* B-001 */
	patches("Sub A\r\nEnd Sub\r\n",
	    ENV("@@\n Sub A\n+  x = 1\n+  y = 2\n End Sub\n"),
	    "Sub A\r\n  x = 1\r\n  y = 2\r\nEnd Sub\r\n"); /* B-002 */
	patches("1.0\nbuild 7", ENV("@@\n-1.0\n+1.1\n build 7\n"),
	    "1.1\nbuild 7"); /* B-003 */
	patches("1.0\nbuild 7", ENV("@@\n 1.0\n-build 7\n+build 8\n"),
	    "1.0\nbuild 8");
	patches("\xef\xbb\xbflet n = 1;\nlet m = 2;\n",
	    ENV("@@\n-let n = 1;\n+let n = 9;\n let m = 2;\n"),
	    "\xef\xbb\xbflet n = 9;\nlet m = 2;\n"); /* B-004 */
	patches("def a():\n    pass\n\ndef b():\n    pass\n",
	    ENV("@@ def a():\n+    x = 1\n"),
	    "def a():\n    x = 1\n    pass\n\ndef b():\n    pass\n"); /* B-012
								       */
	patches("head  \nbody\nend\n", ENV("@@\n head\n-body\n+BODY\n end\n"),
	    "head  \nBODY\nend\n"); /* B-022 */
	/* anchors tell places apart, and may be repeated as context */
	patches("def a():\n    pass\n\ndef b():\n    pass\n",
	    ENV("@@ def b():\n-    pass\n+    go()\n"),
	    "def a():\n    pass\n\ndef b():\n    go()\n");
	patches("def a():\n    pass\n\ndef b():\n    pass\n",
	    ENV("@@ def b():\n def b():\n-    pass\n+    go()\n"),
	    "def a():\n    pass\n\ndef b():\n    go()\n");
	patches("x\ny\n", ENV("@@\n-x\n+X\n@@\n-y\n+Y\n"), "X\nY\n");
	patches("x\ny\nx\n", ENV("@@\n-x\n+X\n*** End of File\n"), "x\ny\nX\n");
	no_patch("x\ny\nx\n", ENV("@@\n-x\n+X\n"), "fits at 2 places (lines 1");
	no_patch("x\n", ENV("@@\n+X\n"), "only adds");
	no_patch("x\n", ENV("@@\n-NOPE\n+X\n"), "NOPE");
	no_patch("x\n", ENV("@@ def z():\n-x\n+X\n"), "def z()");
	no_patch("\tx\n", ENV("@@\n-    x\n+    y\n"), "indentation");
	no_patch("x\n", ENV("@@\n x\n"), "changes nothing");
	no_patch("x\n", ENV("@@\nx\n+y\n"), "patch line 4");
	no_patch("x\n", "*** Begin Patch\n*** End Patch\n", "no file");
	no_patch("x\n", "please fix it", "neither");
}

static void
test_envelope_files(void **state)
{
	static const char text[] =
	    "Here it is:\n*** Begin Patch\n"
	    "*** Add File: a/b\n+one\n+\n+two\n"
	    "*** Update File: c\n*** Move to: d\n@@\n-x\n+y\n"
	    "\n*** Delete File: e\n*** End Patch\nDone.\n";
	struct patch_count count;
	struct patch p;
	struct buf b;
	struct err e;

	(void)state;
	assert_int_equal(patch_parse(text, strlen(text), &p, &e), 0);
	assert_int_equal(p.n, 3);
	assert_string_equal(p.v[0].path, "a/b");
	assert_string_equal(p.v[1].move_to, "d");
	assert_int_equal(p.v[2].kind, PATCH_DELETE);
	buf_init(&b, 100);
	assert_int_equal(patch_file_apply(&p.v[0], "", 0, &b, &count, &e), 0);
	assert_string_equal(buf_str(&b), "one\n\ntwo\n");
	assert_int_equal(count.added, 3);
	buf_clear(&b);
	patch_clear(&p);
}

static void
test_unified(void **state)
{
	(void)state;
	patches("1\n2\n3\n",
	    "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n",
	    "1\ntwo\n3\n");
	/* counts are wrong, as models write them */
	patches("1\n2\n3\n",
	    "--- a/f\n+++ b/f\n@@ -7,9 +7,1 @@ def g():\n 1\n-2\n+two\n 3\n",
	    "1\ntwo\n3\n");
	/* the line tells two places apart */
	patches("x\ny\nx\ny\nx\ny\n",
	    "--- a/f\n+++ b/f\n@@ -5,2 +5,2 @@\n-x\n+X\n y\n",
	    "x\ny\nx\ny\nX\ny\n");
	patches("a\nb\n", "--- f\n+++ f\n@@ -2 +2,2 @@\n b\n+c\n", "a\nb\nc\n");
	patches("a\nb\n", "--- f\n+++ f\n@@ -1,0 +2,1 @@\n+x\n", "a\nx\nb\n");
	/* the newline at the end, when the patch says it */
	patches("a\nb",
	    "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of "
	    "file\n+c\n",
	    "a\nc\n");
	patches("a\nb\n",
	    "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end "
	    "of file\n",
	    "a\nc");
	/* removed and added lines that look like headers */
	patches("-- a\nb\n",
	    "--- f\n+++ f\n@@ -1,2 +1,2 @@\n--- a\n+++ c\n b\n", "++ c\nb\n");
	patches("a\r\nb\r\n",
	    "--- f\r\n+++ f\r\n@@ -1,2 +1,2 @@\r\n-a\r\n+x\r\n b\r\n",
	    "x\r\nb\r\n");
	no_patch("a\n", "--- f\n@@ -1 +1 @@\n-a\n+b\n", "+++");
	no_patch("a\n", "@@ -1 +1 @@\n-a\n+b\n", "name its file");
	no_patch("a\n", "diff --git a/f b/f\nGIT binary patch\nx\n", "binary");
}

static void
test_unified_files(void **state)
{
	static const char text[] =
	    "diff --git a/n b/n\nnew file mode 100755\nindex 0..1\n--- "
	    "/dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n"
	    "diff --git a/o b/o\ndeleted file mode 100644\n--- a/o\n+++ "
	    "/dev/null\n@@ -1 +0,0 @@\n-x\n"
	    "diff --git a/p b/q\nsimilarity index 100%\nrename from p\nrename "
	    "to q\n"
	    "diff --git \"a/caf\\303\\251\" \"b/caf\\303\\251\"\n--- "
	    "\"a/caf\\303\\251\"\n+++ \"b/caf\\303\\251\"\n@@ -1 +1 "
	    "@@\n-a\n+b\n"
	    "diff --git a/empty b/empty\nnew file mode 100644\nindex 0..0\n";
	struct patch p;
	struct err e;

	(void)state;
	assert_int_equal(patch_parse(text, strlen(text), &p, &e), 0);
	assert_int_equal(p.n, 5);
	assert_int_equal(p.v[0].kind, PATCH_ADD);
	assert_true(p.v[0].exec);
	assert_int_equal(p.v[1].kind, PATCH_DELETE);
	assert_string_equal(p.v[1].path, "o");
	assert_string_equal(p.v[2].path, "p");
	assert_string_equal(p.v[2].move_to, "q");
	assert_string_equal(p.v[3].path, "caf\xc3\xa9");
	assert_int_equal(p.v[4].kind, PATCH_ADD);
	assert_string_equal(p.v[4].path, "empty");
	patch_clear(&p);
}

static void
said_is(const char *old, const char *new_text, const char *want)
{
	char *s = edit_said(old, strlen(old), new_text, strlen(new_text));

	assert_string_equal(s, want);
	free(s);
}

static void
test_said(void **state)
{
	char big[4000];
	char *s;

	(void)state;
	said_is("", "", "{\"old\":\"\",\"new\":\"\"}");
	said_is(
	    "a\nb\nc\n", "a\nx\nc\n", "{\"old\":\"b\\n\",\"new\":\"x\\n\"}");
	said_is("a\nc\n", "a\nb\nc\n", "{\"old\":\"\",\"new\":\"b\\n\"}");
	said_is("a\nb\nb\n", "a\nb\n", "{\"old\":\"b\\n\",\"new\":\"\"}");
	said_is("ab", "aab", "{\"old\":\"ab\",\"new\":\"aab\"}");
	said_is("same\n", "same\n", "{\"old\":\"\",\"new\":\"\"}");
	said_is("b\n", "xb\n", "{\"old\":\"b\\n\",\"new\":\"xb\\n\"}");
	memset(big, '\001', sizeof big); /* six bytes each, escaped */
	s = edit_said("", 0, big, sizeof big);
	assert_in_range(strlen(s), 6000, 8000);
	free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edit),
		cmocka_unit_test(test_edit_lines),
		cmocka_unit_test(test_edit_line_ends),
		cmocka_unit_test(test_edit_bytes),
		cmocka_unit_test(test_envelope),
		cmocka_unit_test(test_envelope_files),
		cmocka_unit_test(test_unified),
		cmocka_unit_test(test_unified_files),
		cmocka_unit_test(test_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
