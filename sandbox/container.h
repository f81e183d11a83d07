/*
 * container.h - one layer less, for pods and containers that forbid namespaces.
 *
 * The container around us is the wall. Inside it stand Landlock, a system call
 * filter, a monitor that makes changes of modes and times (notify.h), limits,
 * no new privileges, a clean environment and, for root, another uid. Nothing
 * chooses this by itself: a person asks for it (--sandbox container), and every
 * start says on stderr what is not confined.
 *
 * What a spec's mounts mean here, since none can be made: a read-only one is
 * "may be read", a writable one "may be changed", each where it really is. So
 * a spec of profile.h is made over with container_spec() first.
 *
 * A start makes two processes: a monitor, which is a subreaper, and the command
 * below it. The monitor ends all that the command leaves behind, when the
 * command has ended, when it is told to (SIGTERM: sandbox_kill()) and when its
 * own parent dies. The caller becomes a subreaper, too.
 *
 * Weaker than bwrap: SECURITY.md has the list.
 */
#ifndef SANDBOX_CONTAINER_H
#define SANDBOX_CONTAINER_H

#include "common/err.h"
#include "sandbox/spec.h"
#include "sandbox/toolchain.h"

/* A read-only part of a writable tree: no rule takes a right away, so beside it
 * nothing new can be made. For a tree of which that matters more than new files
 * (the person's own) they are kept; for a worker's copy they are dropped, and
 * the worker puts such files right before each command. */
enum container_guards {
	CONTAINER_KEEP_GUARDS,
	CONTAINER_DROP_GUARDS
};

/* Translate: backend container; tmpfs and links fall away; sources stand for
 * themselves; /tmp, HOME and TMPDIR become tmp (absolute, a private writable
 * directory with "home" in it). "@merged" can't be had. */
void container_spec(
    struct sandbox_spec *s, const char *tmp, enum container_guards guards);
/* Every path in it that is or lies below from (mounts, fixed names, directory,
 * values of the environment) is one below to. */
void container_move(struct sandbox_spec *s, const char *from, const char *to);

/* tmp and tmp/home, of the uid that programs will have. */
int container_make_tmp(const char *tmp, struct err *e);

/* For root in this process, with no way back: another uid, no capabilities.
 * Nothing for others. ERR_SANDBOX: root that may not is refused. */
int container_drop(struct err *e);

/* The cache directory: path_cache_dir(), or, for root, /var/cache/foray when no
 * other uid could walk to that one (a 0700 home). Yours. Made for root. */
int container_cache(char **ret, struct err *e);
/* May every uid walk to path? */
bool container_is_reachable(const char *path);
/* As root: take out of t what the other uid can't walk to (a toolchain below a
 * 0700 home), also out of PATH. ret_dropped gets the directories, for a word to
 * the person. */
void container_tools(struct toolchain *t, struct strv *ret_dropped);

/* No socket can be made or connected by any thread of this process any more,
 * nor by a child. For a worker once it has its connection. */
int container_seal_sockets(struct err *e);

/* Does it work here? It is done: a command below Landlock and the filter that
 * must not read what it is not shown. 0, or ERR_SANDBOX with the reason. */
int container_probe(struct err *e);

/* What a person has to know at each start; one paragraph, static. */
const char *container_warning(void);

#endif
