/*
 * batch_cmd.h - is a check a plain Python test command, and which? Pure but for
 * looking at the first line of a script.
 *
 *	[cd DIR &&] [NAME=VALUE]... python3 [-B -u -W x ...] -m unittest ARGS
 *	                            python3 ... -m pytest ARGS
 *	                            python3 ... FILE.py ARGS
 *	                            pytest ARGS
 *
 * Words may be quoted; anything else that means something to a shell makes it
 * another command (2>&1 at the end does not: it is one stream anyway).
 */
#ifndef WORKER_AGENT_BATCH_CMD_H
#define WORKER_AGENT_BATCH_CMD_H

#include "common/strv.h"

struct batch_cmd {
	char *cwd;          /* NULL: the working directory */
	struct strv env;    /* NAME=value */
	struct strv python; /* the interpreter and its options */
	bool module;        /* name is one, else a file */
	char *name;
	struct strv args; /* behind it */
};

/* False: it is none of these. path_env: where programs are searched. */
bool batch_cmd_parse(
    const char *check, const char *path_env, struct batch_cmd *ret);
void batch_cmd_clear(struct batch_cmd *c);

#endif
