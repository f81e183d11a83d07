/* The container backend: specs made over, real commands, what they leave. */
#include "common/compat.h"

#include <setjmp.h>
/* cmocka needs the ones above */
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/path.h"
#include "sandbox/container.h"
#include "sandbox/killtree.h"
#include "sandbox/landlock.h"
#include "sandbox/profile.h"
#include "sandbox/stage.h"
#include "sandbox/start.h"
#include "sandbox/why.h"

static char top[] = "/tmp/foray-test-XXXXXX";
static char *tree, *tmp;

static void
give(const char *path)
{
	if (geteuid() == 0)
		assert_int_equal(chown(path, SANDBOX_UID, SANDBOX_UID), 0);
}

/* Of the uid that programs have, beside the tree. */
static void
put_mine(void)
{
	char *path = path_join(top, "mine");

	assert_int_equal(file_write(path, "x", 1, 0644, NULL), 0);
	give(path);
	free(path);
}

static int
setup(void **state unused_arg)
{
	struct err e;

	if (mkdtemp(top) == NULL || chmod(top, 0711) < 0)
		return -1;
	tree = path_join(top, "tree");
	tmp = path_join(top, "tmp");
	if (mkdir(tree, 0755) < 0 || container_make_tmp(tmp, &e) < 0)
		return -1;
	give(tree);
	put_mine();
	return 0;
}

static int
teardown(void **state unused_arg)
{
	free(tree);
	free(tmp);
	return path_rmtree(top, NULL);
}

/* --- specs -----------------------------------------------------------------
 */

static const struct sandbox_mount *
find(const struct sandbox_spec *s, const char *src)
{
	for (size_t i = 0; i < s->n_mounts; i++) {
		if (s->mounts[i].src != NULL &&
		    strcmp(s->mounts[i].src, src) == 0)
			return &s->mounts[i];
	}
	return NULL;
}

static void
inner(struct sandbox_spec *s, enum container_guards guards)
{
	struct profile p = {
		.root = "/w/m", .tree_src = "/w/m", .workdir = "/w/m/sub"
	};

	profile_inner(&p, false, s);
	container_spec(s, "/w/t/cmd", guards);
}

static void
test_spec(void **state unused_arg)
{
	struct sandbox_spec s;

	inner(&s, CONTAINER_DROP_GUARDS);
	assert_int_equal(s.backend, BACKEND_CONTAINER);
	assert_int_equal(find(&s, "/w/m")->kind, MOUNT_RW);
	assert_int_equal(find(&s, "/w/t/cmd")->kind, MOUNT_RW);
	assert_int_equal(find(&s, "/usr")->kind, MOUNT_RO);
	assert_null(find(&s, "/w/m/.git/config"));
	assert_null(find(&s, "/tmp/cmd"));
	assert_string_equal(strv_getenv(&s.env, "HOME"), "/w/t/cmd/home");
	assert_string_equal(strv_getenv(&s.env, "TMPDIR"), "/w/t/cmd");
	for (size_t i = 0; i < s.n_mounts; i++) {
		assert_int_not_equal(s.mounts[i].kind, MOUNT_TMPFS);
		if (s.mounts[i].kind == MOUNT_RW)
			assert_string_equal(s.mounts[i].src, s.mounts[i].dst);
	}
	container_move(&s, "/w/m", "/c/1/tree");
	container_move(&s, "/w/t/cmd", "/c/1/tmp");
	assert_null(find(&s, "/w/m"));
	assert_int_equal(find(&s, "/c/1/tree")->kind, MOUNT_RW);
	assert_string_equal(s.cwd, "/c/1/tree/sub");
	assert_string_equal(strv_getenv(&s.env, "HOME"), "/c/1/tmp/home");
	spec_clear(&s);
	inner(&s, CONTAINER_KEEP_GUARDS);
	assert_int_equal(find(&s, "/w/m/.git/config")->kind, MOUNT_RO);
	spec_clear(&s);
}

/* It goes to the worker as JSON. */
static void
test_spec_json(void **state unused_arg)
{
	struct sandbox_spec s, back;
	struct err e;
	json_t *j;

	inner(&s, CONTAINER_DROP_GUARDS);
	j = spec_to_json(&s);
	if (spec_from_json(j, &back, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(back.backend, BACKEND_CONTAINER);
	assert_int_equal(back.n_mounts, s.n_mounts);
	json_decref(j);
	spec_clear(&s);
	spec_clear(&back);
}

/* --- commands --------------------------------------------------------------
 */

static const char *fixed; /* a file below tree that keeps its name */

static int
run(const char *script, uint64_t timeout_ms, struct sandbox_result *res,
    struct buf *out, struct err *e)
{
	struct sandbox_run r = { .timeout_ms = timeout_ms, .out = out };
	struct profile p = { .root = tree, .tree_src = tree };
	struct sandbox_spec s;
	int code;

	profile_inner(&p, true, &s);
	container_spec(&s, tmp, CONTAINER_DROP_GUARDS);
	s.limits.procs = 400;
	if (fixed != NULL)
		strv_addf(&s.fixed, "%s/%s", tree, fixed);
	strv_addl(&s.argv, "/bin/sh", "-c", script, (char *)NULL);
	r.start.spec = &s;
	r.start.stage = true;
	buf_init(out, 65536);
	code = sandbox_run(&r, res, e);
	spec_clear(&s);
	return code;
}

static void
gives(const char *script, int status, const char *text)
{
	struct sandbox_result res;
	struct buf out;
	struct err e;

	if (run(script, 20000, &res, &out, &e) < 0)
		fail_msg("%s: %s", script, e.text);
	if (res.status != status || strstr(buf_str(&out), text) == NULL)
		fail_msg(
		    "%s: status %d: %s", script, res.status, buf_str(&out));
	buf_clear(&out);
}

static void
test_status(void **state unused_arg)
{
	gives("exit 7", 7, "");
	gives("kill -TERM $$", 128 + SIGTERM, "");
	gives("kill -KILL $$", 128 + SIGKILL, "");
	gives("echo out; echo err >&2", 0, "out\nerr");
	gives("pwd", 0, tree);
	gives("echo $HOME $TMPDIR; test -w $HOME", 0, tmp);
	gives("cat", 0, "");
}

static void
test_confined(void **state unused_arg)
{
	gives("ls /root /home /run /var; true", 0, "ermission denied");
	gives("touch new && rm new && echo wrote", 0, "wrote");
	gives("touch ../new || echo not", 0, "not");
	gives("kill -0 $PPID || echo not", 0, "not");
	gives("cat /proc/$PPID/environ || echo not", 0, "not");
	gives("echo x >/dev/null && echo device", 0, "device");
	gives("echo x >/dev/shm/foray-x || echo not", 0, "not");
	gives("grep -c NoNewPrivs:.1 /proc/self/status", 0, "1");
	gives("grep Seccomp: /proc/self/status", 0, "2");
	gives("test $(id -u) != 0 && echo plain", 0, "plain");
	gives("touch f && chmod 711 f && touch -d @5 f && stat -c %a.%Y f", 0,
	    "711.5");
	gives("ln -s x l && touch -h -d @7 l && stat -c %Y l", 0, "7");
	gives("chmod 711 ../mine || echo not", 0, "not");
	gives("ln -s ../mine way; chmod 711 way || echo not", 0, "not");
	gives("touch -d @5 ../mine || echo not", 0, "not");
	gives("chgrp $(id -g) ../mine || echo not", 0, "not");
	gives("chmod 711 nothing 2>&1 || true", 0, "No such file");
	gives("chmod 755 . && chmod 700 $TMPDIR && echo own", 0, "own");
	gives("cp -a f g && stat -c %a.%Y g", 0, "711.5");
	gives("ls -l /proc/self/fd | grep -c ' [3-9] ->'", 0, "1");
}

static void
test_renames(void **state unused_arg)
{
	gives("mkdir -p k/sub o; echo k >k/sub/keep; echo o >o/f", 0, "");
	fixed = "k/sub/keep";
	gives("mv k/sub/keep k/x || echo not", 0, "not");
	gives("mv k/sub k/x || echo not", 0, "not");
	gives("mv k x || echo not", 0, "not");
	gives("mv ./k/../k x || echo not", 0, "not");
	gives("mv -T o k/sub/keep || echo not", 0, "not");
	gives("echo new >n; mv -f n k/sub/keep || echo not", 0, "not");
	gives("ln -s k way; mv way/sub way/x || echo not", 0, "not");
	gives("cd k; mv sub/ x || echo not", 0, "not");
	gives("mv k/sub/keep ../keep || echo not", 0, "not");
	gives("mv ../mine stolen || echo not", 0, "not");
	/* All others work as ever. */
	gives("mv o/f o/g && mv o p && mv p/g . && cat g && rmdir p", 0, "o");
	gives("mv nothing x 2>&1 || true", 0, "No such file");
	gives("mkdir e; mv e k/sub/ && mv k/sub/e . && rmdir e && echo did", 0,
	    "did");
	gives("echo a >a; echo b >b; mv a b; cat b", 0, "a");
	gives("mkdir d; mv . d 2>/dev/null || echo not", 0, "not");
	gives("cat k/sub/keep", 0, "k");
	gives("git init -q r && cd r && echo x >f && git add f && git commit "
	      "-qm x && git gc -q && git mv f g && git commit -qam y && "
	      "git log --format=%s",
	    0, "y\nx");
	fixed = NULL;
}

static void
test_gone(void **state unused_arg)
{
	struct err e;
	struct sandbox_result res;
	struct buf out;

	/* Daemons, deaf ones, and what forks while it is looked for. */
	gives("setsid sleep 987 & (setsid sh -c 'trap \"\" TERM; while :; do "
	      "sleep 0.01; done' &); for i in 1 2 3 4 5; do (sleep 987 &); "
	      "done; echo end",
	    0, "end");
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	if (run("(setsid sleep 987 &); sleep 987", 300, &res, &out, &e) < 0)
		fail_msg("%s", e.text);
	assert_true(res.timed_out);
	assert_true(res.ms < 60000);
	buf_clear(&out);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void
test_bomb(void **state unused_arg)
{
	struct err e;
	struct sandbox_result res;
	struct buf out;

	if (run("f() { f | f & }; f; sleep 5", 700, &res, &out, &e) < 0)
		fail_msg("%s", e.text);
	assert_true(res.timed_out);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	buf_clear(&out);
}

static void
test_errors(void **state unused_arg)
{
	struct sandbox_run r = { 0 };
	struct sandbox_result res;
	struct sandbox_spec s;
	struct buf out;
	struct err e;

	buf_init(&out, 4096);
	r.out = &out;
	r.start.spec = &s;
	r.start.stage = true;
	spec_init(&s, LAYER_INNER);
	s.backend = BACKEND_CONTAINER;
	strv_addl(&s.argv, "no-such-program-x", (char *)NULL);
	assert_int_equal(sandbox_run(&r, &res, &e), ERR_SANDBOX);
	assert_non_null(strstr(e.text, "no-such-program-x"));
	strv_clear(&s.argv);
	strv_addl(&s.argv, "/bin/true", (char *)NULL);
	spec_mount(&s, MOUNT_RW, "@merged", "/x");
	assert_int_equal(sandbox_run(&r, &res, &e), ERR_SANDBOX);
	assert_non_null(strstr(e.text, "overlay"));
	spec_clear(&s);
	buf_clear(&out);
}

static void
test_probe(void **state unused_arg)
{
	struct err e;

	if (container_probe(&e) < 0)
		fail_msg("%s", e.text);
	assert_non_null(strstr(container_warning(), "NOT confined"));
}

/* --- why bwrap can't -------------------------------------------------------
 */

static void
test_why(void **state unused_arg)
{
	struct why w;

	w = why_bwrap("bwrap: setting up uid map: Permission denied");
	assert_non_null(strstr(w.cause, "user namespaces"));
	assert_non_null(strstr(w.remedy, "apparmor"));
	assert_non_null(strstr(w.remedy, "apparmor_parser -r"));
	w = why_bwrap("bwrap: Can't mount proc on /newroot/proc: Operation "
		      "not permitted");
	assert_non_null(strstr(w.cause, "/proc"));
	assert_non_null(strstr(w.remedy, "procMount: Unmasked"));
	w = why_bwrap("bwrap: Unknown option --disable-userns");
	assert_non_null(strstr(w.cause, "too old"));
	w = why_bwrap("");
	assert_non_null(w.cause);
	assert_non_null(w.remedy);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spec),
		cmocka_unit_test(test_spec_json),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_confined),
		cmocka_unit_test(test_renames),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_probe),
		cmocka_unit_test(test_why),
	};

	if (landlock_abi() == 0) {
		print_message("skipped: no Landlock here\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, setup, teardown);
}
