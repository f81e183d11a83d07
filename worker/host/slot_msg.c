/*
 * slot_msg.c - what a worker may send, and when.
 *
 * The rows below are the whole answer. Everything else ends the worker. (What
 * is no message at all has been kept away by the wire, or comes as a bad one.)
 */
#include "common/compat.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "worker/host/place.h"
#include "worker/host/slot_int.h"

/* A worker may send this much at once, and this much a second for long. */
#define CREDIT_MAX ((uint64_t)64 << 20)
#define CREDIT_PER_MS ((uint64_t)4 << 10)
#define COST_EXTRA 512 /* of any message, besides its bytes */

#define WHEN_STARTING (1u << SLOT_STARTING)
#define WHEN_UP (1u << SLOT_UP)

struct arrived {
	const struct peer_addr *from;
	const struct msg *m;
	const void *raw;
	size_t len;
};

/* The pid of a child as the machine counts; 0: not to be had. */
static uint64_t
outside_pid(const struct slot *s)
{
	int pidfd = pidfd_open(s->proc.pid, 0);
	pid_t pid = fd_pid(s->all->conf.place->machine_proc, pidfd);

	fd_close(&pidfd);
	return (uint64_t)pid;
}

static bool
is_token(const struct slot *s, const char *shown)
{
	return strlen(shown) == strlen(s->token) &&
	    sodium_memcmp(shown, s->token, strlen(s->token)) == 0;
}

/* --- rows ---------------------------------------------------------------- */

static void
pass_up(struct slot *s, const struct arrived *a)
{
	struct relay *up = s->all->conf.up;
	struct err e;

	slot_remember(s, a->m->type, a->raw, a->len);
	if (relay_raw(up, s->name, a->raw, a->len, &s->share, &e) < 0)
		slot_end(s, "protocol", "%s", e.text);
}

static void
on_ready(struct slot *s, const struct arrived *a)
{
	const struct msg_ready *in = &a->m->u.ready;

	if (!is_token(s, msg_str(in->token))) {
		slot_end(s, "protocol", "its READY has a wrong token");
		return;
	}
	if (in->protocol != PROTO_VERSION) {
		slot_end(s, "protocol",
		    "it speaks protocol %ju, this host speaks %d",
		    (uintmax_t)in->protocol, PROTO_VERSION);
		return;
	}
	s->addr = *a->from;
	if (s->state == SLOT_STARTING)
		slot_is_up(s);
	if (!s->spare)
		slot_say_ready(s);
}

void
slot_say_ready(struct slot *s)
{
	struct msg out = { .type = MSG_READY };
	struct err e;

	slot_remember(s, MSG_READY, NULL, 0);
	out.u.ready.protocol = PROTO_VERSION;
	out.u.ready.pid = outside_pid(s);
	out.u.ready.layout = slot_layout(s->ws.layout);
	if (relay_msg(s->all->conf.up, s->name, &out, &s->share, &e) < 0)
		slot_end(s, "protocol", "%s", e.text);
}

/* Tests that could not write fail, and that is no finding. */
static void
on_summary(struct slot *s, const struct arrived *a)
{
	if (s->ws.layout != LAYOUT_TMPFS &&
	    disk_was_full(s->all->disk, s->born_ms))
		slot_end(s, "disk",
		    "the disk of the workspaces was full while it worked: make "
		    "room below %s",
		    s->all->conf.place->scratch_name);
	else
		pass_up(s, a);
}

static const struct row {
	enum msg_type type;
	unsigned when;
	void (*fn)(struct slot *s, const struct arrived *a);
} rows[] = {
	{ MSG_READY, WHEN_STARTING | WHEN_UP, on_ready }, /* TASK may be lost */
	{ MSG_MODEL, WHEN_UP, pass_up },
	{ MSG_FETCH, WHEN_UP, pass_up },
	{ MSG_AUDIT, WHEN_UP, pass_up },
	{ MSG_HOOK, WHEN_UP, pass_up },
	{ MSG_PROGRESS, WHEN_UP, pass_up },
	{ MSG_SUMMARY, WHEN_UP, on_summary },
};

/* --- before the rows ----------------------------------------------------- */

/* Once the token was shown, only that connection counts. */
static bool
is_stranger(struct slot *s, const struct peer_addr *from)
{
	struct log_ids old;

	if (s->state != SLOT_UP || peer_addr_eq(&s->addr, from))
		return false;
	if (!s->warned) {
		slot_ids(s, &old);
		log_warn("worker %s: a second connection to its socket is "
			 "ignored",
		    s->name);
		log_ids_set(&old);
	}
	s->warned = true;
	return true;
}

/* Take len bytes from the worker's credit. */
static bool
has_credit(struct slot *s, size_t len)
{
	uint64_t now = loop_now_ms(), more, cost = len + COST_EXTRA;

	more = s->credit_ms == 0 || now - s->credit_ms > CREDIT_MAX
	    ? CREDIT_MAX
	    : (now - s->credit_ms) * CREDIT_PER_MS;
	s->credit_ms = now;
	s->credit =
	    more < CREDIT_MAX - s->credit ? s->credit + more : CREDIT_MAX;
	if (cost > s->credit)
		return false;
	s->credit -= cost;
	return true;
}

static void
slot_msg_cb(struct peer *p unused_arg, const struct peer_addr *from,
    const char *worker unused_arg, const struct msg *m, const void *raw,
    size_t len, void *ctx)
{
	struct arrived a = { .from = from, .m = m, .raw = raw, .len = len };
	struct slot *s = ctx;
	size_t i;

	if (s->state == SLOT_ENDING || is_stranger(s, from))
		return;
	if (!has_credit(s, len)) {
		slot_end(s, "protocol", "it sends too much");
		return;
	}
	for (i = 0; i < nitems(rows); i++) {
		if (s->spare && m->type != MSG_READY)
			break; /* it has nothing to speak of */
		if (rows[i].type == m->type && rows[i].when & 1u << s->state) {
			rows[i].fn(s, &a);
			return;
		}
	}
	slot_end(s, "protocol", "it may not send %s %s", msg_name(m->type),
	    s->state == SLOT_STARTING ? "before READY" : "now");
}

static void
slot_bad_cb(struct peer *p unused_arg, const struct peer_addr *from,
    const char *worker unused_arg, const struct err *why, void *ctx)
{
	struct slot *s = ctx;

	if (s->state == SLOT_ENDING || is_stranger(s, from))
		return;
	slot_end(s, "protocol", "it sent what is no message: %s", why->text);
}

const struct peer_ops slot_peer_ops = {
	.on_msg = slot_msg_cb,
	.on_bad = slot_bad_cb,
	.accept_from = 1u << ROLE_WORKER,
};
