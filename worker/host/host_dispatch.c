/*
 * host_dispatch.c - what may come from the orchestrator, and when.
 *
 * A message that no row permits is logged and dropped.
 */
#include "common/compat.h"

#include <errno.h>

#include "common/log.h"
#include "worker/host/host_int.h"
#include "worker/host/intake.h"
#include "worker/host/launch.h"
#include "worker/host/relay.h"
#include "worker/host/slot.h"

static void
on_welcome(struct host *h, const char *worker unused_arg, const struct msg *m)
{
	const struct msg_welcome *w = &m->u.welcome;

	if (msg_str(w->refused)[0] != '\0') {
		log_error("the orchestrator refuses this host: %s", w->refused);
		h->at_once = true;
		loop_stop(h->loop, EXIT_REFUSED);
		return;
	}
	if (w->protocol != PROTO_VERSION) {
		log_error("the orchestrator speaks protocol %ju, this host "
			  "speaks %d",
		    (uintmax_t)w->protocol, PROTO_VERSION);
		h->at_once = true;
		loop_stop(h->loop, EXIT_REFUSED);
		return;
	}
	if (h->run[0] != '\0' && strcmp(h->run, w->run) != 0) {
		/* It has heard of those in slots by HELLO, and of no others. */
		relay_clear(h->relay);
		intake_cancel(h->intake, NULL, NULL, NULL);
		slots_cancel(
		    h->slots, NULL, "the orchestrator has another run");
	}
	(void)snprintf(h->run, sizeof h->run, "%s", w->run);
	log_id(LOG_ID_RUN, h->run);
	log_debug("welcome to run %s", h->run);
	h->greeted = true;
	host_say_heartbeat(h); /* nothing comes before it */
	relay_hold(h->relay, false);
	if (h->draining) {
		h->told = true;
		host_check_drained(h);
	}
}

static void
on_assign(struct host *h, const char *worker, const struct msg *m)
{
	if (h->draining)
		slots_refuse(
		    h->slots, worker, "draining", "the host is draining");
	else
		slots_assign(h->slots, worker, &m->u.assign);
}

static void
on_snapshot(struct host *h, const char *worker unused_arg, const struct msg *m)
{
	intake_answer(h->intake, &m->u.snapshot);
}

static void
on_cancel(struct host *h, const char *worker, const struct msg *m)
{
	const char *why = msg_str(m->u.cancel.reason);

	slots_cancel(h->slots, worker,
	    why[0] != '\0' ? why : "the orchestrator cancelled it");
}

static void
on_drain(struct host *h, const char *worker unused_arg,
    const struct msg *m unused_arg)
{
	h->told = true; /* it knows */
	host_drain(h, "DRAIN");
}

static void
on_freeze(struct host *h, const char *worker, const struct msg *m)
{
	int r = slots_freeze(h->slots, worker, m->u.freeze.on);

	if (r < 0)
		log_warn("FREEZE: %s",
		    r == -ENOTSUP ? "there is no freezer here (foray doctor)"
				  : err_str(r));
}

/* Whether the worker frame must, may or must not be set. */
enum row_worker {
	WORKER_NONE,
	WORKER_MAY,
	WORKER_MUST
};

static const struct row {
	enum msg_type type;
	enum row_worker worker;
	bool first; /* also before WELCOME */
	/* NULL: relayed to the worker. */
	void (*fn)(struct host *h, const char *worker, const struct msg *m);
} rows[] = {
	{ MSG_WELCOME, WORKER_NONE, true, on_welcome },
	{ MSG_ASSIGN, WORKER_MUST, false, on_assign },
	{ MSG_SNAPSHOT, WORKER_NONE, false, on_snapshot },
	{ MSG_CANCEL, WORKER_MAY, false, on_cancel },
	{ MSG_DRAIN, WORKER_NONE, true, on_drain },
	{ MSG_FREEZE, WORKER_MAY, false, on_freeze },
	{ MSG_TASK, WORKER_MUST, false, NULL },
	{ MSG_MODEL_RESULT, WORKER_MUST, false, NULL },
	{ MSG_FETCH_RESULT, WORKER_MUST, false, NULL },
	{ MSG_VERDICT, WORKER_MUST, false, NULL },
	{ MSG_STEER, WORKER_MUST, false, NULL },
	{ MSG_ANSWER, WORKER_MUST, false, NULL },
	{ MSG_SUMMARY_ACK, WORKER_MUST, false, NULL },
};

static bool
is_permitted(const struct host *h, const struct row *row, const char *worker)
{
	if (!row->first && h->run[0] == '\0')
		return false;
	switch (row->worker) {
	case WORKER_NONE:
		return worker[0] == '\0';
	case WORKER_MAY:
		return true;
	case WORKER_MUST:
		return worker[0] != '\0';
	}
	return false;
}

static void
dispatch(struct host *h, const char *worker, const struct msg *m,
    const void *raw, size_t len)
{
	size_t i;

	h->heard_ms = loop_now_ms();
	for (i = 0; i < nitems(rows); i++) {
		if (rows[i].type != m->type ||
		    !is_permitted(h, &rows[i], worker))
			continue;
		if (rows[i].fn != NULL)
			rows[i].fn(h, worker, m);
		else
			slots_deliver(h->slots, worker, m->type, raw, len);
		return;
	}
	log_warn("%s of the orchestrator is dropped: not expected%s",
	    msg_name(m->type), h->run[0] == '\0' ? " before WELCOME" : "");
}

static void
host_msg_cb(struct peer *p unused_arg, const struct peer_addr *from unused_arg,
    const char *worker, const struct msg *m, const void *raw, size_t len,
    void *ctx)
{
	struct host *h = ctx;

	log_budget(&h->lines);
	log_id(LOG_ID_WORKER, worker);
	if (m->type == MSG_ASSIGN) {
		log_id(LOG_ID_SUBTASK, m->u.assign.subtask);
		log_id_number(LOG_ID_ATTEMPT, "", m->u.assign.attempt);
	}
	dispatch(h, worker, m, raw, len);
	log_id(LOG_ID_WORKER, NULL);
	log_id(LOG_ID_SUBTASK, NULL);
	log_id(LOG_ID_ATTEMPT, NULL);
	log_budget(NULL);
}

static void
host_bad_cb(struct peer *p unused_arg, const struct peer_addr *from unused_arg,
    const char *worker unused_arg, const struct err *why, void *ctx)
{
	struct host *h = ctx;

	log_budget(&h->lines);
	log_warn("the orchestrator sent what is no message: %s", why->text);
	log_budget(NULL);
}

const struct peer_ops host_peer_ops = {
	.on_msg = host_msg_cb,
	.on_bad = host_bad_cb,
	.accept_from = 1u << ROLE_ORCH,
};
