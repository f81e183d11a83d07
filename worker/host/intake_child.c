/* intake_child.c - the process that takes a snapshot in. */
#include "common/compat.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/num.h"
#include "common/spawn.h"
#include "common/text.h"
#include "sandbox/snapshot_cache.h"
#include "sandbox/snapshot_import.h"
#include "worker/host/intake_int.h"

#define PROGRESS_MS 250
#define DETAIL_MAX 900

struct line {
	int sock;
	const char *id;
	uint64_t asked, answered; /* numbers of the last ones */
	uint64_t said_ms;
	const char *store;
	uint64_t cache_max;                 /* 0: no limit */
	struct msg *early[SNAPSHOT_WINDOW]; /* that came before their turn */
	struct msg *now;                    /* the one that is being used */
	struct buf in;
};

static int
hung_up(struct err *e)
{
	return err_set(e, -ECANCELED, "nobody wants the snapshot any more");
}

static int
send_msg(struct line *l, const struct msg *m, struct err *e)
{
	struct buf b;
	uint32_t len = 0;
	int r;

	buf_init(&b, INTAKE_FRAME_MAX);
	(void)buf_add(&b, &len, sizeof len);
	r = msg_encode(m, &b, e);
	if (r == 0) {
		len = (uint32_t)(b.len - sizeof len);
		memcpy(b.data, &len, sizeof len);
		if (fd_write_all(l->sock, b.data, b.len) < 0)
			r = hung_up(e);
	}
	buf_clear(&b);
	return r;
}

static int
read_exactly(struct line *l, void *dst, size_t len, struct err *e)
{
	char *at = dst;
	ssize_t n;

	while (len > 0) {
		n = read(l->sock, at, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return hung_up(e);
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static int
receive(struct line *l, struct msg **ret, struct err *e)
{
	uint32_t len;
	int r;

	r = read_exactly(l, &len, sizeof len, e);
	if (r < 0)
		return r;
	buf_reset(&l->in);
	if (len > INTAKE_FRAME_MAX || buf_reserve(&l->in, len) < 0)
		return err_set(e, ERR_LIMIT, "a SNAPSHOT is too large");
	r = read_exactly(l, l->in.data, len, e);
	if (r == 0)
		r = msg_decode(l->in.data, len, ret, e);
	return r;
}

/* --- as a source ---------------------------------------------------------- */

static int
ask(const struct snapshot_range *r, size_t n, void *ctx, struct err *e)
{
	struct line *l = ctx;
	struct msg m = { .type = MSG_NEED };
	struct buf b;
	int rc;

	buf_init(&b, BUF_NOMAX);
	snapshot_ranges_put(&b, r, n);
	m.u.need.snapshot = l->id;
	m.u.need.seq = ++l->asked;
	m.u.need.ranges = b.data;
	m.u.need.ranges_len = b.len;
	rc = send_msg(l, &m, e);
	buf_clear(&b);
	return rc;
}

static int
answer(struct snapshot_answer *ret, void *ctx, struct err *e)
{
	struct line *l = ctx;
	uint64_t want = ++l->answered, seq;
	struct msg **place = &l->early[want % SNAPSHOT_WINDOW], *m;
	const struct msg_snapshot *s;
	int r;

	msg_free(l->now);
	l->now = NULL;
	while (*place == NULL) {
		r = receive(l, &m, e);
		if (r < 0)
			return r;
		seq = m->u.snapshot.seq;
		if (m->type != MSG_SNAPSHOT || seq < want || seq > l->asked ||
		    l->early[seq % SNAPSHOT_WINDOW] != NULL) {
			msg_free(m);
			return err_set(e, ERR_PROTO, "a SNAPSHOT came unasked");
		}
		l->early[seq % SNAPSHOT_WINDOW] = m;
	}
	l->now = *place;
	*place = NULL;
	s = &l->now->u.snapshot;
	*ret = (struct snapshot_answer){ .data = s->data, .len = s->data_len };
	ret->facts.total = s->total;
	ret->facts.owner = s->owner;
	ret->facts.mode = s->mode;
	ret->facts.mtime_ns = s->mtime_ns;
	ret->facts.index = s->index;
	return 0;
}

static void
progress(uint64_t done, uint64_t total, void *ctx)
{
	struct line *l = ctx;
	struct msg m = { .type = MSG_PROGRESS };
	uint64_t now = loop_now_ms();

	if (now - l->said_ms < PROGRESS_MS)
		return;
	l->said_ms = now;
	m.u.progress.what = "snapshot";
	m.u.progress.done = done >> 10;
	m.u.progress.total = total >> 10;
	(void)send_msg(l, &m, NULL); /* the next question finds out */
}

/* Older ones make room before it comes, not after. */
static int
room(uint64_t bytes, uint64_t whole, void *ctx, struct err *e)
{
	struct line *l = ctx;
	char has[32], may[32];

	if (l->cache_max == 0)
		return 0;
	if (whole > l->cache_max)
		return err_set(e, ERR_LIMIT,
		    "the snapshot has %s of files, and --cache-max lets all of "
		    "them take %s here: start foray-host with a larger one",
		    num_fmt_size(whole, has, sizeof has),
		    num_fmt_size(l->cache_max, may, sizeof may));
	if (bytes > 0 &&
	    snapshot_sweep(l->store, l->cache_max - bytes, NULL, e) < 0)
		log_warn("the cache of snapshots is not swept: %s", e->text);
	return 0;
}

/* --- the whole ------------------------------------------------------------ */

static void
say_end(struct line *l, int r, const struct err *why)
{
	struct msg m = { .type = MSG_WORKER_EXIT };
	struct buf b;

	buf_init(&b, BUF_NOMAX);
	if (r < 0)
		(void)text_clean(
		    &b, why->text, strnlen(why->text, DETAIL_MAX), 0);
	m.u.worker_exit.reason = r < 0 ? "start" : "exited";
	m.u.worker_exit.detail = buf_str(&b);
	(void)send_msg(l, &m, NULL); /* without it the exit status tells */
	buf_clear(&b);
}

static void
sweep(const char *store, uint64_t max)
{
	char have[32], may[32];
	uint64_t bytes;
	struct err e;

	if (snapshot_sweep(store, max, &bytes, &e) < 0)
		log_warn("the cache of snapshots is not swept: %s", e.text);
	else if (bytes > max)
		log_warn("snapshots that are in use take %s, --cache-max is %s",
		    num_fmt_size(bytes, have, sizeof have),
		    num_fmt_size(max, may, sizeof may));
}

void
intake_child(int sock, const struct intake_conf *conf, const char *id)
{
	const char *store = conf->store;
	const uint64_t cache_max = conf->cache_max;
	struct line l = {
		.sock = sock, .id = id, .store = store, .cache_max = cache_max
	};
	const struct snapshot_source src = { .ask = ask,
		.answer = answer,
		.progress = progress,
		.room = room,
		.store_name = conf->store_name,
		.no_room = "make room there, or start foray-host with --cache "
			   "on another disk",
		.ctx = &l };
	struct err e;
	int r, hold = -1;

	spawn_child_clean(&sock, 1);
	(void)fd_cloexec(sock, true); /* git has no use for it */
	(void)prctl(PR_SET_NAME, "foray-intake", 0, 0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)signal(SIGPIPE, SIG_IGN);
	buf_init(&l.in, INTAKE_FRAME_MAX);
	r = snapshot_import(store, id, &src, &e);
	if (r == 0)
		r = snapshot_hold(store, id, &hold, &e);
	say_end(&l, r, &e);
	if (r == 0 && l.asked > 0 && cache_max > 0)
		sweep(store, cache_max);
	_exit(r < 0 ? 1 : 0);
}

void
intake_sweep(const char *store, uint64_t cache_max)
{
	pid_t pid;

	if (cache_max == 0 || access(store, F_OK) < 0 || (pid = fork()) != 0)
		return; /* the reaper takes it as an orphan */
	spawn_child_clean(NULL, 0);
	(void)prctl(PR_SET_NAME, "foray-sweep", 0, 0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	sweep(store, cache_max);
	_exit(0);
}
