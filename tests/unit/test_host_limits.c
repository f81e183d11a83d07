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
	m.u.assign.wall_ms = 600000;
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
	bed_quit(&b);
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
		bed_quit(&b);
		return;
	}
	assign(&b, "fill", 0, 16);
	bed_wait_exit(&b, "fill", "disk",
	    "killed: its workspace has grown over the disk limit of 16 MiB");
	assign(&b, "fill", 0, 200);
	bed_wait(&b, MSG_PROGRESS, "fill");
	assert_null(bed_wait_ms(&b, MSG_WORKER_EXIT, "fill", 1600));
	lives(&b, "good");
	bed_quit(&b);
}

/* --- standing still ------------------------------------------------------- */

static void
send_freeze(struct bed *b, const char *name, bool on)
{
	struct msg m = { .type = MSG_FREEZE };

	m.u.freeze.on = on;
	bed_send(b, name, &m);
}

/* What is on its way comes; then nothing more. */
static bool
is_still(struct bed *b, const char *name)
{
	while (bed_wait_ms(b, MSG_PROGRESS, name, 150) != NULL)
		if (b->n > EVENTS - 50)
			return false;
	return bed_wait_ms(b, MSG_PROGRESS, name, 400) == NULL;
}

static void
test_freeze(void **state)
{
	struct msg cancel = { .type = MSG_CANCEL };
	bool groups = has_groups();
	struct bed b;

	(void)state;
	bed_open(&b);
	bed_start_wait(&b);
	assign(&b, "tick-1", 0, 0);
	bed_wait(&b, MSG_PROGRESS, "tick-1");
	send_freeze(&b, "tick-1", true);
	if (!groups) { /* the host says so, and goes on */
		for (int i = 0; i < 60; i++)
			bed_wait(&b, MSG_PROGRESS, "tick-1");
		bed_quit(&b);
		return;
	}
	assert_true(is_still(&b, "tick-1"));
	/* Longer than a heartbeat would allow. */
	assert_null(bed_wait_ms(&b, MSG_WORKER_EXIT, NULL, 4000));
	send_freeze(&b, "tick-1", false);
	bed_wait(&b, MSG_PROGRESS, "tick-1");
	/* Even frozen it can be ended. */
	send_freeze(&b, NULL, true);
	assert_true(is_still(&b, "tick-1"));
	bed_send(&b, "tick-1", &cancel);
	bed_wait_exit(&b, "tick-1", "cancelled", "");
	assign(&b, "good", 0, 0);
	bed_wait(&b, MSG_READY, "good");
	send_freeze(&b, NULL, true);
	bed_nap(200);
	bed_quit(&b);
}

/* The time limit waits. */
static void
test_freeze_wall(void **state)
{
	struct bed b;

	(void)state;
	if (!has_groups())
		return;
	bed_open(&b);
	bed_start_wait(&b);
	bed_assign(&b, "good", 4000);
	bed_wait(&b, MSG_READY, "good");
	send_freeze(&b, "good", true);
	assert_null(bed_wait_ms(&b, MSG_WORKER_EXIT, NULL, 5000));
	send_freeze(&b, "good", false);
	bed_wait_exit(&b, "good", "timeout", "time limit");
	bed_quit(&b);
}

/* Killed while its workers are frozen: with V1 they would not even die. */
static void
test_freeze_kill(void **state)
{
	int i;

	(void)state;
	for (i = 0; has_groups() && i < 3; i++) {
		struct bed b;

		bed_open(&b);
		bed_start(&b, i == 2);
		bed_wait(&b, MSG_HELLO, NULL);
		bed_assign(&b, "fork-1", 60000);
		bed_assign(&b, "good-2", 60000);
		bed_wait(&b, MSG_PROGRESS, "fork-1");
		bed_wait(&b, MSG_READY, "good-2");
		send_freeze(&b, NULL, true);
		bed_nap(300);
		if (i == 0)
			kill(bed_pid1(&b), SIGKILL);
		else if (i == 1)
			fd_close(&b.lifeline);
		else
			kill(b.parent, SIGKILL);
		if (i == 2) {
			waitpid(b.parent, NULL, 0);
			b.parent = b.launcher = 0;
		} else {
			bed_reap(&b);
		}
		bed_all_gone(&b, 2000);
		bed_close(&b);
	}
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
	/* "unlimited", also where that is all there is */
	a.data_mib = a.file_mib = MSG_UNLIMITED_MIB;
	q.group = NULL;
	assert_int_equal(quota_worker(&q, &a, &out, &in, &e), 0);
	assert_int_equal(in.data_bytes, 0);
	assert_int_equal(in.file_bytes, 10 * MIB); /* of the disk */
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
		cmocka_unit_test(test_freeze),
		cmocka_unit_test(test_freeze_wall),
		cmocka_unit_test(test_freeze_kill),
	};

	if (access(IN_LINK "/worker.json", F_OK) == 0)
		return tw_main();
	cmocka_set_test_filter(getenv("TEST_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
