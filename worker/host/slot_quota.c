/*
 * slot_quota.c - a worker's control group, its freezing, and its disk.
 */
#include "common/compat.h"

#include <errno.h>
#include <unistd.h>

#include "common/log.h"
#include "common/path.h"
#include "sandbox/cgroup.h"
#include "worker/host/place.h"
#include "worker/host/slot_int.h"

#define BLAME_LEAST ((uint64_t)16 << 20) /* who holds less did not fill it */

static uint64_t
mib(uint64_t bytes)
{
	return bytes >> 20;
}

/* --- control group ------------------------------------------------------- */

int
slot_limit(struct slot *s, const struct msg_assign *a, struct err *e)
{
	const struct quota *q = s->all->conf.quota;
	char name[32];
	int r;

	r = quota_worker(q, a, &s->limits, &s->inner_limits, e);
	if (r < 0 || q->group == NULL)
		return r;
	(void)snprintf(name, sizeof name, "w%ju", (uintmax_t)s->id);
	return cgroup_child(q->group, name, &s->limits, &s->group, e);
}

uint64_t
slot_tmpfs_bytes(const struct slot *s)
{
	uint64_t max = s->limits.memory_bytes / 2;

	return s->limits.disk_bytes < max ? s->limits.disk_bytes : max;
}

const char *
slot_memory_reason(const struct slot *s, char *why, size_t size)
{
	struct cgroup_events ev;

	cgroup_events(s->group, &ev);
	if (ev.oom_kills == 0)
		return NULL;
	if (ev.memory_hits > 0)
		(void)snprintf(why, size,
		    "killed: the memory limit of %ju MiB was reached",
		    (uintmax_t)mib(s->limits.memory_bytes));
	else
		(void)snprintf(why, size,
		    "killed: all workers together, or the machine, ran out of "
		    "memory (%ju MiB were in use here at most)",
		    (uintmax_t)mib(ev.memory_peak));
	return "memory";
}

/* --- freezing ------------------------------------------------------------ */

static int
freeze(struct slot *s, bool on)
{
	uint64_t now = loop_now_ms();
	int r;

	if (s->group == NULL || s->state == SLOT_ENDING)
		return s->group == NULL ? -ENOTSUP : 0;
	if (s->frozen == on)
		return 0;
	r = cgroup_freeze(s->group, on);
	if (r < 0)
		return r;
	s->frozen = on;
	/* What is frozen spends no time. */
	if (on)
		s->wall_left = s->wall_at > now ? s->wall_at - now : 1;
	slot_arm_wall(s, on ? 0 : s->wall_left);
	return 0;
}

int
slots_freeze(struct slots *all, const char *name, bool on)
{
	struct slot *s;
	int r = 0, one;

	TAILQ_FOREACH (s, &all->list, entry) {
		if (s->spare ||
		    (name != NULL && name[0] != '\0' &&
			strcmp(s->name, name) != 0))
			continue;
		one = freeze(s, on);
		if (one < 0)
			r = one;
	}
	return r;
}

/* --- disk ---------------------------------------------------------------- */

static struct slot *
by_id(struct slots *all, uint64_t id)
{
	struct slot *s;

	TAILQ_FOREACH (s, &all->list, entry)
		if (s->id == id)
			return s;
	return NULL;
}

static void
list_cb(struct disk *d, void *ctx)
{
	struct slots *all = ctx;
	struct slot *s;
	char *path;

	TAILQ_FOREACH (s, &all->list, entry) {
		if (s->state == SLOT_ENDING || s->spare)
			continue;
		/* A tmpfs has a size of its own; it is mounted where bwrap
		 * was started. */
		if (s->ws.layout == LAYOUT_TMPFS) {
			if (s->proc.pid <= 0)
				continue;
			path = xasprintf("/proc/%d/root%s", (int)s->proc.pid,
			    s->ws.overlay.dir);
			disk_add_fs(d, s->id, path, slot_tmpfs_bytes(s));
			free(path);
			continue;
		}
		/* What a copy began with is told by what it was made from: it
		 * may have grown before anybody looks. */
		if (s->ws.layout == LAYOUT_COPY)
			path = xstrdup(s->disk_seen ? s->ws.tree_src : s->base);
		else
			path = path_join(s->ws.overlay.dir, "up");
		disk_add(d, s->id, path,
		    s->ws.layout == LAYOUT_COPY && !s->disk_seen
			? UINT64_MAX
			: s->limits.disk_bytes + s->disk_base + BLAME_LEAST);
		free(path);
	}
}

static uint64_t
disk_max(const struct slot *s)
{
	return s->ws.layout == LAYOUT_TMPFS ? slot_tmpfs_bytes(s)
					    : s->limits.disk_bytes;
}

static void
found_cb(uint64_t id, uint64_t bytes, bool deep, void *ctx)
{
	struct slot *s = by_id(ctx, id);

	if (s == NULL || s->state == SLOT_ENDING)
		return;
	if (!s->disk_seen && s->ws.layout == LAYOUT_COPY) {
		s->disk_base = bytes;
		s->disk_seen = true;
		return;
	}
	s->disk_bytes = bytes > s->disk_base ? bytes - s->disk_base : 0;
	if (deep)
		slot_end(s, "disk",
		    "killed: its workspace is nested too deep to be measured");
	else if (s->disk_bytes > disk_max(s))
		slot_end(s, "disk",
		    "killed: its workspace has grown over the disk limit of "
		    "%ju MiB",
		    (uintmax_t)mib(disk_max(s)));
}

static void
low_cb(uint64_t free_bytes, void *ctx)
{
	struct slots *all = ctx;
	struct slot *s, *most = NULL;

	TAILQ_FOREACH (s, &all->list, entry)
		if (s->state != SLOT_ENDING && s->disk_bytes >= BLAME_LEAST &&
		    s->ws.layout != LAYOUT_TMPFS &&
		    (most == NULL || s->disk_bytes > most->disk_bytes))
			most = s;
	if (most != NULL)
		slot_end(most, "disk",
		    "killed: only %ju MiB are left on the disk of the "
		    "workspaces, below %s, and it held the most of all workers "
		    "(%ju MiB)",
		    (uintmax_t)mib(free_bytes), all->conf.place->scratch_name,
		    (uintmax_t)mib(most->disk_bytes));
}

const struct disk_ops slot_disk_ops = {
	.list = list_cb,
	.found = found_cb,
	.low = low_cb,
};
