/*
 * stall.h - is a command in a loop for good?
 *
 *	struct stall s = { 0 };
 *	every now and then: if (stall_look(&s, pid, bytes_of_output) > 15000)
 *		... it will not end by itself
 *
 * Its process tree moves while a process or thread comes or goes, waits for
 * something (a voluntary context switch), touches new memory (a page fault) or
 * writes output. What counts is processor time that is spent without any of
 * that, so that a slow machine makes nothing look like a loop. What sleeps for
 * good is not noticed: its time limit ends it.
 */
#ifndef WORKER_AGENT_STALL_H
#define WORKER_AGENT_STALL_H

#include "common/compat.h"

struct stall {
	uint64_t sign;     /* of all that was seen; 0: nothing yet */
	uint64_t cpu_ms;   /* of the tree when it last moved */
	uint64_t moved_ms; /* loop_now_ms() then */
};

/* Milliseconds of processor time since anything moved in the tree below pid.
 * total: bytes that it wrote. */
uint64_t stall_look(struct stall *s, pid_t pid, uint64_t total);

#endif
