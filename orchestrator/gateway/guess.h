/*
 * guess.h - tokens of a prompt from its bytes, before a server counts them:
 * four bytes a token until replies have said better. Never fewer than a token
 * for eight bytes, whatever a server claims, and never more than one for each.
 */
#ifndef ORCHESTRATOR_GATEWAY_GUESS_H
#define ORCHESTRATOR_GATEWAY_GUESS_H

#include "common/compat.h"

#define GUESS_OUTPUT 8192 /* of a reply whose limit is not known */

struct guess {
	double ratio; /* tokens for a byte */
	bool learned;
};

void guess_init(struct guess *g);
uint64_t guess_tokens(const struct guess *g, size_t bytes);
/* For a reservation: rather too many. */
uint64_t guess_high(const struct guess *g, size_t bytes);
/* A server counted. A higher ratio counts at once, a lower one slowly. */
void guess_learn(struct guess *g, size_t bytes, uint64_t tokens);

#endif
