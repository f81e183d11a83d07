/*
 * accept.c - the door's process: who is let in as far as a guest.
 */
#include "common/compat.h"

#include <sys/prctl.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sodium.h>
#include <unistd.h>
#include <zmq.h>

#include "common/fdio.h"
#include "common/fdpass.h"
#include "common/log.h"
#include "common/path.h"
#include "orchestrator/aside/aside.h"
#include "orchestrator/door/door.h"
#include "orchestrator/door/greet.h"
#include "orchestrator/door/guest.h"
#include "orchestrator/door/note.h"
#include "orchestrator/door/share.h"

#define CONTROL_FD ASIDE_FD
#define LISTEN_FD (ASIDE_FD + 1)
#define KNOCKS_MAX 64
#define SHAKES_MAX 32
#define GUESTS_MAX 512
#define PATIENCE_MS 5000
#define ACCEPTS_A_TURN 16
#define TICK_MS 500
#define TOLD_MAX 20 /* refusals one by one, in TOLD_MS */
#define TOLD_MS 10000
#define END_MS 1000         /* for the guests' last words */
#define UNANSWERED_MS 15000 /* bytes that the other side never takes */

struct door_main;

/* A connection that has not shown yet what it is. */
struct knock {
	TAILQ_ENTRY(knock) entry;
	struct door_main *d;
	int fd;
	char address[NOTE_ADDRESS];
	struct loop_watch *watch;
	uint64_t since_ms;
	size_t n;
	unsigned char bytes[GREET_CURVE];
};

TAILQ_HEAD(knocks, knock);

/* A process. */
struct visitor {
	TAILQ_ENTRY(visitor) entry;
	struct door_main *d;
	pid_t pid;
	int note_fd;
	struct loop_watch *watch;
	uint64_t since_ms;
	bool in;   /* a host */
	size_t me; /* in the share */
};

TAILQ_HEAD(visitors, visitor);

struct door_main {
	struct loop *loop;
	const char *dir;
	bool curve;
	struct curve_pair keys;
	unsigned char secret[32];
	int allowed_fd;
	struct loop_watch *listen, *control;
	struct knocks knocks; /* the oldest first */
	struct visitors visitors;
	unsigned n_knocks, n_shakes, n_guests;
	struct share *share;
	bool taken[GUESTS_MAX]; /* of it */
	uint64_t told_since_ms;
	unsigned told, untold;
};

/* --- what is said -------------------------------------------------------- */

static void
pass_on(const struct door_note *n, const int *fd)
{
	/* A full socket: the orchestrator has more than enough to read. */
	(void)fd_pass(CONTROL_FD, n, sizeof *n, fd, fd != NULL ? 1 : 0);
}

static void
tell(struct door_main *d, const struct door_note *n)
{
	if (d->told < TOLD_MAX) {
		d->told++;
		pass_on(n, NULL);
	} else {
		d->untold++;
	}
}

static void
refuse(struct door_main *d, const char *address, const char *why)
{
	struct door_note n = { .kind = NOTE_REFUSED };

	(void)strlcpy(n.address, address, sizeof n.address);
	(void)strlcpy(n.why, why, sizeof n.why);
	tell(d, &n);
}

static void
tell_rest(struct door_main *d, uint64_t now)
{
	struct door_note n = { .kind = NOTE_REFUSED };

	if (now - d->told_since_ms < TOLD_MS)
		return;
	if (d->untold > 0) {
		(void)strlcpy(n.address, "others", sizeof n.address);
		(void)snprintf(n.why, sizeof n.why,
		    "%u more connections in %d s", d->untold, TOLD_MS / 1000);
		pass_on(&n, NULL);
	}
	d->told = d->untold = 0;
	d->told_since_ms = now;
}

/* --- processes ----------------------------------------------------------- */

static void
listen_again(struct door_main *d)
{
	if (d->listen != NULL)
		loop_fd_events(
		    d->listen, d->n_guests < GUESTS_MAX ? LOOP_IN : 0);
}

static void
forget_visitor(struct visitor *v)
{
	struct door_main *d = v->d;

	(void)kill(v->pid, SIGKILL);
	while (waitpid(v->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	TAILQ_REMOVE(&d->visitors, v, entry);
	share_set(d->share, v->me, 0);
	d->taken[v->me] = false;
	d->n_guests--;
	if (!v->in)
		d->n_shakes--;
	loop_del(d->loop, v->watch);
	fd_close(&v->note_fd);
	free(v);
	listen_again(d);
	if (d->control == NULL && TAILQ_EMPTY(&d->visitors))
		_exit(0);
}

static void
note_cb(int fd, unsigned events unused_arg, void *ctx)
{
	struct visitor *v = ctx;
	struct door_note n;
	int got_fd = -1;
	size_t k = 0;
	ssize_t got = fd_take(fd, &n, sizeof n, &got_fd, 1, &k);

	if (got == -EAGAIN || got == -EINTR)
		return;
	if (got != (ssize_t)sizeof n) {
		forget_visitor(v);
	} else if (n.kind == NOTE_UP && k == 1 && !v->in) {
		v->in = true;
		v->d->n_shakes--;
		pass_on(&n, &got_fd);
	} else if (n.kind == NOTE_REFUSED) {
		tell(v->d, &n);
	}
	fd_close(&got_fd);
}

static void
evict_shake(struct door_main *d)
{
	struct visitor *v;

	TAILQ_FOREACH (v, &d->visitors, entry)
		if (!v->in) {
			forget_visitor(v);
			return;
		}
}

/* fd stays the caller's. */
static int
start_guest(struct door_main *d, const struct knock *k)
{
	struct guest_conf conf = {
		.door = getpid(),
		.fd = k->fd,
		.address = k->address,
		.first = k->bytes,
		.first_len = k->n,
		.keys = d->curve ? &d->keys : NULL,
		.allowed_fd = d->allowed_fd,
		.dir = d->dir,
		.share = d->share,
	};
	struct visitor *v;
	int pair[2];
	pid_t pid;

	if (d->n_shakes >= SHAKES_MAX)
		evict_shake(d);
	while (conf.me < GUESTS_MAX && d->taken[conf.me])
		conf.me++;
	if (conf.me == GUESTS_MAX)
		return -EAGAIN;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		conf.note_fd = pair[1];
		guest_main(&conf);
	}
	fd_close(&pair[1]);
	if (pid < 0) {
		fd_close(&pair[0]);
		return -EAGAIN;
	}
	v = xcalloc(1, sizeof *v);
	v->d = d;
	v->pid = pid;
	v->me = conf.me;
	d->taken[v->me] = true;
	v->note_fd = pair[0];
	(void)fd_nonblock(v->note_fd, true);
	v->since_ms = loop_now_ms();
	v->watch = loop_fd_add(d->loop, v->note_fd, LOOP_IN, note_cb, v);
	TAILQ_INSERT_TAIL(&d->visitors, v, entry);
	d->n_guests++;
	d->n_shakes++;
	listen_again(d);
	return 0;
}

/* --- strangers ----------------------------------------------------------- */

static void
forget_knock(struct knock *k)
{
	TAILQ_REMOVE(&k->d->knocks, k, entry);
	k->d->n_knocks--;
	loop_del(k->d->loop, k->watch);
	fd_close(&k->fd);
	free(k);
}

static void
send_away(struct knock *k, const char *why)
{
	refuse(k->d, k->address, why);
	forget_knock(k);
}

static void
knock_cb(int fd, unsigned events unused_arg, void *ctx)
{
	struct knock *k = ctx;
	struct door_main *d = k->d;
	size_t want = d->curve ? GREET_CURVE : GREET_PLAIN;
	const char *why = NULL;
	ssize_t n = recv(fd, k->bytes + k->n, want - k->n, MSG_DONTWAIT);
	int r;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		send_away(k, "it went without a word");
		return;
	}
	k->n += (size_t)n;
	switch (
	    greet_check(k->bytes, k->n, d->curve ? d->secret : NULL, &why)) {
	case GREET_MORE:
		return;
	case GREET_STRANGER:
		send_away(k, why);
		return;
	default:
		r = start_guest(d, k);
		if (r < 0)
			refuse(d, k->address, err_str(r));
		forget_knock(k);
	}
}

static bool
same_host(const char *a, const char *b)
{
	size_t n = (size_t)(strrchr(a, ':') - a);

	return strncmp(a, b, n + 1) == 0;
}

/* Of the address that has most of them, the oldest. */
static void
evict_knock(struct door_main *d)
{
	struct knock *k, *o, *worst = NULL;
	unsigned n, most = 0;

	TAILQ_FOREACH (k, &d->knocks, entry) {
		n = 0;
		TAILQ_FOREACH (o, &d->knocks, entry)
			n += same_host(k->address, o->address);
		if (n > most) {
			most = n;
			worst = k;
		}
	}
	if (worst != NULL)
		send_away(worst, "too many connections say nothing");
}

static void
limit_tcp(int fd)
{
	unsigned ms = UNANSWERED_MS;
	const int on = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static bool
accept_one(struct door_main *d, int listen_fd)
{
	unsigned char ours[GREET_PLAIN];
	struct sockaddr_storage a = { 0 };
	socklen_t len = sizeof a;
	struct knock *k;
	int fd = accept4(listen_fd, (struct sockaddr *)&a, &len,
	    SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return false;
	if (d->n_knocks >= KNOCKS_MAX)
		evict_knock(d);
	limit_tcp(fd);
	k = xcalloc(1, sizeof *k);
	k->d = d;
	k->fd = fd;
	tcp_peer_text(&a, k->address);
	k->since_ms = loop_now_ms();
	k->watch = loop_fd_add(d->loop, fd, LOOP_IN, knock_cb, k);
	TAILQ_INSERT_TAIL(&d->knocks, k, entry);
	d->n_knocks++;
	/* An empty socket takes it whole. */
	greet_ours(d->curve, ours);
	(void)send(fd, ours, sizeof ours, MSG_NOSIGNAL | MSG_DONTWAIT);
	return true;
}

static void
listen_cb(int fd, unsigned events unused_arg, void *ctx)
{
	int i;

	for (i = 0; i < ACCEPTS_A_TURN; i++)
		if (!accept_one(ctx, fd))
			return;
}

static void
tick_cb(void *ctx)
{
	struct door_main *d = ctx;
	uint64_t now = loop_now_ms();
	struct knock *k, *next;
	struct visitor *v, *vnext;

	TAILQ_FOREACH_SAFE (k, &d->knocks, entry, next)
		if (now - k->since_ms > PATIENCE_MS)
			send_away(k, "it did not say what it wants in 5 s");
	TAILQ_FOREACH_SAFE (v, &d->visitors, entry, vnext)
		if (!v->in && now - v->since_ms > PATIENCE_MS) {
			refuse(d, "somebody", "a handshake was not finished");
			forget_visitor(v);
		}
	tell_rest(d, now);
}

/* --- life ---------------------------------------------------------------- */

static void
end_cb(void *ctx unused_arg)
{
	_exit(0); /* the guests go with us */
}

/* The orchestrator is done: as soon as the guests are. */
static void
control_cb(int fd unused_arg, unsigned events unused_arg, void *ctx)
{
	struct door_main *d = ctx;

	if (TAILQ_EMPTY(&d->visitors))
		_exit(0);
	loop_del(d->loop, d->control);
	loop_del(d->loop, d->listen);
	d->control = d->listen = NULL;
	(void)loop_timer_add(d->loop, END_MS, 0, end_cb, d);
}

static void
read_keys(struct door_main *d, const char *dir)
{
	char *allowed = path_join(dir, "allowed");
	struct err e;

	if (curve_read_server(dir, &d->keys, &e) < 0)
		fatal("%s", e.text);
	if (zmq_z85_decode(d->secret, d->keys.secret_key) == NULL)
		fatal("%s: no secret key", dir);
	/* Open before we are another uid, who could not walk there. */
	d->allowed_fd = open(allowed, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->allowed_fd < 0)
		fatal("%s: %s", allowed, strerror(errno));
	d->curve = true;
	free(allowed);
}

void
door_main(int argc, char **argv)
{
	struct door_main d = { .allowed_fd = -1 };
	int r;

	if (argc < 2 || argc > 3 || fd_cloexec(CONTROL_FD, true) < 0 ||
	    fd_cloexec(LISTEN_FD, true) < 0)
		fatal("this is not a command for people");
	if (sodium_init() < 0)
		fatal("libsodium can't be used");
	(void)prctl(PR_SET_NAME, "foray-door", 0, 0, 0);
	d.dir = argv[1];
	if (argc == 3)
		read_keys(&d, argv[2]);
	if ((r = aside_drop_root()) < 0)
		fatal("door: %s", err_str(r));
	/* After the change of uid, which clears it. The keys are in memory:
	 * nobody of this uid looks at it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		fatal("prctl: %s", strerror(errno));
	if ((d.share = share_create(GUESTS_MAX)) == NULL)
		fatal("mmap: %s", strerror(errno));
	TAILQ_INIT(&d.knocks);
	TAILQ_INIT(&d.visitors);
	d.told_since_ms = loop_now_ms();
	d.loop = loop_create();
	(void)fd_nonblock(CONTROL_FD, true);
	d.control = loop_fd_add(d.loop, CONTROL_FD, LOOP_IN, control_cb, &d);
	d.listen = loop_fd_add(d.loop, LISTEN_FD, LOOP_IN, listen_cb, &d);
	(void)loop_timer_add(d.loop, TICK_MS, TICK_MS, tick_cb, &d);
	(void)loop_run(d.loop);
	_exit(1);
}
