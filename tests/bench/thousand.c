/*
 * thousand.c - what one idle worker costs: so many are started by foray-host,
 * each gets a task and waits for the model's answer; then what is left of
 * MemAvailable tells.
 *
 *	thousand N HOST DIR     JSON: workers, kib (each, sandbox and all),
 *	                        group_kib (as their control group counts, or 0)
 *	                        and start_s
 *
 * HOST: the program foray-host. DIR: an empty directory that every uid can
 * reach.
 */
#include "common/compat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include "common/fdio.h"
#include "common/json.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "proto/peer.h"
#include "sandbox/cgroup.h"
#include "sandbox/limits.h"
#include "sandbox/stage.h"

#define SNAPSHOT "0123456789abcdef0123456789abcdef"
#define AT_ONCE 8
#define LIMIT_MS 400000
#define SETTLE_MS 4000

struct bench {
	struct loop *loop;
	struct peer *peer;
	struct peer_addr host;
	bool is_there;
	long n, assigned, ready, waiting, gone;
	bool *asked; /* by number */
	char root[256];
};

static uint64_t
available_kib(void)
{
	uint64_t kib = 0;
	const char *at;
	struct buf b;

	buf_init(&b, 65536);
	if (file_read("/proc/meminfo", false, &b, NULL) == 0 &&
	    (at = strstr(buf_str(&b), "MemAvailable:")) != NULL)
		kib = strtoull(at + strlen("MemAvailable:"), NULL, 10);
	buf_clear(&b);
	return kib;
}

/* What the kernel charges to the host and all below it, its own memory for them
 * included: other programs do not disturb this one. 0: no group. */
static uint64_t
group_kib(pid_t host)
{
	char *prefix = xasprintf("foray-%ld-", (long)host), *path;
	struct cgroup_site s;
	uint64_t kib = 0;
	struct dirent *d;
	struct buf b;
	DIR *p;

	cgroup_find(&s);
	p = s.dir[CGROUP_MEMORY] != NULL ? opendir(s.dir[CGROUP_MEMORY]) : NULL;
	buf_init(&b, 64);
	while (p != NULL && (d = readdir(p)) != NULL) {
		if (!text_starts(d->d_name, prefix))
			continue;
		path = path_joinf(s.dir[CGROUP_MEMORY], "%s/%s", d->d_name,
		    s.kind == CGROUP_V2 ? "memory.current"
					: "memory.usage_in_bytes");
		if (file_read(path, false, &b, NULL) == 0)
			kib = strtoull(buf_str(&b), NULL, 10) >> 10;
		free(path);
	}
	if (p != NULL)
		closedir(p);
	cgroup_site_clear(&s);
	buf_clear(&b);
	free(prefix);
	return kib;
}

static void
say(struct bench *b, const char *worker, const struct msg *m)
{
	struct err e;

	if (peer_send(b->peer, &b->host, worker, m, &e) < 0)
		fatal("%s: %s", msg_name(m->type), e.text);
}

static void
assign(struct bench *b)
{
	struct msg m = { .type = MSG_ASSIGN };
	char name[32];

	while (b->is_there && b->assigned < b->n &&
	    b->assigned - b->ready < AT_ONCE) {
		(void)snprintf(name, sizeof name, "w%ld", ++b->assigned);
		m.u.assign.subtask = "sub";
		m.u.assign.attempt = 1;
		m.u.assign.snapshot = SNAPSHOT;
		m.u.assign.root = b->root;
		m.u.assign.wall_ms = 3600000;
		say(b, name, &m);
	}
}

static void
task(struct bench *b, const char *worker)
{
	struct msg m = { .type = MSG_TASK };

	m.u.task.kind = "explore";
	m.u.task.subtask = "sub";
	m.u.task.attempt = 1;
	m.u.task.system = "You find a bug.";
	m.u.task.prompt = "Find it.";
	m.u.task.call_ms = 1000;
	m.u.task.max_turns = 10;
	say(b, worker, &m);
}

static void
msg_cb(struct peer *p unused_arg, const struct peer_addr *from,
    const char *worker, const struct msg *m, const void *raw unused_arg,
    size_t len unused_arg, void *ctx)
{
	struct msg out = { .type = MSG_WELCOME };
	struct bench *b = ctx;

	b->host = *from;
	if (m->type == MSG_HELLO) {
		out.u.welcome.protocol = PROTO_VERSION;
		out.u.welcome.run = "bench";
		say(b, NULL, &out);
		b->is_there = true;
	} else if (m->type == MSG_READY) {
		b->ready++;
		task(b, worker);
	} else if (m->type == MSG_MODEL && worker[0] != 0) {
		long nr = atol(worker + 1); /* "w12" */

		/* It asks again after a while. */
		if (nr > 0 && nr <= b->n && !b->asked[nr]) {
			b->asked[nr] = true;
			b->waiting++; /* for ever */
		}
	} else if (m->type == MSG_WORKER_EXIT) {
		log_warn("%s: %s: %s", worker, m->u.worker_exit.reason,
		    msg_str(m->u.worker_exit.detail));
		b->gone++;
	}
	assign(b);
}

static const struct peer_ops ops = {
	.on_msg = msg_cb,
	.accept_from = 1u << ROLE_HOST | 1u << ROLE_WORKER,
};

static char *
make_dir(const char *top, const char *name)
{
	char *path = path_join(top, name);
	struct err e;

	if (path_mkdirs(path, 0755, &e) < 0)
		fatal("%s", e.text);
	if (chown(path, stage_uid(), (gid_t)-1) < 0)
		fatal("chown %s: %s", path, strerror(errno));
	return path;
}

static pid_t
start_host(const char *host, const char *top, const char *endpoint, long n)
{
	char *cache = make_dir(top, "cache"), *scratch = make_dir(top, "work");
	char slots[32];
	pid_t pid;

	free(make_dir(top, "cache/snapshots"));
	free(make_dir(top, "cache/snapshots/" SNAPSHOT));
	free(make_dir(top, "cache/snapshots/" SNAPSHOT "/tree"));
	(void)snprintf(slots, sizeof slots, "%ld", n);
	pid = fork();
	if (pid == 0) {
		(void)execl(host, "foray-host", "--connect", endpoint,
		    "--slots", slots, "--spares", "0", "--scratch", scratch,
		    "--cache", cache, (char *)NULL);
		_exit(127);
	}
	free(cache);
	free(scratch);
	return pid;
}

static void
turn(struct bench *b, uint64_t ms)
{
	uint64_t end = loop_now_ms() + ms;

	while (loop_now_ms() < end)
		(void)loop_once(b->loop, 50);
}

int
main(int argc, char **argv)
{
	struct bench b = { 0 };
	uint64_t before, after, start, end;
	char *ipc, *endpoint;
	struct err e;
	void *zctx;
	pid_t pid;

	log_init("bench");
	if (argc != 4 || (b.n = atol(argv[1])) < 1)
		fatal("usage: thousand N HOST DIR");
	limits_raise_nofile();
	b.asked = xcalloc((size_t)b.n + 1, sizeof *b.asked);
	(void)snprintf(b.root, sizeof b.root, "/srv/x%s", argv[3]);
	ipc = make_dir(argv[3], "ipc");
	endpoint = xasprintf("ipc://%s/s", ipc);
	b.loop = loop_create();
	zctx = zmq_ctx_new();
	if (peer_bind(b.loop, zctx, endpoint, true, &ops, &b, &b.peer, &e) < 0)
		fatal("%s", e.text);
	pid = start_host(argv[2], argv[3], endpoint, b.n);
	while (!b.is_there && waitpid(pid, NULL, WNOHANG) == 0)
		(void)loop_once(b.loop, 100);
	turn(&b, 500);
	before = available_kib();
	start = loop_now_ms();
	end = start + LIMIT_MS;
	assign(&b);
	while (b.waiting + b.gone < b.n && loop_now_ms() < end)
		(void)loop_once(b.loop, 100);
	end = loop_now_ms();
	turn(&b, SETTLE_MS);
	after = available_kib();
	printf("{\"workers\": %ld, \"group_kib\": %.1f, \"kib\": %.1f, "
	       "\"start_s\": %.1f}\n",
	    b.waiting,
	    b.waiting > 0 ? (double)group_kib(pid) / (double)b.waiting : 0.0,
	    b.waiting > 0 && after < before
		? (double)(before - after) / (double)b.waiting
		: 0.0,
	    (double)(end - start) / 1e3);
	if (fflush(stdout) == EOF)
		fatal("stdout: %s", strerror(errno));
	(void)kill(pid, SIGTERM);
	/* What comes is still taken: libzmq 4.3.4 aborts when a connection ends
	 * whose messages were left waiting. */
	while (waitpid(pid, NULL, WNOHANG) == 0)
		(void)loop_once(b.loop, 20);
	_exit(b.waiting == b.n ? 0 : 1); /* nothing here is worth tidying */
}
