#include "common/compat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "common/fdio.h"
#include "sandbox/limits.h"

/* Of the host and all it starts. A worker is two bwraps, the worker with its
 * threads, and its wire; commands come on top. */
#define WORKER_FILES 12
#define OTHER_FILES 64
#define WORKER_PIDS 6
#define OTHER_PIDS 128

/* Never above the hard limit that we were given. */
static int
lower(__rlimit_resource_t what, const char *name, uint64_t value, struct err *e)
{
	struct rlimit rl;

	if (getrlimit(what, &rl) < 0)
		return err_set(
		    e, -errno, "limit on %s: %s", name, strerror(errno));
	if (rl.rlim_max == RLIM_INFINITY || value < rl.rlim_max)
		rl.rlim_max = (rlim_t)value + (what == RLIMIT_CPU ? 1 : 0);
	rl.rlim_cur = rl.rlim_max;
	/* SIGXCPU comes at the soft limit and names the cause; who ignores it
	 * is killed a second later. */
	if (what == RLIMIT_CPU && rl.rlim_cur > value)
		rl.rlim_cur = (rlim_t)value;
	if (setrlimit(what, &rl) < 0)
		return err_set(
		    e, -errno, "limit on %s: %s", name, strerror(errno));
	return 0;
}

int
limits_apply(const struct sandbox_limits *l, struct err *e)
{
	const struct {
		__rlimit_resource_t what;
		const char *name;
		uint64_t value;
	} table[] = {
		{ RLIMIT_DATA, "memory", l->data_bytes },
		{ RLIMIT_FSIZE, "file size", l->file_bytes },
		{ RLIMIT_NPROC, "processes", l->procs },
		{ RLIMIT_CPU, "processor time", l->cpu_s },
		{ RLIMIT_NOFILE, "open files", l->nofile },
	};
	int r = lower(RLIMIT_CORE, "core files", 0, e);

	for (size_t i = 0; r == 0 && i < nitems(table); i++) {
		if (table[i].value > 0 && table[i].value != LIMIT_UNLIMITED)
			r = lower(
			    table[i].what, table[i].name, table[i].value, e);
	}
	return r;
}

void
limits_shape(struct sandbox_spec *s)
{
	uint64_t max = s->limits.memory_bytes / 2;

	for (size_t i = 0; max > 0 && i < s->n_mounts; i++) {
		if (s->mounts[i].kind == MOUNT_TMPFS &&
		    (s->mounts[i].size == 0 || s->mounts[i].size > max))
			s->mounts[i].size = max;
	}
}

void
limits_raise_nofile(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) < 0)
		return;
	rl.rlim_cur = rl.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &rl); /* what we have will have to do */
}

/* 0: not to be told. */
static uint64_t
pid_max(void)
{
	struct buf b;
	uint64_t n = 0;

	buf_init(&b, 64);
	if (file_read("/proc/sys/kernel/pid_max", false, &b, NULL) == 0)
		n = strtoull(buf_str(&b), NULL, 10);
	buf_clear(&b);
	return n;
}

/* So many workers of each, and one that verifies what they found. */
static uintmax_t
at_most(uint64_t limit, uint64_t other, uint64_t each)
{
	return limit > other + 2 * each ? (limit - other) / each - 1 : 1;
}

int
limits_workers(uint64_t n, struct err *e)
{
	uint64_t files = n * WORKER_FILES + OTHER_FILES;
	uint64_t pids = n * WORKER_PIDS + OTHER_PIDS, max = pid_max();
	struct rlimit rl;

	limits_raise_nofile();
	if (getrlimit(RLIMIT_NOFILE, &rl) == 0 && rl.rlim_cur < files)
		return err_set(e, ERR_USAGE,
		    "%ju workers at once need %ju open files, and %ju are "
		    "allowed: raise the hard limit (ulimit -Hn, LimitNOFILE= "
		    "of a unit), or have at most %ju (-n, --slots)",
		    (uintmax_t)n, (uintmax_t)files, (uintmax_t)rl.rlim_cur,
		    at_most(rl.rlim_cur, OTHER_FILES, WORKER_FILES));
	if (max > 0 && max < pids)
		return err_set(e, ERR_USAGE,
		    "%ju workers at once need %ju process ids, and there are "
		    "%ju: raise kernel.pid_max (sysctl), or have at most %ju "
		    "(-n, --slots)",
		    (uintmax_t)n, (uintmax_t)pids, (uintmax_t)max,
		    at_most(max, OTHER_PIDS, WORKER_PIDS));
	return 0;
}
