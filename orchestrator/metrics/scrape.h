/*
 * scrape.h - the little web server of --metrics, on the program's loop: no
 * thread, GET /metrics and GET /healthz, nothing else.
 *
 * Whoever can connect is a stranger: 32 connections at once (more wait in the
 * kernel's queue), 8 KiB of memory for each, one request on each, and each is
 * closed 3 s after it began whatever it does.
 */
#ifndef ORCHESTRATOR_METRICS_SCRAPE_H
#define ORCHESTRATOR_METRICS_SCRAPE_H

#include "common/buf.h"
#include "common/err.h"
#include "common/loop.h"

struct scrape;

/* endpoint: endpoint.h. text is called for each scrape and appends to b, which
 * has no maximum. ERR_USAGE when nothing can listen there. */
int scrape_start(struct loop *l, const char *endpoint,
    void (*text)(void *ctx, struct buf *b), void *ctx, struct scrape **ret,
    struct err *e);
/* "http://127.0.0.1:9464/metrics", or the unix endpoint. */
const char *scrape_url(const struct scrape *s);
/* Closes all; NULL is allowed. Not from within text. */
void scrape_free(struct scrape *s);

#endif
