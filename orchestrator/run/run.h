/*
 * run.h - one run from the command line to its end.
 */
#ifndef ORCHESTRATOR_RUN_RUN_H
#define ORCHESTRATOR_RUN_RUN_H

#include "common/err.h"
#include "common/json.h"
#include "common/strv.h"
#include "sandbox/spec.h"

/* Exit statuses (foray(1)). */
enum exit_status {
	EXIT_FIXED = 0,
	EXIT_UNFIXED = 1,
	EXIT_USAGE = 2,
	EXIT_BUDGET = 3,
	EXIT_SANDBOX = 4,
	EXIT_FATAL = 5,
	EXIT_OWN = 125, /* foray sandbox: its own failure */
	EXIT_INTERRUPTED = 130
};

/* Workers that one run may ask for; pid_max bounds what a machine can hold. */
#define RUN_MAX_WORKERS 4096

/* The answer to what the rules ask for: approve.h. */
enum ask_how {
	ASK_UNSET, /* prompt on a terminal, else deny */
	ASK_PROMPT,
	ASK_DENY,
	ASK_ALLOW
};

struct run_opts {
	const char *repo;      /* -C; "." */
	struct strv tests;     /* -t; empty: detected */
	struct strv checks;    /* -k */
	struct strv protect;   /* --protect globs */
	struct strv unprotect; /* --unprotect globs */
	struct strv allow_net; /* --allow-net hosts */
	struct strv labels;    /* --label, of hosts */
	const char *metrics;   /* --metrics: metrics/endpoint.h; or NULL */
	unsigned workers;      /* -n */
	const char *model;     /* -m, or NULL */
	const char *profile;   /* --profile, or NULL */
	const char *topology;  /* --topology, or NULL */
	const char *task;      /* TASK text or NULL */
	uint64_t max_calls, max_tokens, max_time_ms; /* 0: no limit */
	uint64_t max_micro; /* --max-usd, in millionths */
	uint64_t seed;
	enum ask_how ask; /* --ask */
	uint64_t ask_ms;  /* how long a question waits; 0: the default */
	bool json;
	bool no_builtin;    /* no pass of the built-in model: pass.h */
	bool all;           /* do not stop at the first verified fix */
	bool apply;         /* --apply */
	const char *branch; /* --branch */
	/* A run to go on with, or to play again: its name, "" for the latest;
	 * for replay also a path. NULL: a new run. */
	const char *resume, *replay;
	const char *hint; /* resume: one more hypothesis */
	/* `foray tool`: no baseline, no plan, one call. */
	const char *tool, *tool_args;
	/* Hosts of other machines: fleet.h. */
	const char *listen, *keys; /* --listen, --keys, or NULL */
	bool insecure;             /* --insecure-loopback */
	bool local_set;            /* --local */
	unsigned local;
	uint64_t wait_ms;             /* --wait-hosts; 0: the default */
	bool quiet;                   /* no human view */
	enum sandbox_backend backend; /* --sandbox; never chosen by itself */
};

/* What a tool run leaves. */
struct tool_result {
	char *text;  /* the call's result; NULL: it did not come to that */
	char *patch; /* what it changed, "" when nothing */
	struct strv notes; /* what is not in the patch, and why */
};

/* The whole run; an exit status. tool: filled for opts->tool; may be NULL. */
int run_main(const struct run_opts *opts, struct tool_result *tool);

#endif
