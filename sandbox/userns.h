/*
 * userns.h - a user namespace of our own, whose only uid and gid are those
 * that we have: inside as outside. user_namespaces(7).
 */
#ifndef SANDBOX_USERNS_H
#define SANDBOX_USERNS_H

#include <sys/types.h>

#include "common/err.h"

/* Maps the calling process's uid and gid, as they were outside, in the user
 * namespace that it has just been put in. 0, or ERR_SANDBOX. */
int userns_map_self(uid_t uid, gid_t gid, struct err *e);
/* unshare(2) with CLONE_NEWUSER and `more`, and the maps. Only with a single
 * thread. 0, or ERR_SANDBOX. */
int userns_unshare(int more, struct err *e);

#endif
