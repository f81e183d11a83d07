/*
 * fleet.h - a run with hosts of other machines: --listen and what goes with it.
 *
 * With --local 0, or when the last host is lost, a run waits for hosts. It says
 * so (event "waiting"), and after --wait-hosts (ten minutes) it ends with an
 * error.
 */
#ifndef ORCHESTRATOR_RUN_FLEET_H
#define ORCHESTRATOR_RUN_FLEET_H

#include "common/loop.h"
#include "proto/tcp.h"

struct hosts_opts;
struct host;
struct run;
struct run_opts;

struct fleet {
	struct tcp_end at;
	char *keys; /* NULL: without */
	char profile[65];
	struct loop_watch *wait;
	uint64_t told_ms; /* refusals are counted since */
	unsigned told;
	char *lost;  /* why nobody new can come in; NULL: they can */
	char *aside; /* who was set aside last, and why */
};

/* Options, the same for run and resume; getopt_long's values. */
enum {
	FLEET_LISTEN = 768,
	FLEET_KEYS,
	FLEET_INSECURE,
	FLEET_LOCAL,
	FLEET_WAIT
};
/* clang-format off */
#define FLEET_OPTIONS \
	{ "listen", required_argument, NULL, FLEET_LISTEN }, \
	{ "keys", required_argument, NULL, FLEET_KEYS }, \
	{ "insecure-loopback", no_argument, NULL, FLEET_INSECURE }, \
	{ "local", required_argument, NULL, FLEET_LOCAL }, \
	{ "wait-hosts", required_argument, NULL, FLEET_WAIT }
/* clang-format on */
#define FLEET_HELP \
	"      --listen ENDPOINT  hosts of other machines may work, too: " \
	"tcp://HOST:PORT\n" \
	"                        (PORT *: any free one)\n" \
	"      --keys DIR        who may (foray keys)\n" \
	"      --local N         workers at once on this machine, besides\n" \
	"                        those that verify (0: none)\n" \
	"      --wait-hosts D    how long to wait for a host (10m)\n" \
	"      --insecure-loopback  no keys: for tests, on 127.0.0.1 only\n"
/* Is opt one of them? 1: it is taken; 0: it is not ours; ERR_USAGE. */
int fleet_option(struct run_opts *o, int opt, const char *arg, struct err *e);
/* Whether they go together: before anything is made. ERR_USAGE. */
int fleet_check_options(const struct run_opts *o, struct err *e);

/* Before hosts_create(): fills what it wants. Nothing without --listen. */
int fleet_begin(struct run *r, struct hosts_opts *o, struct err *e);
/* After it: says where it listens, and waits if nobody is there. */
void fleet_listening(struct run *r);
void fleet_host_up(struct run *r, struct host *h);
/* For the audit: which machine, and whose key, has the worker of this label. */
void fleet_assigned(
    struct run *r, const struct host *h, const char *worker, const char *label);
/* It is set aside (hosts.h): said loudly; with no other, the run waits. */
void fleet_host_aside(
    struct run *r, const struct host *h, uint64_t ms, const char *why);
/* An attempt came to its end there: whoever waits, waits no more. */
void fleet_host_good(struct run *r, struct host *h);
/* Nobody new can come in: the run goes on with the hosts that it has, and ends
 * (status 5) when there is none. */
void fleet_door_lost(struct run *r, const char *why);
/* After the loss of one. */
void fleet_host_down(struct run *r);
/* The first forty in ten seconds are events; the rest is the next one's number.
 */
void fleet_refused(
    struct run *r, const char *address, const char *key, const char *why);
void fleet_clear(struct run *r);

#endif
