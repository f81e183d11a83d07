/*
 * noop_host.c - how fast an orchestrator deals work out: a host that starts
 * nothing and answers at once for all its workers.
 *
 *	noop_host run ENDPOINT N    joins the run that listens there without
 *keys. The plan gets N hypotheses, and each is refuted. stdout: "begin SECONDS"
 *with the first of them, "end SECONDS" after the last. noop_host floor N JSON:
 *round trips a second of N messages of 200 bytes over TCP, as many under way as
 *	                            above, between a ROUTER and a DEALER alone
 */
#include "common/compat.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "common/hash.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/num.h"
#include "common/strv.h"
#include "proto/peer.h"
#include "sandbox/profile_def.h"

#define SLOTS 4096
#define CPUS 32 /* it is given twice as many to start at once */
#define UNDER_WAY ((size_t)2 * CPUS)
#define HYPOTHESES_MAX 1024
#define ROUND_TRIPS_MAX 10000000
#define SIZE 200

struct bench {
	struct peer *peer;
	char profile[HASH_HEX];
	struct strv hypotheses;
	size_t left;
	bool up, begun;
};

static double
now_s(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
tell(const char *what)
{
	printf("%s %.6f\n", what, now_s());
	if (fflush(stdout) == EOF)
		fatal("stdout: %s", strerror(errno));
}

static void
say(struct bench *b, const char *worker, const struct msg *m)
{
	struct err e;

	if (peer_send(b->peer, NULL, worker, m, &e) < 0)
		fatal("%s: %s", msg_name(m->type), e.text);
}

/* --- the run ---------------------------------------------------------------
 */

static void
on_assign(struct bench *b, const char *worker)
{
	struct msg m = { .type = MSG_READY };

	m.u.ready.protocol = PROTO_VERSION;
	m.u.ready.pid = 1;
	m.u.ready.layout = "copy";
	say(b, worker, &m);
}

static void
on_task(struct bench *b, const char *worker, const struct msg_task *t)
{
	static const char *const failing[] = { "t" };
	struct msg m = { .type = MSG_SUMMARY };
	struct msg_summary *s = &m.u.summary;

	s->subtask = t->subtask;
	s->attempt = t->attempt;
	s->verdict = "done";
	if (strcmp(t->kind, "baseline") == 0) {
		s->failing.v = (const char **)(uintptr_t)failing;
		s->failing.n = nitems(failing);
		s->tests_failed = 1;
	} else if (strcmp(t->kind, "plan") == 0) {
		s->findings = msg_strs_of(&b->hypotheses);
	} else {
		s->verdict = "refuted";
		if (!b->begun)
			tell("begin");
		b->begun = true;
	}
	say(b, worker, &m);
}

static void
on_ack(struct bench *b, const char *worker)
{
	struct msg m = { .type = MSG_WORKER_EXIT };

	m.u.worker_exit.reason = "exited";
	say(b, worker, &m);
	if (b->begun && b->left > 0 && --b->left == 0)
		tell("end");
}

static void
msg_cb(struct peer *p unused_arg, const struct peer_addr *from unused_arg,
    const char *worker, const struct msg *m, const void *raw unused_arg,
    size_t len unused_arg, void *ctx)
{
	struct bench *b = ctx;

	if (m->type == MSG_ASSIGN)
		on_assign(b, worker);
	else if (m->type == MSG_TASK)
		on_task(b, worker, &m->u.task);
	else if (m->type == MSG_SUMMARY_ACK)
		on_ack(b, worker);
	else if (m->type == MSG_WELCOME && m->u.welcome.refused != NULL)
		fatal("refused: %s", m->u.welcome.refused);
}

static void
beat_cb(void *ctx)
{
	struct msg m = { .type = MSG_HEARTBEAT };
	struct bench *b = ctx;

	if (b->up)
		say(b, NULL, &m);
}

static void
link_cb(struct peer *p unused_arg, enum shake what, void *ctx)
{
	struct bench *b = ctx;
	struct msg m = { .type = MSG_HELLO };
	struct msg_hello *h = &m.u.hello;

	if (what != SHAKE_UP && b->up)
		exit(0); /* the run is over */
	if (what != SHAKE_UP)
		return; /* it does not listen yet: tried again */
	b->up = true;
	h->protocol = PROTO_VERSION;
	h->name = "noop";
	h->instance = "noop";
	h->slots = SLOTS;
	h->cpus = CPUS;
	h->profile = b->profile;
	say(b, NULL, &m);
	say(b, NULL, &(struct msg){ .type = MSG_HEARTBEAT });
}

static void noreturn_fn
run(const char *endpoint, size_t n)
{
	static const struct peer_ops ops = { .on_msg = msg_cb,
		.accept_from = 1u << ROLE_ORCH,
		.on_link = link_cb };
	struct loop *l = loop_create();
	struct bench b = { .left = n };
	struct profile_def d;
	struct err e;

	if (profile_def_load("default", &d, &e) < 0)
		fatal("%s", e.text);
	profile_def_hash(&d, b.profile);
	for (size_t i = 1; i <= n; i++)
		strv_addf(&b.hypotheses, "H%zu: guess %zu", i, i);
	if (peer_connect_tcp(
		l, zmq_ctx_new(), endpoint, NULL, &ops, &b, &b.peer, &e) < 0)
		fatal("%s", e.text);
	(void)loop_timer_add(l, 1000, 1000, beat_cb, &b);
	(void)loop_run(l);
	fatal("the loop has ended");
}

/* --- the floor --------------------------------------------------------------
 */

static void *
echo(void *sock)
{
	zmq_msg_t id, m;

	for (;;) {
		zmq_msg_init(&id);
		zmq_msg_init(&m);
		if (zmq_msg_recv(&id, sock, 0) < 0 ||
		    zmq_msg_recv(&m, sock, 0) < 0 ||
		    zmq_msg_send(&id, sock, ZMQ_SNDMORE) < 0 ||
		    zmq_msg_send(&m, sock, 0) < 0)
			fatal("zmq: %s", zmq_strerror(errno));
	}
	return NULL;
}

static void
floor_of(size_t n)
{
	void *zctx = zmq_ctx_new(), *server = zmq_socket(zctx, ZMQ_ROUTER);
	void *client = zmq_socket(zctx, ZMQ_DEALER);
	char text[SIZE] = "", at[256];
	size_t size = sizeof at, sent, got;
	pthread_t thread;
	double begin;

	if (zmq_bind(server, "tcp://127.0.0.1:*") < 0 ||
	    zmq_getsockopt(server, ZMQ_LAST_ENDPOINT, at, &size) < 0 ||
	    zmq_connect(client, at) < 0 ||
	    pthread_create(&thread, NULL, echo, server) != 0)
		fatal("zmq: %s", zmq_strerror(errno));
	begin = now_s();
	for (sent = got = 0; got < n;) {
		if (sent < n && sent - got < UNDER_WAY) {
			if (zmq_send(client, text, sizeof text, 0) < 0)
				fatal("zmq: %s", zmq_strerror(errno));
			sent++;
			continue;
		}
		if (zmq_recv(client, text, sizeof text, 0) < 0)
			fatal("zmq: %s", zmq_strerror(errno));
		got++;
	}
	printf("{\"rate\": %.1f}\n", (double)n / (now_s() - begin));
	if (fflush(stdout) == EOF)
		fatal("stdout: %s", strerror(errno));
	_exit(0); /* the thread waits for ever */
}

int
main(int argc, char **argv)
{
	uint64_t n;
	struct err e;

	log_init("bench");
	if (argc == 4 && strcmp(argv[1], "run") == 0) {
		if (num_u64(argv[3], 1, HYPOTHESES_MAX, "N", &n, &e) < 0)
			fatal("%s", e.text);
		run(argv[2], n);
	}
	if (argc != 3 || strcmp(argv[1], "floor") != 0)
		fatal("usage: noop_host run ENDPOINT N | floor N");
	if (num_u64(argv[2], 1, ROUND_TRIPS_MAX, "N", &n, &e) < 0)
		fatal("%s", e.text);
	floor_of(n);
	return 0;
}
