/*
 * staff.c - the hosts of a run: what they are started with, and what comes from
 * them.
 */
#include "common/compat.h"

#include <stdlib.h>

#include "common/log.h"
#include "common/num.h"
#include "common/path.h"
#include "orchestrator/run/confine.h"
#include "orchestrator/run/fleet.h"
#include "orchestrator/run/network.h"
#include "orchestrator/run/staff.h"
#include "orchestrator/run/supply.h"
#include "orchestrator/run/wanted.h"
#include "sandbox/limits.h"

/* No host has that many workers: numbers that go further are made up. */
#define NAMES_AHEAD 100000

/* What it still has of another run keeps its name, and nobody here gets that.
 */
static void
pass_over_ghosts(struct run *r, const struct host *h)
{
	const struct strv *names = hosts_ghosts(h);
	uint64_t n;

	for (size_t i = 0; i < names->n; i++)
		if (names->v[i][0] == 'w' &&
		    num_u64(names->v[i] + 1, 1, r->next_worker + NAMES_AHEAD,
			"a worker", &n, NULL) == 0 &&
		    n > r->next_worker)
			r->next_worker = (unsigned)n;
}

static void
on_host_up(struct host *h, void *ctx)
{
	struct run *r = ctx;

	if (!host_fits(h) && r->o.listen == NULL) {
		run_end(r, EXIT_USAGE, "error",
		    "this machine lacks a label of --label, and no other can "
		    "join: give it with FORAY_LABELS, or let others in with "
		    "--listen");
		return;
	}
	if (!host_fits(h))
		log_warn("host %s lacks a label of --label and gets nothing "
			 "to do; one that has them all is waited for "
			 "(foray-host --label; FORAY_LABELS for this machine)",
		    host_name(h));
	r->cpus = hosts_cpus(r->hosts);
	run_event(r, "host_up",
	    json_pack("{s:s, s:s, s:i, s:s*, s:s*}", "host", host_name(h),
		"sandbox", backend_str(host_backend(h)), "slots",
		(int)host_slots(h), "address", host_address(h), "key",
		host_key(h)));
	fleet_host_up(r, h);
	pass_over_ghosts(r, h);
	sched_pump(r);
}

static void
on_host_down(struct host *h, const char *why, int fatal_code, void *ctx)
{
	struct run *r = ctx;

	run_event(r, "host_down",
	    json_pack("{s:s, s:o}", "host", h != NULL ? host_name(h) : "local",
		"reason", json_str_lossy(why, strlen(why))));
	if (fatal_code == EXIT_SANDBOX)
		run_end(r, EXIT_SANDBOX, "error", "%s", why);
	else if (fatal_code != 0)
		run_end(r, EXIT_FATAL, "error", "%s", why);
	if (h != NULL) {
		supply_forget(r->supply, h);
		sched_host_down(r, h, why);
	}
	if (r->hosts != NULL && hosts_any(r->hosts))
		r->cpus = hosts_cpus(r->hosts);
	fleet_host_down(r);
}

static void
on_host_aside(struct host *h, uint64_t ms, const char *why, void *ctx)
{
	fleet_host_aside(ctx, h, ms, why);
}

static void
on_door_lost(const char *why, void *ctx)
{
	fleet_door_lost(ctx, why);
}

static void
on_host_room(void *ctx)
{
	sched_pump(ctx);
}

static void
on_host_need(struct host *h, const struct msg_need *m, void *ctx)
{
	struct run *r = ctx;

	supply_answer(r->supply, h, m);
}

static void
on_host_back(struct host *h, const struct msg_strs *workers, void *ctx)
{
	struct run *r = ctx;

	/* What was under way to it is lost. */
	supply_forget(r->supply, h);
	sched_host_back(r, h, workers);
}

static void
on_host_refused(
    const char *address, const char *key, const char *why, void *ctx)
{
	fleet_refused(ctx, address, key, why);
}

static void
on_host_msg(struct host *h, const char *worker, const struct msg *m, void *ctx)
{
	struct run *r = ctx;
	struct worker *w = sched_worker(r, worker);

	if (hosts_is_ghost(h, worker)) {
		if (m->type != MSG_WORKER_EXIT)
			hosts_stray(h, worker);
		else if (hosts_ghost_gone(h, worker))
			sched_pump(r);
		return;
	}
	if (w == NULL && !sched_was_worker(r, worker)) {
		hosts_drop(h, "it speaks for a worker that never was");
		return;
	}
	if (w == NULL && m->type == MSG_WORKER_EXIT)
		return;
	if (w == NULL) {
		log_debug(
		    "%s from unknown worker %s", msg_name(m->type), worker);
		hosts_stray(h, worker);
		return;
	}
	if (w->host != h) {
		hosts_drop(h, "it speaks for a worker of another host");
		return;
	}
	handle_msg(r, w, m);
}

static const struct hosts_ops hosts_ops = {
	.up = on_host_up,
	.down = on_host_down,
	.msg = on_host_msg,
	.back = on_host_back,
	.refused = on_host_refused,
	.aside = on_host_aside,
	.door_lost = on_door_lost,
	.room = on_host_room,
	.need = on_host_need,
};

static void
on_tick(void *ctx)
{
	lease_tick(ctx);
}

int
staff_run(struct run *r, const char *cache, struct err *e)
{
	struct loop_watch *tick =
	    loop_timer_add(r->loop, 1000, 1000, on_tick, r);
	struct hosts_opts o = { .run = store_id(r->store), .cache = cache };
	char *log = path_join(store_dir(r->store), "host.log");
	char *scratch = path_join(cache, "scratch"), *profile;
	int rc;

	profile = path_join(store_dir(r->store), RUN_PROFILE);
	o.log = log;
	o.scratch = scratch;
	o.profile = profile;
	o.backend = r->o.backend;
	o.network = r->network != NULL;
	o.own_hosts = network_own(r->network);
	o.want.labels = &r->o.labels;
	o.want.memory_mib = limits_memory_mib(&r->profile);
	/* One more, so that a verification never waits; a single tool is
	 * followed by none, and a spare worker would be started in its slot. */
	o.slots = r->o.workers + (r->o.tool == NULL);
	if (o.slots > RUN_MAX_WORKERS)
		o.slots = RUN_MAX_WORKERS;
	(void)((rc = fleet_begin(r, &o, e)) < 0 ||
	    (rc = supply_create(cache, r->snap.id, &r->supply, e)) < 0 ||
	    (rc = hosts_create(r->loop, &o, &hosts_ops, r, &r->hosts, e)) < 0 ||
	    (rc = network_start(r->network, e)) < 0 ||
	    (o.slots > 0 &&
		((rc = limits_workers(o.slots, e)) < 0 ||
		    (rc = hosts_start_local(r->hosts, e)) < 0)));
	if (rc == 0)
		fleet_listening(r);
	wanted_begin(r);
	if (rc == 0)
		while (r->phase != PHASE_END)
			(void)loop_run(r->loop);
	loop_del(r->loop, tick);
	network_stop(r->network);
	hosts_free(r->hosts);
	r->hosts = NULL;
	fleet_clear(r);
	supply_free(r->supply);
	r->supply = NULL;
	free(log);
	free(scratch);
	free(profile);
	return rc;
}
