/*
 * makefile.h - rules of a make file, read by their words.
 *
 * Variables (with any equals sign), $@, $< and $^ are put in; functions,
 * conditions, included files and patterns are not. The text is hostile: its
 * size is the caller's limit, values are cut at 64 KiB.
 */
#ifndef ORCHESTRATOR_RUN_MAKEFILE_H
#define ORCHESTRATOR_RUN_MAKEFILE_H

#include <stdbool.h>

#include "common/strv.h"

struct makefile {
	char *text; /* continued lines are joined */
};

/* Takes *text. */
void makefile_init(struct makefile *m, char **text);
void makefile_clear(struct makefile *m);
/* The rules of name: what they need, and the lines of their recipes without
 * their "@-+". Both are added to. */
void makefile_rule(const struct makefile *m, const char *name,
    struct strv *needs, struct strv *recipe);
bool makefile_is_phony(const struct makefile *m, const char *name);
/* What make makes when nothing is said; yours, NULL: nothing. */
char *makefile_first(const struct makefile *m);

#endif
