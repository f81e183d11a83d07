/*
 * narrow.h - from a test command to a quicker one: the failing tests alone, or
 * the files that they are in.
 *
 * A pure function of three texts, none of them trusted: the command, the names
 * of failing tests as common/tests_parse.h reports them, and the end of what
 * the command wrote ("" when it is not known). Nothing is run or read.
 *
 * Only what is certain is narrowed: the last simple command of the text must
 * be a runner of the table in narrow.c, with options that are known. What runs
 * then is a part of what the command runs, so whatever fails there fails as a
 * whole; that it can succeed at all is for the caller to find out (ladder.h).
 * Every word that comes from a name is quoted for the shell.
 */
#ifndef REPAIR_NARROW_H
#define REPAIR_NARROW_H

#include "common/strv.h"

#define NARROW_TESTS_MAX 20     /* names in a command */
#define NARROW_FILES_MAX 20     /* files in a command */
#define NARROW_COMMAND_MAX 8000 /* bytes of it; the tools take 8192 */

/* The failing tests alone; NULL: it can't be done, or they are too many. Names
 * that can't be told to the runner are left out, unless that leaves none. */
char *narrow_tests(
    const char *command, const struct strv *failing, const char *output);
/* All tests of their files. */
char *narrow_files(
    const char *command, const struct strv *failing, const char *output);

#endif
