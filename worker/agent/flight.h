/*
 * flight.h - how many candidates are tried at once.
 *
 * A worker's share of the processors is where it begins. Checks that mostly
 * wait leave them idle: then more run at once, up to FLIGHT_MORE times as
 * many, as long as each takes no longer for it and there is memory for all.
 * What keeps a processor busy never gets more than its share, nor does anything
 * while the machine is busy with something else.
 *
 *	flight_begin(&f, share, check, memory_bytes);
 *	while (running < flight_now(&f)) ...
 *	flight_note(&f, &done, loop_now_ms());     a check has come to its end
 */
#ifndef WORKER_AGENT_FLIGHT_H
#define WORKER_AGENT_FLIGHT_H

#include "common/hash.h"
#include "worker/agent/exec.h"

#define FLIGHT_MORE 4

struct flight {
	size_t share, now;
	uint64_t memory_bytes; /* for all; 0: no limit */
	unsigned char check[HASH_LEN];
	/* Of the checks since the last decision. */
	size_t n;
	uint64_t wall_ms, cpu_ms, rss_kib;
	uint64_t idle, total; /* of the machine's processors, then */
	uint64_t share_ms; /* how long one takes with no more than the share */
	unsigned hold;     /* decisions until more are tried again */
};

/* What was learnt stays for the same check. */
void flight_begin(
    struct flight *f, size_t share, const char *check, uint64_t memory_bytes);
size_t flight_now(const struct flight *f);
/* Its time and memory count, unless it was killed. */
void flight_note(struct flight *f, const struct exec *x);
/* The same from numbers; idle, total: of the machine so far, both 0 when they
 * are not known. For tests. */
void flight_add(struct flight *f, uint64_t wall_ms, uint64_t cpu_ms,
    uint64_t rss_kib, uint64_t idle, uint64_t total);

#endif
