/* options.h - what foray-host was told on its command line. */
#ifndef WORKER_HOST_OPTIONS_H
#define WORKER_HOST_OPTIONS_H

#include "common/strv.h"
#include "proto/curve.h"
#include "sandbox/spec.h"

struct options {
	const char *connect;   /* the orchestrator's endpoint */
	const char *name;      /* NULL: the machine's */
	struct strv labels;    /* proto/label.h */
	const char *scratch;   /* NULL: CACHE/scratch */
	uint64_t cache_max;    /* bytes of snapshots; 0: no limit */
	const char *cache;     /* NULL: the user's cache directory */
	const char *network;   /* socket for commands' networks; NULL: none */
	const char *own_hosts; /* without the proxy; NULL: the loopback */
	uint64_t slots;        /* as many as there are processors, or told */
	uint64_t spares;       /* workers that wait, of these (pool.h) */
	uint64_t idle_exit_ms; /* 0: never */
	uint64_t drain_ms;     /* for the workers' end after SIGTERM */
	int lifeline_fd;       /* -1: not started by foray */
	const char *profile;   /* name or file; NULL: "default" */
	enum sandbox_backend backend;
	const char *keys;        /* directory; NULL: none, or not over TCP */
	struct curve_host curve; /* what is in it */
	bool insecure;           /* TCP without keys */
	bool check; /* only look: connect may be NULL, curve is not read */
};

/* Ends the program for --help, --version and errors of usage (status 2). */
void options_parse(struct options *o, int argc, char **argv);
/* That we may use. */
size_t options_processors(void);

#endif
