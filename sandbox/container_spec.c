/* container_spec.c - specs, places and words of the container backend. */
#include "common/compat.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/container.h"
#include "sandbox/landlock.h"
#include "sandbox/notify.h"
#include "sandbox/stage.h"
#include "sandbox/start.h"
#include "sandbox/why.h"

#define ROOT_CACHE "/var/cache/foray"
#define PROBE_MS 20000

#define WARNING \
	"--sandbox container: one layer less. The container around foray is " \
	"the wall; inside it stand Landlock, a system call filter and limits. " \
	"NOT confined: the list of processes, names and sizes of files, " \
	"memory of a worker as a whole. Programs " \
	"have no sockets, not to 127.0.0.1 either (tests with servers fail), " \
	"and the tree stands at another path"
#define WARNING_OLD \
	". This kernel's Landlock is old (before Linux 6.12): programs can " \
	"also end other processes of their user"

#define WARNING_DEAF \
	". System calls can't be listened to here (an old kernel, or Yama's " \
	"ptrace_scope above 1): programs can change modes and times of files " \
	"of their user"

/* --- specs -----------------------------------------------------------------
 */

static void
set(char **at, const char *to)
{
	char *copy = to != NULL ? xstrdup(to) : NULL;

	free(*at);
	*at = copy;
}

/* A read-only part of a writable tree. */
static bool
is_guard(const struct sandbox_spec *s, const struct sandbox_mount *m)
{
	if (m->kind != MOUNT_RO || !m->optional)
		return false;
	for (size_t i = 0; i < s->n_mounts; i++) {
		if (s->mounts[i].kind == MOUNT_RW &&
		    path_is_below(m->src, s->mounts[i].src))
			return true;
	}
	return false;
}

/* An empty directory over one that is not to be seen (profile.c). */
static bool
is_hiding(const struct sandbox_spec *s, size_t i)
{
	const struct sandbox_mount *m = &s->mounts[i];

	return m->kind == MOUNT_TMPFS && i + 1 < s->n_mounts &&
	    m[1].kind == MOUNT_REMOUNT_RO && strcmp(m[1].dst, m->dst) == 0;
}

static bool
is_of_use(const struct sandbox_spec *s, const struct sandbox_mount *m,
    enum container_guards guards)
{
	switch (m->kind) {
	case MOUNT_RO:
		return guards == CONTAINER_KEEP_GUARDS || !is_guard(s, m);
	case MOUNT_RW:
		return strcmp(m->dst, "/tmp") != 0;
	case MOUNT_PROC:
	case MOUNT_DEV:
	case MOUNT_DATA: /* the machine's own */
		return true;
	case MOUNT_TMPFS:
	case MOUNT_DIR:
	case MOUNT_SYMLINK:
	case MOUNT_REMOUNT_RO:
		break;
	}
	return false;
}

void
container_spec(
    struct sandbox_spec *s, const char *tmp, enum container_guards guards)
{
	struct sandbox_mount *kept, *m;
	char *home = path_join(tmp, "home");
	size_t n = 0;

	/* Not in place: is_guard() goes over all of them. */
	kept = xcalloc(s->n_mounts + 1, sizeof *kept);
	for (size_t i = 0; i < s->n_mounts; i++) {
		m = &s->mounts[i];
		if (is_hiding(s, i)) {
			kept[n++] = (struct sandbox_mount){
				.kind = MOUNT_RO,
				.src = xstrdup("/dev/null"),
				.dst = xstrdup(m->dst),
			};
			continue;
		}
		if (!is_of_use(s, m, guards))
			continue;
		kept[n] = *m;
		if (m->kind == MOUNT_DATA) {
			kept[n++] = (struct sandbox_mount){
				.kind = MOUNT_RO,
				.src = xstrdup(m->dst),
				.dst = xstrdup(m->dst),
			};
			continue;
		}
		kept[n].src = m->src != NULL ? xstrdup(m->src) : NULL;
		kept[n].dst = xstrdup(m->dst);
		/* A hidden file is named by where it is hidden. */
		if (m->src != NULL && strcmp(m->src, "/dev/null") != 0)
			set(&kept[n].dst, m->src);
		n++;
	}
	for (size_t i = 0; i < s->n_mounts; i++) {
		free(s->mounts[i].src);
		free(s->mounts[i].dst);
	}
	free(s->mounts);
	s->mounts = kept;
	s->n_mounts = n;
	spec_mount(s, MOUNT_RW, tmp, tmp);
	s->backend = BACKEND_CONTAINER;
	strv_setenv(&s->env, "HOME", home);
	strv_setenv(&s->env, "TMPDIR", tmp);
	/* Nothing may be traced here, whatever the profile: profile.c. */
	if (strv_getenv(&s->env, "LSAN_OPTIONS") == NULL)
		strv_setenv(&s->env, "LSAN_OPTIONS", "detect_leaks=0");
	free(home);
}

static void
move(char **path, const char *from, const char *to)
{
	const char *rel;
	char *there;

	if (*path == NULL || (rel = path_rel(*path, from)) == NULL)
		return;
	there = *rel != '\0' ? path_join(to, rel) : xstrdup(to);
	free(*path);
	*path = there;
}

void
container_move(struct sandbox_spec *s, const char *from, const char *to)
{
	char *value, *entry;

	for (size_t i = 0; i < s->n_mounts; i++) {
		move(&s->mounts[i].src, from, to);
		move(&s->mounts[i].dst, from, to);
	}
	for (size_t i = 0; i < s->fixed.n; i++)
		move(&s->fixed.v[i], from, to);
	move(&s->cwd, from, to);
	for (size_t i = 0; i < s->env.n; i++) {
		value = strchr(s->env.v[i], '=');
		if (value == NULL || path_rel(value + 1, from) == NULL)
			continue;
		value = xstrdup(value + 1);
		move(&value, from, to);
		s->env.v[i][strcspn(s->env.v[i], "=")] = '\0';
		entry = xasprintf("%s=%s", s->env.v[i], value);
		free(s->env.v[i]);
		s->env.v[i] = entry;
		free(value);
	}
}

/* --- places ----------------------------------------------------------------
 */

static int
own_dir(const char *path, struct err *e)
{
	uid_t uid = stage_uid();

	if ((mkdir(path, 0700) < 0 && errno != EEXIST) ||
	    (geteuid() == 0 && lchown(path, uid, uid) < 0))
		return err_set(
		    e, -errno, "make directory %s: %s", path, strerror(errno));
	return 0;
}

int
container_make_tmp(const char *tmp, struct err *e)
{
	char *home = path_join(tmp, "home");
	int r;

	if ((r = own_dir(tmp, e)) == 0)
		r = own_dir(home, e);
	free(home);
	return r;
}

int
container_drop(struct err *e)
{
	struct stage st = { .active = geteuid() == 0 };
	int r;

	r = stage_drop(&st, e);
	if (r < 0)
		return err_set(e, ERR_SANDBOX,
		    "root here may not become another uid (no CAP_SETUID and "
		    "CAP_SETGID), and nothing that foray runs may be root. "
		    "Remedy: run foray as an ordinary user (docker run --user "
		    "1000, runAsUser in a pod), or add those capabilities");
	return 0;
}

bool
container_is_reachable(const char *path)
{
	char *dir = path_normal(path), *up;
	struct stat st;
	bool open = true;

	while (open && strcmp(dir, "/") != 0 && strcmp(dir, ".") != 0) {
		/* What is not there yet will be made so. */
		open = stat(dir, &st) < 0 ? errno == ENOENT
					  : (st.st_mode & S_IXOTH) != 0;
		up = path_dir(dir);
		free(dir);
		dir = up;
	}
	free(dir);
	return open;
}

void
container_tools(struct toolchain *t, struct strv *ret_dropped)
{
	struct strv show = { 0 };
	struct buf b;
	char *dir;
	size_t n;

	if (geteuid() != 0)
		return;
	for (size_t i = 0; i < t->show.n; i++)
		strv_add(
		    container_is_reachable(t->show.v[i]) ? &show : ret_dropped,
		    t->show.v[i]);
	strv_clear(&t->show);
	t->show = show;
	if (t->go_modules != NULL && !container_is_reachable(t->go_modules)) {
		free(t->go_modules);
		t->go_modules = NULL;
		strv_clear(&t->empty);
	}
	buf_init(&b, BUF_NOMAX);
	for (const char *p = t->path; p != NULL && *p != '\0';
	     p += n + (p[n] == ':')) {
		n = strcspn(p, ":");
		dir = xstrndup(p, n);
		if (container_is_reachable(dir))
			(void)buf_printf(&b, "%s%s", b.len > 0 ? ":" : "", dir);
		free(dir);
	}
	if (t->path != NULL) {
		free(t->path);
		t->path = xstrdup(buf_str(&b));
	}
	buf_clear(&b);
}

int
container_cache(char **ret, struct err *e)
{
	char *dir = NULL;
	int r;

	if ((r = path_cache_dir(&dir, e)) < 0)
		return r;
	if (geteuid() != 0) {
		*ret = dir;
		return 0;
	}
	if (!container_is_reachable(dir)) {
		free(dir);
		dir = xstrdup(ROOT_CACHE);
	}
	r = path_mkdirs(dir, 0711, e);
	if (r == 0 && !container_is_reachable(dir))
		r = err_set(e, ERR_SANDBOX,
		    "uid %d can't reach %s: name another directory with "
		    "XDG_CACHE_HOME",
		    SANDBOX_UID, dir);
	if (r < 0)
		free(dir);
	else
		*ret = dir;
	return r;
}

/* --- what it is worth ------------------------------------------------------
 */

int
container_probe(struct err *e)
{
	/* 3: it could read what it is not shown. */
	static const char *const shown[] = { "/usr", "/bin", "/lib", "/lib64",
		"/etc" };
	static const char script[] =
	    "cat \"$0\" >/dev/null 2>&1 && exit 3; : >\"$TMPDIR/new\"";
	char dir[] = "/tmp/foray-probe-XXXXXX";
	char *tmp, *secret;
	struct sandbox_run run = { .timeout_ms = PROBE_MS };
	struct sandbox_result res = { 0 };
	struct sandbox_spec s;
	struct buf out;
	int r;

	if (why_uids(e) < 0)
		return ERR_SANDBOX;
	if (mkdtemp(dir) == NULL || chmod(dir, 0711) < 0)
		return err_set(e, ERR_SANDBOX, "%s: %s", dir, strerror(errno));
	tmp = path_join(dir, "t");
	secret = path_join(dir, "secret");
	buf_init(&out, 4096);
	spec_init(&s, LAYER_INNER);
	for (size_t i = 0; i < nitems(shown); i++)
		spec_mount_try(&s, MOUNT_RO, shown[i], shown[i]);
	spec_mount(&s, MOUNT_DEV, NULL, "/dev");
	container_spec(&s, tmp, CONTAINER_KEEP_GUARDS);
	strv_addl(&s.argv, "/bin/sh", "-c", script, secret, (char *)NULL);
	run.start.spec = &s;
	run.start.stage = true;
	run.out = &out;
	if ((r = container_make_tmp(tmp, e)) == 0 &&
	    (r = file_write(secret, "x", 1, 0644, e)) == 0)
		r = sandbox_run(&run, &res, e);
	if (r == 0 && (res.status != 0 || res.timed_out))
		r = err_set(e, ERR_SANDBOX,
		    res.status == 3
			? "what is not shown can be read all the same"
			: "a command in it fails: status %d, %.200s",
		    res.status, buf_str(&out));
	(void)path_rmtree(dir, NULL);
	spec_clear(&s);
	buf_clear(&out);
	free(tmp);
	free(secret);
	return r;
}

const char *
container_warning(void)
{
	static char text[1024];

	(void)snprintf(text, sizeof text, "%s%s%s", WARNING,
	    landlock_abi() < LANDLOCK_ABI_SCOPES ? WARNING_OLD : "",
	    notify_works() ? "" : WARNING_DEAF);
	return text;
}
