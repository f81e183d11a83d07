/*
 * slot.c - the workers of a host, from ASSIGN to WORKER_EXIT.
 *
 * DESIGN
 *
 * A slot is done when its process is reaped and its stderr is at its end; the
 * second wait is bounded, since a descriptor can be held by what is still
 * dying. Reaping the outer bwrap is not the end of all its tree (its pid
 * namespace dies a few milliseconds later), the end of stderr mostly is, and
 * the removal of the workspace tries again.
 */
#include "common/compat.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "sandbox/cgroup.h"
#include "worker/host/intake.h"
#include "worker/host/pool.h"
#include "worker/host/reap.h"
#include "worker/host/slot_int.h"

#define READY_MS 30000
#define DRAIN_MS 500   /* from the exit to the end of stderr */
#define LINGER_MS 5000 /* from SUMMARY_ACK to the exit */
#define LOST_MS 1000   /* from a lost connection to the exit */
#define STDERR_BITE 16384

static void slot_finish(struct slot *s);

/* --- the end ------------------------------------------------------------- */

void
slot_ids(const struct slot *s, struct log_ids *old)
{
	log_ids_get(old);
	log_id(LOG_ID_WORKER, s->name);
	log_id(LOG_ID_SUBTASK, s->subtask);
	log_id_number(LOG_ID_ATTEMPT, "", s->attempt);
}

void
slot_end(struct slot *s, const char *reason, const char *fmt, ...)
{
	struct log_ids old;
	va_list ap;

	if (s->state == SLOT_ENDING)
		return;
	s->state = SLOT_ENDING;
	s->reason = reason;
	va_start(ap, fmt);
	(void)vsnprintf(s->why, sizeof s->why, fmt, ap);
	va_end(ap);
	if (s->spare) {
		log_debug("a spare worker ends: %s", s->why);
	} else {
		slot_ids(s, &old);
		log_info("worker %s ends (%s): %s", s->name, reason, s->why);
		log_ids_set(&old);
	}
	if (s->child != NULL)
		sandbox_kill(&s->proc);
	/* What is frozen does not die. */
	if (s->frozen)
		cgroup_thaw(s->group);
}

/* --- by name -------------------------------------------------------------- */

static int
slot_cmp(const struct slot *a, const struct slot *b)
{
	return strcmp(a->name, b->name);
}

/* libbsd's RB_GENERATE_STATIC wants __unused, which glibc has not. */
RB_GENERATE_INTERNAL(slot_tree, slot, node, slot_cmp, unused_arg static)

static struct slot *
slot_find(struct slots *all, const char *name)
{
	struct slot key;

	/* One that is longer is none: it is not cut to another's. */
	if (strlcpy(key.name, name, sizeof key.name) >= sizeof key.name)
		return NULL;
	return RB_FIND(slot_tree, &all->by_name, &key);
}

/* A spare has none yet. */
static void
slot_name(struct slot *s, const char *name)
{
	(void)strlcpy(s->name, name, sizeof s->name);
	(void)RB_INSERT(slot_tree, &s->all->by_name, s);
}

static void
slot_free(struct slot *s)
{
	struct loop *l = s->all->conf.loop;

	relay_forget(s->all->conf.up, &s->share);
	loop_del(l, s->child);
	loop_del(l, s->err_watch);
	loop_del(l, s->report_watch);
	loop_del(l, s->deadline);
	loop_del(l, s->wall);
	peer_free(s->peer);
	ipc_unlink(&s->listener);
	slot_net_free(s);
	fd_close(&s->listen_fd);
	fd_close(&s->report_fd);
	fd_close(&s->dir_fd);
	fd_close(&s->hold_fd);
	fd_close(&s->err_fd);
	fd_close(&s->proc.status_fd);
	fd_close(&s->proc.init_fd);
	if (cgroup_close(&s->group, true) < 0)
		log_debug("worker %s: its group is still busy", s->name);
	reap_workspace(s->all->conf.reaper, &s->ws);
	buf_clear(&s->tail);
	buf_clear(&s->asked);
	explicit_bzero(s->token, sizeof s->token);
	free(s->link);
	free(s->tmp);
	free(s->base);
	if (s->name[0] != '\0')
		(void)RB_REMOVE(slot_tree, &s->all->by_name, s);
	TAILQ_REMOVE(&s->all->list, s, entry);
	s->all->n--;
	free(s);
}

static void
finish_cb(void *ctx)
{
	struct slot *s = ctx;
	struct slots *all = s->all;

	slot_report_exit(s);
	/* One that fails would fail again, and again. */
	if (s->spare && (s->reason == NULL || strcmp(s->reason, "spare") != 0))
		pool_end(all->pool, "one has failed");
	slot_free(s);
	pool_poke(all->pool);
	if (all->conf.on_free != NULL)
		all->conf.on_free(all->conf.ctx);
}

/* Process and output are at their end. Deferred: its last messages may be
 * waiting in the socket in this same round. */
static void
slot_finish(struct slot *s)
{
	struct loop *l = s->all->conf.loop;

	loop_del(l, s->deadline);
	s->deadline = NULL;
	loop_del(l, s->err_watch);
	s->err_watch = NULL;
	loop_defer(l, finish_cb, s);
}

static void
drain_cb(void *ctx)
{
	struct slot *s = ctx;

	s->deadline = NULL;
	loop_del(s->all->conf.loop, s->err_watch);
	s->err_watch = NULL;
	fd_close(&s->err_fd);
	slot_finish(s);
}

static void
child_cb(pid_t pid, int status, void *ctx)
{
	struct slot *s = ctx;
	struct loop *l = s->all->conf.loop;

	s->child = NULL;
	s->wait_status = status;
	loop_del(l, s->wall);
	s->wall = NULL;
	loop_del(l, s->deadline);
	s->deadline = NULL;
	reap_done(s->all->conf.reaper, pid);
	if (s->err_fd < 0)
		slot_finish(s);
	else
		s->deadline = loop_timer_add(l, DRAIN_MS, 0, drain_cb, s);
}

/* --- while it runs ------------------------------------------------------- */

static void
stderr_cb(int fd, unsigned events unused_arg, void *ctx)
{
	struct slot *s = ctx;
	char bite[STDERR_BITE];
	const char *p = bite;
	ssize_t n;

	n = read(fd, bite, sizeof bite);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		loop_del(s->all->conf.loop, s->err_watch);
		s->err_watch = NULL;
		fd_close(&s->err_fd);
		if (s->child == NULL)
			slot_finish(s);
		return;
	}
	if (n > TAIL_MAX) {
		p += n - TAIL_MAX;
		n = TAIL_MAX;
	}
	if (s->tail.len + (size_t)n > TAIL_MAX)
		buf_drain(&s->tail, s->tail.len + (size_t)n - TAIL_MAX);
	(void)buf_add(&s->tail, p, (size_t)n); /* fits now */
}

/* The wire has something against the worker, or is gone. */
static void
report_cb(int fd, unsigned events unused_arg, void *ctx)
{
	struct slot *s = ctx;
	char text[256];
	ssize_t n = read(fd, text, sizeof text - 1);

	text[n > 0 ? n : 0] = '\0';
	loop_del(s->all->conf.loop, s->report_watch);
	s->report_watch = NULL;
	fd_close(&s->report_fd);
	slot_end(
	    s, "protocol", "%s", n > 0 ? text : "the wire to it is broken");
}

static void
not_ready_cb(void *ctx)
{
	struct slot *s = ctx;

	s->deadline = NULL;
	slot_end(s, "start", "no READY came within %d s", READY_MS / 1000);
}

static void
lost_cb(void *ctx)
{
	struct slot *s = ctx;

	s->deadline = NULL;
	slot_end(s, "protocol", "its connection is lost");
}

static void
linger_cb(void *ctx)
{
	struct slot *s = ctx;

	s->deadline = NULL;
	slot_end(s, "timeout", "it did not end %d s after its summary",
	    LINGER_MS / 1000);
}

static void
wall_cb(void *ctx)
{
	struct slot *s = ctx;

	s->wall = NULL;
	slot_end(s, "timeout", "the time limit of the subtask is over");
}

void
slot_arm_wall(struct slot *s, uint64_t ms)
{
	struct loop *l = s->all->conf.loop;

	loop_del(l, s->wall);
	s->wall = NULL;
	s->wall_at = loop_now_ms() + ms;
	if (ms > 0)
		s->wall = loop_timer_add(l, ms, 0, wall_cb, s);
}

void
slot_is_up(struct slot *s)
{
	loop_del(s->all->conf.loop, s->deadline);
	s->deadline = NULL;
	s->state = SLOT_UP;
	if (!s->spare)
		pool_poke(s->all->pool);
}

void
slots_deliver(struct slots *all, const char *name, enum msg_type type,
    const void *raw, size_t len)
{
	struct slot *s = slot_find(all, name);
	struct err e;
	int r;

	if (s == NULL || s->state != SLOT_UP) {
		log_debug("%s for worker '%s', which is not up", msg_name(type),
		    name);
		return;
	}
	r = peer_relay(s->peer, &s->addr, s->name, raw, len, &e);
	if (r == 0) {
		slot_answered(s, type);
		/* Its work is done; its slot is for others. */
		if (type == MSG_SUMMARY_ACK && s->deadline == NULL)
			s->deadline = loop_timer_add(
			    all->conf.loop, LINGER_MS, 0, linger_cb, s);
		return;
	}
	if (r != -EHOSTUNREACH) {
		slot_end(
		    s, "protocol", "%s for it: %s", msg_name(type), e.text);
		return;
	}
	/* Most likely it has just exited; its status says more than we can. */
	if (s->deadline == NULL)
		s->deadline =
		    loop_timer_add(all->conf.loop, LOST_MS, 0, lost_cb, s);
}

static bool
is_name(const char *s)
{
	size_t len = strlen(s);

	return len >= 1 && len <= PEER_WORKER_MAX &&
	    strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

void
slots_cancel(struct slots *all, const char *name, const char *why)
{
	struct slot *s;

	/* Its ASSIGN was lost, or its end: who asks wants to know. */
	if (name != NULL && name[0] != '\0' && slot_find(all, name) == NULL &&
	    !intake_has(all->conf.intake, name) && is_name(name)) {
		slot_send_exit(all, name, "cancelled", 0, "it is not here");
		return;
	}
	TAILQ_FOREACH (s, &all->list, entry)
		if (name == NULL || name[0] == '\0' ||
		    strcmp(s->name, name) == 0)
			slot_end(s, "cancelled", "%s", why);
	intake_cancel(all->conf.intake, name, "cancelled", why);
}

/* --- the start ----------------------------------------------------------- */

static struct slot *
slot_create(struct slots *all, const char *name)
{
	struct slot *s = xcalloc(1, sizeof *s);

	s->all = all;
	s->id = all->seq++;
	s->born_ms = loop_now_ms();
	s->state = SLOT_STARTING;
	if (name[0] != '\0')
		slot_name(s, name);
	s->dir_fd = -1;
	s->hold_fd = -1;
	s->listen_fd = -1;
	s->report_fd = -1;
	s->err_fd = -1;
	s->proc.status_fd = -1;
	s->proc.init_fd = -1;
	buf_init(&s->tail, TAIL_MAX);
	TAILQ_INSERT_TAIL(&all->list, s, entry);
	all->n++;
	return s;
}

static void
slot_watch(struct slot *s)
{
	struct loop *l = s->all->conf.loop;

	reap_know(s->all->conf.reaper, s->proc.pid);
	s->child = loop_child_add(l, s->proc.pid, child_cb, s);
	if (s->child == NULL)
		fatal("worker %s: its process can't be watched: %s", s->name,
		    strerror(errno));
	s->err_watch = loop_fd_add(l, s->err_fd, LOOP_IN, stderr_cb, s);
	s->report_watch = loop_fd_add(l, s->report_fd, LOOP_IN, report_cb, s);
	loop_many(l, s->child);
	loop_many(l, s->err_watch);
	loop_many(l, s->report_watch);
	s->deadline = loop_timer_add(l, READY_MS, 0, not_ready_cb, s);
}

void
slots_refuse(
    struct slots *all, const char *name, const char *reason, const char *why)
{
	log_warn("worker %s is not started: %s", name, why);
	slot_send_exit(all, name, reason, 0, why);
}

int
slot_begin(struct slots *all, const char *name, const struct msg_assign *a,
    bool spare, struct slot **ret, struct err *e)
{
	struct slot *s = slot_create(all, name);
	int r;

	s->spare = spare;
	r = slot_make(s, a, e);
	if (r < 0) {
		slot_free(s);
		return r;
	}
	slot_watch(s);
	*ret = s;
	return 0;
}

/* One that waits already, or a new one. */
static int
find_worker(struct slots *all, const char *name, const struct msg_assign *a,
    struct slot **ret, struct err *e)
{
	struct sandbox_limits outer, inner;
	struct slot *s;
	int r;

	r = quota_worker(all->conf.quota, a, &outer, &inner, e);
	if (r < 0)
		return r;
	s = pool_take(all->pool, a, &outer, &inner);
	if (s == NULL) {
		if (all->n >= all->conf.max)
			pool_make_room(all->pool);
		r = slot_begin(all, name, a, false, &s, e);
	} else {
		slot_name(s, name);
		s->warm = true;
		if (s->state == SLOT_UP)
			slot_say_ready(s);
	}
	if (r < 0)
		return r;
	pool_like(all->pool, a, &outer, &inner);
	*ret = s;
	return 0;
}

void
slots_assign(struct slots *all, const char *name, const struct msg_assign *a)
{
	struct sandbox_limits outer, inner;
	struct slot *s;
	struct err e;
	int r;

	if (!is_name(name)) {
		slots_refuse(
		    all, name, "start", "the worker's name is not allowed");
		return;
	}
	if (slot_find(all, name) != NULL ||
	    intake_has(all->conf.intake, name)) {
		/* An answer would be taken for the running one's end. */
		log_warn("ASSIGN for worker %s, which is there: ignored", name);
		return;
	}
	if (slots_busy(all) >= all->conf.max) {
		slots_refuse(all, name, "full", "no free slot");
		return;
	}
	/* Before the snapshot comes, for nothing. */
	if (slot_check(a, &e) < 0 ||
	    quota_worker(all->conf.quota, a, &outer, &inner, &e) < 0) {
		slots_refuse(all, name, "start", e.text);
		return;
	}
	if (intake_take(all->conf.intake, name, a))
		return;
	r = find_worker(all, name, a, &s, &e);
	if (r < 0) {
		slots_refuse(
		    all, name, r == ERR_SANDBOX ? "sandbox" : "start", e.text);
		return;
	}
	(void)strlcpy(s->subtask, a->subtask, sizeof s->subtask);
	s->attempt = a->attempt;
	slot_arm_wall(s, a->wall_ms);
	disk_poke(all->disk);
	log_info("worker %s: pid %d%s, subtask %s, attempt %ju", name,
	    (int)s->proc.pid, s->warm ? ", was waiting" : "",
	    msg_str(a->subtask), (uintmax_t)a->attempt);
}

/* --- those that had to wait for their snapshot --------------------------- */

static void
snapshot_ready(const char *name, const struct msg_assign *a, void *ctx)
{
	slots_assign(*(struct slots **)ctx, name, a);
}

static void
snapshot_failed(
    const char *name, const char *reason, const char *why, void *ctx)
{
	struct slots *all = *(struct slots **)ctx;

	slots_refuse(all, name, reason, why);
	if (all->conf.on_free != NULL)
		all->conf.on_free(all->conf.ctx);
}

const struct intake_ops slots_intake_ops = {
	.ready = snapshot_ready,
	.failed = snapshot_failed,
};

/* --- all of them --------------------------------------------------------- */

struct slots *
slots_create(const struct slots_conf *conf)
{
	struct slots *all = xcalloc(1, sizeof *all);

	all->conf = *conf;
	TAILQ_INIT(&all->list);
	RB_INIT(&all->by_name);
	all->disk = disk_create(conf->loop, conf->scratch, &slot_disk_ops, all);
	all->pool = pool_create(all, conf->spares);
	return all;
}

void
slots_free(struct slots *all)
{
	struct slot *s;

	if (all == NULL)
		return;
	intake_cancel(all->conf.intake, NULL, "killed", "its host ends");
	while ((s = TAILQ_FIRST(&all->list)) != NULL) {
		if (s->child != NULL)
			sandbox_kill(&s->proc);
		cgroup_thaw(s->group);
		if (!s->spare)
			slot_send_exit(all, s->name, "killed", 128 + SIGKILL,
			    "its host ends");
		slot_free(s);
	}
	pool_free(all->pool);
	disk_free(all->disk);
	free(all);
}

size_t
slots_busy(const struct slots *all)
{
	const struct slot *s;
	size_t n = intake_waiting(all->conf.intake);

	TAILQ_FOREACH (s, &all->list, entry)
		n += !s->spare;
	return n;
}

void
slots_drain(struct slots *all)
{
	pool_end(all->pool, "the host is draining");
}
