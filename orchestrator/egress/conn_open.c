/*
 * conn_open.c - from a request that is on record to a server, or to a refusal.
 */
#include "common/compat.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/fdio.h"
#include "orchestrator/egress/advice.h"
#include "orchestrator/egress/proxy_int.h"

#define LOOKUPS_SHARE 16 /* of one worker at once */
#define TRY_MS 4000      /* for an address when there are others */
#define BODY_MAX 8192    /* of a refusal */

/* --- refusals ------------------------------------------------------------ */

static const char *
reason(unsigned status)
{
	switch (status) {
	case 403:
		return "Forbidden";
	case 408:
		return "Request Timeout";
	case 431:
		return "Request Header Fields Too Large";
	case 500:
		return "Internal Server Error";
	case 502:
		return "Bad Gateway";
	case 504:
		return "Gateway Timeout";
	case 505:
		return "HTTP Version Not Supported";
	default:
		return "Bad Request";
	}
}

static void
socks_reply(struct conn *c, unsigned char code)
{
	const unsigned char bytes[] = { 5, code, 0, 1, 0, 0, 0, 0, 0, 0 };

	memcpy(c->down.bytes, bytes, sizeof bytes);
	c->down.len = sizeof bytes;
}

static unsigned char
socks_code(unsigned status)
{
	if (status < 100)
		return (unsigned char)status;
	return status == 403 ? 2 : status == 502 ? 4 : status == 504 ? 6 : 1;
}

/* What would let it through; of a server of the command's own, how it is
 * reached. */
static void
advise(const struct conn *c, struct buf *b)
{
	const struct net_rules *r = c->p->rules;

	(void)buf_adds(b,
	    "A sandboxed command reaches only the hosts that the person "
	    "allows. To allow this one: ");
	advice_options(&c->missing, b);
	(void)buf_adds(b, ", or in settings.json \"network\": {\"allow\": [");
	for (size_t i = 0; i < c->missing.n; i++)
		(void)buf_printf(
		    b, "%s\"%s\"", i > 0 ? ", " : "", c->missing.v[i]);
	(void)buf_adds(b, "]}, beside what is there\n");
	if (target_is_own(&c->head.target))
		(void)buf_printf(b,
		    "Asked of the proxy, %s is the machine outside. A server "
		    "that the command started itself is at %s:%u, without the "
		    "proxy (curl --noproxy '*')\n",
		    c->head.target.host, net_rules_own_name(r),
		    c->head.target.port);
}

/* pip and others show the line and no more: the why stands in it, too. */
static void
http_reply(struct conn *c)
{
	struct buf b;
	int n;

	buf_init(&b, BODY_MAX);
	(void)buf_printf(&b, "foray: %s\n", c->why);
	if (c->status == 403 && c->missing.n > 0)
		advise(c, &b);
	n = snprintf(c->down.bytes, sizeof c->down.bytes,
	    "HTTP/1.1 %u %s (foray: %s)\r\n"
	    "Content-Type: text/plain; charset=utf-8\r\n"
	    "Content-Length: %zu\r\nConnection: close\r\n"
	    "Proxy-Connection: close\r\n\r\n%s",
	    c->status, reason(c->status), c->why, b.len, buf_str(&b));
	c->down.len = (size_t)n; /* fits */
	buf_clear(&b);
}

void
conn_write_refusal(struct conn *c)
{
	c->down.at = c->down.len = 0;
	if (c->status == 403 && c->has_head)
		listener_tell(c->l, &c->head.target);
	if (c->socks && c->greeted)
		socks_reply(c, socks_code(c->status));
	else if (!c->socks)
		http_reply(c);
	watch_close(c->p, &c->server);
	c->state = CONN_REFUSED;
	c->deadline_ms = c->p->now + LINGER_MS;
	c->up.at = 0;
	watch_set(c->p, &c->client, EPOLLOUT);
}

void
conn_refuse(struct conn *c, unsigned status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(c->why, sizeof c->why, fmt, ap);
	va_end(ap);
	c->status = status;
	proxy_unnote(c->p, c);
	conn_write_refusal(c);
}

void
conn_write_success(struct conn *c)
{
	static const char ok[] = "HTTP/1.1 200 Connection established\r\n\r\n";

	c->down.at = c->down.len = 0;
	if (c->head.kind == HEAD_SOCKS) {
		socks_reply(c, 0);
	} else if (c->head.kind == HEAD_CONNECT) {
		memcpy(c->down.bytes, ok, sizeof ok - 1);
		c->down.len = sizeof ok - 1;
	}
}

/* --- addresses ----------------------------------------------------------- */

void
conn_start(struct conn *c)
{
	if (c->head.target.kind == TARGET_NAME) {
		c->state = CONN_RESOLVE;
		c->deadline_ms = c->p->now + RESOLVE_MS;
		conn_look_up(c);
		return;
	}
	c->addrs[0] = c->head.target;
	c->n_addrs = 1;
	c->deadline_ms = c->p->now + CONNECT_MS;
	conn_connect(c);
}

void
conn_look_up(struct conn *c)
{
	if (c->gone || c->state != CONN_RESOLVE || c->looking ||
	    c->tenant->lookups >= LOOKUPS_SHARE)
		return;
	if (resolver_start(c->p->resolver, c->id, c->head.target.host,
		c->head.target.port) < 0)
		return; /* another one's end comes by here again */
	c->looking = true;
	c->tenant->lookups++;
}

void
conn_resolved(struct conn *c, const struct answer *a)
{
	char where[TARGET_TEXT];
	size_t i;

	c->looking = false;
	c->tenant->lookups--;
	if (c->gone) {
		conn_free(c);
		return;
	}
	if (c->state != CONN_RESOLVE)
		return; /* it took too long: that was said */
	for (i = 0; i < a->n; i++)
		if (net_rules_address(c->p->rules, &a->addrs[i]))
			c->addrs[c->n_addrs++] = a->addrs[i];
		else if (target_is_own(&a->addrs[i]))
			advice_missing(c->p->rules, &a->addrs[i], NULL, 0,
			    &c->missing); /* the server may be there */
	if (c->n_addrs > 0) {
		c->deadline_ms = c->p->now + CONNECT_MS;
		conn_connect(c);
		return;
	}
	if (a->n == 0) {
		c->ended = "the name has no address";
		conn_refuse(c, 502, "%s: %s", c->head.target.host,
		    a->error != 0 ? gai_strerror(a->error) : "no address");
		return;
	}
	/* A decision of its own, and so a record of its own. */
	target_text(&a->addrs[0], where);
	c->status = 403;
	c->ended = "its address is refused";
	advice_missing(
	    c->p->rules, &c->head.target, a->addrs, a->n, &c->missing);
	(void)snprintf(c->why, sizeof c->why,
	    "%s is in network.allow, but leads to %s, which is no public "
	    "address and needs a rule of its own",
	    c->head.target.host, where);
	conn_ask(c);
}

/* --- the connection ------------------------------------------------------ */

/* -EINPROGRESS or 0, with the descriptor watched; else it can't be. */
static int
try_address(struct conn *c)
{
	struct sockaddr_storage ss;
	socklen_t len = target_sockaddr(&c->addrs[c->addr], &ss);
	int one = 1, r;

	c->server.fd =
	    socket(ss.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->server.fd < 0)
		return -errno;
	(void)setsockopt(
	    c->server.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	r = connect(c->server.fd, (const struct sockaddr *)&ss, len);
	if (r < 0 && errno != EINPROGRESS) {
		r = -errno;
		watch_close(c->p, &c->server);
		return r;
	}
	c->server.events = 0;
	watch_set(c->p, &c->server, EPOLLOUT);
	return 0;
}

static void
no_server(struct conn *c, int error)
{
	unsigned status = error == -ETIMEDOUT ? 504 : 502;
	char where[TARGET_TEXT];
	struct buf b;

	target_text(&c->head.target, where);
	c->addr = c->n_addrs - 1;
	c->ended = "no connection";
	buf_init(&b, 1024);
	if (c->missing.n > 0) {
		(void)buf_adds(&b, " (its other address has no rule: ");
		advice_options(&c->missing, &b);
		(void)buf_adds(&b, ")");
	}
	conn_refuse(
	    c, status, "%s: %s%s", where, strerror(-error), buf_str(&b));
	buf_clear(&b);
}

/* The addresses from c->addr on, until one can be tried. */
void
conn_connect(struct conn *c)
{
	int r = -ENETUNREACH;

	c->state = CONN_CONNECT;
	for (; c->addr < c->n_addrs; c->addr++) {
		r = try_address(c);
		if (r < 0)
			continue;
		c->try_ms =
		    c->addr + 1 < c->n_addrs ? c->p->now + TRY_MS : UINT64_MAX;
		return;
	}
	no_server(c, r);
}

void
conn_connected(struct conn *c, uint32_t events)
{
	int error = 0;
	socklen_t len = sizeof error;

	if (getsockopt(c->server.fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	if (error == 0 && (events & EPOLLOUT) != 0 &&
	    (events & EPOLLERR) == 0) {
		relay_begin(c);
		return;
	}
	watch_close(c->p, &c->server);
	if (++c->addr < c->n_addrs)
		conn_connect(c);
	else
		no_server(c, error != 0 ? -error : -ETIMEDOUT);
}
