/*
 * profile.h - the sandboxes that are used, as specs.
 *
 * A pure function of struct profile: what a profile shows of this machine
 * (profile_view.h) read-only, toolchains read-only, a new /proc and /dev, tmpfs
 * on /tmp, /dev/shm, /run, /home, /root and /var/tmp, the tree at its own
 * absolute path. HOME is /tmp/home, and an /etc/passwd of its own leads there
 * (accounts.h). The environment is made from nothing: PATH, the profile's
 * variables, and what it passes of the caller's.
 */
#ifndef SANDBOX_PROFILE_H
#define SANDBOX_PROFILE_H

#include "sandbox/profile_view.h"
#include "sandbox/spec.h"
#include "sandbox/toolchain.h"

/* Where a worker finds its things inside the outer layer; none of it is
 * visible in the inner one. */
#define IN_DIR "/run/foray"
#define IN_LINK "/run/foray/link"     /* socket s, file worker.json */
#define IN_WORKER "/run/foray/worker" /* the program */
#define IN_LIB "/run/foray/lib"       /* libraries that it brings along */
#define IN_BASE "/run/foray/base"     /* the snapshot, read-only */
#define IN_UP "/run/foray/up"       /* the workspace's upper layer, read-only */
#define IN_CACHE "/run/foray/cache" /* what a run's workers share */
#define IN_OOM \
	"/run/foray/oom" /* counts kills for want of memory, or missing */

struct profile {
	const struct profile_view *view; /* NULL: profile_view_default() */
	const struct toolchain *tools;   /* NULL: none */
	const char *cache_src; /* with the profile's "cache": what becomes
				  ~/.cache; NULL: an ordinary directory */
	const char *root;      /* tree: absolute path inside */
	const char *workdir;   /* absolute, inside; NULL: root */
	/* outer */
	const char
	    *tree_src; /* what is mounted at root ("@merged" or a path) */
	const char *base_src;   /* snapshot's tree */
	const char *up_src;     /* upper layer, or NULL (copy) */
	const char *link_src;   /* directory of the socket */
	const char *worker_src; /* foray-worker */
	const char *lib_src;    /* its own libraries; NULL: the system's */
	/* inner */
	const struct strv *guarded; /* files below root to bind read-only over
				       themselves; may be NULL */
	/* direct: absolute paths, each may be NULL */
	const struct strv *shown;  /* read-only besides */
	const struct strv *pinned; /* directories of the tree that must not be
				      renamed, since something below them is
				      guarded; outer ones first */
	bool egress; /* inner, direct: by a proxy to allowed hosts, netns.h */
	const char *own_hosts; /* not by it: as netns_proxy_env() takes them */
};

/* Outer: the worker's. argv is set: the worker program. */
void profile_outer(const struct profile *p, struct sandbox_spec *ret);
/* Inner, as seen from inside the outer one: sources are the outer's paths. The
 * tree is at root ("@merged" when tree_src says so, for candidates),
 * .git/config and .git/hooks read-only, guarded files read-only. /tmp is the
 * outer's /tmp/cmd unless fresh_tmp. argv is left empty. */
void profile_inner(
    const struct profile *p, bool fresh_tmp, struct sandbox_spec *ret);
/* One layer for `foray sandbox`: as inner, sources are this machine's paths. On
 * a copy (tree_src "@merged") .git is guarded as in inner, on the real tree it
 * is read-only as a whole. */
void profile_direct(const struct profile *p, struct sandbox_spec *ret);

#endif
