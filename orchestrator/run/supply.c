/* supply.c - see supply.h. */
#include "common/compat.h"

#include "orchestrator/run/supply.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/snapshot_cache.h"
#include "sandbox/snapshot_export.h"

#define TICKET_BITS 53

/* What is under way to a host. */
struct share {
	TAILQ_ENTRY(share) entry;
	const struct host *host;
	uint64_t ticket[SNAPSHOT_WINDOW];
	size_t n;
	bool warned; /* of a NEED that is none */
};

struct supply {
	char *store, *id;
	int hold;
	struct snapshot_export *export; /* NULL: nobody has asked yet */
	TAILQ_HEAD(share_list, share) shares;
};

int
supply_create(
    const char *cache, const char *id, struct supply **ret, struct err *e)
{
	struct supply *s = xcalloc(1, sizeof *s);
	int r;

	TAILQ_INIT(&s->shares);
	s->hold = -1;
	s->store = path_join(cache, "snapshots");
	s->id = xstrdup(id);
	r = snapshot_hold(s->store, id, &s->hold, e);
	if (r < 0) {
		supply_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

void
supply_free(struct supply *s)
{
	struct share *sh;

	if (s == NULL)
		return;
	while ((sh = TAILQ_FIRST(&s->shares)) != NULL) {
		TAILQ_REMOVE(&s->shares, sh, entry);
		free(sh);
	}
	snapshot_export_close(s->export);
	fd_close(&s->hold);
	free(s->store);
	free(s->id);
	free(s);
}

static struct share *
find_share(struct supply *s, const struct host *h)
{
	struct share *sh;

	TAILQ_FOREACH (sh, &s->shares, entry)
		if (sh->host == h)
			return sh;
	return NULL;
}

void
supply_forget(struct supply *s, const struct host *h)
{
	struct share *sh = find_share(s, h);

	if (sh == NULL)
		return;
	TAILQ_REMOVE(&s->shares, sh, entry);
	free(sh);
}

/* One that is not known settles nothing: it was of a connection before. */
static void
settle(struct share *sh, uint64_t ticket)
{
	size_t i;

	for (i = 0; ticket != 0 && i < sh->n; i++) {
		if (sh->ticket[i] == ticket) {
			sh->ticket[i] = sh->ticket[--sh->n];
			return;
		}
	}
}

static uint64_t
new_ticket(void)
{
	uint64_t v;

	do {
		randombytes_buf(&v, sizeof v);
		v >>= 64 - TICKET_BITS;
	} while (v == 0);
	return v;
}

static int
read_parts(struct supply *s, const struct msg_need *m, struct buf *data,
    struct snapshot_facts *facts, struct err *e)
{
	struct snapshot_range r[SNAPSHOT_RANGES];
	size_t n;
	int rc;

	if (strcmp(m->snapshot, s->id) != 0)
		return err_set(
		    e, ERR_NOTFOUND, "this run has no such snapshot");
	rc = snapshot_ranges_get(m->ranges, m->ranges_len, r, &n, e);
	if (rc == 0 && s->export == NULL)
		rc = snapshot_export_open(s->store, s->id, &s->export, e);
	if (rc == 0)
		rc = snapshot_export_read(s->export, r, n, data, facts, e);
	return rc;
}

void
supply_answer(struct supply *s, struct host *h, const struct msg_need *m)
{
	struct msg out = { .type = MSG_SNAPSHOT };
	struct msg_snapshot *o = &out.u.snapshot;
	struct snapshot_facts facts = { 0 };
	struct share *sh = find_share(s, h);
	struct err e;
	struct buf data;

	if (sh == NULL) {
		sh = xcalloc(1, sizeof *sh);
		sh->host = h;
		TAILQ_INSERT_TAIL(&s->shares, sh, entry);
	}
	settle(sh, m->ticket);
	if (sh->n == SNAPSHOT_WINDOW) {
		log_debug("host %s: NEED %ju has to wait", host_name(h),
		    (uintmax_t)m->seq);
		return; /* it asks again */
	}
	buf_init(&data, SNAPSHOT_CHUNK);
	o->snapshot = m->snapshot;
	o->seq = m->seq;
	o->ticket = new_ticket();
	if (read_parts(s, m, &data, &facts, &e) < 0) {
		if (!sh->warned)
			log_warn("host %s: its NEED: %s", host_name(h), e.text);
		sh->warned = true;
		o->error = e.text;
	} else {
		o->data = data.data;
		o->data_len = data.len;
		o->total = facts.total;
		o->owner = facts.owner;
		o->mode = facts.mode;
		o->mtime_ns = facts.mtime_ns;
		o->index = facts.index;
	}
	if (hosts_send(h, NULL, &out, &e) < 0)
		log_debug("host %s: SNAPSHOT: %s", host_name(h), e.text);
	else
		sh->ticket[sh->n++] = o->ticket;
	buf_clear(&data);
}
