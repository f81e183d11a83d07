/*
 * tcp.c - endpoints between machines.
 */
#include "common/compat.h"

#include "proto/tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/num.h"

#define SCHEME "tcp://"
#define BACKLOG 128

bool
tcp_is(const char *endpoint)
{
	return strncmp(endpoint, SCHEME, strlen(SCHEME)) == 0;
}

static bool
is_host(const struct tcp_end *t)
{
	static const char name[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
	struct in6_addr a;

	if (t->v6)
		return inet_pton(AF_INET6, t->host, &a) == 1;
	return t->host[0] != '\0' && t->host[0] != '-' &&
	    t->host[strspn(t->host, name)] == '\0';
}

int
tcp_parse(const char *endpoint, bool listen, struct tcp_end *ret, struct err *e)
{
	struct tcp_end t = { 0 };
	const char *host, *end, *port;
	uint64_t n = 0;

	if (!tcp_is(endpoint))
		return err_set(e, ERR_USAGE,
		    "'%s' is no endpoint: tcp://HOST:PORT is expected",
		    endpoint);
	host = endpoint + strlen(SCHEME);
	t.v6 = *host == '[';
	if (t.v6) {
		end = strchr(++host, ']');
		port = end != NULL && end[1] == ':' ? end + 2 : NULL;
	} else {
		end = strrchr(host, ':');
		port = end != NULL ? end + 1 : NULL;
	}
	if (port == NULL)
		return err_set(
		    e, ERR_USAGE, "%s: the port is missing", endpoint);
	if ((size_t)(end - host) >= sizeof t.host)
		return err_set(e, ERR_USAGE, "the host's name is too long");
	memcpy(t.host, host, (size_t)(end - host));
	if (!t.v6 && strchr(t.host, ':') != NULL)
		return err_set(e, ERR_USAGE,
		    "%s: an IPv6 address stands in brackets: tcp://[::1]:PORT",
		    endpoint);
	if (!is_host(&t) && !(listen && strcmp(t.host, "*") == 0))
		return err_set(e, ERR_USAGE,
		    "%s: '%s' is no host's name or address", endpoint, t.host);
	if (!(listen && strcmp(port, "*") == 0) &&
	    num_u64(port, listen ? 0 : 1, 65535, "the port", &n, e) < 0)
		return err_prefix(e, "%s", endpoint);
	t.port = (uint16_t)n;
	*ret = t;
	return 0;
}

char *
tcp_text(const struct tcp_end *t, char dst[TCP_TEXT])
{
	(void)snprintf(dst, TCP_TEXT, "%s%s%s%s:%u", SCHEME, t->v6 ? "[" : "",
	    t->host, t->v6 ? "]" : "", t->port);
	return dst;
}

static int
resolve(const struct tcp_end *t, struct addrinfo **ret, struct err *e)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	bool all = strcmp(t->host, "*") == 0;
	char port[8];
	int r;

	(void)snprintf(port, sizeof port, "%u", t->port);
	r = getaddrinfo(all ? NULL : t->host, port, &hints, ret);
	if (r != 0)
		return err_set(
		    e, ERR_USAGE, "%s: %s", t->host, gai_strerror(r));
	return 0;
}

int
tcp_check_loopback(const struct tcp_end *t, struct err *e)
{
	struct in_addr v4;
	struct in6_addr v6;

	if (t->v6 ? inet_pton(AF_INET6, t->host, &v6) == 1 &&
		    IN6_IS_ADDR_LOOPBACK(&v6)
		  : inet_pton(AF_INET, t->host, &v4) == 1 &&
		    ntohl(v4.s_addr) >> 24 == 127)
		return 0;
	return err_set(e, ERR_USAGE,
	    "'%s' is no loopback address (127.0.0.1, [::1]), and without keys "
	    "everybody on the way could read and change all of it: use keys "
	    "(foray keys)",
	    t->host);
}

/* "*" is both families where the kernel has both. */
static int
listen_at(const struct addrinfo *a, bool all)
{
	int fd =
	    socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int on = 1;
	int only = all ? 0 : 1, r;

	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (a->ai_family == AF_INET6)
		(void)setsockopt(
		    fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
	if (bind(fd, a->ai_addr, a->ai_addrlen) < 0 ||
	    listen(fd, BACKLOG) < 0) {
		r = -errno;
		fd_close(&fd);
		return r;
	}
	return fd;
}

static const char *
listen_remedy(int error)
{
	switch (error) {
	case -EADDRINUSE:
		return ": another program listens there: name another port, or "
		       "* for one that is free";
	case -EADDRNOTAVAIL:
		return ": this machine has no such address: name one of its "
		       "own, or * for all";
	default:
		return "";
	}
}

int
tcp_listen(const struct tcp_end *t, struct tcp_end *ret_bound, struct err *e)
{
	bool all = strcmp(t->host, "*") == 0;
	struct sockaddr_storage bound = { 0 };
	socklen_t len = sizeof bound;
	struct addrinfo *list, *a;
	char text[TCP_TEXT];
	int fd = -EADDRNOTAVAIL, r = resolve(t, &list, e);

	if (r < 0)
		return r;
	for (a = list; a != NULL && fd < 0 && all; a = a->ai_next)
		if (a->ai_family == AF_INET6)
			fd = listen_at(a, true);
	/* One family, where the kernel has but one; never because another
	 * program has the port of the other: half of the hosts would meet it.
	 */
	for (a = list; a != NULL && fd < 0 && !(all && fd == -EADDRINUSE);
	     a = a->ai_next)
		fd = listen_at(a, false);
	freeaddrinfo(list);
	if (fd < 0)
		return err_set(e, ERR_USAGE, "%s: %s%s", tcp_text(t, text),
		    err_str(fd), listen_remedy(fd));
	*ret_bound = *t;
	if (getsockname(fd, (struct sockaddr *)&bound, &len) == 0)
		ret_bound->port = ntohs(bound.ss_family == AF_INET6
			? ((struct sockaddr_in6 *)&bound)->sin6_port
			: ((struct sockaddr_in *)&bound)->sin_port);
	return fd;
}

void
tcp_peer_text(const struct sockaddr_storage *a, char dst[64])
{
	const struct sockaddr_in6 *v6 = (const void *)a;
	const struct sockaddr_in *v4 = (const void *)a;
	char text[INET6_ADDRSTRLEN] = "?";

	if (a->ss_family == AF_INET) {
		(void)inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
		(void)snprintf(dst, 64, "%s:%u", text, ntohs(v4->sin_port));
	} else if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
		(void)inet_ntop(
		    AF_INET, &v6->sin6_addr.s6_addr[12], text, sizeof text);
		(void)snprintf(dst, 64, "%s:%u", text, ntohs(v6->sin6_port));
	} else {
		(void)inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
		(void)snprintf(dst, 64, "[%s]:%u", text, ntohs(v6->sin6_port));
	}
}
