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

/* The variables by which programs find a proxy, HTTP and SOCKS, at
 * NETNS_PORT; what is on the sandbox's own loopback goes there directly. */
void netns_proxy_env(struct strv *env);

/* Is this a socket as netns_listen() makes it: listening, TCP over IPv4? For a
 * descriptor that somebody else has sent. 0 or ERR_DENIED. */
int netns_check(int fd, struct err *e);

#endif
