/*
 * link.c - messages of one host of another machine.
 */
#include "common/compat.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/fdio.h"
#include "common/log.h"
#include "orchestrator/door/link.h"
#include "proto/peer.h"

#define HEAD 5
#define BITE 16384              /* bytes read a turn: others have theirs */
#define KEPT ((size_t)64 << 10) /* bytes of an empty buffer */
#define FRAME_MAX (MSG_MAX_BYTES + PEER_WORKER_MAX)

struct link {
	struct loop *loop;
	int fd;
	struct loop_watch *watch;
	struct link_ops ops;
	void *ctx;
	struct buf in, out;
	size_t out_at; /* of out: what is written */
	bool paused, ended;
};

size_t
link_queued(const struct link *l)
{
	return l->out.len - l->out_at;
}

static void
watch(struct link *l)
{
	unsigned events = l->paused ? 0 : LOOP_IN;

	if (link_queued(l) > 0)
		events |= LOOP_OUT;
	if (!l->ended)
		loop_fd_events(l->watch, events);
}

static void
end(struct link *l, const char *why)
{
	if (l->ended)
		return;
	l->ended = true;
	loop_del(l->loop, l->watch);
	l->watch = NULL;
	l->ops.on_end(l, why, l->ctx);
}

/* A large message is over: its memory is for others. */
static void
give_back(struct buf *b)
{
	if (b->len == 0 && b->size > KEPT)
		buf_clear(b);
}

static void
flush(struct link *l)
{
	ssize_t n;

	while (l->out_at < l->out.len) {
		n = send(l->fd, l->out.data + l->out_at, l->out.len - l->out_at,
		    MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		l->out_at += (size_t)n;
	}
	if (l->out_at == l->out.len) {
		buf_reset(&l->out);
		l->out_at = 0;
		give_back(&l->out);
	}
}

/* One frame at the front of in: its size, 0 when it is not all there, or
 * negative. */
static ssize_t
take(struct link *l, const unsigned char *p, size_t n)
{
	char worker[PEER_WORKER_MAX + 1];
	size_t len, name;
	int r;

	if (n < HEAD)
		return 0;
	len =
	    (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
	name = p[4];
	if (len > FRAME_MAX || name > PEER_WORKER_MAX || name > len)
		return ERR_PROTO;
	if (n < HEAD + len)
		return 0;
	memcpy(worker, p + HEAD, name);
	worker[name] = '\0';
	r = l->ops.on_frame(l, worker, p + HEAD + name, len - name, l->ctx);
	return r < 0 ? r : (ssize_t)(HEAD + len);
}

/* All that is there in whole. */
static int
take_all(struct link *l)
{
	size_t at = 0;
	ssize_t n = 1;

	while (n > 0 && !l->ended) {
		n = take(
		    l, (const unsigned char *)l->in.data + at, l->in.len - at);
		if (n > 0)
			at += (size_t)n;
	}
	buf_drain(&l->in, at);
	give_back(&l->in);
	if (n == -EAGAIN) {
		l->paused = true;
		n = 0;
	}
	return n < 0 ? (int)n : 0;
}

static void
link_cb(int fd, unsigned events, void *ctx)
{
	struct link *l = ctx;
	ssize_t n;
	int r;

	if (link_queued(l) > 0)
		flush(l);
	if (l->paused && (events & LOOP_HUP) != 0) {
		end(l, "the connection has ended");
		return;
	}
	if ((events & (LOOP_IN | LOOP_HUP)) == 0 || l->paused) {
		watch(l);
		return;
	}
	if (buf_reserve(&l->in, BITE) < 0) {
		end(l, "a frame is too large");
		return;
	}
	n = recv(fd, l->in.data + l->in.len, BITE, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		watch(l);
		return;
	}
	if (n <= 0) {
		end(l, "the connection has ended");
		return;
	}
	buf_fill(&l->in, (size_t)n);
	if ((r = take_all(l)) < 0)
		end(l, r == ERR_PROTO ? "a frame is malformed" : err_str(r));
	else
		watch(l);
}

struct link *
link_create(struct loop *loop, int fd, const struct link_ops *ops, void *ctx)
{
	struct link *l = xcalloc(1, sizeof *l);

	l->loop = loop;
	l->fd = fd;
	l->ops = *ops;
	l->ctx = ctx;
	buf_init(&l->in, HEAD + FRAME_MAX + BITE);
	/* Written, waiting, and one message more: it always fits. */
	buf_init(&l->out, 2 * LINK_QUEUE + 2 * (HEAD + FRAME_MAX));
	l->watch = loop_fd_add(loop, fd, LOOP_IN, link_cb, l);
	return l;
}

void
link_free(struct link *l)
{
	if (l == NULL)
		return;
	flush(l);
	loop_del(l->loop, l->watch);
	fd_close(&l->fd);
	buf_clear(&l->in);
	buf_clear(&l->out);
	free(l);
}

int
link_send(struct link *l, const char *worker, const void *raw, size_t len,
    struct err *e)
{
	size_t name = worker != NULL ? strlen(worker) : 0, all = len + name;
	unsigned char head[HEAD];

	if (l->ended)
		return err_set(e, -EPIPE, "the host is gone");
	if (name > PEER_WORKER_MAX || len > MSG_MAX_BYTES)
		return err_set(e, ERR_LIMIT, "a message is too large");
	if (link_queued(l) > LINK_QUEUE)
		return err_set(e, -EAGAIN, "the host does not read");
	if (l->out_at > LINK_QUEUE) {
		buf_drain(&l->out, l->out_at);
		l->out_at = 0;
	}
	head[0] = (unsigned char)(all >> 24);
	head[1] = (unsigned char)(all >> 16);
	head[2] = (unsigned char)(all >> 8);
	head[3] = (unsigned char)all;
	head[4] = (unsigned char)name;
	if (buf_add(&l->out, head, HEAD) < 0 ||
	    (name > 0 && buf_add(&l->out, worker, name) < 0) ||
	    buf_add(&l->out, raw, len) < 0)
		return err_set(e, -EAGAIN, "the host does not read");
	flush(l);
	watch(l);
	return 0;
}

void
link_resume(struct link *l)
{
	int r;

	if (!l->paused || l->ended)
		return;
	l->paused = false;
	if ((r = take_all(l)) < 0)
		end(l, r == ERR_PROTO ? "a frame is malformed" : err_str(r));
	else
		watch(l);
}
