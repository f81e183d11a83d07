/*
 * resolve.h - names to addresses without waiting: getaddrinfo(3) in threads.
 *
 *	resolver_create(&r); watch resolver_fd(r) for input;
 *	resolver_start(r, id, "pypi.org", 443);
 *	resolver_next(r, &answer)	when it is readable, until it says false
 *
 * A lookup can't be stopped. One that is not wanted any more runs to its end
 * (the system's resolver gives up by itself) and its answer is to be dropped by
 * its id; so are those that are under way when the process ends.
 */
#ifndef ORCHESTRATOR_EGRESS_RESOLVE_H
#define ORCHESTRATOR_EGRESS_RESOLVE_H

#include "orchestrator/egress/target.h"

#define RESOLVE_AT_ONCE 64 /* threads */
#define RESOLVE_ADDRS 16   /* of one name; the rest is left out */

struct resolver;

struct answer {
	uint64_t id;
	int error; /* of getaddrinfo(3); 0: n addresses */
	size_t n;
	struct target addrs[RESOLVE_ADDRS]; /* with the port */
};

int resolver_create(struct resolver **ret, struct err *e);
int resolver_fd(const struct resolver *r);
/* -EAGAIN: so many are under way; ask again after an answer. */
int resolver_start(
    struct resolver *r, uint64_t id, const char *name, uint16_t port);
bool resolver_next(struct resolver *r, struct answer *ret);

#endif
