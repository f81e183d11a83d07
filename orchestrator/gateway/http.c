/*
 * curl's sockets sit behind one epoll descriptor in the loop's set; its timers
 * are timers of the loop. Nothing of curl's may be called from within its
 * callbacks, so what a caller's on_data starts or cancels waits until curl has
 * returned (sweep).
 *
 * libcurl (7.88) walks the connections of a multi handle when a call begins and
 * again when it ends: among a thousand calls under way that was a fifth of what
 * a call cost us. So a handle takes POOL_CALLS of them, and more have another.
 */
#include "common/compat.h"

#include <sys/epoll.h>
#include <sys/queue.h>

#include <curl/curl.h>
#include <errno.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/text.h"
#include "orchestrator/gateway/http.h"
#include "orchestrator/gateway/http_call.h"

#define EVENTS_A_ROUND 32
#define POOL_CALLS 64

TAILQ_HEAD(calls, http_call);

struct http_pool {
	struct http *http;
	uint32_t n; /* its place there */
	CURLM *multi;
	struct loop_watch *timer;
	struct calls calls;
	unsigned n_calls;
	bool in_curl;
	bool put_off; /* something was started or cancelled meanwhile */
};

struct http {
	struct loop *loop;
	int epfd; /* its events' data: pool << 32 | descriptor */
	struct loop_watch *watch;
	struct http_pool **pools; /* until http_free */
	uint32_t n_pools;
};

/* --- ends ----------------------------------------------------------------- */

static void
call_unlink(struct http_call *c)
{
	struct http_pool *p = c->pool;

	TAILQ_REMOVE(&p->calls, c, entry);
	p->n_calls--;
	loop_del(p->http->loop, c->idle);
	c->idle = NULL;
	if (c->added)
		(void)curl_multi_remove_handle(p->multi, c->easy);
	c->added = false;
}

static void
call_finish(struct http_call *c, CURLcode code)
{
	struct http_reply r = c->reply;

	http_call_result(c, code, &r);
	c->over = true;
	call_unlink(c);
	c->q.on_done(c->q.ctx, &r);
	http_call_free(c);
}

/* What callbacks of curl's asked for: it has returned now. */
static void
sweep(struct http_pool *p)
{
	struct http_call *c, *next;

	if (!p->put_off)
		return;
	p->put_off = false;
	TAILQ_FOREACH_SAFE (c, &p->calls, entry, next) {
		if (c->cancelled) {
			call_unlink(c);
			http_call_free(c);
		} else if (!c->added) {
			c->added = curl_multi_add_handle(p->multi, c->easy) ==
			    CURLM_OK;
			p->put_off |= !c->added; /* tried again */
		}
	}
}

static void
harvest(struct http_pool *p)
{
	char *private;
	CURLMsg *m;
	int left;

	sweep(p);
	while ((m = curl_multi_info_read(p->multi, &left)) != NULL) {
		if (m->msg != CURLMSG_DONE)
			continue;
		if (curl_easy_getinfo(
			m->easy_handle, CURLINFO_PRIVATE, &private) == CURLE_OK)
			call_finish((void *)private, m->data.result);
	}
}

static void
act(struct http_pool *p, curl_socket_t s, int mask)
{
	int running;

	p->in_curl = true;
	(void)curl_multi_socket_action(p->multi, s, mask, &running);
	p->in_curl = false;
}

/* --- curl and the loop ---------------------------------------------------- */

static void
on_ready(int fd, unsigned events unused_arg, void *ctx)
{
	struct http *h = ctx;
	struct epoll_event ev[EVENTS_A_ROUND];
	int n = epoll_wait(fd, ev, EVENTS_A_ROUND, 0), mask;

	for (int i = 0; i < n; i++) {
		mask = 0;
		if (ev[i].events & EPOLLIN)
			mask |= CURL_CSELECT_IN;
		if (ev[i].events & EPOLLOUT)
			mask |= CURL_CSELECT_OUT;
		if (ev[i].events & (EPOLLERR | EPOLLHUP))
			mask |= CURL_CSELECT_ERR;
		act(h->pools[ev[i].data.u64 >> 32],
		    (curl_socket_t)(uint32_t)ev[i].data.u64, mask);
	}
	for (int i = 0; i < n; i++)
		harvest(h->pools[ev[i].data.u64 >> 32]);
}

static void
on_timer(void *ctx)
{
	struct http_pool *p = ctx;

	p->timer = NULL;
	act(p, CURL_SOCKET_TIMEOUT, 0);
	harvest(p);
}

static int
set_timer(CURLM *multi unused_arg, long ms, void *ctx)
{
	struct http_pool *p = ctx;
	struct loop *l = p->http->loop;

	loop_del(l, p->timer);
	p->timer =
	    ms < 0 ? NULL : loop_timer_add(l, (uint64_t)ms, 0, on_timer, p);
	return 0;
}

static int
set_socket(CURL *easy unused_arg, curl_socket_t s, int what, void *ctx,
    void *unused unused_arg)
{
	struct http_pool *p = ctx;
	struct epoll_event ev = { .data.u64 =
				      (uint64_t)p->n << 32 | (uint32_t)s };
	int epfd = p->http->epfd;

	if (what == CURL_POLL_REMOVE) {
		(void)epoll_ctl(epfd, EPOLL_CTL_DEL, s, NULL);
		return 0;
	}
	if (what & CURL_POLL_IN)
		ev.events |= EPOLLIN;
	if (what & CURL_POLL_OUT)
		ev.events |= EPOLLOUT;
	if (epoll_ctl(epfd, EPOLL_CTL_MOD, s, &ev) == 0)
		return 0;
	return epoll_ctl(epfd, EPOLL_CTL_ADD, s, &ev) == 0 ? 0 : -1;
}

/* Silence is measured here: curl counts in whole seconds, and an average. */
static void
on_idle(void *ctx)
{
	struct http_call *c = ctx;
	struct loop *l = c->pool->http->loop;
	uint64_t quiet = loop_now_ms() - c->moved_ms;

	c->idle = NULL;
	if (quiet < c->q.idle_ms) {
		c->idle =
		    loop_timer_add(l, c->q.idle_ms - quiet, 0, on_idle, c);
		return;
	}
	if (c->cancelled)
		return;
	fault_set(&c->reply.fault, FAULT_BROKEN, "no byte for %llu s",
	    (unsigned long long)(c->q.idle_ms + 999) / 1000);
	call_finish(c, CURLE_OPERATION_TIMEDOUT);
}

/* --- pools ---------------------------------------------------------------- */

/* NULL: libcurl has no room. */
static struct http_pool *
pool_create(struct http *h)
{
	CURLM *multi = curl_multi_init();
	struct http_pool *p;

	if (multi == NULL)
		return NULL;
	p = xcalloc(1, sizeof *p);
	p->http = h;
	p->n = h->n_pools;
	p->multi = multi;
	TAILQ_INIT(&p->calls);
	curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, set_socket);
	curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, p);
	curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
	curl_multi_setopt(multi, CURLMOPT_TIMERDATA, p);
	curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
	/* An array of pointers. */
	h->pools =
	    xreallocarray(h->pools, h->n_pools + 1, sizeof(struct http_pool *));
	h->pools[h->n_pools++] = p;
	return p;
}

static void
pool_free(struct http_pool *p)
{
	struct http_call *c;

	while ((c = TAILQ_FIRST(&p->calls)) != NULL) {
		call_unlink(c);
		http_call_free(c);
	}
	(void)curl_multi_cleanup(p->multi); /* may still call set_socket */
	loop_del(p->http->loop, p->timer);
	free(p);
}

/* The first that has room, so that the last can fall idle. */
static struct http_pool *
with_room(struct http *h)
{
	struct http_pool *p;

	for (uint32_t i = 0; i < h->n_pools; i++)
		if (h->pools[i]->n_calls < POOL_CALLS)
			return h->pools[i];
	p = pool_create(h);
	return p != NULL ? p : h->pools[0]; /* slower, but no failure */
}

/* --- public --------------------------------------------------------------- */

struct http *
http_create(struct loop *l, struct err *e)
{
	struct http *h = xcalloc(1, sizeof *h);

	h->loop = l;
	h->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (h->epfd < 0) {
		(void)err_set(e, -errno, "epoll: %s", strerror(errno));
		free(h);
		return NULL;
	}
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
	    pool_create(h) == NULL) {
		(void)err_set(e, ERR_MODEL, "libcurl can't be started");
		fd_close(&h->epfd);
		free(h);
		return NULL;
	}
	h->watch = loop_fd_add(l, h->epfd, LOOP_IN, on_ready, h);
	return h;
}

void
http_free(struct http *h)
{
	if (h == NULL)
		return;
	for (uint32_t i = 0; i < h->n_pools; i++)
		pool_free(h->pools[i]);
	loop_del(h->loop, h->watch);
	fd_close(&h->epfd);
	curl_global_cleanup();
	free(h->pools);
	free(h);
}

int
http_start(struct http *h, const struct http_request *q, struct http_call **ret,
    struct err *e)
{
	struct http_pool *p;
	struct http_call *c;
	int r;

	if ((r = http_url_check(q->url, q->plain, e)) < 0) {
		free(q->taken);
		return r;
	}
	if ((r = http_call_create(q, &c, e)) < 0)
		return r;
	c->pool = p = with_room(h);
	if (!p->in_curl) {
		if (curl_multi_add_handle(p->multi, c->easy) != CURLM_OK) {
			http_call_free(c);
			return err_set(e, ERR_MODEL, "libcurl takes no call");
		}
		c->added = true;
	} else {
		p->put_off = true;
	}
	TAILQ_INSERT_TAIL(&p->calls, c, entry);
	p->n_calls++;
	c->idle = loop_timer_add(h->loop, c->q.idle_ms, 0, on_idle, c);
	*ret = c;
	return 0;
}

void
http_cancel(struct http_call *c)
{
	if (c == NULL || c->over)
		return;
	c->cancelled = true;
	if (c->pool->in_curl) {
		c->pool->put_off = true; /* sweep() takes it */
		return;
	}
	call_unlink(c);
	http_call_free(c);
}
