#include "common/compat.h"

#include "orchestrator/run/limits.h"

#define CALL_MS 120000
#define TESTS_MS 300000

/* Less than one is one, not none. */
static uint64_t
mib(uint64_t bytes)
{
	return (bytes + ((uint64_t)1 << 20) - 1) >> 20;
}

/* At most what a message can say; "unlimited" is that. */
static uint64_t
capped(uint64_t bytes)
{
	return bytes < (uint64_t)MSG_UNLIMITED_MIB << 20 ? mib(bytes)
							 : MSG_UNLIMITED_MIB;
}

uint64_t
limits_memory_mib(const struct profile_def *d)
{
	return mib(d->limits.memory_bytes);
}

void
limits_assign(const struct profile_def *d, struct msg_assign *a)
{
	const struct sandbox_limits *l = &d->limits;

	a->memory_mib = limits_memory_mib(d);
	a->pids = l->pids;
	a->cpu_milli = l->cpu_milli;
	a->disk_mib = mib(l->disk_bytes);
	a->data_mib = capped(l->data_bytes);
	a->file_mib = capped(l->file_bytes);
	a->procs = l->procs;
	a->cpu_s = l->cpu_s;
	a->output_mib = mib(l->output_bytes);
	if (d->subtask_ms > 0 && d->subtask_ms < a->wall_ms)
		a->wall_ms = d->subtask_ms;
}

uint64_t
limits_call_ms(const struct profile_def *d, bool tests)
{
	if (d->call_ms > 0)
		return d->call_ms;
	return tests ? TESTS_MS : CALL_MS;
}
