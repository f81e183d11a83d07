/*
 * test_host_run.c - foray-host as an orchestrator and as hostile workers see
 * it, and what is left when something of it is killed.
 *
 * Run it as root and as an ordinary user. FORAY_KILLS=100 FORAY_SLOW=1 for a
 * long run.
 */
#include "common/compat.h"

#include "test_host_bed.h"
#include "test_host_worker.h"

static void
quit(struct bed *b, bool all)
{
	kill(b->launcher, SIGTERM);
	assert_int_equal(bed_reap(b), 0);
	bed_all_gone(b, 0);
	assert_int_equal(bed_scratch(b, all), 0);
}

/* --- the link ------------------------------------------------------------ */

static void
quit_host(struct bed *b)
{
	quit(b, true);
}

static void
test_hello(void **state)
{
	struct event *ev;
	struct bed b;

	(void)state;
	bed_open(&b);
	b.welcome = false;
	bed_start(&b, false);
	ev = bed_wait(&b, MSG_HELLO, NULL);
	assert_int_equal(ev->number, 3);
	assert_string_equal(ev->detail, "bed");
	print_message("layout %s\n", ev->text);
	/* No answer: said again. */
	b.welcome = true;
	bed_wait(&b, MSG_HELLO, NULL);
	ev = bed_wait(&b, MSG_HEARTBEAT, NULL);
	assert_int_equal(ev->number, 0);
	quit_host(&b);
	bed_close(&b);
}

static void
test_refused(void **state)
{
	struct bed b;

	(void)state;
	bed_open(&b);
	b.refuse = "go away";
	bed_start(&b, false);
	bed_wait(&b, MSG_HELLO, NULL);
	assert_int_equal(bed_reap(&b), 5);
	bed_close(&b);
}

/* An orchestrator that was started anew is told of us without asking; a worker
 * that runs is not disturbed. */
static void
test_restart(void **state)
{
	struct msg task = { .type = MSG_TASK };
	struct bed b;

	(void)state;
	bed_open(&b);
	bed_start_wait(&b);
	bed_assign(&b, "good", 60000);
	bed_wait(&b, MSG_READY, "good");
	peer_free(b.peer);
	bed_nap(300);
	bed_forget(&b);
	bed_bind(&b);
	bed_wait(&b, MSG_HELLO, NULL);
	task.u.task.kind = "explore";
	task.u.task.subtask = "sub";
	task.u.task.attempt = 1;
	task.u.task.prompt = "again";
	bed_send(&b, "good", &task);
	assert_string_equal(bed_wait(&b, MSG_PROGRESS, "good")->text, "again");
	quit_host(&b);
	bed_close(&b);
}

static void
test_drain(void **state)
{
	struct msg m = { .type = MSG_DRAIN }, ack = { .type = MSG_SUMMARY_ACK };
	struct bed b;

	(void)state;
	bed_open(&b);
	bed_start_wait(&b);
	bed_assign(&b, "good", 60000);
	bed_wait(&b, MSG_READY, "good");
	bed_send(&b, NULL, &m);
	bed_assign(&b, "more", 60000);
	bed_wait_exit(&b, "more", "draining", "draining");
	ack.u.summary_ack.subtask = "sub";
	bed_send(&b, "good", &ack);
	bed_wait_exit(&b, "good", "exited", "");
	assert_int_equal(bed_reap(&b), 0);
	assert_int_equal(bed_scratch(&b, true), 0);
	bed_close(&b);
}

/* H-005: one that has told its summary and does not end is ended, and its slot
 * is free. */
static void
test_linger(void **state)
{
	struct msg ack = { .type = MSG_SUMMARY_ACK };
	uint64_t start;
	struct bed b;

	(void)state;
	bed_open(&b);
	bed_start_wait(&b);
	bed_assign(&b, "linger", 60000);
	bed_wait(&b, MSG_READY, "linger");
	ack.u.summary_ack.subtask = "sub";
	start = loop_now_ms();
	bed_send(&b, "linger", &ack);
	bed_wait_exit(&b, "linger", "timeout", "after its summary");
	assert_true(loop_now_ms() - start < 60000);
	quit_host(&b);
	bed_close(&b);
}

/* --- workers that behave ------------------------------------------------- */

static void
test_ready(void **state)
{
	struct msg task = { .type = MSG_TASK };
	struct msg ack = { .type = MSG_SUMMARY_ACK };
	char pid[32];
	struct event *ev;
	uint64_t start;
	struct bed b;

	(void)state;
	bed_open(&b);
	start = loop_now_ms();
	bed_start_wait(&b);
	print_message("to HELLO %ju ms\n", loop_now_ms() - start);
	start = loop_now_ms();
	bed_assign(&b, "good-1", 60000);
	ev = bed_wait(&b, MSG_READY, "good-1");
	print_message("from ASSIGN to READY %ju ms\n", loop_now_ms() - start);
	assert_true(ev->number != 4242);
	(void)snprintf(pid, sizeof pid, "%ju", (uintmax_t)ev->number);
	assert_true(bed_is_marked(&b, pid));
	assert_string_not_equal(ev->text, "lie");
	task.u.task.kind = "explore";
	task.u.task.subtask = "sub";
	task.u.task.attempt = 1;
	task.u.task.prompt = "echo";
	/* Said again, as long as no TASK comes. */
	bed_assign(&b, "twice", 60000);
	bed_wait(&b, MSG_READY, "twice");
	bed_wait(&b, MSG_READY, "twice");
	bed_send(&b, "nobody", &task);
	bed_send(&b, "good-1", &task);
	ev = bed_wait(&b, MSG_PROGRESS, "good-1");
	assert_string_equal(ev->text, "echo");
	ack.u.summary_ack.subtask = "sub";
	bed_send(&b, "good-1", &ack);
	bed_wait_exit(&b, "good-1", "exited", "");
	quit_host(&b);
	bed_close(&b);
}

static void
test_nothing_leaks(void **state)
{
	struct event *ev;
	struct bed b;

	(void)state;
	bed_open(&b);
	bed_start_wait(&b);
	bed_assign(&b, "env", 60000);
	ev = bed_wait(&b, MSG_PROGRESS, "env");
	assert_string_equal(ev->text, "clean");
	quit_host(&b);
	bed_close(&b);
}

static void
test_slots(void **state)
{
	struct msg cancel = { .type = MSG_CANCEL };
	struct bed b;
	int i;

	(void)state;
	bed_open(&b);
	bed_start_wait(&b);
	bed_assign(&b, "good-1", 60000);
	bed_assign(&b, "good-2", 60000);
	bed_assign(&b, "good-3", 60000);
	bed_assign(&b, "good-4", 60000);
	bed_wait_exit(&b, "good-4", "full", "no free slot");
	for (i = 1; i <= 3; i++) {
		char name[32];

		(void)snprintf(name, sizeof name, "good-%d", i);
		bed_wait(&b, MSG_READY, name);
	}
	bed_send(&b, "good-2", &cancel);
	bed_wait_exit(&b, "good-2", "cancelled", "");
	/* The same name again, at once. */
	bed_assign(&b, "good-2", 60000);
	bed_wait(&b, MSG_READY, "good-2");
	bed_send(&b, NULL, &cancel);
	for (i = 0; i < 3; i++)
		assert_string_equal(
		    bed_wait(&b, MSG_WORKER_EXIT, NULL)->text, "cancelled");
	quit_host(&b);
	bed_close(&b);
}

/* The orchestrator has it no more. */
static void
no_snapshot(struct bed *b, const struct msg_need *m)
{
	struct msg out = { .type = MSG_SNAPSHOT };

	out.u.snapshot.snapshot = m->snapshot;
	out.u.snapshot.seq = m->seq;
	out.u.snapshot.ticket = 1;
	out.u.snapshot.error = "it has burnt";
	bed_send(b, NULL, &out);
}

static void
test_bad_orders(void **state)
{
	static const struct {
		const char *name, *snapshot, *root, *workdir, *why;
	} orders[] = {
		{ "Bad_name", SNAPSHOT, "/srv/x", NULL, "name" },
		{ "a", "../../../../../../../../etc/pas", "/srv/x", NULL,
		    "32 hex" },
		{ "b", SNAPSHOT, "srv/x", NULL, "absolute" },
		{ "c", SNAPSHOT, "/srv/../etc", NULL, "clean" },
		{ "d", SNAPSHOT, "/", NULL, "root" },
		{ "e", SNAPSHOT, "/run/foray/link", NULL, "root" },
		{ "f", SNAPSHOT, "/run", NULL, "root" },
		/* Before the snapshot comes, for nothing. */
		{ "j", "ffffffffffffffffffffffffffffffff", "/usr", NULL,
		    "root" },
		{ "k", "ffffffffffffffffffffffffffffffff", "/srv/x", "../y",
		    "workdir" },
		{ "g", SNAPSHOT, "/srv/x", "../y", "workdir" },
		{ "h", SNAPSHOT, "/srv/x", "/srv/xy", "workdir" },
		{ "i", "ffffffffffffffffffffffffffffffff", "/srv/x", NULL,
		    "it has burnt" },
	};
	struct msg m = { .type = MSG_ASSIGN };
	struct bed b;
	size_t i;

	(void)state;
	bed_open(&b);
	b.on_need = no_snapshot;
	bed_start_wait(&b);
	for (i = 0; i < nitems(orders); i++) {
		m.u.assign.subtask = "sub";
		m.u.assign.attempt = 1;
		m.u.assign.wall_ms = 1000;
		m.u.assign.snapshot = orders[i].snapshot;
		m.u.assign.root = orders[i].root;
		m.u.assign.workdir = orders[i].workdir;
		bed_send(&b, orders[i].name, &m);
		bed_wait_exit(&b, orders[i].name, "start", orders[i].why);
	}
	m.u.assign.snapshot = SNAPSHOT;
	m.u.assign.root = b.root;
	m.u.assign.workdir = "sub";
	m.u.assign.wall_ms = 60000;
	bed_send(&b, "good", &m);
	bed_wait(&b, MSG_READY, "good");
	quit_host(&b);
	bed_close(&b);
}

/* --- workers that don't -------------------------------------------------- */

/* All at once beside a good one, which must not notice. */
static void
test_hostile(void **state)
{
	static const struct {
		const char *name, *why;
	} bad[] = {
		{ "badtok", "wrong token" },
		{ "notok", "wrong token" },
		{ "early", "AUDIT before READY" },
		{ "junk", "no message" },
		{ "late", "no message" },
		{ "role", "does not come from this side" },
		{ "flood", "too much" },
		{ "endless", "endless parts" },
		{ "huge", "too large" },
	};
	struct msg task = { .type = MSG_TASK };
	struct bed b;
	size_t i;

	(void)state;
	bed_open(&b);
	bed_start_wait(&b);
	bed_assign(&b, "good", 60000);
	bed_wait(&b, MSG_READY, "good");
	for (i = 0; i < nitems(bad); i++) {
		bed_assign(&b, bad[i].name, 60000);
		bed_wait_exit(&b, bad[i].name, "protocol", bad[i].why);
	}
	task.u.task.kind = "explore";
	task.u.task.subtask = "sub";
	task.u.task.attempt = 1;
	task.u.task.prompt = "still here";
	bed_send(&b, "good", &task);
	assert_string_equal(
	    bed_wait(&b, MSG_PROGRESS, "good")->text, "still here");
	assert_int_equal(b.bad, 0);
	quit_host(&b);
	bed_close(&b);
}

static void
test_second_connection(void **state)
{
	struct bed b;

	(void)state;
	bed_open(&b);
	bed_start_wait(&b);
	bed_assign(&b, "second", 60000);
	bed_wait(&b, MSG_READY, "second");
	assert_string_equal(
	    bed_wait(&b, MSG_PROGRESS, "second")->text, "honest");
	assert_null(bed_wait_ms(&b, MSG_PROGRESS, "second", 100));
	bed_assign(&b, "raw", 60000);
	bed_wait(&b, MSG_READY, "raw");
	assert_string_equal(
	    bed_wait(&b, MSG_PROGRESS, "raw")->text, "after raw");
	quit_host(&b);
	bed_close(&b);
}

static void
test_ends(void **state)
{
	struct event *ev;
	struct bed b;

	(void)state;
	bed_open(&b);
	bed_start_wait(&b);

	bed_assign(&b, "mute", 400);
	bed_wait_exit(&b, "mute", "timeout", "time limit");

	if (getenv("FORAY_SLOW") != NULL) {
		bed_assign(&b, "mute", 60000);
		assert_null(bed_wait_ms(&b, MSG_WORKER_EXIT, NULL, 29000));
		bed_wait_exit(&b, "mute", "start", "no READY");
	}

	bed_assign(&b, "crash", 60000);
	ev = bed_wait(&b, MSG_WORKER_EXIT, "crash");
	assert_string_equal(ev->text, "exited");
	assert_int_equal(ev->number, 7);
	assert_non_null(strstr(ev->detail, "line 999 red"));
	assert_null(strchr(ev->detail, '\033'));

	bed_assign(&b, "signal", 60000);
	ev = bed_wait(&b, MSG_WORKER_EXIT, "signal");
	assert_string_equal(ev->text, "killed");
	assert_int_equal(ev->number, 128 + SIGUSR1);

	bed_assign(&b, "fork", 60000);
	ev = bed_wait(&b, MSG_READY, "fork");
	bed_wait(&b, MSG_PROGRESS, "fork");
	while (bed_processes(&b) < 16)
		assert_true(loop_once(b.loop, 5) >= 0);
	kill((pid_t)ev->number, SIGKILL);
	ev = bed_wait(&b, MSG_WORKER_EXIT, "fork");
	assert_string_equal(ev->text, "killed");
	assert_int_equal(ev->number, 128 + SIGKILL);
	bed_nap(50);
	/* launcher, host, its wires' origin, and removers in passing */
	while (bed_processes(&b) > 3)
		assert_true(loop_once(b.loop, 5) >= 0);
	quit_host(&b);
	bed_close(&b);
}

/* --- kills --------------------------------------------------------------- */

enum target {
	KILL_LAUNCHER,
	KILL_HOST,
	KILL_PARENT,
	KILL_TARGETS
};

static long
kills(void)
{
	const char *s = getenv("FORAY_KILLS");

	return s != NULL ? atol(s) : 12;
}

/* From the first moment to the running workers. */
static void
test_kill(void **state)
{
	long i, n = kills();
	struct bed b;

	(void)state;
	bed_open(&b);
	for (i = 0; i < n; i++) {
		enum target t = (enum target)(i % KILL_TARGETS);
		uint64_t until;
		bool assigned = false;
		pid_t pid;

		bed_forget(&b);
		bed_start(&b, t == KILL_PARENT);
		until = loop_now_ms() + (uint64_t)(random() % 90);
		while (loop_now_ms() < until) {
			loop_once(b.loop, 1);
			if (!assigned && b.host.id_len > 0) {
				bed_assign(&b, "fork-1", 60000);
				bed_assign(&b, "good-2", 60000);
				bed_assign(&b, "good-3", 60000);
				assigned = true;
			}
		}
		pid = t == KILL_HOST   ? bed_pid1(&b)
		    : t == KILL_PARENT ? b.parent
				       : b.launcher;
		if (pid > 0)
			kill(pid, SIGKILL);
		else
			kill(b.launcher, SIGKILL);
		if (t != KILL_PARENT) {
			bed_reap(&b);
		} else {
			waitpid(b.parent, NULL, 0);
			b.parent = b.launcher = 0;
		}
		bed_all_gone(&b, 20000);
		bed_no_mounts(&b);
	}
	/* The next one cleans up. */
	bed_forget(&b);
	bed_start_wait(&b);
	bed_wait(&b, MSG_HEARTBEAT, NULL);
	for (i = 0; i < 4000 && bed_scratch(&b, false) > 1; i++)
		bed_nap(10);
	assert_int_equal(bed_scratch(&b, false), 1);
	quit(&b, false);
	bed_close(&b);
}

/* A hang-up without a death, as when foray closes the pipe. */
static void
test_lifeline(void **state)
{
	struct bed b;

	(void)state;
	bed_open(&b);
	bed_start_wait(&b);
	bed_assign(&b, "fork-1", 60000);
	bed_wait(&b, MSG_PROGRESS, "fork-1");
	fd_close(&b.lifeline);
	assert_int_equal(bed_reap(&b), 128 + SIGKILL);
	bed_all_gone(&b, 20000);
	bed_close(&b);
}

static void
test_term(void **state)
{
	uint64_t start;
	struct bed b;

	(void)state;
	bed_open(&b);
	bed_start_wait(&b);
	bed_assign(&b, "fork-1", 60000);
	bed_assign(&b, "good-2", 60000);
	bed_wait(&b, MSG_PROGRESS, "fork-1");
	start = loop_now_ms();
	quit_host(&b);
	assert_true(loop_now_ms() - start < 12000);
	bed_wait_exit(&b, "good-2", "killed", "host ends");
	bed_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hello),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_drain),
		cmocka_unit_test(test_linger),
		cmocka_unit_test(test_ready),
		cmocka_unit_test(test_nothing_leaks),
		cmocka_unit_test(test_slots),
		cmocka_unit_test(test_bad_orders),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_second_connection),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_lifeline),
		cmocka_unit_test(test_term),
		cmocka_unit_test(test_kill),
	};

	if (access(IN_LINK "/worker.json", F_OK) == 0)
		return tw_main();
	srandom((unsigned)getpid());
	cmocka_set_test_filter(getenv("TEST_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
