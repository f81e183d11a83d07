#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/text.h"
#include "orchestrator/direct/stdin.h"
#include "sandbox/stage.h"

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

/* A pipe that root made can't be opened by the name /dev/stderr under another
 * uid, which scripts do. Of a pipe without a name only we and those who have it
 * know: it is given over, to be opened in its own direction. */
static void
give(int fd, mode_t mode)
{
	uid_t uid = stage_uid();
	struct stat st;
	char path[32], to[8] = "";

	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (uid == geteuid() || fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode) ||
	    st.st_uid != geteuid() || readlink(path, to, sizeof to - 1) < 0 ||
	    !text_starts(to, "pipe:["))
		return;
	if (fchown(fd, uid, (gid_t)-1) < 0 || fchmod(fd, mode) < 0)
		log_debug("give descriptor %d: %s", fd, strerror(errno));
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
	give(STDIN_FILENO, 0400);
	give(STDOUT_FILENO, 0200);
	give(STDERR_FILENO, 0200);
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
	give(fds[0], 0400);
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
