#include "common/compat.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/spawn.h"
#include "sandbox/cgroup.h"
#include "sandbox/probe.h"
#include "sandbox/probe_text.h"
#include "sandbox/seccomp.h"

struct list {
	struct probe_item *items;
	size_t n;
};

static struct probe_item *
add(struct list *l, const char *name)
{
	struct probe_item *it = &l->items[l->n++];

	memset(it, 0, sizeof *it);
	it->name = name;
	return it;
}

void
probe_put(char *dst, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(dst, size, fmt, ap);
	va_end(ap);
}

static void
kernel(struct list *l)
{
	struct probe_item *it = add(l, "kernel");
	unsigned major = 0, minor = 0;
	struct utsname u;

	if (uname(&u) < 0)
		return;
	detail(it, "%s %s", u.release, u.machine);
	(void)sscanf(u.release, "%u.%u", &major, &minor);
	if (major > 5 || (major == 5 && minor >= 11))
		return;
	it->state = PROBE_DEGRADED;
	cost(it,
	    "no overlays for ordinary users before Linux 5.11: each worker gets a copy of the tree");
	remedy(it, "a kernel of 5.11 or later");
}

/* First line of what `name --version` says, or why there is none. */
static bool
version_of(const char *name, char *dst, size_t size)
{
	struct strv argv = { 0 };
	struct spawn s = { .argv = &argv, .timeout_ms = 5000 };
	struct spawn_result res;
	struct buf out;
	char *path = NULL;
	bool ok;

	if (path_system(name, &path) < 0)
		return false;
	strv_addl(&argv, path, "--version", (char *)NULL);
	free(path);
	buf_init(&out, 4096);
	s.out = &out;
	s.err = &out;
	ok = spawn_run(&s, &res, NULL) == 0;
	if (!ok)
		probe_put(dst, size, "%s was not found", name);
	else if (ok && res.status != 0)
		probe_put(dst, size, "%s does not run: ", name);
	ok = ok && res.status == 0;
	size -= strlen(dst);
	probe_put(dst + strlen(dst), size, "%.*s",
	    (int)strcspn(buf_str(&out), "\n"), buf_str(&out));
	buf_clear(&out);
	strv_clear(&argv);
	return ok;
}

static void
program(struct list *l, const char *what, const char *name, const char *package,
    enum probe_state lack, const char *costs)
{
	struct probe_item *it = add(l, what);

	if (version_of(name, it->detail, sizeof it->detail))
		return;
	it->state = lack;
	cost(it, "%s", costs);
	remedy(it, "sudo apt-get install %s", package);
}

static void
nested(struct list *l)
{
	struct probe_item *it = add(l, "nested sandbox");
	struct err e;

	if (probe_sandbox(&e) == 0) {
		detail(it, "an outer and an inner sandbox were started%s",
		    geteuid() == 0 ? " (as root: under uid 61184)" : "");
		return;
	}
	it->state = PROBE_MISSING;
	detail(it, "it does not work");
	cost(it, "no sandbox, so no run");
	remedy(it, "%s", e.text);
}

static void
filter(struct list *l)
{
	struct probe_item *it = add(l, "seccomp");
	const struct seccomp_want want = { .layer = LAYER_INNER };
	const void *program_bytes;
	size_t len;
	struct err e;

	if (seccomp_program(&want, &program_bytes, &len, &e) < 0) {
		it->state = PROBE_MISSING;
		detail(it, "%s", e.text);
		cost(it, "no sandbox, so no run");
		remedy(it, "sudo apt-get install libseccomp2");
		return;
	}
	detail(it, "the filter has %zu instructions", len / 8);
}

/* The nearest directory that is there, for a path that need not be. */
static char *
existing(const char *path)
{
	char *dir = path_normal(path), *up;

	while (access(dir, F_OK) < 0 && strcmp(dir, "/") != 0 &&
	    strcmp(dir, ".") != 0) {
		up = path_dir(dir);
		free(dir);
		dir = up;
	}
	return dir;
}

/* Root may write anywhere, so it is told; errno says why. */
static bool
holds_directories(const char *dir)
{
	char *path = path_join(dir, ".foray-probe-XXXXXX");
	bool ok = mkdtemp(path) != NULL;
	int saved = errno;

	if (ok)
		(void)rmdir(path);
	free(path);
	errno = saved;
	return ok;
}

static void
workspace(struct list *l, const char *scratch)
{
	struct probe_item *it = add(l, "workspace");
	char *dir = existing(scratch);
	enum layout layout;

	if (access(dir, W_OK | X_OK) < 0 || !holds_directories(dir)) {
		it->state = PROBE_MISSING;
		detail(it, "%s can't be made: %s: %s", scratch, dir,
		    strerror(errno));
		cost(it, "no workspace, so no run");
		remedy(it,
		    "a HOME that is there and yours, or XDG_CACHE_HOME=DIR");
		free(dir);
		return;
	}
	layout = probe_layout(dir);
	detail(it, "%s in %s", layout_str(layout), dir);
	if (layout != LAYOUT_OVERLAY) {
		it->state = PROBE_DEGRADED;
		cost(it,
		    layout == LAYOUT_TMPFS
			? "what workers write is kept in memory"
			: "a full copy of the tree for each worker: slow starts, much disk");
		remedy(it,
		    "a scratch directory on ext4, xfs or btrfs: foray-host --scratch DIR, or XDG_CACHE_HOME=DIR");
	}
	free(dir);
}

static void
cgroup(struct list *l)
{
	struct probe_item *it = add(l, "cgroup");
	struct cgroup_site s;

	cgroup_find(&s);
	if (s.kind != CGROUP_NONE) {
		detail(it, "%s, ours to divide: memory, processes%s%s",
		    cgroup_kind_str(s.kind),
		    s.dir[CGROUP_CPU] != NULL ? ", processor" : "",
		    s.dir[CGROUP_FREEZER] != NULL ? ", freezer" : "");
	} else {
		it->state = PROBE_DEGRADED;
		detail(it, "none that we may divide: %.200s", s.why);
		cost(it,
		    "memory and processes are limited for each process (rlimits), not for a worker as a whole: programs with a sanitizer need \"process_memory\": \"unlimited\" (--profile debug); nothing can be frozen");
		remedy(it,
		    "with systemd: start `foray run` or `foray-host` with systemd-run --user --scope -p Delegate=yes before it; in a container: mount /sys/fs/cgroup writable");
	}
	cgroup_site_clear(&s);
}

static void
nofile(struct list *l)
{
	struct probe_item *it = add(l, "open files");
	struct rlimit rl = { 0 };

	(void)getrlimit(RLIMIT_NOFILE, &rl);
	if (rl.rlim_max == RLIM_INFINITY)
		detail(it, "no limit");
	else
		detail(it, "%" PRIu64 " at most", (uint64_t)rl.rlim_max);
	if (rl.rlim_max >= 4096)
		return;
	it->state = PROBE_DEGRADED;
	cost(it, "about %" PRIu64 " workers on this machine at most",
	    (uint64_t)rl.rlim_max / 8);
	remedy(it,
	    "echo '* hard nofile 65536' | sudo tee /etc/security/limits.d/foray.conf, then log in again");
}

static void
pid_max(struct list *l)
{
	struct probe_item *it = add(l, "process numbers");
	unsigned long long max = 0;
	struct buf b;

	buf_init(&b, 64);
	if (file_read("/proc/sys/kernel/pid_max", false, &b, NULL) == 0)
		max = strtoull(buf_str(&b), NULL, 10);
	buf_clear(&b);
	detail(it, "%llu, about 6 for each worker", max);
	if (max >= 4096)
		return;
	it->state = PROBE_DEGRADED;
	cost(it, "about %llu workers on this machine at most", max / 6);
	remedy(it, "sudo sysctl -w kernel.pid_max=32768");
}

size_t
probe_all(const char *scratch_dir, struct probe_item ret[PROBE_MAX])
{
	struct list l = { .items = ret };

	kernel(&l);
	program(&l, "bubblewrap", "bwrap", "bubblewrap", PROBE_MISSING,
	    "no sandbox, so no run");
	probe_userns(add(&l, "user namespaces"));
	probe_apparmor(add(&l, "apparmor"));
	probe_proc(add(&l, "new /proc"));
	nested(&l);
	filter(&l);
	probe_landlock(add(&l, "landlock"));
	probe_container(add(&l, "container mode"));
	probe_shm(add(&l, "/dev/shm"));
	workspace(&l, scratch_dir);
	cgroup(&l);
	program(
	    &l, "git", "git", "git", PROBE_MISSING, "no workspace, so no run");
	program(&l, "ripgrep", "rg", "ripgrep", PROBE_DEGRADED,
	    "the grep tool is slower");
	nofile(&l);
	pid_max(&l);
	return l.n;
}

void
probe_program(const char *name, struct probe_item *ret)
{
	char *path = NULL;
	struct err e;

	memset(ret, 0, sizeof *ret);
	ret->name = name;
	if (path_program(name, &path, &e) == 0) {
		detail(ret, "%s", path);
		free(path);
		return;
	}
	ret->state = PROBE_MISSING;
	detail(ret, "%s", e.text);
	cost(ret, "no workers");
	remedy(ret, "make install puts all programs in place");
}

void
probe_print(const struct probe_item *it)
{
	static const char *const state[] = { "ok", "MISSING", "reduced" };

	(void)printf("%-18s %-8s %s\n", it->name, state[it->state], it->detail);
	if (it->cost[0] != '\0')
		(void)printf("%-18s %-8s cost: %s\n", "", "", it->cost);
	if (it->remedy[0] != '\0')
		(void)printf("%-18s %-8s remedy: %s\n", "", "", it->remedy);
}
