/*
 * guest.c - the process that speaks with one host of another machine.
 *
 * DESIGN
 *
 * libzmq's server listens on a unix socket that nobody else can reach, and we
 * copy the connection's bytes to it and back. That is what bounds the memory
 * of a host: libzmq collects the parts of a message for as long as more are
 * announced, and with CURVE that can't be seen from outside. But messages come
 * out in the order in which their bytes went in. So no more than WINDOW is put
 * in without anything coming out, and twice that is all that libzmq can hold.
 *
 * Before HELLO that is much less, and all guests together have a bound, too
 * (share.h).
 *
 * The other way it counts messages, not bytes. So we count what it was given
 * and what came out, and a host that does not read leaves the rest in our link
 * to the orchestrator, and then there, where it is bounded as well.
 */
#include "common/compat.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

#include "common/fdio.h"
#include "common/fdpass.h"
#include "common/log.h"
#include "common/spawn.h"
#include "orchestrator/door/greet.h"
#include "orchestrator/door/guest.h"
#include "orchestrator/door/link.h"
#include "orchestrator/door/note.h"
#include "orchestrator/door/share.h"
#include "proto/peer.h"
#include "proto/zap.h"
#include "proto/zmtp.h"

#define WINDOW ((uint64_t)16 << 20)
#define HELLO_WINDOW ((uint64_t)512 << 10)
#define DOWN_MAX ((uint64_t)4 << 20) /* in libzmq, and one message more */
#define LINK_HIGH ((size_t)8 << 20)  /* then nothing more is read */
#define BUFFER 65536
#define TICK_MS 500
#define ELDER_MS 15000  /* for one message, while others wait */
#define STUCK_MS 3000   /* WINDOW is full, and no message comes out */
#define SILENT_MS 15000 /* a host says something every second */
#define LAST_MS 150     /* nothing more comes out: all of it is sent */
#define LOOK_MS 50
#define RETRY_MS 20

struct flow {
	size_t at, len;
	unsigned char bytes[BUFFER];
};

struct guest {
	const struct guest_conf *conf;
	struct loop *loop;
	void *zctx;
	struct zap *zap;
	struct peer *server;
	struct peer_addr host;
	struct link *link; /* NULL: not yet */
	int tcp, inner;    /* the connection, and to libzmq */
	struct loop_watch *tcp_watch, *inner_watch;
	struct flow up, down;
	size_t swallow; /* of down: the greeting, which is said already */
	struct zmtp_walk walk;
	uint64_t inside;    /* bytes for the host that libzmq has */
	uint64_t cost_seen; /* walk.cost when a message came out last */
	uint64_t
	    moved_ms; /* when there was room last; ending: when bytes came */
	uint64_t heard_ms;
	uint64_t elder_ms; /* since when others wait for it; 0: they don't */
	uint64_t passing;  /* bytes of messages that go to the orchestrator */
	bool ending;
	char key[CURVE_KEY], name[CURVE_NAME];
};

static void leave(struct guest *g, const char *why) noreturn_fn;

/* why: for the log; NULL: there is nothing to say. */
static void
leave(struct guest *g, const char *why)
{
	struct door_note n = { .kind = NOTE_REFUSED };

	if (why != NULL) {
		(void)strlcpy(n.address, g->conf->address, sizeof n.address);
		(void)strlcpy(n.name, g->name, sizeof n.name);
		(void)strlcpy(n.why, why, sizeof n.why);
		(void)fd_pass(g->conf->note_fd, &n, sizeof n, NULL, 0);
	}
	_exit(0); /* libzmq's threads may be in the middle of something */
}

/* --- bytes --------------------------------------------------------------- */

/* Held here, said to the others. */
static void
say_share(struct guest *g)
{
	if (g->link == NULL || link_queued(g->link) == 0)
		g->passing = 0;
	share_set(g->conf->share, g->conf->me,
	    g->walk.cost - g->cost_seen + g->passing);
}

/* What is inside may be HELLO: it is waited for. */
static bool
is_full(const struct guest *g)
{
	return g->walk.cost - g->cost_seen >
	    (g->link == NULL ? HELLO_WINDOW : WINDOW);
}

static bool
is_held(const struct guest *g)
{
	return g->ending || is_full(g) ||
	    (g->link != NULL && link_queued(g->link) > LINK_HIGH) ||
	    share_turn(g->conf->share, g->conf->me) == SHARE_WAIT;
}

static void
arm(struct guest *g)
{
	unsigned tcp = 0, inner = 0;

	say_share(g);
	if (g->up.len == 0 && !is_held(g))
		tcp |= LOOP_IN;
	if (g->down.len == 0)
		inner |= LOOP_IN;
	if (g->down.len > 0)
		tcp |= LOOP_OUT;
	if (g->up.len > 0)
		inner |= LOOP_OUT;
	loop_fd_events(g->tcp_watch, tcp);
	loop_fd_events(g->inner_watch, inner);
}

/* Bytes, 0 when there are none now; ends us at their end. */
static size_t
fill(struct guest *g, struct flow *f, int fd)
{
	ssize_t n = recv(fd, f->bytes, sizeof f->bytes, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	/* What went wrong has been said. */
	if (n <= 0)
		leave(g, NULL);
	f->at = 0;
	f->len = (size_t)n;
	return f->len;
}

static void
drain(struct guest *g, struct flow *f, int fd)
{
	ssize_t n;

	if (f->len == 0)
		return;
	n = send(fd, f->bytes + f->at, f->len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0)
		leave(g, NULL);
	f->at += (size_t)n;
	f->len -= (size_t)n;
}

static void
check_up(struct guest *g)
{
	switch (zmtp_check(&g->walk, g->up.bytes, g->up.len)) {
	case ZMTP_GOOD:
		break;
	case ZMTP_TOO_LARGE:
		leave(g, "it sends a message that is too large");
	case ZMTP_ENDLESS:
		leave(g, "it sends a message of endless parts");
	default:
		leave(g, "it sends frames that are none");
	}
}

static void
tcp_cb(int fd, unsigned events, void *ctx)
{
	struct guest *g = ctx;

	drain(g, &g->down, fd);
	if ((events & LOOP_HUP) != 0 && (events & LOOP_IN) == 0)
		leave(g, NULL);
	if ((events & LOOP_IN) != 0 && g->up.len == 0 &&
	    fill(g, &g->up, fd) > 0) {
		g->heard_ms = loop_now_ms();
		check_up(g);
		drain(g, &g->up, g->inner);
	}
	arm(g);
}

static void
inner_cb(int fd, unsigned events, void *ctx)
{
	struct guest *g = ctx;
	size_t n;

	drain(g, &g->up, fd);
	if ((events & LOOP_HUP) != 0 && (events & LOOP_IN) == 0)
		leave(g, NULL);
	if ((events & LOOP_IN) != 0 && g->down.len == 0 &&
	    fill(g, &g->down, fd) > 0) {
		g->inside -= g->down.len < g->inside ? g->down.len : g->inside;
		if (g->ending)
			g->moved_ms = loop_now_ms();
		n = g->swallow < g->down.len ? g->swallow : g->down.len;
		g->swallow -= n;
		g->down.at += n;
		g->down.len -= n;
		drain(g, &g->down, g->tcp);
	}
	arm(g);
}

/* --- messages ------------------------------------------------------------ */

/* A part as it comes out of libzmq: boxed, behind a head of 2 or 9 bytes. */
static uint64_t
part_size(const struct guest *g, size_t len)
{
	if (g->conf->keys != NULL)
		len += 33;
	return len + (len > UINT8_MAX ? 9 : 2);
}

static int
link_frame(struct link *l unused_arg, const char *worker, const void *raw,
    size_t len, void *ctx)
{
	struct guest *g = ctx;
	struct err e;
	int r;

	if (g->inside > DOWN_MAX)
		return -EAGAIN; /* retry_cb() goes on */
	r = peer_relay(g->server, &g->host, worker, raw, len, &e);
	if (r == 0)
		g->inside += part_size(g, strlen(worker)) + part_size(g, len);
	if (r < 0 && r != -EAGAIN)
		log_warn("%s: a message is lost: %s", g->conf->address, e.text);
	return r == -EAGAIN ? r : 0;
}

static void
last_cb(void *ctx)
{
	struct guest *g = ctx;

	if (g->down.len == 0 && loop_now_ms() - g->moved_ms > LAST_MS)
		leave(g, NULL);
}

static void
link_end(struct link *l unused_arg, const char *why unused_arg, void *ctx)
{
	struct guest *g = ctx;

	/* The orchestrator has ended it. Its last word still goes out. */
	g->ending = true;
	g->moved_ms = loop_now_ms();
	arm(g);
	(void)loop_timer_add(g->loop, LOOK_MS, LOOK_MS, last_cb, g);
}

static const struct link_ops link_ops = {
	.on_frame = link_frame,
	.on_end = link_end,
};

static void
retry_cb(void *ctx)
{
	struct guest *g = ctx;

	if (g->link != NULL)
		link_resume(g->link);
	arm(g); /* there may be room now */
}

/* The first message: the orchestrator hears of this host. */
static void
announce(struct guest *g)
{
	struct door_note n = { .kind = NOTE_UP };
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
		pair) < 0)
		leave(g, strerror(errno));
	(void)strlcpy(n.address, g->conf->address, sizeof n.address);
	(void)strlcpy(n.name, g->name, sizeof n.name);
	r = fd_pass(g->conf->note_fd, &n, sizeof n, &pair[1], 1);
	if (r < 0)
		leave(g, err_str(r));
	fd_close(&pair[1]);
	g->link = link_create(g->loop, pair[0], &link_ops, g);
	(void)loop_timer_add(g->loop, RETRY_MS, RETRY_MS, retry_cb, g);
}

static void
message_out(struct guest *g)
{
	g->cost_seen = g->walk.cost;
	/* A frame that has not all come can't have come out. */
	if (g->walk.left > 0)
		g->cost_seen -= g->walk.size + ZMTP_FRAME_COST;
	g->moved_ms = loop_now_ms();
	g->elder_ms = 0;
}

static void
on_msg(struct peer *p unused_arg, const struct peer_addr *from,
    const char *worker, const struct msg *m, const void *raw, size_t raw_len,
    void *ctx)
{
	struct guest *g = ctx;
	struct err e;

	message_out(g);
	g->host = *from;
	if (g->link == NULL && m->type != MSG_HELLO)
		leave(g, "it speaks before it said HELLO");
	if (g->link == NULL)
		announce(g);
	if (!g->ending && link_send(g->link, worker, raw, raw_len, &e) < 0)
		leave(g, e.text);
	g->passing += raw_len;
	arm(g);
}

static void
on_bad(struct peer *p unused_arg, const struct peer_addr *from unused_arg,
    const char *worker unused_arg, const struct err *why, void *ctx)
{
	struct err e = *why;

	(void)err_prefix(&e, "it breaks the protocol");
	leave(ctx, e.text);
}

static const struct peer_ops peer_ops = {
	.on_msg = on_msg,
	.on_bad = on_bad,
	.accept_from = 1u << ROLE_HOST | 1u << ROLE_WORKER,
};

/* --- who it is ----------------------------------------------------------- */

static bool
allow(const char key[CURVE_KEY], void *ctx)
{
	struct guest *g = ctx;
	struct door_note n = { .kind = NOTE_REFUSED };

	(void)strlcpy(g->key, key, sizeof g->key);
	if (curve_allowed(g->conf->allowed_fd, key, g->name) == 1)
		return true;
	/* libzmq tells it, and ends the connection. */
	(void)strlcpy(n.address, g->conf->address, sizeof n.address);
	(void)snprintf(n.why, sizeof n.why,
	    "its key is not allowed (foray keys allow NAME '%s' would)", key);
	(void)fd_pass(g->conf->note_fd, &n, sizeof n, NULL, 0);
	return false;
}

/* Who takes its time over a message holds up others that have a large one. */
static void
check_elder(struct guest *g, uint64_t now)
{
	if (share_turn(g->conf->share, g->conf->me) != SHARE_ELDER)
		g->elder_ms = 0;
	else if (g->elder_ms == 0)
		g->elder_ms = now;
	else if (now - g->elder_ms > ELDER_MS)
		leave(g,
		    "it takes too long over a large message, and others "
		    "wait");
}

static void
tick_cb(void *ctx)
{
	struct guest *g = ctx;
	uint64_t now = loop_now_ms();
	char name[CURVE_NAME];

	if (g->link != NULL && !g->ending && g->key[0] != '\0' &&
	    curve_allowed(g->conf->allowed_fd, g->key, name) != 1)
		leave(g, "its key is not allowed any more");
	if (g->ending)
		return;
	check_elder(g, now);
	if (!is_full(g))
		g->moved_ms = now;
	else if (now - g->moved_ms > STUCK_MS)
		leave(g, "it sends a message of endless parts");
	if (is_held(g))
		g->heard_ms = now; /* we did not listen */
	else if (now - g->heard_ms > SILENT_MS)
		leave(g, "it was silent for 15 s");
	arm(g);
}

/* --- life ---------------------------------------------------------------- */

/* To our own server, past its file, which is gone then. */
static int
connect_inner(const char *path, struct err *e)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

	(void)snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&a, sizeof a) < 0 ||
	    fd_nonblock(fd, true) < 0) {
		r = err_set(e, -errno, "%s: %s", path, strerror(errno));
		fd_close(&fd);
		return r;
	}
	(void)unlink(path);
	return fd;
}

static int
open_server(struct guest *g, struct err *e)
{
	char *path = xasprintf("%s/g%d", g->conf->dir, getpid());
	char *endpoint = xasprintf("ipc://%s", path);
	int r;

	if ((g->zctx = zmq_ctx_new()) == NULL)
		r = err_set(e, -errno, "zmq: %s", zmq_strerror(errno));
	else if (g->conf->keys != NULL)
		(void)((r = zap_start(g->loop, g->zctx, allow, g, &g->zap, e)) <
			0 ||
		    (r = peer_bind_curve(g->loop, g->zctx, endpoint,
			 g->conf->keys, &peer_ops, g, &g->server, e)) < 0);
	else
		r = peer_bind(g->loop, g->zctx, endpoint, false, &peer_ops, g,
		    &g->server, e);
	if (r == 0)
		r = g->inner = connect_inner(path, e);
	free(path);
	free(endpoint);
	return r < 0 ? r : 0;
}

void
guest_main(const struct guest_conf *conf)
{
	struct guest *g = xcalloc(1, sizeof *g);
	const int keep[] = { conf->fd, conf->note_fd, conf->allowed_fd };
	struct err e;

	spawn_child_clean(keep, conf->allowed_fd < 0 ? 2 : 3);
	(void)prctl(PR_SET_NAME, "foray-guest", 0, 0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != conf->door)
		_exit(0);
	(void)signal(SIGPIPE, SIG_IGN);
	g->conf = conf;
	g->tcp = conf->fd;
	g->swallow = GREET_PLAIN;
	g->walk.extra = ZMTP_CURVE_EXTRA;
	g->heard_ms = g->moved_ms = loop_now_ms();
	g->loop = loop_create();
	if (open_server(g, &e) < 0)
		leave(g, e.text);
	memcpy(g->up.bytes, conf->first, conf->first_len);
	g->up.len = conf->first_len;
	check_up(g);
	g->tcp_watch = loop_fd_add(g->loop, g->tcp, 0, tcp_cb, g);
	g->inner_watch = loop_fd_add(g->loop, g->inner, 0, inner_cb, g);
	(void)loop_timer_add(g->loop, TICK_MS, TICK_MS, tick_cb, g);
	arm(g);
	(void)loop_run(g->loop);
	leave(g, NULL);
}
