/*
 * outside.h - a test command that is run by a program outside of the tree: the
 * python of a virtual environment, mostly. The environment travels to other
 * machines with the tree, what it leads to does not.
 */
#ifndef ORCHESTRATOR_RUN_OUTSIDE_H
#define ORCHESTRATOR_RUN_OUTSIDE_H

/* word, as seen from dir (relative, "" for the top) of the tree at tree, whose
 * own path is root: where its links lead to outside of it; NULL: they don't.
 * Yours. */
char *outside_target(
    const char *tree, const char *root, const char *dir, const char *word);

struct run;
/* A sentence with the remedy about the first test command of which that is so;
 * NULL: none. Yours. */
char *outside_hint(const struct run *r);

#endif
