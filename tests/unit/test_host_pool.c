/*
 * test_host_pool.c - workers that were started before they were needed.
 *
 * Run it as root and as an ordinary user.
 */
#include "common/compat.h"

#include "test_host_bed.h"
#include "test_host_worker.h"

static void
open_bed(struct bed *b)
{
	bed_open(b);
	b->spares = true;
	bed_start_wait(b);
}

/* Directories of workspaces whose names start so. */
static size_t
workspaces(const struct bed *b, const char *prefix)
{
	char *top = geteuid() == 0
	    ? path_joinf(b->dir, "scratch/uid-%u", SANDBOX_UID)
	    : path_joinf(b->dir, "scratch");
	struct dirent *d, *in;
	size_t n = 0;
	DIR *p = opendir(top), *q;
	char *dir;

	while (p != NULL && (d = readdir(p)) != NULL) {
		if (d->d_name[0] == '.')
			continue;
		dir = path_join(top, d->d_name);
		q = opendir(dir);
		while (q != NULL && (in = readdir(q)) != NULL)
			n += strncmp(in->d_name, prefix, strlen(prefix)) == 0;
		if (q != NULL)
			closedir(q);
		free(dir);
	}
	if (p != NULL)
		closedir(p);
	free(top);
	return n;
}

/* So many spares, within some seconds. */
static void
spares(struct bed *b, size_t want)
{
	uint64_t end = loop_now_ms() + WAIT_MS;

	while (workspaces(b, "spare.") != want && loop_now_ms() < end)
		assert_true(loop_once(b->loop, 10) >= 0);
	assert_int_equal(workspaces(b, "spare."), want);
}

static void
echo(struct bed *b, const char *name, const char *text)
{
	struct msg task = { .type = MSG_TASK };

	task.u.task.kind = "explore";
	task.u.task.subtask = "sub";
	task.u.task.attempt = 1;
	task.u.task.prompt = text;
	bed_send(b, name, &task);
	assert_string_equal(bed_wait(b, MSG_PROGRESS, name)->text, text);
}

static void
ack(struct bed *b, const char *name)
{
	struct msg m = { .type = MSG_SUMMARY_ACK };

	m.u.summary_ack.subtask = "sub";
	bed_send(b, name, &m);
	bed_wait_exit(b, name, "exited", "");
}

static void
test_taken(void **state)
{
	struct event *ev;
	char pid[32];
	uint64_t start, first;
	struct bed b;

	(void)state;
	open_bed(&b);
	bed_assign(&b, "w1", 60000);
	ev = bed_wait(&b, MSG_READY, "w1");
	first = ev->number;
	spares(&b, 1);
	bed_nap(300); /* it comes up */
	/* Nobody was told of it, and the host counts one worker. */
	assert_null(bed_wait_ms(&b, MSG_READY, NULL, 300));
	while ((ev = bed_wait_ms(&b, MSG_HEARTBEAT, NULL, 0)) != NULL)
		assert_true(ev->number <= 1);
	start = loop_now_ms();
	bed_assign(&b, "w2", 60000);
	ev = bed_wait(&b, MSG_READY, "w2");
	print_message("from ASSIGN to READY %ju ms\n", loop_now_ms() - start);
	assert_true(ev->number != first);
	(void)snprintf(pid, sizeof pid, "%ju", (uintmax_t)ev->number);
	assert_true(bed_is_marked(&b, pid));
	assert_string_not_equal(ev->text, "");
	/* Each is itself, with its own name. */
	echo(&b, "w1", "one");
	echo(&b, "w2", "two");
	ack(&b, "w2");
	/* Never used twice: the next one is another. */
	spares(&b, 1);
	bed_assign(&b, "w3", 60000);
	assert_true(bed_wait(&b, MSG_READY, "w3")->number != ev->number);
	echo(&b, "w3", "three");
	ack(&b, "w3");
	ack(&b, "w1");
	assert_int_equal(b.bad, 0);
	bed_quit(&b);
}

/* A time limit counts from its ASSIGN. */
static void
test_wall(void **state)
{
	struct bed b;

	(void)state;
	open_bed(&b);
	bed_assign(&b, "w1", 60000);
	bed_wait(&b, MSG_READY, "w1");
	spares(&b, 1);
	bed_nap(600);
	bed_assign(&b, "w2", 4000);
	bed_wait(&b, MSG_READY, "w2");
	assert_null(bed_wait_ms(&b, MSG_WORKER_EXIT, NULL, 500));
	bed_wait_exit(&b, "w2", "timeout", "time limit");
	bed_quit(&b);
}

/* Another kind, or no slot for it: the spare goes, and no worker with it. */
static void
test_other(void **state)
{
	struct msg m = { .type = MSG_ASSIGN };
	struct bed b;
	int i;

	(void)state;
	open_bed(&b);
	bed_assign(&b, "w1", 60000);
	bed_wait(&b, MSG_READY, "w1");
	spares(&b, 1);
	m.u.assign.subtask = "sub";
	m.u.assign.attempt = 1;
	m.u.assign.wall_ms = 60000;
	m.u.assign.snapshot = SNAPSHOT;
	m.u.assign.root = b.root;
	m.u.assign.workdir = "sub";
	bed_send(&b, "w2", &m);
	bed_wait(&b, MSG_READY, "w2");
	bed_nap(400);
	spares(&b, 1); /* of the new kind */
	m.u.assign.memory_mib = 300;
	bed_send(&b, "w3", &m);
	bed_wait(&b, MSG_READY, "w3");
	spares(&b, 0);
	/* All three slots have real ones. */
	bed_assign(&b, "w4", 60000);
	bed_wait_exit(&b, "w4", "full", "no free slot");
	for (i = 1; i <= 3; i++) {
		char name[16];

		(void)snprintf(name, sizeof name, "w%d", i);
		echo(&b, name, name);
	}
	bed_quit(&b);
}

static void
test_drain(void **state)
{
	struct msg m = { .type = MSG_DRAIN };
	struct bed b;

	(void)state;
	open_bed(&b);
	bed_assign(&b, "w1", 60000);
	bed_wait(&b, MSG_READY, "w1");
	spares(&b, 1);
	bed_send(&b, NULL, &m);
	spares(&b, 0);
	bed_nap(400);
	assert_int_equal(workspaces(&b, "spare."), 0);
	ack(&b, "w1");
	assert_null(bed_wait_ms(&b, MSG_WORKER_EXIT, NULL, 100));
	assert_int_equal(bed_reap(&b), 0);
	bed_close(&b);
}

/* A child of a process whose name that is, other than one; 0: none. */
static long
child_of(long parent, const char *name, long but)
{
	char path[64];
	long pid, found = 0;
	FILE *f, *c;

	(void)snprintf(
	    path, sizeof path, "/proc/%ld/task/%ld/children", parent, parent);
	if ((f = fopen(path, "re")) == NULL)
		return 0;
	while (found == 0 && fscanf(f, "%ld", &pid) == 1) {
		char comm[32] = "";

		(void)snprintf(path, sizeof path, "/proc/%ld/comm", pid);
		if ((c = fopen(path, "re")) == NULL)
			continue;
		if (fgets(comm, sizeof comm, c) != NULL && pid != but &&
		    strncmp(comm, name, strlen(name)) == 0)
			found = pid;
		fclose(c);
	}
	fclose(f);
	return found;
}

/* The outer bwrap of a spare is killed: nobody is told, none is tried again
 * until there is work. */
static void
test_spare_dies(void **state)
{
	struct event *ev;
	size_t before;
	struct bed b;
	uint64_t end;
	long pid, inner;

	(void)state;
	open_bed(&b);
	bed_assign(&b, "w1", 60000);
	ev = bed_wait(&b, MSG_READY, "w1");
	spares(&b, 1);
	/* A bwrap that is not w1's, once its inner one has the worker: before,
	 * the inner one may not yet have asked to die with it. */
	end = loop_now_ms() + WAIT_MS;
	do {
		bed_nap(20);
		pid = child_of((long)bed_pid1(&b), "bwrap", (long)ev->number);
		inner = pid != 0 ? child_of(pid, "bwrap", 0) : 0;
	} while ((inner == 0 || child_of(inner, "worker", 0) == 0) &&
	    loop_now_ms() < end);
	assert_int_not_equal(pid, 0);
	before = bed_processes(&b);
	kill((pid_t)pid, SIGKILL);
	spares(&b, 0);
	assert_null(bed_wait_ms(&b, MSG_WORKER_EXIT, NULL, 600));
	assert_int_equal(workspaces(&b, "spare."), 0);
	assert_true(bed_processes(&b) < before);
	echo(&b, "w1", "still");
	bed_assign(&b, "w2", 60000);
	bed_wait(&b, MSG_READY, "w2");
	spares(&b, 1);
	bed_quit(&b);
}

static void
test_kill(void **state)
{
	struct bed b;

	(void)state;
	bed_open(&b);
	b.spares = true;
	bed_start(&b, true);
	bed_wait(&b, MSG_HELLO, NULL);
	bed_assign(&b, "w1", 60000);
	bed_wait(&b, MSG_READY, "w1");
	spares(&b, 1);
	kill(b.parent, SIGKILL);
	waitpid(b.parent, NULL, 0);
	b.parent = b.launcher = 0;
	bed_all_gone(&b, 2000);
	bed_forget(&b);
	bed_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_wall),
		cmocka_unit_test(test_other),
		cmocka_unit_test(test_drain),
		cmocka_unit_test(test_spare_dies),
		cmocka_unit_test(test_kill),
	};

	if (access(IN_LINK "/worker.json", F_OK) == 0)
		return tw_main();
	cmocka_set_test_filter(getenv("TEST_FILTER"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
