/* proxy_int.h - what the proxy*.c and conn*.c files share; for nobody else. */
#ifndef ORCHESTRATOR_EGRESS_PROXY_INT_H
#define ORCHESTRATOR_EGRESS_PROXY_INT_H

#include <sys/queue.h>

#include "common/strv.h"
#include "orchestrator/egress/control.h"
#include "orchestrator/egress/head.h"
#include "orchestrator/egress/proxy.h"
#include "orchestrator/egress/resolve.h"

#define HEAD_MS 15000
#define ASK_MS 60000 /* the parent may be busy */
#define RESOLVE_MS 10000
#define CONNECT_MS 10000
#define IDLE_MS 300000
#define LINGER_MS 2000 /* for a refusal to be read */
#define TICK_MS 250

/* What epoll gives back. */
struct watch {
	enum {
		WATCH_CONTROL,
		WATCH_RESOLVER,
		WATCH_LISTENER,
		WATCH_LIFELINE,
		WATCH_CLIENT,
		WATCH_SERVER
	} kind;
	void *owner;
	uint32_t events; /* asked for */
	int fd;          /* -1: not watched */
};

/* A worker: what its sandboxes use together. */
struct tenant {
	TAILQ_ENTRY(tenant) entry;
	char name[CONTROL_WORKER];
	unsigned listeners, conns, lookups;
	bool hostile;               /* nothing is taken from it any more */
	uint64_t credit, credit_ms; /* requests, in thousandths */
};

struct listener {
	TAILQ_ENTRY(listener) entry;
	struct tenant *tenant;
	struct watch listen, lifeline;
	bool paused;
	struct strv told; /* hosts that were refused */
};

/* One direction; the bytes are the connection's own. */
struct flow {
	size_t at, len;
	uint64_t total;
	bool ended; /* nothing more is read */
	bool shut;  /* and the other side was told so */
	char bytes[HEAD_MAX];
};

enum conn_state {
	CONN_HEAD,    /* the head of a request is read */
	CONN_ASK,     /* a note waits to be sent, or to be answered */
	CONN_RESOLVE, /* for the name's addresses */
	CONN_CONNECT,
	CONN_RELAY,
	CONN_REFUSED, /* the refusal is written and read */
	CONN_END      /* its last note waits to be sent; then it goes */
};

struct conn {
	TAILQ_ENTRY(conn) entry;
	TAILQ_ENTRY(conn) note_entry;
	struct proxy *p;
	struct listener *l;
	struct tenant *tenant;
	uint64_t id, start_ms, deadline_ms;
	enum conn_state state;
	struct watch client, server;
	bool socks, greeted;
	bool has_head;
	struct head head;
	struct body body;
	size_t out_at; /* how much of head.out is sent */

	/* The note that waits, and what comes after its answer. */
	bool waiting;    /* in the list of notes to send */
	bool asked;      /* sent, and not answered */
	bool recorded;   /* that it was allowed: its end is noted, too */
	unsigned status; /* 0: go on; else refuse, HTTP or (< 100) SOCKS */
	char why[700];
	struct strv missing; /* rules (advice.h) */
	const char *rule;    /* that allowed it */
	const char *ended;   /* how it ended, for the last note */

	bool looking; /* a lookup of ours is under way: it can't be freed */
	bool gone;    /* but for that it would be */
	size_t n_addrs, addr;
	struct target addrs[RESOLVE_ADDRS];
	uint64_t try_ms; /* this address's own time */

	struct flow up, down; /* from the client, to the client */
};

TAILQ_HEAD(conn_list, conn);

struct proxy {
	int epoll, control_fd;
	const struct net_rules *rules;
	struct resolver *resolver;
	struct watch control, resolving;
	TAILQ_HEAD(, tenant) tenants;
	TAILQ_HEAD(, listener) listeners, dead_listeners;
	struct conn_list conns, notes, dead;
	unsigned n_conns, max_conns, n_listeners, max_listeners, n_asked;
	uint64_t next_id, now;
	bool ending;
};

/* proxy.c. What is watched for nothing (0) reports nothing, not even errors. */
void watch_set(struct proxy *p, struct watch *w, uint32_t events);
void watch_close(struct proxy *p, struct watch *w);
/* The connection's note is to be sent. */
void proxy_note(struct proxy *p, struct conn *c);
void proxy_unnote(struct proxy *p, struct conn *c);

/* accept.c: sockets that listen in sandboxes. */
void listener_add(
    struct proxy *p, const char *worker, int listen_fd, int lifeline);
void listener_event(struct proxy *p, struct listener *l, const struct watch *w);
void listeners_tick(struct proxy *p); /* those that paused */
/* Its owner is told at the lifeline of a host that was refused: a line each,
 * once, of LISTENER_TOLD at most. */
#define LISTENER_TOLD 16
void listener_tell(struct listener *l, const struct target *t);
/* Its connections go with it. */
void listener_close(struct proxy *p, struct listener *l, const char *how);
void listeners_sweep(struct proxy *p); /* free what is not used any more */

/* conn.c */
void conn_create(struct proxy *p, struct listener *l, int fd);
void conn_event(struct conn *c, struct watch *w, uint32_t events);
/* Its note is on record (or can't be; or it was denied there). */
void conn_answer(struct conn *c, bool ok, bool denied);
void conn_tick(struct conn *c);
/* From outside: its sandbox is gone. Frees it, or lets its last note wait. */
void conn_finish(struct conn *c, const char *how);
void conn_free(struct conn *c);
/* Its note, and wait for the answer. */
void conn_ask(struct conn *c);
/* Fill what the waiting note says. */
void conn_note(const struct conn *c, struct note *ret);

/* conn_open.c: to the server. */
void conn_start(struct conn *c);
/* Again when a lookup has become possible, perhaps. */
void conn_look_up(struct conn *c);
void conn_resolved(struct conn *c, const struct answer *a);
void conn_connect(struct conn *c);
void conn_connected(struct conn *c, uint32_t events);
void conn_refuse(struct conn *c, unsigned status, const char *fmt, ...)
    printflike(3, 4);
/* The refusal that is noted in c, as bytes for the client. */
void conn_write_refusal(struct conn *c);
void conn_write_success(struct conn *c);

/* conn_relay.c */
void relay_begin(struct conn *c);
void relay_event(struct conn *c, struct watch *w, uint32_t events);
/* Write what waits for the client; true: all is written. */
bool relay_flush_client(struct conn *c);

#endif
