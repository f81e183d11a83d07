/*
 * refusals.h - the hosts that were refused, to be told at the end: programs say
 * little of it ("CONNECT tunnel failed, response 403").
 *
 *	struct refusals r = { 0 };
 *	refusals_note(&r, detail);   of each denied request (server.h)
 *	refusals_say(&r, "localhost", "foray audit --sandbox");
 *	refusals_clear(&r);
 *
 * What is said is bounded in lines and in their length, since a sandboxed
 * command chooses the names.
 */
#ifndef ORCHESTRATOR_EGRESS_REFUSALS_H
#define ORCHESTRATOR_EGRESS_REFUSALS_H

#include "common/strv.h"

#define REFUSALS_MAX 8   /* hosts */
#define REFUSALS_NAME 96 /* bytes of one that is shown; longer ones are cut */

struct refusals {
	struct strv hosts, advice; /* "example.org:443", "--allow-net ..." */
	uint64_t more;             /* requests to others */
};

/* A detail without a host is of something else and left out. */
void refusals_note(struct refusals *r, const char *detail);
/* On stderr, a line a host: what would allow it; own_name is where a command's
 * own servers are (net_rules_own_name()). audit: the command that has it all.
 */
void refusals_say(
    const struct refusals *r, const char *own_name, const char *audit);
void refusals_clear(struct refusals *r);

#endif
