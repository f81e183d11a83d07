/*
 * door.h - where hosts of other machines come in: a TCP port.
 *
 * A process of its own (the hidden command "door", started anew from our
 * program, without our environment) accepts connections, looks at their first
 * bytes (greet.h), and gives each that may be a host a process (guest.h). What
 * strangers send reaches neither the orchestrator nor libzmq in it; as root
 * both kinds of process run as the unprivileged uid of sandboxes. The port is
 * held by us, so it outlives the door.
 *
 *	door_open(l, &opts, &ops, ctx, &d, e);
 *	... ops->up() gives a descriptor for link_create() (link.h)
 *	door_close(d);
 *
 * Limits: 64 connections that have not yet shown what they are, each for five
 * seconds, then the oldest of the address that has most of them goes; 32 in the
 * middle of a handshake; 512 hosts, and 64 MiB of messages under way from all
 * of them together (share.h). Twenty refusals in ten seconds are told one by
 * one, the others as a number.
 */
#ifndef ORCHESTRATOR_DOOR_DOOR_H
#define ORCHESTRATOR_DOOR_DOOR_H

#include "common/loop.h"
#include "proto/tcp.h"

struct door;

struct door_ops {
	/* A host whose key is allowed has said something. fd is yours. name is
	 * its key's in the allow-list, "" without keys. */
	void (*up)(int fd, const char *address, const char *name, void *ctx);
	/* Somebody was sent away. */
	void (*refused)(
	    const char *address, const char *name, const char *why, void *ctx);
	/* The door has ended too often: nobody new can come in. */
	void (*lost)(const char *why, void *ctx);
};

struct door_opts {
	const struct tcp_end *at;
	const char *keys; /* directory (curve.h); NULL: without keys */
	const char *dir;  /* private; the uid of sandboxes' as root */
	const char *log;  /* file for its stderr */
};

int door_open(struct loop *l, const struct door_opts *o,
    const struct door_ops *ops, void *ctx, struct door **ret, struct err *e);
/* Where it listens, with the port that was chosen. */
const struct tcp_end *door_at(const struct door *d);
void door_close(struct door *d); /* NULL is allowed */

/* The process itself, for the command: never comes back. */
void door_main(int argc, char **argv) noreturn_fn;

#endif
