/*
 * overlay.h - mount an overlay without privilege, in a forked child.
 *
 * The child gets a user namespace (its uid mapped to itself) and a mount
 * namespace with / made a slave, then the overlay with "userxattr". Everything
 * goes with the last process of the namespace; nothing is ever unmounted.
 */
#ifndef SANDBOX_OVERLAY_H
#define SANDBOX_OVERLAY_H

#include "common/err.h"
#include "common/strv.h"

struct overlay {
	struct strv lowers; /* topmost first; at least one */
	char *dir;     /* has, or gets, the directories up, wk and m (merged) */
	bool on_tmpfs; /* mount a tmpfs on dir first: where dir is itself on an
			  overlay, and for throw-away copies */
	uint64_t tmpfs_bytes; /* 0: the kernel's default */
};

/* Only in a forked, single-threaded child. After success dir/m is the tree. */
int overlay_enter(const struct overlay *o, struct err *e);
/* As overlay_enter with no overlay: both namespaces. */
int overlay_namespaces(struct err *e);
void overlay_clear(struct overlay *o);

#endif
