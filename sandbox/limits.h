/* limits.h - rlimits of a process to be. */
#ifndef SANDBOX_LIMITS_H
#define SANDBOX_LIMITS_H

#include "common/err.h"
#include "sandbox/spec.h"

/* In the child. RLIMIT_CORE is always 0. NPROC is left to bwrap's user
 * namespace, so call it after overlay_enter() where there is one. */
int limits_apply(const struct sandbox_limits *l, struct err *e);
/* What a tmpfs holds is memory: none may have more than half of what the whole
 * tree gets (memory_bytes). */
void limits_shape(struct sandbox_spec *s);
/* Raise the soft limit of open files to the hard one (start of programs). */
void limits_raise_nofile(void);
/* Does this machine let us have so many workers at once? Raises what may be
 * raised; ERR_USAGE names the limit that is too low and what to do. */
int limits_workers(uint64_t n, struct err *e);

#endif
