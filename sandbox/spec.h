/*
 * spec.h - what a sandbox looks like, as data.
 *
 * A spec lists mounts in order (later ones cover earlier ones), environment,
 * limits, working directory and command. profile.h builds specs, bwrap_args.h
 * turns one into bwrap's arguments, start.h runs it. foray-host writes the spec
 * of the inner sandbox as JSON for the worker, which adds the command.
 */
#ifndef SANDBOX_SPEC_H
#define SANDBOX_SPEC_H

#include "common/json.h"
#include "common/strv.h"

enum mount_kind {
	MOUNT_RO,         /* src, read-only, at dst */
	MOUNT_RW,         /* src, writable, at dst */
	MOUNT_TMPFS,      /* empty, size bytes at most (0: half of memory) */
	MOUNT_DIR,        /* an empty directory */
	MOUNT_SYMLINK,    /* dst becomes a link to src */
	MOUNT_PROC,       /* a new /proc */
	MOUNT_DEV,        /* bwrap's minimal /dev */
	MOUNT_REMOUNT_RO, /* make the mount at dst read-only */
	MOUNT_DATA /* a read-only file at dst whose text is src; where dst lies
		      in a mount, a file has to be there already */
};

struct sandbox_mount {
	enum mount_kind kind;
	char *src; /* NULL where the kind has none */
	char *dst; /* absolute path inside */
	uint64_t size;
	bool optional; /* RO, RW: left out when src does not exist */
};

/* Outer: around a worker; may make namespaces (the inner sandbox). Inner:
 * around one command; the innermost layer, no new namespaces, no ptrace. */
enum sandbox_layer {
	LAYER_OUTER,
	LAYER_INNER
};

/* What confines. A virtual machine would be one more.
 * BWRAP: namespaces and a tree of mounts of its own.
 * CONTAINER: where no namespace can be made, in a pod, say: the wall is the
 * machine around us; Landlock, the filter and limits stand inside it. Never
 * chosen by itself. */
enum sandbox_backend {
	BACKEND_BWRAP,
	BACKEND_CONTAINER
};

/* Of data_bytes and file_bytes: the person wants none, also where there would
 * be one otherwise. */
#define LIMIT_UNLIMITED ((uint64_t)INT64_MAX)

/* 0: no limit of that kind. The first are rlimits of each process (limits.h);
 * those of a whole tree need a control group (cgroup.h); the last are kept by
 * whoever watches the tree: wall time and output by the reader of its output,
 * the disk by the host. */
struct sandbox_limits {
	uint64_t data_bytes; /* RLIMIT_DATA */
	uint64_t file_bytes; /* RLIMIT_FSIZE */
	uint64_t procs;      /* RLIMIT_NPROC, set inside the user namespace */
	uint64_t cpu_s;      /* RLIMIT_CPU */
	uint64_t nofile;     /* RLIMIT_NOFILE */
	/* of the tree */
	uint64_t memory_bytes; /* tmpfs and page cache count, swap too */
	uint64_t pids;         /* processes and threads */
	uint64_t cpu_milli;    /* thousandths of a processor */
	/* watched */
	uint64_t disk_bytes;   /* of the workspace */
	uint64_t output_bytes; /* of a command */
	uint64_t wall_ms;
};

struct sandbox_spec {
	enum sandbox_layer layer;
	struct sandbox_mount *mounts;
	size_t n_mounts;
	struct strv env;  /* the whole environment, NAME=value */
	struct strv argv; /* the command */
	char *cwd;        /* inside; NULL: / */
	char *hostname;   /* NULL: "localhost" */
	struct sandbox_limits limits;
	enum sandbox_backend backend;
	/* Backend container: absolute paths of files that keep their names, as
	 * do the directories above them. Not in the JSON. */
	struct strv fixed;
	bool keep_tty; /* no --new-session: the seccomp filter stops TIOCSTI */
	bool ptrace;   /* inner: debuggers may trace what they start */
	bool egress;   /* its environment names the proxy of netns.h */
};

void spec_init(struct sandbox_spec *s, enum sandbox_layer layer);
void spec_clear(struct sandbox_spec *s);
void spec_copy(struct sandbox_spec *dst, const struct sandbox_spec *src);
void spec_mount(struct sandbox_spec *s, enum mount_kind kind, const char *src,
    const char *dst);
void spec_mount_try(struct sandbox_spec *s, enum mount_kind kind,
    const char *src, const char *dst);
void spec_tmpfs(struct sandbox_spec *s, const char *dst, uint64_t size);
/* Can a file or directory be seen inside at this path? Links in it are not
 * followed. */
bool spec_shows(const struct sandbox_spec *s, const char *path);
void spec_set_cwd(struct sandbox_spec *s, const char *cwd);

/* "bwrap", "container". */
int backend_parse(const char *name, enum sandbox_backend *ret, struct err *e);
const char *backend_str(enum sandbox_backend b);

/* As JSON and back; reading checks every path to be absolute and clean. */
json_t *spec_to_json(const struct sandbox_spec *s);
int spec_from_json(const json_t *j, struct sandbox_spec *ret, struct err *e);

#endif
