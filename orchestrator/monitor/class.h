/*
 * class.h - what a rule of the monitor can look for in an act, by name, and
 * which names of files belong where.
 *
 * Names alone are looked at, as they stand: nothing is opened, no link is
 * followed.
 */
#ifndef ORCHESTRATOR_MONITOR_CLASS_H
#define ORCHESTRATOR_MONITOR_CLASS_H

#include "common/strv.h"

enum monitor_class {
	CLASS_SECRET = 1,      /* secret-path: a file that looks like one */
	CLASS_TEST = 2,        /* test-path: a test, or what runs it, changed */
	CLASS_OUTSIDE = 4,     /* outside: neither the tree nor the system's */
	CLASS_DELETE = 8,      /* delete: a file or a tree goes */
	CLASS_NETWORK = 16,    /* network: another machine is spoken to */
	CLASS_CREDENTIAL = 32, /* credential: shapes.h */
	CLASS_HISTORY = 64,    /* history: commits are rewritten or dropped */
	CLASS_PAYLOAD = 128,   /* payload: a shell runs what was decoded or
				  fetched */
	CLASS_LATER = 256,     /* runs-later: a person's tools would run it */
	CLASS_PROBE = 512      /* probe: the sandbox's walls are looked for */
};

/* Where a run's commands stand. */
struct monitor_place {
	char *root;    /* absolute and clean */
	char *workdir; /* absolute and clean, root or below */
	/* Existing files that are tests or run them, below root, sorted. When
	 * they are not known, names decide. */
	struct strv guarded;
	bool guarded_known;
	struct strv own; /* the person's commands: not looked into */
};

void monitor_place_clear(struct monitor_place *p);

/* One bit, or 0: no such class. */
unsigned class_of_name(const char *name);
/* All names, for a message. */
const char *class_names(void);

/* The word of a command or a path of a tool, seen from dir (absolute): a clean
 * path, below root when it is there, else absolute or with its "~". Yours. */
char *place_path(
    const struct monitor_place *p, const char *dir, const char *word);

/* Of a path as place_path() gives it. */
bool path_is_secret(const char *path);
bool path_is_test(const struct monitor_place *p, const char *path);
bool path_is_outside(const char *path);
bool path_is_later(const char *path);
bool path_is_probe(const char *path);
/* What a build or a run of tests leaves: to delete it is nothing. */
bool path_is_scratch(const char *path);

#endif
