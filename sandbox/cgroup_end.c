/*
 * cgroup_end.c - groups that are not needed any more; see cgroup.h.
 */
#include "common/compat.h"

#include <sys/file.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/cgroup_priv.h"

#define BUSY_TRIES 40 /* a dead process leaves its group a little later */
#define BUSY_MS 5

static void
nap(long ms)
{
	struct timespec ts = { .tv_sec = 0, .tv_nsec = ms * 1000000 };

	(void)nanosleep(&ts, NULL);
}

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
		cgroup_each(dir, kind, remove_one);
		if (is_gone(dir))
			return 0;
	}
	return -EBUSY;
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

	if (!text_starts(name, CGROUP_PREFIX))
		return false;
	name += strlen(CGROUP_PREFIX);
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
			cgroup_each(dir, kind, cgroup_thaw_dir);
			cgroup_each(dir, kind, cgroup_kill_dir);
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
