/*
 * cgroup.c - limits of a whole process tree; see cgroup.h.
 *
 * With V1 a group is a directory of the same name in each hierarchy, with V2
 * it is one; the code sees a list of different directories.
 */
#include "common/compat.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/cgroup.h"

#define PREFIX "foray-"
#define MAIN "foray-main" /* V2: where our own processes wait */
#define TRIES 8
#define BUSY_TRIES 40 /* a dead process leaves its group a little later */
#define BUSY_MS 5
#define PERIOD_US 100000
#define FILE_TEXT 8192

struct cgroup {
	enum cgroup_kind kind;
	char *dir[CGROUP_CTLS]; /* NULL: not limited */
	int lock[CGROUP_CTLS];  /* of cgroup_open(); else -1 */
	uid_t owner;
	uint64_t memory_bytes; /* its limit; 0: none */
	/* Ready for a child that may not allocate. */
	char *procs[CGROUP_CTLS];
	char *oom_file;
};

/* --- files of a group ---------------------------------------------------- */

/* Is dir[i] a directory of its own, and not one that came before it? */
static bool
is_first(char *const dir[CGROUP_CTLS], int i)
{
	for (int k = 0; dir[i] != NULL && k < i; k++)
		if (dir[k] != NULL && strcmp(dir[k], dir[i]) == 0)
			return false;
	return dir[i] != NULL;
}

static int
put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), r = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		r = -errno;
	fd_close(&fd);
	return r;
}

static int
put_in(const char *dir, const char *file, const char *text)
{
	char *path = path_join(dir, file);
	int r = put(path, text);

	free(path);
	return r;
}

/* "" when it can't be read. */
static void
get_in(const char *dir, const char *file, char *text, size_t size)
{
	char *path = path_join(dir, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	text[n > 0 ? n : 0] = '\0';
	fd_close(&fd);
	free(path);
}

/* The number after "key " at the start of a line, or 0. */
static uint64_t
count_of(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (; *text != '\0';
	     text += strcspn(text, "\n"), text += *text == '\n')
		if (strncmp(text, key, len) == 0 && text[len] == ' ')
			return strtoull(text + len + 1, NULL, 10);
	return 0;
}

static void
nap(long ms)
{
	struct timespec ts = { .tv_sec = 0, .tv_nsec = ms * 1000000 };

	(void)nanosleep(&ts, NULL);
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
	r = put_in(g->dir[c], file, text);
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

static void
group_free(struct cgroup *g)
{
	for (int i = 0; i < CGROUP_CTLS; i++) {
		fd_close(&g->lock[i]);
		free(g->dir[i]);
		free(g->procs[i]);
	}
	free(g->oom_file);
	free(g);
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
		if (!is_first(g->dir, i))
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
		for (size_t k = 0; is_first(g->dir, i) && k < nitems(files);
		     k++) {
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
		r = put_in(only_dir(dir), "cgroup.subtree_control", words);
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
	char *leaf, text[FILE_TEXT], *at, *end;
	int r = 0;

	if (s->kind != CGROUP_V2 || s->is_divided)
		return 0;
	leaf = path_join(dir, MAIN);
	if (mkdir(leaf, 0755) < 0 && errno != EEXIST) {
		r = err_set(e, -errno, "mkdir %s: %s", leaf, strerror(errno));
		goto out;
	}
	/* One at a time is what the file takes; some may have gone. */
	get_in(dir, "cgroup.procs", text, sizeof text);
	for (at = text; *at != '\0'; at = *end != '\0' ? end + 1 : end) {
		end = at + strcspn(at, "\n");
		if (*end == '\n') {
			*end = '\0';
			(void)put_in(leaf, "cgroup.procs", at);
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
		name = xasprintf(PREFIX "%ld-%s", (long)getpid(), rnd);
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

/* --- processes ----------------------------------------------------------- */

int
cgroup_enter(const struct cgroup *g, struct err *e)
{
	int r;

	for (int i = 0; g != NULL && i < CGROUP_CTLS; i++) {
		if (!is_first(g->dir, i))
			continue;
		r = put(g->procs[i], "0");
		if (r < 0)
			return err_set(e, r, "enter the group %s: %s",
			    g->dir[i], strerror(-r));
	}
	return 0;
}

static const char *
freezer_file(const struct cgroup *g)
{
	return g->kind == CGROUP_V2 ? "cgroup.freeze" : "freezer.state";
}

static const char *
freezer_word(const struct cgroup *g, bool on)
{
	if (g->kind == CGROUP_V2)
		return on ? "1" : "0";
	return on ? "FROZEN" : "THAWED";
}

int
cgroup_freeze(struct cgroup *g, bool on)
{
	int r;

	if (g == NULL)
		return 0;
	if (g->dir[CGROUP_FREEZER] == NULL)
		return -ENOTSUP;
	r = put_in(
	    g->dir[CGROUP_FREEZER], freezer_file(g), freezer_word(g, on));
	return r == -ENOENT ? -ENOTSUP : r;
}

bool
cgroup_is_frozen(const struct cgroup *g)
{
	char text[FILE_TEXT];

	if (g == NULL || g->dir[CGROUP_FREEZER] == NULL)
		return false;
	if (g->kind == CGROUP_V2) {
		get_in(
		    g->dir[CGROUP_FREEZER], "cgroup.events", text, sizeof text);
		return count_of(text, "frozen") > 0;
	}
	get_in(g->dir[CGROUP_FREEZER], "freezer.state", text, sizeof text);
	return text_starts(text, "FROZEN");
}

/* Call fn for dir and all groups below it, the deepest first. */
static void
each_below(const char *dir, void (*fn)(const char *dir, enum cgroup_kind kind),
    enum cgroup_kind kind)
{
	struct dirent *d;
	DIR *p = opendir(dir);
	char *sub;

	while (p != NULL && (d = readdir(p)) != NULL) {
		if (d->d_type != DT_DIR || d->d_name[0] == '.')
			continue;
		sub = path_join(dir, d->d_name);
		each_below(sub, fn, kind);
		free(sub);
	}
	if (p != NULL)
		closedir(p);
	fn(dir, kind);
}

static void
thaw_dir(const char *dir, enum cgroup_kind kind)
{
	/* Only one of the hierarchies has the file. */
	if (kind == CGROUP_V2)
		(void)put_in(dir, "cgroup.freeze", "0");
	else
		(void)put_in(dir, "freezer.state", "THAWED");
}

static void
kill_dir(const char *dir, enum cgroup_kind kind)
{
	char text[FILE_TEXT], *at, *end;
	long pid;

	if (kind == CGROUP_V2 && put_in(dir, "cgroup.kill", "1") == 0)
		return;
	get_in(dir, "cgroup.procs", text, sizeof text);
	for (at = text; *at != '\0'; at = end) {
		pid = strtol(at, &end, 10);
		if (end == at)
			break;
		/* 0: of another pid namespace. */
		if (pid > 1 && pid != getpid())
			(void)kill((pid_t)pid, SIGKILL);
	}
}

static void
each_dir(char *const dir[CGROUP_CTLS], enum cgroup_kind kind,
    void (*fn)(const char *dir, enum cgroup_kind kind))
{
	for (int i = 0; i < CGROUP_CTLS; i++)
		if (is_first(dir, i))
			each_below(dir[i], fn, kind);
}

void
cgroup_thaw(struct cgroup *g)
{
	if (g == NULL)
		return;
	each_dir(g->dir, g->kind, thaw_dir);
}

void
cgroup_kill(struct cgroup *g)
{
	if (g == NULL)
		return;
	cgroup_thaw(g);
	each_dir(g->dir, g->kind, kill_dir);
}

/* --- what happened ------------------------------------------------------- */

uint64_t
cgroup_oom_count(const char *text)
{
	return count_of(text, "oom_kill");
}

const char *
cgroup_oom_file(const struct cgroup *g)
{
	return g != NULL ? g->oom_file : NULL;
}

void
cgroup_events(const struct cgroup *g, struct cgroup_events *ret)
{
	bool v2 = g != NULL && g->kind == CGROUP_V2;
	char text[FILE_TEXT];
	const char *dir;

	memset(ret, 0, sizeof *ret);
	if (g == NULL || (dir = g->dir[CGROUP_MEMORY]) == NULL)
		return;
	get_in(dir, path_base(g->oom_file), text, sizeof text);
	ret->oom_kills = cgroup_oom_count(text);
	if (v2) {
		ret->memory_hits = count_of(text, "max");
	} else {
		get_in(dir, "memory.failcnt", text, sizeof text);
		ret->memory_hits = strtoull(text, NULL, 10);
	}
	get_in(dir, v2 ? "memory.peak" : "memory.max_usage_in_bytes", text,
	    sizeof text);
	ret->memory_peak = strtoull(text, NULL, 10);
	/* New kernels have stopped counting for version 1. */
	if (ret->memory_hits == 0 && g->memory_bytes > 0 &&
	    ret->memory_peak >= g->memory_bytes - g->memory_bytes / 32)
		ret->memory_hits = 1;
	get_in(g->dir[CGROUP_PIDS], "pids.events", text, sizeof text);
	ret->pids_hits = count_of(text, "max");
}

/* --- the end ------------------------------------------------------------- */

/* What is left of it is found by the caller. */
static void
remove_one(const char *dir, enum cgroup_kind kind unused_arg)
{
	(void)rmdir(dir);
}

static bool
is_gone(char *const dir[CGROUP_CTLS])
{
	for (int i = 0; i < CGROUP_CTLS; i++)
		if (dir[i] != NULL && access(dir[i], F_OK) == 0)
			return false;
	return true;
}

static int
remove_dirs(char *const dir[CGROUP_CTLS], enum cgroup_kind kind, int tries)
{
	for (int i = 0; i < tries; i++) {
		if (i > 0)
			nap(BUSY_MS);
		each_dir(dir, kind, remove_one);
		if (is_gone(dir))
			return 0;
	}
	return -EBUSY;
}

static bool
is_locked(const struct cgroup *g)
{
	for (int i = 0; i < CGROUP_CTLS; i++)
		if (g->lock[i] >= 0)
			return true;
	return false;
}

int
cgroup_close(struct cgroup **g, bool remove)
{
	int r = 0;

	if (*g == NULL)
		return 0;
	/* One that is locked is the last act of its program, which can wait a
	 * little; others are closed in a loop. */
	if (remove)
		r = remove_dirs(
		    (*g)->dir, (*g)->kind, is_locked(*g) ? BUSY_TRIES : 1);
	group_free(*g);
	*g = NULL;
	return r;
}

void
cgroup_forget(struct cgroup **g)
{
	if (*g != NULL)
		group_free(*g); /* closing a copy does not unlock */
	*g = NULL;
}

/* "foray-PID-random", as made above. */
static bool
is_ours(const char *name)
{
	size_t n;

	if (!text_starts(name, PREFIX))
		return false;
	name += strlen(PREFIX);
	n = strspn(name, "0123456789");
	return n > 0 && name[n] == '-' &&
	    strspn(name + n + 1, "0123456789abcdef") == 12 &&
	    name[n + 13] == '\0';
}

static void
sweep_one(const char *path, enum cgroup_kind kind)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *dir[CGROUP_CTLS] = { NULL };

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
		dir[0] = xstrdup(path);
		if (remove_dirs(dir, kind, 1) < 0) {
			each_dir(dir, kind, thaw_dir);
			each_dir(dir, kind, kill_dir);
			(void)remove_dirs(dir, kind, BUSY_TRIES);
		}
		free(dir[0]);
	}
	fd_close(&fd);
}

void
cgroup_sweep(void)
{
	struct cgroup_site s;
	struct dirent *d;
	char *path;
	DIR *p;

	cgroup_find(&s);
	/* The freezer's first: what is frozen does not die in the others. */
	for (int i = CGROUP_CTLS - 1; i >= 0; i--) {
		p = s.dir[i] != NULL ? opendir(s.dir[i]) : NULL;
		while (p != NULL && (d = readdir(p)) != NULL) {
			if (!is_ours(d->d_name))
				continue;
			path = path_join(s.dir[i], d->d_name);
			sweep_one(path, s.kind);
			free(path);
		}
		if (p != NULL)
			closedir(p);
	}
	cgroup_site_clear(&s);
}
