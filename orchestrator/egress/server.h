/*
 * server.h - the proxy process, as its parent sees it.
 *
 *	egress_start(&rules, record, ctx, &eg, e);
 *	watch egress_fd(eg) for input, and then egress_turn(eg);
 *	egress_listen(eg, "w1", listen_fd, lifeline_fd, e);
 *	...
 *	egress_stop(eg);
 *
 * The process is a fresh start of our own program (the hidden command
 * egress-proxy): it inherits one end of a socket pair and stderr, and no
 * environment of ours, so it can hold no key. Started by root it becomes the
 * unprivileged uid of sandboxes. It dies with us.
 */
#ifndef ORCHESTRATOR_EGRESS_SERVER_H
#define ORCHESTRATOR_EGRESS_SERVER_H

#include "orchestrator/egress/rules.h"

struct egress;

/* Put on record, before it happens, what a worker asks for: act is "network"
 * (verdict "allow" or "deny") or, after an allowed one, "network_end". subject
 * and detail (JSON) are UTF-8. Of what was denied detail has the "host" and
 * port, and the rules that are missing ("allow", advice.h). Negative: it must
 * not happen; ERR_DENIED: by a rule of the caller's, and that is on record. */
typedef int (*egress_record)(void *ctx, const char *worker, const char *act,
    const char *subject, const char *detail, const char *verdict);

/* log_fd: its stderr. rules are borrowed for the call. */
int egress_start(const struct net_rules *rules, int log_fd,
    egress_record record, void *ctx, struct egress **ret, struct err *e);
int egress_fd(const struct egress *eg);
/* Takes what the proxy has to say, a little at a time. Negative: it is gone,
 * and with it the network; do not watch it any more. */
int egress_turn(struct egress *eg, struct err *e);
/* Requests on this socket are the worker's (a name of 71 bytes at most), until
 * something happens at lifeline (its hang-up, say; -1: none). Both descriptors
 * stay the caller's; close them. */
int egress_listen(struct egress *eg, const char *worker, int listen_fd,
    int lifeline, struct err *e);
/* Ends all connections, records their ends, waits two seconds at most. NULL is
 * allowed. */
void egress_stop(struct egress *eg);

/* The process itself, for the command: never comes back. */
void egress_main(int argc, char **argv) noreturn_fn;

#endif
