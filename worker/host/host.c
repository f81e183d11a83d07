/*
 * host.c - the host at work: its link to the orchestrator, and its end.
 *
 * DESIGN
 *
 * HELLO is said until WELCOME comes, and again after a silence: an orchestrator
 * that was started anew knows nothing of this host, and a DEALER is not told
 * of that. HELLO may therefore come at any time and is always answered.
 */
#include "common/compat.h"

#include "worker/host/host.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <zmq.h>

#include "common/fdio.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/num.h"
#include "common/path.h"
#include "common/text.h"
#include "proto/tcp.h"
#include "sandbox/killtree.h"
#include "sandbox/limits.h"
#include "sandbox/workspace.h"
#include "worker/host/host_int.h"
#include "worker/host/intake.h"
#include "worker/host/launch.h"
#include "worker/host/options.h"
#include "worker/host/place.h"
#include "worker/host/reap.h"
#include "worker/host/relay.h"
#include "worker/host/slot.h"
#include "worker/host/wire.h"

#define TICK_MS 1000
#define SILENCE_MS 5000   /* then HELLO is said again */
#define CUT_MS 5000       /* without a connection: what runs was given up */
#define LOST_MS 30000     /* or without a word */
#define TOLD_MS 3000      /* for the answer to HELLO with draining */
#define END_MS 700        /* for the end, when we are told to go at once */
#define END_QUIET_MS 5000 /* for the end after DRAIN */
#define END_REAP_MS 200   /* of it: for the workers' processes */
#define FEATURES_MAX (LAYOUT_COPY + 2)
#define OTHER_SOCKETS 64

/* --- what is said -------------------------------------------------------- */

/* What the probe found and all below it: each needs less than the one before.
 */
static size_t
features(const struct host *h, const char *ret[FEATURES_MAX])
{
	const enum layout best = h->layout;
	size_t n = 0;
	int l;

	for (l = (int)best; l <= LAYOUT_COPY; l++)
		ret[n++] = slot_layout((enum layout)l);
	if (h->place->backend == BACKEND_CONTAINER)
		ret[n++] = "container";
	return n;
}

static void
say(struct host *h, const struct msg *m)
{
	struct err e;

	/* What waits for a connection would come before HELLO there, to an
	 * orchestrator that may be a new one: it would be refused. */
	if (h->link >= 0 && h->link != SHAKE_UP)
		return;
	/* Said again a second later: no need to wait in the queue. */
	if (peer_send(h->up, NULL, NULL, m, &e) < 0)
		log_debug("%s: %s", msg_name(m->type), e.text);
}

void
host_say_hello(struct host *h)
{
	char profile[HASH_HEX];
	struct strv names = { 0 };
	struct msg m = { .type = MSG_HELLO };
	struct msg_hello *hello = &m.u.hello;
	const char *layouts[FEATURES_MAX];
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	hello->protocol = PROTO_VERSION;
	hello->version = FORAY_VERSION;
	hello->name = h->name;
	hello->slots = h->max;
	hello->cpus = options_processors();
	if (pages > 0 && size > 0)
		hello->memory_mib = (uint64_t)pages * (uint64_t)size >> 20;
	profile_def_hash(&h->place->view.def, profile);
	hello->profile = profile;
	hello->instance = h->instance;
	hello->features.n = features(h, layouts);
	hello->features.v = layouts;
	hello->labels.n = h->opts->labels.n;
	hello->labels.v = (const char **)h->opts->labels.v;
	hello->draining = h->draining;
	if (h->slots != NULL)
		slots_names(h->slots, &names);
	hello->workers = msg_strs_of(&names);
	h->hello_ms = loop_now_ms();
	say(h, &m);
	strv_clear(&names);
}

void
host_say_heartbeat(struct host *h)
{
	struct msg m = { .type = MSG_HEARTBEAT };

	m.u.heartbeat.busy = slots_busy(h->slots);
	say(h, &m);
}

/* For so long that what runs here, or has yet to be said, was given up. */
static bool
is_cut(const struct host *h, uint64_t now)
{
	return tcp_is(h->place->endpoint) && h->link != SHAKE_UP &&
	    now - h->cut_ms >= CUT_MS;
}

void
host_check_drained(struct host *h)
{
	/* An orchestrator that is gone or silent has nothing for us either. */
	bool told = h->told || h->run[0] == '\0' || h->link == SHAKE_DOWN ||
	    loop_now_ms() - h->drain_at >= TOLD_MS;

	if (h->draining && told && slots_busy(h->slots) == 0 &&
	    (relay_is_empty(h->relay) || is_cut(h, loop_now_ms())))
		loop_stop(h->loop, 0);
}

void
host_drain(struct host *h, const char *why)
{
	if (h->draining)
		return;
	log_info("%s: no more work is taken, %zu workers come to their end",
	    why, slots_busy(h->slots));
	h->draining = true;
	h->drain_at = loop_now_ms();
	slots_drain(h->slots);
	host_say_hello(h);
	host_check_drained(h);
}

/* --- time and signals ---------------------------------------------------- */

/* Nobody waits for what runs here: an orchestrator that lives gave it up after
 * 3 s without a connection or 10 s without a heartbeat, and one that is started
 * anew begins anew. (The host of the same machine dies with its own.) */
static void
end_forsaken(struct host *h, uint64_t now)
{
	bool cut = is_cut(h, now);

	if (!tcp_is(h->place->endpoint) || slots_busy(h->slots) == 0 ||
	    (!cut && now - h->heard_ms < LOST_MS))
		return;
	slots_cancel(h->slots, NULL,
	    cut ? "the connection to the orchestrator is gone for 5 s"
		: "the orchestrator is silent for 30 s");
}

/* Somebody cleaned up. As root we can't make it anew: what is mounted in its
 * place leads to what was removed. */
static void
check_scratch(struct host *h)
{
	if (h->gone || h->draining || access(h->scratch, F_OK) == 0 ||
	    errno != ENOENT)
		return;
	log_error("%s: what was made there at the start is gone, somebody has "
		  "removed it: this host ends; start it again, and leave the "
		  "directory alone while it runs",
	    h->place->scratch_name);
	h->gone = true;
	slots_cancel(h->slots, NULL, "the host's scratch directory is gone");
	host_drain(h, "the scratch directory is gone");
}

static void
tick_cb(void *ctx)
{
	struct host *h = ctx;
	uint64_t now = loop_now_ms();

	check_scratch(h);
	reap_orphans(h->reaper);
	end_forsaken(h, now);
	uplink_tick(h, now);
	if (!h->greeted ||
	    (now - h->heard_ms >= SILENCE_MS &&
		now - h->hello_ms >= SILENCE_MS))
		host_say_hello(h);
	if (h->greeted) {
		host_say_heartbeat(h);
		intake_tick(h->intake);
	}
	host_check_drained(h);
	if (slots_busy(h->slots) > 0)
		h->idle_ms = now;
	else if (h->opts->idle_exit_ms > 0 &&
	    now - h->idle_ms >= h->opts->idle_exit_ms)
		host_drain(h, "no work has come");
}

static void
free_cb(void *ctx)
{
	struct host *h = ctx;

	h->idle_ms = loop_now_ms();
	host_check_drained(h);
}

static void
drain_over_cb(void *ctx)
{
	struct host *h = ctx;
	char limit[32];

	h->drain = NULL;
	log_warn("%zu workers have not ended in %s: they are ended",
	    slots_busy(h->slots),
	    num_fmt_ms(h->opts->drain_ms, limit, sizeof limit));
	h->at_once = true;
	loop_stop(h->loop, 0);
}

static void
signal_cb(int signo, void *ctx)
{
	struct host *h = ctx;
	bool first = h->drain == NULL;

	if (signo == SIGTERM && h->opts->lifeline_fd < 0) {
		/* A service manager may send it to the launcher and to us. */
		if (!first && loop_now_ms() - h->term_ms < LAUNCH_SAME_MS)
			return;
		if (first) {
			h->term_ms = loop_now_ms();
			h->drain = loop_timer_add(
			    h->loop, h->opts->drain_ms, 0, drain_over_cb, h);
			host_drain(h, "SIGTERM");
			return;
		}
	}
	log_info("%s: the end", strsignal(signo));
	h->at_once = true;
	loop_stop(h->loop, 0);
}

static void
watch_signals(struct host *h)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
	size_t i;

	for (i = 0; i < nitems(signals); i++) {
		if (loop_signal_add(h->loop, signals[i], signal_cb, h) == NULL)
			fatal("signal %d: %s", signals[i], strerror(errno));
	}
}

/* --- start and end ------------------------------------------------------- */

static enum layout
choose_layout(const char *dir)
{
	const char *want = getenv("FORAY_LAYOUT");
	int l;

	for (l = LAYOUT_OVERLAY; want != NULL && l <= LAYOUT_COPY; l++) {
		if (strcmp(want, slot_layout((enum layout)l)) == 0)
			return (enum layout)l;
	}
	return probe_layout(dir);
}

static void
take_name(struct host *h)
{
	char name[256];
	struct buf b;

	memset(name, 0, sizeof name);
	if (h->opts->name != NULL)
		(void)snprintf(name, sizeof name, "%s", h->opts->name);
	else if (gethostname(name, sizeof name - 1) < 0)
		(void)snprintf(name, sizeof name, "unknown");
	buf_init(&b, sizeof name * 4);
	/* It goes into a message: UTF-8 only. */
	(void)text_escape(&b, name, strlen(name));
	(void)snprintf(h->name, sizeof h->name, "%.*s",
	    (int)text_cut(buf_str(&b), b.len, sizeof h->name - 1), buf_str(&b));
	buf_clear(&b);
	log_id(LOG_ID_HOST, h->name);
}

static int
host_start(struct host *h, struct err *e)
{
	struct intake_conf intake;
	struct slots_conf conf;
	int r;

	if ((r = limits_workers(h->max, e)) < 0)
		return r;
	r = workspace_scratch(h->place->scratch, &h->scratch, &h->lock_fd, e);
	if (r < 0)
		return r;
	if (h->place->view.def.cache) {
		h->cache = path_join(h->scratch, "cache");
		if ((r = path_mkdirs(h->cache, 0700, e)) < 0)
			return r;
	}
	h->layout = h->place->backend == BACKEND_CONTAINER
	    ? LAYOUT_COPY /* nothing can be mounted */
	    : choose_layout(h->scratch);
	h->zctx = zmq_ctx_new();
	if (h->zctx == NULL)
		return err_set(e, -errno, "zmq: %s", zmq_strerror(errno));
	/* One a worker; 1,023 are what libzmq gives. */
	(void)zmq_ctx_set(
	    h->zctx, ZMQ_MAX_SOCKETS, (int)h->max + OTHER_SOCKETS);
	r = uplink_connect(h, e);
	if (r < 0)
		return r;
	h->relay = relay_create(h->loop, h->up);
	relay_hold(h->relay, tcp_is(h->place->endpoint));
	h->reaper = reaper_create(h->loop);
	memset(&intake, 0, sizeof intake);
	intake.loop = h->loop;
	intake.up = h->relay;
	intake.reaper = h->reaper;
	intake.store = h->place->snapshots;
	intake.store_name = h->place->snapshots_name;
	intake.cache_max = h->opts->cache_max;
	intake.shared = h->opts->lifeline_fd >= 0;
	h->intake = intake_create(&intake, &slots_intake_ops, &h->slots);
	memset(&conf, 0, sizeof conf);
	conf.loop = h->loop;
	conf.zctx = h->zctx;
	conf.place = h->place;
	conf.scratch = h->scratch;
	conf.cache = h->cache;
	conf.layout = h->layout;
	conf.quota = h->quota;
	conf.max = h->max;
	conf.wires = h->wires;
	conf.spares = h->opts->spares;
	conf.remember = tcp_is(h->place->endpoint);
	conf.up = h->relay;
	conf.intake = h->intake;
	conf.reaper = h->reaper;
	conf.on_free = free_cb;
	conf.ctx = h;
	h->slots = slots_create(&conf);
	reap_leftovers(h->reaper, h->place->scratch);
	return 0;
}

/* Workers first, then what they stood on. Whatever is left when the time is
 * over dies with us, or is removed by the next host. */
static void
host_end(struct host *h)
{
	uint64_t now, end;

	end = loop_now_ms() + (h->at_once ? END_MS : END_QUIET_MS);
	if (h->reaper != NULL)
		reap_stop(h->reaper);
	slots_free(h->slots);
	intake_free(h->intake);
	if (getpid() == 1)
		(void)kill(-1, SIGKILL); /* all of the namespace but us */
	else if (h->place->backend == BACKEND_CONTAINER)
		(void)killtree(true, END_REAP_MS);
	reap_all(END_REAP_MS);
	if (h->scratch != NULL)
		reap_tree(h->scratch);
	relay_free(h->relay);
	reaper_free(h->reaper);
	peer_free(h->up);
	loop_free(h->loop);
	if (h->zctx != NULL)
		(void)zmq_ctx_term(h->zctx); /* linger is finite */
	now = loop_now_ms();
	reap_all(now < end ? end - now : 0);
	fd_close(&h->wires);
	fd_close(&h->lock_fd);
	free(h->scratch);
	free(h->cache);
}

int
host_run(const struct options *o, const struct place *place,
    const struct quota *quota, struct lifelines *lines)
{
	struct host h;
	struct err e;
	int status;

	memset(&h, 0, sizeof h);
	h.opts = o;
	h.place = place;
	h.quota = quota;
	h.lock_fd = -1;
	h.max = o->slots;
	h.idle_ms = loop_now_ms();
	limits_raise_nofile();
	h.wires = wire_server(&e);
	if (h.wires < 0)
		log_warn("%s", e.text); /* they will be larger */
	take_name(&h);
	hash_random_hex(h.instance, 16);
	h.link = -1;
	h.loop = loop_create();
	lifelines_watch(lines, h.loop);
	watch_signals(&h);
	if (host_start(&h, &e) < 0) {
		log_error("%s", e.text);
		status = EXIT_CONFIG;
	} else {
		host_say_hello(&h);
		loop_timer_add(h.loop, TICK_MS, TICK_MS, tick_cb, &h);
		status = loop_run(h.loop);
		if (status < 0) {
			log_error("the loop ended: %s", err_str(status));
			status = 1;
		} else if (h.gone && status == 0) {
			status = EXIT_CONFIG;
		}
	}
	host_end(&h);
	return status;
}
