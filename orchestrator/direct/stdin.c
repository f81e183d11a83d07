#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fdio.h"
#include "orchestrator/direct/stdin.h"

static void feed(int to) noreturn_fn;

static void
feed(int to)
{
	static char bite[65536];
	ssize_t n;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)signal(SIGPIPE, SIG_IGN);
	while ((n = read(STDIN_FILENO, bite, sizeof bite)) > 0) {
		if (fd_write_all(to, bite, (size_t)n) < 0)
			break;
	}
	_exit(0);
}

static int
check_stdio(struct err *e)
{
	struct stat st;

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fstat(fd, &st) < 0 || (fcntl(fd, F_GETFL) & O_PATH) != 0)
			return err_set(e, ERR_USAGE,
			    "descriptor %d is not open for reading or writing",
			    fd);
		if (S_ISDIR(st.st_mode))
			return err_set(
			    e, ERR_USAGE, "descriptor %d is a directory", fd);
	}
	return 0;
}

int
stdin_open(int *ret_fd, pid_t *ret_pid, struct err *e)
{
	struct stat st;
	int fds[2], r;
	pid_t pid;

	*ret_fd = STDIN_FILENO;
	*ret_pid = -1;
	if ((r = check_stdio(e)) < 0)
		return r;
	if (fstat(STDIN_FILENO, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	if ((r = fd_pipe(fds)) < 0)
		return err_set(e, r, "pipe: %s", strerror(-r));
	if ((pid = fork()) == 0) {
		fd_close(&fds[0]);
		feed(fds[1]);
	}
	r = pid < 0 ? err_set(e, -errno, "fork: %s", strerror(errno)) : 0;
	fd_close(&fds[1]);
	if (r < 0) {
		fd_close(&fds[0]);
		return r;
	}
	*ret_fd = fds[0];
	*ret_pid = pid;
	return 0;
}

void
stdin_close(int fd, pid_t pid)
{
	if (pid < 0)
		return;
	fd_close(&fd);
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
}
