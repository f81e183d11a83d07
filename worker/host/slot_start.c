/*
 * slot_start.c - a worker's workspace, socket, worker.json and process.
 */
#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/hash.h"
#include "common/json.h"
#include "common/log.h"
#include "common/path.h"
#include "sandbox/cgroup.h"
#include "sandbox/container.h"
#include "sandbox/limits.h"
#include "sandbox/profile.h"
#include "sandbox/snapshot_cache.h"
#include "worker/host/intake.h"
#include "worker/host/place.h"
#include "worker/host/slot_int.h"
#include "worker/host/wire.h"

#define DEFAULT_PARALLEL 2

const char *
slot_layout(enum layout l)
{
	switch (l) {
	case LAYOUT_OVERLAY:
		return "overlay";
	case LAYOUT_TMPFS:
		return "tmpfs";
	case LAYOUT_COPY:
		return "copy";
	}
	return "?";
}

/* ASSIGN after the check. */
struct order {
	char *root;
	char *workdir; /* absolute */
	char *base;    /* the snapshot's tree */
};

static void
order_clear(struct order *o)
{
	free(o->root);
	free(o->workdir);
	free(o->base);
}

/* --- the fields of ASSIGN ------------------------------------------------ */

static bool
is_clean_absolute(const char *path)
{
	char *clean;
	bool same;

	if (path[0] != '/')
		return false;
	clean = path_normal(path);
	same = strcmp(clean, path) == 0;
	free(clean);
	return same;
}

/* Places of the sandbox itself, which a tree must not cover. */
static bool
is_reserved(const char *root)
{
	static const char *const tops[] = { "/", "/bin", "/dev", "/etc", "/lib",
		"/lib32", "/lib64", "/proc", "/run", "/sbin", "/sys", "/tmp",
		"/usr", "/var" };
	size_t i;

	for (i = 0; i < nitems(tops); i++) {
		if (strcmp(root, tops[i]) == 0)
			return true;
	}
	return path_is_below(root, "/proc") || path_is_below(root, "/dev") ||
	    path_is_below(root, "/sys") || path_is_below(root, IN_DIR) ||
	    path_is_below(IN_DIR, root);
}

static int
check_workdir(const char *root, const char *dir, char **ret, struct err *e)
{
	char *path;

	if (dir[0] == '\0')
		path = xstrdup(root);
	else if (dir[0] == '/')
		path = xstrdup(dir);
	else
		path = path_join(root, dir);
	if (!is_clean_absolute(path) || !path_is_below(path, root)) {
		free(path);
		return err_set(
		    e, ERR_PROTO, "the workdir is not below the root");
	}
	*ret = path;
	return 0;
}

/* What can be said before the snapshot is there. */
static int
check_place(const struct msg_assign *a, struct order *ret, struct err *e)
{
	if (!intake_is_id(msg_str(a->snapshot)))
		return err_set(
		    e, ERR_PROTO, "the snapshot's id is not 32 hex digits");
	ret->root = xstrdup(msg_str(a->root));
	if (!is_clean_absolute(ret->root))
		return err_set(
		    e, ERR_PROTO, "the root is not an absolute clean path");
	if (is_reserved(ret->root))
		return err_set(e, ERR_PROTO,
		    "%s can't be the root of a tree in a sandbox", ret->root);
	return check_workdir(ret->root, msg_str(a->workdir), &ret->workdir, e);
}

int
slot_check(const struct msg_assign *a, struct err *e)
{
	struct order o = { 0 };
	int r = check_place(a, &o, e);

	free(o.root);
	free(o.workdir);
	return r;
}

static int
check_order(struct slot *s, const struct msg_assign *a, struct order *ret,
    struct err *e)
{
	const char *store = s->all->conf.place->snapshots;
	struct stat st;
	int r;

	r = check_place(a, ret, e);
	if (r < 0)
		return r;
	r = snapshot_hold(store, a->snapshot, &s->hold_fd, e);
	if (r < 0)
		return r;
	ret->base = path_joinf(store, "%s/tree", a->snapshot);
	if (stat(ret->base, &st) < 0)
		return err_set(
		    e, -errno, "snapshot %s: %s", a->snapshot, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return err_set(
		    e, -ENOTDIR, "snapshot %s is no directory", a->snapshot);
	return 0;
}

/* --- workspace and socket ------------------------------------------------ */

static int
make_workspace(struct slot *s, const struct order *o, struct err *e)
{
	const struct slots_conf *c = &s->all->conf;
	char *dir;
	int r;

	/* A name comes again with the next attempt, while the last one's
	 * directory may still be there. */
	dir = path_joinf(c->scratch, "%s.%ju", s->spare ? "spare" : s->name,
	    (uintmax_t)s->id);
	s->base = xstrdup(o->base);
	r = workspace_create(dir, o->base, c->layout, &s->ws, e);
	s->ws.overlay.tmpfs_bytes = slot_tmpfs_bytes(s);
	free(dir);
	return r;
}

static bool
is_bare(const struct slot *s)
{
	return s->all->conf.place->backend == BACKEND_CONTAINER;
}

/* Nothing can be mounted: the tree is where its copy is, and so is the
 * worker's /tmp. Of it commands see "cmd" only. */
static int
take_places(struct slot *s, struct order *o, struct err *e)
{
	const char *rel = path_rel(o->workdir, o->root);
	char *workdir, *cmd;
	int r;

	if (!is_bare(s))
		return 0;
	workdir = rel != NULL && *rel != '\0' ? path_join(s->ws.tree_src, rel)
					      : xstrdup(s->ws.tree_src);
	free(o->workdir);
	o->workdir = workdir;
	free(o->root);
	o->root = xstrdup(s->ws.tree_src);
	s->tmp = path_join(s->ws.dir, "t");
	cmd = path_join(s->tmp, "cmd");
	r = container_make_tmp(s->tmp, e);
	if (r == 0)
		r = container_make_tmp(cmd, e);
	free(cmd);
	return r;
}

/* The worker's socket, the host's own, and the process between them. A
 * socket's path has 107 bytes at most; scratch may be deep, so they are named
 * by a descriptor. */
static int
make_socket(struct slot *s, struct err *e)
{
	const struct slots_conf *c = &s->all->conf;
	char path[64], endpoint[80];
	int r;

	s->link = path_join(s->ws.dir, "link");
	if (mkdir(s->link, 0700) < 0 && errno != EEXIST)
		return err_set(
		    e, -errno, "mkdir %s: %s", s->link, strerror(errno));
	s->dir_fd = open(s->ws.dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s->dir_fd < 0)
		return err_set(
		    e, -errno, "open %s: %s", s->ws.dir, strerror(errno));
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d/link/s", s->dir_fd);
	s->listen_fd = ipc_listen(path, 0600, &s->listener, e);
	if (s->listen_fd < 0)
		return s->listen_fd;
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d/p", s->dir_fd);
	(void)snprintf(endpoint, sizeof endpoint, "ipc://%s", path);
	r = peer_bind(
	    c->loop, c->zctx, endpoint, false, &slot_peer_ops, s, &s->peer, e);
	if (r < 0)
		return r;
	r = slot_net_start(s, e);
	if (r < 0)
		return r;
	return wire_start(
	    c->wires, s->listen_fd, path, s->dir_fd, &s->report_fd, e);
}

/* --- worker.json --------------------------------------------------------- */

static const char *
cache_of(const struct slot *s, const struct msg_assign *a)
{
	return a->cache > 0 ? s->all->conf.cache : NULL;
}

static json_t *
inner_json(const struct slot *s, const struct profile *p, bool fresh)
{
	struct sandbox_spec spec;
	char *cmd;
	json_t *j;

	profile_inner(p, fresh, &spec);
	spec.limits = s->inner_limits;
	spec.limits.nofile = s->all->conf.place->view.def.limits.nofile;
	limits_shape(&spec);
	if (s->tmp != NULL) {
		cmd = path_join(s->tmp, "cmd");
		container_spec(&spec, cmd, CONTAINER_DROP_GUARDS);
		free(cmd);
	}
	j = spec_to_json(&spec);
	spec_clear(&spec);
	return j;
}

/* Sources as the outer sandbox has them. */
static void
inner_profile(const struct slot *s, const struct order *o,
    const struct msg_assign *a, bool candidate, struct profile *ret)
{
	memset(ret, 0, sizeof *ret);
	ret->view = &s->all->conf.place->view;
	ret->cache_src = cache_of(s, a);
	ret->tools = &s->all->conf.place->tools;
	ret->root = o->root;
	ret->workdir = o->workdir;
	ret->tree_src = candidate && s->tmp == NULL ? "@merged" : o->root;
	ret->egress = s->all->conf.place->network != NULL;
	ret->own_hosts = s->all->conf.place->own_hosts;
}

static json_t *
worker_json(
    const struct slot *s, const struct order *o, const struct msg_assign *a)
{
	struct profile inner, candidate;
	json_t *j = json_object();
	const char *link = s->tmp != NULL ? s->link : IN_LINK;
	char *socket = xasprintf("ipc://%s/s", link);
	uint64_t parallel = a->parallel > 0 ? a->parallel : DEFAULT_PARALLEL;

	inner_profile(s, o, a, false, &inner);
	inner_profile(s, o, a, true, &candidate);
	if (j == NULL ||
	    json_object_set_new(j, "protocol", json_integer(PROTO_VERSION)) <
		0 ||
	    json_object_set_new(j, "token", json_string(s->token)) < 0 ||
	    json_object_set_new(
		j, "socket", json_str_lossy(socket, strlen(socket))) < 0 ||
	    json_object_set_new(
		j, "worker", json_string(s->spare ? "spare" : s->name)) < 0 ||
	    json_object_set_new(j, "spare", json_boolean(s->spare)) < 0 ||
	    json_object_set_new(
		j, "root", json_str_lossy(o->root, strlen(o->root))) < 0 ||
	    json_object_set_new(j, "workdir",
		json_str_lossy(o->workdir, strlen(o->workdir))) < 0 ||
	    json_object_set_new(
		j, "layout", json_string(slot_layout(s->ws.layout))) < 0 ||
	    json_object_set_new(
		j, "parallel", json_integer((json_int_t)parallel)) < 0 ||
	    json_object_set_new(j, "inner", inner_json(s, &inner, false)) < 0 ||
	    json_object_set_new(
		j, "candidate", inner_json(s, &candidate, true)) < 0)
		fatal("worker.json: out of memory");
	if (s->tmp != NULL &&
	    (json_object_set_new(j, "tmp", json_string(s->tmp)) < 0 ||
		json_object_set_new(j, "base", json_string(o->base)) < 0))
		fatal("worker.json: a path is not UTF-8");
	free(socket);
	return j;
}

static int
write_worker_json(const struct slot *s, const struct order *o,
    const struct msg_assign *a, struct err *e)
{
	json_t *j = worker_json(s, o, a);
	char *text = json_text(j);
	int fd, r = 0;

	json_decref(j);
	/* Not file_write(): nobody needs this after a crash, so no fsync. */
	fd = openat(s->dir_fd, "link/worker.json",
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		r = err_set(
		    e, -errno, "%s/worker.json: %s", s->link, strerror(errno));
	else if ((r = fd_write_all(fd, text, strlen(text))) < 0)
		err_set(e, r, "%s/worker.json: %s", s->link, err_str(r));
	fd_close(&fd);
	explicit_bzero(text, strlen(text));
	free(text);
	return r;
}

/* --- process ------------------------------------------------------------- */

static void
outer_spec(const struct slot *s, const struct order *o,
    const struct msg_assign *a, struct sandbox_spec *ret)
{
	const struct place *place = s->all->conf.place;
	struct profile p;

	memset(&p, 0, sizeof p);
	p.view = &place->view;
	p.cache_src = cache_of(s, a);
	p.tools = &place->tools;
	p.root = o->root;
	p.workdir = o->workdir;
	p.tree_src = s->ws.tree_src;
	p.base_src = o->base;
	p.up_src = s->ws.up_src;
	p.link_src = s->link;
	p.worker_src = place->worker;
	p.lib_src = place->lib;
	profile_outer(&p, ret);
	ret->limits = s->limits;
	limits_shape(ret);
	/* The worker sees what it, and what it runs, was killed for; no more of
	 * its group is there inside. */
	if (cgroup_oom_file(s->group) != NULL)
		spec_mount_try(
		    ret, MOUNT_RO, cgroup_oom_file(s->group), IN_OOM);
	if (s->tmp != NULL) {
		container_spec(ret, s->tmp, CONTAINER_DROP_GUARDS);
		strv_clear(&ret->argv);
		strv_add(&ret->argv, place->worker);
		strv_setenv(&ret->env, "FORAY_LINK", s->link);
	}
	stage_spec(&place->stage, ret);
}

static int
start_process(struct slot *s, const struct order *o, const struct msg_assign *a,
    struct err *e)
{
	struct sandbox_start start;
	struct sandbox_spec spec;
	int fds[2], r;

	r = fd_pipe(fds);
	if (r < 0)
		return err_set(e, r, "pipe: %s", err_str(r));
	outer_spec(s, o, a, &spec);
	memset(&start, 0, sizeof start);
	start.spec = &spec;
	if (s->ws.layout != LAYOUT_COPY)
		start.overlay = &s->ws.overlay;
	start.group = s->group;
	start.fds[0] = -1;
	start.fds[1] = fds[1]; /* a worker has no use for its stdout */
	start.fds[2] = fds[1];
	r = sandbox_start(&start, &s->proc, e);
	spec_clear(&spec);
	fd_close(&fds[1]);
	if (r < 0) {
		s->proc.pid = 0;
		fd_close(&fds[0]);
		return r;
	}
	(void)fd_nonblock(fds[0], true); /* of our own pipe: can't fail */
	s->err_fd = fds[0];
	return 0;
}

int
slot_make(struct slot *s, const struct msg_assign *a, struct err *e)
{
	struct order o;
	int r;

	memset(&o, 0, sizeof o);
	hash_random_hex(s->token, TOKEN_BYTES);
	r = check_order(s, a, &o, e);
	if (r == 0)
		r = slot_limit(s, a, e);
	if (r == 0)
		r = make_workspace(s, &o, e);
	if (r == 0)
		r = take_places(s, &o, e);
	if (r == 0)
		r = make_socket(s, e);
	if (r == 0)
		r = write_worker_json(s, &o, a, e);
	if (r == 0)
		r = start_process(s, &o, a, e);
	order_clear(&o);
	return r;
}
