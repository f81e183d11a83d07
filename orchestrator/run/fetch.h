/*
 * fetch.h - pages for workers, which have no network: FETCH and FETCH_RESULT.
 *
 * Only what the person's settings allow:
 * {"network":{"fetch":["docs.python.org",
 * "*.example.com"]}}; the list is empty by default. https alone, public
 * addresses alone (checked after resolution, at each hop), five redirects, 1
 * MiB, 30 s, text alone. "fetch_private": true also allows http and addresses
 * that are not public, for an intranet. Each request is in the audit before it
 * is made. The bytes are passed on as they are.
 */
#ifndef ORCHESTRATOR_RUN_FETCH_H
#define ORCHESTRATOR_RUN_FETCH_H

#include "orchestrator/run/state.h"

struct fetches;

/* r: NULL when the settings are only checked: then nothing may be started.
 * network: that object of the settings, may be NULL; borrowed for the call.
 * ERR_SYNTAX when it is malformed. */
int fetches_create(
    struct run *r, const json_t *network, struct fetches **ret, struct err *e);
void fetches_free(struct fetches *f);
/* The answer comes later, or at once. */
void fetches_start(
    struct fetches *f, struct worker *w, const struct msg_fetch *m);
void fetches_worker_gone(struct fetches *f, const char *worker);

/* For tests: may this be fetched? */
int fetch_check(
    const struct strv *allow, bool private, const char *url, struct err *e);

#endif
