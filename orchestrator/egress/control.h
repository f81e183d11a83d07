/*
 * control.h - what the proxy process and its parent say to each other, on one
 * SOCK_SEQPACKET socket pair: a struct a packet.
 *
 * The parent orders: here is a listening socket (with it, as descriptors, the
 * socket and a lifeline), or: what you asked about may go on. The proxy asks
 * before each effect and waits for the answer; it notes the end of what was
 * allowed and waits for nothing. Texts end in NUL, also when the peer forgot.
 */
#ifndef ORCHESTRATOR_EGRESS_CONTROL_H
#define ORCHESTRATOR_EGRESS_CONTROL_H

#include "common/compat.h"

#define CONTROL_WORKER 72 /* name of a worker, with its NUL */

enum order_kind {
	ORDER_ANSWER = 1,
	ORDER_LISTEN
};

struct order {
	uint32_t kind;
	uint32_t ok;                 /* ANSWER: it is on record */
	uint32_t denied;             /* else: by the parent, and on record */
	uint64_t id;                 /* ANSWER: of the note */
	char worker[CONTROL_WORKER]; /* LISTEN */
};

enum note_kind {
	NOTE_REQUEST = 1, /* wants an answer */
	NOTE_END
};

struct note {
	uint32_t kind;
	uint32_t deny;
	uint64_t id;
	char worker[CONTROL_WORKER];
	char subject[1024]; /* "CONNECT pypi.org:443" */
	char detail[2048];  /* JSON */
};

#endif
