/*
 * disk.c - what the workspaces hold, looked at now and then.
 */
#include "common/compat.h"

#include "worker/host/disk.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/spawn.h"
#include "sandbox/userns.h"
#include "sandbox/walk.h"

#define FIRST_MS 300
#define LEAST_MS 1000
#define MOST_MS 30000
#define SHARE 50 /* one part in so many of a processor's time */
#define ENTRY_BYTES 4096
#define RESERVE ((uint64_t)512 << 20)
#define FULL_BYTES ((uint64_t)64 << 10) /* as good as full */
#define GLANCE_MS 100

struct item {
	uint64_t id;
	uint64_t max;
	bool own_fs; /* a file system of its own, which tells how full it is */
	char *path;
};

struct result {
	uint64_t id;
	uint64_t bytes;
	uint64_t deep;
};

struct disk {
	struct loop *loop;
	char *dir;
	const struct disk_ops *ops;
	void *ctx;
	uint64_t reserve;
	struct item *items; /* of this round */
	size_t n, size;
	struct loop_watch *timer, *glance;
	uint64_t full_ms; /* when it was seen to be full; 0: never */
	struct loop_watch *watch;
	int fd;            /* of the child that measures; -1: none */
	struct result got; /* as far as it has come */
	size_t got_len;
	uint64_t began_ms;
};

static bool
free_bytes(const struct disk *d, uint64_t *ret, uint64_t *ret_all)
{
	struct statvfs st;

	if (statvfs(d->dir, &st) < 0)
		return false;
	*ret = (uint64_t)st.f_bavail * st.f_frsize;
	*ret_all = (uint64_t)st.f_blocks * st.f_frsize;
	return true;
}

static void
glance_cb(void *ctx)
{
	struct disk *d = ctx;
	struct statvfs st;

	if (statvfs(d->dir, &st) < 0)
		return;
	if ((uint64_t)st.f_bavail * st.f_frsize < FULL_BYTES ||
	    (st.f_files > 0 && st.f_favail == 0))
		d->full_ms = loop_now_ms();
}

bool
disk_was_full(struct disk *d, uint64_t since_ms)
{
	glance_cb(d);
	return d->full_ms != 0 && d->full_ms >= since_ms;
}

/* --- in the child -------------------------------------------------------- */

struct sum {
	struct result r;
	uint64_t max;
};

static int
entry(const struct walk_ent *w, void *ctx)
{
	uint64_t bytes = (uint64_t)w->st->st_blocks * 512;
	struct sum *s = ctx;

	/* Names alone fill a disk, too. */
	s->r.bytes += bytes > ENTRY_BYTES ? bytes : ENTRY_BYTES;
	return s->r.bytes > s->max ? -E2BIG : 0;
}

static int
unread(const char *path unused_arg, int error, void *ctx)
{
	struct sum *s = ctx;

	if (error == ENAMETOOLONG)
		s->r.deep = 1;
	return 0;
}

/* It can't hold more than its size: full is over the limit. */
static int
ask_fs(const struct item *it, int fd)
{
	struct result r = { .id = it->id };
	struct statvfs st;
	uint64_t left;

	if (statvfs(it->path, &st) < 0)
		return 0; /* it has just ended */
	left = (uint64_t)st.f_bfree * st.f_frsize;
	r.bytes = left < FULL_BYTES
	    ? it->max + 1
	    : (uint64_t)st.f_blocks * st.f_frsize - left;
	return fd_write_all(fd, &r, sizeof r);
}

static void measure(const struct disk *d, int fd) noreturn_fn;

static void
measure(const struct disk *d, int fd)
{
	static const struct walk_ops ops = { .entry = entry, .error = unread };
	struct sum s;
	int root;

	spawn_child_clean(&fd, 1);
	(void)prctl(PR_SET_NAME, "foray-disk", 0, 0, 0);
	(void)setpriority(PRIO_PROCESS, 0, 10);
	/* Before we are in a namespace beside theirs. */
	for (size_t i = 0; i < d->n; i++) {
		if (d->items[i].own_fs && ask_fs(&d->items[i], fd) < 0)
			_exit(0);
	}
	(void)userns_unshare(0, NULL); /* without it, what can be read */
	for (size_t i = 0; i < d->n; i++) {
		if (d->items[i].own_fs)
			continue;
		s = (struct sum){ .r = { .id = d->items[i].id },
			.max = d->items[i].max };
		root = open(d->items[i].path,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (root >= 0)
			(void)walk_tree(root, &ops, &s); /* as far as it went */
		fd_close(&root);
		if (fd_write_all(fd, &s.r, sizeof s.r) < 0)
			break;
	}
	_exit(0);
}

/* --- rounds -------------------------------------------------------------- */

static void round_cb(void *ctx);

static void
clear_items(struct disk *d)
{
	while (d->n > 0)
		free(d->items[--d->n].path);
}

static void
add(struct disk *d, uint64_t id, const char *path, uint64_t max, bool own_fs)
{
	if (d->n == d->size) {
		d->size = d->size > 0 ? 2 * d->size : 16;
		d->items = xreallocarray(d->items, d->size, sizeof *d->items);
	}
	d->items[d->n++] = (struct item){ id, max, own_fs, xstrdup(path) };
}

void
disk_add(struct disk *d, uint64_t id, const char *path, uint64_t max)
{
	add(d, id, path, max, false);
}

void
disk_add_fs(struct disk *d, uint64_t id, const char *path, uint64_t max)
{
	add(d, id, path, max, true);
}

static void
plan(struct disk *d, uint64_t ms)
{
	if (d->timer == NULL)
		d->timer = loop_timer_add(d->loop, ms, 0, round_cb, d);
}

static void
end_round(struct disk *d)
{
	uint64_t spent = loop_now_ms() - d->began_ms, wait, left, all;

	loop_del(d->loop, d->watch);
	d->watch = NULL;
	fd_close(&d->fd);
	d->got_len = 0;
	if (free_bytes(d, &left, &all) && left < d->reserve)
		d->ops->low(left, d->ctx);
	wait = spent * SHARE;
	plan(d, wait < LEAST_MS ? LEAST_MS : wait > MOST_MS ? MOST_MS : wait);
}

static void
read_cb(int fd, unsigned events unused_arg, void *ctx)
{
	struct disk *d = ctx;
	ssize_t n =
	    read(fd, (char *)&d->got + d->got_len, sizeof d->got - d->got_len);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		end_round(d);
		return;
	}
	d->got_len += (size_t)n;
	if (d->got_len < sizeof d->got)
		return;
	d->got_len = 0;
	d->ops->found(d->got.id, d->got.bytes, d->got.deep != 0, d->ctx);
}

static void
round_cb(void *ctx)
{
	struct disk *d = ctx;
	int fds[2];
	pid_t pid;

	d->timer = NULL;
	clear_items(d);
	d->ops->list(d, d->ctx);
	if (d->n == 0) {
		loop_del(d->loop, d->glance);
		d->glance = NULL;
		return; /* disk_poke() begins again */
	}
	d->began_ms = loop_now_ms();
	if (fd_pipe(fds) < 0) {
		plan(d, MOST_MS);
		return;
	}
	pid = fork();
	if (pid == 0)
		measure(d, fds[1]);
	fd_close(&fds[1]);
	if (pid < 0) {
		fd_close(&fds[0]);
		plan(d, MOST_MS);
		return;
	}
	/* The reaper takes it as an orphan; its pipe says when it is done. */
	d->fd = fds[0];
	(void)fd_nonblock(d->fd, true);
	d->watch = loop_fd_add(d->loop, d->fd, LOOP_IN, read_cb, d);
}

void
disk_poke(struct disk *d)
{
	if (d->watch == NULL)
		plan(d, FIRST_MS);
	if (d->glance == NULL)
		d->glance =
		    loop_timer_add(d->loop, GLANCE_MS, GLANCE_MS, glance_cb, d);
}

struct disk *
disk_create(
    struct loop *l, const char *dir, const struct disk_ops *ops, void *ctx)
{
	struct disk *d = xcalloc(1, sizeof *d);
	uint64_t left, all;

	d->loop = l;
	d->dir = xstrdup(dir);
	d->ops = ops;
	d->ctx = ctx;
	d->fd = -1;
	/* One that was full before we came is not our workers' fault. */
	if (free_bytes(d, &left, &all))
		d->reserve = left / 4 < RESERVE ? left / 4 : RESERVE;
	return d;
}

void
disk_free(struct disk *d)
{
	if (d == NULL)
		return;
	loop_del(d->loop, d->timer);
	loop_del(d->loop, d->glance);
	loop_del(d->loop, d->watch);
	fd_close(&d->fd);
	clear_items(d);
	free(d->items);
	free(d->dir);
	free(d);
}
