/*
 * cgroup.c - making the groups of a process tree; see cgroup.h.
 *
 * With V1 a group is a directory of the same name in each hierarchy, with V2
 * it is one; the code sees a list of different directories.
 */
#include "common/compat.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/path.h"
#include "sandbox/cgroup_priv.h"

#define MAIN CGROUP_PREFIX "main" /* V2: where our own processes wait */
#define TRIES 8
#define PERIOD_US 100000

/* --- files of a group ---------------------------------------------------- */

/* Is dir[i] a directory of its own, and not one that came before it? */
bool
cgroup_is_first(char *const dir[CGROUP_CTLS], int i)
{
	for (int k = 0; dir[i] != NULL && k < i; k++)
		if (dir[k] != NULL && strcmp(dir[k], dir[i]) == 0)
			return false;
	return dir[i] != NULL;
}

int
cgroup_put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), r = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		r = -errno;
	fd_close(&fd);
	return r;
}

int
cgroup_put_in(const char *dir, const char *file, const char *text)
{
	char *path = path_join(dir, file);
	int r = cgroup_put(path, text);

	free(path);
	return r;
}

/* "" when it can't be read. */
void
cgroup_get_in(const char *dir, const char *file, char *text, size_t size)
{
	char *path = path_join(dir, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	text[n > 0 ? n : 0] = '\0';
	fd_close(&fd);
	free(path);
}

/* --- limits -------------------------------------------------------------- */

/* must: a file that is not there is an error, too. */
static int
limit(const struct cgroup *g, enum cgroup_ctl c, const char *file,
    const char *text, bool must, struct err *e)
{
	int r;

	if (g->dir[c] == NULL)
		return 0;
	r = cgroup_put_in(g->dir[c], file, text);
	if (r == 0 || (!must && (r == -ENOENT || r == -EOPNOTSUPP)))
		return 0;
	return err_set(e, r, "limit %s/%s: %s", g->dir[c], file, strerror(-r));
}

static int
set_limits(struct cgroup *g, const struct sandbox_limits *l, struct err *e)
{
	bool v2 = g->kind == CGROUP_V2;
	char text[64];
	int r = 0;

	(void)snprintf(text, sizeof text, "%ju", (uintmax_t)l->memory_bytes);
	g->memory_bytes = l->memory_bytes;
	if (l->memory_bytes > 0) {
		r = limit(g, CGROUP_MEMORY,
		    v2 ? "memory.max" : "memory.limit_in_bytes", text, true, e);
		/* Swap is memory that is only slower. */
		if (r == 0 && v2)
			r = limit(
			    g, CGROUP_MEMORY, "memory.swap.max", "0", false, e);
		else if (r == 0)
			r = limit(g, CGROUP_MEMORY,
			    "memory.memsw.limit_in_bytes", text, false, e);
	}
	(void)snprintf(text, sizeof text, "%ju", (uintmax_t)l->pids);
	if (r == 0 && l->pids > 0)
		r = limit(g, CGROUP_PIDS, "pids.max", text, true, e);
	if (r < 0 || l->cpu_milli == 0)
		return r;
	if (v2) {
		(void)snprintf(text, sizeof text, "%ju %d",
		    (uintmax_t)l->cpu_milli * (PERIOD_US / 1000), PERIOD_US);
		return limit(g, CGROUP_CPU, "cpu.max", text, true, e);
	}
	(void)snprintf(text, sizeof text, "%ju",
	    (uintmax_t)l->cpu_milli * (PERIOD_US / 1000));
	return limit(g, CGROUP_CPU, "cpu.cfs_quota_us", text, true, e);
}

/* --- making -------------------------------------------------------------- */

static struct cgroup *
group_new(enum cgroup_kind kind, uid_t owner)
{
	struct cgroup *g = xcalloc(1, sizeof *g);

	g->kind = kind;
	g->owner = owner;
	for (int i = 0; i < CGROUP_CTLS; i++)
		g->lock[i] = -1;
	return g;
}

/* The directory with its lock held; -EAGAIN when a sweeper took it before. */
static int
lock_dir(const char *dir, int *ret_fd)
{
	struct stat a, b;
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? -EAGAIN : -errno;
	if (flock(fd, LOCK_EX) < 0 || fstat(fd, &a) < 0 || stat(dir, &b) < 0 ||
	    a.st_ino != b.st_ino) {
		fd_close(&fd);
		return -EAGAIN;
	}
	*ret_fd = fd;
	return 0;
}

static int
make_dirs(struct cgroup *g, char *const parent[CGROUP_CTLS], const char *name,
    bool locked, struct err *e)
{
	int r = 0;

	for (int i = 0; i < CGROUP_CTLS && r == 0; i++) {
		if (parent[i] == NULL)
			continue;
		g->dir[i] = path_join(parent[i], name);
		g->procs[i] = path_join(g->dir[i], "cgroup.procs");
		if (!cgroup_is_first(g->dir, i))
			continue;
		if (mkdir(g->dir[i], 0755) < 0)
			r = -errno;
		else if (locked)
			r = lock_dir(g->dir[i], &g->lock[i]);
		if (r < 0)
			err_set(e, r, "group %s: %s", g->dir[i], strerror(-r));
	}
	if (g->dir[CGROUP_MEMORY] != NULL)
		g->oom_file = path_join(g->dir[CGROUP_MEMORY],
		    g->kind == CGROUP_V2 ? "memory.events"
					 : "memory.oom_control");
	return r;
}

/* Root gives away what is needed to make children and to move processes, not
 * the limits. */
static int
give_away(const struct cgroup *g, struct err *e)
{
	static const char *const files[] = { "", "cgroup.procs", "tasks",
		"cgroup.threads", "cgroup.subtree_control" };
	char *path;

	if (geteuid() != 0 || g->owner == 0)
		return 0;
	for (int i = 0; i < CGROUP_CTLS; i++) {
		for (size_t k = 0;
		     cgroup_is_first(g->dir, i) && k < nitems(files); k++) {
			path = path_join(g->dir[i], files[k]);
			if (lchown(path, g->owner, (gid_t)-1) < 0 &&
			    errno != ENOENT) {
				err_set(e, -errno, "chown %s: %s", path,
				    strerror(errno));
				free(path);
				return -EPERM;
			}
			free(path);
		}
	}
	return 0;
}

/* V2: all of them are one directory. */
static const char *
only_dir(char *const dir[CGROUP_CTLS])
{
	for (int i = 0; i < CGROUP_CTLS; i++)
		if (dir[i] != NULL)
			return dir[i];
	return NULL;
}

/* V2: let children have those controllers that there are. */
static int
enable(char *const dir[CGROUP_CTLS], struct err *e)
{
	char words[64];
	int r = 0;

	(void)snprintf(words, sizeof words, "%s%s%s",
	    dir[CGROUP_MEMORY] != NULL ? "+memory " : "",
	    dir[CGROUP_PIDS] != NULL ? "+pids " : "",
	    dir[CGROUP_CPU] != NULL ? "+cpu" : "");
	if (words[0] != '\0')
		r = cgroup_put_in(
		    only_dir(dir), "cgroup.subtree_control", words);
	return r == 0 ? 0
		      : err_set(e, r, "controllers of %s: %s", only_dir(dir),
			    strerror(-r));
}

/* A V2 group that gives controllers to its children may hold no process of its
 * own: those that are there go into a leaf. */
static int
divide(const struct cgroup_site *s, struct err *e)
{
	const char *dir = only_dir(s->dir);
	char *leaf, text[CGROUP_TEXT], *at, *end;
	int r = 0;

	if (s->kind != CGROUP_V2 || s->is_divided)
		return 0;
	leaf = path_join(dir, MAIN);
	if (mkdir(leaf, 0755) < 0 && errno != EEXIST) {
		r = err_set(e, -errno, "mkdir %s: %s", leaf, strerror(errno));
		goto out;
	}
	/* One at a time is what the file takes; some may have gone. */
	cgroup_get_in(dir, "cgroup.procs", text, sizeof text);
	for (at = text; *at != '\0'; at = *end != '\0' ? end + 1 : end) {
		end = at + strcspn(at, "\n");
		if (*end == '\n') {
			*end = '\0';
			(void)cgroup_put_in(leaf, "cgroup.procs", at);
			*end = '\n';
		}
	}
	r = enable(s->dir, e);
out:
	free(leaf);
	return r;
}

int
cgroup_open_at(const struct cgroup_site *s, const struct sandbox_limits *total,
    uid_t owner, struct cgroup **ret, struct err *e)
{
	struct cgroup *g = NULL;
	char rnd[13], *name;
	int r;

	if (s->kind == CGROUP_NONE)
		return err_set(e, -ENOTSUP, "%s", s->why);
	if ((r = divide(s, e)) < 0)
		return r;
	for (int i = 0; i < TRIES; i++) {
		g = group_new(s->kind, owner);
		hash_random_hex(rnd, 6);
		name = xasprintf(CGROUP_PREFIX "%ld-%s", (long)getpid(), rnd);
		r = make_dirs(g, s->dir, name, true, e);
		free(name);
		if (r != -EAGAIN && r != -EEXIST)
			break;
		(void)cgroup_close(&g, true);
	}
	if (g == NULL)
		return r;
	if (r == 0 && total != NULL)
		r = set_limits(g, total, e);
	if (r == 0 && g->kind == CGROUP_V2)
		r = enable(g->dir, e);
	if (r == 0)
		r = give_away(g, e);
	if (r < 0)
		(void)cgroup_close(&g, true);
	else
		*ret = g;
	return r;
}

int
cgroup_open(const struct sandbox_limits *total, uid_t owner,
    struct cgroup **ret, struct err *e)
{
	struct cgroup_site s;
	int r;

	cgroup_find(&s);
	if (s.kind != CGROUP_NONE)
		cgroup_sweep();
	r = cgroup_open_at(&s, total, owner, ret, e);
	cgroup_site_clear(&s);
	return r;
}

int
cgroup_child(struct cgroup *parent, const char *name,
    const struct sandbox_limits *l, struct cgroup **ret, struct err *e)
{
	struct cgroup *g;
	int r;

	*ret = NULL;
	if (parent == NULL)
		return 0;
	g = group_new(parent->kind, parent->owner);
	r = make_dirs(g, parent->dir, name, false, e);
	if (r == 0 && l != NULL)
		r = set_limits(g, l, e);
	if (r < 0)
		(void)cgroup_close(&g, true);
	else
		*ret = g;
	return r;
}
