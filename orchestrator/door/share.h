/*
 * share.h - memory that the guests of a door may fill together.
 *
 * Each guest is bounded by itself (guest.c); five hundred of them at once would
 * still be too much. So each says how much it holds, in memory that all of them
 * share, and when that is over SHARE_ALL together, those that hold more than
 * SHARE_FREE read nothing more: all but one, the elder, so that its message
 * comes to an end, and then the next one's.
 */
#ifndef ORCHESTRATOR_DOOR_SHARE_H
#define ORCHESTRATOR_DOOR_SHARE_H

#include "common/compat.h"

#define SHARE_ALL ((uint64_t)64 << 20)
#define SHARE_FREE ((uint64_t)256 << 10)

struct share;

/* For n guests, in this process and all that it forks; never freed. NULL: there
 * is no memory. */
struct share *share_create(size_t n);
/* Guest me, below n, holds so many bytes. */
void share_set(struct share *s, size_t me, uint64_t bytes);

enum share_turn {
	SHARE_GO,    /* there is room, or it holds little */
	SHARE_ELDER, /* there is none, and it is its turn */
	SHARE_WAIT
};
enum share_turn share_turn(const struct share *s, size_t me);

#endif
