/*
 * intake.c - see intake.h.
 *
 * What may be in memory here is bounded by the questions that are open: an
 * answer to none of them is dropped.
 */
#include "common/compat.h"

#include "worker/host/intake.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/spawn.h"
#include "common/strv.h"
#include "proto/peer.h"
#include "sandbox/snapshot_export.h"
#include "worker/host/intake_int.h"
#include "worker/host/reap.h"
#include "worker/host/relay.h"

#define ID_LEN 32
#define AGAIN_MS 3000           /* an unanswered question is put again */
#define GIVE_UP_MS (600 * 1000) /* no answer at all */
#define TICKETS (2 * SNAPSHOT_WINDOW)
#define BITE 65536
#define STILL_MS 10000 /* then it is said that it goes on, whatever comes */

/* An ASSIGN that waits. */
struct waiter {
	TAILQ_ENTRY(waiter) entry;
	char name[PEER_WORKER_MAX + 1];
	struct msg *m; /* the ASSIGN, a copy */
};

struct question {
	struct msg *m; /* NEED; NULL: free */
	uint64_t sent_ms;
};

struct intake {
	struct intake_conf conf;
	const struct intake_ops *ops;
	void *ctx;
	TAILQ_HEAD(waiter_list, waiter) list;
	size_t n;
	struct strv good; /* ids that are known to be whole */
	uint64_t ticket[TICKETS];
	size_t tickets;

	/* The child, and what it takes in. */
	pid_t pid; /* 0: none */
	struct loop_watch *child;
	char id[ID_LEN + 1];
	int sock; /* -1: hung up */
	struct loop_watch *watch;
	struct buf in, out;
	struct question asked[SNAPSHOT_WINDOW];
	uint64_t heard_ms; /* the last answer */
	uint64_t done, total;
	uint64_t said; /* of done, to the orchestrator */
	uint64_t said_ms;
	bool ended; /* the child has said how */
};

static void start_next(struct intake *in);

bool
intake_is_id(const char *s)
{
	return strlen(s) == ID_LEN && strspn(s, "0123456789abcdef") == ID_LEN;
}

/* --- who waits ------------------------------------------------------------ */

static struct msg *
copy_msg(const struct msg *m)
{
	struct msg *copy;
	struct buf b;
	struct err e;

	buf_init(&b, BUF_NOMAX);
	/* It was decoded a moment ago. */
	if (msg_encode(m, &b, &e) < 0 ||
	    msg_decode(b.data, b.len, &copy, &e) < 0)
		fatal("%s: %s", msg_name(m->type), e.text);
	buf_clear(&b);
	return copy;
}

static const char *
wanted(const struct waiter *w)
{
	return w->m->u.assign.snapshot;
}

static void
waiter_free(struct intake *in, struct waiter *w)
{
	TAILQ_REMOVE(&in->list, w, entry);
	in->n--;
	msg_free(w->m);
	free(w);
}

/* One of those that want the id; NULL: any. Taken out of the list. */
static struct waiter *
find_waiter(struct intake *in, const char *id, const char *name)
{
	struct waiter *w;

	TAILQ_FOREACH (w, &in->list, entry)
		if ((id == NULL || strcmp(wanted(w), id) == 0) &&
		    (name == NULL || name[0] == '\0' ||
			strcmp(w->name, name) == 0))
			return w;
	return NULL;
}

static void
fail_waiters(struct intake *in, const char *id, const char *name,
    const char *reason, const char *why)
{
	struct waiter *w;
	char who[PEER_WORKER_MAX + 1];

	while ((w = find_waiter(in, id, name)) != NULL) {
		(void)snprintf(who, sizeof who, "%s", w->name);
		waiter_free(in, w);
		if (reason != NULL)
			in->ops->failed(who, reason, why, in->ctx);
	}
}

static void
start_waiters(struct intake *in)
{
	struct waiter *w;
	struct waiter_list list = TAILQ_HEAD_INITIALIZER(list);

	/* They may come to wait again. */
	while ((w = find_waiter(in, in->id, NULL)) != NULL) {
		TAILQ_REMOVE(&in->list, w, entry);
		TAILQ_INSERT_TAIL(&list, w, entry);
	}
	while ((w = TAILQ_FIRST(&list)) != NULL) {
		TAILQ_REMOVE(&list, w, entry);
		in->n--;
		in->ops->ready(w->name, &w->m->u.assign, in->ctx);
		msg_free(w->m);
		free(w);
	}
}

/* --- questions and answers ------------------------------------------------ */

static void
put_question(struct intake *in, struct question *q)
{
	struct err e;

	q->sent_ms = loop_now_ms();
	q->m->u.need.ticket = 0;
	if (in->tickets > 0) {
		q->m->u.need.ticket = in->ticket[0];
		memmove(in->ticket, in->ticket + 1,
		    --in->tickets * sizeof in->ticket[0]);
	}
	if (relay_msg(in->conf.up, "", q->m, NULL, &e) < 0)
		log_warn("NEED: %s", e.text); /* it is put again */
}

static bool
take_question(struct intake *in, struct msg *m)
{
	size_t i;

	for (i = 0; i < nitems(in->asked); i++) {
		if (in->asked[i].m == NULL) {
			in->asked[i].m = m;
			put_question(in, &in->asked[i]);
			return true;
		}
	}
	return false;
}

static void
hang_up(struct intake *in)
{
	size_t i;

	loop_del(in->conf.loop, in->watch);
	in->watch = NULL;
	fd_close(&in->sock);
	buf_clear(&in->in);
	buf_clear(&in->out);
	for (i = 0; i < nitems(in->asked); i++) {
		msg_free(in->asked[i].m);
		in->asked[i].m = NULL;
	}
}

static void
fail(struct intake *in, const char *why)
{
	log_warn("snapshot %s: %s", in->id, why);
	hang_up(in);
	in->ended = true;
	fail_waiters(in, in->id, NULL, "start", why);
}

static void
succeed(struct intake *in)
{
	log_info("snapshot %s is here", in->id);
	hang_up(in);
	in->ended = true;
	strv_add(&in->good, in->id);
	start_waiters(in);
}

/* From the child. Takes m. */
static void
on_frame(struct intake *in, struct msg *m)
{
	switch (m->type) {
	case MSG_NEED:
		if (take_question(in, m))
			return;
		fail(in, "its child asks for too much");
		break;
	case MSG_PROGRESS:
		in->done = m->u.progress.done;
		in->total = m->u.progress.total;
		break;
	case MSG_WORKER_EXIT:
		if (strcmp(m->u.worker_exit.reason, "exited") == 0)
			succeed(in);
		else
			fail(in, msg_str(m->u.worker_exit.detail));
		break;
	default:
		fail(in, "its child says what it may not");
		break;
	}
	msg_free(m);
}

static void
take_frames(struct intake *in)
{
	struct msg *m;
	struct err e;
	uint32_t len;

	while (in->sock >= 0 && in->in.len >= sizeof len) {
		memcpy(&len, in->in.data, sizeof len);
		if (len > INTAKE_FRAME_MAX) {
			fail(in, "its child sends too much");
			return;
		}
		if (in->in.len < sizeof len + len)
			return;
		if (msg_decode(in->in.data + sizeof len, len, &m, &e) < 0) {
			fail(in, e.text);
			return;
		}
		buf_drain(&in->in, sizeof len + len);
		on_frame(in, m);
	}
}

static void
flush(struct intake *in)
{
	ssize_t n;

	while (in->out.len > 0) {
		n = send(in->sock, in->out.data, in->out.len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break; /* full; or gone, which its exit tells */
		buf_drain(&in->out, (size_t)n);
	}
	loop_fd_events(
	    in->watch, in->out.len > 0 ? LOOP_IN | LOOP_OUT : LOOP_IN);
}

/* False: nothing more for now. */
static bool
read_some(struct intake *in)
{
	ssize_t n;

	if (buf_reserve(&in->in, BITE) < 0) {
		fail(in, "its child sends too much");
		return false;
	}
	n = read(in->sock, in->in.data + in->in.len, BITE);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) { /* its exit comes next */
		hang_up(in);
		return false;
	}
	buf_fill(&in->in, (size_t)n);
	take_frames(in);
	return in->sock >= 0;
}

static void
sock_cb(int fd unused_arg, unsigned events, void *ctx)
{
	struct intake *in = ctx;

	if (events & LOOP_OUT)
		flush(in);
	if (events & (LOOP_IN | LOOP_HUP))
		(void)read_some(in); /* called again while there is more */
}

static struct question *
find_question(struct intake *in, const struct msg_snapshot *m)
{
	struct question *q;
	size_t i;

	for (i = 0; i < nitems(in->asked); i++) {
		q = &in->asked[i];
		if (q->m != NULL && q->m->u.need.seq == m->seq &&
		    strcmp(q->m->u.need.snapshot, m->snapshot) == 0)
			return q;
	}
	return NULL;
}

void
intake_answer(struct intake *in, const struct msg_snapshot *m)
{
	struct msg down = { .type = MSG_SNAPSHOT, .u.snapshot = *m };
	struct question *q = find_question(in, m);
	size_t at = in->out.len;
	struct err e;
	uint32_t n = 0;

	/* The oldest were of a connection that is no more. */
	if (in->tickets == TICKETS)
		memmove(in->ticket, in->ticket + 1,
		    --in->tickets * sizeof in->ticket[0]);
	in->ticket[in->tickets++] = m->ticket;
	if (q == NULL || in->sock < 0)
		return; /* nobody wants it any more, or it came twice */
	in->heard_ms = loop_now_ms();
	if (m->error != NULL) {
		fail(in, m->error);
		return;
	}
	msg_free(q->m);
	q->m = NULL;
	/* What waits here is bounded by the questions. */
	(void)buf_add(&in->out, &n, sizeof n);
	if (msg_encode(&down, &in->out, &e) < 0) {
		fail(in, e.text);
		return;
	}
	n = (uint32_t)(in->out.len - at - sizeof n);
	memcpy(in->out.data + at, &n, sizeof n);
	flush(in);
}

/* --- the child ------------------------------------------------------------ */

static void
child_cb(pid_t pid, int status, void *ctx)
{
	struct intake *in = ctx;
	char why[128];

	in->pid = 0;
	in->child = NULL;
	reap_done(in->conf.reaper, pid);
	while (in->sock >= 0 && read_some(in))
		; /* its last words */
	if (!in->ended) {
		(void)snprintf(why, sizeof why,
		    "the snapshot's intake ended with status %d",
		    spawn_status(status));
		fail(in, why);
	}
	hang_up(in);
	start_next(in);
}

static int
start_child(struct intake *in, struct err *e)
{
	int socks[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks) < 0)
		return err_set(e, -errno, "socketpair: %s", strerror(errno));
	in->pid = fork();
	if (in->pid == 0)
		intake_child(socks[1], &in->conf, in->id);
	fd_close(&socks[1]);
	if (in->pid < 0) {
		in->pid = 0;
		fd_close(&socks[0]);
		return err_set(e, -errno, "fork: %s", strerror(errno));
	}
	reap_know(in->conf.reaper, in->pid);
	in->child = loop_child_add(in->conf.loop, in->pid, child_cb, in);
	if (in->child == NULL)
		fatal("the intake can't be watched: %s", strerror(errno));
	(void)fd_nonblock(socks[0], true); /* of our own: can't fail */
	in->sock = socks[0];
	in->watch = loop_fd_add(in->conf.loop, in->sock, LOOP_IN, sock_cb, in);
	buf_init(&in->in, INTAKE_FRAME_MAX + 2 * BITE);
	buf_init(&in->out, BUF_NOMAX);
	return 0;
}

static void
start_next(struct intake *in)
{
	struct waiter *w;
	struct err e;

	while (in->pid == 0 && (w = TAILQ_FIRST(&in->list)) != NULL) {
		(void)snprintf(in->id, sizeof in->id, "%s", wanted(w));
		in->ended = false;
		in->done = in->total = in->said = 0;
		in->heard_ms = in->said_ms = loop_now_ms();
		log_info("snapshot %s is taken in", in->id);
		if (start_child(in, &e) < 0)
			fail(in, e.text);
	}
}

/* --- from outside --------------------------------------------------------- */

static bool
is_here(const struct intake *in, const char *id)
{
	char *tree = path_joinf(in->conf.store, "%s/tree", id);
	struct stat st;
	bool yes = (in->conf.shared || strv_has(&in->good, id)) &&
	    stat(tree, &st) == 0;

	free(tree);
	return yes;
}

bool
intake_take(struct intake *in, const char *name, const struct msg_assign *a)
{
	struct msg m = { .type = MSG_ASSIGN };
	struct waiter *w;

	if (!intake_is_id(msg_str(a->snapshot)) || is_here(in, a->snapshot))
		return false;
	w = xcalloc(1, sizeof *w);
	(void)snprintf(w->name, sizeof w->name, "%s", name);
	m.u.assign = *a;
	w->m = copy_msg(&m);
	TAILQ_INSERT_TAIL(&in->list, w, entry);
	in->n++;
	start_next(in);
	return true;
}

size_t
intake_waiting(const struct intake *in)
{
	return in->n;
}

bool
intake_has(const struct intake *in, const char *name)
{
	const struct waiter *w;

	TAILQ_FOREACH (w, &in->list, entry)
		if (strcmp(w->name, name) == 0)
			return true;
	return false;
}

void
intake_cancel(
    struct intake *in, const char *name, const char *reason, const char *why)
{
	fail_waiters(in, NULL, name, reason, why);
	if (in->sock < 0 || find_waiter(in, in->id, NULL) != NULL)
		return;
	log_info("snapshot %s is not wanted any more", in->id);
	in->ended = true;
	hang_up(in); /* the child clears up and ends */
}

static void
say_progress(struct intake *in)
{
	struct msg m = { .type = MSG_PROGRESS };
	const struct waiter *w;
	char text[64];
	struct err e;

	if (in->ended || in->pid == 0)
		return;
	/* To look at what is there already may take minutes: whoever waits
	 * must not take us for one that does nothing. */
	if ((in->total == 0 || in->done == in->said) &&
	    loop_now_ms() - in->said_ms < STILL_MS)
		return;
	in->said = in->done;
	in->said_ms = loop_now_ms();
	(void)snprintf(text, sizeof text, "is looked at");
	if (in->total > 0)
		(void)snprintf(text, sizeof text, "%ju %% of %ju MiB",
		    (uintmax_t)(in->done * 100 / in->total),
		    (uintmax_t)(in->total >> 10));
	log_info("snapshot %s: %s", in->id, text);
	m.u.progress.what = "snapshot";
	m.u.progress.text = text;
	m.u.progress.done = in->done;
	m.u.progress.total = in->total;
	TAILQ_FOREACH (w, &in->list, entry)
		if (strcmp(wanted(w), in->id) == 0 &&
		    relay_msg(in->conf.up, w->name, &m, NULL, &e) < 0)
			log_debug("PROGRESS: %s", e.text);
}

void
intake_tick(struct intake *in)
{
	uint64_t now = loop_now_ms();
	bool open = false;
	size_t i;

	for (i = 0; i < nitems(in->asked); i++) {
		if (in->asked[i].m == NULL)
			continue;
		open = true;
		if (now - in->asked[i].sent_ms >= AGAIN_MS)
			put_question(in, &in->asked[i]);
	}
	if (!open)
		in->heard_ms = now; /* it is not the orchestrator's turn */
	else if (now - in->heard_ms >= GIVE_UP_MS) {
		fail(in, "the orchestrator has not answered for ten minutes");
		return;
	}
	say_progress(in);
}

struct intake *
intake_create(
    const struct intake_conf *conf, const struct intake_ops *ops, void *ctx)
{
	struct intake *in = xcalloc(1, sizeof *in);

	in->conf = *conf;
	in->ops = ops;
	in->ctx = ctx;
	in->sock = -1;
	TAILQ_INIT(&in->list);
	if (!conf->shared)
		intake_sweep(conf->store, conf->cache_max);
	return in;
}

void
intake_free(struct intake *in)
{
	struct waiter *w;

	if (in == NULL)
		return;
	hang_up(in);
	loop_del(in->conf.loop, in->child);
	while ((w = TAILQ_FIRST(&in->list)) != NULL)
		waiter_free(in, w);
	strv_clear(&in->good);
	free(in);
}
