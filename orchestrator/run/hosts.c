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
#include "orchestrator/run/hosts.h"
#include "sandbox/cgroup.h"
#include "sandbox/lockdir.h"
#include "sandbox/stage.h"

#define LOST_AFTER_MS 10000
#define MAX_RESTARTS 3
#define LIFELINE_FD 3
#define SOCKET_DIR "foray-socket-"

struct host {
	TAILQ_ENTRY(host) entry;
	struct hosts *all;
	struct peer_addr addr;
	char name[256];
	unsigned slots, busy, cpus;
	uint64_t seen_ms;
	enum sandbox_backend backend;
};

TAILQ_HEAD(host_list, host);

struct hosts {
	struct loop *loop;
	void *zctx;
	struct peer *peer;
	struct hosts_opts o;
	const struct hosts_ops *ops;
	void *ctx;
	struct host_list list;
	struct loop_watch *tick;
	char *dir; /* of the socket */
	int lock;  /* held while we live: dir is swept when we are gone */
	char *endpoint;
	pid_t pid; /* of the local foray-host, 0: none */
	struct loop_watch *child;
	int lifeline; /* write end; the host ends when it closes */
	unsigned restarts;
	bool stopping;
};

const char *
host_name(const struct host *h)
{
	return h->name;
}

unsigned
host_cpus(const struct host *h)
{
	return h->cpus;
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
		if (peer_addr_eq(&h->addr, addr))
			return h;
	return NULL;
}

static void
lose_host(struct host *h, const char *why, int fatal_code)
{
	struct hosts *hs = h->all;

	TAILQ_REMOVE(&hs->list, h, entry);
	if (!hs->stopping)
		hs->ops->down(h, why, fatal_code, hs->ctx);
	free(h);
}

static void
on_hello(
    struct hosts *hs, const struct peer_addr *from, const struct msg_hello *m)
{
	struct msg w = { .type = MSG_WELCOME };
	struct host *h = find_host(hs, from);
	struct err e = { 0 };
	bool new = h == NULL;

	w.u.welcome.protocol = PROTO_VERSION;
	w.u.welcome.run = hs->o.run;
	if (m->protocol != PROTO_VERSION)
		w.u.welcome.refused =
		    "foray-host speaks another protocol version: install the "
		    "same release on both sides";
	else if (backend_of(m) != BACKEND_BWRAP &&
	    hs->o.backend == BACKEND_BWRAP)
		w.u.welcome.refused =
		    "this host runs workers with --sandbox container, which "
		    "is weaker than what the run was started with";
	if (peer_send(hs->peer, from, NULL, &w, &e) < 0) {
		log_warn("host: %s", e.text);
		return;
	}
	if (w.u.welcome.refused != NULL || !new)
		return;
	h = xcalloc(1, sizeof *h);
	h->all = hs;
	h->addr = *from;
	(void)strlcpy(h->name, m->name != NULL ? m->name : "?", sizeof h->name);
	h->slots = (unsigned)m->slots;
	h->cpus = m->cpus != 0 ? (unsigned)m->cpus : 1;
	h->seen_ms = loop_now_ms();
	h->backend = backend_of(m);
	TAILQ_INSERT_TAIL(&hs->list, h, entry);
	hs->ops->up(h, hs->ctx);
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
		on_hello(hs, from, &m->u.hello);
		return;
	}
	/* A host that never said HELLO has no say. */
	if ((h = find_host(hs, from)) == NULL)
		return;
	h->seen_ms = loop_now_ms();
	if (m->type == MSG_NEED)
		hs->ops->need(h, &m->u.need, hs->ctx);
	else if (m->type != MSG_HEARTBEAT && *worker != '\0')
		hs->ops->msg(h, worker, m, hs->ctx);
}

static void
on_bad(struct peer *p unused_arg, const struct peer_addr *from unused_arg,
    const char *worker, const struct err *why, void *ctx unused_arg)
{
	log_warn("host: bad message (worker \"%s\"): %s", worker, why->text);
}

static const struct peer_ops peer_ops = {
	.on_msg = on_msg,
	.on_bad = on_bad,
	.accept_from = 1u << ROLE_HOST | 1u << ROLE_WORKER,
};

static void
on_tick(void *ctx)
{
	struct hosts *hs = ctx;
	struct host *h, *next;
	uint64_t now = loop_now_ms();

	TAILQ_FOREACH_SAFE (h, &hs->list, entry, next)
		if (now - h->seen_ms > LOST_AFTER_MS)
			lose_host(h, "no heartbeat for 10 s", 0);
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
	if (r == 0)
		hs->tick = loop_timer_add(l, 1000, 1000, on_tick, hs);
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

/* No key of the caller's environment goes further than this process. */
static void
host_env(struct strv *env)
{
	static const char *const names[] = { "PATH", "HOME", "USER", "LOGNAME",
		"LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TERM",
		"XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME",
		"XDG_RUNTIME_DIR", "PYENV_ROOT", "PYENV_VERSION", "NVM_DIR",
		"CARGO_HOME", "RUSTUP_HOME", "GOPATH", "GOROOT", "JAVA_HOME",
		"VIRTUAL_ENV", "FORAY_DEBUG", "FORAY_LAYOUT", "FORAY_SPARES",
		"ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS" };
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
	if ((h = TAILQ_FIRST(&hs->list)) != NULL)
		lose_host(h, why, code);
	else if (code != 0)
		hs->ops->down(NULL, why, code, hs->ctx);
	free(tail);
	free(why);
}

void
hosts_stop(struct hosts *hs)
{
	uint64_t end = loop_now_ms() + 1000;

	if (hs == NULL || hs->stopping)
		return;
	hs->stopping = true;
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
		free(h);
	}
	fd_close(&hs->lifeline);
	if (hs->dir != NULL)
		(void)path_rmtree(hs->dir, NULL);
	fd_close(&hs->lock);
	free(hs->dir);
	free(hs->endpoint);
	free(hs);
}

struct host *
hosts_free_slot(struct hosts *hs)
{
	struct host *h;

	TAILQ_FOREACH (h, &hs->list, entry)
		if (h->busy < h->slots)
			return h;
	return NULL;
}

int
hosts_send(
    struct host *h, const char *worker, const struct msg *m, struct err *e)
{
	return peer_send(h->all->peer, &h->addr, worker, m, e);
}

int
hosts_assign(
    struct host *h, const char *worker, const struct msg *assign, struct err *e)
{
	int r = hosts_send(h, worker, assign, e);

	if (r == 0)
		h->busy++;
	return r;
}

void
hosts_release(struct host *h)
{
	if (h->busy > 0)
		h->busy--;
}
