/*
 * test_sandbox_cgroup.c - control groups, with the kernel where this user has
 * some, and on directories that look like them.
 *
 * Run it as root and as an ordinary user.
 */
#include "common/compat.h"

#include "test_sandbox_bed.h"

#include <dirent.h>
#include <signal.h>
#include <time.h>

#include "common/text.h"
#include "sandbox/cgroup.h"
#include "sandbox/profile.h"
#include "sandbox/stage.h"
#include "sandbox/start.h"

#define MIB ((uint64_t)1 << 20)

static void
nap(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

/* --- where they are ------------------------------------------------------- */

static void
put(const char *path, const char *text)
{
	char *dir = path_dir(path);
	struct err e;

	if (path_mkdirs(dir, 0755, &e) < 0 ||
	    file_write(path, text, strlen(text), 0644, &e) < 0)
		fail_msg("%s", e.text);
	free(dir);
}

/* A directory like a V2 group, with these controllers. */
static char *
fake(const char *name, const char *controllers, const char *below)
{
	static const char *const files[] = { "cgroup.procs", "cgroup.type",
		"memory.max", "pids.max", "cgroup.freeze" };
	char *dir = path_join(bed, name), *path;

	for (size_t i = 0; i < nitems(files); i++) {
		path = path_join(dir, files[i]);
		put(path, "");
		free(path);
	}
	path = path_join(dir, "cgroup.controllers");
	put(path, controllers);
	free(path);
	path = path_join(dir, "cgroup.subtree_control");
	put(path, below);
	free(path);
	return dir;
}

/* @ in mounts stands for the bed. */
static void
find(const char *mounts, const char *self, struct cgroup_site *ret)
{
	struct buf b;

	buf_init(&b, 65536);
	for (; *mounts != '\0'; mounts++) {
		if (*mounts == '@')
			(void)buf_adds(&b, bed);
		else
			(void)buf_addc(&b, *mounts);
	}
	cgroup_find_in(buf_str(&b), self, ret);
	buf_clear(&b);
}

#define V2_MOUNT \
	"25 20 0:22 / /proc rw - proc proc rw\n" \
	"31 25 0:26 / @/v2 rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"

static void
test_find_v2(void **state unused_arg)
{
	char *dir = fake("v2/user.slice/a b", "cpuset cpu memory pids\n", "");
	struct cgroup_site s;
	char *path;

	find(V2_MOUNT, "0::/user.slice/a b\n", &s);
	assert_int_equal(s.kind, CGROUP_V2);
	assert_string_equal(s.dir[CGROUP_MEMORY], dir);
	assert_string_equal(s.dir[CGROUP_CPU], dir);
	assert_false(s.is_divided);
	cgroup_site_clear(&s);

	/* Others in it, and nobody has given it to us. */
	path = path_join(dir, "cgroup.procs");
	put(path, "1\n");
	find(V2_MOUNT, "0::/user.slice/a b\n", &s);
	assert_int_equal(s.kind, CGROUP_NONE);
	assert_non_null(strstr(s.why, "not delegated"));
	free(path);
	/* But it gives to children already. */
	path = path_join(dir, "cgroup.subtree_control");
	put(path, "cpu memory pids\n");
	find(V2_MOUNT, "0::/user.slice/a b\n", &s);
	assert_int_equal(s.kind, CGROUP_V2);
	assert_true(s.is_divided);
	cgroup_site_clear(&s);
	free(path);

	/* No memory: of no use. */
	path = path_join(dir, "cgroup.controllers");
	put(path, "cpuset cpu pids\n");
	find(V2_MOUNT, "0::/user.slice/a b\n", &s);
	assert_int_equal(s.kind, CGROUP_NONE);
	assert_non_null(strstr(s.why, "memory and pids"));
	free(path);
	free(dir);

	/* A container's mount shows a group as its top. */
	dir = fake("v2", "memory pids", "memory pids");
	find("31 25 0:26 /docker/abc @/v2 rw - cgroup2 cgroup2 rw\n",
	    "0::/docker/abc\n", &s);
	assert_int_equal(s.kind, CGROUP_V2);
	assert_string_equal(s.dir[CGROUP_PIDS], dir);
	assert_null(s.dir[CGROUP_CPU]);
	cgroup_site_clear(&s);
	find(V2_MOUNT, "0::/../../x\n", &s);
	assert_int_equal(s.kind, CGROUP_V2);
	assert_string_equal(s.dir[CGROUP_PIDS], dir);
	cgroup_site_clear(&s);
	free(dir);
}

static void
test_find_v1(void **state unused_arg)
{
	static const char mounts[] =
	    "1 0 0:1 / @/v1/mem\\040ory rw - cgroup cgroup rw,memory\n"
	    "2 0 0:2 / @/v1/pids rw shared:9 - cgroup cgroup rw,pids\n"
	    "3 0 0:3 / @/v1/cpu rw - cgroup cgroup rw,cpuacct,cpu\n"
	    "4 0 0:4 / @/v1/u rw - cgroup2 cgroup2 rw\n";
	static const char self[] = "7:pids:/p\n6:cpu,cpuacct:/\n"
				   "5:memory:/m/n\n0::/\n";
	struct cgroup_site s;
	char *want;

	free(
	    bed_read("for d in 'mem ory/m/n' pids/p cpu u; do "
		     "mkdir -p \"v1/$d\"; echo >\"v1/$d/cgroup.procs\"; done"));
	find(mounts, self, &s);
	assert_int_equal(s.kind, CGROUP_V1);
	want = path_join(bed, "v1/mem ory/m/n");
	assert_string_equal(s.dir[CGROUP_MEMORY], want);
	free(want);
	want = path_join(bed, "v1/cpu");
	assert_string_equal(s.dir[CGROUP_CPU], want);
	free(want);
	assert_null(s.dir[CGROUP_FREEZER]);
	cgroup_site_clear(&s);

	free(bed_read("rm -r v1/pids"));
	find(mounts, self, &s);
	assert_int_equal(s.kind, CGROUP_NONE);
	assert_true(s.why[0] != '\0');

	cgroup_find_in("", "", &s);
	assert_int_equal(s.kind, CGROUP_NONE);
	cgroup_find_in(
	    "x - \n - cgroup2\n1 2 3 4 - cgroup2\n", ":\n::\n0::\n", &s);
	assert_int_equal(s.kind, CGROUP_NONE);
}

/* --- what is written, on a directory -------------------------------------- */

static void
is_at_start(const char *dir, const char *file, const char *text)
{
	char *path = path_join(dir, file);
	struct err e;
	struct buf b;

	buf_init(&b, 65536);
	if (file_read(path, true, &b, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(strncmp(buf_str(&b), text, strlen(text)), 0);
	buf_clear(&b);
	free(path);
}

/* A real group makes its files itself, so this comes as far as the first limit
 * of the new one. */
static void
test_v2_files(void **state unused_arg)
{
	struct sandbox_limits total = { 0 };
	char *dir = fake("v2", "cpu memory pids", ""), *main, *procs;
	struct cgroup *g = NULL;
	struct cgroup_site s;
	struct err e;

	find(V2_MOUNT, "0::/\n", &s);
	assert_int_equal(s.kind, CGROUP_V2);
	/* Ours are moved, then the controllers are switched on; what follows
	 * fails on an ordinary directory, and leaves nothing. */
	procs = xasprintf("%ld\n", (long)getpid());
	main = path_join(dir, "cgroup.procs");
	put(main, procs);
	free(main);
	free(bed_read("mkdir v2/foray-main; echo >v2/foray-main/cgroup.procs"));
	total.pids = 7;
	assert_true(cgroup_open_at(&s, &total, getuid(), &g, &e) < 0);
	assert_non_null(strstr(e.text, "pids.max"));
	assert_null(g);
	/* put() of the product does not cut a file off, as groups have none. */
	procs[strlen(procs) - 1] = '\0';
	main = path_join(dir, "foray-main");
	is_at_start(main, "cgroup.procs", procs);
	is_at_start(dir, "cgroup.subtree_control", "+memory +pids +cpu");
	free(bed_read("test -z \"$(ls -d v2/foray-[0-9]* 2>/dev/null)\""));
	free(procs);
	free(main);
	free(dir);
	cgroup_site_clear(&s);
}

/* Nothing is there, and nobody need ask. */
static void
test_none(void **state unused_arg)
{
	struct cgroup *g = NULL, *c = (struct cgroup *)bed;
	struct cgroup_site s = { .why = "because" };
	struct cgroup_events ev;
	struct err e;

	assert_int_equal(cgroup_open_at(&s, NULL, 0, &g, &e), -ENOTSUP);
	assert_string_equal(e.text, "because");
	assert_int_equal(cgroup_child(NULL, "x", NULL, &c, &e), 0);
	assert_null(c);
	assert_int_equal(cgroup_enter(NULL, &e), 0);
	assert_int_equal(cgroup_freeze(NULL, true), 0);
	assert_false(cgroup_is_frozen(NULL));
	cgroup_events(NULL, &ev);
	assert_int_equal(ev.oom_kills, 0);
	assert_null(cgroup_oom_file(NULL));
	cgroup_thaw(NULL);
	cgroup_kill(NULL);
	assert_int_equal(cgroup_close(&g, true), 0);
	assert_true(cgroup_memory(&s) > 64 * MIB);
}

static void
test_oom_count(void **state unused_arg)
{
	assert_int_equal(cgroup_oom_count("low 0\nmax 7\noom 3\noom_kill 2\n"
					  "oom_group_kill 1\n"),
	    2);
	assert_int_equal(
	    cgroup_oom_count("oom_kill_disable 5\nunder_oom 0\noom_kill 11\n"),
	    11);
	assert_int_equal(cgroup_oom_count("x oom_kill 4\n"), 0);
	assert_int_equal(cgroup_oom_count(""), 0);
}

/* --- for real --------------------------------------------------------------
 */

/* NULL: this user has none, and that is what it has to look like. */
static struct cgroup *
top(const struct sandbox_limits *total)
{
	struct cgroup_site s;
	struct cgroup *g = NULL;
	struct err e;
	int r;

	cgroup_find(&s);
	r = cgroup_open(total, stage_uid(), &g, &e);
	print_message("groups: %s %s\n", cgroup_kind_str(s.kind), s.why);
	if (s.kind == CGROUP_NONE)
		assert_int_equal(r, -ENOTSUP);
	else if (r < 0)
		fail_msg("%s", e.text);
	cgroup_site_clear(&s);
	return g;
}

static struct cgroup *
child(struct cgroup *parent, const char *name, const struct sandbox_limits *l)
{
	struct cgroup *g;
	struct err e;

	if (cgroup_child(parent, name, l, &g, &e) < 0)
		fail_msg("%s", e.text);
	return g;
}

/* fn in a process of the group; its pid. */
static pid_t
start(struct cgroup *g, void (*fn)(void))
{
	struct err e;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		if (cgroup_enter(g, &e) < 0)
			_exit(99);
		fn();
		_exit(0);
	}
	return pid;
}

static int
end_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return spawn_status(status);
}

static void
hog(void)
{
	size_t size = 96 * MIB;
	volatile char *p = malloc(size);

	for (size_t i = 0; p != NULL && i < size; i += 4096)
		p[i] = 1;
}

/* How many it can have besides itself; they are left to cgroup_kill(). */
static void
fork_count(void)
{
	int i;

	for (i = 0; i < 40; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			alarm(60);
			pause();
			_exit(0);
		}
		if (pid < 0)
			break;
	}
	_exit(i);
}

static void
busy(void)
{
	struct timespec a, now;
	double spent;

	clock_gettime(CLOCK_MONOTONIC, &a);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_sec - a.tv_sec < 2);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	spent = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	_exit((int)(spent * 100)); /* in hundredths */
}

static void
test_limits(void **state unused_arg)
{
	struct sandbox_limits l = {
		.memory_bytes = 48 * MIB, .pids = 12, .cpu_milli = 200
	};
	struct cgroup *t = top(NULL), *g, *other;
	struct cgroup_events ev;
	int spent;

	if (t == NULL)
		return; /* test_none() says what that is like */
	g = child(t, "w1", &l);
	other = child(t, "w2", NULL);
	assert_int_equal(end_of(start(g, hog)), 128 + SIGKILL);
	cgroup_events(g, &ev);
	assert_true(ev.oom_kills >= 1);
	assert_true(ev.memory_hits >= 1);
	assert_int_equal(end_of(start(other, hog)), 0);
	cgroup_events(other, &ev);
	assert_int_equal(ev.oom_kills, 0);

	assert_int_equal(end_of(start(g, fork_count)), 11);
	cgroup_events(g, &ev);
	assert_true(ev.pids_hits >= 1);
	cgroup_kill(g);
	spent = end_of(start(g, busy));
	print_message("a fifth of a processor for 2 s: %d0 ms\n", spent);
	assert_true(spent < 100);
	nap(50);
	assert_int_equal(cgroup_close(&g, true), 0);
	assert_int_equal(cgroup_close(&other, true), 0);
	assert_int_equal(cgroup_close(&t, true), 0);
}

/* What bounds all of them. */
static void
test_total(void **state unused_arg)
{
	struct sandbox_limits total = { .memory_bytes = 64 * MIB };
	struct cgroup *t = top(&total), *g;
	struct cgroup_events ev;

	if (t == NULL)
		return;
	g = child(t, "w", NULL);
	assert_int_equal(end_of(start(g, hog)), 128 + SIGKILL);
	cgroup_events(g, &ev);
	assert_int_equal(ev.oom_kills, 1);
	assert_int_equal(ev.memory_hits, 0); /* not its own limit */
	(void)cgroup_close(&g, false);
	assert_int_equal(cgroup_close(&t, true), 0); /* with what is below */
}

/* As root the group is the workers' uid's, its limits are not. */
static void
test_owner(void **state unused_arg)
{
	struct sandbox_limits total = { .memory_bytes = 64 * MIB };
	struct cgroup *t = top(&total), *g;
	struct err e;
	char *path;
	int status;
	pid_t pid;

	if (t == NULL || geteuid() != 0) {
		(void)cgroup_close(&t, true);
		return;
	}
	path = xasprintf("%.*s/memory.limit_in_bytes",
	    (int)(strrchr(cgroup_oom_file(t), '/') - cgroup_oom_file(t)),
	    cgroup_oom_file(t));
	pid = fork();
	if (pid == 0) {
		if (setresgid(SANDBOX_UID, SANDBOX_UID, SANDBOX_UID) < 0 ||
		    setresuid(SANDBOX_UID, SANDBOX_UID, SANDBOX_UID) < 0)
			_exit(1);
		if (open(path, O_WRONLY) >= 0)
			_exit(2);
		if (cgroup_child(t, "w", &total, &g, &e) < 0)
			_exit(3);
		_exit(cgroup_enter(g, &e) < 0 ? 4 : 0);
	}
	status = end_of(pid);
	assert_int_equal(status, 0);
	free(path);
	nap(20);
	assert_int_equal(cgroup_close(&t, true), 0);
}

static void
sleepy(void)
{
	alarm(60);
	pause();
}

static void
freeze(struct cgroup *t)
{
	struct cgroup *g = child(t, "w", NULL);
	int status, i;
	pid_t pid;

	pid = start(g, sleepy);
	nap(50);
	assert_int_equal(cgroup_freeze(g, true), 0);
	for (i = 0; i < 3000 && !cgroup_is_frozen(g); i++)
		nap(10);
	assert_true(cgroup_is_frozen(g));
	cgroup_kill(g); /* thaws */
	for (i = 0; i < 3000 && waitpid(pid, &status, WNOHANG) == 0; i++)
		nap(10);
	assert_true(i < 3000);
	assert_int_equal(spawn_status(status), 128 + SIGKILL);
	assert_false(cgroup_is_frozen(g));
	nap(20);
	assert_int_equal(cgroup_close(&g, true), 0);
}

static void
test_freeze(void **state unused_arg)
{
	struct cgroup *t = top(NULL);

	if (t == NULL)
		return;
	freeze(t);
	assert_int_equal(cgroup_close(&t, true), 0);
}

/* The kernel's V2, with what every group has: in a hybrid hierarchy memory and
 * pids are with V1. */
static void
test_freeze_v2(void **state unused_arg)
{
	static const char *const places[] = { "/sys/fs/cgroup/unified",
		"/sys/fs/cgroup" };
	struct cgroup_site s = { .kind = CGROUP_V2, .is_divided = true };
	char *procs = NULL;
	struct cgroup *t;
	struct err e;

	for (size_t i = 0; i < nitems(places) && s.dir[CGROUP_FREEZER] == NULL;
	     i++) {
		free(procs);
		procs = path_join(places[i], "cgroup.subtree_control");
		if (access(procs, W_OK) == 0)
			s.dir[CGROUP_FREEZER] = xstrdup(places[i]);
	}
	free(procs);
	if (s.dir[CGROUP_FREEZER] == NULL) {
		print_message("V2 is not writable here\n");
		return;
	}
	if (cgroup_open_at(&s, NULL, stage_uid(), &t, &e) < 0)
		fail_msg("%s", e.text);
	print_message("on %s\n", s.dir[CGROUP_FREEZER]);
	freeze(t);
	assert_int_equal(cgroup_close(&t, true), 0);
	cgroup_site_clear(&s);
}

/* --- after a death ---------------------------------------------------------
 */

static size_t
groups_of(pid_t pid)
{
	char *prefix = xasprintf("foray-%ld-", (long)pid);
	struct cgroup_site s;
	struct dirent *d;
	size_t n = 0;
	DIR *p;

	cgroup_find(&s);
	for (int i = 0; i < CGROUP_CTLS; i++) {
		p = s.dir[i] != NULL ? opendir(s.dir[i]) : NULL;
		while (p != NULL && (d = readdir(p)) != NULL)
			n += text_starts(d->d_name, prefix);
		if (p != NULL)
			closedir(p);
	}
	cgroup_site_clear(&s);
	free(prefix);
	return n;
}

/* Killed with something frozen in its group, as a host can be. */
static void
test_sweep(void **state unused_arg)
{
	struct cgroup *t = top(NULL), *g;
	int up[2], i;
	pid_t pid, orphan;

	if (t == NULL)
		return;
	assert_int_equal(fd_pipe(up), 0);
	pid = fork();
	if (pid == 0) {
		cgroup_forget(&t);
		t = top(NULL);
		g = child(t, "w", NULL);
		orphan = fork();
		if (orphan == 0) {
			struct err e;

			(void)cgroup_enter(g, &e);
			cgroup_forget(&t);
			sleepy();
		}
		nap(50);
		(void)cgroup_freeze(g, true);
		if (write(up[1], &orphan, sizeof orphan) < 0)
			_exit(1);
		pause();
	}
	assert_int_equal(read(up[0], &orphan, sizeof orphan), sizeof orphan);
	assert_true(groups_of(pid) > 0);
	cgroup_sweep();
	assert_true(groups_of(pid) > 0); /* its owner lives */
	assert_int_equal(kill(orphan, 0), 0);
	kill(pid, SIGKILL);
	end_of(pid);
	for (i = 0; i < 1500 && groups_of(pid) > 0; i++) {
		cgroup_sweep();
		nap(20);
	}
	assert_int_equal(groups_of(pid), 0);
	fd_close(&up[0]);
	fd_close(&up[1]);
	assert_int_equal(cgroup_close(&t, true), 0);
}

/* --- in a sandbox -----------------------------------------------------------
 */

static void
test_sandbox(void **state unused_arg)
{
	struct sandbox_limits l = { .memory_bytes = 64 * MIB, .pids = 30 };
	struct cgroup *t = top(NULL), *g = child(t, "w", &l);
	struct sandbox_run run = { .timeout_ms = 120000 };
	struct profile p = { .root = bed, .tree_src = bed };
	struct sandbox_result res;
	struct strv live = { 0 };
	struct sandbox_spec spec;
	struct cgroup_events ev;
	struct buf out;
	struct err e;

	profile_direct(&p, &spec);
	strv_addl(&spec.argv, "/bin/sh", "-c",
	    "cat /proc/self/oom_score_adj; ls -d /sys; "
	    "head -c 100000000 /dev/zero | tail -n 1 >/dev/null; "
	    "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 "
	    "23 24 25 26 27 28 29 30; do sleep 60 & done; echo all",
	    (char *)NULL);
	buf_init(&out, 65536);
	run.start.spec = &spec;
	run.start.stage = true;
	strv_add(&live, bed);
	run.start.live = &live;
	run.start.group = g;
	run.out = &out;
	if (sandbox_run(&run, &res, &e) < 0)
		fail_msg("%s", e.text);
	assert_true(text_starts(buf_str(&out), "1000\n"));
	if (t != NULL) {
		assert_null(strstr(buf_str(&out), "all\n"));
		cgroup_events(g, &ev);
		assert_int_equal(ev.oom_kills, 1);
		assert_true(ev.pids_hits > 0);
	} else {
		assert_non_null(strstr(buf_str(&out), "all\n"));
	}
	strv_clear(&live);
	spec_clear(&spec);
	buf_clear(&out);
	assert_int_equal(cgroup_close(&g, true), 0);
	assert_int_equal(cgroup_close(&t, true), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find_v2),
		cmocka_unit_test(test_find_v1),
		cmocka_unit_test(test_v2_files),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_oom_count),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_total),
		cmocka_unit_test(test_owner),
		cmocka_unit_test(test_freeze),
		cmocka_unit_test(test_freeze_v2),
		cmocka_unit_test(test_sweep),
		cmocka_unit_test(test_sandbox),
	};

	cmocka_set_test_filter(getenv("TEST_FILTER"));
	return cmocka_run_group_tests(tests, bed_setup, bed_teardown);
}
