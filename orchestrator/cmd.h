/*
 * cmd.h - the commands of foray: one file and one row each.
 */
#ifndef ORCHESTRATOR_CMD_H
#define ORCHESTRATOR_CMD_H

#include "common/err.h"
#include "orchestrator/store/store.h"

struct cmd {
	const char *name;
	const char *synopsis;              /* what follows "foray NAME" */
	const char *purpose;               /* one line; NULL: it is not shown */
	const char *help;                  /* options, a line each; may be "" */
	int (*run)(int argc, char **argv); /* argv[0] is the command's name */
};

extern const struct cmd cmd_run, cmd_resume, cmd_replay, cmd_runs, cmd_show,
    cmd_log, cmd_diff, cmd_apply, cmd_rm, cmd_audit, cmd_doctor, cmd_sandbox,
    cmd_tool, cmd_egress, cmd_gate, cmd_keys, cmd_door;

/* Limits of a run, the same for run and resume; -n is one of them. */
enum {
	CMD_MAX_TIME = 512,
	CMD_MAX_CALLS,
	CMD_MAX_TOKENS,
	CMD_MAX_USD
};
struct run_opts;
int cmd_limit(struct run_opts *o, int opt, const char *arg, struct err *e);

/* A mistake on the command line: the sentence, how to get help; EXIT_USAGE. */
int cmd_usage(const struct cmd *c, const char *fmt, ...) printflike(2, 3);
/* What getopt_long(3) refused: names the option. */
int cmd_bad_option(const struct cmd *c, int opt, char **argv);
/* Help on stdout; 0. */
int cmd_help(const struct cmd *c);
/* An error on stderr, and the exit status that its code means. */
int cmd_fail(const struct err *e);
/* The run that the one optional argument names. argc, argv after options. */
int cmd_open(
    const struct cmd *c, int argc, char **argv, bool write, struct store **ret);

#endif
