#include "common/compat.h"

#include <sys/prctl.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/spawn.h"
#include "common/text.h"
#include "orchestrator/run/hosts_priv.h"
#include "sandbox/cgroup.h"
#include "sandbox/lockdir.h"
#include "sandbox/stage.h"

#define TICK_MS 1000
#define LOST_AFTER_MS 10000
#define CUT_MS 3000    /* to connect again */
#define STARTS_LEAST 4 /* workers that a host starts at once */
#define SOCKET_DIR "foray-socket-"

const char *
host_name(const struct host *h)
{
	return h->name;
}

bool
host_fits(const struct host *h)
{
	return placing_fits(&h->place, &h->all->o.want);
}

void
hosts_figures(const struct hosts *hs, struct hosts_figures *ret)
{
	const struct host *h;

	*ret = (struct hosts_figures){ 0 };
	if (hs == NULL) /* at its end, while the last hook runs */
		return;
	ret->bad = hs->bad;
	TAILQ_FOREACH (h, &hs->list, entry) {
		ret->ready += !h->place.draining;
		ret->draining += h->place.draining;
		ret->slots += h->place.slots;
		ret->busy += h->place.busy;
		ret->soon += host_fits(h) && !host_is_aside(h)
		    ? placing_soon(&h->place)
		    : 0;
	}
}

unsigned
host_slots(const struct host *h)
{
	return h->place.slots;
}

bool
host_is_draining(const struct host *h)
{
	return h->place.draining;
}

const char *
host_address(const struct host *h)
{
	return h->is_remote ? h->address : NULL;
}

const char *
host_key(const struct host *h)
{
	return h->is_remote ? h->key : NULL;
}

bool
hosts_any(const struct hosts *hs)
{
	return !TAILQ_EMPTY(&hs->list);
}

bool
hosts_own_runs(const struct hosts *hs)
{
	return hs->pid != 0;
}

bool
hosts_any_fits(const struct hosts *hs)
{
	const struct host *h;

	TAILQ_FOREACH (h, &hs->list, entry)
		if (host_fits(h) && !host_is_aside(h))
			return true;
	return false;
}

enum sandbox_backend
host_backend(const struct host *h)
{
	return h->backend;
}

static enum sandbox_backend
backend_of(const struct msg_hello *m)
{
	for (size_t i = 0; i < m->features.n; i++)
		if (strcmp(m->features.v[i], "container") == 0)
			return BACKEND_CONTAINER;
	return BACKEND_BWRAP;
}

static struct host *
find_host(struct hosts *hs, const struct peer_addr *addr)
{
	struct host *h;

	TAILQ_FOREACH (h, &hs->list, entry)
		if (!h->is_remote && peer_addr_eq(&h->addr, addr))
			return h;
	return NULL;
}

static void
free_host(struct host *h)
{
	strv_clear(&h->place.labels);
	strv_clear(&h->ghosts);
	free(h);
}

void
hosts_lose(struct host *h, const char *why, int fatal_code)
{
	struct hosts *hs = h->all;

	TAILQ_REMOVE(&hs->list, h, entry);
	if (h->remote != NULL)
		h->remote->host = NULL;
	if (!hs->stopping)
		hs->ops->down(h, why, fatal_code, hs->ctx);
	free_host(h);
}

static const char *
refusal(
    const struct hosts *hs, const struct origin *o, const struct msg_hello *m)
{
	if (m->protocol != PROTO_VERSION)
		return "foray-host speaks another protocol version: install "
		       "the same release on both sides";
	if (backend_of(m) != BACKEND_BWRAP && hs->o.backend == BACKEND_BWRAP)
		return "this host runs workers with --sandbox container, which "
		       "is weaker than what the run was started with";
	return o->remote != NULL ? remote_refusal(hs, o->remote, m) : NULL;
}

/* Two machines may have the same: which one is meant has to be clear. */
static void
tell_apart(struct hosts *hs, struct host *h)
{
	char name[sizeof h->name], number[16];
	const struct host *o;
	unsigned n = 1;

	memcpy(name, h->name, sizeof name);
	do {
		TAILQ_FOREACH (o, &hs->list, entry)
			if (strcmp(o->name, h->name) == 0)
				break;
		if (o == NULL)
			break;
		(void)snprintf(number, sizeof number, "#%u", ++n);
		name[text_cut(name, strlen(name),
		    sizeof name - 1 - strlen(number))] = '\0';
		(void)snprintf(h->name, sizeof h->name, "%s%s", name, number);
	} while (true);
	if (n > 1)
		log_info("another host is called %s: the one at %s is %s here "
			 "(foray-host --name)",
		    name, h->is_remote ? h->address : "this machine", h->name);
}

static void
add_host(struct hosts *hs, const struct origin *o, const struct msg_hello *m)
{
	struct host *h = xcalloc(1, sizeof *h);
	const char *name = msg_str(m->name);
	struct buf b;

	h->all = hs;
	if (o->remote != NULL) {
		h->is_remote = true;
		h->remote = o->remote;
		o->remote->host = h;
		(void)strlcpy(
		    h->address, o->remote->address, sizeof h->address);
		(void)strlcpy(h->key, o->remote->key, sizeof h->key);
	} else {
		h->addr = *o->from;
	}
	/* It is shown on a terminal. */
	buf_init(&b, sizeof h->name * 4);
	(void)text_escape(&b, name, strlen(name));
	(void)snprintf(h->name, sizeof h->name, "%.*s",
	    (int)text_cut(buf_str(&b), b.len, sizeof h->name - 1),
	    b.len > 0 ? buf_str(&b) : "?");
	buf_clear(&b);
	tell_apart(hs, h);
	(void)strlcpy(h->instance, msg_str(m->instance), sizeof h->instance);
	h->place.slots = (unsigned)m->slots;
	h->place.memory_mib = m->memory_mib;
	if (!h->is_remote && hs->o.judging < h->place.slots)
		h->place.judging = hs->o.judging;
	/* It has our cache, or gets what it lacks. */
	h->place.has_snapshot = true;
	for (size_t i = 0; i < m->labels.n; i++)
		strv_add(&h->place.labels, m->labels.v[i]);
	h->cpus = m->cpus != 0 ? (unsigned)m->cpus : 1;
	h->place.at_once = h->cpus > 2 ? 2 * h->cpus : STARTS_LEAST;
	h->seen_ms = h->strays_ms = loop_now_ms();
	h->backend = backend_of(m);
	hosts_was_faulty(h);
	TAILQ_INSERT_TAIL(&hs->list, h, entry);
	/* Given up long ago, or by an orchestrator before us. */
	for (size_t i = 0; i < m->workers.n; i++)
		hosts_ghost(h, m->workers.v[i]);
	hs->ops->up(h, hs->ctx);
}

/* For good: what has begun to drain ends. */
static void
set_draining(struct host *h)
{
	if (!h->place.draining)
		log_info("host %s is draining", h->name);
	h->place.draining = true;
}

void
hosts_hello(struct hosts *hs, const struct origin *o, const struct msg_hello *m)
{
	struct msg w = { .type = MSG_WELCOME };
	struct err e = { 0 };
	struct host *known =
	    o->remote != NULL ? o->remote->host : find_host(hs, o->from);
	int r;

	w.u.welcome.protocol = PROTO_VERSION;
	w.u.welcome.run = hs->o.run;
	w.u.welcome.refused = refusal(hs, o, m);
	r = o->remote != NULL ? remote_send(o->remote, NULL, &w, &e)
			      : peer_send(hs->peer, o->from, NULL, &w, &e);
	if (r < 0) {
		log_warn("host: %s", e.text);
		return;
	}
	if (w.u.welcome.refused != NULL && o->remote != NULL &&
	    o->remote->doomed == NULL)
		o->remote->doomed = xstrdup(w.u.welcome.refused);
	if (w.u.welcome.refused != NULL)
		return;
	if (known == NULL && o->remote != NULL &&
	    remote_rejoin(hs, o->remote, m))
		known = o->remote->host;
	if (known == NULL && !m->draining) /* else it has nothing to offer */
		add_host(hs, o, m);
	else if (known != NULL && m->draining)
		set_draining(known);
}

void
hosts_take(struct host *h, const char *worker, const struct msg *m)
{
	const struct hosts *hs = h->all;
	bool again = hosts_is_silent(h);

	h->seen_ms = loop_now_ms();
	h->spoken = true;
	if (m->type == MSG_HEARTBEAT && h->place.full) {
		h->place.full = false;
		again = true;
	}
	if (again)
		hs->ops->room(hs->ctx);
	if (m->type == MSG_NEED)
		hs->ops->need(h, &m->u.need, hs->ctx);
	else if (m->type != MSG_HEARTBEAT && *worker != '\0')
		hs->ops->msg(h, worker, m, hs->ctx);
}

static void
on_msg(struct peer *p unused_arg, const struct peer_addr *from,
    const char *worker, const struct msg *m, const void *raw unused_arg,
    size_t raw_len unused_arg, void *ctx)
{
	struct hosts *hs = ctx;
	struct host *h;

	if (hs->stopping)
		return;
	if (m->type == MSG_HELLO) {
		hosts_hello(hs, &(struct origin){ .from = from }, &m->u.hello);
		return;
	}
	/* A host that never said HELLO has no say. */
	if ((h = find_host(hs, from)) == NULL)
		return;
	hosts_take(h, worker, m);
}

static void
on_bad(struct peer *p unused_arg, const struct peer_addr *from unused_arg,
    const char *worker, const struct err *why, void *ctx)
{
	struct hosts *hs = ctx;

	hs->bad++;
	log_warn("host: bad message (worker \"%s\"): %s", worker, why->text);
}

static const struct peer_ops peer_ops = {
	.on_msg = on_msg,
	.on_bad = on_bad,
	.accept_from = 1u << ROLE_HOST | 1u << ROLE_WORKER,
};

/* We did not run: what hosts said meanwhile is still to be read. */
static void
forgive(struct hosts *hs, uint64_t ms)
{
	struct host *h;

	TAILQ_FOREACH (h, &hs->list, entry) {
		h->seen_ms += ms;
		h->cut_ms += ms;
	}
}

static void
on_tick(void *ctx)
{
	struct hosts *hs = ctx;
	struct host *h, *next;
	uint64_t now = loop_now_ms();

	if (now - hs->tick_ms > 2 * TICK_MS)
		forgive(hs, now - hs->tick_ms - TICK_MS);
	hs->tick_ms = now;
	TAILQ_FOREACH_SAFE (h, &hs->list, entry, next) {
		if (h->place.draining && h->place.busy == 0)
			hosts_lose(h, "it was drained", 0);
		else if (now > h->seen_ms + LOST_AFTER_MS)
			hosts_lose(h, "no heartbeat for 10 s", 0);
		else if (h->is_remote && h->remote == NULL &&
		    now > h->cut_ms + CUT_MS)
			hosts_lose(h, "its connection was cut 3 s ago", 0);
		else if (hosts_aside_over(h))
			hs->ops->room(hs->ctx);
	}
}

static int
make_socket_dir(struct hosts *hs, struct err *e)
{
	const char *base = getenv("XDG_RUNTIME_DIR");
	uid_t uid = stage_uid();
	int r;

	/* Short enough for a socket's name, and ours. */
	if (base == NULL || base[0] != '/' || strlen(base) > 60 ||
	    access(base, W_OK) < 0 || geteuid() == 0)
		base = "/tmp";
	lockdir_sweep(base, SOCKET_DIR);
	if ((r = lockdir_create(base, SOCKET_DIR, &hs->dir, &hs->lock, e)) < 0)
		return r;
	if (uid != geteuid() && chown(hs->dir, uid, uid) < 0)
		return err_set(
		    e, -errno, "chown %s: %s", hs->dir, strerror(errno));
	hs->endpoint = xasprintf("ipc://%s/s", hs->dir);
	return 0;
}

int
hosts_create(struct loop *l, const struct hosts_opts *o,
    const struct hosts_ops *ops, void *ctx, struct hosts **ret, struct err *e)
{
	struct hosts *hs = xcalloc(1, sizeof *hs);
	int r;

	hs->loop = l;
	hs->o = *o;
	hs->ops = ops;
	hs->ctx = ctx;
	hs->lifeline = hs->lock = -1;
	TAILQ_INIT(&hs->list);
	TAILQ_INIT(&hs->remotes);
	if ((hs->zctx = zmq_ctx_new()) == NULL) {
		r = err_set(e, -errno, "zmq: %s", zmq_strerror(errno));
		goto out;
	}
	if ((r = make_socket_dir(hs, e)) < 0)
		goto out;
	/* World-writable in a private directory: as root the host connects
	 * with the unprivileged uid that owns the directory. */
	r = peer_bind(
	    l, hs->zctx, hs->endpoint, true, &peer_ops, hs, &hs->peer, e);
	if (r == 0 && o->listen != NULL)
		r = remote_listen(hs, e);
	if (r == 0)
		hs->tick = loop_timer_add(l, TICK_MS, TICK_MS, on_tick, hs);
	hs->tick_ms = loop_now_ms();
out:
	if (r < 0) {
		hosts_free(hs);
		return r;
	}
	*ret = hs;
	return 0;
}

char *
hosts_network(const struct hosts *hs)
{
	return path_join(hs->dir, "n");
}

void
hosts_stop(struct hosts *hs)
{
	uint64_t end = loop_now_ms() + 1000;

	if (hs == NULL || hs->stopping)
		return;
	hs->stopping = true;
	remote_stop(hs);
	if (hs->pid == 0)
		return;
	/* SIGTERM: it kills its workers and clears its scratch directory. */
	(void)kill(hs->pid, SIGTERM);
	while (hs->pid != 0 && loop_now_ms() < end)
		(void)loop_once(hs->loop, 50);
	if (hs->pid == 0)
		return;
	loop_del(hs->loop, hs->child);
	(void)kill(hs->pid, SIGKILL);
	(void)waitpid(hs->pid, NULL, 0);
	hs->pid = 0;
	cgroup_sweep();
}

void
hosts_free(struct hosts *hs)
{
	struct host *h;

	if (hs == NULL)
		return;
	hosts_stop(hs);
	loop_del(hs->loop, hs->tick);
	peer_free(hs->peer);
	/* The peer is freed at the end of a round. */
	(void)loop_once(hs->loop, 0);
	if (hs->zctx != NULL)
		(void)zmq_ctx_term(hs->zctx);
	while ((h = TAILQ_FIRST(&hs->list)) != NULL) {
		TAILQ_REMOVE(&hs->list, h, entry);
		free_host(h);
	}
	fd_close(&hs->lifeline);
	if (hs->dir != NULL)
		(void)path_rmtree(hs->dir, NULL);
	fd_close(&hs->lock);
	free(hs->dir);
	free(hs->endpoint);
	strv_clear(&hs->dropped);
	strv_clear(&hs->faulty);
	free(hs);
}

void
hosts_drains(struct host *h)
{
	set_draining(h);
}

unsigned
hosts_cpus(const struct hosts *hs)
{
	const struct host *h;
	unsigned n = 0;

	TAILQ_FOREACH (h, &hs->list, entry)
		n += h->cpus;
	return n;
}

int
hosts_send(
    struct host *h, const char *worker, const struct msg *m, struct err *e)
{
	if (!h->is_remote)
		return peer_send(h->all->peer, &h->addr, worker, m, e);
	if (h->remote == NULL)
		return err_set(e, -EHOSTUNREACH, "the host is cut off");
	return remote_send(h->remote, worker, m, e);
}

int
hosts_assign(
    struct host *h, const char *worker, const struct msg *assign, struct err *e)
{
	int r = hosts_send(h, worker, assign, e);

	if (r == 0) {
		h->place.busy++;
		h->place.starting++;
	}
	return r;
}

void
hosts_began(struct host *h)
{
	if (h->place.starting > 0)
		h->place.starting--;
}

void
hosts_release(struct host *h, bool began)
{
	if (!began)
		hosts_began(h);
	if (h->place.busy > 0)
		h->place.busy--;
}
