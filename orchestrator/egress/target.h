/*
 * target.h - where a request wants to go: a host and a port, in one spelling.
 *
 * Names are in lower case without their trailing dot, in A-form (xn--...):
 * letters, digits, '-' and '_' in labels of 63 bytes, 253 in all, the last
 * label not a number. Addresses are what inet_pton(3) takes; an IPv4 address in
 * IPv6's clothes (::ffff:1.2.3.4) is the IPv4 address. Every other way to write
 * an address ("127.1", "0x7f.1", "2130706433") is neither and is refused.
 */
#ifndef ORCHESTRATOR_EGRESS_TARGET_H
#define ORCHESTRATOR_EGRESS_TARGET_H

#include <sys/socket.h>

#include "common/err.h"

enum target_kind {
	TARGET_NAME,
	TARGET_IP4,
	TARGET_IP6
};

struct target {
	enum target_kind kind;
	char host[256];         /* as shown; IPv6 without brackets */
	unsigned char addr[16]; /* 4 or 16 bytes in network order */
	uint16_t port;
};

/* A host alone; brackets around IPv6 may be left out. ERR_SYNTAX. */
int target_host(const char *s, size_t len, struct target *ret, struct err *e);
/* "host:port", "[v6]:port"; without a port it is default_port, or an error when
 * that is 0. */
int target_parse(const char *s, size_t len, uint16_t default_port,
    struct target *ret, struct err *e);
/* An address of n bytes, 4 or 16. */
void target_from_addr(const void *addr, size_t n, struct target *ret);

bool target_eq(const struct target *a, const struct target *b);
bool target_same_host(const struct target *a, const struct target *b);
/* "host:port", brackets around IPv6. */
#define TARGET_TEXT 264
void target_text(const struct target *t, char dst[TARGET_TEXT]);
/* Only of an address. Returns the length. */
socklen_t target_sockaddr(const struct target *t, struct sockaddr_storage *ret);
/* The other way; false for what is neither IPv4 nor IPv6. */
bool target_from_sockaddr(const struct sockaddr *a, struct target *ret);

#endif
