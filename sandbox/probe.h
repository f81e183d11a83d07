/*
 * probe.h - what this machine can do, found out by doing it. foray doctor
 * prints it; a run that can't be sandboxed ends with the same remedy.
 */
#ifndef SANDBOX_PROBE_H
#define SANDBOX_PROBE_H

#include "common/err.h"

enum probe_state {
	PROBE_OK,
	PROBE_MISSING,
	PROBE_DEGRADED
};

struct probe_item {
	const char *name; /* "bubblewrap", "user namespaces", ... */
	enum probe_state state;
	char detail[256];  /* what was found, e.g. a version */
	char cost[256];    /* what the lack costs; "" when ok */
	char remedy[1024]; /* the exact command or file; "" when ok */
};

#define PROBE_MAX 24

/* How a workspace can be had in scratch_dir, best first. */
enum layout {
	LAYOUT_OVERLAY,
	LAYOUT_TMPFS,
	LAYOUT_COPY
};
const char *layout_str(enum layout l);

/* All of it (about 100 ms). scratch_dir need not exist. Returns the number of
 * items in ret. */
size_t probe_all(const char *scratch_dir, struct probe_item ret[PROBE_MAX]);

/* Can both layers be made here? A real outer and inner sandbox are started.
 * 0, or ERR_SANDBOX with the reason and the remedy. Call it as the uid that
 * will start them (root: it stages and drops in a child). */
int probe_sandbox(struct err *e);

/* One of foray's own programs: its path, or what is missing. */
void probe_program(const char *name, struct probe_item *ret);
/* As lines on stdout. */
void probe_print(const struct probe_item *it);

/* What is free where workspaces are to lie, in dir or where it will be made;
 * remedy: for when that is little. */
void probe_space(const char *dir, const char *remedy, struct probe_item *ret);

/* probe_system.c, for probe_all(): what each of these needs of the kernel. */
void probe_userns(struct probe_item *it);
void probe_apparmor(struct probe_item *it);
void probe_proc(struct probe_item *it);
void probe_landlock(struct probe_item *it);
void probe_shm(struct probe_item *it);
void probe_container(struct probe_item *it);

/* By mounting, with a whiteout and an opaque directory; dir is on the file
 * system in question and writable for us. Runs in a child. */
enum layout probe_layout(const char *dir);

#endif
