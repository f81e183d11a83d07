/*
 * network.h - the network of a run's commands: the hosts that the person
 * allows, by the proxy (egress/server.h), and nothing else.
 *
 * {"network":{"allow":["pypi.org", "*.npmjs.org:443"]}} in the settings and
 * --allow-net say which (egress/rules.h); none by default. foray-host hands the
 * sockets of its workers' commands in at a unix socket in the directory that
 * only hosts reach; they go on to the proxy. Each request is in the audit, as
 * the act "network", before it has an effect, and its end as "network_end".
 */
#ifndef ORCHESTRATOR_RUN_NETWORK_H
#define ORCHESTRATOR_RUN_NETWORK_H

#include "orchestrator/run/state.h"

struct network;

/* network: that object of the settings, may be NULL; borrowed for the call.
 * *ret is NULL when nothing is allowed. ERR_SYNTAX, ERR_USAGE. */
int network_create(
    struct run *r, const json_t *network, struct network **ret, struct err *e);
/* After hosts_create(), before a host starts. NULL is allowed. */
int network_start(struct network *n, struct err *e);
/* Connections end and are recorded. NULL is allowed in both. */
void network_stop(struct network *n);
void network_free(struct network *n);

/* What commands reach without it, when that is not all of their loopback
 * (net_rules_own()); NULL. Borrowed. */
const char *network_own(const struct network *n);
/* How they reach servers of their own then. */
const char *network_own_name(const struct network *n);
/* "pypi.org, *.npmjs.org:443", for a model or a person; "" for NULL. Yours. */
char *network_hosts(const struct network *n);

#endif
