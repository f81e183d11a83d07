/*
 * sandbox.c - what the sandbox costs over bare bwrap, both in one run.
 *
 *	sandbox ROUNDS      prints one JSON object: name -> [ms, ...]
 *
 * An outer sandbox is started as the host does it (staged and dropped when
 * root, overlay where that works). Inside, this program plays the worker: it
 * runs /bin/true through sandbox_run() with the profile's specification, and
 * between these through posix_spawn() with a list of arguments that is written
 * out here, so that neither profits from a quiet moment.
 *
 *	inner          sandbox_run(), the worker's specification
 *	inner_bare     bwrap with the same flags, mounts, filter
 *	inner_short    bwrap with the shortest list that still is a sandbox
 *	inner_bare_2   inner_bare, two at a time, per command
 *	outer          sandbox_run() of the outer layer with its overlay
 *	outer_bare     bwrap with the same flags and mounts, no overlay
 */
#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/json.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/probe.h"
#include "sandbox/profile.h"
#include "sandbox/seccomp.h"
#include "sandbox/stage.h"
#include "sandbox/start.h"

#define ROOT_IN "/src/bench"
#define SPEC_IN IN_LINK "/inner.json"
#define WARM_UP 5
#define MIB ((uint64_t)1 << 20)

static double
now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void
note(json_t *all, const char *name, double ms)
{
	json_t *list = json_object_get(all, name);

	if (list == NULL) {
		list = json_array();
		json_object_set_new(all, name, list);
	}
	json_array_append_new(list, json_real(ms));
}

/* --- the product's way --------------------------------------------------- */

static double
time_product(const struct sandbox_spec *spec, const struct overlay *overlay)
{
	struct sandbox_run run = { .timeout_ms = 20000 };
	struct sandbox_result res;
	struct buf out;
	struct err e;
	double start;

	buf_init(&out, 4096);
	run.start.spec = spec;
	run.start.overlay = overlay;
	run.out = &out;
	start = now_ms();
	if (sandbox_run(&run, &res, &e) < 0)
		fatal("%s", e.text);
	start = now_ms() - start;
	if (res.status != 0)
		fatal("status %d: %s", res.status, buf_str(&out));
	buf_clear(&out);
	return start;
}

/* --- bare bwrap ---------------------------------------------------------- */

static pid_t
spawn_bare(const struct strv *args, enum sandbox_layer layer)
{
	const struct seccomp_want want = { .layer = layer };
	struct strv argv = { 0 };
	static char path[] = "PATH=/usr/bin:/bin";
	char *const env[] = { path, NULL };
	const void *filter;
	size_t len;
	struct err e;
	pid_t pid;
	int fd, r;

	if (seccomp_program(&want, &filter, &len, &e) < 0)
		fatal("%s", e.text);
	fd = fd_memfile("seccomp", filter, len);
	if (fd < 0)
		fatal("memfd: %s", strerror(-fd));
	(void)fd_cloexec(fd, false);
	strv_addl(&argv, "bwrap", "--seccomp", (char *)NULL);
	strv_addf(&argv, "%d", fd);
	strv_extend(&argv, args);
	strv_add(&argv, "/bin/true");
	r = posix_spawn(
	    &pid, "/usr/bin/bwrap", NULL, NULL, strv_argv(&argv), env);
	if (r != 0)
		fatal("bwrap: %s", strerror(r));
	fd_close(&fd);
	strv_clear(&argv);
	return pid;
}

static void
wait_bare(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			fatal("waitpid: %s", strerror(errno));
	}
	if (status != 0)
		fatal("bare bwrap failed (%d)", status);
}

static double
time_bare(const struct strv *args, enum sandbox_layer layer)
{
	double start = now_ms();

	wait_bare(spawn_bare(args, layer));
	return now_ms() - start;
}

/* What profile.c shows of a machine, by hand. */
static void
bare_system(struct strv *a)
{
	static const char *const dirs[] = { "/usr", "/etc", "/bin", "/sbin",
		"/lib", "/lib32", "/lib64", "/libx32", "/opt" };
	char target[PATH_MAX];
	ssize_t n;

	for (size_t i = 0; i < nitems(dirs); i++) {
		n = readlink(dirs[i], target, sizeof target - 1);
		if (n > 0) {
			target[n] = '\0';
			strv_addl(
			    a, "--symlink", target, dirs[i], (char *)NULL);
		} else if (access(dirs[i], F_OK) == 0) {
			strv_addl(
			    a, "--ro-bind", dirs[i], dirs[i], (char *)NULL);
		}
	}
	strv_addl(a, "--proc", "/proc", "--dev", "/dev", (char *)NULL);
}

static void
bare_empty(struct strv *a)
{
	strv_addl(a, "--size", "536870912", "--tmpfs", "/dev/shm", "--size",
	    "67108864", "--tmpfs", "/run", "--size", "67108864", "--tmpfs",
	    "/home", "--size", "67108864", "--tmpfs", "/root", "--size",
	    "67108864", "--tmpfs", "/var/tmp", (char *)NULL);
}

/* Toolchains depend on the machine: the same as in the specification. */
static void
bare_tools(struct strv *a, const struct toolchain *t, const struct stage *st)
{
	char *src;

	for (size_t i = 0; i < t->show.n; i++) {
		src = st != NULL ? stage_path(st, t->show.v[i])
				 : xstrdup(t->show.v[i]);
		strv_addl(a, "--ro-bind-try", src, t->show.v[i], (char *)NULL);
		free(src);
	}
}

static void
bare_seal(struct strv *a, const char *cwd)
{
	strv_addl(a, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir",
	    cwd, (char *)NULL);
}

static void
bare_inner(struct strv *a, const struct toolchain *t)
{
	strv_addl(a, "--unshare-all", "--unshare-user", "--disable-userns",
	    "--cap-drop", "ALL", "--die-with-parent", "--new-session",
	    "--hostname", "foray", (char *)NULL);
	bare_system(a);
	bare_empty(a);
	strv_addl(a, "--bind", "/tmp/cmd", "/tmp", "--dir", "/tmp/home",
	    (char *)NULL);
	bare_tools(a, t, NULL);
	strv_addl(a, "--bind", ROOT_IN, ROOT_IN, "--ro-bind-try",
	    ROOT_IN "/.git/config", ROOT_IN "/.git/config", "--ro-bind-try",
	    ROOT_IN "/.git/hooks", ROOT_IN "/.git/hooks", "--ro-bind-try",
	    ROOT_IN "/test", ROOT_IN "/test", (char *)NULL);
	bare_seal(a, ROOT_IN);
}

static void
bare_short(struct strv *a)
{
	strv_addl(a, "--unshare-all", "--unshare-user", "--disable-userns",
	    "--die-with-parent", "--new-session", (char *)NULL);
	bare_system(a);
	strv_addl(a, "--tmpfs", "/tmp", "--tmpfs", "/run", "--bind", ROOT_IN,
	    ROOT_IN, "--chdir", ROOT_IN, (char *)NULL);
}

/* --- inside the outer sandbox: the worker -------------------------------- */

static void
read_spec(struct sandbox_spec *ret, struct toolchain *ret_tools)
{
	struct buf b;
	struct err e;
	json_t *j, *v;
	size_t i;

	buf_init(&b, 1 << 20);
	if (file_read(SPEC_IN, true, &b, &e) < 0)
		fatal("%s", e.text);
	j = json_loadb(b.data, b.len, 0, NULL);
	if (j == NULL ||
	    spec_from_json(json_object_get(j, "spec"), ret, &e) < 0)
		fatal("%s: %s", SPEC_IN, j == NULL ? "no JSON" : e.text);
	memset(ret_tools, 0, sizeof *ret_tools);
	json_array_foreach (json_object_get(j, "show"), i, v)
		strv_add(&ret_tools->show, json_string_value(v));
	json_decref(j);
	buf_clear(&b);
}

static int
inside(int rounds)
{
	json_t *all = json_object();
	struct strv same = { 0 }, few = { 0 };
	struct toolchain tools;
	struct sandbox_spec spec;
	double ms, start;
	pid_t pids[2];
	char *text;

	read_spec(&spec, &tools);
	strv_add(&spec.argv, "/bin/true");
	bare_inner(&same, &tools);
	bare_short(&few);
	for (int i = -WARM_UP; i < rounds; i++) {
		ms = time_product(&spec, NULL);
		if (i >= 0)
			note(all, "inner", ms);
		ms = time_bare(&same, LAYER_INNER);
		if (i >= 0)
			note(all, "inner_bare", ms);
		ms = time_bare(&few, LAYER_INNER);
		if (i >= 0)
			note(all, "inner_short", ms);
		start = now_ms();
		pids[0] = spawn_bare(&same, LAYER_INNER);
		pids[1] = spawn_bare(&same, LAYER_INNER);
		wait_bare(pids[0]);
		wait_bare(pids[1]);
		if (i >= 0)
			note(all, "inner_bare_2", (now_ms() - start) / 2);
	}
	text = json_text(all);
	printf("%s\n", text);
	return 0;
}

/* --- outside: the host --------------------------------------------------- */

struct bed {
	char *dir, *base, *ov, *link;
	enum layout layout;
	struct toolchain tools;
	struct stage st;
	struct overlay overlay;
};

static char *
own_dir(const char *parent, const char *name)
{
	char *path = path_join(parent, name);
	struct err e;

	if (path_mkdirs(path, 0755, &e) < 0)
		fatal("%s", e.text);
	if (chown(path, stage_uid(), (gid_t)-1) < 0)
		fatal("chown %s: %s", path, strerror(errno));
	return path;
}

static void
own_file(const char *dir, const char *name)
{
	char *path = path_join(dir, name);
	struct err e;

	if (file_write(path, "x\n", 2, 0644, &e) < 0)
		fatal("%s", e.text);
	if (chown(path, stage_uid(), (gid_t)-1) < 0)
		fatal("chown %s: %s", path, strerror(errno));
	free(path);
}

static void
bed_make(struct bed *b)
{
	char *git;

	b->dir = xstrdup("/tmp/foray-bench-XXXXXX");
	if (mkdtemp(b->dir) == NULL || chmod(b->dir, 0755) < 0 ||
	    chown(b->dir, stage_uid(), (gid_t)-1) < 0)
		fatal("%s: %s", b->dir, strerror(errno));
	b->base = own_dir(b->dir, "base");
	b->ov = own_dir(b->dir, "ws");
	b->link = own_dir(b->dir, "link");
	git = own_dir(b->base, ".git");
	own_file(git, "config");
	free(own_dir(git, "hooks"));
	free(git);
	own_file(b->base, "test");
	b->layout = probe_layout(b->dir);
	toolchain_find(getenv("PATH"), getenv("HOME"), NULL, &b->tools);
}

static void
write_spec(const struct bed *b)
{
	struct profile p = {
		.tools = &b->tools, .root = ROOT_IN, .tree_src = ROOT_IN
	};
	char *path = path_join(b->link, "inner.json"), *text;
	json_t *j = json_object(), *show = json_array();
	struct sandbox_spec spec;
	struct err e;

	profile_inner(&p, false, &spec);
	spec.limits = (struct sandbox_limits){
		.data_bytes = 4096 * MIB, .file_bytes = 4096 * MIB, .procs = 512
	};
	/* As the worker does for protected files. */
	spec_mount_try(&spec, MOUNT_RO, ROOT_IN "/test", ROOT_IN "/test");
	for (size_t i = 0; i < b->tools.show.n; i++)
		json_array_append_new(show, json_string(b->tools.show.v[i]));
	json_object_set_new(j, "spec", spec_to_json(&spec));
	json_object_set_new(j, "show", show);
	text = json_text(j);
	if (file_write(path, text, strlen(text), 0644, &e) < 0)
		fatal("%s", e.text);
	free(text);
	free(path);
	json_decref(j);
	spec_clear(&spec);
}

static void
drop(struct bed *b, const char *self)
{
	struct err e;
	int r;

	if ((r = stage_open(&b->st, &e)) == 0 &&
	    (r = stage_add(&b->st, b->dir, &e)) == 0)
		r = stage_add(&b->st, self, &e);
	for (size_t i = 0; r == 0 && i < b->tools.show.n; i++)
		r = stage_add(&b->st, b->tools.show.v[i], &e);
	for (size_t i = 0; r == 0 && i < b->tools.mask.n; i++)
		r = stage_add(&b->st, b->tools.mask.v[i], &e);
	if (r == 0)
		r = stage_drop(&b->st, &e);
	if (r < 0)
		fatal("%s", e.text);
}

static void
outer_spec(struct bed *b, const char *self, struct sandbox_spec *ret)
{
	struct profile p = { .tools = &b->tools,
		.root = ROOT_IN,
		.link_src = b->link,
		.worker_src = self,
		.base_src = b->base };
	bool copy = b->layout == LAYOUT_COPY;

	p.tree_src = copy ? b->base : "@merged";
	profile_outer(&p, ret);
	stage_spec(&b->st, ret);
	if (copy)
		return;
	b->overlay.on_tmpfs = b->layout == LAYOUT_TMPFS;
	b->overlay.dir = stage_path(&b->st, b->ov);
	strv_add(&b->overlay.lowers, b->base);
	free(b->overlay.lowers.v[0]);
	b->overlay.lowers.v[0] = stage_path(&b->st, b->base);
}

static void
bare_outer(const struct bed *b, const char *self, struct strv *a)
{
	char *base = stage_path(&b->st, b->base);
	char *link = stage_path(&b->st, b->link);
	char *prog = stage_path(&b->st, self);

	strv_addl(a, "--unshare-all", "--die-with-parent", "--new-session",
	    "--hostname", "foray", (char *)NULL);
	bare_system(a);
	bare_empty(a);
	strv_addl(a, "--size", "2147483648", "--tmpfs", "/tmp", "--dir",
	    "/tmp/home", "--dir", "/tmp/cmd", (char *)NULL);
	bare_tools(a, &b->tools, &b->st);
	strv_addl(a, "--bind", base, ROOT_IN, "--ro-bind", link, IN_LINK,
	    "--ro-bind", prog, IN_WORKER, "--ro-bind", base, IN_BASE,
	    (char *)NULL);
	bare_seal(a, ROOT_IN);
	free(base);
	free(link);
	free(prog);
}

static void
run_inside(struct bed *b, struct sandbox_spec *spec, const char *rounds)
{
	struct sandbox_run run = { .timeout_ms = 600000 };
	struct sandbox_result res;
	struct buf out, errs;
	struct err e;

	buf_init(&out, 1 << 22);
	buf_init(&errs, 1 << 16);
	strv_addl(&spec->argv, "--inside", rounds, (char *)NULL);
	run.start.spec = spec;
	run.start.overlay = b->layout == LAYOUT_COPY ? NULL : &b->overlay;
	run.out = &out;
	run.err = &errs;
	if (sandbox_run(&run, &res, &e) < 0)
		fatal("%s", e.text);
	if (res.status != 0)
		fatal("inside: status %d: %s", res.status, buf_str(&errs));
	printf("%s", buf_str(&out));
	buf_clear(&out);
	buf_clear(&errs);
}

static void
run_outside(struct bed *b, const char *rounds)
{
	int n = (int)strtol(rounds, NULL, 10);
	char self[PATH_MAX];
	struct strv bare = { 0 };
	struct sandbox_spec spec;
	json_t *all = json_object();
	ssize_t len;
	double ms;

	len = readlink("/proc/self/exe", self, sizeof self - 1);
	if (len <= 0)
		fatal("/proc/self/exe: %s", strerror(errno));
	self[len] = '\0';
	write_spec(b);
	drop(b, self);
	outer_spec(b, self, &spec);
	bare_outer(b, self, &bare);
	strv_clear(&spec.argv);
	strv_add(&spec.argv, "/bin/true");
	for (int i = -WARM_UP; i < n; i++) {
		ms = time_product(
		    &spec, b->layout == LAYOUT_COPY ? NULL : &b->overlay);
		if (i >= 0)
			note(all, "outer", ms);
		ms = time_bare(&bare, LAYER_OUTER);
		if (i >= 0)
			note(all, "outer_bare", ms);
	}
	printf("%s\n", json_text(all));
	strv_clear(&spec.argv);
	strv_add(&spec.argv, IN_WORKER);
	run_inside(b, &spec, rounds);
}

int
main(int argc, char **argv)
{
	struct bed b = { 0 };
	int status = 1;
	pid_t pid;

	log_init("bench");
	if (argc == 3 && strcmp(argv[1], "--inside") == 0)
		return inside((int)strtol(argv[2], NULL, 10));
	if (argc != 2)
		fatal("usage: sandbox ROUNDS");
	bed_make(&b);
	/* A child, since the way down from root has no way back. */
	pid = fork();
	if (pid == 0) {
		run_outside(&b, argv[1]);
		return 0;
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (path_rmtree(b.dir, NULL) < 0)
		log_warn("%s could not be removed", b.dir);
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
