/*
 * conn.c - one connection of a sandboxed command, from its first byte to its
 * end.
 *
 * DESIGN
 *
 * HEAD, ASK, [RESOLVE], CONNECT, RELAY is the way of what is allowed. What is
 * refused goes from HEAD over ASK to REFUSED, so that it is on record as well.
 * A refusal for an address comes after RESOLVE and asks a second time. What
 * was recorded as allowed has one more note at its end, with what was copied.
 * Each state has a deadline, so nothing stays for ever.
 */
#include "common/compat.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/json.h"
#include "common/log.h"
#include "orchestrator/egress/advice.h"
#include "orchestrator/egress/proxy_int.h"

#define DISCARD_MAX ((uint64_t)1 << 20) /* read after a refusal */

/* --- birth and death ----------------------------------------------------- */

void
conn_create(struct proxy *p, struct listener *l, int fd)
{
	struct conn *c = xcalloc(1, sizeof *c);

	c->p = p;
	c->l = l;
	c->tenant = l->tenant;
	c->id = ++p->next_id;
	c->start_ms = p->now;
	c->deadline_ms = p->now + HEAD_MS;
	c->client = (struct watch){ WATCH_CLIENT, c, 0, fd };
	c->server = (struct watch){ WATCH_SERVER, c, 0, -1 };
	buf_init(&c->head.out, 0);
	TAILQ_INSERT_TAIL(&p->conns, c, entry);
	p->n_conns++;
	c->tenant->conns++;
	watch_set(p, &c->client, EPOLLIN);
}

/* The memory goes after this round: events for it may be under way. */
void
conn_free(struct conn *c)
{
	struct proxy *p = c->p;

	watch_close(p, &c->client);
	watch_close(p, &c->server);
	proxy_unnote(p, c);
	c->gone = true;
	if (c->looking)
		return; /* until the answer comes */
	p->n_conns--;
	c->tenant->conns--;
	TAILQ_REMOVE(&p->conns, c, entry);
	TAILQ_INSERT_TAIL(&p->dead, c, entry);
}

void
conn_finish(struct conn *c, const char *how)
{
	if (c->gone || c->state == CONN_END)
		return;
	if (!c->recorded) {
		conn_free(c);
		return;
	}
	if (c->ended == NULL)
		c->ended = how;
	proxy_unnote(c->p, c);
	c->state = CONN_END;
	watch_close(c->p, &c->client);
	watch_close(c->p, &c->server);
	proxy_note(c->p, c);
}

/* --- the record ---------------------------------------------------------- */

static void
subject(const struct conn *c, char *dst, size_t size)
{
	const struct head *h = &c->head;
	char where[TARGET_TEXT];

	if (!c->has_head) {
		(void)snprintf(dst, size, "malformed request");
		return;
	}
	target_text(&h->target, where);
	if (h->kind == HEAD_HTTP)
		(void)snprintf(dst, size, "%s http://%s%s", h->method, where,
		    h->path[0] != '\0' ? h->path : "/");
	else
		(void)snprintf(dst, size, "%s %s", h->method, where);
}

static json_t *
detail(const struct conn *c)
{
	char where[TARGET_TEXT] = "";
	json_t *j, *allow;

	if (c->state != CONN_END && c->status != 0) {
		j = json_pack(
		    "{s:I, s:s}", "id", (json_int_t)c->id, "reason", c->why);
		if (c->missing.n == 0)
			return j;
		allow = json_array();
		for (size_t i = 0; i < c->missing.n; i++)
			(void)json_array_append_new(
			    allow, json_string(c->missing.v[i]));
		target_text(&c->head.target, where);
		(void)json_object_set_new(j, "host", json_string(where));
		(void)json_object_set_new(j, "allow", allow);
		return j;
	}
	if (c->state != CONN_END)
		return json_pack(
		    "{s:I, s:s}", "id", (json_int_t)c->id, "rule", c->rule);
	if (c->n_addrs > 0)
		target_text(&c->addrs[c->addr], where);
	return json_pack("{s:I, s:s*, s:s, s:I, s:I, s:I}", "id",
	    (json_int_t)c->id, "address", where[0] != '\0' ? where : NULL,
	    "end", c->ended, "sent", (json_int_t)c->up.total, "received",
	    (json_int_t)c->down.total, "ms",
	    (json_int_t)(c->p->now - c->start_ms));
}

void
conn_note(const struct conn *c, struct note *ret)
{
	json_t *j = detail(c);
	char *text = j != NULL ? json_text(j) : xstrdup("{}");

	memset(ret, 0, sizeof *ret);
	ret->kind = c->state == CONN_END ? NOTE_END : NOTE_REQUEST;
	ret->deny = c->state != CONN_END && c->status != 0;
	ret->id = c->id;
	(void)strlcpy(ret->worker, c->tenant->name, sizeof ret->worker);
	subject(c, ret->subject, sizeof ret->subject);
	if (strlcpy(ret->detail, text, sizeof ret->detail) >=
	    sizeof ret->detail)
		(void)strlcpy(ret->detail, "{}", sizeof ret->detail);
	free(text);
	json_decref(j);
}

void
conn_ask(struct conn *c)
{
	c->state = CONN_ASK;
	c->deadline_ms = c->p->now + ASK_MS;
	watch_set(c->p, &c->client, EPOLLERR); /* a reset, no more */
	proxy_note(c->p, c);
}

void
conn_answer(struct conn *c, bool ok, bool denied)
{
	if (c->gone || c->state != CONN_ASK)
		return;
	if (!ok && denied) {
		strv_clear(&c->missing);
		conn_refuse(c, 403,
		    "a rule of the monitor denies it: the audit says which");
		return;
	}
	if (!ok) {
		conn_refuse(c, 500, "the record of it can't be written");
		return;
	}
	if (c->status != 0) {
		conn_write_refusal(c);
		return;
	}
	c->recorded = true;
	conn_start(c);
}

/* --- the head ------------------------------------------------------------ */

static void
judge(struct conn *c)
{
	const struct net_rule *rule =
	    net_rules_match(c->p->rules, &c->head.target);
	char where[TARGET_TEXT];

	if (rule != NULL) {
		c->rule = rule->text;
	} else {
		target_text(&c->head.target, where);
		c->status = 403;
		advice_missing(
		    c->p->rules, &c->head.target, NULL, 0, &c->missing);
		(void)snprintf(
		    c->why, sizeof c->why, "%s is not in network.allow", where);
	}
	conn_ask(c);
}

static void
drop(struct flow *f, size_t n)
{
	memmove(f->bytes, f->bytes + n, f->len - n);
	f->len -= n;
}

/* HEAD_MORE, HEAD_DONE, or what to refuse with. */
static int
parse(struct conn *c, struct err *e)
{
	struct flow *f = &c->up;
	size_t used;
	int r;

	c->socks = c->greeted || f->bytes[0] == 5;
	if (!c->socks)
		return head_http(f->bytes, f->len, &c->head, e);
	if (!c->greeted) {
		r = head_socks_hello(f->bytes, f->len, &used);
		if (r != HEAD_DONE)
			return r;
		/* Two bytes into an empty socket. */
		if (send(c->client.fd, "\5", 2, MSG_NOSIGNAL) != 2)
			return 1000;
		drop(f, used);
		c->greeted = true;
	}
	return head_socks(f->bytes, f->len, &c->head, e);
}

static void
read_head(struct conn *c)
{
	struct flow *f = &c->up;
	struct err e = { 0 };
	ssize_t n;
	int r;

	n = recv(c->client.fd, f->bytes + f->len, sizeof f->bytes - f->len, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		conn_free(c);
		return;
	}
	f->len += (size_t)n;
	r = parse(c, &e);
	if (r == HEAD_MORE)
		return;
	if (r == HEAD_DONE) {
		c->has_head = true;
		drop(f, c->head.used);
		body_init(&c->body, &c->head);
		judge(c);
		return;
	}
	if (r == 1000 || (c->socks && !c->greeted && r == 0xff)) {
		/* The only answer there is before a request. */
		(void)send(c->client.fd, "\5\xff", 2, MSG_NOSIGNAL);
		conn_free(c);
		return;
	}
	c->status = (unsigned)r;
	(void)strlcpy(c->why, e.text, sizeof c->why);
	conn_ask(c);
}

/* --- after a refusal ----------------------------------------------------- */

/* Closed with bytes unread, the kernel would send a reset, and the refusal
 * might never be seen. */
static void
linger(struct conn *c)
{
	ssize_t n;

	if (!relay_flush_client(c))
		return;
	if (!c->down.shut) {
		c->down.shut = true;
		(void)shutdown(c->client.fd, SHUT_WR);
		watch_set(c->p, &c->client, EPOLLIN);
	}
	n = recv(c->client.fd, c->up.bytes, sizeof c->up.bytes, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0 && (c->up.at += (size_t)n) < DISCARD_MAX)
		return;
	conn_finish(c, "refused");
}

void
conn_event(struct conn *c, struct watch *w, uint32_t events)
{
	if (c->gone)
		return;
	switch (c->state) {
	case CONN_HEAD:
		read_head(c);
		break;
	case CONN_ASK:
	case CONN_RESOLVE:
		/* Not asked for, so it is an error or a hang-up. */
		conn_finish(c, "the client hung up");
		break;
	case CONN_CONNECT:
		if (w->kind == WATCH_SERVER)
			conn_connected(c, events);
		else
			conn_finish(c, "the client hung up");
		break;
	case CONN_RELAY:
		relay_event(c, w, events);
		break;
	case CONN_REFUSED:
		linger(c);
		break;
	case CONN_END:
		break;
	}
}

void
conn_tick(struct conn *c)
{
	if (c->gone || c->state == CONN_END)
		return;
	if (c->state == CONN_CONNECT && c->p->now >= c->try_ms &&
	    c->p->now < c->deadline_ms) {
		conn_connected(c, EPOLLERR); /* the next address */
		return;
	}
	if (c->p->now < c->deadline_ms)
		return;
	switch (c->state) {
	case CONN_HEAD:
		conn_refuse(
		    c, 408, "no request came within %d s", HEAD_MS / 1000);
		break;
	case CONN_RESOLVE:
		c->ended = "no answer from the name service";
		conn_refuse(c, 504, "%s: no answer from the name service",
		    c->head.target.host);
		break;
	case CONN_CONNECT:
		c->ended = "no connection in time";
		conn_refuse(c, 504, "%s does not answer", c->head.target.host);
		break;
	default:
		conn_finish(c, c->state == CONN_RELAY ? "idle" : "timeout");
		break;
	}
}
