/*
 * transcript.h - sessions/WORKER.jsonl: what a worker and its model said, one
 * JSON object a line, written from the exchanges that pass the gateway:
 * {"t":1.2,"turn":3,"role":"assistant",...the message...}. `foray log` shows
 * it.
 */
#ifndef ORCHESTRATOR_STORE_TRANSCRIPT_H
#define ORCHESTRATOR_STORE_TRANSCRIPT_H

#include "orchestrator/store/store.h"

/* Append a message (borrowed). */
int transcript_add(struct store *s, const char *worker, double t, unsigned turn,
    const json_t *message, struct err *e);
/* The file's path. Yours. */
char *transcript_path(const struct store *s, const char *worker);

#endif
