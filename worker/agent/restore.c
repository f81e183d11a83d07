/* restore.c - see restore.h. */
#include "common/compat.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "worker/agent/restore.h"

#define GIT_CONFIG ".git/config"
#define GIT_HOOKS ".git/hooks"

struct kept {
	char *rel;
	struct stat st;  /* as it was; ctime can't be forged */
	bool from_base;  /* the base has the same; else data */
	struct buf data; /* content, or where a link leads */
};

struct restore {
	const struct agent *a;
	int base_fd;
	bool hooks; /* the tree came with some */
	struct kept *v;
	size_t n;
	char *changed; /* the first that was put back */
};

static int
look(int dirfd, const char *rel, struct stat *ret)
{
	return fstatat(dirfd, rel, ret, AT_SYMLINK_NOFOLLOW);
}

static bool
is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev &&
	    a->st_mode == b->st_mode && a->st_size == b->st_size &&
	    a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	    a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* A copy has the size and the mtime of what it was made from. */
static bool
is_of_base(const struct restore *r, const char *rel, const struct stat *st)
{
	struct stat base;

	return look(r->base_fd, rel, &base) == 0 &&
	    base.st_mode == st->st_mode && base.st_size == st->st_size &&
	    base.st_mtim.tv_sec == st->st_mtim.tv_sec &&
	    base.st_mtim.tv_nsec == st->st_mtim.tv_nsec;
}

static int
read_content(int dirfd, const char *rel, const struct stat *st, struct buf *ret)
{
	char target[4096];
	ssize_t n;

	if (!S_ISLNK(st->st_mode))
		return file_read_at(dirfd, rel, true, ret, NULL);
	if ((n = readlinkat(dirfd, rel, target, sizeof target)) < 0)
		return -errno;
	return buf_add(ret, target, (size_t)n);
}

static void
keep(struct restore *r, const char *rel)
{
	struct kept k = { 0 };

	if (look(r->a->fs.root_fd, rel, &k.st) < 0 ||
	    (!S_ISREG(k.st.st_mode) && !S_ISLNK(k.st.st_mode)))
		return;
	buf_init(&k.data, TREEFS_MAX_FILE);
	k.from_base = is_of_base(r, rel, &k.st);
	if (!k.from_base &&
	    read_content(r->a->fs.root_fd, rel, &k.st, &k.data) < 0) {
		log_warn("%s can't be kept, so it is not restored", rel);
		buf_clear(&k.data);
		return;
	}
	k.rel = xstrdup(rel);
	r->v[r->n++] = k;
}

struct restore *
restore_create(const struct agent *a)
{
	struct restore *r = xcalloc(1, sizeof *r);
	struct stat st;

	r->a = a;
	r->base_fd = open(a->cfg.base, O_PATH | O_DIRECTORY | O_CLOEXEC);
	r->hooks = look(a->fs.root_fd, GIT_HOOKS, &st) == 0;
	r->v = xcalloc(a->fs.guarded.n + 1, sizeof *r->v);
	for (size_t i = 0; i < a->fs.guarded.n; i++)
		keep(r, a->fs.guarded.v[i]);
	keep(r, GIT_CONFIG);
	return r;
}

static int
put_back(const struct restore *r, struct kept *k, struct err *e)
{
	int root = r->a->fs.root_fd, rc = 0;
	struct timespec ts[2] = { k->st.st_mtim, k->st.st_mtim };
	struct buf b;

	buf_init(&b, (size_t)256 << 20);
	if (k->from_base)
		rc = read_content(r->base_fd, k->rel, &k->st, &b);
	else
		rc = buf_add(&b, buf_str(&k->data), k->data.len);
	if (rc >= 0 && S_ISLNK(k->st.st_mode)) {
		(void)unlinkat(root, k->rel, 0);
		rc = symlinkat(buf_str(&b), root, k->rel) < 0 ? -errno : 0;
	} else if (rc >= 0) {
		rc = treefs_put(root, k->rel, buf_str(&b), b.len,
		    k->st.st_mode & 0777, 0, e);
	}
	/* As the base has it: else it would look changed. */
	if (rc >= 0)
		(void)utimensat(root, k->rel, ts, AT_SYMLINK_NOFOLLOW);
	if (rc >= 0 && look(root, k->rel, &k->st) < 0)
		rc = -errno;
	buf_clear(&b);
	return rc < 0 ? rc : 0;
}

void
restore_all(struct restore *r)
{
	struct stat st;
	struct err e;
	char *hooks;

	for (size_t i = 0; r != NULL && i < r->n; i++) {
		if (look(r->a->fs.root_fd, r->v[i].rel, &st) == 0 &&
		    is_same(&st, &r->v[i].st))
			continue;
		if (r->changed == NULL)
			r->changed = xstrdup(r->v[i].rel);
		(void)err_set(&e, ERR_SANDBOX, "it can't be written");
		if (put_back(r, &r->v[i], &e) < 0)
			log_warn("%s was changed by a command and can't be "
				 "restored: %s",
			    r->v[i].rel, e.text);
	}
	if (r == NULL || r->hooks || look(r->a->fs.root_fd, GIT_HOOKS, &st) < 0)
		return;
	hooks = path_join(r->a->cfg.root, GIT_HOOKS);
	(void)path_rmtree(hooks, NULL);
	free(hooks);
}

void
restore_free(struct restore *r)
{
	if (r == NULL)
		return;
	for (size_t i = 0; i < r->n; i++) {
		free(r->v[i].rel);
		buf_clear(&r->v[i].data);
	}
	fd_close(&r->base_fd);
	free(r->changed);
	free(r->v);
	free(r);
}

void
restore_renew(struct agent *a)
{
	if (a->restore == NULL)
		return;
	restore_free(a->restore);
	a->restore = restore_create(a);
}

const char *
restore_changed(const struct restore *r)
{
	struct stat st;

	for (size_t i = 0; r != NULL && r->changed == NULL && i < r->n; i++) {
		if (look(r->a->fs.root_fd, r->v[i].rel, &st) < 0 ||
		    !is_same(&st, &r->v[i].st))
			return r->v[i].rel;
	}
	return r != NULL ? r->changed : NULL;
}
