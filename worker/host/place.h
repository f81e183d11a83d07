/*
 * place.h - the directories and programs of a host, as its uid reaches them.
 *
 * place_prepare() is the step from root to the workers' uid (stage.h): whatever
 * is needed later is made, given to that uid and bound below the stage before
 * the drop. As an ordinary user it only makes directories and gives up what
 * the user namespace brought.
 *
 * With the container backend nothing can be bound: what the workers' uid can't
 * reach is copied (the program) or not shown (toolchains below a 0700 home).
 *
 * Else /proc is that of our pid namespace afterwards. bwrap looks its child up
 * there by the number that it has for us, and dies when it finds nothing.
 */
#ifndef WORKER_HOST_PLACE_H
#define WORKER_HOST_PLACE_H

#include "common/err.h"
#include "sandbox/profile_view.h"
#include "sandbox/stage.h"
#include "sandbox/toolchain.h"

struct options;

struct place {
	struct stage stage;
	struct toolchain tools;   /* original paths: stage_spec() them */
	struct profile_view view; /* as tools */
	/* As a person knows them: */
	char *scratch_name, *snapshots_name;
	/* As they are reached now: */
	char *endpoint;
	char *scratch;   /* parent of our scratch directory */
	char *snapshots; /* the store */
	char *worker;    /* the program foray-worker */
	char *lib;       /* its libraries (deploy/tarball.sh), or NULL */
	char *bin;       /* directory of a copy of it, or NULL */
	int bin_lock;
	enum sandbox_backend backend;
	char *network;    /* the orchestrator's socket for networks; or NULL */
	char *own_hosts;  /* not by that way, as netns.h has them; or NULL */
	int machine_proc; /* /proc as it was when we came: the machine's */
};

/* Once, single-threaded. ERR_SANDBOX when the stage can't be made. */
int place_prepare(const struct options *o, struct place *ret, struct err *e);
void place_clear(struct place *p);

#endif
