/*
 * cgroup.h - limits of a whole process tree: memory, processes, processor.
 *
 * rlimits (limits.h) bound each process; a control group bounds all that came
 * from one, and can freeze it. Groups lie below our own, so what bounds us
 * bounds them. Which kind is there is found out by cgroup_find():
 *
 *	V2	the group that we are in is ours to divide (delegated by
 *		systemd, or root's) and has the controllers memory and pids
 *	V1	our groups in the hierarchies memory and pids are writable; cpu
 *		and freezer are used where they are, too
 *	NONE	there are only rlimits
 *
 * In order, for a program that starts sandboxes:
 *
 *	cgroup_open(&total, stage_uid(), &top, e);  as root before the drop
 *	cgroup_child(top, "w1", &limits, &g, e);    owner's or root's
 *	start.group = g;                            struct sandbox_start
 *	cgroup_events(g, &ev);                      did it reach a limit?
 *	cgroup_close(&g, true);                     when the tree is gone
 *	cgroup_close(&top, true);
 *
 * Every call with a NULL group does nothing and succeeds, so that callers need
 * not ask. A group is "foray-PID-random" and locked (flock) while somebody who
 * has it open lives; cgroup_sweep() removes those whose owners are gone, and
 * cgroup_open() sweeps first.
 *
 * What runs inside can't change its limits: no sandbox has /sys, and the group
 * of cgroup_open() keeps root's limit files when root made it.
 */
#ifndef SANDBOX_CGROUP_H
#define SANDBOX_CGROUP_H

#include "common/err.h"
#include "sandbox/spec.h"

enum cgroup_kind {
	CGROUP_NONE,
	CGROUP_V1,
	CGROUP_V2
};

enum cgroup_ctl {
	CGROUP_MEMORY,
	CGROUP_PIDS,
	CGROUP_CPU,
	CGROUP_FREEZER,
	CGROUP_CTLS
};

/* Where groups can be made. */
struct cgroup_site {
	enum cgroup_kind kind;
	/* Our own group for each controller (with V2 all the same); NULL: that
	 * can't be limited here. */
	char *dir[CGROUP_CTLS];
	/* V2: controllers are on below it already, or its processes have to
	 * be moved into a leaf first. */
	bool is_divided;
	char why[256]; /* NONE: what is in the way */
};

/* By /proc/self; never fails. */
void cgroup_find(struct cgroup_site *ret);
/* The same from the texts of mountinfo and cgroup, for tests. */
void cgroup_find_in(
    const char *mountinfo, const char *self, struct cgroup_site *ret);
void cgroup_site_clear(struct cgroup_site *s);
/* Bytes of memory that we may use: the machine's, or our own group's limit. */
uint64_t cgroup_memory(const struct cgroup_site *s);

struct cgroup;

/* A group below our own, for all sandboxes of this program. owner: may make
 * children (as root; else it is our own uid). -ENOTSUP: there are no groups
 * here (e says why); others: it should have worked. With V2 our own processes
 * may be moved into a leaf "foray-main" beside it. */
int cgroup_open(const struct sandbox_limits *total, uid_t owner,
    struct cgroup **ret, struct err *e);
/* The same at a site that is known; nothing is swept. */
int cgroup_open_at(const struct cgroup_site *s,
    const struct sandbox_limits *total, uid_t owner, struct cgroup **ret,
    struct err *e);
/* A group below one, with these limits (memory_bytes, pids, cpu_milli). */
int cgroup_child(struct cgroup *parent, const char *name,
    const struct sandbox_limits *l, struct cgroup **ret, struct err *e);
/* Put the calling process into it. Allocates nothing: for a forked child. */
int cgroup_enter(const struct cgroup *g, struct err *e);

/* Stop or go on, the whole tree; asynchronous, some milliseconds. -ENOTSUP
 * where there is no freezer. With V1 a frozen process does not even die: thaw
 * what you kill. */
int cgroup_freeze(struct cgroup *g, bool on);
bool cgroup_is_frozen(const struct cgroup *g);
/* Thaw it and all groups below it. */
void cgroup_thaw(struct cgroup *g);
/* Thaw, and SIGKILL all that is in it and below. */
void cgroup_kill(struct cgroup *g);

struct cgroup_events {
	uint64_t oom_kills; /* processes that were killed for want of memory */
	uint64_t memory_hits; /* its own limit was reached, so often */
	uint64_t pids_hits;   /* a fork was refused, so often */
	uint64_t memory_peak; /* bytes; 0: unknown */
};
void cgroup_events(const struct cgroup *g, struct cgroup_events *ret);
/* The file that counts oom_kills, to be shown read-only in a sandbox; NULL:
 * none. And the count in its text. */
const char *cgroup_oom_file(const struct cgroup *g);
uint64_t cgroup_oom_count(const char *text);

/* Frees it and sets *g to NULL; remove: its directories go, and those below.
 * -EBUSY when something still runs in it: sweeping takes it later. */
int cgroup_close(struct cgroup **g, bool remove);
/* For a forked child: the lock stays with the parent. */
void cgroup_forget(struct cgroup **g);
/* Remove what dead programs left, killing what still runs there. */
void cgroup_sweep(void);

/* "version 2", "version 1", "none". */
const char *cgroup_kind_str(enum cgroup_kind k);

#endif
