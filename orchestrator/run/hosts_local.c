/* hosts_local.c - the foray-host of this machine, which we start ourselves. */
#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/spawn.h"
#include "orchestrator/run/hosts_priv.h"
#include "sandbox/cgroup.h"

#define MAX_RESTARTS 3
#define LIFELINE_FD 3

/* No key of the caller's environment goes further than this process. */
static void
host_env(struct strv *env)
{
	static const char *const names[] = { "PATH", "HOME", "USER", "LOGNAME",
		"LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TERM",
		"XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME",
		"XDG_RUNTIME_DIR", "FORAY_LABELS", "FORAY_LOG", "PYENV_ROOT",
		"PYENV_VERSION", "NVM_DIR", "CARGO_HOME", "RUSTUP_HOME",
		"GOPATH", "GOROOT", "JAVA_HOME", "VIRTUAL_ENV", "FORAY_DEBUG",
		"FORAY_LAYOUT", "FORAY_SPARES", "ASAN_OPTIONS", "UBSAN_OPTIONS",
		"LSAN_OPTIONS" };
	size_t i;

	for (i = 0; i < nitems(names); i++)
		if (getenv(names[i]) != NULL)
			strv_setenv(env, names[i], getenv(names[i]));
}

static noreturn_fn void
run_host(const char *path, const struct strv *argv, const struct strv *env,
    int lifeline, int log)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), life;
	const int keep[] = { LIFELINE_FD };

	/* Clear of 0..3 before they are filled. */
	life = fcntl(lifeline, F_DUPFD_CLOEXEC, 16);
	if (null < 0 || life < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
	    dup2(log, 2) < 0 || dup2(life, LIFELINE_FD) < 0)
		_exit(126);
	(void)setsid();
	spawn_child_clean(keep, nitems(keep));
	(void)execve(path, strv_argv(argv), strv_argv(env));
	_exit(127);
}

static void on_host_exit(pid_t pid, int status, void *ctx);

int
hosts_start_local(struct hosts *hs, struct err *e)
{
	struct strv argv = { 0 }, env = { 0 };
	char *path = NULL;
	int pipe[2] = { -1, -1 }, log = -1, r;
	pid_t pid;

	if ((r = path_program("foray-host", &path, e)) < 0)
		goto out;
	if ((r = fd_pipe(pipe)) < 0) {
		err_set(e, r, "pipe: %s", err_str(r));
		goto out;
	}
	log = open(hs->o.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (log < 0) {
		r = err_set(e, -errno, "%s: %s", hs->o.log, strerror(errno));
		goto out;
	}
	strv_addl(&argv, "foray-host", "--connect", hs->endpoint, "--scratch",
	    hs->o.scratch, "--cache", hs->o.cache, (char *)NULL);
	strv_addf(&argv, "--slots=%u", hs->o.slots);
	strv_addf(&argv, "--lifeline-fd=%d", LIFELINE_FD);
	if (hs->o.profile != NULL)
		strv_addf(&argv, "--profile=%s", hs->o.profile);
	if (hs->o.backend != BACKEND_BWRAP)
		strv_addf(&argv, "--sandbox=%s", backend_str(hs->o.backend));
	if (hs->o.network) {
		char *network = hosts_network(hs);

		strv_addf(&argv, "--network=%s", network);
		if (hs->o.own_hosts != NULL)
			strv_addf(&argv, "--own-hosts=%s", hs->o.own_hosts);
		free(network);
	}
	host_env(&env);
	if ((pid = fork()) < 0) {
		r = err_set(e, -errno, "fork: %s", strerror(errno));
		goto out;
	}
	if (pid == 0)
		run_host(path, &argv, &env, pipe[0], log);
	hs->pid = pid;
	fd_close(&hs->lifeline);
	hs->lifeline = pipe[1];
	pipe[1] = -1;
	hs->child = loop_child_add(hs->loop, pid, on_host_exit, hs);
out:
	fd_close(&pipe[0]);
	fd_close(&pipe[1]);
	fd_close(&log);
	strv_clear(&argv);
	strv_clear(&env);
	free(path);
	return r;
}

/* The last lines of the host's log, for the error. */
static char *
log_tail(const struct hosts *hs)
{
	struct buf b;
	const char *s;
	char *ret;

	buf_init(&b, 1 << 20);
	(void)file_read(hs->o.log, true, &b, NULL);
	s = buf_str(&b);
	if (b.len > 800)
		s += b.len - 800;
	ret = xstrdup(s);
	for (size_t n = strlen(ret); n > 0 && ret[n - 1] == '\n'; n--)
		ret[n - 1] = '\0';
	buf_clear(&b);
	return ret;
}

static void
on_host_exit(pid_t pid unused_arg, int status, void *ctx)
{
	struct hosts *hs = ctx;
	struct host *h;
	int code = spawn_status(status);
	char *tail, *why;
	struct err e = { 0 };

	hs->pid = 0;
	hs->child = NULL;
	/* Its launcher removes them, unless it was killed, too. */
	cgroup_sweep();
	if (hs->stopping)
		return;
	tail = log_tail(hs);
	why = xasprintf("foray-host ended with status %d%s%s", code,
	    *tail != '\0' ? ": " : "", tail);
	if (code == 4 || ++hs->restarts > MAX_RESTARTS)
		code = code == 4 ? 4 : 5;
	else
		code = hosts_start_local(hs, &e) < 0 ? 5 : 0;
	TAILQ_FOREACH (h, &hs->list, entry)
		if (!h->is_remote)
			break;
	if (h != NULL)
		hosts_lose(h, why, code);
	else if (code != 0)
		hs->ops->down(NULL, why, code, hs->ctx);
	free(tail);
	free(why);
}
