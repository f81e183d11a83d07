/*
 * guest.h - the process that speaks with one host of another machine.
 *
 * It is all that this host can harm: the handshake, libzmq and the decoding of
 * messages happen here. Only whole messages of a host or its workers go on to
 * the orchestrator, by a link of its own.
 */
#ifndef ORCHESTRATOR_DOOR_GUEST_H
#define ORCHESTRATOR_DOOR_GUEST_H

#include "proto/curve.h"

struct guest_conf {
	pid_t door;  /* our parent */
	int fd;      /* of the connection */
	int note_fd; /* to the door: note.h */
	const char *address;
	/* What came already (greet.h); the answer to the greeting is sent. */
	const unsigned char *first;
	size_t first_len;
	const struct curve_pair *keys; /* NULL: without */
	int allowed_fd;                /* the allow-list; -1 without keys */
	const char *dir;               /* private, for a socket */
	struct share *share;           /* share.h, and which one it is there */
	size_t me;
};

/* In a forked process. */
void guest_main(const struct guest_conf *conf) noreturn_fn;

#endif
