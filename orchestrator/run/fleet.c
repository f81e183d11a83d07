/*
 * fleet.c - a run with hosts of other machines.
 */
#include "common/compat.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/log.h"
#include "common/num.h"
#include "orchestrator/run/fleet.h"
#include "orchestrator/run/network.h"
#include "orchestrator/run/state.h"
#include "proto/curve.h"

#define TOLD_MAX 40
#define SHOWN_MAX 4 /* addresses of this machine */
#define TOLD_MS 10000
#define WAIT_MS ((uint64_t)10 * 60 * 1000)

int
fleet_option(struct run_opts *o, int opt, const char *arg, struct err *e)
{
	struct tcp_end at;
	uint64_t n;
	int r = 0;

	switch (opt) {
	case FLEET_LISTEN:
		o->listen = arg;
		r = tcp_parse(arg, true, &at, e);
		break;
	case FLEET_KEYS:
		o->keys = arg;
		break;
	case FLEET_INSECURE:
		o->insecure = true;
		break;
	case FLEET_LOCAL:
		r = num_u64(arg, 0, RUN_MAX_WORKERS, "--local", &n, e);
		if (r == 0) {
			o->local = (unsigned)n;
			o->local_set = true;
		}
		break;
	case FLEET_WAIT:
		r = num_duration_ms(arg, "--wait-hosts", &o->wait_ms, e);
		break;
	default:
		return 0;
	}
	return r < 0 ? r : 1;
}

int
fleet_check_options(const struct run_opts *o, struct err *e)
{
	struct tcp_end at;
	int r;

	if (o->listen == NULL) {
		const char *alone = o->keys != NULL ? "--keys"
		    : o->insecure                   ? "--insecure-loopback"
		    : o->local_set                  ? "--local"
		    : o->wait_ms != 0               ? "--wait-hosts"
						    : NULL;

		return alone == NULL
		    ? 0
		    : err_set(e, ERR_USAGE, "%s goes with --listen", alone);
	}
	if (o->keys != NULL && o->insecure)
		return err_set(e, ERR_USAGE,
		    "--keys and --insecure-loopback: give one of them");
	if ((r = tcp_parse(o->listen, true, &at, e)) < 0)
		return r;
	return o->insecure ? tcp_check_loopback(&at, e) : 0;
}

/* What an auditor has to know: who could come in. */
static int
record(struct run *r, struct err *e)
{
	char *text, at[TCP_TEXT];
	json_t *j = json_pack("{s:b, s:s*}", "encrypted", r->fleet.keys != NULL,
	    "keys", r->fleet.keys);
	int rc;

	text = json_text(j);
	rc = audit_write(r->audit, run_now(r), "", "listen",
	    tcp_text(&r->fleet.at, at), text, "allow", e);
	free(text);
	json_decref(j);
	return rc;
}

static unsigned
local_slots(const struct run *r, unsigned all)
{
	unsigned cpus = r->cpus != 0 ? r->cpus : 1;

	if (r->o.local_set)
		return r->o.local < all ? r->o.local : all;
	return cpus < all ? cpus : all;
}

int
fleet_begin(struct run *r, struct hosts_opts *o, struct err *e)
{
	struct fleet *f = &r->fleet;
	int rc;

	if (r->o.listen == NULL)
		return 0;
	if (r->network != NULL)
		return err_set(e, ERR_USAGE,
		    "--listen: commands on other machines have no way to the "
		    "allowed hosts: leave out --allow-net (or network.allow of "
		    "the settings)");
	if ((rc = tcp_parse(r->o.listen, true, &f->at, e)) < 0)
		return rc;
	if (r->o.insecure)
		log_warn("--insecure-loopback: every user of this machine can "
			 "take part in this run and read what it works on");
	else if (r->o.keys != NULL)
		f->keys = xstrdup(r->o.keys);
	else if ((rc = curve_dir(&f->keys, e)) < 0)
		return rc;
	profile_def_hash(&r->profile, f->profile);
	o->listen = &f->at;
	o->keys = f->keys;
	o->profile_hash = f->profile;
	/* One more, so that a verification never waits for what takes long. */
	if ((o->slots = local_slots(r, r->o.workers)) > 0) {
		o->slots++;
		o->judging = 1;
	}
	return record(r, e);
}

static void
wait_cb(void *ctx)
{
	struct run *r = ctx;
	char text[32];

	r->fleet.wait = NULL;
	run_end(r, EXIT_FATAL, "error", "no host%s has come within %s%s%s",
	    r->o.labels.n > 0 ? " with every --label" : "",
	    num_fmt_ms(
		r->o.wait_ms != 0 ? r->o.wait_ms : WAIT_MS, text, sizeof text),
	    r->fleet.aside != NULL ? ", and there is none but " : "",
	    r->fleet.aside != NULL ? r->fleet.aside : "");
}

static void
begin_to_wait(struct run *r)
{
	uint64_t ms = r->o.wait_ms != 0 ? r->o.wait_ms : WAIT_MS;
	char at[TCP_TEXT];

	if (r->fleet.wait != NULL || r->phase == PHASE_END)
		return;
	if (r->fleet.lost != NULL && !hosts_any(r->hosts) &&
	    !hosts_own_runs(r->hosts)) {
		run_end(r, EXIT_FATAL, "error",
		    "there is no host, and none can come in: %s",
		    r->fleet.lost);
		return;
	}
	r->fleet.wait = loop_timer_add(r->loop, ms, 0, wait_cb, r);
	run_event(r, "waiting",
	    json_pack("{s:s, s:I}", "endpoint",
		tcp_text(hosts_at(r->hosts), at), "seconds",
		(json_int_t)(ms / 1000)));
}

static void
end_wait(struct run *r)
{
	loop_del(r->loop, r->fleet.wait);
	r->fleet.wait = NULL;
}

static bool
is_of_use(const struct ifaddrs *a, bool v6)
{
	const struct sockaddr_in6 *six;

	if (a->ifa_addr == NULL || (a->ifa_flags & IFF_UP) == 0 ||
	    (a->ifa_flags & IFF_LOOPBACK) != 0)
		return false;
	if (a->ifa_addr->sa_family == AF_INET)
		return true;
	six = (const struct sockaddr_in6 *)(const void *)a->ifa_addr;
	return v6 && a->ifa_addr->sa_family == AF_INET6 &&
	    !IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr);
}

/* Where others find us. This machine's name means something only here, so of a
 * wildcard the addresses are said. */
static void
where(const struct tcp_end *at, struct buf *b)
{
	bool v6 = strcmp(at->host, "*") == 0 || strcmp(at->host, "::") == 0;
	struct ifaddrs *list = NULL, *a;
	struct tcp_end one = *at;
	char text[TCP_TEXT];
	int n = 0;

	buf_init(b, BUF_NOMAX);
	if ((v6 || strcmp(at->host, "0.0.0.0") == 0) && getifaddrs(&list) == 0)
		for (a = list; a != NULL && n < SHOWN_MAX; a = a->ifa_next) {
			if (!is_of_use(a, v6))
				continue;
			one.v6 = a->ifa_addr->sa_family == AF_INET6;
			if (getnameinfo(a->ifa_addr,
				one.v6 ? sizeof(struct sockaddr_in6)
				       : sizeof(struct sockaddr_in),
				one.host, sizeof one.host, NULL, 0,
				NI_NUMERICHOST) != 0)
				continue;
			(void)buf_printf(b, "%s%s", n++ > 0 ? " or " : "",
			    tcp_text(&one, text));
		}
	freeifaddrs(list);
	if (n == 0)
		(void)buf_printf(b, "%s", tcp_text(at, text));
}

void
fleet_listening(struct run *r)
{
	const struct tcp_end *at = hosts_at(r->hosts);
	char text[TCP_TEXT];
	struct buf b;

	if (at == NULL)
		return;
	run_event(r, "listening",
	    json_pack("{s:s, s:b, s:s*}", "endpoint", tcp_text(at, text),
		"encrypted", r->fleet.keys != NULL, "keys", r->fleet.keys));
	where(at, &b);
	log_info("hosts may come: foray-host --connect %s %s", buf_str(&b),
	    r->fleet.keys != NULL ? "--keys DIR (foray keys)"
				  : "--insecure-loopback");
	buf_clear(&b);
	if (r->o.local_set && r->o.local == 0)
		begin_to_wait(r);
}

/* Of a host of another machine, with what it showed: its address and key. */
static void
put_audit(struct run *r, const struct host *h, const char *worker,
    const char *act, const char *subject, json_t *detail)
{
	struct err e = { 0 };
	char *text;

	(void)json_object_set_new(
	    detail, "address", json_string(host_address(h)));
	(void)json_object_set_new(detail, "key", json_string(host_key(h)));
	text = json_text(detail);
	if (audit_write(r->audit, run_now(r), worker, act, subject, text,
		"allow", &e) < 0)
		log_error("audit: %s", e.text);
	free(text);
	json_decref(detail);
}

void
fleet_host_up(struct run *r, struct host *h)
{
	if (host_fits(h)) {
		end_wait(r);
	} else if (!hosts_any_fits(r->hosts)) {
		begin_to_wait(r);
	}
	if (host_address(h) != NULL)
		put_audit(r, h, "", "host", host_name(h), json_object());
}

void
fleet_assigned(
    struct run *r, const struct host *h, const char *worker, const char *label)
{
	if (host_address(h) != NULL)
		put_audit(r, h, worker, "assign", label,
		    json_pack("{s:s}", "host", host_name(h)));
}

void
fleet_host_aside(
    struct run *r, const struct host *h, uint64_t ms, const char *why)
{
	char text[32];

	free(r->fleet.aside);
	r->fleet.aside = xasprintf("host %s at %s, on which all attempts "
				   "failed: %.400s",
	    host_name(h), host_address(h), why);
	log_warn("%s; it gets nothing for %s (its own log says more)",
	    r->fleet.aside, num_fmt_ms(ms, text, sizeof text));
	run_event(r, "host_aside",
	    json_pack("{s:s, s:s, s:s, s:I, s:o}", "host", host_name(h),
		"address", host_address(h), "key", host_key(h), "seconds",
		(json_int_t)(ms / 1000), "reason",
		json_str_lossy(why, strlen(why))));
	fleet_host_down(r);
}

void
fleet_host_good(struct run *r, struct host *h)
{
	hosts_good(h);
	if (host_fits(h))
		end_wait(r);
}

void
fleet_door_lost(struct run *r, const char *why)
{
	free(r->fleet.lost);
	r->fleet.lost = xstrdup(why);
	log_error("no more hosts can come in: %s", why);
	run_event(r, "door_lost",
	    json_pack("{s:o}", "reason", json_str_lossy(why, strlen(why))));
	end_wait(r); /* it would be for nothing */
	fleet_host_down(r);
}

void
fleet_host_down(struct run *r)
{
	if (r->hosts != NULL && hosts_at(r->hosts) != NULL &&
	    !hosts_any_fits(r->hosts))
		begin_to_wait(r);
}

void
fleet_refused(
    struct run *r, const char *address, const char *key, const char *why)
{
	struct fleet *f = &r->fleet;
	uint64_t now = loop_now_ms();
	unsigned untold = 0;

	if (now - f->told_ms > TOLD_MS) {
		untold = f->told > TOLD_MAX ? f->told - TOLD_MAX : 0;
		f->told_ms = now;
		f->told = 0;
	}
	if (++f->told > TOLD_MAX)
		return;
	run_event(r, "host_refused",
	    json_pack("{s:s, s:s, s:o, s:i}", "address", address, "key", key,
		"reason", json_str_lossy(why, strlen(why)), "more",
		(int)untold));
}

void
fleet_clear(struct run *r)
{
	end_wait(r);
	free(r->fleet.keys);
	free(r->fleet.aside);
	free(r->fleet.lost);
	r->fleet.keys = r->fleet.aside = r->fleet.lost = NULL;
}
