/*
 * uplink.c - the connection to the orchestrator, and what becomes of it.
 */
#include "common/compat.h"

#include "common/log.h"
#include "proto/tcp.h"
#include "worker/host/host_int.h"
#include "worker/host/options.h"
#include "worker/host/place.h"
#include "worker/host/relay.h"
#include "worker/host/slot.h"

#define CUTS_TOLD 3
#define SILENT_MS 5000 /* then a person is told that nobody answers */

static void
tell(const struct host *h, enum shake what)
{
	const char *at = h->place->endpoint;

	switch (what) {
	case SHAKE_UP:
		log_info("connected to %s", at);
		break;
	case SHAKE_DOWN:
		log_info("the connection to %s has ended: waiting for it", at);
		break;
	case SHAKE_REFUSED:
		log_warn("the orchestrator at %s refuses our key; `foray keys "
			 "allow %s '%s'` there lets us in. Waiting",
		    at, curve_is_name(h->name) ? h->name : "NAME",
		    h->opts->curve.own.public_key);
		break;
	case SHAKE_FAILED:
		log_warn("no handshake with %s: it is no orchestrator, or not "
			 "the one whose %s we have. Trying again",
		    at, h->opts->keys != NULL ? "server.pub" : "protocol");
		break;
	case SHAKE_CUT:
		if (h->cuts == 1)
			log_info("the connection to %s has ended before the "
				 "handshake was done. Trying again",
			    at);
		else if (h->cuts == CUTS_TOLD)
			log_warn("no handshake with %s, %d times in a row the "
				 "connection has ended before: something cuts "
				 "it, or it is no orchestrator, or not the one "
				 "whose %s we have. Trying again",
			    at, CUTS_TOLD,
			    h->opts->keys != NULL ? "server.pub" : "protocol");
		break;
	}
}

/* The same is told once, however often it is tried. */
static void
link_cb(struct peer *p unused_arg, enum shake what, void *ctx)
{
	struct host *h = ctx;

	/* The end of what never stood is no news. */
	if (what == SHAKE_DOWN && h->link != SHAKE_UP)
		return;
	if (h->link == SHAKE_UP && what != SHAKE_UP)
		h->cut_ms = loop_now_ms();
	h->cuts = what == SHAKE_CUT ? h->cuts + 1 : 0;
	if (h->link != (int)what || what == SHAKE_CUT)
		tell(h, what);
	h->link = (int)what;
	h->greeted = false;
	relay_hold(h->relay, true);
	if (what != SHAKE_UP)
		return;
	host_say_hello(h);
	if (h->run[0] != '\0')
		slots_ask_again(h->slots);
}

void
uplink_tick(struct host *h, uint64_t now)
{
	if (h->try_ms == 0 || now - h->try_ms < SILENT_MS)
		return;
	h->try_ms = 0;
	if (h->link < 0)
		log_warn("nobody answers at %s: waiting for a run that listens "
			 "there (--check says what is in the way)",
		    h->place->endpoint);
}

int
uplink_connect(struct host *h, struct err *e)
{
	struct peer_ops ops = host_peer_ops;
	const struct options *o = h->opts;

	if (!tcp_is(h->place->endpoint))
		return peer_connect(
		    h->loop, h->zctx, h->place->endpoint, &ops, h, &h->up, e);
	ops.on_link = link_cb;
	log_info("connecting to %s", h->place->endpoint);
	h->try_ms = loop_now_ms();
	return peer_connect_tcp(h->loop, h->zctx, h->place->endpoint,
	    o->keys != NULL ? &o->curve : NULL, &ops, h, &h->up, e);
}
