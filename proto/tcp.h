/*
 * tcp.h - endpoints between machines: tcp://HOST:PORT.
 *
 * HOST is a name, an IPv4 address, or an IPv6 address in brackets; to listen
 * also "*" (all addresses). PORT is a number, or "*" (to listen): one that is
 * free.
 */
#ifndef PROTO_TCP_H
#define PROTO_TCP_H

#include "common/err.h"

#include <netinet/in.h>
#include <sys/socket.h>

#define TCP_HOST 256
#define TCP_TEXT (TCP_HOST + 16) /* an endpoint as text */

struct tcp_end {
	char host[TCP_HOST]; /* without brackets; "*": all */
	uint16_t port;       /* 0: any */
	bool v6;             /* it stood in brackets */
};

bool tcp_is(const char *endpoint); /* does it begin as one? */
/* ERR_USAGE says what is wrong with it. listen: "*" and port 0 are allowed. */
int tcp_parse(
    const char *endpoint, bool listen, struct tcp_end *ret, struct err *e);
/* As it was, in one form. Returns dst. */
char *tcp_text(const struct tcp_end *t, char dst[TCP_TEXT]);

/* Is it an address of the loopback? A name is none, whatever it stands for. 0,
 * or ERR_USAGE with a sentence. */
int tcp_check_loopback(const struct tcp_end *t, struct err *e);
/* A listening descriptor, non-blocking; *ret_bound is where it listens, with
 * the port that was chosen. */
int tcp_listen(
    const struct tcp_end *t, struct tcp_end *ret_bound, struct err *e);
/* "192.0.2.1:4711", "[::1]:4711". */
void tcp_peer_text(const struct sockaddr_storage *a, char dst[64]);

#endif
