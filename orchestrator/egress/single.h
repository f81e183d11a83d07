/*
 * single.h - the network of one command that belongs to no run (`foray
 * sandbox`): what the settings and the command line allow, a proxy of its own,
 * and the record in $XDG_STATE_HOME/foray/sandbox/audit.jsonl, a chain as of a
 * run (store/audit.h) that all such commands share.
 */
#ifndef ORCHESTRATOR_EGRESS_SINGLE_H
#define ORCHESTRATOR_EGRESS_SINGLE_H

#include "common/err.h"
#include "common/strv.h"

struct single;

/* allow: hosts of the command line, besides those of the settings. *ret is NULL
 * when nothing is allowed: there is no network, and nothing to be done. */
int single_open(const struct strv *allow, struct single **ret, struct err *e);
/* What the command reaches without the proxy, for a profile (profile.h); NULL:
 * all of its loopback. Borrowed; s may be NULL. */
const char *single_own(const struct single *s);
/* Each host that is allowed, and where that was said: fn(ctx, "pypi.org",
 * "--allow-net") or "settings.json". s may be NULL. */
void single_hosts(const struct single *s,
    void (*fn)(void *ctx, const char *host, const char *from), void *ctx);
/* Where servers of the command's own are, when single_own() is not NULL; else
 * NULL. */
const char *single_own_name(const struct single *s);
/* The proxy and the record. Says whose loopback is whose, when a rule opens the
 * machine's. */
int single_start(struct single *s, struct err *e);
/* The command's socket (sandbox/start.h); it is closed. */
int single_listen(struct single *s, int *listen_fd, struct err *e);
/* To be watched for input, then single_turn(); -1: no more. */
int single_fd(const struct single *s);
void single_turn(struct single *s);
/* The command has ended: so do its connections, and what was refused is told on
 * stderr. NULL is allowed. */
void single_finish(struct single *s);
/* NULL is allowed. */
void single_stop(struct single *s);

/* The directory of the chain; yours. */
int single_dir(char **ret, struct err *e);
/* Is there one? A part of it is one, and damaged. */
bool single_recorded(const char *dir);

#endif
