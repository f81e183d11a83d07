/*
 * bench_bed.h - the outer sandbox as the host makes it, and bare bwrap with the
 * same flags and mounts written out, for measuring one against the other.
 */
#ifndef TESTS_BENCH_BENCH_BED_H
#define TESTS_BENCH_BENCH_BED_H

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
#define MIB ((uint64_t)1 << 20)

static inline double
now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static inline void
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

static inline double
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

static inline pid_t
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

static inline void
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

static inline double
time_bare(const struct strv *args, enum sandbox_layer layer)
{
	double start = now_ms();

	wait_bare(spawn_bare(args, layer));
	return now_ms() - start;
}

/* What profile.c shows of a machine, by hand. */
static inline void
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

static inline void
bare_empty(struct strv *a)
{
	strv_addl(a, "--size", "536870912", "--tmpfs", "/dev/shm", "--size",
	    "67108864", "--tmpfs", "/run", "--size", "67108864", "--tmpfs",
	    "/home", "--size", "67108864", "--tmpfs", "/root", "--size",
	    "67108864", "--tmpfs", "/var/tmp", (char *)NULL);
}

/* Toolchains depend on the machine: the same as in the specification. */
static inline void
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

static inline void
bare_seal(struct strv *a, const char *cwd)
{
	strv_addl(a, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir",
	    cwd, (char *)NULL);
}

static inline void
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

static inline void
bare_short(struct strv *a)
{
	strv_addl(a, "--unshare-all", "--unshare-user", "--disable-userns",
	    "--die-with-parent", "--new-session", (char *)NULL);
	bare_system(a);
	strv_addl(a, "--tmpfs", "/tmp", "--tmpfs", "/run", "--bind", ROOT_IN,
	    ROOT_IN, "--chdir", ROOT_IN, (char *)NULL);
}

/* --- outside: the host --------------------------------------------------- */

struct bed {
	char *dir, *base, *ov, *link;
	enum layout layout;
	struct toolchain tools;
	struct stage st;
	struct overlay overlay;
};

static inline char *
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

static inline void
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

static inline void
bed_make(struct bed *b)
{
	char *git;

	b->dir = path_join(getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp",
	    "foray-bench-XXXXXX");
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

static inline void
drop(struct bed *b, const char *self, const char *more)
{
	struct err e;
	int r;

	if ((r = stage_open(&b->st, &e)) == 0 &&
	    (r = stage_add(&b->st, b->dir, &e)) == 0)
		r = stage_add(&b->st, self, &e);
	if (r == 0 && more != NULL)
		r = stage_add(&b->st, more, &e);
	for (size_t i = 0; r == 0 && i < b->tools.show.n; i++)
		r = stage_add(&b->st, b->tools.show.v[i], &e);
	for (size_t i = 0; r == 0 && i < b->tools.mask.n; i++)
		r = stage_add(&b->st, b->tools.mask.v[i], &e);
	if (r == 0)
		r = stage_drop(&b->st, &e);
	if (r < 0)
		fatal("%s", e.text);
}

static inline void
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
	strv_clear(&b->overlay.lowers);
	strv_add(&b->overlay.lowers, b->base);
	free(b->overlay.lowers.v[0]);
	b->overlay.lowers.v[0] = stage_path(&b->st, b->base);
}

static inline void
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

#endif
