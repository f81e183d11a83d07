/*
 * conn_relay.c - bytes between a client and its server, each way with a buffer
 * of its own that is filled only when it is empty.
 */
#include "common/compat.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/fdio.h"
#include "orchestrator/egress/proxy_int.h"

/* False: the other side is gone. */
static bool
write_bytes(int fd, const char *p, size_t len, size_t *ret_n)
{
	ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

	*ret_n = n > 0 ? (size_t)n : 0;
	return n >= 0 || errno == EAGAIN || errno == EINTR;
}

static bool
write_flow(struct flow *f, int fd)
{
	size_t n;
	bool ok = write_bytes(fd, f->bytes + f->at, f->len, &n);

	f->at += n;
	f->len -= n;
	f->total += n;
	return ok;
}

bool
relay_flush_client(struct conn *c)
{
	if (c->down.len > 0 && !write_flow(&c->down, c->client.fd))
		c->down.len = 0;
	return c->down.len == 0;
}

static bool
has_head_left(const struct conn *c)
{
	return c->out_at < c->head.out.len;
}

/* Only what belongs to the request: what a client sends after it would reach
 * the server as another one, that nobody has judged. */
static void
bound(struct conn *c)
{
	struct flow *f = &c->up;

	f->len = body_take(&c->body, f->bytes + f->at, f->len);
	if (c->body.done || c->body.bad)
		f->ended = true;
}

static void
read_flow(struct conn *c, struct flow *f, int fd)
{
	ssize_t n = recv(fd, f->bytes, sizeof f->bytes, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	f->at = 0;
	f->len = n > 0 ? (size_t)n : 0;
	if (n <= 0)
		f->ended = true;
	else
		c->deadline_ms = c->p->now + IDLE_MS;
}

static bool
flush_server(struct conn *c)
{
	size_t n;
	bool ok = true;

	if (has_head_left(c)) {
		ok = write_bytes(c->server.fd, c->head.out.data + c->out_at,
		    c->head.out.len - c->out_at, &n);
		c->out_at += n;
		c->up.total += n;
	}
	if (ok && !has_head_left(c) && c->up.len > 0)
		ok = write_flow(&c->up, c->server.fd);
	return ok;
}

static void
pass_end(struct flow *f, int fd, bool tell)
{
	if (!f->ended || f->len > 0 || f->shut)
		return;
	f->shut = true;
	if (tell)
		(void)shutdown(fd, SHUT_WR);
}

static void
update(struct conn *c)
{
	uint32_t client = 0, server = 0;
	bool tunnel = c->head.kind != HEAD_HTTP;

	/* A request has its length: a server may take the end of the stream
	 * for the client's. */
	if (!has_head_left(c))
		pass_end(&c->up, c->server.fd, tunnel || !c->body.done);
	pass_end(&c->down, c->client.fd, true);
	if (c->down.shut && (c->up.shut || !tunnel)) {
		conn_finish(c, "closed");
		return;
	}
	if (!c->up.ended && c->up.len == 0 && !has_head_left(c))
		client |= EPOLLIN;
	if (c->down.len > 0)
		client |= EPOLLOUT;
	if (!c->down.ended && c->down.len == 0)
		server |= EPOLLIN;
	if (c->up.len > 0 || has_head_left(c))
		server |= EPOLLOUT;
	watch_set(c->p, &c->client, client);
	watch_set(c->p, &c->server, server);
}

void
relay_begin(struct conn *c)
{
	c->state = CONN_RELAY;
	c->deadline_ms = c->p->now + IDLE_MS;
	conn_write_success(c);
	c->up.at = 0;
	bound(c);
	if (!flush_server(c)) {
		conn_finish(c, "the server hung up");
		return;
	}
	(void)relay_flush_client(c);
	update(c);
}

/* What is not watched reports nothing, so an error or a hang-up comes only
 * where reading or writing tells the same. */
void
relay_event(struct conn *c, struct watch *w, uint32_t events unused_arg)
{
	if (w->kind == WATCH_CLIENT && !c->up.ended && c->up.len == 0 &&
	    !has_head_left(c)) {
		read_flow(c, &c->up, w->fd);
		bound(c);
	}
	if (w->kind == WATCH_SERVER && !c->down.ended && c->down.len == 0)
		read_flow(c, &c->down, w->fd);
	if ((c->up.len > 0 || has_head_left(c)) && !flush_server(c)) {
		/* It may have answered before it closed. */
		c->up.len = 0;
		c->up.ended = c->up.shut = true;
		c->out_at = c->head.out.len;
	}
	if (c->down.len > 0 && !write_flow(&c->down, c->client.fd))
		conn_finish(c, "the client hung up");
	else
		update(c);
}
