/*
 * Real sandboxes. Run as an ordinary user and as root: as root everything goes
 * through the stage and an unprivileged uid.
 *
 * The program plays the worker, too: inside an outer sandbox it starts itself
 * as "--worker" and runs commands in inner ones.
 */
#include "common/compat.h"

#include <setjmp.h>
/* cmocka needs the ones above */
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/probe.h"
#include "sandbox/profile.h"
#include "sandbox/stage.h"
#include "sandbox/start.h"

static char top[] = "/dev/shm/foray-test-XXXXXX";
static char self[4096];
static char nap[32]; /* NAP in what it starts */

/* --- helpers ---------------------------------------------------------------
 */

/* As the snapshot and the workspace would be: user and group, since overlayfs
 * can't copy up what it can't name. */
static void
give(const char *path)
{
	if (geteuid() == 0)
		assert_int_equal(chown(path, SANDBOX_UID, SANDBOX_UID), 0);
}

static void
put_file(const char *path, const char *text)
{
	struct err e;

	if (file_write(path, text, strlen(text), 0644, &e) < 0)
		fail_msg("%s", e.text);
	give(path);
}

static char *
make_dir(const char *parent, const char *name)
{
	char *path = path_join(parent, name);

	assert_int_equal(path_mkdirs(path, 0755, NULL), 0);
	give(path);
	return path;
}

/* A new directory of the sandboxes' uid. */
static char *
new_tree(void)
{
	static int n;
	char name[32];

	(void)snprintf(name, sizeof name, "tree%d", ++n);
	return make_dir(top, name);
}

static void
direct(const char *tree, struct sandbox_spec *ret)
{
	struct profile p = { .root = tree, .tree_src = tree };

	profile_direct(&p, ret);
}

struct outcome {
	struct sandbox_result res;
	struct buf out;
	struct err e;
	int r;
};

static void
run_start(const struct sandbox_start *s, uint64_t timeout_ms, size_t max,
    struct outcome *o)
{
	struct sandbox_run run = { .start = *s, .timeout_ms = timeout_ms };

	memset(o, 0, sizeof *o);
	buf_init(&o->out, max);
	run.start.stage = true;
	run.out = &o->out;
	o->r = sandbox_run(&run, &o->res, &o->e);
	if (o->r < 0)
		print_message("# sandbox_run: %s\n", o->e.text);
}

static void
run_spec(struct sandbox_spec *spec, uint64_t timeout_ms, size_t max,
    struct outcome *o)
{
	struct sandbox_start s = { .spec = spec };

	run_start(&s, timeout_ms, max, o);
	spec_clear(spec);
}

/* `sh -c command` in a sandbox around a new tree. */
static void
run_sh(const char *command, struct outcome *o)
{
	struct sandbox_spec spec;
	char *tree = new_tree();

	direct(tree, &spec);
	strv_addl(&spec.argv, "sh", "-c", command, (char *)NULL);
	run_spec(&spec, 120000, 1 << 20, o);
	free(tree);
}

static void
expect_out(const char *command, const char *want)
{
	struct outcome o;

	run_sh(command, &o);
	assert_int_equal(o.r, 0);
	assert_string_equal(buf_str(&o.out), want);
	buf_clear(&o.out);
}

static void
expect_status(const char *command, int want)
{
	struct outcome o;

	run_sh(command, &o);
	assert_int_equal(o.r, 0);
	assert_int_equal(o.res.status, want);
	buf_clear(&o.out);
}

/* Are these the arguments, to the letter? */
static bool
is_nap(const char *args, size_t len, const char *seconds)
{
	return len == sizeof "sleep" + strlen(seconds) + 1 &&
	    memcmp(args, "sleep", sizeof "sleep") == 0 &&
	    strcmp(args + sizeof "sleep", seconds) == 0;
}

/* How many processes of this machine sleep for so long, or else have that
 * among their arguments? Ours have NAP, with our pid in it: no other does. */
static int
count(const char *seconds, bool asleep)
{
	DIR *d = opendir("/proc");
	struct dirent *de;
	struct buf b;
	char *path;
	int n = 0;

	while (d != NULL && (de = readdir(d)) != NULL) {
		if (de->d_name[0] < '1' || de->d_name[0] > '9')
			continue;
		path = path_joinf("/proc", "%s/cmdline", de->d_name);
		buf_init(&b, 65536);
		if (file_read(path, false, &b, NULL) == 0 && b.len > 0 &&
		    (asleep ? is_nap(b.data, b.len, seconds)
			    : memmem(b.data, b.len, seconds, strlen(seconds)) !=
				NULL))
			n++;
		buf_clear(&b);
		free(path);
	}
	if (d != NULL)
		(void)closedir(d);
	return n;
}

/* With NAP in it for that time. */
static const char *
napping(const char *command)
{
	static char text[400];
	const char *at;
	size_t n = 0;

	for (; (at = strstr(command, "NAP")) != NULL; command = at + 3)
		n += (size_t)snprintf(text + n, sizeof text - n, "%.*s%s",
		    (int)(at - command), command, nap);
	assert_true((size_t)snprintf(text + n, sizeof text - n, "%s", command) <
	    sizeof text - n);
	return text;
}

/* --- ends ------------------------------------------------------------------
 */

static void
test_status(void **state)
{
	(void)state;
	expect_status("exit 0", 0);
	expect_status("exit 7", 7);
	expect_status("kill -KILL $$", 137);
	expect_status("kill -TERM $$", 143);
	/* A command that ends everything it can reach. */
	expect_status("kill -9 1; kill -9 $PPID; kill -9 -1; exit 4", 4);
	expect_status("exec >&- 2>&-; sleep 0.1; exit 3", 3);
	expect_status("(setsid sleep 300 &) ; exit 5", 5);
}

static void
test_no_command(void **state)
{
	struct sandbox_spec spec;
	struct outcome o;

	(void)state;
	direct(top, &spec);
	strv_add(&spec.argv, "no-such-command-here");
	run_spec(&spec, 60000, 4096, &o);
	assert_int_equal(o.r, ERR_SANDBOX);
	assert_non_null(strstr(o.e.text, "no-such-command-here"));
	buf_clear(&o.out);
}

static void
test_bad_mount(void **state)
{
	struct sandbox_spec spec;
	struct outcome o;

	(void)state;
	direct(top, &spec);
	spec_mount(&spec, MOUNT_RO, "/no/such/place", "/mnt/x");
	strv_add(&spec.argv, "true");
	run_spec(&spec, 60000, 4096, &o);
	assert_int_equal(o.r, ERR_SANDBOX);
	assert_non_null(strstr(o.e.text, "/no/such/place"));
	buf_clear(&o.out);
}

static void
test_timeout(void **state)
{
	struct sandbox_spec spec;
	struct outcome o;

	(void)state;
	direct(top, &spec);
	strv_addl(&spec.argv, "sh", "-c",
	    napping("trap '' TERM; echo up; sleep NAP"), (char *)NULL);
	run_spec(&spec, 2000, 4096, &o); /* time to say "up" */
	assert_int_equal(o.r, 0);
	assert_true(o.res.timed_out);
	assert_int_equal(o.res.status, 137);
	assert_true(o.res.ms >= 2000 && o.res.ms < 60000);
	assert_string_equal(buf_str(&o.out), "up\n");
	assert_int_equal(count(nap, false), 0);
	buf_clear(&o.out);
}

static void
test_flood(void **state)
{
	struct sandbox_spec spec;
	struct outcome o;

	(void)state;
	direct(top, &spec);
	strv_addl(
	    &spec.argv, "head", "-c", "1073741824", "/dev/zero", (char *)NULL);
	run_spec(&spec, 60000, 1 << 20, &o);
	assert_int_equal(o.r, 0);
	assert_int_equal(o.res.status, 0);
	assert_true(o.res.truncated);
	assert_int_equal(o.out.len, 1 << 20);
	assert_int_equal(o.res.dropped, (1 << 30) - (1 << 20));
	print_message("# 1 GiB of output: %d ms\n", (int)o.res.ms);
	buf_clear(&o.out);
}

static void
test_background(void **state)
{
	struct outcome o;

	(void)state;
	run_sh(napping("sleep NAP & echo ready"), &o);
	assert_int_equal(o.r, 0);
	assert_string_equal(buf_str(&o.out), "ready\n");
	assert_true(o.res.ms < 60000);
	assert_int_equal(count(nap, false), 0);
	buf_clear(&o.out);
}

static void
test_input(void **state)
{
	struct sandbox_run run = { .timeout_ms = 120000 };
	struct sandbox_result res;
	struct sandbox_spec spec;
	struct buf out, errs;
	size_t len = 3 << 20;
	char *big = xmalloc(len);

	(void)state;
	memset(big, 'x', len);
	direct(top, &spec);
	strv_addl(&spec.argv, "sh", "-c", "wc -c; echo bad >&2", (char *)NULL);
	buf_init(&out, 4096);
	buf_init(&errs, 4096);
	run.start = (struct sandbox_start){ .spec = &spec, .stage = true };
	run.out = &out;
	run.err = &errs;
	run.input = big;
	run.input_len = len;
	assert_int_equal(sandbox_run(&run, &res, NULL), 0);
	assert_string_equal(buf_str(&out), "3145728\n");
	assert_string_equal(buf_str(&errs), "bad\n");
	buf_clear(&out);
	buf_clear(&errs);
	spec_clear(&spec);
	free(big);
}

/* Start, read the first line of its output, and leave it running. */
static void
start_up(const char *command, struct sandbox_proc *p, int *ret_out)
{
	struct sandbox_spec spec;
	struct sandbox_start s = { .spec = &spec, .fds = { -1, -1, -1 } };
	int fds[2];
	char c = 0;
	struct err e;

	direct(top, &spec);
	strv_addl(&spec.argv, "sh", "-c", command, (char *)NULL);
	assert_int_equal(fd_pipe(fds), 0);
	s.fds[1] = fds[1];
	s.stage = true;
	if (sandbox_start(&s, p, &e) < 0)
		fail_msg("%s", e.text);
	fd_close(&fds[1]);
	while (c != '\n')
		assert_int_equal(read(fds[0], &c, 1), 1);
	*ret_out = fds[0];
	spec_clear(&spec);
}

static void
test_kill_tree(void **state)
{
	struct sandbox_proc p;
	int out, wait_status, status;
	uint64_t began;

	(void)state;
	start_up(napping("i=0; while [ $i -lt 50 ]; do (setsid sleep NAP &); "
			 "i=$((i + 1)); done; sleep 0.3; echo up; sleep NAP"),
	    &p, &out);
	for (int i = 0; i < 6000 && count(nap, true) < 51; i++)
		(void)usleep(10000);
	assert_int_equal(count(nap, true), 51);
	began = loop_now_ms();
	sandbox_kill(&p);
	assert_int_equal(waitpid(p.pid, &wait_status, 0), p.pid);
	assert_true(sandbox_finished(&p, wait_status, &status));
	print_message(
	    "# 51 processes: gone after %d ms\n", (int)(loop_now_ms() - began));
	assert_int_equal(status, 137);
	assert_int_equal(count(nap, false), 0);
	fd_close(&out);
}

static size_t
count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d) != NULL)
		n++;
	(void)closedir(d);
	return n;
}

/* Killed at any moment of its first milliseconds. */
static void
test_kill_early(void **state)
{
	size_t fds;
	struct sandbox_spec spec;
	struct sandbox_start s = { .spec = &spec, .fds = { -1, -1, -1 } };
	struct sandbox_proc p;
	int wait_status, status;

	(void)state;
	fds = count_fds();
	direct(top, &spec);
	strv_addl(&spec.argv, "sleep", nap, (char *)NULL);
	s.stage = true;
	for (int i = 0; i < 40; i++) {
		assert_int_equal(sandbox_start(&s, &p, NULL), 0);
		(void)usleep((useconds_t)i * 250);
		sandbox_kill(&p);
		assert_int_equal(waitpid(p.pid, &wait_status, 0), p.pid);
		assert_true(sandbox_finished(&p, wait_status, &status));
		assert_int_equal(status, 137);
	}
	spec_clear(&spec);
	assert_int_equal(count(nap, false), 0);
	assert_int_equal(count_fds(), fds);
}

/* Whoever started it is killed. */
static void
test_parent_dies(void **state)
{
	struct sandbox_proc p;
	int out, status, fds[2];
	char c;
	pid_t pid;

	(void)state;
	assert_int_equal(fd_pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		start_up(napping("(setsid sleep NAP &); echo up; sleep NAP"),
		    &p, &out);
		if (write(fds[1], "u", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(fds[0], &c, 1), 1);
	for (int i = 0; i < 3000 && count(nap, true) < 2; i++)
		(void)usleep(10000);
	assert_int_equal(count(nap, true), 2);
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (int i = 0; i < 3000 && count(nap, false) > 0; i++)
		(void)usleep(10000);
	assert_int_equal(count(nap, false), 0);
	fd_close(&fds[0]);
	fd_close(&fds[1]);
}

/* --- what can be seen ------------------------------------------------------
 */

static void
test_descriptors(void **state)
{
	int leaks[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		leaks[i] = open(top, O_RDONLY); /* not close-on-exec */
	expect_out("for i in $(seq 3 100); do "
		   "[ -e /proc/self/fd/$i ] && echo leak $i; done; echo done",
	    "done\n");
	expect_out("readlink /proc/self/fd/0", "/dev/null\n");
	/* nor has pid 1 one to be taken from */
	expect_out("ls /proc/1/fd 2>/dev/null | wc -w | { read n; "
		   "[ $n -le 4 ] && echo ok; }",
	    "ok\n");
	for (int i = 0; i < 3; i++)
		fd_close(&leaks[i]);
}

static void
test_environment(void **state)
{
	struct sandbox_spec spec;
	struct outcome o;
	char *line, *save = NULL;
	size_t n = 0, want;

	(void)state;
	(void)setenv("OPENAI_API_KEY", "sk-secret-1", 1);
	(void)setenv("SECRET_THING", "sk-secret-2", 1);
	direct(top, &spec);
	strv_add(&spec.argv, "env");
	want = spec.env.n;
	run_start(&(struct sandbox_start){ .spec = &spec }, 9000, 65536, &o);
	assert_int_equal(o.r, 0);
	for (line = strtok_r(o.out.data, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save)) {
		if (text_starts(line, "PWD=")) /* bwrap's own */
			continue;
		if (!strv_has(&spec.env, line))
			fail_msg("not in the spec: %s", line);
		n++;
	}
	assert_int_equal(n, want);
	buf_clear(&o.out);
	spec_clear(&spec);
	expect_out("cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n' | "
		   "grep -c 'sk-[s]ecret'",
	    "0\n");
	expect_out(
	    "cat /proc/1/cmdline | tr '\\0' ' ' | grep -c '/[r]un/'", "0\n");
	(void)unsetenv("OPENAI_API_KEY");
	(void)unsetenv("SECRET_THING");
}

static void
test_walls(void **state)
{
	char want[64];

	(void)state;
	(void)snprintf(want, sizeof want, "%u\n", stage_uid());
	expect_out("id -u", want);
	expect_out(
	    "grep -E '^(CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs|Seccomp):' "
	    "/proc/self/status | tr -d '\\n\\t '",
	    "CapInh:0000000000000000CapPrm:0000000000000000"
	    "CapEff:0000000000000000CapAmb:0000000000000000"
	    "NoNewPrivs:1Seccomp:2");
	expect_out("ls -A /root /home /run /var 2>&1 | grep -v : | tr -d '\\n'",
	    "tmp");
	expect_out("for d in / /usr /etc /dev /bin/ /proc /sys; do "
		   "(echo x >$d/foray-new) 2>/dev/null && echo wrote $d; done; "
		   "echo x >/tmp/a && echo x >/dev/shm/a && echo x >$HOME/a && "
		   "echo x >/var/tmp/a && echo x >/run/a && echo ok",
	    "ok\n");
	expect_out("cat /etc/shadow 2>&1 | grep -c root", "0\n");
	expect_out(
	    "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '", "lo\n");
	expect_out("unshare -U true 2>/dev/null && echo bad; "
		   "unshare -r true 2>/dev/null && echo bad; "
		   "bwrap --ro-bind / / true 2>/dev/null && echo bad; "
		   "mount -t tmpfs x /tmp 2>/dev/null && echo bad; echo ok",
	    "ok\n");
	expect_out("cp /bin/true /tmp/t && chmod 4755 /tmp/t 2>/dev/null; "
		   "stat -c %a /tmp/t",
	    "755\n");
	expect_out("hostname 2>/dev/null || cat /proc/sys/kernel/hostname",
	    "localhost\n");
	expect_out("ulimit -c", "0\n");
	/* the person's shell is not in sight */
	expect_out("ls -d /proc/[0-9]* | wc -l | { read n; "
		   "[ $n -le 6 ] && echo ok; }",
	    "ok\n");
	expect_out("git --version >/dev/null && cd /tmp && git init -q r && "
		   "cd r && echo a >a && git add a && git commit -qm x && "
		   "git log --format=%an",
	    "foray\n");
}

static void
test_limits(void **state)
{
	struct sandbox_spec spec;
	struct outcome o;

	(void)state;
	direct(top, &spec);
	spec.limits = (struct sandbox_limits){
		.procs = 40,
		.nofile = 50,
		.file_bytes = 1 << 20,
	};
	strv_addl(&spec.argv, "sh", "-c",
	    "ulimit -n; "
	    "{ head -c 2000000 /dev/zero >/tmp/big; } 2>/dev/null; "
	    "stat -c %s /tmp/big; "
	    "i=0; while [ $i -lt 60 ]; do sleep 60 & i=$((i + 1)); done "
	    "2>/dev/null; echo never",
	    (char *)NULL);
	run_spec(&spec, 120000, 65536, &o);
	assert_int_equal(o.r, 0);
	assert_true(text_starts(buf_str(&o.out), "50\n"));
	assert_non_null(strstr(buf_str(&o.out), "\n1048576\n"));
	assert_null(strstr(buf_str(&o.out), "never"));
	buf_clear(&o.out);
}

/* The limits are the command's: what its start takes is not counted. */
static void
test_limits_are_the_commands(void **state)
{
	struct sandbox_spec spec;
	struct outcome o;
	char *big = xmalloc(100001);

	(void)state;
	memset(big, 'x', 100000);
	big[100000] = '\0';
	direct(top, &spec);
	spec.limits.data_bytes = 8 << 20;
	strv_addl(&spec.argv, "true", (char *)NULL);
	for (int i = 0; i < 12; i++)
		strv_add(&spec.argv, big);
	run_spec(&spec, 120000, 65536, &o);
	assert_int_equal(o.r, 0);
	assert_int_equal(o.res.status, 0);
	buf_clear(&o.out);
	free(big);
}

static void
test_root_refused(void **state)
{
	struct sandbox_spec spec;
	struct sandbox_start s = { .spec = &spec, .fds = { -1, -1, -1 } };
	struct sandbox_proc p;

	(void)state;
	if (geteuid() != 0)
		return;
	direct(top, &spec);
	strv_add(&spec.argv, "true");
	assert_int_equal(sandbox_start(&s, &p, NULL), ERR_SANDBOX);
	spec_clear(&spec);
}

/* --- the live tree ---------------------------------------------------------
 */

static void
test_live(void **state)
{
	struct sandbox_spec spec;
	struct sandbox_start s = { .spec = &spec, .fds = { -1, -1, -1 } };
	struct strv live = { 0 };
	struct outcome o;
	struct stat st;
	char *shut, *tree, *path, *git;

	(void)state;
	/* Ours, in a directory that nobody else may enter. */
	shut = path_join(top, "shut");
	tree = path_join(shut, "tree");
	git = path_join(tree, ".git/hooks");
	assert_int_equal(path_mkdirs(git, 0755, NULL), 0);
	assert_int_equal(chmod(shut, 0700), 0);
	free(git);
	git = path_join(tree, ".git/config");
	path = path_join(tree, "file");
	assert_int_equal(file_write(git, "x\n", 2, 0644, NULL), 0);
	assert_int_equal(file_write(path, "old\n", 4, 0600, NULL), 0);

	direct(tree, &spec);
	strv_addl(&spec.argv, "sh", "-c",
	    "cat file && echo new >file && echo x >made && pwd && "
	    "(echo y >.git/config) 2>/dev/null && echo bad; "
	    "(echo y >.git/hooks/h) 2>/dev/null && echo bad; "
	    "stat -c %u file; ls -A ..",
	    (char *)NULL);
	strv_add(&live, tree);
	s.live = &live;
	run_start(&s, 120000, 65536, &o);
	assert_int_equal(o.r, 0);
	free(path);
	path = xasprintf("old\n%s\n%u\ntree\n", tree, stage_uid());
	assert_string_equal(buf_str(&o.out), path);
	free(path);
	path = path_join(tree, "made");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, geteuid());
	assert_int_equal(st.st_gid, getegid());
	buf_clear(&o.out);
	strv_clear(&live);
	spec_clear(&spec);
	free(path);
	free(git);
	free(tree);
	free(shut);
}

/* The tree brings a link where the sandbox makes a mount. */
static void
test_link_in_tree(void **state)
{
	struct sandbox_spec spec;
	struct sandbox_start s = { .spec = &spec, .fds = { -1, -1, -1 } };
	struct outcome o;
	char *tree = new_tree(), *secret = make_dir(top, "secret");
	char *git = path_join(tree, ".git");
	char *key = path_join(secret, "key");

	(void)state;
	put_file(key, "sk-secret\n");
	assert_int_equal(symlink(secret, git), 0);
	direct(tree, &spec);
	strv_addl(
	    &spec.argv, "sh", "-c", "cat .git/key || echo no", (char *)NULL);
	run_start(&s, 120000, 65536, &o);
	assert_int_equal(o.r, 0);
	assert_null(strstr(buf_str(&o.out), "sk-secret"));
	assert_non_null(strstr(buf_str(&o.out), "no\n"));
	buf_clear(&o.out);
	spec_clear(&spec);
	free(git);
	free(key);
	free(secret);
	free(tree);
}

/* --- overlays --------------------------------------------------------------
 */

struct layers {
	struct overlay o;
	char *low1, *low2;
};

/* low2 is below low1: a file of it is deleted in low1 by a whiteout, which a
 * first sandbox makes. */
static void
make_layers(struct layers *l, const char *name)
{
	char *dir = make_dir(top, name), *path;

	memset(l, 0, sizeof *l);
	l->low2 = make_dir(dir, "low2");
	l->o.dir = make_dir(dir, "ws");
	l->low1 = path_join(l->o.dir, "up");
	path = path_join(l->low2, "gone");
	put_file(path, "gone\n");
	free(path);
	path = path_join(l->low2, "kept");
	put_file(path, "kept\n");
	free(path);
	path = make_dir(l->low2, "d");
	free(path);
	path = path_join(l->low2, "d/old");
	put_file(path, "old\n");
	free(path);
	strv_add(&l->o.lowers, l->low2);
	free(dir);
}

static void
clear_layers(struct layers *l)
{
	overlay_clear(&l->o);
	free(l->low1);
	free(l->low2);
}

static void
run_overlay(const struct overlay *ov, const char *command, struct outcome *o)
{
	struct profile p = { .root = "/root/p", .tree_src = "@merged" };
	struct sandbox_spec spec;
	struct sandbox_start s = {
		.spec = &spec, .overlay = ov, .fds = { -1, -1, -1 }
	};

	profile_direct(&p, &spec);
	strv_addl(&spec.argv, "sh", "-c", command, (char *)NULL);
	run_start(&s, 120000, 65536, o);
	spec_clear(&spec);
}

static void
check_overlay(const char *name)
{
	struct overlay second = { 0 };
	struct layers l;
	struct outcome o;
	char *path;

	make_layers(&l, name);
	run_overlay(&l.o,
	    "pwd; rm gone; rm -r d; mkdir d; echo new >d/new; "
	    "echo more >>kept; ls -A /root",
	    &o);
	assert_int_equal(o.r, 0);
	assert_string_equal(buf_str(&o.out), "/root/p\np\n");
	buf_clear(&o.out);
	path = path_join(l.low2, "gone"); /* the base stays as it was */
	assert_int_equal(access(path, F_OK), 0);
	free(path);

	/* A copy of that workspace, thrown away after. */
	strv_addl(&second.lowers, l.low1, l.low2, (char *)NULL);
	path = path_dir(l.low2);
	second.dir = make_dir(path, "copy");
	free(path);
	second.on_tmpfs = true;
	second.tmpfs_bytes = 64 << 20;
	run_overlay(&second,
	    "ls; ls d; cat kept; echo other >kept; cat kept; ls -A", &o);
	assert_int_equal(o.r, 0);
	assert_string_equal(
	    buf_str(&o.out), "d\nkept\nnew\nkept\nmore\nother\nd\nkept\n");
	buf_clear(&o.out);

	/* Once more over the first: its upper layer is as it was. */
	run_overlay(&l.o, "cat kept", &o);
	assert_int_equal(o.r, 0);
	assert_string_equal(buf_str(&o.out), "kept\nmore\n");
	buf_clear(&o.out);
	overlay_clear(&second);
	clear_layers(&l);
}

static void
test_overlay(void **state)
{
	(void)state;
	check_overlay("layers");
	check_overlay("odd, name:with\\every thing");
}

static void
test_overlay_fails(void **state)
{
	struct overlay ov = { 0 };
	struct outcome o;

	(void)state;
	strv_add(&ov.lowers, "/no/such/lower");
	ov.dir = make_dir(top, "fails");
	run_overlay(&ov, "true", &o);
	assert_int_equal(o.r, ERR_SANDBOX);
	buf_clear(&o.out);
	overlay_clear(&ov);
}

/* --- mounts made before bwrap runs ------------------------------------------
 */

/* One of each kind and each relation to another. */
static void
many_mounts(const char *dir, const char *tree, struct sandbox_spec *s)
{
	const struct profile_view *v = profile_view_default();
	char *ro = make_dir(dir, "ro"), *rw = make_dir(dir, "rw"), *path;

	path = path_join(ro, "file");
	put_file(path, "file\n");
	free(path);
	free(make_dir(rw, "sub"));
	free(make_dir(ro, "deep/er"));
	spec_init(s, LAYER_INNER);
	spec_mount(s, MOUNT_PROC, NULL, "/proc");
	spec_mount(s, MOUNT_DEV, NULL, "/dev");
	spec_tmpfs(s, "/dev/shm", 1 << 20);
	spec_tmpfs(s, "/root", 1 << 20);
	spec_tmpfs(s, "/tmp", 1 << 20);
	spec_mount(s, MOUNT_DIR, NULL, "/tmp/home");
	for (size_t i = 0; i < v->show.n_mounts; i++)
		spec_mount(s, v->show.mounts[i].kind, v->show.mounts[i].src,
		    v->show.mounts[i].dst);
	/* inside what is shown */
	spec_mount(s, MOUNT_DATA, "me:x:1:1::/:/bin/sh\n", "/etc/passwd");
	spec_mount(s, MOUNT_RO, "/dev/null", "/etc/group");
	/* in empty places */
	spec_mount(s, MOUNT_DATA, "text\n", "/srv/text");
	spec_mount(s, MOUNT_RO, ro, "/srv/a/b");
	spec_tmpfs(s, "/srv/a/b/deep", 1 << 20);
	spec_mount(s, MOUNT_RO, ro, "/srv/a/b/deep/er");
	spec_mount(s, MOUNT_REMOUNT_RO, NULL, "/srv/a/b/deep");
	path = path_join(ro, "file");
	spec_mount(s, MOUNT_RO, path, "/tmp/home/file");
	free(path);
	spec_mount(s, MOUNT_RW, rw, "/srv/rw");
	spec_mount(s, MOUNT_RO, ro, "/srv/rw/sub");
	spec_mount_try(s, MOUNT_RO, "/no/such/place", "/srv/none");
	spec_mount(s, MOUNT_SYMLINK, "a/b", "/srv/link");
	/* covered by what comes after them */
	spec_mount(s, MOUNT_RO, ro, "/late/in");
	spec_tmpfs(s, "/late", 1 << 20);
	spec_mount(s, MOUNT_RW, tree, "/root/p");
	spec_mount(s, MOUNT_REMOUNT_RO, NULL, "/dev");
	spec_mount(s, MOUNT_REMOUNT_RO, NULL, "/");
	spec_set_cwd(s, "/root/p");
	strv_setenv(&s->env, "PATH", "/usr/bin:/bin");
	free(ro);
	free(rw);
}

/* All that can be seen of them, but for the tree itself. */
static char *
look_around(const char *dir, const char *tree, const struct overlay *ov)
{
	static const char command[] =
	    /* place, options, type; several at one place in their order */
	    "sed 's/^[^ ]* [^ ]* [^ ]* [^ ]* \\([^ ]* [^ ]*\\) .*- "
	    "\\([^ ]*\\) .*/\\1 \\2/' /proc/self/mountinfo | "
	    "grep -v '^/root/p ' | sort -s -k1,1; "
	    "cat /etc/passwd /etc/group /srv/text /srv/link/file "
	    "/tmp/home/file; ls -AF / /srv /srv/rw /srv/rw/sub /late /srv/a/b "
	    "/srv/a/b/deep /srv/a/b/deep/er /tmp /tmp/home; "
	    "for f in /x /srv/x /srv/a/x /srv/a/b/x /srv/a/b/file /srv/text "
	    "/srv/rw/x /srv/rw/sub/x /etc/x /etc/passwd /etc/group /usr/x "
	    "/srv/a/b/deep/x /late/x /late/in/x /dev/x /tmp/x /tmp/home/x "
	    "/tmp/home/file /root/x /root/p/x; do "
	    "if true 2>/dev/null >>$f; then echo $f is written; "
	    "else echo $f is not; fi; done; rm -f /srv/rw/x; true";
	struct sandbox_spec spec;
	struct sandbox_start s = {
		.spec = &spec, .overlay = ov, .fds = { -1, -1, -1 }
	};
	struct outcome o;

	many_mounts(dir, tree, &spec);
	strv_addl(&spec.argv, "sh", "-c", command, (char *)NULL);
	run_start(&s, 120000, 65536, &o);
	assert_int_equal(o.r, 0);
	spec_clear(&spec);
	return buf_detach(&o.out, NULL);
}

/* With an overlay most mounts are made by ourselves, without one by bwrap. */
static void
test_same_mounts(void **state)
{
	char *dir = make_dir(top, "same"), *tree = make_dir(dir, "tree");
	struct overlay o = { .dir = make_dir(dir, "ws") };
	char *bwraps, *ours;

	(void)state;
	strv_add(&o.lowers, tree);
	bwraps = look_around(dir, tree, NULL);
	ours = look_around(dir, "@merged", &o);
	assert_string_equal(ours, bwraps);
	assert_non_null(strstr(ours, "\n/srv/a/b ro,nosuid,nodev"));
	assert_non_null(strstr(ours, "\n/srv/rw rw,nosuid,nodev"));
	assert_non_null(strstr(ours, "\nme:x:1:1::/:/bin/sh\n"));
	assert_non_null(strstr(ours, "\ntext\nfile\nfile\n"));
	assert_non_null(strstr(ours, "\n/etc/passwd is not\n"));
	assert_non_null(strstr(ours, "\n/x is not\n"));
	assert_non_null(strstr(ours, "\n/srv/rw/x is written\n"));
	free(bwraps);
	free(ours);
	overlay_clear(&o);
	free(tree);
	free(dir);
}

/* --- the caller ------------------------------------------------------------
 */

static int
open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d != NULL && readdir(d) != NULL)
		n++;
	if (d != NULL)
		(void)closedir(d);
	return n;
}

/* What a child changes for itself, as text. */
static void
state_of_us(char *ret, size_t size)
{
	char ns[2][64] = { "", "" }, adj[32] = "", cwd[4096];
	struct sigaction act, quit;
	struct rlimit core, data;
	mode_t mask = umask(0);
	sigset_t blocked;
	int death = -1, fd;

	(void)umask(mask);
	(void)prctl(PR_GET_PDEATHSIG, &death, 0, 0, 0);
	if (readlink("/proc/self/ns/user", ns[0], sizeof ns[0] - 1) < 0 ||
	    readlink("/proc/self/ns/mnt", ns[1], sizeof ns[1] - 1) < 0)
		ns[0][0] = '?';
	(void)sigaction(SIGINT, NULL, &act);
	(void)sigaction(SIGQUIT, NULL, &quit);
	(void)sigprocmask(SIG_SETMASK, NULL, &blocked);
	(void)getrlimit(RLIMIT_CORE, &core);
	(void)getrlimit(RLIMIT_DATA, &data);
	if ((fd = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC)) < 0 ||
	    read(fd, adj, sizeof adj - 1) <= 0)
		adj[0] = '?';
	fd_close(&fd);
	(void)snprintf(ret, size,
	    "umask %o, cwd %s, dumpable %d, death %d, session %d, group %d, "
	    "%s, %s, keys %d %d, blocked %d, core %llu, data %llu, adj %s"
	    "fds %d",
	    (unsigned)mask, getcwd(cwd, sizeof cwd),
	    prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), death, (int)getsid(0),
	    (int)getpgrp(), ns[0], ns[1], act.sa_handler == SIG_DFL,
	    quit.sa_handler == SIG_DFL, sigismember(&blocked, SIGTERM),
	    (unsigned long long)core.rlim_cur,
	    (unsigned long long)data.rlim_cur, adj, open_fds());
}

/* In a process of its own, which is no root: with or without an overlay. */
static int
start_and_compare(
    const struct sandbox_spec *spec, const struct overlay *o, int want)
{
	struct sandbox_run run = { .timeout_ms = 120000 };
	char before[8192], after[8192];
	struct sandbox_result res;
	struct buf out;
	struct err e;
	int r;

	buf_init(&out, 4096);
	run.start.spec = spec;
	run.start.overlay = o;
	run.start.ignore_keys = true;
	run.out = &out;
	state_of_us(before, sizeof before);
	r = sandbox_run(&run, &res, &e);
	state_of_us(after, sizeof after);
	buf_clear(&out);
	if (r != want)
		return fprintf(stderr, "%d: %s\n", r, r < 0 ? e.text : "");
	if (strcmp(before, after) != 0)
		return fprintf(
		    stderr, "before: %s\nafter: %s\n", before, after);
	return 0;
}

static void
own_overlay(const struct stage *st, const char *dir, const char *name,
    const char *lower, struct overlay *ret)
{
	char *path = make_dir(dir, name);

	*ret = (struct overlay){ .dir = stage_path(st, path) };
	free(path);
	path = stage_path(st, lower);
	strv_add(&ret->lowers, path);
	free(path);
}

static int
start_all(const char *tree, const char *dir, int dumpable)
{
	struct sandbox_spec plain, merged, none;
	struct profile p = { .root = tree, .tree_src = "@merged" };
	struct overlay o, bad;
	struct stage st;
	struct err e;
	int r;

	if (stage_open(&st, &e) < 0 || stage_add(&st, top, &e) < 0)
		return fprintf(stderr, "%s\n", e.text);
	own_overlay(&st, dir, "ws", tree, &o);
	own_overlay(&st, dir, "bad", "/no/such/lower", &bad);
	if (stage_drop(&st, &e) < 0 ||
	    prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0) < 0)
		return fprintf(stderr, "%s\n", e.text);
	profile_direct(&p, &merged);
	strv_add(&merged.argv, "true");
	direct(tree, &plain);
	stage_spec(&st, &plain);
	strv_add(&plain.argv, "true");
	plain.limits =
	    (struct sandbox_limits){ .data_bytes = 1 << 30, .procs = 100 };
	spec_copy(&none, &plain);
	spec_mount(&none, MOUNT_RO, "@merged", "/mnt");
	if ((r = start_and_compare(&plain, NULL, 0)) == 0 &&
	    (r = start_and_compare(&merged, &o, 0)) == 0 &&
	    (r = start_and_compare(&merged, &bad, ERR_SANDBOX)) == 0)
		r = start_and_compare(&none, NULL, ERR_SANDBOX);
	spec_clear(&plain);
	spec_clear(&merged);
	spec_clear(&none);
	overlay_clear(&o);
	overlay_clear(&bad);
	stage_clear(&st);
	return r;
}

/* The child may run in its parent's memory: nothing of what it does to itself
 * may be left there, whether it comes to run bwrap or not. */
static void
check_caller(int dumpable)
{
	char *tree = new_tree(), *dir = new_tree();
	int status = -1;
	pid_t pid;

	if ((pid = fork()) == 0) {
		(void)umask(027);
		_exit(start_all(tree, dir, dumpable) == 0 ? 0 : 1);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	free(tree);
	free(dir);
}

static void
test_caller(void **state)
{
	(void)state;
	check_caller(1);
	check_caller(0);
}

/* --- two layers ------------------------------------------------------------
 */

#define ROOT "/home/person/project"

/* In the outer sandbox: fills r->start.spec from IN_LINK/spec.json. */
static void
worker_spec(const char *name, const char *command, struct sandbox_spec *ret)
{
	char *path = path_join(IN_LINK, name);
	struct buf b;
	struct err e;
	json_t *j;

	buf_init(&b, 1 << 20);
	if (file_read(path, false, &b, &e) < 0 ||
	    json_parse(b.data, b.len, 1 << 20, &j, &e) < 0 ||
	    spec_from_json(j, ret, &e) < 0) {
		printf("%s\n", e.text);
		exit(1);
	}
	json_decref(j);
	buf_clear(&b);
	free(path);
	strv_addl(&ret->argv, "sh", "-c", command, (char *)NULL);
}

static void
worker_run(const char *name, const char *command, const struct overlay *ov)
{
	struct sandbox_run run = { .timeout_ms = 60000 };
	struct sandbox_result res = { 0 };
	struct sandbox_spec spec;
	struct buf out;
	struct err e;

	worker_spec(name, command, &spec);
	buf_init(&out, 65536);
	run.start.spec = &spec;
	run.start.overlay = ov;
	run.out = &out;
	if (sandbox_run(&run, &res, &e) < 0)
		printf("failed: %s\n", e.text);
	else
		printf("%d %s", res.status, buf_str(&out));
	(void)fflush(stdout);
	buf_clear(&out);
	spec_clear(&spec);
}

static void
worker_candidates(void)
{
	struct overlay ov = { 0 };

	strv_addl(&ov.lowers, IN_UP, IN_BASE, (char *)NULL);
	ov.dir = xstrdup("/tmp/candidate");
	ov.on_tmpfs = true;
	(void)mkdir(ov.dir, 0700);
	worker_run("copy.json",
	    "ls -A; cat file; echo candidate >file; cat file; pwd; "
	    "(echo x >.git/config) 2>/dev/null || echo fine",
	    &ov);
	/* The worker's own tree did not change. */
	worker_run("spec.json", "cat file", NULL);
	overlay_clear(&ov);
}

static int
worker_main(void)
{
	int fd;

	/* The worker's view: no home, its link, a writable tree. */
	if (access(IN_LINK "/secret", R_OK) < 0 ||
	    access("/home/person/other", F_OK) == 0)
		printf("wrong view\n");
	fd = open("file", O_WRONLY | O_TRUNC);
	if (fd < 0 || write(fd, "edited\n", 7) != 7)
		printf("can't edit\n");
	fd_close(&fd);
	worker_run(
	    "spec.json", "cat file; rm gone; echo made >made; ls -A", NULL);
	worker_run("spec.json",
	    "ls -A /run /home/person; cat /proc/[0-9]*/cmdline | grep -c '[w]orker'; "
	    "grep Seccomp_filters /proc/self/status | tr -d '\\t'; "
	    "(echo x >.git/config) 2>/dev/null && echo bad; "
	    "(echo x >guarded) 2>/dev/null && echo bad; "
	    "unshare -U true 2>/dev/null && echo bad; "
	    "touch /tmp/stays $HOME/x && echo fine",
	    NULL);
	/* /tmp stays from command to command */
	worker_run("spec.json", "ls /tmp", NULL);
	/* a link to the worker's own things, in place of a guarded path */
	worker_run("spec.json",
	    "mkdir sub && ln -s " IN_LINK " sub/link && echo tried", NULL);
	worker_run("spec.json",
	    "cat sub/link/secret 2>/dev/null || echo closed; rm -r sub", NULL);
	worker_candidates();
	worker_run("spec.json", "sleep 7782 & echo bye", NULL);
	/* time and cleanliness */
	worker_run("spec.json",
	    "ls /proc | grep -c '^[0-9]' | { read n; [ $n -le 5 ] && echo few; }",
	    NULL);
	return 0;
}

static void
save_spec(const char *dir, const char *name, const struct sandbox_spec *spec)
{
	json_t *j = spec_to_json(spec);
	char *text = json_text(j), *path = path_join(dir, name);

	put_file(path, text);
	free(path);
	free(text);
	json_decref(j);
}

/* What a host does for one worker. */
static void
start_worker(struct sandbox_spec *outer, struct overlay *ov)
{
	static char *dir, *base, *link, *ws, *up;
	struct strv guarded = { 0 };
	struct profile p = { .root = ROOT, .tree_src = "@merged" };
	struct sandbox_spec inner;
	char *path;
	static int n;

	dir = xasprintf("%s/host%d", top, ++n);
	base = make_dir(top, path_base(dir));
	free(base);
	base = make_dir(dir, "base");
	link = make_dir(dir, "link");
	ws = make_dir(dir, "ws");
	up = make_dir(ws, "up");
	path = path_join(base, "file");
	put_file(path, "original\n");
	free(path);
	path = path_join(base, "gone");
	put_file(path, "gone\n");
	free(path);
	path = path_join(base, "guarded");
	put_file(path, "guarded\n");
	free(path);
	free(make_dir(base, ".git"));
	free(make_dir(base, ".git/hooks"));
	path = path_join(base, ".git/config");
	put_file(path, "config\n");
	free(path);
	path = path_join(link, "secret");
	put_file(path, "token\n");
	free(path);

	p.base_src = base;
	p.up_src = up;
	p.link_src = link;
	p.worker_src = self;
	profile_outer(&p, outer);
	strv_add(&outer->argv, "--worker");

	strv_addl(&guarded, "guarded", "sub/link", (char *)NULL);
	p.guarded = &guarded;
	p.tree_src = NULL;
	profile_inner(&p, false, &inner);
	save_spec(link, "spec.json", &inner);
	spec_clear(&inner);
	p.tree_src = "@merged";
	profile_inner(&p, true, &inner);
	save_spec(link, "copy.json", &inner);
	spec_clear(&inner);

	*ov = (struct overlay){ 0 };
	strv_add(&ov->lowers, base);
	ov->dir = xstrdup(ws);
	strv_clear(&guarded);
	free(up);
	free(ws);
	free(link);
	free(base);
	free(dir);
}

static const char worker_says[] =
    "0 edited\n.git\nfile\nguarded\nmade\n"
    "0 /home/person:\nproject\n\n/run:\n0\nSeccomp_filters:2\nfine\n"
    "0 home\nstays\n"
    "0 tried\n"
    "0 closed\n"
    "0 .git\nfile\nguarded\nmade\nedited\ncandidate\n" ROOT "\nfine\n"
    "0 edited\n"
    "0 bye\n"
    "0 few\n";

static void
test_nested(void **state)
{
	struct sandbox_spec spec;
	struct overlay ov;
	struct sandbox_start s = {
		.spec = &spec, .overlay = &ov, .fds = { -1, -1, -1 }
	};
	struct outcome o;

	(void)state;
	start_worker(&spec, &ov);
	run_start(&s, 60000, 65536, &o);
	assert_int_equal(o.r, 0);
	assert_string_equal(buf_str(&o.out), worker_says);
	assert_int_equal(o.res.status, 0);
	assert_int_equal(count("7782", true), 0);
	buf_clear(&o.out);
	spec_clear(&spec);
	overlay_clear(&ov);
}

/* --- as the host starts them -----------------------------------------------
 */

static void
write_map(const char *path, unsigned id)
{
	char line[64];
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	(void)snprintf(line, sizeof line, "%u %u 1\n", id, id);
	if (fd < 0 || fd_write_all(fd, line, strlen(line)) < 0)
		_exit(40);
	fd_close(&fd);
}

/* The first step, before the fork of pid 1: a pid namespace, and as a user a
 * user namespace around it. */
static void
leave_namespaces(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int fd;

	if (uid == 0) {
		if (unshare(CLONE_NEWPID) < 0)
			_exit(41);
		return;
	}
	if (unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0)
		_exit(42);
	fd = open("/proc/self/setgroups", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "deny", 4) != 4)
		_exit(43);
	fd_close(&fd);
	write_map("/proc/self/uid_map", uid);
	write_map("/proc/self/gid_map", gid);
}

/* As pid 1: a /proc that counts as we do, since bwrap opens /proc/PID/ns by our
 * numbers; as root the stage and the drop. */
static void
become_host(struct sandbox_spec *spec, struct overlay *ov)
{
	bool root = geteuid() == 0;
	struct stage st;
	char *there;

	if ((root ? stage_open(&st, NULL) : unshare(CLONE_NEWNS)) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 ||
	    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		NULL) < 0)
		_exit(46);
	if (!root)
		return;
	if (stage_add(&st, top, NULL) < 0 || stage_add(&st, self, NULL) < 0 ||
	    stage_drop(&st, NULL) < 0)
		_exit(41);
	stage_spec(&st, spec);
	there = stage_path(&st, ov->dir);
	free(ov->dir);
	ov->dir = there;
	there = stage_path(&st, ov->lowers.v[0]);
	strv_clear(&ov->lowers);
	strv_take(&ov->lowers, &there);
	stage_clear(&st);
}

static void
host_main(int out)
{
	struct sandbox_spec spec;
	struct overlay ov;
	struct sandbox_run run = { .timeout_ms = 60000 };
	struct sandbox_result res;
	struct buf b;
	struct err e;
	int status = 0;
	pid_t pid;

	start_worker(&spec, &ov);
	leave_namespaces();
	pid = fork(); /* pid 1 of the namespace */
	if (pid == 0) {
		become_host(&spec, &ov);
		buf_init(&b, 65536);
		run.start.spec = &spec;
		run.start.overlay = &ov;
		run.out = &b;
		if (sandbox_run(&run, &res, &e) < 0) {
			(void)fd_write_all(out, e.text, strlen(e.text));
			_exit(44);
		}
		(void)fd_write_all(out, b.data, b.len);
		_exit(res.status);
	}
	if (waitpid(pid, &status, 0) != pid)
		_exit(45);
	_exit(WEXITSTATUS(status));
}

static void
test_host(void **state)
{
	int fds[2], status;
	struct buf b;
	pid_t pid;

	(void)state;
	assert_int_equal(fd_pipe(fds), 0);
	pid = fork();
	if (pid == 0)
		host_main(fds[1]);
	fd_close(&fds[1]);
	buf_init(&b, 65536);
	assert_int_equal(fd_read_all(fds[0], &b), 0);
	assert_string_equal(buf_str(&b), worker_says);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	fd_close(&fds[0]);
	buf_clear(&b);
}

/* --- where trees may lie ---------------------------------------------------
 */

static void
test_places(void **state)
{
	static const char *const places[] = { "/tmp/p", "/home/x/p", "/root/p",
		"/run/p", "/usr/src", "/var/tmp/p", "/srv/www/p", "/opt/p",
		"/tmp/home/p", "/p" };
	struct sandbox_spec spec;
	struct outcome o;
	struct profile p = { 0 };
	char *tree = new_tree(), *path = path_join(tree, "here"), *want;

	(void)state;
	put_file(path, "x");
	for (size_t i = 0; i < nitems(places); i++) {
		if (strcmp(places[i], "/opt/p") == 0)
			continue; /* /opt is shown as it is: no mount point */
		p.root = places[i];
		p.tree_src = tree;
		profile_direct(&p, &spec);
		strv_addl(&spec.argv, "sh", "-c", "pwd; ls; echo y >new",
		    (char *)NULL);
		run_spec(&spec, 9000, 4096, &o);
		assert_int_equal(o.r, 0);
		want =
		    xasprintf("%s\nhere\n%s", places[i], i > 0 ? "new\n" : "");
		assert_string_equal(buf_str(&o.out), want);
		free(want);
		buf_clear(&o.out);
	}
	free(path);
	free(tree);
}

static void
test_probe(void **state)
{
	struct probe_item items[PROBE_MAX];
	size_t n = probe_all(top, items);

	(void)state;
	assert_true(n >= 10 && n <= PROBE_MAX);
	for (size_t i = 0; i < n; i++) {
		print_message("# %-16s %d %s\n", items[i].name, items[i].state,
		    items[i].detail);
		assert_true((items[i].state == PROBE_OK) ==
		    (items[i].remedy[0] == '\0'));
	}
}

/* --- */

static int
set_up(void **state)
{
	(void)state;
	/* Where /tmp lies on an overlay none can be mounted over it. */
	if (probe_layout("/tmp") == LAYOUT_OVERLAY)
		(void)strlcpy(top, "/tmp/foray-test-XXXXXX", sizeof top);
	if (mkdtemp(top) == NULL || chmod(top, 0755) < 0)
		return -1;
	give(top);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	return path_rmtree(top, NULL);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_no_command),
		cmocka_unit_test(test_bad_mount),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_flood),
		cmocka_unit_test(test_background),
		cmocka_unit_test(test_input),
		cmocka_unit_test(test_kill_tree),
		cmocka_unit_test(test_kill_early),
		cmocka_unit_test(test_parent_dies),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_walls),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_limits_are_the_commands),
		cmocka_unit_test(test_root_refused),
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_link_in_tree),
		cmocka_unit_test(test_overlay),
		cmocka_unit_test(test_overlay_fails),
		cmocka_unit_test(test_same_mounts),
		cmocka_unit_test(test_caller),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_probe),
	};
	const char *must = getenv("FORAY_SANDBOX_MUST_WORK");
	struct err e;
	ssize_t n;

	if (argc > 1 && strcmp(argv[1], "--worker") == 0)
		return worker_main();
	(void)snprintf(nap, sizeof nap, "7777.%d", (int)getpid());
	n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n <= 0)
		return 1;
	if (probe_sandbox(&e) < 0) {
		fprintf(stderr, "%s: test_sandbox_start: %s\n",
		    must != NULL ? "FAILED" : "SKIPPED", e.text);
		return must != NULL && strcmp(must, "1") == 0 ? 1 : 0;
	}
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
