/* Landlock's rules, each domain entered by a child. */
#include "common/compat.h"

#include <setjmp.h>
/* cmocka needs the ones above */
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "sandbox/landlock.h"

static char top[] = "/tmp/foray-test-XXXXXX";

static char *
in(const char *rel)
{
	return path_join(top, rel);
}

static void
put(const char *rel)
{
	char *path = in(rel), *dir = path_dir(path);

	assert_int_equal(path_mkdirs(dir, 0755, NULL), 0);
	assert_int_equal(file_write(path, "x", 1, 0644, NULL), 0);
	free(path);
	free(dir);
}

static int
setup(void **state unused_arg)
{
	if (landlock_abi() == 0) {
		print_message("skipped: no Landlock here\n");
		exit(77);
	}
	return mkdtemp(top) != NULL ? 0 : -1;
}

static int
teardown(void **state unused_arg)
{
	return path_rmtree(top, NULL);
}

/* --- what a child tries ----------------------------------------------------
 */

static int
try_read(const char *rel)
{
	char *path = in(rel);
	int fd = open(path, O_RDONLY), r = fd < 0 ? errno : 0;

	free(path);
	fd_close(&fd);
	return r;
}

static int
try_write(const char *rel, int flags)
{
	char *path = in(rel);
	int fd = open(path, O_WRONLY | flags, 0644), r = fd < 0 ? errno : 0;

	free(path);
	fd_close(&fd);
	return r;
}

static int
try_rename(const char *from, const char *to)
{
	char *a = in(from), *b = in(to);
	int r = rename(a, b) < 0 ? errno : 0;

	free(a);
	free(b);
	return r;
}

static int
try_make(const char *rel)
{
	char *path = in(rel);
	int r = mkdir(path, 0755) < 0 ? errno : 0;

	free(path);
	return r;
}

static int
try_truncate(const char *rel)
{
	char *path = in(rel);
	int r = truncate(path, 0) < 0 ? errno : 0;

	free(path);
	return r;
}

#define IS(call, want) \
	do { \
		int got = (call); \
\
		if (got != (want)) { \
			print_error("%s gives %s\n", #call, \
			    got == 0 ? "success" : strerror(got)); \
			_exit(1); \
		} \
	} while (0)

static void
allow(struct landlock *l, const char *rel, enum landlock_may may,
    const struct strv *but)
{
	char *path = in(rel);
	struct err e;

	if (landlock_allow(l, path, may, but, &e) < 0) {
		print_error("%s\n", e.text);
		_exit(1);
	}
	free(path);
}

static void
enter(struct landlock *l)
{
	struct err e;

	if (landlock_enter(l, &e) < 0) {
		print_error("%s\n", e.text);
		_exit(1);
	}
}

static void
wait_good(pid_t pid)
{
	int status = -1;

	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* --- tests -----------------------------------------------------------------
 */

static void
files(int abi)
{
	struct landlock l;
	struct err e;
	pid_t pid;

	put("read/a");
	put("write/a");
	put("write/b");
	put("other/a");
	put("one-file");
	if ((pid = fork()) != 0) {
		wait_good(pid);
		return;
	}
	IS(landlock_open_abi(&l, abi, &e) < 0, 0);
	allow(&l, "read", LANDLOCK_READ, NULL);
	allow(&l, "write", LANDLOCK_WRITE, NULL);
	allow(&l, "one-file", LANDLOCK_WRITE, NULL);
	allow(&l, "not-there", LANDLOCK_WRITE, NULL);
	enter(&l);
	IS(try_read("read/a"), 0);
	IS(try_read("read"), 0);
	IS(try_write("read/a", 0), EACCES);
	IS(try_write("read/new", O_CREAT), EACCES);
	IS(try_read("other/a"), EACCES);
	IS(try_read("other"), EACCES);
	IS(try_read("."), EACCES);
	IS(try_write("write/a", 0), 0);
	IS(try_write("write/new", O_CREAT | O_EXCL), 0);
	IS(try_write("one-file", 0), 0);
	IS(try_make("write/dir"), 0);
	IS(try_make("dir"), EACCES);
	/* Between directories only where the right is known. */
	IS(try_rename("write/a", "write/dir/a"), abi >= 2 ? 0 : EXDEV);
	IS(try_rename("write/b", "b") != 0, true);
	if (abi >= 3)
		IS(try_truncate("read/a"), EACCES);
	_exit(0);
}

static void
test_files(void **state unused_arg)
{
	for (int abi = 1; abi <= landlock_abi(); abi++) {
		char *write = in("write");

		files(abi);
		assert_int_equal(path_rmtree(write, NULL), 0);
		free(write);
	}
}

/* A part of a writable tree that may not be written, at some depth. */
static void
test_left_out(void **state unused_arg)
{
	struct strv but = { 0 };
	struct landlock l;
	struct err e;
	char *path;
	pid_t pid;

	put("tree/sub/deep/keep");
	put("tree/sub/deep/beside");
	put("tree/sub/other/f");
	put("tree/top");
	put("tree/.git/config");
	if ((pid = fork()) != 0) {
		wait_good(pid);
		return;
	}
	path = in("tree/sub/deep/keep");
	strv_take(&but, &path);
	path = in("tree/.git");
	strv_take(&but, &path);
	IS(landlock_open(&l, &e) < 0, 0);
	allow(&l, "tree", LANDLOCK_WRITE, &but);
	allow(&l, "tree/.git", LANDLOCK_READ, NULL);
	enter(&l);
	IS(try_read("tree"), 0);
	IS(try_read("tree/sub/deep/keep"), EACCES);
	IS(try_write("tree/sub/deep/keep", 0), EACCES);
	IS(try_rename("tree/sub/deep/beside", "tree/sub/deep/keep"), EACCES);
	IS(try_rename("tree/sub/deep", "tree/sub/else"), EACCES);
	IS(try_write("tree/sub/deep/beside", 0), 0);
	IS(try_write("tree/sub/other/new", O_CREAT), 0);
	IS(try_write("tree/top", 0), 0);
	IS(try_read("tree/.git/config"), 0);
	IS(try_write("tree/.git/config", 0), EACCES);
	IS(try_write("tree/.git/new", O_CREAT), EACCES);
	IS(try_rename("tree/top", "tree/.git/top") != 0, true);
	IS(try_rename("tree/.git", "tree/got") != 0, true);
	/* The price: nothing new beside what is left out. */
	IS(try_write("tree/new", O_CREAT), EACCES);
	_exit(0);
}

/* An inner domain can take away, never add. */
static void
test_nested(void **state unused_arg)
{
	struct landlock l;
	struct err e;
	pid_t pid;

	put("a/f");
	put("b/f");
	put("c/f");
	if ((pid = fork()) != 0) {
		wait_good(pid);
		return;
	}
	IS(landlock_open(&l, &e) < 0, 0);
	allow(&l, "a", LANDLOCK_WRITE, NULL);
	allow(&l, "b", LANDLOCK_WRITE, NULL);
	enter(&l);
	IS(landlock_open(&l, &e) < 0, 0);
	allow(&l, "a", LANDLOCK_READ, NULL);
	allow(&l, "c", LANDLOCK_READ, NULL);
	enter(&l);
	IS(try_read("a/f"), 0);
	IS(try_write("a/f", 0), EACCES);
	IS(try_read("b/f"), EACCES);
	IS(try_read("c/f"), EACCES);
	_exit(0);
}

static int
connect_abstract(const struct sockaddr_un *at, socklen_t len)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), r = 0;

	if (connect(fd, (const struct sockaddr *)at, len) < 0)
		r = errno;
	fd_close(&fd);
	return r;
}

/* Signals go to what is inside, abstract sockets out of it can't be reached. */
static void
test_scopes(void **state unused_arg)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	socklen_t len = (socklen_t)offsetof(struct sockaddr_un, sun_path);
	struct landlock l;
	struct err e;
	pid_t pid, child;
	int fd, n, status;

	if (landlock_abi() < LANDLOCK_ABI_SCOPES)
		skip();
	n = snprintf(at.sun_path + 1, sizeof at.sun_path - 1, "foray-ll-%d",
	    (int)getpid());
	len += (socklen_t)n + 1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(fd, 4), 0);
	if ((pid = fork()) != 0) {
		wait_good(pid);
		fd_close(&fd);
		return;
	}
	IS(connect_abstract(&at, len), 0);
	IS(landlock_open(&l, &e) < 0, 0);
	enter(&l);
	IS(connect_abstract(&at, len), EPERM);
	IS(kill(getppid(), 0) < 0 ? errno : 0, EPERM);
	if ((child = fork()) == 0) {
		for (;;)
			pause();
	}
	IS(kill(child, SIGKILL) < 0 ? errno : 0, 0);
	IS(waitpid(child, &status, 0) == child, true);
	_exit(0);
}

static void
test_none(void **state unused_arg)
{
	struct landlock l;
	struct err e = { 0 };

	assert_int_equal(landlock_open_abi(&l, 0, &e), ERR_SANDBOX);
	assert_non_null(strstr(e.text, "no Landlock"));
	assert_non_null(strstr(e.text, "Remedy"));
	landlock_close(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_scopes),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
