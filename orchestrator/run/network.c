#include "common/compat.h"

#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/fdpass.h"
#include "common/log.h"
#include "common/path.h"
#include "orchestrator/egress/refusals.h"
#include "orchestrator/egress/server.h"
#include "orchestrator/run/network.h"
#include "orchestrator/run/settings.h"
#include "orchestrator/run/watch.h"
#include "proto/ipc.h"
#include "sandbox/netns.h"

/* Connections of hosts whose message has not come yet. It is sent at once, so
 * they are few; the oldest makes room. */
#define WAITING 64

struct waiting {
	struct network *n;
	int fd; /* -1: free */
	struct loop_watch *watch;
};

struct network {
	struct run *run;
	struct net_rules rules;
	char *own;
	struct refusals refused;
	struct egress *egress;
	struct loop_watch *turn, *accept;
	int listen_fd;
	struct ipc_file file;
	struct waiting waiting[WAITING];
	unsigned next;
};

/* --- the proxy ----------------------------------------------------------- */

static int
record(void *ctx, const char *worker, const char *act, const char *subject,
    const char *detail, const char *verdict)
{
	struct network *n = ctx;
	struct run *r = n->run;
	char *denied = NULL;
	struct err e;
	int held = 0, rc;

	if (strcmp(act, "network") == 0)
		held =
		    watch_network(r, worker, subject, detail, verdict, &denied);
	rc = audit_write(r->audit, run_now(r), worker, act, subject,
	    held < 0 ? denied : detail, held < 0 ? "deny" : verdict, &e);
	if (held >= 0 && strcmp(verdict, "deny") == 0)
		refusals_note(&n->refused, detail);
	free(denied);
	if (rc < 0)
		log_error("audit: %s", e.text);
	return rc < 0 ? rc : held;
}

static void
turn_cb(int fd unused_arg, unsigned events unused_arg, void *ctx)
{
	struct network *n = ctx;
	struct err e;

	if (egress_turn(n->egress, &e) == 0)
		return;
	log_error("%s", e.text);
	loop_del(n->run->loop, n->turn);
	n->turn = NULL;
}

/* --- from the host ------------------------------------------------------- */

static void
forget(struct waiting *w)
{
	loop_del(w->n->run->loop, w->watch);
	w->watch = NULL;
	fd_close(&w->fd);
}

/* A worker's name, as the host stamped it; its command's socket; a lifeline. */
static int
take(struct network *n, int fd, struct err *e)
{
	char name[PEER_WORKER_MAX + 2];
	int fds[2] = { -1, -1 }, r;
	size_t k = 0;
	ssize_t got = fd_take(fd, name, sizeof name - 1, fds, 2, &k);

	if (got == -EAGAIN)
		return -EAGAIN;
	name[got > 0 ? got : 0] = '\0';
	if (got < 2 || k != 2 || sched_worker(n->run, name) == NULL)
		r = err_set(e, ERR_PROTO, "no worker of this run");
	else if ((r = netns_check(fds[0], e)) == 0)
		r = egress_listen(n->egress, name, fds[0], fds[1], e);
	fd_close(&fds[0]);
	fd_close(&fds[1]);
	return r;
}

static void
waiting_cb(int fd, unsigned events unused_arg, void *ctx)
{
	struct waiting *w = ctx;
	struct err e = { 0 };
	int r = take(w->n, fd, &e);

	if (r == -EAGAIN && e.code == 0)
		return;
	if (r < 0)
		log_warn("the network of a command: %s", e.text);
	forget(w);
}

static void
accept_cb(int fd, unsigned events unused_arg, void *ctx)
{
	struct network *n = ctx;
	struct waiting *w = &n->waiting[n->next++ % WAITING];
	int got = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (got < 0)
		return;
	forget(w);
	w->fd = got;
	w->watch = loop_fd_add(n->run->loop, got, LOOP_IN, waiting_cb, w);
}

/* --- life ---------------------------------------------------------------- */

int
network_create(
    struct run *r, const json_t *network, struct network **ret, struct err *e)
{
	struct network *n = xcalloc(1, sizeof *n);
	size_t i;
	int rc;

	n->run = r;
	n->listen_fd = -1;
	for (i = 0; i < WAITING; i++) {
		n->waiting[i].n = n;
		n->waiting[i].fd = -1;
	}
	rc = settings_in(e, net_rules_settings(&n->rules, network, e));
	if (rc == 0)
		rc = net_rules_strv(&n->rules, &r->o.allow_net, e);
	if (rc < 0 || n->rules.n == 0) {
		network_free(n);
		return rc;
	}
	n->own = net_rules_own(&n->rules);
	*ret = n;
	return 0;
}

static int
start_proxy(struct network *n, struct err *e)
{
	char *path = path_join(store_dir(n->run->store), "host.log");
	int log, r;

	log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (log < 0)
		r = err_set(e, -errno, "%s: %s", path, strerror(errno));
	else
		r = egress_start(&n->rules, log, record, n, &n->egress, e);
	fd_close(&log);
	free(path);
	return r;
}

int
network_start(struct network *n, struct err *e)
{
	char *path;
	int r;

	if (n == NULL)
		return 0;
	if ((r = start_proxy(n, e)) < 0)
		return r;
	n->turn = loop_fd_add(
	    n->run->loop, egress_fd(n->egress), LOOP_IN, turn_cb, n);
	path = hosts_network(n->run->hosts);
	/* As the host's other socket: the directory is what keeps others out.
	 */
	n->listen_fd = ipc_listen(path, 0666, &n->file, e);
	free(path);
	if (n->listen_fd < 0)
		return n->listen_fd;
	n->accept =
	    loop_fd_add(n->run->loop, n->listen_fd, LOOP_IN, accept_cb, n);
	return 0;
}

void
network_stop(struct network *n)
{
	size_t i;

	if (n == NULL)
		return;
	for (i = 0; i < WAITING; i++)
		forget(&n->waiting[i]);
	loop_del(n->run->loop, n->accept);
	loop_del(n->run->loop, n->turn);
	n->accept = n->turn = NULL;
	egress_stop(n->egress);
	n->egress = NULL;
	refusals_say(&n->refused, net_rules_own_name(&n->rules), "foray audit");
	refusals_clear(&n->refused);
	ipc_unlink(&n->file);
	fd_close(&n->listen_fd);
}

void
network_free(struct network *n)
{
	if (n == NULL)
		return;
	network_stop(n);
	net_rules_clear(&n->rules);
	free(n->own);
	free(n);
}

const char *
network_own(const struct network *n)
{
	return n != NULL ? n->own : NULL;
}

const char *
network_own_name(const struct network *n)
{
	return net_rules_own_name(&n->rules);
}

char *
network_hosts(const struct network *n)
{
	struct buf b;
	size_t i;

	buf_init(&b, 4096); /* the rest is left out */
	for (i = 0; n != NULL && i < n->rules.n; i++)
		if (buf_printf(
			&b, "%s%s", i > 0 ? ", " : "", n->rules.v[i].text) < 0)
			break;
	return b.data != NULL ? buf_detach(&b, NULL) : xstrdup("");
}
