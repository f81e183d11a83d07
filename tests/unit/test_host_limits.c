/*
 * test_host_limits.c - what a host does with a worker that takes too much, and
 * with one that is to stand still.
 *
 * Run it as root and as an ordinary user, who may have no control groups.
 */
#include "common/compat.h"

#include "test_host_bed.h"
#include "test_host_worker.h"

#include "sandbox/cgroup.h"
#include "worker/host/quota.h"

static void
quit(struct bed *b)
{
	kill(b->launcher, SIGTERM);
	assert_int_equal(bed_reap(b), 0);
	bed_all_gone(b, 0);
	assert_int_equal(bed_scratch(b, true), 0);
	bed_close(b);
}

static bool
has_groups(void)
{
	struct cgroup_site s;
	bool yes;

	cgroup_find(&s);
	yes = s.kind != CGROUP_NONE;
	if (!yes)
		print_message("no groups: %s\n", s.why);
	cgroup_site_clear(&s);
	return yes;
}

static void
assign(struct bed *b, const char *name, uint64_t memory_mib, uint64_t disk_mib)
{
	struct msg m = { .type = MSG_ASSIGN };

	m.u.assign.subtask = "sub";
	m.u.assign.attempt = 1;
	m.u.assign.snapshot = SNAPSHOT;
	m.u.assign.root = b->root;
	m.u.assign.wall_ms = 60000;
	m.u.assign.memory_mib = memory_mib;
	m.u.assign.disk_mib = disk_mib;
	bed_send(b, name, &m);
}

static void
lives(struct bed *b, const char *name)
{
	struct msg task = { .type = MSG_TASK };

	task.u.task.kind = "explore";
	task.u.task.subtask = "sub";
	task.u.task.attempt = 1;
	task.u.task.prompt = "still here";
	bed_send(b, name, &task);
	assert_string_equal(
	    bed_wait(b, MSG_PROGRESS, name)->text, "still here");
}

static void
test_memory(void **state)
{
	struct bed b;

	(void)state;
	if (!has_groups())
		return; /* test_sandbox_start has what rlimits do */
	bed_open(&b);
	bed_start_wait(&b);
	assign(&b, "good", 64, 0);
	bed_wait(&b, MSG_READY, "good");
	assign(&b, "hog", 64, 0);
	bed_wait_exit(&b, "hog", "memory",
	    "killed: the memory limit of 64 MiB was reached");
	lives(&b, "good");
	assign(&b, "tiny", 1, 0);
	bed_wait_exit(&b, "tiny", "start", "can't start with less than");
	quit(&b);
}

static void
test_disk(void **state)
{
	struct event *ev;
	struct bed b;

	(void)state;
	bed_open(&b);
	bed_start_wait(&b);
	assign(&b, "good", 0, 16);
	ev = bed_wait(&b, MSG_READY, "good");
	if (strcmp(ev->text, "tmpfs") == 0) {
		print_message("in memory: its size is the limit\n");
		quit(&b);
		return;
	}
	assign(&b, "fill", 0, 16);
	bed_wait_exit(&b, "fill", "disk",
	    "killed: its workspace has grown over the disk limit of 16 MiB");
	assign(&b, "fill", 0, 200);
	bed_wait(&b, MSG_PROGRESS, "fill");
	assert_null(bed_wait_ms(&b, MSG_WORKER_EXIT, "fill", 1600));
	lives(&b, "good");
	quit(&b);
}

/* --- the sums, apart ------------------------------------------------------ */

#define MIB ((uint64_t)1 << 20)

static void
test_quota(void **state)
{
	struct msg_assign a = { 0 };
	struct sandbox_limits out, in;
	struct quota q;
	struct err e;

	(void)state;
	quota_init(&q, 4);
	assert_true(q.total.memory_bytes > q.memory / 2);
	assert_true(q.total.memory_bytes < q.memory);
	assert_true(q.total.pids >= 4096);

	q.memory = 64 * 1024 * MIB;
	assert_int_equal(quota_worker(&q, &a, &out, &in, &e), 0);
	assert_int_equal(out.memory_bytes, 32 * 1024 * MIB);
	assert_int_equal(in.memory_bytes, out.memory_bytes);
	assert_int_equal(out.pids, 1024);
	assert_int_equal(out.cpu_milli, 0);
	assert_int_equal(out.data_bytes, 0);
	assert_int_equal(in.data_bytes, 4096 * MIB); /* there is no group */
	assert_int_equal(in.procs, 512);
	q.memory = 4 * 1024 * MIB;
	assert_int_equal(quota_worker(&q, &a, &out, &in, &e), 0);
	assert_int_equal(out.memory_bytes, 3 * 1024 * MIB);
	assert_int_equal(in.data_bytes, out.memory_bytes);
	q.group = (struct cgroup *)&q;
	assert_int_equal(quota_worker(&q, &a, &out, &in, &e), 0);
	assert_int_equal(in.data_bytes, 0);

	/* Never less than its commands may have by themselves. */
	a.parallel = 16;
	assert_int_equal(quota_worker(&q, &a, &out, &in, &e), 0);
	assert_int_equal(out.pids, 16 * 512);
	a.disk_mib = 10;
	a.pids = 100;
	a.cpu_milli = 1500;
	a.memory_mib = 100;
	a.data_mib = 7;
	assert_int_equal(quota_worker(&q, &a, &out, &in, &e), 0);
	assert_int_equal(out.pids, 100);
	assert_int_equal(out.cpu_milli, 1500);
	assert_int_equal(out.memory_bytes, 100 * MIB);
	assert_int_equal(in.file_bytes, 10 * MIB);
	assert_int_equal(in.data_bytes, 7 * MIB);
	a.pids = 2;
	assert_int_equal(quota_worker(&q, &a, &out, &in, &e), ERR_LIMIT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quota),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_disk),
	};

	if (access(IN_LINK "/worker.json", F_OK) == 0)
		return tw_main();
	cmocka_set_test_filter(getenv("TEST_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
