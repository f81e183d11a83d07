/* options.h - what foray-host was told on its command line. */
#ifndef WORKER_HOST_OPTIONS_H
#define WORKER_HOST_OPTIONS_H

#include "common/strv.h"

struct options {
	const char *connect;   /* the orchestrator's endpoint */
	const char *label;     /* NULL: the machine's name */
	const char *scratch;   /* NULL: CACHE/scratch */
	const char *cache;     /* NULL: the user's cache directory */
	const char *network;   /* socket for commands' networks; NULL: none */
	uint64_t slots;        /* 0: as many as there are processors */
	uint64_t idle_exit_ms; /* 0: never */
	int lifeline_fd;       /* -1: not started by foray */
	struct strv show;      /* more directories to show read-only */
	const char *profile;   /* name or file; NULL: "default" */
};

/* Ends the program for --help, --version and errors of usage (status 2). */
void options_parse(struct options *o, int argc, char **argv);
void options_clear(struct options *o);

#endif
