/* What changed, as a list and as a patch; and patches that others wrote. */
#include "common/compat.h"

#include "test_sandbox_bed.h"

#include "sandbox/changes.h"
#include "sandbox/overlay.h"
#include "sandbox/patch.h"

/* --- an overlay, in a child
 * ------------------------------------------------------ */

/* Run script in the merged tree over base with DIR/up as the upper layer. */
static void
in_overlay(const char *script)
{
	struct overlay o = { 0 };
	struct strv argv = { 0 };
	char *m;
	struct err e;
	int status;
	pid_t pid;

	pid = fork();
	if (pid == 0) {
		o.dir = path_join(bed, "o");
		strv_take(&o.lowers, &(char *){ path_join(bed, "base") });
		if (overlay_enter(&o, &e) < 0) {
			fprintf(stderr, "%s\n", e.text);
			_exit(77);
		}
		m = path_join(o.dir, "m");
		if (chdir(m) < 0)
			_exit(1);
		strv_addl(&argv, "/bin/sh", "-e", "-c", script, (char *)NULL);
		execv("/bin/sh", strv_argv(&argv));
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		bed_skip();
	assert_int_equal(status, 0);
}

static char *
list(const char *base, const char *up, const char *merged)
{
	char *b = path_join(bed, base), *m = path_join(bed, merged);
	char *u = up != NULL ? path_join(bed, up) : NULL;
	struct changes c;
	struct buf out;
	struct err e;

	buf_init(&out, 1 << 20);
	if (changes_list(b, u, m, 10000, &c, &e) < 0)
		fail_msg("%s", e.text);
	for (size_t i = 0; i < c.n; i++)
		(void)buf_printf(&out, "%s%c %s", i > 0 ? ", " : "",
		    "NMD"[c.v[i].kind], c.v[i].path);
	changes_clear(&c);
	free(b);
	free(m);
	free(u);
	return buf_detach(&out, NULL);
}

static void
expect_list(const char *up, const char *merged, const char *expected)
{
	char *got = list("base", up, merged);

	assert_string_equal(got, expected);
	free(got);
}

/* The patch from base to merged, applied to a copy of base, gives merged; the
 * file "patch" in the bed holds it. */
static void
round_trip(const char *up, const char *merged)
{
	char *b = path_join(bed, "base"), *m = path_join(bed, merged);
	char *u = up != NULL ? path_join(bed, up) : NULL;
	char *tmp = path_join(bed, "tmp"), *t = path_join(bed, "t");
	char *file = path_join(bed, "patch"), *got;
	struct strv paths = { 0 };
	struct changes c;
	struct buf out;
	struct err e;

	buf_init(&out, 64 << 20);
	assert_int_equal(changes_list(b, u, m, 10000, &c, &e), 0);
	if (changes_patch(&c, b, m, tmp, NULL, NULL, &out, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(file_write(file, out.data, out.len, 0644, &e), 0);
	if (patch_paths(out.data, out.len, &paths, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(paths.n, c.n);
	for (size_t i = 0; i < c.n; i++)
		assert_string_equal(paths.v[i], c.v[i].path);
	bed_run("rm -rf t t2; cp -a base t; cp -a base t2");
	if (patch_apply(t, out.data, out.len, true, &e) < 0)
		fail_msg("%s", e.text);
	got = list("base", NULL, "t");
	assert_string_equal(got, "");
	free(got);
	if (patch_apply(t, out.data, out.len, false, &e) < 0)
		fail_msg("%s", e.text);
	/* And plain git takes the same bytes. */
	bed_run("cd t2; GIT_DIR=/nonexistent git apply --whitespace=nowarn "
		"../patch");
	for (int i = 0; i < 2; i++) {
		if (u == NULL) {
			got = list(merged, NULL, i == 0 ? "t" : "t2");
			assert_string_equal(got, "");
			free(got);
		}
	}
	bed_expect("ls -A tmp", "");
	strv_clear(&paths);
	changes_clear(&c);
	buf_clear(&out);
	free(b);
	free(m);
	free(u);
	free(t);
	free(tmp);
	free(file);
}

/* --- the tree that is changed
 * ------------------------------------------------------ */

#define BASE \
	"mkdir -p base/d/e base/gone base/opaque/x base/.git base/sub/.git; " \
	"cd base; echo same >same; echo old >mod; echo x >del; " \
	"echo 1 >d/one; echo 2 >d/e/two; echo 3 >gone/three; " \
	"echo 4 >opaque/four; echo 5 >opaque/x/five; echo 6 >opaque/six; " \
	"echo g >.git/config; echo g >sub/.git/config; ln -s same link; " \
	"ln -s del link2; echo f >f2l; ln -s d l2f; echo f >f2d; " \
	"mkdir d2f; echo y >d2f/y; echo s >run.sh; printf 'a\\nb' >nonl; " \
	"printf 'a\\r\\nb\\r\\n' >crlf; printf 'caf\\351\\n' >latin; " \
	"printf 'a\\000b' >bin; echo q >'with blank'; " \
	"echo q >\"$(printf 'new\\nline\"q')\"; echo q >ümlaut; " \
	"echo q >\"$(printf 'bad\\377')\"; echo q >'tab\tq\\\\z'; " \
	"touch -d '1 hour ago' same d/one; "

#define EDIT \
	"echo new >mod; rm del; rm -r gone; rm -r opaque; mkdir -p opaque/x; " \
	"echo 4 >opaque/four; echo n >opaque/x/new; mkdir -p deep/er; " \
	"echo n >deep/er/n; : >empty; echo h >.git/config; mkdir -p n/.git; " \
	"echo h >n/.git/x; mkdir .GIT; echo h >.GIT/config; ln -sf d link; " \
	"rm f2l; ln -s same f2l; rm l2f; echo f >l2f; rm f2d; mkdir f2d; " \
	"echo z >f2d/z; rm -r d2f; echo f >d2f; chmod +x run.sh; " \
	"printf 'a\\nc' >nonl; printf 'a\\r\\nX\\r\\n' >crlf; " \
	"printf 'caf\\350\\n' >latin; printf 'a\\000c' >bin; " \
	"head -c 3000 /dev/urandom >bin2; echo r >'with blank'; " \
	"echo r >\"$(printf 'new\\nline\"q')\"; echo r >ümlaut; " \
	"echo r >\"$(printf 'bad\\377')\"; echo r >'tab\tq\\\\z'; " \
	"echo n >'  blanks  '; echo n >-dash; echo 'a' >'a -> b'; " \
	"mkfifo fifo; touch same; chmod 600 d/one; echo e >--- ; " \
	"printf '* text eol=crlf\\n*.txt binary\\n' >.gitattributes; " \
	"printf 'x\\n' >t.txt; printf '+++ b\\n--- a\\n@@ -1 +1 @@\\n' >looks; "

#define CHANGED \
	"N   blanks  , N ---, N -dash, N .gitattributes, N a -> b, M bad\377, " \
	"M bin, N bin2, M crlf, N d2f, D d2f/y, N deep/er/n, D del, N empty, " \
	"D f2d, N f2d/z, M f2l, D gone/three, M l2f, M latin, M link, " \
	"N looks, M mod, M new\nline\"q, M nonl, D opaque/six, " \
	"D opaque/x/five, N opaque/x/new, M run.sh, N t.txt, M tab\tq\\\\z, " \
	"M with blank, M ümlaut"

static void
test_copy(void **state unused_arg)
{
	bed_run(BASE);
	bed_run("cp -a base m; cd m; " EDIT);
	expect_list(NULL, "m", CHANGED);
	round_trip(NULL, "m");
}

#define FILES \
	"(find . -name .git -prune -o -name .GIT -prune -o -type f -print0 | " \
	"LC_ALL=C sort -z | xargs -0r sha256sum; find . -type l " \
	"-printf '%p>%l\\n' | LC_ALL=C sort)"

static void
test_overlay(void **state unused_arg)
{
	bed_run(BASE);
	bed_run("mkdir -p o/up o/wk o/m");
	in_overlay(EDIT);
	expect_list("o/up", "o/up", CHANGED);
	/* From outside, what changed is read from the upper layer. */
	round_trip("o/up", "o/up");
	/* The same as a copy would have it. */
	bed_run("cp -a base m; cd m; " EDIT " rm bin2; cp ../o/up/bin2 .");
	bed_expect("cd t; " FILES " >../l1; cd ../m; " FILES " >../l2; "
		   "cmp ../l1 ../l2",
	    "");
}

static void
test_overlay_nothing(void **state unused_arg)
{
	bed_run(BASE);
	bed_run("mkdir -p o/up o/wk o/m");
	in_overlay("touch same; chmod 600 mod; echo x >n; rm n; mkdir e; "
		   "mv d/one d/1; mv d/1 d/one; echo tmp >mod; echo old >mod; "
		   "rm link; ln -s same link");
	expect_list("o/up", "o/up", "");
}

static void
test_limit(void **state unused_arg)
{
	char *b = path_join(bed, "base"), *m = path_join(bed, "m");
	struct changes c;
	struct err e;

	bed_run("mkdir base m; cd m; touch $(seq 20)");
	assert_int_equal(changes_list(b, NULL, m, 19, &c, &e), ERR_LIMIT);
	assert_int_equal(changes_list(b, NULL, m, 20, &c, &e), 0);
	changes_clear(&c);
	free(b);
	free(m);
}

static bool
want_mod(const char *path, enum change_kind kind, void *ctx)
{
	assert_string_equal(ctx, "ctx");
	return kind == CHANGE_MODIFIED && strcmp(path, "mod") == 0;
}

static void
test_want(void **state unused_arg)
{
	char *b = path_join(bed, "base"), *m = path_join(bed, "m");
	char *tmp = path_join(bed, "tmp");
	char ctx[] = "ctx";
	struct changes c;
	struct buf out;
	struct err e;

	bed_run(BASE);
	bed_run("cp -a base m; cd m; " EDIT);
	buf_init(&out, 1 << 20);
	assert_int_equal(changes_list(b, NULL, m, 1000, &c, &e), 0);
	assert_int_equal(
	    changes_patch(&c, b, m, tmp, want_mod, ctx, &out, &e), 0);
	assert_string_equal(out.data,
	    "diff --git a/mod b/mod\n"
	    "index 3367afd..3e75765 100644\n"
	    "--- a/mod\n+++ b/mod\n@@ -1 +1 @@\n-old\n+new\n");
	buf_clear(&out);
	buf_init(&out, 50);
	assert_int_equal(
	    changes_patch(&c, b, m, tmp, want_mod, ctx, &out, &e), ERR_LIMIT);
	buf_clear(&out);
	changes_clear(&c);
	free(b);
	free(m);
	free(tmp);
}

/* The merged tree changes after it was listed. */
static void
test_swapped(void **state unused_arg)
{
	char *b = path_join(bed, "base"), *m = path_join(bed, "m");
	char *tmp = path_join(bed, "tmp");
	struct changes c;
	struct buf out;
	struct err e;

	bed_run("mkdir -p base m/d; echo 1 >m/d/f; echo 1 >m/g; echo 1 >m/h");
	buf_init(&out, 1 << 20);
	assert_int_equal(changes_list(b, NULL, m, 1000, &c, &e), 0);
	bed_run("rm -r m/d; ln -s /etc m/d; ln -sf /etc/passwd m/g; rm m/h; "
		"mkfifo m/h");
	assert_int_equal(changes_patch(&c, b, m, tmp, NULL, NULL, &out, &e), 0);
	assert_null(strstr(out.data, "root:"));
	assert_int_equal(
	    patch_paths(out.data, out.len, &(struct strv){ 0 }, &e),
	    ERR_DENIED);
	buf_clear(&out);
	changes_clear(&c);
	free(b);
	free(m);
	free(tmp);
}

/* --- patches of others
 * ---------------------------------------------------------------- */

static int
paths_of(const char *text, struct strv *ret)
{
	struct err e = { 0 };
	int r = patch_paths(text, strlen(text), ret, &e);

	if (r < 0)
		assert_true(e.text[0] != '\0');
	return r;
}

static void
expect_paths(const char *text, const char *expected)
{
	struct strv v = { 0 };
	struct buf b;

	buf_init(&b, 4096);
	if (paths_of(text, &v) < 0)
		fail_msg("refused: %s", text);
	for (size_t i = 0; i < v.n; i++)
		(void)buf_printf(&b, "%s%s", i > 0 ? "|" : "", v.v[i]);
	assert_string_equal(buf_str(&b), expected);
	buf_clear(&b);
	strv_clear(&v);
}

static void
expect_code(const char *text, int code)
{
	struct strv v = { 0 };
	int r = paths_of(text, &v);

	if (r != code)
		fail_msg("%d, not %d: %s", r, code, text);
	strv_clear(&v);
}

#define HUNK "@@ -1 +1 @@\n-a\n+b\n"

static void
test_names(void **state unused_arg)
{
	expect_paths("--- a/x\n+++ b/x\n" HUNK, "x");
	expect_paths("junk\n---\nmore\n--- a/x y\t2020\n+++ b/x y\t\n" HUNK
		     "-- \n2.39.5\n",
	    "x y");
	expect_paths("--- a/x.orig\n+++ b/x\n" HUNK, "x");
	expect_paths("--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x", "n");
	expect_paths("--- a/o\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", "o");
	expect_paths(
	    "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "x");
	expect_paths("diff --git a/x y b/x y\nnew file mode 100644\n", "x y");
	expect_paths(
	    "diff --git \"a/q\\\"\\n\\303\\274\" \"b/q\\\"\\n\\303\\274\"\n"
	    "deleted file mode 100644\n",
	    "q\"\n\303\274");
	expect_paths("diff --git a/x b/y\nsimilarity index 100%\n"
		     "rename from x\nrename to y\n"
		     "diff --git a/p/x b/p/z\ncopy from p/x\ncopy to p/z\n",
	    "p/x|p/z|x|y");
	expect_paths("diff --git a/x b/x\r\nindex 1234567..89abcde 100644\r\n"
		     "--- a/x\r\n+++ b/x\r\n" HUNK,
	    "x");
	/* content that looks like a head */
	expect_paths("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n+++ b/y\n"
		     "-x\n+diff --git a/z b/z\n",
	    "x");
	expect_paths("--- a/.gitignore\n+++ b/.gitignore\n" HUNK, ".gitignore");
	expect_paths(
	    "--- a/.github/x..y\n+++ b/.github/x..y\n" HUNK, ".github/x..y");
}

static void
test_no_patch(void **state unused_arg)
{
	expect_code("", ERR_SYNTAX);
	expect_code("hello\n", ERR_SYNTAX);
	expect_code(HUNK, ERR_SYNTAX);
	expect_code("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n+b\n", ERR_SYNTAX);
	expect_code("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\nb\n", ERR_SYNTAX);
	expect_code("--- a/x\n+++ b/x\n@@ -1 +9999999999 @@\n-a\n", ERR_SYNTAX);
	expect_code("--- a/x\n+++ b/y\n" HUNK, ERR_SYNTAX);
	expect_code("--- x\n+++ x\n" HUNK, ERR_SYNTAX);
	expect_code("diff --git a/x b/y\n", ERR_SYNTAX);
	expect_code("diff --git a/x b/x\n" HUNK, ERR_SYNTAX);
	expect_code("diff --git a/x b/x\n--- a/y\n+++ b/y\n" HUNK, ERR_SYNTAX);
	expect_code("diff --git a/x b/x\nBinary files a/x and b/x differ\n",
	    ERR_SYNTAX);
	expect_code("diff --git a/x b/x\nGIT binary patch\n", ERR_SYNTAX);
	expect_code("diff --git a/x b/x\nGIT binary patch\n"
		    "literal 9999999999\nzcmZQzWC8\n\n",
	    ERR_LIMIT);
}

static void
test_denied(void **state unused_arg)
{
	static const char *const bad[] = { "../x", "a/../../x", "x/../y",
		".git/config", "s/.git/x", ".GIT/x", "git~1/x", "GIT~1", ".git",
		".git./x", ".git /x", ".git . ./x", ".git::$INDEX_ALLOCATION/x",
		"\\342\\200\\214.git/x", ".g\\342\\200\\215it/x",
		".git\\357\\273\\277/x", "d\\\\.git\\\\x", "./x", "d//x",
		"d/" };
	char text[256];

	for (size_t i = 0; i < nitems(bad); i++) {
		snprintf(text, sizeof text, "--- \"a/%s\"\n+++ \"b/%s\"\n" HUNK,
		    bad[i], bad[i]);
		expect_code(text, ERR_DENIED);
		snprintf(text, sizeof text,
		    "diff --git \"a/%s\" \"b/%s\"\nold mode 100644\n"
		    "new mode 100755\n",
		    bad[i], bad[i]);
		expect_code(text, ERR_DENIED);
		snprintf(text, sizeof text,
		    "diff --git a/x b/y\nrename from x\nrename to \"%s\"\n",
		    bad[i]);
		expect_code(text, ERR_DENIED);
	}
	expect_code("--- /etc/x\n+++ /etc/x\n" HUNK, ERR_DENIED);
	expect_code("--- ../x\n+++ ../x\n" HUNK, ERR_DENIED);
	expect_code("diff --git a/s b/s\nnew file mode 160000\n"
		    "--- /dev/null\n+++ b/s\n@@ -0,0 +1 @@\n+Subproject "
		    "commit 1234\n",
	    ERR_DENIED);
	expect_code("--- \"a/x\\000y\"\n+++ \"b/x\\000y\"\n" HUNK, ERR_SYNTAX);
}

static void
test_links(void **state unused_arg)
{
	static const struct {
		const char *path, *target;
		int code;
	} links[] = { { "l", "x", 0 }, { "l", "d/e/x", 0 },
		{ "d/l", "../x", 0 }, { "d/l", "./../x", 0 },
		{ "l", "/etc/passwd", ERR_DENIED }, { "l", "..", ERR_DENIED },
		{ "d/l", "../../x", ERR_DENIED },
		{ "d/l", "x/../../../y", ERR_DENIED },
		{ "d/l", "x/../y", ERR_DENIED },
		{ "l", ".git/config", ERR_DENIED },
		{ "d/l", "../.GIT/hooks", ERR_DENIED },
		{ "l", "", ERR_DENIED } };
	char text[512];

	for (size_t i = 0; i < nitems(links); i++) {
		snprintf(text, sizeof text,
		    "diff --git a/%s b/%s\nnew file mode 120000\n"
		    "--- /dev/null\n+++ b/%s\n@@ -0,0 +1 @@\n+%s\n"
		    "\\ No newline at end of file\n",
		    links[i].path, links[i].path, links[i].path,
		    links[i].target);
		expect_code(text, links[i].code);
		snprintf(text, sizeof text,
		    "diff --git a/%s b/%s\nindex 1234567..1234567 120000\n"
		    "--- a/%s\n+++ b/%s\n@@ -1 +1 @@\n-old\n"
		    "\\ No newline at end of file\n+%s\n"
		    "\\ No newline at end of file\n",
		    links[i].path, links[i].path, links[i].path, links[i].path,
		    links[i].target);
		expect_code(text, links[i].code);
	}
	expect_code("diff --git a/l b/l\nnew file mode 120000\n", ERR_DENIED);
	expect_code("diff --git a/l b/l\nold mode 100644\nnew mode 120000\n",
	    ERR_DENIED);
	expect_code("diff --git a/l b/l\nnew file mode 120000\n"
		    "GIT binary patch\nliteral 3\nKcmZQzWC8#H2LJ>B\n\n",
	    ERR_DENIED);
	expect_code("diff --git a/l b/l\nindex 1234567..1234567 120000\n"
		    "--- a/l\n+++ b/l\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n",
	    ERR_DENIED);
}

/* --- applying
 * -------------------------------------------------------------------------- */

static int
apply(const char *text, struct err *e)
{
	char *dir = path_join(bed, "t");
	int r;

	memset(e, 0, sizeof *e);
	r = patch_apply(dir, text, strlen(text), false, e);
	free(dir);
	return r;
}

static void
test_apply_atomic(void **state unused_arg)
{
	struct err e;

	bed_run("mkdir t; echo 1 >t/a.txt; echo 2 >t/b.txt");
	assert_int_equal(
	    apply("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-1\n+10\n"
		  "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-no\n+20\n",
		&e),
	    ERR_USAGE);
	assert_non_null(strstr(e.text, "b.txt"));
	bed_expect("cat t/a.txt t/b.txt; ls -A t | wc -l", "1\n2\n2");
}

/* A tree that lies in a repository: its configuration, attributes and index
 * have no say. */
static void
test_apply_in_repository(void **state unused_arg)
{
	struct err e;

	bed_run(
	    BED_GIT "git init -q .; mkdir t; printf 'a\\r\\nb\\r\\n' >t/x; "
		    "printf 'a\\nb\\n' >t/y; git config core.autocrlf true; "
		    "git config apply.whitespace error; "
		    "printf '* text eol=crlf filter=x\\n' >t/.gitattributes; "
		    "git config filter.x.smudge false; "
		    "git config filter.x.required true");
	assert_int_equal(apply("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n"
			       "+c \r\n--- a/y\n+++ b/y\n@@ -1,2 +1,2 @@\n a\n"
			       "-b\n+c\n",
			     &e),
	    0);
	bed_expect("od -c t/x | head -1; od -c t/y | head -1",
	    "0000000   a  \\r  \\n   c      \\r  \\n\n"
	    "0000000   a  \\n   c  \\n");
	bed_expect("test -e .git/index || echo none", "none");
}

static void
test_apply_links(void **state unused_arg)
{
	struct err e;

	bed_run("mkdir -p t/d out; echo a >out/x; ln -s ../out t/esc; "
		"ln -s ../out/x t/l; ln -s d t/in; echo a >t/d/x");
	assert_int_equal(
	    apply("--- a/esc/x\n+++ b/esc/x\n" HUNK, &e), ERR_DENIED);
	assert_int_equal(apply("--- a/l\n+++ b/l\n" HUNK, &e), ERR_DENIED);
	assert_int_equal(
	    apply("--- a/in/x\n+++ b/in/x\n" HUNK, &e), ERR_DENIED);
	assert_int_equal(
	    apply("--- /dev/null\n+++ b/esc/new\n@@ -0,0 +1 @@\n+x\n", &e),
	    ERR_DENIED);
	/* the link's own text, without saying that it is one */
	assert_int_equal(apply("--- a/l\n+++ b/l\n@@ -1 +1 @@\n-../out/x\n"
			       "\\ No newline at end of file\n+/etc/passwd\n"
			       "\\ No newline at end of file\n",
			     &e),
	    ERR_DENIED);
	assert_int_equal(
	    apply("diff --git a/l b/m\nrename from l\nrename to m\n", &e),
	    ERR_DENIED);
	assert_int_equal(
	    apply("diff --git a/d/x b/l\nrename from d/x\nrename to l\n", &e),
	    ERR_DENIED);
	bed_expect("cat out/x; ls out; readlink t/l", "a\nx\n../out/x");
	/* saying it */
	assert_int_equal(apply("diff --git a/in b/in\n"
			       "index 1234567..1234567 120000\n"
			       "--- a/in\n+++ b/in\n@@ -1 +1 @@\n-d\n"
			       "\\ No newline at end of file\n+d/x\n"
			       "\\ No newline at end of file\n",
			     &e),
	    0);
	bed_expect("readlink t/in", "d/x");
	/* away with it, a directory in its place */
	assert_int_equal(
	    apply("diff --git a/in b/in\ndeleted file mode 120000\n"
		  "--- a/in\n+++ /dev/null\n@@ -1 +0,0 @@\n-d/x\n"
		  "\\ No newline at end of file\n"
		  "diff --git a/in/y b/in/y\nnew file mode 100644\n"
		  "--- /dev/null\n+++ b/in/y\n@@ -0,0 +1 @@\n+y\n",
		&e),
	    0);
	bed_expect("cat t/in/y", "y");
}

static void
test_apply_renames(void **state unused_arg)
{
	struct err e;

	bed_run("mkdir t; echo a >'t/x \"y\"'; echo a >t/z; chmod 755 t/z");
	assert_int_equal(
	    apply("diff --git \"a/x \\\"y\\\"\" b/n/m\nsimilarity index 50%\n"
		  "rename from \"x \\\"y\\\"\"\nrename to n/m\n"
		  "--- \"a/x \\\"y\\\"\"\n+++ b/n/m\n" HUNK
		  "diff --git a/z b/c\ncopy from z\ncopy to c\n",
		&e),
	    0);
	bed_expect("ls t; cat t/n/m; stat -c %a t/c t/z; umask >/dev/null",
	    "c\nn\nz\nb\n755\n755");
}

#define T(f) cmocka_unit_test_setup_teardown(f, bed_setup, bed_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = { T(test_copy), T(test_overlay),
		T(test_overlay_nothing), T(test_limit), T(test_want),
		T(test_swapped), T(test_names), T(test_no_patch),
		T(test_denied), T(test_links), T(test_apply_atomic),
		T(test_apply_in_repository), T(test_apply_links),
		T(test_apply_renames) };

	umask(022);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
