#include "common/compat.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/fdpass.h"
#include "common/loop.h"
#include "common/spawn.h"
#include "sandbox/netns.h"

#define WAIT_MS 10000
#define BACKLOG 511

/* What the child reports: the socket, or the step that failed. */
struct report {
	int error;
	char step[32];
};

/* --- in the child: async-signal-safe only -------------------------------- */

static int
enter_and_listen(
    int user_fd, int net_fd, uint16_t port, int *ret_fd, const char **ret_step)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	int fd, one = 1;

	sin.sin_port = htons(port);
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*ret_step = "enter its user namespace";
	if (setns(user_fd, CLONE_NEWUSER) < 0)
		return -errno;
	*ret_step = "enter its network";
	if (setns(net_fd, CLONE_NEWNET) < 0)
		return -errno;
	*ret_step = "make a socket";
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* Its loopback may not be up yet. */
	*ret_step = "bind";
	if (setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &one, sizeof one) < 0 ||
	    bind(fd, (const struct sockaddr *)&sin, sizeof sin) < 0)
		return -errno;
	*ret_step = "listen";
	if (listen(fd, BACKLOG) < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

static void child(
    int user_fd, int net_fd, int report_fd, uint16_t port) noreturn_fn;

static void
child(int user_fd, int net_fd, int report_fd, uint16_t port)
{
	const int keep[] = { user_fd, net_fd, report_fd };
	struct report rep;
	const char *step;
	int fd = -1;

	memset(&rep, 0, sizeof rep);
	spawn_child_clean(keep, nitems(keep));
	rep.error = -enter_and_listen(user_fd, net_fd, port, &fd, &step);
	for (size_t i = 0; i + 1 < sizeof rep.step && step[i] != '\0'; i++)
		rep.step[i] = step[i];
	(void)fd_pass(report_fd, &rep, sizeof rep, &fd, rep.error == 0);
	_exit(0);
}

/* --- outside ------------------------------------------------------------- */

static int
open_namespaces(int pidfd, pid_t pid, int *ret_user, int *ret_net)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	char path[64];

	(void)snprintf(path, sizeof path, "/proc/%d/ns/net", (int)pid);
	*ret_net = open(path, O_RDONLY | O_CLOEXEC);
	if (*ret_net < 0)
		return -errno;
	/* It lives, so the number was its own when we opened. */
	if (poll(&p, 1, 0) != 0)
		return -ESRCH;
	/* Not the process's own user namespace: bwrap may have entered another
	 * one below that (--disable-userns), which has no right here. */
	*ret_user = ioctl(*ret_net, NS_GET_USERNS);
	return *ret_user < 0 ? -errno : 0;
}

static int
take_report(int fd, int *ret_fd, struct err *e)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t end = loop_now_ms() + WAIT_MS, now;
	struct report rep;
	size_t n = 0;
	ssize_t got = 0;

	while ((now = loop_now_ms()) < end && p.revents == 0)
		(void)poll(&p, 1, (int)(end - now));
	if (p.revents != 0)
		got = fd_take(fd, &rep, sizeof rep, ret_fd, 1, &n);
	if (got != (ssize_t)sizeof rep)
		return err_set(e, ERR_SANDBOX,
		    "the sandbox's network: no answer from the child that "
		    "enters it");
	if (rep.error == 0 && n == 1)
		return 0;
	return err_set(e, ERR_SANDBOX, "the sandbox's network: %.*s: %s",
	    (int)sizeof rep.step, rep.step, strerror(rep.error));
}

int
netns_listen(int pidfd, pid_t pid, uint16_t port, int *ret_fd, struct err *e)
{
	int user_fd = -1, net_fd = -1, report[2] = { -1, -1 }, r;
	sigset_t all, old;
	pid_t kid = -1;

	if ((r = open_namespaces(pidfd, pid, &user_fd, &net_fd)) < 0) {
		r = err_set(
		    e, ERR_SANDBOX, "the sandbox's network: %s", strerror(-r));
		goto out;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, report) < 0) {
		r = err_set(e, ERR_SANDBOX, "socketpair: %s", strerror(errno));
		goto out;
	}
	/* No handler of ours may run in the child. */
	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	kid = fork();
	if (kid == 0)
		child(user_fd, net_fd, report[1], port);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (kid < 0) {
		r = err_set(e, ERR_SANDBOX, "fork: %s", strerror(errno));
		goto out;
	}
	fd_close(&report[1]);
	r = take_report(report[0], ret_fd, e);
	(void)kill(kid, SIGKILL); /* it has reported, or it hangs */
	while (waitpid(kid, NULL, 0) < 0 && errno == EINTR)
		continue;
out:
	fd_close(&user_fd);
	fd_close(&net_fd);
	fd_close(&report[0]);
	fd_close(&report[1]);
	return r;
}

void
netns_proxy_env(struct strv *env, const char *own)
{
	static const char *const http[] = { "http_proxy", "https_proxy",
		"HTTP_PROXY", "HTTPS_PROXY" };
	static const char *const none[] = { "no_proxy", "NO_PROXY" };
	char url[64];

	(void)snprintf(url, sizeof url, "http://127.0.0.1:%d", NETNS_PORT);
	for (size_t i = 0; i < nitems(http); i++)
		strv_setenv(env, http[i], url);
	/* No all_proxy: who heeds it alone is rare, and a program that can't
	 * speak its scheme (httpx, SOCKS) would not start. */
	for (size_t i = 0; i < nitems(none); i++)
		strv_setenv(env, none[i], own != NULL ? own : NETNS_OWN);
	strv_setenv(env, "NODE_USE_ENV_PROXY", "1"); /* it asks to be told */
}

static int
option(int fd, int name)
{
	int v = -1;
	socklen_t len = sizeof v;

	return getsockopt(fd, SOL_SOCKET, name, &v, &len) == 0 ? v : -1;
}

int
netns_check(int fd, struct err *e)
{
	if (option(fd, SO_ACCEPTCONN) == 1 &&
	    option(fd, SO_DOMAIN) == AF_INET &&
	    option(fd, SO_TYPE) == SOCK_STREAM &&
	    option(fd, SO_PROTOCOL) == IPPROTO_TCP)
		return 0;
	return err_set(e, ERR_DENIED, "it is no listening TCP socket");
}
