/*
 * advice.h - which rules are missing, for what was refused. Pure.
 *
 * Whoever adds them all reaches the host: a name that leads to loopback or a
 * private network needs two, one for itself and one for that very address.
 */
#ifndef ORCHESTRATOR_EGRESS_ADVICE_H
#define ORCHESTRATOR_EGRESS_ADVICE_H

#include "common/buf.h"
#include "common/strv.h"
#include "orchestrator/egress/rules.h"

#define ADVICE_ADDRS 4 /* of one name; the rest is left out */

/* The rules, as net_rules_add() takes them, that t and the n addresses of it
 * (with their port) still need; none are known before it is looked up, and what
 * is not allowed is never looked up. */
void advice_missing(const struct net_rules *r, const struct target *t,
    const struct target *addrs, size_t n, struct strv *ret);
/* "--allow-net pypi.org --allow-net '[::1]:80'", for a shell. */
void advice_options(const struct strv *missing, struct buf *ret);

#endif
