/*
 * plain.h - the events of a run as lines for a person.
 */
#ifndef ORCHESTRATOR_VIEW_PLAIN_H
#define ORCHESTRATOR_VIEW_PLAIN_H

#include <stdio.h>

#include "common/json.h"

struct plain;

/* Lines go to out (stderr in a run). On a terminal a status line that is
 * rewritten shows what runs; elsewhere a line now and then. */
struct plain *plain_create(FILE *out);
/* Can lines be rewritten on the terminal, if there is one? Not where TERM is
 * "dumb" or not set. */
bool plain_rewrites(void);
void plain_free(struct plain *p);
/* No lines that are rewritten, while something is asked on the terminal. */
void plain_hold(struct plain *p, bool hold);
void plain_event(struct plain *p, const char *name, const json_t *event);
/* What goes on without an event: call it each second, with the run's time. */
void plain_tick(struct plain *p, double t);
/* The same of a snapshot, while it is made: bytes is 0 as long as the tree is
 * only looked at. */
void plain_snapshot(struct plain *p, double t, uint64_t files, uint64_t bytes);

#endif
