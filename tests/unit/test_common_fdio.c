#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/path.h"

static char tmp[] = "/tmp/test_fdio.XXXXXX";

static int
setup(void **state)
{
	(void)state;
	return mkdtemp(tmp) == NULL;
}

static int
teardown(void **state)
{
	(void)state;
	return path_rmtree(tmp, NULL);
}

static void
test_file(void **state)
{
	char *path = path_join(tmp, "file"), *link = path_join(tmp, "link");
	char *fifo = path_join(tmp, "fifo");
	struct err e;
	struct stat st;
	struct buf b;

	(void)state;
	buf_init(&b, 10);
	assert_int_equal(file_read(path, false, &b, &e), -ENOENT);
	assert_int_equal(file_write(path, "hello", 5, 0640, &e), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(file_read(path, true, &b, &e), 0);
	assert_string_equal(buf_str(&b), "hello");
	assert_int_equal(file_write(path, "123456", 6, 0640, &e), 0);
	assert_int_equal(file_read(path, true, &b, &e), ERR_LIMIT);
	assert_string_equal(buf_str(&b), "hello");
	buf_reset(&b);
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(file_read(link, true, &b, &e), -ELOOP);
	assert_int_equal(file_read(link, false, &b, &e), 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(file_read(fifo, true, &b, &e), -EINVAL);
	assert_int_equal(file_read(tmp, true, &b, &e), -EISDIR);
	assert_int_equal(
	    file_write("/nonexistent/x", "", 0, 0600, &e), -ENOENT);
	buf_clear(&b);
	free(path);
	free(link);
	free(fifo);
}

/* Nothing stays behind when the rename fails. */
static void
test_no_leftover(void **state)
{
	char *dir = path_join(tmp, "d"), *target = path_join(dir, "t");
	struct dirent *d;
	size_t n = 0;
	DIR *dp;

	(void)state;
	assert_int_equal(path_mkdirs(target, 0700, NULL), 0);
	assert_true(file_write(target, "x", 1, 0600, NULL) < 0);
	dp = opendir(dir);
	while ((d = readdir(dp)) != NULL)
		n++;
	closedir(dp);
	assert_int_equal(n, 3);
	free(target);
	free(dir);
}

static void
test_pipe(void **state)
{
	static char big[1 << 20];
	struct buf b;
	int fds[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(fd_pipe(fds), 0);
	assert_int_equal(fcntl(fds[0], F_GETFD), FD_CLOEXEC);
	assert_int_equal(fd_cloexec(fds[0], false), 0);
	assert_int_equal(fcntl(fds[0], F_GETFD), 0);
	assert_int_equal(fd_nonblock(fds[0], true), 0);
	assert_int_equal(fd_nonblock(fds[1], true), 0);
	pid = fork();
	if (pid == 0) {
		memset(big, 'z', sizeof big);
		_exit(fd_write_all(fds[1], big, sizeof big) != 0);
	}
	fd_close(&fds[1]);
	assert_int_equal(fds[1], -1);
	buf_init(&b, sizeof big);
	assert_int_equal(fd_read_all(fds[0], &b), 0);
	assert_int_equal(b.len, sizeof big);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	buf_clear(&b);
	fd_close(&fds[0]);
	errno = EXDEV;
	fd_close(&fds[0]);
	assert_int_equal(errno, EXDEV);
}

static void
test_memfile(void **state)
{
	struct buf b;
	int fd = fd_memfile("x", "abc", 3);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	buf_init(&b, 2);
	assert_int_equal(fd_read_all(fd, &b), -ENOBUFS);
	assert_string_equal(buf_str(&b), "ab");
	buf_clear(&b);
	fd_close(&fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_no_leftover),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_memfile),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
