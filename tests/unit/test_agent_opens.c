/* How often files are opened: worker/agent/opens. */
#include "common/compat.h"

#include <sys/wait.h>

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "worker/agent/opens.h"

#define OTHERS 5

static void
open_once(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
}

static void
make(int dir, const char *name)
{
	int fd = openat(dir, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(close(fd), 0);
}

/* By whichever process; a link is not followed, what is not there is no error,
 * and what was before or comes after does not count. */
static void
test_counts(void **state unused_arg)
{
	char path[] = "/tmp/foray-opens-XXXXXX";
	struct strv names = { 0 };
	struct opens o;
	int dir, i;
	pid_t pid;

	assert_non_null(mkdtemp(path));
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(dir >= 0);
	make(dir, "a");
	make(dir, "b");
	make(dir, "c");
	assert_int_equal(symlinkat("c", dir, "link"), 0);
	strv_addl(&names, "a", "b", "link", "none", (char *)NULL);
	open_once(dir, "a");
	opens_begin(&o, dir, &names);
	open_once(dir, "a");
	open_once(dir, "link");
	for (i = 0; i < OTHERS; i++) {
		if ((pid = fork()) == 0) {
			open_once(dir, "b");
			_exit(0);
		}
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
	opens_end(&o);
	open_once(dir, "a");
	assert_int_equal(o.n[0], 1);
	assert_int_equal(o.n[1], OTHERS);
	assert_int_equal(o.n[2], 0);
	assert_int_equal(o.n[3], 0);
	opens_clear(&o);
	opens_clear(&o);
	strv_clear(&names);
	assert_int_equal(close(dir), 0);
	assert_int_equal(path_rmtree(path, NULL), 0);
}

/* More than the kernel keeps: nothing is said. */
static void
test_too_many(void **state unused_arg)
{
	char path[] = "/tmp/foray-opens-XXXXXX";
	struct strv names = { 0 };
	struct opens o;
	int dir, i;

	assert_non_null(mkdtemp(path));
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(dir >= 0);
	make(dir, "a");
	strv_add(&names, "a");
	opens_begin(&o, dir, &names);
	for (i = 0; i < 1000; i++)
		open_once(dir, "a");
	opens_end(&o);
	assert_int_equal(o.n[0], 1000);
	opens_clear(&o);
	opens_begin(&o, dir, &names);
	for (i = 0; i < 200000; i++)
		open_once(dir, "a");
	opens_end(&o);
	assert_int_equal(o.n[0], 0);
	opens_clear(&o);
	strv_clear(&names);
	assert_int_equal(close(dir), 0);
	assert_int_equal(path_rmtree(path, NULL), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
