#include "common/compat.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/netns.h"
#include "sandbox/profile.h"

#define MIB ((uint64_t)1 << 20)
#define TMP_BYTES (2048 * MIB)
#define SHM_BYTES (512 * MIB)
#define SMALL_BYTES (64 * MIB)

#define HOME_IN "/tmp/home"
#define COMMANDS_TMP "/tmp/cmd"

/* bwrap takes 9000 arguments, and time for each mount grows with their
 * number. What is beyond is left to the gate and to the verification. */
#define MAX_GUARDED 1000

/* --- what every layer shows ------------------------------------------------
 */

static void
system_dir(struct sandbox_spec *s, const char *path)
{
	char target[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (lstat(path, &st) < 0)
		return;
	if (S_ISLNK(st.st_mode)) {
		n = readlink(path, target, sizeof target - 1);
		if (n <= 0)
			return;
		target[n] = '\0';
		spec_mount(s, MOUNT_SYMLINK, target, path);
	} else if (S_ISDIR(st.st_mode)) {
		spec_mount(s, MOUNT_RO, path, path);
	}
}

/* The system, an empty machine around it. The tmpfs come before everything
 * that may lie below them. */
static void
base(struct sandbox_spec *s)
{
	static const char *const dirs[] = { "/usr", "/etc", "/bin", "/sbin",
		"/lib", "/lib32", "/lib64", "/libx32", "/opt" };
	static const char *const empty[] = { "/run", "/home", "/root",
		"/var/tmp" };

	for (size_t i = 0; i < nitems(dirs); i++)
		system_dir(s, dirs[i]);
	spec_mount(s, MOUNT_PROC, NULL, "/proc");
	spec_mount(s, MOUNT_DEV, NULL, "/dev");
	spec_tmpfs(s, "/dev/shm", SHM_BYTES);
	for (size_t i = 0; i < nitems(empty); i++)
		spec_tmpfs(s, empty[i], SMALL_BYTES);
}

static void
tools(struct sandbox_spec *s, const struct toolchain *t)
{
	if (t == NULL)
		return;
	for (size_t i = 0; i < t->show.n; i++)
		spec_mount_try(s, MOUNT_RO, t->show.v[i], t->show.v[i]);
	/* A device on a mount without devices: it can't even be opened. */
	for (size_t i = 0; i < t->mask.n; i++)
		spec_mount(s, MOUNT_RO, "/dev/null", t->mask.v[i]);
}

/* Nothing may be made beside the mounts: not in bwrap's own root, and not in
 * /dev, which is a tmpfs too. */
static void
seal(struct sandbox_spec *s)
{
	spec_mount(s, MOUNT_REMOUNT_RO, NULL, "/dev");
	spec_mount(s, MOUNT_REMOUNT_RO, NULL, "/");
}

/* --- environment -----------------------------------------------------------
 */

/* Where programs of a toolchain look for the rest of it, since HOME is another
 * one inside. */
static const struct {
	const char *base; /* last component of a directory shown */
	const char *name;
} tool_homes[] = {
	{ ".pyenv", "PYENV_ROOT" },
	{ ".rbenv", "RBENV_ROOT" },
	{ ".nodenv", "NODENV_ROOT" },
	{ ".asdf", "ASDF_DATA_DIR" },
	{ ".cargo", "CARGO_HOME" },
	{ ".rustup", "RUSTUP_HOME" },
};

static void
tool_env(struct sandbox_spec *s, const struct toolchain *t)
{
	char *up;

	for (size_t i = 0; i < t->show.n; i++) {
		for (size_t k = 0; k < nitems(tool_homes); k++) {
			if (strcmp(path_base(t->show.v[i]),
				tool_homes[k].base) == 0)
				strv_setenv(
				    &s->env, tool_homes[k].name, t->show.v[i]);
		}
		/* what "pip install --user" put there */
		if (text_ends(t->show.v[i], "/.local/lib")) {
			up = path_dir(t->show.v[i]);
			strv_setenv(&s->env, "PYTHONUSERBASE", up);
			free(up);
		}
	}
}

static void
environment(struct sandbox_spec *s, const struct toolchain *t)
{
	static const char *const passed[] = { "LC_ALL", "TZ" };
	static const struct {
		const char *name, *value;
	} fixed[] = {
		{ "HOME", HOME_IN },
		{ "USER", "foray" },
		{ "LOGNAME", "foray" },
		{ "SHELL", "/bin/sh" },
		{ "TERM", "dumb" },
		{ "TMPDIR", "/tmp" },
		{ "PAGER", "cat" },
		{ "GIT_PAGER", "cat" },
		{ "GIT_TERMINAL_PROMPT", "0" },
		{ "GIT_AUTHOR_NAME", "foray" },
		{ "GIT_AUTHOR_EMAIL", "foray@localhost" },
		{ "GIT_COMMITTER_NAME", "foray" },
		{ "GIT_COMMITTER_EMAIL", "foray@localhost" },
		/* the tree may belong to another uid */
		{ "GIT_CONFIG_COUNT", "1" },
		{ "GIT_CONFIG_KEY_0", "safe.directory" },
		{ "GIT_CONFIG_VALUE_0", "*" },
	};
	const char *v;

	strv_setenv(&s->env, "PATH",
	    t != NULL && t->path != NULL
		? t->path
		: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	for (size_t i = 0; i < nitems(fixed); i++)
		strv_setenv(&s->env, fixed[i].name, fixed[i].value);
	v = getenv("LANG");
	strv_setenv(&s->env, "LANG", v != NULL && *v != '\0' ? v : "C.UTF-8");
	for (size_t i = 0; i < nitems(passed); i++) {
		if ((v = getenv(passed[i])) != NULL)
			strv_setenv(&s->env, passed[i], v);
	}
	if (t != NULL)
		tool_env(s, t);
}

static void
egress(struct sandbox_spec *s, const struct profile *p)
{
	s->egress = p->egress;
	if (p->egress)
		netns_proxy_env(&s->env);
}

/* --- the tree --------------------------------------------------------------
 */

static void
cwd(struct sandbox_spec *s, const struct profile *p)
{
	spec_set_cwd(s, p->workdir != NULL ? p->workdir : p->root);
}

/* Read-only over itself. Optional, and below a writable mount: start.h leaves
 * it out when a symbolic link leads to it. */
static void
guard(
    struct sandbox_spec *s, const char *src, const char *root, const char *rel)
{
	char *from = path_join(src, rel), *at = path_join(root, rel);

	spec_mount_try(s, MOUNT_RO, from, at);
	free(from);
	free(at);
}

static void
guarded(struct sandbox_spec *s, const struct profile *p, const char *src)
{
	const struct strv *g = p->guarded;
	const char *rel;

	for (size_t i = 0; g != NULL && i < g->n && i < MAX_GUARDED; i++) {
		rel = g->v[i];
		if (rel[0] == '/')
			rel = path_rel(rel, p->root);
		if (rel != NULL && *rel != '\0')
			guard(s, src, p->root, rel);
	}
}

void
profile_outer(const struct profile *p, struct sandbox_spec *ret)
{
	spec_init(ret, LAYER_OUTER);
	base(ret);
	spec_tmpfs(ret, "/tmp", TMP_BYTES);
	spec_mount(ret, MOUNT_DIR, NULL, HOME_IN);
	spec_mount(ret, MOUNT_DIR, NULL, COMMANDS_TMP);
	tools(ret, p->tools);
	spec_mount(ret, MOUNT_RW, p->tree_src, p->root);
	spec_mount(ret, MOUNT_RO, p->link_src, IN_LINK);
	spec_mount(ret, MOUNT_RO, p->worker_src, IN_WORKER);
	if (p->base_src != NULL)
		spec_mount(ret, MOUNT_RO, p->base_src, IN_BASE);
	if (p->up_src != NULL)
		spec_mount(ret, MOUNT_RO, p->up_src, IN_UP);
	seal(ret);
	environment(ret, p->tools);
	strv_add(&ret->argv, IN_WORKER);
	cwd(ret, p);
}

void
profile_inner(const struct profile *p, bool fresh_tmp, struct sandbox_spec *ret)
{
	bool merged =
	    p->tree_src != NULL && strcmp(p->tree_src, "@merged") == 0;
	const char *src = merged ? p->tree_src : p->root;

	spec_init(ret, LAYER_INNER);
	base(ret);
	if (fresh_tmp)
		spec_tmpfs(ret, "/tmp", TMP_BYTES);
	else
		spec_mount(ret, MOUNT_RW, COMMANDS_TMP, "/tmp");
	spec_mount(ret, MOUNT_DIR, NULL, HOME_IN);
	tools(ret, p->tools);
	spec_mount(ret, MOUNT_RW, src, p->root);
	guard(ret, src, p->root, ".git/config");
	guard(ret, src, p->root, ".git/hooks");
	guarded(ret, p, src);
	seal(ret);
	environment(ret, p->tools);
	egress(ret, p);
	cwd(ret, p);
}

void
profile_direct(const struct profile *p, struct sandbox_spec *ret)
{
	spec_init(ret, LAYER_INNER);
	base(ret);
	spec_tmpfs(ret, "/tmp", TMP_BYTES);
	spec_mount(ret, MOUNT_DIR, NULL, HOME_IN);
	tools(ret, p->tools);
	spec_mount(ret, MOUNT_RW, p->tree_src, p->root);
	guard(ret, p->tree_src, p->root, ".git");
	guarded(ret, p, p->tree_src);
	seal(ret);
	environment(ret, p->tools);
	egress(ret, p);
	cwd(ret, p);
}
