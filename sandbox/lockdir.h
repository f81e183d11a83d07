/*
 * lockdir.h - a directory that belongs to a living process.
 *
 * PARENT/PREFIXpid-random with a file "lock" in it that is locked (flock) as
 * long as the descriptor is open. Process numbers mean little between pid
 * namespaces, so it is the lock that decides; the number is for people.
 */
#ifndef SANDBOX_LOCKDIR_H
#define SANDBOX_LOCKDIR_H

#include "common/err.h"

/* parent exists. *ret_dir is yours, absolute when parent is. */
int lockdir_create(const char *parent, const char *prefix, char **ret_dir,
    int *ret_fd, struct err *e);
/* Remove those whose owner is gone. */
void lockdir_sweep(const char *parent, const char *prefix);

#endif
