/*
 * place.c - the directories and programs of a host, as its uid reaches them.
 */
#include "common/compat.h"

#include "worker/host/place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "sandbox/container.h"
#include "sandbox/lockdir.h"
#include "worker/host/options.h"

static bool
is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int
give_away(const char *path, struct err *e)
{
	uid_t uid = stage_uid();

	if (lchown(path, uid, uid) == 0)
		return 0;
	if (errno == EINVAL)
		return err_set(e, ERR_SANDBOX,
		    "this root has no uid %u to run workers as (a user "
		    "namespace with few uids). Remedy: run it as an ordinary "
		    "user",
		    uid);
	return err_set(e, -errno, "chown %s: %s", path, strerror(errno));
}

/* A directory of the workers' uid, new or from an earlier start. */
static int
make_own_dir(const char *path, struct err *e)
{
	uid_t uid = stage_uid();
	struct stat st;

	if (mkdir(path, 0700) == 0)
		return geteuid() == 0 ? give_away(path, e) : 0;
	if (errno != EEXIST || lstat(path, &st) < 0)
		return err_set(
		    e, -errno, "mkdir %s: %s", path, strerror(errno));
	/* In a place like /tmp somebody else may have been there before. */
	if (!S_ISDIR(st.st_mode) || st.st_uid != uid)
		return err_set(e, -EPERM,
		    "%s: exists and is not a directory of uid %u", path, uid);
	return 0;
}

/* Root does not give away a directory that it was merely told to use: the
 * workers' uid gets one inside. */
static int
make_scratch(const char *dir, char **ret, struct err *e)
{
	char *own;
	int r;

	r = path_mkdirs(dir, geteuid() == 0 ? 0755 : 0700, e);
	if (r < 0)
		return r;
	if (geteuid() != 0) {
		*ret = xstrdup(dir);
		return 0;
	}
	own = path_joinf(dir, "uid-%u", stage_uid());
	r = make_own_dir(own, e);
	if (r < 0) {
		free(own);
		return r;
	}
	*ret = own;
	return 0;
}

/* The store is foray's own: its top may be given to the uid that owns all
 * below it. */
static int
make_snapshots(const char *cache, char **ret, struct err *e)
{
	char *dir = path_join(cache, "snapshots");
	uid_t uid = stage_uid();
	struct stat st;
	int r;

	r = path_mkdirs(dir, 0700, e);
	if (r == 0 && geteuid() == 0 &&
	    (lstat(dir, &st) < 0 || st.st_uid != uid))
		r = give_away(dir, e);
	if (r < 0) {
		free(dir);
		return r;
	}
	*ret = dir;
	return 0;
}

/* As `make tarball` lays it out. What other builds look for is not there. */
static char *
find_lib(const char *worker)
{
	char *bin = path_dir(worker), *top = path_dir(bin);
	char *lib = path_join(top, "lib/foray");

	if (!is_dir(lib)) {
		free(lib);
		lib = NULL;
	}
	free(bin);
	free(top);
	return lib;
}

static void
find_tools(struct toolchain *ret)
{
	const char *path = getenv("PATH");
	char *home = NULL;

	/* No home is no reason to stop: nothing of it is shown then. */
	(void)path_home(&home, NULL);
	if (path == NULL || path[0] == '\0')
		path = "/usr/local/bin:/usr/bin:/bin";
	toolchain_find(path, home, NULL, ret);
	free(home);
}

static int
find_view(const struct options *o, struct profile_view *ret, struct err *e)
{
	struct profile_def d;
	char *home = NULL;
	int r;

	r = profile_def_load(
	    o->profile != NULL ? o->profile : "default", &d, e);
	if (r < 0)
		return r;
	(void)path_home(&home, NULL);
	r = profile_view_find(&d, home, ret, e);
	free(home);
	return r;
}

/* --- the way down from root ---------------------------------------------- */

static int
stage_list(struct stage *st, const struct strv *v, struct err *e)
{
	size_t i;
	int r = 0;

	for (i = 0; i < v->n && r == 0; i++)
		r = stage_add(st, v->v[i], e);
	return r;
}

static int
stage_mounts(struct stage *st, const struct sandbox_spec *s, struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < s->n_mounts && r == 0; i++) {
		if (s->mounts[i].kind == MOUNT_RO)
			r = stage_add(st, s->mounts[i].src, e);
	}
	return r;
}

/* The directory of an ipc endpoint, so that a socket made anew in it is seen.
 * NULL for other endpoints. */
static char *
ipc_dir(const char *endpoint)
{
	if (strncmp(endpoint, "ipc:///", 7) != 0)
		return NULL;
	return path_dir(endpoint + 6);
}

/* In a mount namespace of our own; root has it from its stage. */
static int
mount_proc(struct place *p, struct err *e)
{
	p->machine_proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (p->machine_proc < 0)
		return err_set(e, -errno, "open /proc: %s", strerror(errno));
	if (!p->stage.active &&
	    (unshare(CLONE_NEWNS) < 0 ||
		mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0))
		return err_set(e, ERR_SANDBOX,
		    "no mount namespace can be made: %s", strerror(errno));
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		NULL) < 0)
		return err_set(
		    e, ERR_SANDBOX, "mount /proc: %s", strerror(errno));
	return 0;
}

static int
stage_all(struct place *p, const char *ipc, struct err *e)
{
	struct stage *st = &p->stage;
	char *dir;
	int r;

	r = stage_open(st, e);
	if (r == 0)
		r = mount_proc(p, e);
	if (r == 0)
		r = stage_add(st, p->snapshots, e);
	if (r == 0)
		r = stage_add(st, p->scratch, e);
	if (r == 0)
		r = stage_add(st, p->worker, e);
	if (r == 0 && p->lib != NULL)
		r = stage_add(st, p->lib, e);
	if (r == 0 && ipc != NULL)
		r = stage_add(st, ipc, e);
	/* Its directory, most likely the one before. */
	if (r == 0 && p->network != NULL) {
		dir = path_dir(p->network);
		r = stage_add(st, dir, e);
		free(dir);
	}
	if (r == 0)
		r = stage_mounts(st, &p->view.show, e);
	if (r == 0)
		r = stage_mounts(st, &p->view.late, e);
	if (r == 0)
		r = stage_list(st, &p->tools.show, e);
	if (r == 0)
		r = stage_list(st, &p->tools.mask, e);
	return r;
}

static void
move_to_stage(const struct stage *st, char **path)
{
	char *staged = stage_path(st, *path);

	free(*path);
	*path = staged;
}

/* An ordinary user's way down: full capabilities in the new user namespace are
 * of no use to us. */
static int
drop_caps(struct err *e)
{
	struct __user_cap_header_struct h = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3];

	memset(none, 0, sizeof none);
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 ||
	    syscall(SYS_capset, &h, none) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_set(e, ERR_SANDBOX,
		    "capabilities can't be given up: %s", strerror(errno));
	return 0;
}

/* --- without mounts --------------------------------------------------------
 */

static int
copy_worker(struct place *p, struct err *e)
{
	uid_t uid = stage_uid();
	char *copy = NULL, *lock = NULL;
	struct buf b;
	int r;

	buf_init(&b, (size_t)256 << 20);
	if ((r = lockdir_create(p->scratch, "", &p->bin, &p->bin_lock, e)) < 0)
		goto out;
	copy = path_join(p->bin, "foray-worker");
	lock = path_join(p->bin, "lock");
	if ((r = file_read(p->worker, false, &b, e)) < 0 ||
	    (r = file_write(copy, b.data, b.len, 0755, e)) < 0)
		goto out;
	/* So that a later host can sweep it. */
	if (chmod(copy, 0755) < 0 || lchown(copy, uid, uid) < 0 ||
	    lchown(lock, uid, uid) < 0 || lchown(p->bin, uid, uid) < 0) {
		r = err_set(
		    e, -errno, "give %s away: %s", copy, strerror(errno));
		goto out;
	}
	free(p->worker);
	p->worker = copy;
	copy = NULL;
out:
	free(copy);
	free(lock);
	buf_clear(&b);
	return r;
}

/* What root's other uid can't walk to, and can't have bound either. */
static int
leave_unreachable(struct place *p, struct err *e)
{
	struct strv dropped = { 0 };

	if (geteuid() != 0)
		return 0;
	container_tools(&p->tools, &dropped);
	for (size_t i = 0; i < dropped.n; i++)
		log_warn("%s is not shown to workers: uid %d, which they run "
			 "as, can't reach it",
		    dropped.v[i], SANDBOX_UID);
	strv_clear(&dropped);
	if (container_is_reachable(p->worker))
		return 0;
	if (p->lib != NULL)
		return err_set(e, ERR_USAGE,
		    "%s: uid %d, which workers run as, can't reach it, and it "
		    "needs the libraries beside it: unpack the tarball where "
		    "everybody can walk to",
		    p->worker, SANDBOX_UID);
	return copy_worker(p, e);
}

static int
go_down(struct place *p, const char *ipc, struct err *e)
{
	char *dir, *before;
	int r;

	if (p->backend == BACKEND_CONTAINER) {
		p->machine_proc =
		    open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
		r = leave_unreachable(p, e);
		return r < 0 ? r : container_drop(e);
	}
	r = stage_all(p, ipc, e);
	if (r == 0)
		r = stage_drop(&p->stage, e);
	if (r == 0 && !p->stage.active)
		r = drop_caps(e);
	if (r < 0)
		return r;
	move_to_stage(&p->stage, &p->snapshots);
	move_to_stage(&p->stage, &p->scratch);
	move_to_stage(&p->stage, &p->worker);
	if (p->lib != NULL)
		move_to_stage(&p->stage, &p->lib);
	if (p->network != NULL)
		move_to_stage(&p->stage, &p->network);
	if (ipc == NULL)
		return 0;
	dir = stage_path(&p->stage, ipc);
	if (access(dir, X_OK) < 0)
		r = err_set(e, -errno,
		    "uid %u can't reach the endpoint's directory %s: %s",
		    geteuid(), ipc, strerror(errno));
	before = p->endpoint;
	p->endpoint = xasprintf("ipc://%s/%s", dir, path_base(before));
	free(before);
	free(dir);
	return r;
}

int
place_prepare(const struct options *o, struct place *ret, struct err *e)
{
	char *cache = NULL, *scratch = NULL, *ipc = ipc_dir(o->connect);
	struct place p;
	int r = 0;

	memset(&p, 0, sizeof p);
	p.machine_proc = p.bin_lock = -1;
	p.backend = o->backend;
	if (o->cache != NULL)
		cache = path_normal(o->cache);
	else if (o->backend == BACKEND_CONTAINER)
		r = container_cache(&cache, e);
	else
		r = path_cache_dir(&cache, e);
	if (r < 0)
		goto out;
	scratch = o->scratch != NULL ? path_normal(o->scratch)
				     : path_join(cache, "scratch");
	r = make_scratch(scratch, &p.scratch, e);
	if (r == 0)
		r = make_snapshots(cache, &p.snapshots, e);
	if (r == 0) {
		p.scratch_name = xstrdup(p.scratch);
		p.snapshots_name = xstrdup(p.snapshots);
		r = path_program("foray-worker", &p.worker, e);
	}
	if (r == 0) {
		p.lib = find_lib(p.worker);
		find_tools(&p.tools);
	}
	if (r == 0)
		r = find_view(o, &p.view, e);
	if (r == 0 && ipc != NULL && !is_dir(ipc))
		r = err_set(
		    e, ERR_USAGE, "--connect: there is no directory %s", ipc);
	if (r < 0)
		goto out;
	p.endpoint = xstrdup(o->connect);
	if (o->network != NULL)
		p.network = path_normal(o->network);
	if (o->own_hosts != NULL)
		p.own_hosts = xstrdup(o->own_hosts);
	r = go_down(&p, ipc, e);
out:
	free(cache);
	free(scratch);
	free(ipc);
	if (r < 0)
		place_clear(&p);
	else
		*ret = p;
	return r;
}

void
place_clear(struct place *p)
{
	stage_clear(&p->stage);
	if (p->bin != NULL)
		(void)path_rmtree(p->bin, NULL);
	fd_close(&p->bin_lock);
	free(p->bin);
	fd_close(&p->machine_proc);
	toolchain_clear(&p->tools);
	profile_view_clear(&p->view);
	free(p->endpoint);
	free(p->scratch);
	free(p->scratch_name);
	free(p->snapshots);
	free(p->snapshots_name);
	free(p->worker);
	free(p->lib);
	free(p->network);
	free(p->own_hosts);
	memset(p, 0, sizeof *p);
}
