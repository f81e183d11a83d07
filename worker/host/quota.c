/*
 * quota.c - how much a host lets its workers have.
 */
#include "common/compat.h"

#include "worker/host/quota.h"

#include "common/fdio.h"
#include "common/num.h"
#include "sandbox/cgroup.h"

#define MIB ((uint64_t)1 << 20)
#define DATA_MIB 4096
#define FILE_MIB 4096
#define PROCS 512
#define PARALLEL 2
#define PIDS 1024
#define MEMORY_MIB 4096
#define MEMORY_LEAST_MIB 32
#define PIDS_LEAST 16
#define DISK_MIB 8192
#define OUTPUT_MIB 1024
#define RESERVE_MIB 1024 /* for everybody else; a tenth of a small machine */

static uint64_t
lower(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
higher(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t
either(uint64_t asked, uint64_t otherwise)
{
	return asked > 0 ? asked : otherwise;
}

static uint64_t
pid_max(void)
{
	uint64_t n = 32768;
	struct buf b;

	buf_init(&b, 64);
	if (file_read("/proc/sys/kernel/pid_max", false, &b, NULL) == 0 &&
	    b.len > 0) {
		b.data[b.len - 1] = '\0'; /* the newline */
		(void)num_u64(b.data, 1, UINT32_MAX, "pid_max", &n, NULL);
	}
	buf_clear(&b);
	return n;
}

void
quota_init(struct quota *q, size_t slots)
{
	struct cgroup_site s;

	memset(q, 0, sizeof *q);
	cgroup_find(&s);
	q->memory = cgroup_memory(&s);
	cgroup_site_clear(&s);
	q->total.memory_bytes =
	    q->memory - lower(q->memory / 10, RESERVE_MIB * MIB);
	/* A fork bomb in every worker leaves some to the rest. */
	q->total.pids = lower(pid_max() / 4 * 3, (slots + 1) * PIDS * 4);
}

int
quota_worker(const struct quota *q, const struct msg_assign *a,
    struct sandbox_limits *ret_outer, struct sandbox_limits *ret_inner,
    struct err *e)
{
	struct sandbox_limits out = { 0 }, in = { 0 };
	uint64_t parallel = either(a->parallel, PARALLEL), data;

	in.file_bytes = either(a->file_mib, FILE_MIB) * MIB;
	in.procs = either(a->procs, PROCS);
	in.cpu_s = a->cpu_s;
	in.output_bytes = either(a->output_mib, OUTPUT_MIB) * MIB;

	out.memory_bytes = either(a->memory_mib * MIB,
	    higher(q->memory / 2, lower(MEMORY_MIB * MIB, q->memory / 4 * 3)));
	out.pids = either(a->pids, higher(PIDS, parallel * in.procs));
	out.cpu_milli = a->cpu_milli;
	out.disk_bytes = either(a->disk_mib, DISK_MIB) * MIB;
	if (out.memory_bytes < MEMORY_LEAST_MIB * MIB || out.pids < PIDS_LEAST)
		return err_set(e, ERR_LIMIT,
		    "a worker can't start with less than %d MiB of memory and "
		    "%d processes",
		    MEMORY_LEAST_MIB, PIDS_LEAST);

	/* RLIMIT_DATA counts address space that is never touched (a sanitizer
	 * takes terabytes of it), so it is only for want of something better.
	 */
	data = q->group != NULL
	    ? a->data_mib * MIB
	    : lower(either(a->data_mib, DATA_MIB) * MIB, out.memory_bytes);
	in.data_bytes = a->data_mib == MSG_UNLIMITED_MIB ? 0 : data;
	in.file_bytes = lower(in.file_bytes, out.disk_bytes);
	in.memory_bytes = out.memory_bytes;
	*ret_outer = out;
	*ret_inner = in;
	return 0;
}
