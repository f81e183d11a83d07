#include "common/compat.h"

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/netns.h"
#include "sandbox/profile.h"

#define SMALL_BYTES ((uint64_t)64 << 20)

#define HOME_IN "/tmp/home"
#define CACHE_IN HOME_IN "/.cache"
#define COMMANDS_TMP "/tmp/cmd"

/* bwrap takes 9000 arguments, and time for each mount grows with their
 * number. What is beyond is left to the gate and to the verification. */
#define MAX_GUARDED 1000

/* --- what every layer shows ------------------------------------------------
 */

static const struct profile_view *
view_of(const struct profile *p)
{
	return p->view != NULL ? p->view : profile_view_default();
}

/* inside: from within the outer layer, where all is in its place. */
static void
mounts(struct sandbox_spec *s, const struct sandbox_spec *from, bool inside)
{
	const struct sandbox_mount *m;

	for (size_t i = 0; i < from->n_mounts; i++) {
		m = &from->mounts[i];
		spec_mount(s, m->kind,
		    inside && m->kind == MOUNT_RO ? m->dst : m->src, m->dst);
	}
}

/* An empty machine; it comes before everything that may lie below it. */
static void
base(struct sandbox_spec *s, const struct profile_view *v)
{
	static const char *const empty[] = { "/run", "/home", "/root",
		"/var/tmp" };

	s->ptrace = v->def.ptrace && s->layer == LAYER_INNER;
	spec_mount(s, MOUNT_PROC, NULL, "/proc");
	spec_mount(s, MOUNT_DEV, NULL, "/dev");
	spec_tmpfs(s, "/dev/shm", v->def.shm_bytes);
	for (size_t i = 0; i < nitems(empty); i++)
		spec_tmpfs(s, empty[i], SMALL_BYTES);
}

/* Its own lists of accounts: the one that it runs as has no entry here, or one
 * with a home that is not there. The inner layer gets those of the outer one
 * with all of /etc. By itself such a file could neither be mounted nor be
 * mounted on: it has no name any more (bwrap removes it). */
static void
accounts(struct sandbox_spec *s, const struct profile_view *v, bool inside)
{
	for (size_t i = 0; inside && i < s->n_mounts; i++) {
		if (s->mounts[i].kind == MOUNT_RO &&
		    strcmp(s->mounts[i].dst, "/etc") == 0)
			return;
	}
	if (v->passwd != NULL)
		spec_mount(s, MOUNT_DATA, v->passwd, "/etc/passwd");
	if (v->group != NULL)
		spec_mount(s, MOUNT_DATA, v->group, "/etc/group");
}

static void
hide_at(struct sandbox_spec *s, const char *path, bool dir)
{
	if (!dir) {
		spec_mount(s, MOUNT_RO, "/dev/null", path);
		return;
	}
	spec_tmpfs(s, path, SMALL_BYTES);
	spec_mount(s, MOUNT_REMOUNT_RO, NULL, path);
}

/* The system and the toolchains. */
static void
tools(struct sandbox_spec *s, const struct profile *p, bool inside)
{
	const struct toolchain *t = p->tools;

	mounts(s, &view_of(p)->show, inside);
	mounts(s, &view_of(p)->late, inside);
	accounts(s, view_of(p), inside);
	if (t == NULL || !view_of(p)->def.toolchains)
		return;
	for (size_t i = 0; i < t->show.n; i++)
		spec_mount_try(s, MOUNT_RO, t->show.v[i], t->show.v[i]);
	/* A device on a mount without devices: it can't even be opened. */
	for (size_t i = 0; i < t->mask.n; i++)
		spec_mount(s, MOUNT_RO, "/dev/null", t->mask.v[i]);
	for (size_t i = 0; i < t->empty.n; i++)
		hide_at(s, t->empty.v[i], true);
}

static void
home(struct sandbox_spec *s, const struct profile *p, const char *cache)
{
	spec_mount(s, MOUNT_DIR, NULL, HOME_IN);
	if (view_of(p)->def.cache && cache != NULL)
		spec_mount(s, MOUNT_RW, cache, CACHE_IN);
}

/* The kernel lets no /proc be mounted within a layer whose own is covered
 * anywhere: only the innermost one's can be. */
static bool
shows(const struct sandbox_spec *s, const struct sandbox_mount *m)
{
	return m->kind == MOUNT_RO || m->kind == MOUNT_RW ||
	    m->kind == MOUNT_DATA ||
	    (m->kind == MOUNT_PROC && s->layer == LAYER_INNER);
}

/* Is there anything to be covered? What is in no mount is not there. */
static bool
is_visible(const struct sandbox_spec *s, const char *path)
{
	for (size_t i = 0; i < s->n_mounts; i++) {
		if (shows(s, &s->mounts[i]) &&
		    path_is_below(path, s->mounts[i].dst))
			return true;
	}
	return false;
}

/* In a copy of the tree it is left out, and a mount on what is not there would
 * leave an empty file behind. */
static bool
is_hidden(const struct sandbox_spec *s, const struct profile *p, bool live,
    const char *path)
{
	return is_visible(s, path) && (live || !path_is_below(path, p->root));
}

/* At each place where it can be seen: what is shown may stand at another path
 * than where it is. */
static void
hide_all(struct sandbox_spec *s, const struct profile *p, bool live,
    const struct strv *paths, bool dirs)
{
	const struct sandbox_spec *show = &view_of(p)->show;
	const char *rel;
	char *at;

	for (size_t i = 0; i < paths->n; i++) {
		if (is_hidden(s, p, live, paths->v[i]))
			hide_at(s, paths->v[i], dirs);
		for (size_t k = 0; k < show->n_mounts; k++) {
			if (show->mounts[k].kind != MOUNT_RO ||
			    strcmp(show->mounts[k].src, show->mounts[k].dst) ==
				0 ||
			    (rel = path_rel(
				 paths->v[i], show->mounts[k].src)) == NULL)
				continue;
			at = *rel != '\0' ? path_join(show->mounts[k].dst, rel)
					  : xstrdup(show->mounts[k].dst);
			hide_at(s, at, dirs);
			free(at);
		}
	}
}

static void
hide(struct sandbox_spec *s, const struct profile *p, bool live)
{
	hide_all(s, p, live, &view_of(p)->hide_dirs, true);
	hide_all(s, p, live, &view_of(p)->hide_files, false);
}

/* Nothing may be made beside the mounts: not in bwrap's own root, and not in
 * /dev, which is a tmpfs too. */
static void
seal(struct sandbox_spec *s, const struct profile *p, bool live)
{
	hide(s, p, live);
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

/* The person's modules can be read and not be added to: where more may be got,
 * or the profile has a place for them, they are copied from there. */
static void
go_env(struct sandbox_spec *s, const char *modules)
{
	char *value;

	if (!s->egress)
		strv_setenv(&s->env, "GOMODCACHE", modules);
	if (strpbrk(modules, "%?#|, ") != NULL)
		return; /* they mean something in an address */
	value = xasprintf("file://%s/cache/download,https://proxy.golang.org,"
			  "direct",
	    modules);
	strv_setenv(&s->env, "GOPROXY", value);
	free(value);
}

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
	if (t->go_modules != NULL)
		go_env(s, t->go_modules);
}

static void
environment(struct sandbox_spec *s, const struct profile *p)
{
	const struct profile_view *v = view_of(p);
	const struct toolchain *t = v->def.toolchains ? p->tools : NULL;
	const char *value, *eq;
	char *name;

	strv_setenv(&s->env, "PATH",
	    t != NULL && t->path != NULL
		? t->path
		: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	/* The tree may belong to another uid; its config names no program that
	 * `git status` runs. */
	strv_setenv(&s->env, "GIT_CONFIG_COUNT", "2");
	strv_setenv(&s->env, "GIT_CONFIG_KEY_0", "safe.directory");
	strv_setenv(&s->env, "GIT_CONFIG_VALUE_0", "*");
	strv_setenv(&s->env, "GIT_CONFIG_KEY_1", "core.fsmonitor");
	strv_setenv(&s->env, "GIT_CONFIG_VALUE_1", "false");
	/* It traces what it looks at, which the filter refuses. */
	if (!s->ptrace)
		strv_setenv(&s->env, "LSAN_OPTIONS", "detect_leaks=0");
	if (t != NULL)
		tool_env(s, t);
	for (size_t i = 0; i < v->def.env.n; i++) {
		eq = strchr(v->def.env.v[i], '=');
		name =
		    xstrndup(v->def.env.v[i], (size_t)(eq - v->def.env.v[i]));
		strv_setenv(&s->env, name, eq + 1);
		free(name);
	}
	for (size_t i = 0; i < v->def.pass_env.n; i++) {
		value = getenv(v->def.pass_env.v[i]);
		if (value != NULL && *value != '\0')
			strv_setenv(&s->env, v->def.pass_env.v[i], value);
	}
}

static void
egress(struct sandbox_spec *s, const struct profile *p)
{
	s->egress = p->egress;
	if (p->egress)
		netns_proxy_env(&s->env, p->own_hosts);
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

/* What of the repository may not change, so that it can still be worked with:
 * what git runs on its own. */
static void
guard_git(struct sandbox_spec *s, const char *src, const char *root)
{
	guard(s, src, root, ".git/config");
	guard(s, src, root, ".git/hooks");
}

void
profile_outer(const struct profile *p, struct sandbox_spec *ret)
{
	const struct profile_view *v = view_of(p);

	spec_init(ret, LAYER_OUTER);
	base(ret, v);
	spec_tmpfs(ret, "/tmp", v->def.tmp_bytes);
	spec_mount(ret, MOUNT_DIR, NULL, HOME_IN);
	spec_mount(ret, MOUNT_DIR, NULL, COMMANDS_TMP);
	tools(ret, p, false);
	spec_mount(ret, MOUNT_RW, p->tree_src, p->root);
	spec_mount(ret, MOUNT_RO, p->link_src, IN_LINK);
	spec_mount(ret, MOUNT_RO, p->worker_src, IN_WORKER);
	if (p->lib_src != NULL)
		spec_mount(ret, MOUNT_RO, p->lib_src, IN_LIB);
	if (p->base_src != NULL)
		spec_mount(ret, MOUNT_RO, p->base_src, IN_BASE);
	if (p->up_src != NULL)
		spec_mount(ret, MOUNT_RO, p->up_src, IN_UP);
	if (v->def.cache && p->cache_src != NULL)
		spec_mount(ret, MOUNT_RW, p->cache_src, IN_CACHE);
	seal(ret, p, false);
	environment(ret, p);
	strv_add(&ret->argv, IN_WORKER);
	cwd(ret, p);
}

void
profile_inner(const struct profile *p, bool fresh_tmp, struct sandbox_spec *ret)
{
	const struct profile_view *v = view_of(p);
	bool merged =
	    p->tree_src != NULL && strcmp(p->tree_src, "@merged") == 0;
	const char *src = merged ? p->tree_src : p->root;

	spec_init(ret, LAYER_INNER);
	base(ret, v);
	if (fresh_tmp)
		spec_tmpfs(ret, "/tmp", v->def.tmp_bytes);
	else
		spec_mount(ret, MOUNT_RW, COMMANDS_TMP, "/tmp");
	home(ret, p, p->cache_src != NULL ? IN_CACHE : NULL);
	tools(ret, p, true);
	spec_mount(ret, MOUNT_RW, src, p->root);
	guard_git(ret, src, p->root);
	guarded(ret, p, src);
	seal(ret, p, false);
	egress(ret, p);
	environment(ret, p);
	ret->limits = v->def.limits;
	cwd(ret, p);
}

static void
direct_tree(const struct profile *p, struct sandbox_spec *ret)
{
	spec_mount(ret, MOUNT_RW, p->tree_src, p->root);
	for (size_t i = 0; p->pinned != NULL && i < p->pinned->n; i++)
		spec_mount_try(ret, MOUNT_RW, p->pinned->v[i], p->pinned->v[i]);
	if (strcmp(p->tree_src, "@merged") == 0)
		guard_git(ret, p->tree_src, p->root);
	else
		guard(ret, p->tree_src, p->root, ".git");
	guarded(ret, p, p->tree_src);
}

void
profile_direct(const struct profile *p, struct sandbox_spec *ret)
{
	const struct profile_view *v = view_of(p);

	spec_init(ret, LAYER_INNER);
	base(ret, v);
	spec_tmpfs(ret, "/tmp", v->def.tmp_bytes);
	home(ret, p, p->cache_src);
	tools(ret, p, false);
	for (size_t i = 0; p->shown != NULL && i < p->shown->n; i++)
		spec_mount(ret, MOUNT_RO, p->shown->v[i], p->shown->v[i]);
	for (size_t i = 0; i < v->write.n; i++)
		spec_mount(ret, MOUNT_RW, v->write.v[i], v->write.v[i]);
	direct_tree(p, ret);
	seal(ret, p, strcmp(p->tree_src, "@merged") != 0);
	egress(ret, p);
	environment(ret, p);
	ret->limits = v->def.limits;
	cwd(ret, p);
}
