#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/log.h"
#include "common/spawn.h"
#include "orchestrator/aside/aside.h"
#include "sandbox/stage.h"

#define FDS_MAX 4

static void
clean_env(struct strv *env)
{
	static const char *const names[] = { "LANG", "LC_ALL", "TZ",
		"FORAY_DEBUG", "ASAN_OPTIONS", "UBSAN_OPTIONS",
		"LSAN_OPTIONS" };
	size_t i;

	for (i = 0; i < nitems(names); i++)
		if (getenv(names[i]) != NULL)
			strv_setenv(env, names[i], getenv(names[i]));
}

static noreturn_fn void
run_child(const struct strv *argv, const struct strv *env, int log,
    const int fds[], size_t n)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int high[FDS_MAX], keep[FDS_MAX];
	size_t i;

	if (null < 0 || n > FDS_MAX)
		_exit(126);
	/* Clear of those that are filled. */
	for (i = 0; i < n; i++)
		if ((high[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 16)) < 0)
			_exit(126);
	if ((log = fcntl(log, F_DUPFD_CLOEXEC, 16)) < 0 || dup2(null, 0) < 0 ||
	    dup2(null, 1) < 0 || dup2(log, 2) < 0)
		_exit(126);
	for (i = 0; i < n; i++)
		if ((keep[i] = dup2(high[i], ASIDE_FD + (int)i)) < 0)
			_exit(126);
	(void)setsid(); /* a terminal's signals are for the person's program */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	spawn_child_clean(keep, n);
	(void)execve("/proc/self/exe", strv_argv(argv), strv_argv(env));
	_exit(127);
}

pid_t
aside_start(const struct strv *argv, int log, const int fds[], size_t n)
{
	struct strv env = { 0 };
	sigset_t all, old;
	pid_t pid;
	int r;

	clean_env(&env);
	sigfillset(&all); /* no handler of ours may run in the child */
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	pid = fork();
	r = pid < 0 ? -errno : 0;
	if (pid == 0)
		run_child(argv, &env, log, fds, n);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	strv_clear(&env);
	return r < 0 ? r : pid;
}

int
aside_drop_root(void)
{
	if (geteuid() != 0)
		return 0;
	if (setgroups(0, NULL) < 0 ||
	    setresgid(SANDBOX_UID, SANDBOX_UID, SANDBOX_UID) < 0 ||
	    setresuid(SANDBOX_UID, SANDBOX_UID, SANDBOX_UID) < 0)
		return -errno;
	return 0;
}
