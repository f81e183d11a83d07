#include "common/compat.h"

#include "worker/host/check.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "proto/peer.h"
#include "proto/tcp.h"
#include "sandbox/container.h"
#include "sandbox/probe.h"
#include "sandbox/probe_text.h"
#include "worker/host/launch.h"
#include "worker/host/options.h"

#define ANSWER_MS 5000

static struct probe_item
item(const char *name)
{
	struct probe_item it;

	memset(&it, 0, sizeof it);
	it.name = name;
	return it;
}

/* Prints it; true when it is missing. */
static bool
tell(const struct probe_item *it)
{
	probe_print(it);
	return it->state == PROBE_MISSING;
}

/* --- the machine --------------------------------------------------------- */

/* Without these nothing runs; "user namespaces" and the like are only why a
 * sandbox can't be had, and some of them do without. */
static bool
is_needed(const struct probe_item *it, enum sandbox_backend backend)
{
	static const char *const bwrap[] = { "bubblewrap", "nested sandbox" };

	if (strcmp(it->name, "git") == 0 || strcmp(it->name, "workspace") == 0)
		return true;
	if (backend == BACKEND_CONTAINER)
		return strcmp(it->name, "container mode") == 0;
	for (size_t i = 0; i < nitems(bwrap); i++)
		if (strcmp(it->name, bwrap[i]) == 0)
			return true;
	return false;
}

/* Container mode is never missing, it is no help: see probe_container(). */
static bool
lacks(struct probe_item *it, enum sandbox_backend backend)
{
	if (!is_needed(it, backend))
		return false;
	if (backend == BACKEND_CONTAINER &&
	    strcmp(it->name, "container mode") == 0 &&
	    it->state == PROBE_DEGRADED) {
		it->state = PROBE_MISSING;
		cost(it, "no sandbox, so no run");
	}
	return it->state == PROBE_MISSING;
}

static bool
space(const char *scratch)
{
	struct probe_item it = item("disk space");

	probe_space(scratch, "foray-host --scratch DIR, with more room", &it);
	return tell(&it);
}

/* --- the orchestrator ---------------------------------------------------- */

static bool
keys(const struct options *o, struct curve_host *ret)
{
	struct probe_item it = item("keys");
	struct err e;

	if (curve_read_host(o->keys, ret, &e) < 0) {
		it.state = PROBE_MISSING;
		detail(&it, "%s", e.text);
		cost(&it, "no orchestrator takes this host");
		remedy(&it,
		    "`foray keys new NAME` where the orchestrator is makes "
		    "such a directory; copy it with its modes");
	} else {
		detail(&it, "%s in %s", ret->own.public_key, o->keys);
	}
	return tell(&it);
}

/* 0, or why nothing connects there: an errno, or one of getaddrinfo(3). */
static int
try_addresses(const struct addrinfo *a)
{
	int r = EHOSTUNREACH, fd, one;
	socklen_t len = sizeof r;

	for (; a != NULL && r != 0; a = a->ai_next) {
		fd = socket(a->ai_family,
		    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (fd < 0) {
			r = errno;
			continue;
		}
		one = connect(fd, a->ai_addr, a->ai_addrlen);
		r = one < 0 ? errno : 0;
		if (r == EINPROGRESS) {
			struct pollfd p = { .fd = fd, .events = POLLOUT };

			r = ETIMEDOUT;
			if (poll(&p, 1, ANSWER_MS) > 0 &&
			    getsockopt(fd, SOL_SOCKET, SO_ERROR, &r, &len) < 0)
				r = errno;
		}
		fd_close(&fd);
	}
	return r;
}

/* Nobody answers: because of what? Text of static storage. */
static const char *
why_silent(const char *endpoint)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found;
	struct tcp_end at;
	char port[8];
	int r;

	if (tcp_parse(endpoint, false, &at, NULL) < 0)
		return "it is no endpoint";
	(void)snprintf(port, sizeof port, "%u", at.port);
	if ((r = getaddrinfo(at.host, port, &hints, &found)) != 0)
		return gai_strerror(r);
	r = try_addresses(found);
	freeaddrinfo(found);
	return r == 0 ? "something listens, but there is no handshake"
		      : strerror(r);
}

struct answer {
	struct loop *loop;
	int what; /* enum shake; -1: none came */
};

static void
on_link(struct peer *p unused_arg, enum shake what, void *ctx)
{
	struct answer *a = ctx;

	if (what == SHAKE_DOWN) /* it is tried again */
		return;
	a->what = (int)what;
	loop_stop(a->loop, 0);
}

static void
on_msg(struct peer *p unused_arg, const struct peer_addr *from unused_arg,
    const char *worker unused_arg, const struct msg *m unused_arg,
    const void *raw unused_arg, size_t len unused_arg, void *ctx unused_arg)
{
	/* We have said nothing that would be answered. */
}

static void
on_time(void *ctx)
{
	struct answer *a = ctx;

	loop_stop(a->loop, 0);
}

/* enum shake, -1 for silence, or ERR_x. */
static int
shake_hands(const char *endpoint, const struct curve_host *with, struct err *e)
{
	const struct peer_ops ops = { .on_msg = on_msg,
		.on_link = on_link,
		.accept_from = 1u << ROLE_ORCH };
	struct answer a = { .loop = loop_create(), .what = -1 };
	struct peer *p = NULL;
	void *zctx = zmq_ctx_new();

	if (zctx == NULL ||
	    peer_connect_tcp(a.loop, zctx, endpoint, with, &ops, &a, &p, e) <
		0) {
		if (zctx == NULL)
			err_set(e, -errno, "zmq: %s", zmq_strerror(errno));
		a.what = -2;
	} else {
		loop_timer_add(a.loop, ANSWER_MS, 0, on_time, &a);
		(void)loop_run(a.loop);
	}
	peer_free(p);
	loop_free(a.loop);
	if (zctx != NULL)
		(void)zmq_ctx_term(zctx);
	return a.what;
}

static void
tcp_endpoint(const struct options *o, const struct curve_host *with,
    struct probe_item *it)
{
	struct err e;
	int r = shake_hands(o->connect, with, &e);

	switch (r) {
	case SHAKE_UP:
		detail(it, "%s answers%s", o->connect,
		    with != NULL ? " and takes our key" : "");
		return;
	case SHAKE_REFUSED:
		detail(it, "%s refuses our key", o->connect);
		remedy(it, "there: foray keys allow NAME '%s'",
		    with != NULL ? with->own.public_key : "");
		break;
	case SHAKE_FAILED:
	case SHAKE_CUT:
		detail(it, "%s: no handshake%s", o->connect,
		    r == SHAKE_CUT ? ", the connection ends before" : "");
		remedy(it,
		    "%s of that orchestrator (foray keys new), or the right "
		    "endpoint: it is no orchestrator, or another one",
		    with != NULL ? "a server.pub" : "--keys with the keys");
		break;
	case -1:
		detail(it, "%s: %s", o->connect, why_silent(o->connect));
		remedy(it,
		    "`foray run --listen` there, an address that this machine "
		    "can reach, and a port that no firewall closes. A host may "
		    "also be started first: it waits");
		break;
	default:
		detail(it, "%s", e.text);
		break;
	}
	it->state = PROBE_MISSING;
	cost(it, "no work comes from there");
}

static void
ipc_endpoint(const struct options *o, struct probe_item *it)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const char *path = o->connect + strlen("ipc://");
	int fd = -1, r = 0;

	if (strlcpy(a.sun_path, path, sizeof a.sun_path) >= sizeof a.sun_path)
		r = ENAMETOOLONG;
	else if ((fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) < 0 ||
	    connect(fd, (struct sockaddr *)&a, sizeof a) < 0)
		r = errno;
	fd_close(&fd);
	detail(it, "%s: %s", path, r == 0 ? "somebody listens" : strerror(r));
	if (r == 0)
		return;
	it->state = PROBE_MISSING;
	cost(it, "no work comes from there");
	remedy(it, "the path of a foray run that goes on");
}

static bool
orchestrator(const struct options *o)
{
	struct probe_item it = item("orchestrator");
	bool tcp = tcp_is(o->connect);
	struct curve_host with;

	memset(&with, 0, sizeof with);

	if (tcp && o->keys != NULL && keys(o, &with))
		return true;
	if (tcp)
		tcp_endpoint(o, o->keys != NULL ? &with : NULL, &it);
	else
		ipc_endpoint(o, &it);
	curve_forget(&with.own);
	return tell(&it);
}

/* --- all of it ----------------------------------------------------------- */

static int
find_scratch(const struct options *o, char **ret, struct err *e)
{
	char *cache = NULL;
	int r = 0;

	if (o->scratch != NULL) {
		*ret = xstrdup(o->scratch);
		return 0;
	}
	if (o->cache != NULL)
		cache = xstrdup(o->cache);
	else if (o->backend == BACKEND_CONTAINER)
		r = container_cache(&cache, e);
	else
		r = path_cache_dir(&cache, e);
	if (r == 0)
		*ret = path_join(cache, "scratch");
	free(cache);
	return r;
}

int
check_machine(const struct options *o)
{
	struct probe_item items[PROBE_MAX], it;
	size_t i, n, missing = 0;
	bool alone = false; /* no way to an orchestrator */
	struct curve_host with;
	char *scratch = NULL;
	struct err e;

	if (find_scratch(o, &scratch, &e) < 0) {
		it = item("cache directory");
		it.state = PROBE_MISSING;
		detail(&it, "%s", e.text);
		remedy(&it, "foray-host --cache DIR");
		missing += tell(&it);
		scratch = xstrdup("/nonexistent/scratch");
	}
	n = probe_all(scratch, items);
	for (i = 0; i < n; i++) {
		missing += lacks(&items[i], o->backend);
		probe_print(&items[i]);
	}
	missing += space(scratch);
	probe_program("foray-worker", &it);
	missing += tell(&it);
	if (o->connect != NULL)
		alone = orchestrator(o);
	else if (o->keys != NULL) {
		alone = keys(o, &with);
		curve_forget(&with.own);
	}
	free(scratch);
	if (missing == 0)
		(void)printf("\nworkers can run here%s%s\n",
		    geteuid() == 0 ? " (started as root: under an "
				     "unprivileged uid)"
				   : "",
		    alone ? ", but no work would come to them: see MISSING "
			    "above"
			  : "");
	else
		(void)printf("\nworkers can't run here: %zu of what they need "
			     "%s missing, see MISSING above\n",
		    missing, missing == 1 ? "is" : "are");
	if (fflush(stdout) == EOF)
		return 1;
	return missing > 0 ? EXIT_SANDBOX : alone ? EXIT_REFUSED : 0;
}
