/* Workspaces: made, used, removed, swept. */
#include "common/compat.h"

#include "test_sandbox_bed.h"

#include "sandbox/probe.h"
#include "sandbox/stage.h"
#include "sandbox/workspace.h"

static struct workspace ws;

static void
make(enum layout layout)
{
	char *dir = path_join(bed, "w"), *base = path_join(bed, "base");
	struct err e;

	if (workspace_create(dir, base, layout, &ws, &e) < 0)
		fail_msg("%s", e.text);
	free(dir);
	free(base);
}

/* In a child: enter the overlay, run script in the tree. */
static void
use(const char *script)
{
	struct strv argv = { 0 };
	struct err e;
	char *m;
	int status;
	pid_t pid;

	/* As the host does it: never as root. */
	if (geteuid() == 0)
		bed_run("chmod 711 .; chown -R 61184:61184 base");
	pid = fork();
	if (pid == 0) {
		if (geteuid() == 0 &&
		    (setresgid(SANDBOX_UID, SANDBOX_UID, SANDBOX_UID) < 0 ||
			setresuid(SANDBOX_UID, SANDBOX_UID, SANDBOX_UID) < 0))
			_exit(1);
		if (overlay_enter(&ws.overlay, &e) < 0) {
			fprintf(stderr, "%s\n", e.text);
			_exit(77);
		}
		m = path_join(ws.overlay.dir, "m");
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

#define BASE \
	"mkdir -p base/d base/.git; cd base; echo 1 >d/f; echo g >.git/HEAD; " \
	"ln -s d/f l; ln -s /etc/passwd out; chmod 750 d; chmod 4711 d/f; " \
	"truncate -s 1M hole; touch -d '2001-02-03 04:05:06.789' d/f d; " \
	"touch -h -d 2002-01-01 l; chmod 755 .; "

static void
test_copy(void **state unused_arg)
{
	char *owner = xasprintf("%u", stage_uid());
	struct stat st;

	bed_run(BASE);
	make(LAYOUT_COPY);
	assert_null(ws.up_src);
	assert_true(path_is_below(ws.tree_src, bed));
	setenv("M", ws.tree_src, 1);
	bed_run("cd base; find . -printf '%p|%y|%s|%l|%T@\\n' | sort >../a; "
		"cd \"$M\"; find . -printf '%p|%y|%s|%l|%T@\\n' | sort >$T/b; "
		"cmp $T/a $T/b; cmp $T/base/hole hole; cat d/f .git/HEAD");
	bed_expect("stat -c %a \"$M/d/f\" \"$M/d\"", "711\n750");
	bed_expect("stat -c %b \"$M/hole\"", "0");
	bed_expect("find w -printf '%U\\n' | sort -u", owner);
	assert_int_equal(lstat(ws.dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	bed_run("test -d w/link");
	workspace_remove(&ws);
	bed_run("test ! -e w");
	free(owner);
}

static void
test_overlay(void **state unused_arg)
{
	char *base;

	/* The file system may be an overlay itself; test_tmpfs is for that. */
	if (probe_layout(bed) != LAYOUT_OVERLAY)
		bed_skip();
	base = path_join(bed, "base");
	bed_run(BASE);
	make(LAYOUT_OVERLAY);
	assert_string_equal(ws.tree_src, "@merged");
	assert_string_equal(ws.overlay.lowers.v[0], base);
	assert_false(ws.overlay.on_tmpfs);
	setenv("U", ws.up_src, 1);
	use("echo 2 >d/f; rm l; mkdir -p x/y; echo n >x/y/z; chmod 000 x/y; "
	    "stat -c %a . >x/mode");
	bed_expect("cat base/d/f \"$U/d/f\"; cat \"$U/x/mode\"", "1\n2\n755");
	bed_expect("stat -c %a \"$U/../wk/work\" 2>/dev/null || "
		   "stat -c %a \"$U/../wk\"/*",
	    "0");
	workspace_remove(&ws);
	assert_null(ws.dir);
	bed_run("test ! -e w; test -e base/l");
	free(base);
}

static void
test_tmpfs(void **state unused_arg)
{
	bed_run(BASE);
	make(LAYOUT_TMPFS);
	assert_true(ws.overlay.on_tmpfs);
	assert_non_null(ws.up_src);
	setenv("UP", ws.up_src, 1);
	use("echo 2 >d/f; cat \"$UP/d/f\" >/dev/null; test -d $T/w/link");
	bed_expect("cat base/d/f; find w -type f | wc -l", "1\n0");
	workspace_remove(&ws);
	bed_run("test ! -e w");
}

static void
test_fails(void **state unused_arg)
{
	char *dir = path_join(bed, "w"), *none = path_join(bed, "none");
	char *base = path_join(bed, "base"), *deep = path_join(bed, "x/y");
	struct err e;

	assert_true(workspace_create(dir, none, LAYOUT_COPY, &ws, &e) < 0);
	bed_run("test ! -e w; mkdir base w; echo keep >w/keep");
	assert_int_equal(
	    workspace_create(dir, base, LAYOUT_COPY, &ws, &e), -EEXIST);
	bed_run("test -e w/keep");
	assert_true(workspace_create(deep, base, LAYOUT_COPY, &ws, &e) < 0);
	if (geteuid() != 0) {
		bed_run("rm -r w; mkdir base/no; chmod 000 base/no");
		assert_int_equal(
		    workspace_create(dir, base, LAYOUT_COPY, &ws, &e), -EACCES);
		assert_non_null(strstr(e.text, "no"));
		bed_run("test ! -e w; chmod 700 base/no");
	}
	free(dir);
	free(none);
	free(base);
	free(deep);
}

static void
test_remove_hostile(void **state unused_arg)
{
	bed_run("mkdir base");
	make(LAYOUT_COPY);
	bed_run("mkdir keep; echo 1 >keep/f; cd w/m; ln -s $T/keep l; "
		"mkdir -p a/b; echo 1 >a/b/c; chmod 000 a/b a; "
		"echo 1 >\"$(printf 'new\\nline')\"; "
		"python3 -c '\n"
		"import os\n"
		"for i in range(4000):\n"
		"    os.mkdir(\"d\"); os.chdir(\"d\")\n'");
	workspace_remove(&ws);
	bed_run("test ! -e w; test -e keep/f");
}

static void
test_scratch(void **state unused_arg)
{
	char *parent = path_join(bed, "p/q"), *dir, *other;
	struct err e;
	int fd, status;
	pid_t pid;

	assert_int_equal(workspace_scratch(parent, &dir, &fd, &e), 0);
	assert_true(path_is_below(dir, parent));
	/* One of a process that dies. */
	pid = fork();
	if (pid == 0) {
		int fd2;

		if (workspace_scratch(parent, &other, &fd2, &e) < 0 ||
		    chdir(other) < 0 || mkdir("x", 0) < 0)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	bed_run("mkdir p/q/mine; echo 1 >p/q/12-file");
	bed_expect("ls p/q | wc -l", "4");
	workspace_sweep(parent);
	bed_expect("ls p/q | wc -l", "3");
	bed_run("test -e p/q/mine");
	assert_int_equal(access(dir, F_OK), 0);
	close(fd);
	workspace_sweep(parent);
	bed_expect("ls p/q | wc -l", "2");
	workspace_sweep("/nonexistent");
	free(parent);
	free(dir);
}

#define T(f) cmocka_unit_test_setup_teardown(f, bed_setup, bed_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = { T(test_copy), T(test_overlay),
		T(test_tmpfs), T(test_fails), T(test_remove_hostile),
		T(test_scratch) };

	umask(022);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
