/*
 * rules.h - the hosts that sandboxed commands may reach.
 *
 *	pypi.org            this name, ports 80 and 443
 *	*.npmjs.org:443     every name below npmjs.org, not npmjs.org itself
 *	10.1.2.3:8080       this address, also when an allowed name leads to it
 *	[fd00::1]:8080      IPv6 stands in brackets
 *
 * A name is allowed for the public addresses that it resolves to. Loopback,
 * private, link-local and the like (gateway/address.h) are reached only by a
 * rule that is that very address; 127.0.0.1 is then the loopback of the machine
 * that foray runs on (and no sandbox's own any more: net_rules_own()). Case and
 * a trailing dot do not matter (target.h).
 */
#ifndef ORCHESTRATOR_EGRESS_RULES_H
#define ORCHESTRATOR_EGRESS_RULES_H

#include "common/json.h"
#include "orchestrator/egress/target.h"

#define NET_RULES_MAX 512

struct net_rule {
	char *text; /* as the person wrote it */
	struct target host;
	bool below; /* "*." stood before it */
	bool web;   /* no port was given: 80 and 443 */
};

/* Zeroed: nothing is allowed. */
struct net_rules {
	struct net_rule *v;
	size_t n;
};

/* ERR_USAGE with the rule, what is wrong with it, and what to write. */
int net_rules_add(struct net_rules *r, const char *text, struct err *e);
/* The list "allow" of the settings' object "network", which may be NULL;
 * ERR_SYNTAX. */
int net_rules_settings(
    struct net_rules *r, const json_t *network, struct err *e);
int net_rules_strv(struct net_rules *r, const struct strv *list, struct err *e);
void net_rules_clear(struct net_rules *r);

/* The rule that allows it, by host and port; NULL: none. */
const struct net_rule *net_rules_match(
    const struct net_rules *r, const struct target *t);
/* May this address (TARGET_IP4 or IP6) be connected to for a name that is
 * allowed? */
bool net_rules_address(const struct net_rules *r, const struct target *addr);

/* A loopback address, 0.0.0.0 or ::, "localhost" or a name below it. */
bool target_is_own(const struct target *t);
/* What of NETNS_OWN (sandbox/netns.h) stays a sandbox's own: a loopback that a
 * rule speaks of is the machine's, so programs have to ask the proxy for it.
 * Yours; NULL: all of it. */
char *net_rules_own(const struct net_rules *r);
/* A name by which commands reach servers of their own when that is so:
 * "localhost" or else "0.0.0.0". */
const char *net_rules_own_name(const struct net_rules *r);

#endif
