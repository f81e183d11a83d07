/*
 * note.h - what the door's processes tell: one packet on a SOCK_SEQPACKET
 * socket, from a guest to the door, and from there to the orchestrator.
 */
#ifndef ORCHESTRATOR_DOOR_NOTE_H
#define ORCHESTRATOR_DOOR_NOTE_H

#include "proto/curve.h"

#define NOTE_ADDRESS 64

enum note_kind {
	NOTE_UP,     /* a host; its descriptor (link.h) comes along */
	NOTE_REFUSED /* somebody was sent away, and why */
};

struct door_note {
	uint32_t kind;
	char address[NOTE_ADDRESS];
	char name[CURVE_NAME]; /* of its key; "": without keys, or not known */
	char why[512];
};

#endif
