/*
 * direct.h - one command in a sandbox that belongs to no run: `foray sandbox`.
 *
 *	direct_make(&q, tty, &d, e);    everything but the process
 *	direct_run(&d, tty, e);         the command, to its end
 *	direct_clear(&d);
 */
#ifndef ORCHESTRATOR_DIRECT_DIRECT_H
#define ORCHESTRATOR_DIRECT_DIRECT_H

#include <sys/stat.h>

#include "orchestrator/direct/livetree.h"
#include "orchestrator/direct/onelayer.h"
#include "orchestrator/egress/single.h"
#include "sandbox/cgroup.h"
#include "sandbox/overlay.h"
#include "sandbox/profile.h"
#include "sandbox/snapshot.h"

/* What is asked for. */
struct direct_request {
	const char *repo;         /* directory of the tree */
	const char *profile;      /* name or file; NULL: the settings' */
	struct profile_def extra; /* show, write, hide, env, pass_env: on top */
	struct strv allow;        /* hosts, besides those of the settings */
	enum sandbox_backend backend;
	bool copy;       /* on a copy, thrown away */
	bool explain;    /* nothing will be run: no copy is made */
	uint64_t max_ms; /* then it is killed; 0: no limit */
	char **argv;     /* the command */
};

/* All that a sandbox is made of. */
struct direct {
	const struct direct_request *q;
	struct livetree tree;
	struct stat dir;        /* where its directory stands */
	struct snapshot snap;   /* copy */
	int hold;               /* of it: no sweep takes it */
	struct overlay overlay; /* copy, backend bwrap */
	int copy_lock;       /* its directory is ours as long as it is open */
	struct onelayer one; /* backend container */
	struct profile_view view;
	struct toolchain tools;
	struct sandbox_spec spec;
	struct strv live;   /* the person's own paths in it */
	struct single *net; /* NULL: none */
	char *cache;
};

/* Status of a command that was killed for its time, as timeout(1). */
#define DIRECT_LATE 124

/* q stays the caller's. After a failure nothing is held. */
int direct_make(const struct direct_request *q, bool tty, struct direct *ret,
    struct err *e);
/* tty: standard input is a terminal, which is kept. The command's exit status,
 * 128 + its signal, DIRECT_LATE; or negative: it did not come to run. */
int direct_run(struct direct *d, bool tty, struct err *e);
void direct_clear(struct direct *d);

#endif
