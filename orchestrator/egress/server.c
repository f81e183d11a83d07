#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/fdpass.h"
#include "common/log.h"
#include "common/loop.h"
#include "orchestrator/aside/aside.h"
#include "orchestrator/egress/control.h"
#include "orchestrator/egress/proxy.h"
#include "orchestrator/egress/server.h"

#define CONTROL_FD ASIDE_FD
#define NOTES_A_TURN 64
#define STOP_MS 2000

struct egress {
	pid_t pid;
	int control;
	egress_record record;
	void *ctx;
	bool stopping; /* nothing is answered any more */
};

/* --- the process --------------------------------------------------------- */

void
egress_main(int argc, char **argv)
{
	struct pollfd p = { .fd = CONTROL_FD };
	struct net_rules rules = { 0 };
	struct err e;
	int i, r;

	if (fd_cloexec(CONTROL_FD, true) < 0)
		fatal("this is not a command for people");
	(void)prctl(PR_SET_NAME, "foray-egress", 0, 0, 0);
	for (i = 1; i < argc; i++)
		if (net_rules_add(&rules, argv[i], &e) < 0)
			fatal("%s", e.text);
	if ((r = aside_drop_root()) < 0)
		fatal("egress-proxy: %s", err_str(r));
	/* After the change of uid, which clears it; and it may be too late. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		fatal("prctl: %s", strerror(errno));
	if (poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR)) != 0)
		_exit(0);
	/* Without exit(3): lookups may be under way. */
	_exit(proxy_run(CONTROL_FD, &rules));
}

int
egress_start(const struct net_rules *rules, int log_fd, egress_record record,
    void *ctx, struct egress **ret, struct err *e)
{
	struct strv argv = { 0 };
	int pair[2];
	struct egress *eg;
	size_t i;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_set(e, -errno, "socketpair: %s", strerror(errno));
	strv_addl(&argv, "foray", "egress-proxy", (char *)NULL);
	for (i = 0; i < rules->n; i++)
		strv_add(&argv, rules->v[i].text);
	pid = aside_start(&argv, log_fd, &pair[1], 1);
	fd_close(&pair[1]);
	strv_clear(&argv);
	if (pid < 0) {
		fd_close(&pair[0]);
		return err_set(e, (int)pid, "fork: %s", err_str((int)pid));
	}
	(void)fd_nonblock(pair[0], true);
	eg = xcalloc(1, sizeof *eg);
	eg->pid = pid;
	eg->control = pair[0];
	eg->record = record;
	eg->ctx = ctx;
	*ret = eg;
	return 0;
}

/* --- what it says -------------------------------------------------------- */

int
egress_fd(const struct egress *eg)
{
	return eg->control;
}

static int
answer(struct egress *eg, uint64_t id, int recorded)
{
	struct order o = { .kind = ORDER_ANSWER,
		.ok = recorded >= 0,
		.denied = recorded == ERR_DENIED,
		.id = id };
	struct pollfd p = { .fd = eg->control, .events = POLLOUT };
	int r = fd_pass(eg->control, &o, sizeof o, NULL, 0);

	/* It reads at all times, and has few questions open. */
	if (r == -EAGAIN && poll(&p, 1, 1000) > 0)
		r = fd_pass(eg->control, &o, sizeof o, NULL, 0);
	return r;
}

static int
take_note(struct egress *eg, struct note *n)
{
	bool end = n->kind == NOTE_END;
	int r;

	n->worker[sizeof n->worker - 1] = '\0';
	n->subject[sizeof n->subject - 1] = '\0';
	n->detail[sizeof n->detail - 1] = '\0';
	r = eg->record(eg->ctx, n->worker, end ? "network_end" : "network",
	    n->subject, n->detail, n->deny ? "deny" : "allow");
	return end || eg->stopping ? 0 : answer(eg, n->id, r);
}

int
egress_turn(struct egress *eg, struct err *e)
{
	struct note n;
	ssize_t got;
	int i, r;

	for (i = 0; i < NOTES_A_TURN; i++) {
		got = recv(eg->control, &n, sizeof n, MSG_DONTWAIT);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return 0;
		if (got != (ssize_t)sizeof n)
			return err_set(e, -EPIPE,
			    "the proxy to the allowed hosts is gone: there is "
			    "no network any more");
		if ((r = take_note(eg, &n)) < 0)
			return err_set(
			    e, r, "the proxy does not listen: %s", err_str(r));
	}
	return 0;
}

int
egress_listen(struct egress *eg, const char *worker, int listen_fd,
    int lifeline, struct err *e)
{
	struct order o = { .kind = ORDER_LISTEN };
	const int fds[] = { listen_fd, lifeline };
	int r;

	if (strlcpy(o.worker, worker, sizeof o.worker) >= sizeof o.worker)
		return err_set(e, ERR_LIMIT, "a worker's name is too long");
	r = fd_pass(eg->control, &o, sizeof o, fds, lifeline >= 0 ? 2 : 1);
	if (r < 0)
		return err_set(
		    e, r, "the proxy to the allowed hosts: %s", err_str(r));
	return 0;
}

void
egress_stop(struct egress *eg)
{
	struct pollfd p;
	uint64_t end, now;

	if (eg == NULL)
		return;
	p = (struct pollfd){ .fd = eg->control, .events = POLLIN };
	end = loop_now_ms() + STOP_MS;
	eg->stopping = true;
	(void)shutdown(eg->control, SHUT_WR);
	while ((now = loop_now_ms()) < end) {
		if (poll(&p, 1, (int)(end - now)) > 0 &&
		    egress_turn(eg, NULL) < 0)
			break;
	}
	(void)kill(eg->pid, SIGKILL);
	while (waitpid(eg->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	fd_close(&eg->control);
	free(eg);
}
