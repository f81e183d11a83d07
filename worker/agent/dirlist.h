/* dirlist.h - the names in one directory of the workspace. */
#ifndef WORKER_AGENT_DIRLIST_H
#define WORKER_AGENT_DIRLIST_H

#include "worker/agent/treefs.h"

#define DIRLIST_MAX 200000

/* Appended in no order; directories end in "/", links in "@". */
int dirlist(const struct treefs *fs, const struct treefs_name *n,
    struct strv *ret, struct err *e);

#endif
