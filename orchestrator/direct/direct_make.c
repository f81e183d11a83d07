/* direct_make.c - what a sandbox of one command is made of. */
#include "common/compat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "orchestrator/direct/direct.h"
#include "orchestrator/direct/refuse.h"
#include "orchestrator/run/settings.h"
#include "sandbox/container.h"
#include "sandbox/limits.h"
#include "sandbox/lockdir.h"
#include "sandbox/snapshot_cache.h"
#include "sandbox/stage.h"

#define COPY_PREFIX "foray-copy-"

void
direct_clear(struct direct *d)
{
	if (d->overlay.dir != NULL)
		(void)path_rmtree(d->overlay.dir, NULL);
	fd_close(&d->copy_lock);
	fd_close(&d->hold);
	overlay_clear(&d->overlay);
	onelayer_clear(&d->one);
	snapshot_clear(&d->snap);
	livetree_clear(&d->tree);
	profile_view_clear(&d->view);
	toolchain_clear(&d->tools);
	spec_clear(&d->spec);
	strv_clear(&d->live);
	single_stop(d->net);
	free(d->cache);
}

static int
make_copy(struct direct *d, struct err *e)
{
	char *mount = NULL, *cache = NULL, *store, *left;
	struct snapshot_opts o = { 0 };
	struct strv hidden = { 0 };
	uid_t uid = stage_uid();
	int r;

	if ((r = path_cache_dir(&cache, e)) < 0)
		return r;
	store = path_join(cache, "snapshots");
	o.store = store;
	strv_extend(&hidden, &d->view.hide_dirs);
	strv_extend(&hidden, &d->view.hide_files);
	o.hide = &hidden;
	r = snapshot_create(d->tree.root, &o, &d->snap, e);
	if (r == 0)
		r = snapshot_hold(store, d->snap.id, &d->hold, e);
	strv_clear(&hidden);
	free(store);
	free(cache);
	if (r == 0 && (left = snapshot_left_out(&d->snap)) != NULL) {
		log_warn("left out of the copy: %s", left);
		free(left);
	}
	if (r < 0 || d->q->backend == BACKEND_CONTAINER)
		return r;
	lockdir_sweep("/tmp", COPY_PREFIX);
	if ((r = lockdir_create(
		 "/tmp", COPY_PREFIX, &mount, &d->copy_lock, e)) < 0)
		return r;
	d->overlay.dir = mount;
	d->overlay.on_tmpfs = true;
	strv_add(&d->overlay.lowers, d->snap.tree);
	if (uid != geteuid() && chown(mount, uid, uid) < 0)
		return err_set(
		    e, -errno, "chown %s: %s", mount, strerror(errno));
	return 0;
}

static void
add_all(struct strv *to, const struct strv *from)
{
	for (size_t i = 0; i < from->n; i++)
		strv_add(to, from->v[i]);
}

/* The profile, the settings' changes to it, the command line's. */
static int
make_view(const struct direct_request *q, const char *home, struct direct *d,
    struct err *e)
{
	struct profile_def def = { 0 };
	json_t *settings = NULL;
	const char *eq;
	int r;

	if ((r = settings_load(&settings, e)) == 0)
		r = settings_profile(settings, q->profile, &def, e);
	json_decref(settings);
	if (r < 0)
		return r;
	add_all(&def.show, &q->extra.show);
	add_all(&def.write, &q->extra.write);
	add_all(&def.hide, &q->extra.hide);
	add_all(&def.pass_env, &q->extra.pass_env);
	for (size_t i = 0; i < q->extra.env.n; i++) {
		eq = strchr(q->extra.env.v[i], '=');
		char *name = xstrndup(
		    q->extra.env.v[i], (size_t)(eq - q->extra.env.v[i]));

		strv_setenv(&def.env, name, eq + 1);
		free(name);
	}
	return profile_view_find(&def, home, &d->view, e);
}

/* Kept from one sandbox to the next, but never the person's own. */
static int
make_cache(struct direct *d, struct err *e)
{
	char *dir = NULL;
	uid_t uid = stage_uid();
	int r;

	if (!d->view.def.cache)
		return 0;
	if ((r = path_cache_dir(&dir, e)) < 0)
		return r;
	d->cache = path_join(dir, "packages");
	free(dir);
	if ((r = path_mkdirs(d->cache, 0700, e)) < 0)
		return r;
	/* A command may have changed its mode. */
	if ((uid != geteuid() && lchown(d->cache, uid, uid) < 0) ||
	    chmod(d->cache, 0700) < 0)
		return err_set(e, -errno, "%s: %s", d->cache, strerror(errno));
	return 0;
}

static void
make_spec(struct direct *d, bool tty)
{
	const bool one = d->q->backend == BACKEND_CONTAINER;
	const char *term = getenv("TERM");
	struct profile p = {
		.view = &d->view,
		.tools = &d->tools,
		.cache_src = d->cache,
		.root = d->tree.root,
		.workdir = d->tree.dir,
		.tree_src = d->q->copy && !one ? "@merged" : d->tree.root,
		.guarded = &d->tree.guarded,
		.pinned = &d->tree.pinned,
		.shown = &d->tree.shown,
		.egress = d->net != NULL,
		.own_hosts = single_own(d->net),
	};

	profile_direct(&p, &d->spec);
	limits_shape(&d->spec);
	if (one)
		onelayer_spec(&d->one, d->tree.root, &d->spec);
	d->spec.keep_tty = tty;
	if (tty && term != NULL)
		strv_setenv(&d->spec.env, "TERM", term);
	if (!d->q->copy) {
		strv_add(&d->live, d->tree.root);
		strv_extend(&d->live, &d->tree.shown);
	}
	strv_extend(&d->live, &d->view.write);
}

/* What is hidden can't be moved to another name, for the next command. */
static int
pin_hidden(struct direct *d, struct err *e)
{
	const struct strv *lists[] = { &d->view.hide_dirs,
		&d->view.hide_files };
	const char *path, *rel;

	for (size_t i = 0; i < nitems(lists); i++) {
		for (size_t k = 0; k < lists[i]->n; k++) {
			path = lists[i]->v[k];
			if (path_is_below(d->tree.root, path))
				return err_set(e, ERR_USAGE,
				    "\"hide\": %s holds the tree itself", path);
			if ((rel = path_rel(path, d->tree.root)) != NULL)
				livetree_pin(&d->tree, rel);
		}
	}
	return 0;
}

/* The tree as it will be seen. */
static int
make_tree(struct direct *d, struct err *e)
{
	const bool copy = d->q->copy && !d->q->explain;
	int r = 0;

	if (copy)
		r = make_copy(d, e);
	else if (!d->q->copy &&
	    (r = livetree_look(&d->tree, &d->view.hide_dirs, e)) == 0)
		r = pin_hidden(d, e);
	if (r == 0)
		r = refuse_write(&d->view.write, &d->tree, e);
	if (r == 0 && d->q->copy)
		r = refuse_write_copy(&d->q->extra.write, &d->tree, e);
	if (r == 0 && d->q->backend == BACKEND_CONTAINER)
		r = onelayer_make(&d->one, copy ? d->snap.tree : NULL, e);
	return r;
}

static void
find_tools(struct direct *d, const char *home)
{
	struct strv dropped = { 0 };

	toolchain_find(getenv("PATH"), home, d->tree.root, &d->tools);
	if (d->q->backend == BACKEND_CONTAINER)
		container_tools(&d->tools, &dropped);
	for (size_t i = 0; i < dropped.n; i++)
		log_warn("%s can't be reached by the uid that commands have "
			 "here: left out",
		    dropped.v[i]);
	strv_clear(&dropped);
}

int
direct_make(
    const struct direct_request *q, bool tty, struct direct *ret, struct err *e)
{
	struct direct d = {
		.q = q, .copy_lock = -1, .hold = -1, .one.lock = -1
	};
	char *home = NULL;
	int r;

	if (stat(q->repo, &d.dir) < 0)
		return err_set(
		    e, ERR_USAGE, "%s: %s", q->repo, strerror(errno));
	(void)path_home(&home, NULL);
	if ((r = livetree_find(q->repo, &d.tree, e)) == 0 &&
	    (r = make_view(q, home, &d, e)) == 0 &&
	    (r = single_open(&q->allow, &d.net, e)) == 0 &&
	    (r = make_cache(&d, e)) == 0 && (r = make_tree(&d, e)) == 0) {
		find_tools(&d, home);
		make_spec(&d, tty);
		r = refuse_hidden(&d.spec, e);
	}
	free(home);
	if (r < 0)
		direct_clear(&d);
	else
		*ret = d;
	return r;
}
