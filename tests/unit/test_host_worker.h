/*
 * test_host_worker.h - workers of all sorts, by the first word of their name.
 */
#ifndef TESTS_UNIT_TEST_HOST_WORKER_H
#define TESTS_UNIT_TEST_HOST_WORKER_H

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

#include "common/fdio.h"
#include "common/json.h"
#include "common/log.h"
#include "proto/peer.h"
#include "sandbox/profile.h"
#include "sandbox/spec.h"

struct tworker {
	struct loop *loop;
	void *zctx;
	struct peer *peer;
	json_t *conf;
	const char *token, *name, *socket, *root;
	struct buf seen; /* what should not have come in */
};

static void
tw_progress(struct tworker *w, struct peer *p, const char *text)
{
	struct msg m = { .type = MSG_PROGRESS };
	struct err e;

	(void)w;
	m.u.progress.what = "test";
	m.u.progress.text = text;
	if (peer_send(p, NULL, "liar", &m, &e) < 0)
		fprintf(stderr, "progress: %s\n", e.text);
}

static void
tw_ready(struct tworker *w, struct peer *p, const char *token)
{
	struct msg m = { .type = MSG_READY };
	struct err e;

	m.u.ready.protocol = PROTO_VERSION;
	m.u.ready.token = token;
	m.u.ready.pid = 4242;
	m.u.ready.layout = "lie";
	(void)w;
	if (peer_send(p, NULL, "liar", &m, &e) < 0)
		fprintf(stderr, "ready: %s\n", e.text);
}

static void
tw_msg_cb(struct peer *p, const struct peer_addr *from, const char *worker,
    const struct msg *m, const void *raw, size_t len, void *ctx)
{
	struct tworker *w = ctx;

	(void)from;
	(void)worker;
	(void)raw;
	(void)len;
	if (m->type == MSG_TASK)
		tw_progress(w, p, msg_str(m->u.task.prompt));
	else if (m->type == MSG_SUMMARY_ACK &&
	    strncmp(w->name, "linger", 6) != 0)
		loop_stop(w->loop, 0);
}

static const struct peer_ops tw_ops = {
	.on_msg = tw_msg_cb,
	.accept_from = 1u << ROLE_ORCH,
};

static struct peer *
tw_connect(struct tworker *w)
{
	struct peer *p;
	struct err e;

	if (peer_connect(w->loop, w->zctx, w->socket, &tw_ops, w, &p, &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		exit(3);
	}
	return p;
}

static void
tw_crash(struct tworker *w)
{
	int i;

	(void)w;
	for (i = 0; i < 1000; i++)
		fprintf(stderr, "line %d \033[31mred\033[0m\xff\n", i);
	exit(7);
}

/* Before zmq opens its own. */
static void
tw_descriptors(struct tworker *w)
{
	struct dirent *d;
	DIR *dir = opendir("/proc/self/fd");

	while (dir != NULL && (d = readdir(dir)) != NULL) {
		if (d->d_name[0] != '.' && atoi(d->d_name) > 2 &&
		    atoi(d->d_name) != dirfd(dir))
			(void)buf_printf(&w->seen, "fd %s\n", d->d_name);
	}
	if (dir != NULL)
		closedir(dir);
}

/* Everything that came in from outside: environment, worker.json and what can
 * be read of the machine. */
static void
tw_env(struct tworker *w)
{
	extern char **environ;
	struct sandbox_spec spec;
	struct buf *b = &w->seen;
	struct err e;
	size_t i;

	for (i = 0; environ[i] != NULL; i++) {
		if (strncmp(environ[i], "FORAY", 5) == 0)
			(void)buf_printf(b, "env %s\n", environ[i]);
	}
	if (getuid() == 0 || geteuid() == 0)
		(void)buf_adds(b, "root\n");
	if (access("/work", F_OK) == 0 || access("/home/cloudsdk", F_OK) == 0)
		(void)buf_adds(b, "sees the machine\n");
	if (access("hello.txt", R_OK) < 0)
		(void)buf_adds(b, "no tree\n");
	if (open("new", O_WRONLY | O_CREAT | O_CLOEXEC, 0644) < 0)
		(void)buf_adds(b, "tree is read-only\n");
	if (access(IN_LINK "/s", W_OK) < 0)
		(void)buf_adds(b, "no socket\n");
	for (i = 0; i < 2; i++) {
		const char *key = i == 0 ? "inner" : "candidate";

		if (spec_from_json(json_object_get(w->conf, key), &spec, &e) <
		    0) {
			(void)buf_printf(b, "%s: %s\n", key, e.text);
			continue;
		}
		/* For want of a control group, each process. */
		if (spec.limits.procs != 512 ||
		    spec.limits.data_bytes !=
			(access(IN_OOM, R_OK) == 0 ? 0 : (uint64_t)4096 << 20))
			(void)buf_printf(b, "%s: limits\n", key);
		spec_clear(&spec);
	}
	tw_progress(w, w->peer, b->len > 0 ? buf_str(b) : "clean");
}

static void
tw_flood(struct tworker *w)
{
	struct msg m = { .type = MSG_MODEL };
	static char body[1000000];
	const char *bodies[1] = { body };
	struct err e;
	int i;

	memset(body, 'x', sizeof body - 1);
	m.u.model.turn = 1;
	m.u.model.hashes = body;
	m.u.model.hashes_len = 32;
	m.u.model.bodies.v = bodies;
	m.u.model.bodies.n = 1;
	for (i = 0; i < 4000;) {
		if (peer_send(w->peer, NULL, NULL, &m, &e) == 0)
			i++;
		loop_once(w->loop, 0);
	}
}

static void
tw_raw(struct tworker *w)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	char junk[4096];
	int fd, i;

	memset(junk, 0xa5, sizeof junk);
	(void)snprintf(sun.sun_path, sizeof sun.sun_path, "%s", IN_LINK "/s");
	for (i = 0; i < 5; i++) {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (connect(fd, (struct sockaddr *)&sun, sizeof sun) < 0)
			fprintf(stderr, "raw: %s\n", strerror(errno));
		if (send(fd, junk, sizeof junk, MSG_NOSIGNAL) < 0)
			fprintf(stderr, "raw: %s\n", strerror(errno));
		if (i < 3)
			close(fd);
	}
	tw_ready(w, w->peer, w->token);
	tw_progress(w, w->peer, "after raw");
}

/* What the other side says; its READY has no less than ours. */
static void
tw_recv(int fd, size_t n)
{
	char bytes[64];
	ssize_t got;

	while (n > 0) {
		got = recv(fd, bytes, n < sizeof bytes ? n : sizeof bytes, 0);
		if (got <= 0)
			return;
		n -= (size_t)got;
	}
}

/* A ZMTP peer, and then frames that libzmq would go on collecting. */
static void
tw_frames(const char *name)
{
	static const unsigned char hello[64] = { 0xff, 0, 0, 0, 0, 0, 0, 0, 1,
		0x7f, 3, 1, 'N', 'U', 'L', 'L' };
	static const unsigned char ready[] = { 4, 28, 5, 'R', 'E', 'A', 'D',
		'Y', 11, 'S', 'o', 'c', 'k', 'e', 't', '-', 'T', 'y', 'p', 'e',
		0, 0, 0, 6, 'D', 'E', 'A', 'L', 'E', 'R' };
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	unsigned char frame[257] = { 1, 255 };
	int fd, i;

	(void)snprintf(sun.sun_path, sizeof sun.sun_path, "%s", IN_LINK "/s");
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(fd, (struct sockaddr *)&sun, sizeof sun) < 0)
		fprintf(stderr, "frames: %s\n", strerror(errno));
	/* One step after the other: libzmq drops a peer that runs ahead. */
	(void)fd_write_all(fd, hello, sizeof hello);
	tw_recv(fd, sizeof hello);
	(void)fd_write_all(fd, ready, sizeof ready);
	tw_recv(fd, sizeof ready);
	if (strcmp(name, "huge") == 0) {
		memset(frame, 0x10, sizeof frame);
		frame[0] = 2;
	}
	for (i = 0; i < 100000; i++) {
		if (send(fd, frame, sizeof frame, MSG_NOSIGNAL) < 0)
			break;
	}
}

static void
tw_daemons(void)
{
	int i;

	for (i = 0; i < 10; i++) {
		if (fork() != 0)
			continue;
		setsid();
		if (fork() != 0)
			_exit(0);
		for (;;)
			pause();
	}
}

/* Memory, in many processes that have nothing to do with each other. */
static void
tw_hog(void)
{
	size_t size = (size_t)24 << 20;
	volatile char *p;
	size_t k;
	int i;

	for (i = 0; i < 8; i++)
		if (fork() == 0)
			break;
	p = malloc(size);
	for (k = 0; p != NULL && k < size; k += 4096)
		p[k] = 1;
	for (;;)
		pause();
}

/* The workspace, where nobody can look into it. */
static void
tw_fill(struct tworker *w)
{
	static char block[1 << 20];
	int fd, i;

	mkdir("hidden", 0700);
	fd = open("hidden/f", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	chmod("hidden", 0);
	memset(block, 1, sizeof block);
	for (i = 0; i < 60; i++)
		if (fd_write_all(fd, block, sizeof block) < 0)
			fprintf(stderr, "fill: %s\n", strerror(errno));
	tw_progress(w, w->peer, "filled");
}

static void
tw_act(struct tworker *w)
{
	const char *n = w->name;
	struct msg m = { .type = MSG_AUDIT };
	struct peer *second;
	struct err e;

	m.u.audit.seq = 1;
	m.u.audit.act = "command";
	m.u.audit.subject = "x";
	if (strncmp(n, "mute", 4) == 0)
		return;
	if (strncmp(n, "crash", 5) == 0)
		tw_crash(w);
	if (strncmp(n, "early", 5) == 0) {
		(void)peer_send(w->peer, NULL, NULL, &m, &e);
		return;
	}
	if (strncmp(n, "badtok", 6) == 0) {
		tw_ready(w, w->peer, "00000000");
		return;
	}
	if (strncmp(n, "notok", 5) == 0) {
		tw_ready(w, w->peer, NULL);
		return;
	}
	if (strncmp(n, "junk", 4) == 0) {
		(void)peer_relay(w->peer, NULL, NULL, "\xc1junk", 5, &e);
		return;
	}
	if (strcmp(n, "endless") == 0 || strcmp(n, "huge") == 0) {
		tw_frames(n);
		return;
	}
	if (strncmp(n, "raw", 3) == 0) {
		tw_raw(w);
		return;
	}
	tw_ready(w, w->peer, w->token);
	if (strncmp(n, "late", 4) == 0) {
		(void)peer_relay(w->peer, NULL, NULL, "\xc1junk", 5, &e);
	} else if (strncmp(n, "role", 4) == 0) {
		m.type = MSG_HEARTBEAT;
		m.u.heartbeat.busy = 4;
		(void)peer_send(w->peer, NULL, NULL, &m, &e);
	} else if (strncmp(n, "twice", 5) == 0) {
		tw_ready(w, w->peer, w->token);
	} else if (strncmp(n, "second", 6) == 0) {
		for (int i = 0; i < 30; i++)
			loop_once(w->loop, 10);
		second = tw_connect(w);
		tw_ready(w, second, w->token);
		tw_progress(w, second, "evil");
		(void)peer_relay(second, NULL, NULL, "\xc1junk", 5, &e);
		for (int i = 0; i < 30; i++)
			loop_once(w->loop, 10);
		tw_progress(w, w->peer, "honest");
	} else if (strncmp(n, "flood", 5) == 0) {
		tw_flood(w);
	} else if (strncmp(n, "env", 3) == 0) {
		tw_env(w);
	} else if (strncmp(n, "hog", 3) == 0) {
		tw_hog();
	} else if (strncmp(n, "fill", 4) == 0) {
		tw_fill(w);
	} else if (strncmp(n, "tick", 4) == 0) {
		for (int i = 1; i < 1000; i++) {
			tw_progress(w, w->peer, "tick");
			loop_once(w->loop, 20);
		}
	} else if (strncmp(n, "fork", 4) == 0) {
		tw_daemons();
		tw_progress(w, w->peer, "forked");
	} else if (strncmp(n, "signal", 6) == 0) {
		for (int i = 0; i < 10; i++)
			loop_once(w->loop, 10);
		raise(SIGUSR1);
	}
}

static int
tw_main(void)
{
	struct tworker w;
	struct buf b;
	struct err e;

	memset(&w, 0, sizeof w);
	buf_init(&b, 1 << 20);
	if (file_read(IN_LINK "/worker.json", true, &b, &e) < 0 ||
	    json_parse(b.data, b.len, b.max, &w.conf, &e) < 0 ||
	    json_get_str(w.conf, "token", true, &w.token, &e) < 0 ||
	    json_get_str(w.conf, "socket", true, &w.socket, &e) < 0 ||
	    json_get_str(w.conf, "root", true, &w.root, &e) < 0 ||
	    json_get_str(w.conf, "worker", true, &w.name, &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		return 3;
	}
	buf_init(&w.seen, 1000);
	tw_descriptors(&w);
	w.loop = loop_create();
	w.zctx = zmq_ctx_new();
	w.peer = tw_connect(&w);
	tw_act(&w);
	return loop_run(w.loop);
}

#endif
