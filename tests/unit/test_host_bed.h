/*
 * test_host_bed.h - an orchestrator's side for the tests of foray-host.
 *
 * The built foray-host is copied to a temporary directory, and this test
 * program beside it as "foray-worker": test_host_worker.h is what it does when
 * it finds itself in a sandbox. All processes that come from a bed carry an odd
 * RLIMIT_RTTIME, which no exec and no namespace takes off: so they can be
 * counted from outside.
 */
#ifndef TESTS_UNIT_TEST_HOST_BED_H
#define TESTS_UNIT_TEST_HOST_BED_H

#include <setjmp.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/spawn.h"
#include "proto/peer.h"
#include "sandbox/stage.h"

#define SNAPSHOT "0123456789abcdef0123456789abcdef"
#define EVENTS 512
#define WAIT_MS 180000

/* What the orchestrator has got. */
struct event {
	enum msg_type type;
	bool taken;
	char worker[PEER_WORKER_MAX + 1];
	uint64_t number;  /* pid, status, slots, busy or done */
	char text[16384]; /* layout, reason, feature or text */
	char detail[4200];
};

struct bed {
	char dir[64];
	char root[80]; /* of the tree inside */
	char *endpoint;
	unsigned long mark;
	void *zctx;
	struct loop *loop;
	struct peer *peer;
	struct peer_addr host;
	bool welcome; /* answer HELLO */
	bool spares;
	const char *refuse;
	pid_t parent; /* stands for foray; 0: we do */
	pid_t launcher;
	int lifeline;
	/* NEEDs are for this; NULL: dropped. */
	void (*on_need)(struct bed *b, const struct msg_need *m);
	size_t needs;
	struct event *events;
	size_t n;
	size_t bad;
};

static unsigned bed_count;

static void
bed_record(struct bed *b, const char *worker, const struct msg *m)
{
	struct event *ev;
	const char *text = "", *detail = "";

	assert_true(b->n < EVENTS);
	ev = &b->events[b->n++];
	memset(ev, 0, sizeof *ev);
	ev->type = m->type;
	(void)snprintf(ev->worker, sizeof ev->worker, "%s", worker);
	if (m->type == MSG_READY) {
		assert_null(m->u.ready.token);
		ev->number = m->u.ready.pid;
		text = msg_str(m->u.ready.layout);
	} else if (m->type == MSG_WORKER_EXIT) {
		ev->number = m->u.worker_exit.status;
		text = msg_str(m->u.worker_exit.reason);
		detail = msg_str(m->u.worker_exit.detail);
	} else if (m->type == MSG_PROGRESS) {
		ev->number = m->u.progress.done;
		text = msg_str(m->u.progress.text);
	} else if (m->type == MSG_HELLO) {
		ev->number = m->u.hello.slots;
		if (m->u.hello.features.n > 0)
			text = m->u.hello.features.v[0];
		detail = msg_str(m->u.hello.name);
	} else if (m->type == MSG_HEARTBEAT) {
		ev->number = m->u.heartbeat.busy;
	}
	(void)snprintf(ev->text, sizeof ev->text, "%s", text);
	(void)snprintf(ev->detail, sizeof ev->detail, "%s", detail);
}

static void
bed_send(struct bed *b, const char *worker, const struct msg *m)
{
	struct err e;

	if (peer_send(b->peer, &b->host, worker, m, &e) < 0)
		print_message("send: %s\n", e.text);
}

static void
bed_msg_cb(struct peer *p, const struct peer_addr *from, const char *worker,
    const struct msg *m, const void *raw, size_t len, void *ctx)
{
	struct msg out = { .type = MSG_WELCOME };
	struct bed *b = ctx;

	(void)p;
	(void)raw;
	(void)len;
	if (m->type == MSG_MODEL) /* the flood */
		return;
	if (m->type == MSG_NEED) {
		assert_string_equal(worker, "");
		b->host = *from;
		b->needs++;
		if (b->on_need != NULL)
			b->on_need(b, &m->u.need);
		return;
	}
	bed_record(b, worker, m);
	b->host = *from;
	if (m->type != MSG_HELLO || !b->welcome)
		return;
	out.u.welcome.protocol = PROTO_VERSION;
	out.u.welcome.run = "test";
	out.u.welcome.refused = b->refuse;
	bed_send(b, NULL, &out);
}

static void
bed_bad_cb(struct peer *p, const struct peer_addr *from, const char *worker,
    const struct err *why, void *ctx)
{
	struct bed *b = ctx;

	(void)p;
	(void)from;
	(void)worker;
	print_message("bad: %s\n", why->text);
	b->bad++;
}

/* A message of this kind, of this worker (NULL: any); NULL when the time is
 * over. Each is given once. */
static struct event *
bed_wait_ms(struct bed *b, enum msg_type type, const char *worker, int ms)
{
	uint64_t end = loop_now_ms() + (uint64_t)ms;
	size_t i;

	for (;;) {
		for (i = 0; i < b->n; i++) {
			struct event *ev = &b->events[i];

			if (ev->taken || ev->type != type ||
			    (worker != NULL && strcmp(ev->worker, worker) != 0))
				continue;
			ev->taken = true;
			return ev;
		}
		if (loop_now_ms() >= end)
			return NULL;
		assert_true(loop_once(b->loop, 20) >= 0);
	}
}

static struct event *
bed_wait(struct bed *b, enum msg_type type, const char *worker)
{
	struct event *ev = bed_wait_ms(b, type, worker, WAIT_MS);

	if (ev == NULL) {
		struct event *gone = bed_wait_ms(b, MSG_WORKER_EXIT, worker, 0);

		fail_msg("no %s of '%s' came; exit: %s: %s", msg_name(type),
		    worker != NULL ? worker : "", gone ? gone->text : "no",
		    gone ? gone->detail : "");
	}
	return ev;
}

static void
bed_wait_exit(
    struct bed *b, const char *worker, const char *reason, const char *detail)
{
	struct event *ev = bed_wait(b, MSG_WORKER_EXIT, worker);

	if (strcmp(ev->text, reason) != 0 || strstr(ev->detail, detail) == NULL)
		fail_msg("worker %s: '%s', '%s'; '%s', '%s' was expected",
		    worker, ev->text, ev->detail, reason, detail);
}

/* --- making -------------------------------------------------------------- */

static void
bed_own(const char *path)
{
	if (geteuid() == 0)
		assert_int_equal(lchown(path, SANDBOX_UID, SANDBOX_UID), 0);
}

static char *
bed_mkdir(struct bed *b, const char *name, mode_t mode, bool own)
{
	char *path = path_joinf(b->dir, "%s", name);
	struct err e;

	if (path_mkdirs(path, mode, &e) < 0)
		fail_msg("%s", e.text);
	if (own)
		bed_own(path);
	return path;
}

static void
bed_copy(const char *from, const char *to)
{
	char bytes[65536];
	int in, out;
	ssize_t n;

	in = open(from, O_RDONLY | O_CLOEXEC);
	if (in < 0)
		fail_msg("%s: %s", from, strerror(errno));
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	assert_true(out >= 0);
	while ((n = read(in, bytes, sizeof bytes)) > 0)
		assert_int_equal(fd_write_all(out, bytes, (size_t)n), 0);
	close(in);
	close(out);
}

static void
bed_programs(struct bed *b)
{
	char self[4096], *dir, *host, *to, *bin;
	ssize_t n;

	n = readlink("/proc/self/exe", self, sizeof self - 1);
	assert_true(n > 0);
	self[n] = '\0';
	dir = path_dir(self);
	host = path_joinf(dir, "../../foray-host");
	bin = bed_mkdir(b, "bin", 0755, false);
	to = path_join(bin, "foray-host");
	bed_copy(host, to);
	free(to);
	to = path_join(bin, "foray-worker");
	bed_copy(self, to);
	free(to);
	free(bin);
	free(host);
	free(dir);
}

static void
bed_snapshot(struct bed *b)
{
	char *dir, *file;
	struct err e;

	free(bed_mkdir(b, "cache", 0755, true));
	free(bed_mkdir(b, "cache/snapshots", 0700, true));
	free(bed_mkdir(b, "cache/snapshots/" SNAPSHOT, 0755, true));
	dir = bed_mkdir(b, "cache/snapshots/" SNAPSHOT "/tree", 0755, true);
	free(bed_mkdir(b, "cache/snapshots/" SNAPSHOT "/tree/sub", 0755, true));
	file = path_join(dir, "hello.txt");
	assert_int_equal(file_write(file, "hello\n", 6, 0644, &e), 0);
	bed_own(file);
	free(file);
	free(dir);
}

static void
bed_bind(struct bed *b)
{
	static const struct peer_ops ops = {
		.on_msg = bed_msg_cb,
		.on_bad = bed_bad_cb,
		.accept_from = 1u << ROLE_HOST | 1u << ROLE_WORKER,
	};
	struct err e;

	if (peer_bind(b->loop, b->zctx, b->endpoint, geteuid() == 0, &ops, b,
		&b->peer, &e) < 0)
		fail_msg("%s", e.text);
}

static void
bed_open(struct bed *b)
{
	char *dir;

	memset(b, 0, sizeof *b);
	(void)snprintf(b->dir, sizeof b->dir, "/tmp/fh-XXXXXX");
	assert_non_null(mkdtemp(b->dir));
	assert_int_equal(chmod(b->dir, 0755), 0);
	(void)snprintf(b->root, sizeof b->root, "/srv/x%s", b->dir);
	b->mark = 1000 * (unsigned long)getpid() + bed_count++;
	b->lifeline = -1;
	b->welcome = true;
	b->events = xcalloc(EVENTS, sizeof *b->events);
	bed_programs(b);
	bed_snapshot(b);
	dir = bed_mkdir(b, "ipc", 0700, true);
	b->endpoint = xasprintf("ipc://%s/s", dir);
	free(dir);
	b->loop = loop_create();
	b->zctx = zmq_ctx_new();
	bed_bind(b);
}

/* What the child of a fork() needs is made before it: we have threads (those
 * of ZeroMQ), and one of them may hold a lock of a sanitizer's allocator at
 * that moment, which the child would wait for without end. */
struct bed_command {
	char *host;
	struct strv argv, env;
};

static void
bed_command(struct bed *b, struct bed_command *c)
{
	char *scratch = path_joinf(b->dir, "scratch");
	char *cache = path_joinf(b->dir, "cache");

	memset(c, 0, sizeof *c);
	c->host = path_joinf(b->dir, "bin/foray-host");
	strv_addl(&c->argv, c->host, "--connect", b->endpoint, "--slots", "3",
	    "--name", "bed", "--scratch", scratch, "--cache", cache,
	    "--lifeline-fd", "3", (char *)NULL);
	for (char **v = environ; *v != NULL; v++)
		strv_add(&c->env, *v);
	strv_setenv(&c->env, "FORAY_TEST_SECRET", "leaked");
	/* Processes are counted; a test of spares says so. */
	strv_setenv(&c->env, "FORAY_SPARES", b->spares ? "1" : "0");
	free(scratch);
	free(cache);
}

static void bed_exec(
    const struct bed *b, const struct bed_command *c, int lifeline) noreturn_fn;

static void
bed_exec(const struct bed *b, const struct bed_command *c, int lifeline)
{
	struct rlimit r = { b->mark, b->mark };

	if (setrlimit(RLIMIT_RTTIME, &r) < 0)
		_exit(99);
	if (lifeline == 3 ? fd_cloexec(3, false) < 0 : dup2(lifeline, 3) < 0)
		_exit(99);
	execve(c->host, strv_argv(&c->argv), strv_argv(&c->env));
	_exit(98);
}

/* by_parent: with a process between, so that it can be killed. */
static void
bed_start(struct bed *b, bool by_parent)
{
	struct bed_command c;
	int life[2], tell[2];
	pid_t pid;

	bed_command(b, &c);
	assert_int_equal(fd_pipe(life), 0);
	assert_int_equal(fd_pipe(tell), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (!by_parent) {
			close(life[1]);
			bed_exec(b, &c, life[0]);
		}
		pid = fork();
		if (pid == 0) {
			close(life[1]);
			bed_exec(b, &c, life[0]);
		}
		if (write(tell[1], &pid, sizeof pid) < 0)
			_exit(97);
		for (;;)
			pause();
	}
	close(life[0]);
	b->launcher = pid;
	if (by_parent) {
		b->parent = pid;
		close(life[1]);
		assert_int_equal(
		    read(tell[0], &b->launcher, sizeof pid), (int)sizeof pid);
	} else {
		b->lifeline = life[1];
	}
	close(tell[0]);
	close(tell[1]);
	strv_clear(&c.argv);
	strv_clear(&c.env);
	free(c.host);
}

static void
bed_start_wait(struct bed *b)
{
	bed_start(b, false);
	bed_wait(b, MSG_HELLO, NULL);
}

static inline void
bed_assign(struct bed *b, const char *name, uint64_t wall_ms)
{
	struct msg m = { .type = MSG_ASSIGN };

	m.u.assign.subtask = "sub";
	m.u.assign.attempt = 1;
	m.u.assign.snapshot = SNAPSHOT;
	m.u.assign.root = b->root;
	m.u.assign.wall_ms = wall_ms;
	bed_send(b, name, &m);
}

/* --- looking ------------------------------------------------------------- */

static bool
bed_is_marked(const struct bed *b, const char *pid)
{
	char path[288], text[4096], want[64], *line;
	bool is = false;
	size_t n;
	FILE *f;

	(void)snprintf(path, sizeof path, "/proc/%s/limits", pid);
	f = fopen(path, "re");
	if (f == NULL)
		return false;
	n = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[n] = '\0';
	(void)snprintf(want, sizeof want, " %lu ", b->mark);
	line = strstr(text, "Max realtime timeout");
	if (line != NULL) {
		line[strcspn(line, "\n")] = '\0';
		is = strstr(line, want) != NULL;
	}
	(void)snprintf(path, sizeof path, "/proc/%s/stat", pid);
	f = is ? fopen(path, "re") : NULL;
	if (f != NULL) {
		n = fread(text, 1, sizeof text - 1, f);
		text[n] = '\0';
		fclose(f);
		line = strrchr(text, ')');
		is = line != NULL && line[2] != 'Z' && line[2] != 'X';
	}
	return is;
}

/* Processes of this bed that are there. */
static size_t
bed_processes(const struct bed *b)
{
	struct dirent *d;
	size_t n = 0;
	DIR *dir = opendir("/proc");

	assert_non_null(dir);
	while ((d = readdir(dir)) != NULL) {
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9' &&
		    bed_is_marked(b, d->d_name))
			n++;
	}
	closedir(dir);
	return n;
}

static void
bed_nap(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

static void
bed_all_gone(struct bed *b, uint64_t within_ms)
{
	uint64_t end = loop_now_ms() + within_ms;
	size_t n;

	while ((n = bed_processes(b)) > 0 && loop_now_ms() < end)
		bed_nap(5);
	if (n > 0)
		fail_msg("%zu processes are left", n);
}

static void
bed_no_mounts(const struct bed *b)
{
	struct buf m;
	struct err e;
	int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);

	(void)e;
	buf_init(&m, 1 << 20);
	assert_true(fd >= 0);
	assert_int_equal(fd_read_all(fd, &m), 0);
	close(fd);
	assert_null(strstr(buf_str(&m), b->dir));
	assert_null(strstr(buf_str(&m), "/run/foray"));
	buf_clear(&m);
}

/* Directories of hosts in the scratch directory. One without a lock may be
 * another's that is just being made: a sweeper leaves it alone for a minute,
 * and half a removal looks like that too. */
static inline size_t
bed_scratch(const struct bed *b, bool all)
{
	char lock[4096];

	char *path = geteuid() == 0
	    ? path_joinf(b->dir, "scratch/uid-%u", SANDBOX_UID)
	    : path_joinf(b->dir, "scratch");
	DIR *dir = opendir(path);
	struct dirent *d;
	size_t n = 0;

	while (dir != NULL && (d = readdir(dir)) != NULL) {
		(void)snprintf(
		    lock, sizeof lock, "%s/%s/lock", path, d->d_name);
		if (d->d_name[0] != '.' && (all || access(lock, F_OK) == 0))
			n++;
	}
	if (dir != NULL)
		closedir(dir);
	free(path);
	return n;
}

/* The host itself, as we count. */
static inline pid_t
bed_pid1(const struct bed *b)
{
	char path[64];
	int pid = 0;
	FILE *f;

	(void)snprintf(path, sizeof path, "/proc/%d/task/%d/children",
	    (int)b->launcher, (int)b->launcher);
	f = fopen(path, "re");
	if (f != NULL) {
		if (fscanf(f, "%d", &pid) != 1)
			pid = 0;
		fclose(f);
	}
	return pid;
}

/* The launcher's status. */
static int
bed_reap(struct bed *b)
{
	int status = 0;
	pid_t pid = b->parent > 0 ? b->parent : b->launcher;

	if (pid > 0)
		assert_int_equal(waitpid(pid, &status, 0), pid);
	b->parent = b->launcher = 0;
	fd_close(&b->lifeline);
	return spawn_status(status);
}

static inline void
bed_forget(struct bed *b)
{
	b->n = 0;
	memset(&b->host, 0, sizeof b->host);
}

static void
bed_close(struct bed *b)
{
	struct err e;

	if (b->launcher > 0)
		kill(b->launcher, SIGKILL);
	if (b->parent > 0)
		kill(b->parent, SIGKILL);
	bed_reap(b);
	bed_all_gone(b, 2000);
	bed_no_mounts(b);
	peer_free(b->peer);
	loop_free(b->loop);
	zmq_ctx_term(b->zctx);
	if (path_rmtree(b->dir, &e) < 0)
		print_message("%s\n", e.text);
	free(b->endpoint);
	free(b->events);
}

/* An end as it should be: at once, with nothing left, files of `scratch`
 * included. */
static inline void
bed_quit(struct bed *b)
{
	kill(b->launcher, SIGTERM);
	assert_int_equal(bed_reap(b), 0);
	bed_all_gone(b, 0);
	assert_int_equal(bed_scratch(b, true), 0);
	bed_close(b);
}

#endif
