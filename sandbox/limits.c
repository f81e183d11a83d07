#include "common/compat.h"

#include <errno.h>
#include <sys/resource.h>

#include "sandbox/limits.h"

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
