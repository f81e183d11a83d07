/*
 * greet.h - the first bytes of a stranger, before anything is spent on him.
 *
 * The greeting of ZMTP, then CURVE's HELLO, whose box only who knows the
 * server's public key can have made (rfc.zeromq.org/spec/26). It can be
 * replayed: what follows can't.
 */
#ifndef ORCHESTRATOR_DOOR_GREET_H
#define ORCHESTRATOR_DOOR_GREET_H

#include "common/compat.h"

#define GREET_PLAIN 64         /* bytes, without keys */
#define GREET_CURVE (64 + 202) /* with them */

enum greet {
	GREET_MORE, /* good so far, not all there */
	GREET_GOOD,
	GREET_STRANGER
};

/* secret: the server's key, 32 bytes; NULL: without keys. n: at most what is
 * needed. *ret_why is a sentence for GREET_STRANGER. */
enum greet greet_check(const unsigned char *bytes, size_t n,
    const unsigned char *secret, const char **ret_why);
/* What we say first. */
void greet_ours(bool curve, unsigned char ret[GREET_PLAIN]);

#endif
