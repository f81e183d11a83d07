/* checkers_priv.h - between the files of checkers.h. */
#ifndef ORCHESTRATOR_RUN_CHECKERS_PRIV_H
#define ORCHESTRATOR_RUN_CHECKERS_PRIV_H

#include "orchestrator/run/checkers.h"
#include "orchestrator/run/makefile.h"

#define CHECKERS_FILE_MAX (1u << 20)
#define CHECKERS_DEPTH 6

struct finder {
	const char *dir;
	const struct strv *files; /* as seen from dir; sorted */
	struct strv found;
	struct strv written;   /* what commands redirect to */
	struct strv mentioned; /* words of commands that compare nothing */
	struct strv builds;    /* commands that compile */
	unsigned steps, globs, work, goals;
	size_t bytes;  /* of shell text that was parsed */
	size_t looked; /* bytes of sources */
};

/* A file at a directory, as seen from dir. Yours; NULL: none that is safe to
 * read. */
char *checkers_read(const struct finder *f, const char *at, const char *name);
void checkers_found(struct finder *f, const char *at, const char *name);
/* The make file of a directory; false: there is none. */
bool checkers_makefile(
    const struct finder *f, const char *at, struct makefile *ret);

/* The files that a word with "*" or "?" names, as at sees them: added. */
void checkers_glob(
    struct finder *f, const char *at, const char *word, struct strv *ret);

/* What shell text at a directory reads and judges with: the helpers that it
 * sources, the data that it compares with, the files that its loops run.
 * here: the directory of the script that has it; at, if none has. */
void checkers_shell(struct finder *f, const char *at, const char *here,
    const char *text, unsigned depth);

bool checkers_is_shell(const char *word);
bool checkers_is_interpreter(const char *word); /* or a shell */

/* path is a program that was compiled and runs without arguments: is one of
 * its sources the test? */
void checkers_program(struct finder *f, const char *at, const char *path);

#endif
