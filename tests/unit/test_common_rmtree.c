#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/path.h"

#define SKIPPED 77

static char base[] = "/tmp/test_rmtree.XXXXXX";
static char top[64];

static int
group_setup(void **state)
{
	(void)state;
	if (mkdtemp(base) == NULL)
		return -1;
	snprintf(top, sizeof top, "%s/top", base);
	return 0;
}

static int
group_teardown(void **state)
{
	(void)state;
	return path_rmtree(base, NULL);
}

static void
touch(int at, const char *name)
{
	int fd = openat(at, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	fd_close(&fd);
}

static int
make_top(void)
{
	int fd;

	assert_int_equal(mkdir(top, 0700), 0);
	fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void
gone(void)
{
	struct err e = { .text = "" };
	struct stat st;

	if (path_rmtree(top, &e) != 0)
		fail_msg("%s", e.text);
	assert_int_equal(lstat(top, &st), -1);
	assert_int_equal(errno, ENOENT);
}

static void
test_simple(void **state)
{
	char outside[80];
	int fd;

	(void)state;
	gone(); /* missing is fine */
	snprintf(outside, sizeof outside, "%s/outside", base);
	assert_int_equal(mkdir(outside, 0700), 0);
	fd = make_top();
	touch(fd, "file");
	touch(fd, "new\nline \xff");
	assert_int_equal(mkdirat(fd, "dir", 0700), 0);
	touch(fd, "dir/file");
	assert_int_equal(symlinkat(outside, fd, "link"), 0);
	assert_int_equal(symlinkat("nowhere", fd, "dangling"), 0);
	assert_int_equal(mkfifoat(fd, "fifo", 0600), 0);
	fd_close(&fd);
	gone();
	assert_int_equal(access(outside, F_OK), 0);
	/* The top may be a file or a link itself. */
	assert_int_equal(symlink(outside, top), 0);
	gone();
	assert_int_equal(access(outside, F_OK), 0);
	touch(AT_FDCWD, top);
	gone();
}

static void
test_refused(void **state)
{
	(void)state;
	assert_int_equal(path_rmtree("/", NULL), -EINVAL);
	assert_int_equal(path_rmtree("", NULL), -EINVAL);
	assert_int_equal(path_rmtree("..", NULL), -EINVAL);
	assert_int_equal(path_rmtree("/tmp/.", NULL), -EINVAL);
	assert_int_equal(path_rmtree("/tmp/..//", NULL), -EINVAL);
	assert_int_equal(path_rmtree("/no/such/thing", NULL), 0);
}

static void
build_deep(int depth)
{
	int fd = make_top(), next;

	for (int i = 0; i < depth; i++) {
		assert_int_equal(mkdirat(fd, "d", 0700), 0);
		if (i % 100 == 0) {
			touch(fd, "e");
			assert_int_equal(mkdirat(fd, "a", 0700), 0);
		}
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		fd_close(&fd);
		fd = next;
	}
	fd_close(&fd);
}

static void
test_deep(void **state)
{
	struct rlimit old, few;

	(void)state;
	build_deep(10000);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = old;
	few.rlim_cur = 64;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	gone();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

static void
test_wide(void **state)
{
	int fd = make_top();
	char name[64];

	(void)state;
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof name, "dir%d", i);
		assert_int_equal(mkdirat(fd, name, 0700), 0);
		snprintf(name, sizeof name, "dir%d/f", i);
		touch(fd, name);
	}
	fd_close(&fd);
	gone();
}

/* Runs fn as nobody (root may read everything); its result. */
static int
as_nobody(int (*fn)(void))
{
	int status;
	pid_t pid;

	assert_int_equal(chmod(base, 0777), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (getuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
			_exit(SKIPPED);
		_exit(fn());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int
modes(void)
{
	struct stat st;
	int fd = make_top();

	assert_int_equal(mkdirat(fd, "none", 0700), 0);
	assert_int_equal(mkdirat(fd, "none/below", 0700), 0);
	touch(fd, "none/below/file");
	assert_int_equal(mkdirat(fd, "ro", 0700), 0);
	touch(fd, "ro/file");
	assert_int_equal(mkdirat(fd, "empty", 0700), 0);
	assert_int_equal(fchmodat(fd, "none/below", 0, 0), 0);
	assert_int_equal(fchmodat(fd, "none", 0, 0), 0);
	assert_int_equal(fchmodat(fd, "ro", 0555, 0), 0);
	assert_int_equal(fchmodat(fd, "empty", 0, 0), 0);
	fchmod(fd, 0);
	fd_close(&fd);
	if (path_rmtree(top, NULL) != 0)
		return 1;
	return lstat(top, &st) == 0 ? 2 : 0;
}

static void
test_modes(void **state)
{
	int r;

	(void)state;
	r = as_nobody(modes);
	if (r == SKIPPED)
		skip();
	assert_int_equal(r, 0);
}

/* A directory of somebody else stays, the rest goes, and it ends. */
static int
foreign(void)
{
	struct err e;
	char name[100];
	struct stat st;

	if (path_rmtree(top, &e) != -EACCES)
		return 1;
	snprintf(name, sizeof name, "%s/d/d", top);
	if (lstat(name, &st) < 0)
		return 2;
	snprintf(name, sizeof name, "%s/a", top);
	return lstat(name, &st) == 0 ? 3 : 0;
}

static void
test_foreign(void **state)
{
	int fd, next, r;

	(void)state;
	if (getuid() != 0)
		skip();
	build_deep(200);
	fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < 200; i++) {
		assert_int_equal(fchown(fd, 65534, 65534), 0);
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		fd_close(&fd);
		fd = next;
	}
	touch(fd, "kept");
	assert_int_equal(fchmod(fd, 0), 0);
	fd_close(&fd);
	r = as_nobody(foreign);
	gone();
	if (r == SKIPPED)
		skip();
	assert_int_equal(r, 0);
}

/* In a mount namespace: a bind mount of the same device is not entered. */
static int
mounted(void)
{
	char precious[80], inside[80], file[100];
	struct err e = { .text = "" };

	snprintf(precious, sizeof precious, "%s/precious", base);
	snprintf(inside, sizeof inside, "%s/mnt", top);
	snprintf(file, sizeof file, "%s/precious/file", base);
	if (mkdir(precious, 0700) < 0 || mkdir(inside, 0700) < 0)
		return 1;
	touch(AT_FDCWD, file);
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(precious, inside, NULL, MS_BIND, NULL) < 0)
		return SKIPPED;
	if (path_rmtree(top, &e) != -EXDEV)
		return 2;
	if (path_rmtree(inside, &e) != -EXDEV)
		return 3;
	if (access(file, F_OK) < 0)
		return 4;
	snprintf(file, sizeof file, "%s/other", top);
	return access(file, F_OK) == 0 ? 5 : 0;
}

static void
test_mount(void **state)
{
	int fd = make_top(), status;
	pid_t pid;

	(void)state;
	touch(fd, "other");
	fd_close(&fd);
	pid = fork();
	if (pid == 0)
		_exit(mounted());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	gone();
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == SKIPPED)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Another process makes, moves and swaps for links meanwhile. */
static void
disturb(int fd, const char *outside)
{
	int r = 0; /* each may fail, that is the point */

	while (r <= 0) {
		(void)mkdirat(fd, "a", 0700);
		(void)mkdirat(fd, "a/x", 0700);
		(void)mkdirat(fd, "a/x/y", 0700);
		(void)renameat(fd, "a/x/y", fd, "moved");
		r = symlinkat(outside, fd, "a/x/y");
		(void)renameat(fd, "a/x", fd, "b");
		r = symlinkat(outside, fd, "a/x");
		(void)renameat(fd, "moved", fd, "a/y");
	}
}

static void
test_race(void **state)
{
	char outside[80], file[100];
	int fd, status;
	pid_t pid;

	(void)state;
	snprintf(outside, sizeof outside, "%s/out", base);
	snprintf(file, sizeof file, "%s/out/file", base);
	assert_int_equal(mkdir(outside, 0700), 0);
	touch(AT_FDCWD, file);
	for (int i = 0; i < 20; i++) {
		fd = make_top();
		pid = fork();
		if (pid == 0)
			disturb(fd, outside);
		fd_close(&fd);
		usleep(1000);
		(void)path_rmtree(top, NULL); /* must end, may fail */
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		gone();
	}
	assert_int_equal(access(file, F_OK), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_simple),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_mount),
		cmocka_unit_test(test_race),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
