/*
 * hosts_remote.c - hosts of other machines: their connections, who is wanted.
 */
#include "common/compat.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/log.h"
#include "orchestrator/run/hosts_priv.h"

#define STRAYS_TOLD 200 /* in STRAYS_MS */
#define STRAYS_MS 5000
#define FULLS_MAX 10
#define DROPPED_MAX 1000

/* --- who is wanted ------------------------------------------------------- */

static bool
is_dropped(const struct hosts *hs, const char *instance)
{
	size_t i;

	for (i = 0; i < hs->dropped.n; i++)
		if (strcmp(hs->dropped.v[i], instance) == 0)
			return true;
	return false;
}

static struct host *
find_instance(struct hosts *hs, const char *instance)
{
	struct host *h;

	TAILQ_FOREACH (h, &hs->list, entry)
		if (h->is_remote && strcmp(h->instance, instance) == 0)
			return h;
	return NULL;
}

const char *
remote_refusal(
    const struct hosts *hs, const struct remote *r, const struct msg_hello *m)
{
	const char *instance = msg_str(m->instance);
	const struct host *h;

	if (instance[0] == '\0' || m->profile == NULL)
		return "foray-host is too old for other machines: install the "
		       "same release on both sides";
	if (is_dropped(hs, instance))
		return "this host broke the rules before";
	if (r->host != NULL && strcmp(r->host->instance, instance) != 0)
		return "this host is another one suddenly";
	TAILQ_FOREACH (h, &hs->list, entry)
		if (h->is_remote && strcmp(h->instance, instance) == 0 &&
		    strcmp(h->key, r->key) != 0)
			return "another host is known by this one's number";
	if (strcmp(m->profile, hs->o.profile_hash) != 0)
		return "the sandbox of commands is another one here than in "
		       "the run: give foray-host the --profile of the run (a "
		       "copy of profile.json in the run's directory is exact)";
	return NULL;
}

bool
remote_rejoin(struct hosts *hs, struct remote *r, const struct msg_hello *m)
{
	struct host *h = find_instance(hs, msg_str(m->instance));
	struct remote *old;

	if (h == NULL)
		return false;
	old = h->remote;
	h->remote = r;
	r->host = h;
	h->seen_ms = loop_now_ms();
	(void)strlcpy(h->address, r->address, sizeof h->address);
	hosts_no_ghosts(h); /* it says anew which there are */
	if (old != NULL) {
		/* Not closed yet: this one is explicitly put in its place. */
		old->host = NULL;
		TAILQ_REMOVE(&hs->remotes, old, entry);
		link_free(old->link);
		free(old->doomed);
		free(old);
	}
	log_info("host %s is back from %s", h->name, h->address);
	hs->ops->back(h, &m->workers, hs->ctx);
	return true;
}

/* --- connections --------------------------------------------------------- */

int
remote_send(
    struct remote *r, const char *worker, const struct msg *m, struct err *e)
{
	struct buf b;
	int rc;

	buf_init(&b, MSG_MAX_BYTES);
	rc = msg_encode(m, &b, e);
	if (rc == 0)
		rc = link_send(r->link, worker, b.data, b.len, e);
	buf_clear(&b);
	return rc;
}

static int
take(struct remote *r, const char *worker, const struct msg *m)
{
	struct hosts *hs = r->all;

	if (m->type == MSG_HELLO) {
		hosts_hello(hs, &(struct origin){ .remote = r }, &m->u.hello);
		return 0;
	}
	/* The guest lets nothing through before HELLO; it was refused then. */
	if (r->host == NULL)
		return ERR_PROTO;
	hosts_take(r->host, worker, m);
	return 0;
}

static int
on_frame(struct link *l unused_arg, const char *worker, const void *raw,
    size_t len, void *ctx)
{
	struct remote *r = ctx;
	struct msg *m;
	struct err e;
	int rc;

	if (r->all->stopping)
		return 0;
	/* Its guest has looked at it. Still, nothing is believed twice. */
	if ((rc = msg_decode(raw, len, &m, &e)) < 0)
		return rc;
	log_budget(&r->lines);
	rc = msg_from(m->type) == ROLE_ORCH ? ERR_PROTO : take(r, worker, m);
	log_budget(NULL);
	msg_free(m);
	return rc < 0 ? rc : r->doomed != NULL ? ERR_DENIED : 0;
}

static void
forget(struct remote *r)
{
	TAILQ_REMOVE(&r->all->remotes, r, entry);
	if (r->host != NULL) {
		r->host->remote = NULL;
		r->host->cut_ms = loop_now_ms();
	}
	link_free(r->link);
	free(r->doomed);
	free(r);
}

static void
on_end(struct link *l unused_arg, const char *why, void *ctx)
{
	struct remote *r = ctx;
	struct hosts *hs = r->all;
	struct host *h = r->host;
	char *doomed = r->doomed;

	r->doomed = NULL;
	if (doomed != NULL && !hs->stopping)
		hs->ops->refused(r->address, r->key, doomed, hs->ctx);
	else if (h != NULL && !hs->stopping)
		log_info("host %s at %s: %s", h->name, r->address, why);
	forget(r);
	if (doomed != NULL && h != NULL)
		hosts_lose(h, doomed, 0);
	free(doomed);
}

static const struct link_ops link_ops = {
	.on_frame = on_frame,
	.on_end = on_end,
};

/* --- the door ------------------------------------------------------------ */

static void
door_up(int fd, const char *address, const char *name, void *ctx)
{
	struct hosts *hs = ctx;
	struct remote *r = xcalloc(1, sizeof *r);

	r->all = hs;
	(void)strlcpy(r->address, address, sizeof r->address);
	(void)strlcpy(r->key, name, sizeof r->key);
	r->link = link_create(hs->loop, fd, &link_ops, r);
	TAILQ_INSERT_TAIL(&hs->remotes, r, entry);
}

static void
door_refused(const char *address, const char *name, const char *why, void *ctx)
{
	struct hosts *hs = ctx;

	hs->ops->refused(address, name, why, hs->ctx);
}

static void
door_lost(const char *why, void *ctx)
{
	struct hosts *hs = ctx;

	if (!hs->stopping)
		hs->ops->door_lost(why, hs->ctx);
}

static const struct door_ops door_ops = {
	.up = door_up,
	.refused = door_refused,
	.lost = door_lost,
};

int
remote_listen(struct hosts *hs, struct err *e)
{
	struct door_opts o = { .at = hs->o.listen,
		.keys = hs->o.keys,
		.dir = hs->dir,
		.log = hs->o.log };

	return door_open(hs->loop, &o, &door_ops, hs, &hs->door, e);
}

const struct tcp_end *
hosts_at(const struct hosts *hs)
{
	return hs->door != NULL ? door_at(hs->door) : NULL;
}

void
remote_stop(struct hosts *hs)
{
	struct msg m = { .type = MSG_CANCEL };
	struct remote *r;

	m.u.cancel.reason = "the run is over";
	while ((r = TAILQ_FIRST(&hs->remotes)) != NULL) {
		if (r->host != NULL)
			(void)remote_send(r, NULL, &m, NULL);
		forget(r);
	}
	door_close(hs->door);
	hs->door = NULL;
}

/* --- those that break the rules ------------------------------------------ */

void
hosts_drop(struct host *h, const char *why)
{
	struct msg m = { .type = MSG_WELCOME };

	if (h->remote == NULL || h->remote->doomed != NULL)
		return;
	h->remote->doomed = xstrdup(why);
	if (h->all->dropped.n < DROPPED_MAX)
		strv_add(&h->all->dropped, h->instance);
	m.u.welcome.protocol = PROTO_VERSION;
	m.u.welcome.run = h->all->o.run;
	m.u.welcome.refused = why;
	(void)remote_send(h->remote, NULL, &m, NULL);
}

void
hosts_stray(struct host *h, const char *worker)
{
	struct msg m = { .type = MSG_CANCEL };
	uint64_t now = loop_now_ms();

	if (!h->is_remote)
		return;
	if (now - h->strays_ms > STRAYS_MS) {
		h->strays = 0;
		h->strays_ms = now;
	}
	/* A cut piles up many, and the first answers are enough. */
	if (++h->strays > STRAYS_TOLD)
		return;
	m.u.cancel.reason = "it was given up";
	(void)hosts_send(h, worker, &m, NULL);
}

/* --- slots that are not free --------------------------------------------- */

void
hosts_ghost(struct host *h, const char *worker)
{
	if (!strv_has(&h->ghosts, worker)) {
		strv_add(&h->ghosts, worker);
		h->place.busy++;
	}
	hosts_stray(h, worker);
}

const struct strv *
hosts_ghosts(const struct host *h)
{
	return &h->ghosts;
}

bool
hosts_is_ghost(const struct host *h, const char *worker)
{
	return strv_has(&h->ghosts, worker);
}

bool
hosts_ghost_gone(struct host *h, const char *worker)
{
	struct strv *g = &h->ghosts;
	size_t i;

	for (i = 0; i < g->n && strcmp(g->v[i], worker) != 0; i++)
		;
	if (i == g->n)
		return false;
	free(g->v[i]);
	g->v[i] = g->v[--g->n];
	g->v[g->n] = NULL;
	hosts_release(h, true);
	return true;
}

void
hosts_no_ghosts(struct host *h)
{
	while (h->ghosts.n > 0)
		(void)hosts_ghost_gone(h, h->ghosts.v[0]);
}

void
hosts_full(struct host *h)
{
	h->place.full = true;
	if (++h->fulls >= FULLS_MAX)
		(void)hosts_fault(h, true, "it is full all the time");
}
