/*
 * watch.h - what shows that nothing moves on: the same calls with the same
 * results, one, two or three in turns, or only errors. Pure.
 */
#ifndef WORKER_AGENT_WATCH_H
#define WORKER_AGENT_WATCH_H

#include "common/hash.h"

#define WATCH_PERIOD_MAX 3
#define WATCH_SAME 4   /* rounds that are equal */
#define WATCH_ERRORS 8 /* results in a row that are errors */
#define WATCH_RING (WATCH_PERIOD_MAX * WATCH_SAME)

struct watch {
	unsigned char ring[WATCH_RING][HASH_LEN];
	size_t n; /* calls seen */
	unsigned errors;
};

/* A call and its result. Times in a result ("0.12s") don't count. */
void watch_add(struct watch *w, const char *name, const char *args,
    const char *result, bool error);
/* The number of calls that come round and round; 0: none. */
unsigned watch_period(const struct watch *w);

#endif
