/*
 * config.h - what the host says about this worker: worker.json in the link
 * directory (IN_LINK, or $FORAY_LINK for tests).
 *
 *	{"protocol":1, "spare":false, "token":"hex",
 *	 "socket":"ipc:///run/foray/link/s", "worker":"w1", "root":"/abs/tree",
 *	 "workdir":"/abs/tree/sub", "layout":"overlay"|"tmpfs"|"copy",
 *	 "parallel":2, "inner":SPEC, "candidate":SPEC, "base":IN_BASE,
 *	 "up":IN_UP, "tmp":"/tmp"}
 *
 * SPEC is spec.h's form. workdir, parallel, base, up and tmp may be left out.
 * With specs of the container backend nothing is mounted: root, base and tmp
 * are where things really are, and commands see tmp/cmd under that name.
 */
#ifndef WORKER_AGENT_CONFIG_H
#define WORKER_AGENT_CONFIG_H

#include "common/err.h"
#include "sandbox/spec.h"

#define CONFIG_MAX ((size_t)1 << 20)

struct config {
	bool spare; /* its task may be long in coming */
	char *token;
	char *socket;
	char *worker;
	char *root;
	char *workdir;
	char *base; /* the snapshot, read-only */
	char *up;   /* the workspace's upper layer; NULL: it is a copy */
	char *tmp;  /* the worker's own; commands have tmp/cmd */
	uint64_t parallel;
	struct sandbox_spec inner;
	struct sandbox_spec candidate;
};

int config_read(const char *link_dir, struct config *ret, struct err *e);
int config_parse(const char *s, size_t len, struct config *ret, struct err *e);
void config_clear(struct config *c);

#endif
