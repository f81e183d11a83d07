/* snapshot.c - see snapshot.h. */
#include "common/compat.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/copyfile.h"
#include "sandbox/snapshot_priv.h"
#include "sandbox/stage.h"
#include "sandbox/walk.h"

#define RACY_NS 2000000000LL
#define LEFT_OUT_SHOWN 4

/* One snapshot_create(). */
struct making {
	const struct snapshot_opts *o;
	struct snap_store store;
	char *root;
	int rootfd;
	struct stat root_st;
	struct snap_git git;
	struct strv skipped;
	struct manifest now, old;
	bool have_old; /* old is read, and its tree is there */
	bool stale;    /* times or inodes in old are of no use any more */
};

static int
open_root(struct making *m, const char *root, struct err *e)
{
	m->root = realpath(root, NULL);
	if (m->root == NULL)
		return err_set(e, -errno, "%s: %s", root, strerror(errno));
	m->rootfd = open(m->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (m->rootfd < 0 || fstat(m->rootfd, &m->root_st) < 0)
		return err_set(e, -errno, "%s: %s", root, strerror(errno));
	if (path_is_below(m->root, m->store.dir))
		return err_set(e, ERR_USAGE,
		    "%s lies in the store of snapshots, %s", m->root,
		    m->store.dir);
	snap_store_path(&m->store, m->root);
	return 0;
}

static int
str_cmp(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
leave_out(struct snap_scan *s, const char *dir)
{
	struct stat st;

	if (dir == NULL || stat(dir, &st) < 0)
		return;
	s->left_dev[s->left_n] = st.st_dev;
	s->left_ino[s->left_n++] = st.st_ino;
}

/* Put the tracked ones of the suspicious files back in. */
static void
settle_secrets(struct making *m, struct strv *secrets)
{
	struct snap_entry *en;
	struct strv tracked = { 0 };
	size_t i, j = 0;

	if (secrets->n == 0)
		return;
	snap_git_tracked(&m->git, m->root, secrets, &tracked);
	strv_sort(&tracked);
	for (i = 0; i < m->now.list.n && j < secrets->n; i++) {
		en = &m->now.list.v[i];
		if (strcmp(en->path, secrets->v[j]) != 0)
			continue;
		j++;
		if (tracked.n > 0 &&
		    bsearch(&en->path, tracked.v, tracked.n, sizeof *tracked.v,
			str_cmp) != NULL)
			en->gone = false;
		else
			snap_skip(
			    &m->skipped, en->path, "it may hold credentials");
	}
	strv_clear(&tracked);
}

static int
scan(struct making *m, struct err *e)
{
	struct snap_scan s = {
		.root = m->root, .rootfd = m->rootfd, .o = m->o
	};
	char *state = NULL, *cache = NULL;
	struct timespec t;
	int r;

	clock_gettime(CLOCK_REALTIME, &t);
	m->now.made_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
	m->now.boot = snap_boot_id();
	(void)path_state_dir(&state, NULL);
	(void)path_cache_dir(&cache, NULL);
	leave_out(&s, m->store.dir);
	leave_out(&s, state);
	leave_out(&s, cache);
	s.list = &m->now.list;
	s.skipped = &m->skipped;
	r = snap_scan(&s, e);
	if (r == 0)
		settle_secrets(m, &s.secrets);
	strv_clear(&s.secrets);
	free(state);
	free(cache);
	return r;
}

/* --- against the last one ----------------------------------------------------
 */

static bool
is_same_stat(const struct snap_entry *a, const struct snap_entry *b)
{
	return a->size == b->size && a->mode == b->mode &&
	    a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns &&
	    a->ino == b->ino;
}

/* Compare one entry with its old self. */
static void
match_entry(struct making *m, struct snap_entry *en)
{
	const struct snap_entry *old = en->old;
	bool racy = old->mtime_ns > m->old.made_ns - RACY_NS ||
	    old->ctime_ns > m->old.made_ns - RACY_NS;

	if (en->type != 'f')
		return;
	if (!is_same_stat(en, old)) {
		m->stale = true;
	} else if (old->type == 'u') {
		en->type = 'u';
		snap_skip(&m->skipped, en->path, strerror(EACCES));
	} else if (old->type == 'f' && racy) {
		m->stale = true;
	} else if (old->type == 'f') {
		memcpy(en->hash, old->hash, HASH_LEN);
		en->known = en->linked = true;
	}
}

static void
match(struct making *m)
{
	struct snap_list *now = &m->now.list, *old = &m->old.list;
	size_t i, j = 0;
	int c;

	for (i = 0; i < now->n; i++) {
		if (now->v[i].gone)
			continue;
		c = 1;
		while (j < old->n &&
		    (c = walk_cmp(old->v[j].path, now->v[i].path)) < 0)
			j++;
		if (j == old->n || c != 0)
			continue;
		now->v[i].old = &old->v[j];
		match_entry(m, &now->v[i]);
	}
}

/* Is every content known without a copy? */
static bool
is_all_known(const struct snap_list *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		if (l->v[i].type == 'f' && !l->v[i].gone && !l->v[i].known)
			return false;
	}
	return true;
}

/* --- a new one
 * ---------------------------------------------------------------- */

/* The top directory itself. */
static int
finish_top(struct making *m, const char *snap, struct err *e)
{
	char *tree = path_join(snap, "tree");
	int r;

	r = copy_finish(AT_FDCWD, tree, stage_uid(), &m->root_st);
	if (r == 0 && geteuid() == 0 &&
	    lchown(snap, stage_uid(), stage_uid()) < 0)
		r = -errno;
	if (r < 0)
		err_set(e, r, "finish %s: %s", snap, strerror(-r));
	free(tree);
	return r;
}

static int
make_git(
    struct making *m, const char *tree, const char *old_tree, struct err *e)
{
	bool same;

	if (m->git.gitdir == NULL || text_starts(m->git.state, "broken"))
		return 0;
	same = m->have_old && strcmp(m->old.git, m->git.state) == 0;
	return snap_git_make(&m->git, tree, same ? old_tree : NULL, e);
}

static int
write_snapshot(struct making *m, const char *snap, struct err *e)
{
	char *tree = path_join(snap, "tree"), *path = NULL;
	char *old_tree =
	    m->have_old ? snap_store_tree(&m->store, m->old.id) : NULL;
	struct snap_copy c = { .store = m->store.dir,
		.rootfd = m->rootfd,
		.treefd = -1,
		.oldfd = -1,
		.o = m->o,
		.list = &m->now.list,
		.skipped = &m->skipped };
	struct buf b;
	int r;

	buf_init(&b, BUF_NOMAX);
	/* The tree's own mode need not be what kept others from it: they may
	 * have been stopped further up. */
	r = path_mkdirs(snap, 0700, e);
	if (r == 0)
		r = path_mkdirs(tree, 0700, e);
	if (r < 0)
		goto out;
	c.treefd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c.treefd < 0) {
		r = err_set(e, -errno, "open %s: %s", tree, strerror(errno));
		goto out;
	}
	if (old_tree != NULL)
		c.oldfd = open(old_tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = snap_copy(&c, e);
	if (r == 0)
		r = make_git(m, tree, old_tree, e);
	if (r == 0)
		r = snap_copy_finish(&c, e);
	if (r == 0)
		r = finish_top(m, snap, e);
	if (r < 0)
		goto out;
	m->now.git = xstrdup(m->git.state);
	m->now.id = manifest_id(&m->now, stage_uid());
	manifest_write(&m->now, &b);
	path = path_join(snap, "manifest");
	r = snap_store_put(&m->store, path, buf_str(&b), b.len, e);
out:
	fd_close(&c.treefd);
	fd_close(&c.oldfd);
	buf_clear(&b);
	free(path);
	free(tree);
	free(old_tree);
	return r;
}

static int
make_new(struct making *m, bool *ret_was_there, struct err *e)
{
	char *snap;
	int r;

	r = snap_store_tmp(&m->store, e);
	if (r < 0)
		return r;
	snap = path_join(m->store.tmp, "snap");
	r = write_snapshot(m, snap, e);
	if (r == 0)
		r = snap_store_publish(
		    &m->store, snap, m->now.id, ret_was_there, e);
	if (r == 0)
		r = snap_store_remember(&m->store, &m->now, true, e);
	free(snap);
	return r;
}

/* Nothing changed since the last snapshot of this path? */
static bool
is_reusable(struct making *m)
{
	if (!m->have_old || strcmp(m->old.git, m->git.state) != 0 ||
	    !is_all_known(&m->now.list))
		return false;
	m->now.git = xstrdup(m->git.state);
	m->now.id = manifest_id(&m->now, stage_uid());
	if (strcmp(m->now.id, m->old.id) == 0)
		return true;
	free(m->now.git);
	free(m->now.id);
	m->now.git = m->now.id = NULL;
	return false;
}

static void
fill(struct making *m, bool reused, struct snapshot *ret)
{
	const struct snap_entry *en;
	struct snapshot s = { .reused = reused };
	size_t i;

	s.id = xstrdup(m->now.id);
	s.tree = snap_store_tree(&m->store, m->now.id);
	s.root = xstrdup(m->root);
	s.commit = m->git.commit != NULL ? xstrdup(m->git.commit) : NULL;
	for (i = 0; i < m->now.list.n; i++) {
		en = &m->now.list.v[i];
		if (en->gone || en->type == 'd' || en->type == 'u')
			continue;
		strv_add(&s.files, en->path);
		if (en->type == 'f')
			s.bytes += en->size;
	}
	strv_sort(&s.files);
	if (m->git.state != NULL && text_starts(m->git.state, "broken "))
		snap_skip(
		    &m->skipped, ".git", m->git.state + strlen("broken "));
	s.skipped = m->skipped;
	memset(&m->skipped, 0, sizeof m->skipped);
	*ret = s;
}

static int
create(struct making *m, const char *root, struct snapshot *ret, struct err *e)
{
	struct snap_copy c = { .treefd = -1, .oldfd = -1 };
	bool reused;
	int r;

	r = snap_store_open(&m->store, m->o->store, e);
	if (r == 0)
		r = open_root(m, root, e);
	if (r == 0)
		r = snap_git_open(m->root, &m->git, e);
	if (r == 0)
		r = scan(m, e);
	if (r < 0)
		return r;
	m->have_old = snap_store_load(&m->store, &m->old);
	match(m);
	c.list = &m->now.list;
	c.o = m->o;
	c.rootfd = m->rootfd;
	if (snap_rehash(&c) < 0)
		return err_set(e, -EINTR, "interrupted");
	reused = is_reusable(m);
	if (!reused)
		r = make_new(m, &reused, e);
	else if (m->stale)
		r = snap_store_remember(&m->store, &m->now, false, e);
	if (r == 0)
		fill(m, reused, ret);
	return r;
}

int
snapshot_create(const char *root, const struct snapshot_opts *o,
    struct snapshot *ret, struct err *e)
{
	struct making m = { .o = o, .rootfd = -1 };
	int r;

	r = create(&m, root, ret, e);
	snap_store_close(&m.store);
	fd_close(&m.rootfd);
	snap_git_clear(&m.git);
	manifest_clear(&m.now);
	manifest_clear(&m.old);
	strv_clear(&m.skipped);
	free(m.root);
	return r;
}

/* The commit that the private repository was cut at; NULL: none. */
static char *
commit_of(const char *tree)
{
	char *path = path_join(tree, ".git/refs/heads/main"), *ret = NULL;
	struct buf b;

	buf_init(&b, 128);
	if (file_read(path, true, &b, NULL) == 0 && b.len > 1) {
		ret = xstrndup(buf_str(&b), strcspn(buf_str(&b), "\n"));
		if (strspn(ret, "0123456789abcdef") != strlen(ret)) {
			free(ret);
			ret = NULL;
		}
	}
	buf_clear(&b);
	free(path);
	return ret;
}

int
snapshot_open(const char *root, const char *store, const char *id,
    struct snapshot *ret, struct err *e)
{
	struct snapshot_opts o = { .store = store };
	struct making m = { .o = &o, .rootfd = -1 };
	int r;

	r = snap_store_open(&m.store, store, e);
	if (r == 0 && !snap_store_get(&m.store, id, &m.now))
		r = err_set(e, ERR_NOTFOUND,
		    "the snapshot %.64s is not in the cache any more", id);
	if (r == 0) {
		m.root = xstrdup(root);
		fill(&m, true, ret);
		ret->commit = commit_of(ret->tree);
	}
	snap_store_close(&m.store);
	manifest_clear(&m.now);
	free(m.root);
	return r;
}

char *
snapshot_left_out(const struct snapshot *s)
{
	struct buf b;
	char *text;
	size_t i;

	if (s->skipped.n == 0)
		return NULL;
	buf_init(&b, BUF_NOMAX);
	for (i = 0; i < s->skipped.n && i < LEFT_OUT_SHOWN; i++)
		(void)buf_printf(
		    &b, "%s%s", i > 0 ? "; " : "", s->skipped.v[i]);
	if (i < s->skipped.n)
		(void)buf_printf(&b, "; and %zu%s more", s->skipped.n - i,
		    s->skipped.n == SKIPPED_MAX ? " or" : "");
	text = xstrdup(buf_str(&b));
	buf_clear(&b);
	return text;
}

void
snapshot_clear(struct snapshot *s)
{
	free(s->id);
	free(s->tree);
	free(s->root);
	free(s->commit);
	strv_clear(&s->files);
	strv_clear(&s->skipped);
	memset(s, 0, sizeof *s);
}
