/*
 * proxy.h - the filtering proxy: a process of its own, outside every sandbox.
 *
 * It accepts on sockets that listen inside sandboxes (sandbox/netns.h), reads
 * the head of a request, asks its parent for a record of it, resolves the name,
 * checks the addresses, connects to one of the very addresses it checked, and
 * copies bytes. It holds no key, knows nothing but the rules, and ends when its
 * parent does. server.h is the parent's side.
 *
 * Bounds: PROXY_CONNS connections, PROXY_SHARE of them for one worker and never
 * more than there are free ones left, so that no worker takes all; 16 KiB of
 * head in 15 s; 10 s for a name, 10 s to connect; 5 minutes without a byte; 64
 * requests a second for long.
 */
#ifndef ORCHESTRATOR_EGRESS_PROXY_H
#define ORCHESTRATOR_EGRESS_PROXY_H

#include "orchestrator/egress/rules.h"

#define PROXY_CONNS 2048
#define PROXY_SHARE 256
#define PROXY_LISTENERS 4096 /* sandboxes at once */

/* Until the control socket (control.h) is at its end; an exit status. */
int proxy_run(int control_fd, const struct net_rules *rules);

#endif
