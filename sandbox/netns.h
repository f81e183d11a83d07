/*
 * netns.h - a listening socket inside a sandbox's network namespace, made from
 * outside.
 *
 * A sandbox has a network of its own with nothing but a loopback device. What
 * listens there by netns_listen() can be accepted from outside: it is how
 * commands reach the filtering proxy (orchestrator/egress/), with no process,
 * no route and no device in between. A short-lived child enters the user
 * namespace that owns the network and then the network itself; our effective
 * uid owns that user namespace (or is root), so it has the right to.
 *
 * start.h calls it before the command runs.
 */
#ifndef SANDBOX_NETNS_H
#define SANDBOX_NETNS_H

#include "common/err.h"
#include "common/strv.h"

/* Where commands find the proxy: 127.0.0.1 and this port. */
#define NETNS_PORT 3128

/* pid: a process of the sandbox as /proc has it here; pidfd: of the same one,
 * so that a number used again is noticed. *ret_fd listens on 127.0.0.1:port
 * inside, close-on-exec and non-blocking; it keeps the namespace for as long as
 * it is open. It works from the namespace's first moment, before its loopback
 * is up. Fails with ERR_SANDBOX. Waits 10 s at most. */
int netns_listen(
    int pidfd, pid_t pid, uint16_t port, int *ret_fd, struct err *e);

/* The hosts of the sandbox's own loopback, which programs reach without the
 * proxy: no_proxy as curl (git), wget, Python and Go understand it together.
 * Some take a network, some a name or an address as it is written and nothing
 * else. Not "[::1]": Python's urllib alone wants that, and httpx dies of it. */
#define NETNS_OWN \
	"localhost,127.0.0.1,127.0.0.2,127.0.1.1,0.0.0.0,::1,127.0.0.0/8"

/* The variables by which programs find the HTTP proxy at NETNS_PORT. own:
 * no_proxy; NULL: NETNS_OWN. */
void netns_proxy_env(struct strv *env, const char *own);

/* Is this a socket as netns_listen() makes it: listening, TCP over IPv4? For a
 * descriptor that somebody else has sent. 0 or ERR_DENIED. */
int netns_check(int fd, struct err *e);

#endif
