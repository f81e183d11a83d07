/*
 * curl's sockets sit behind one epoll descriptor in the loop's set; its one
 * timer is a timer of the loop. Nothing of curl's may be called from within its
 * callbacks, so what a caller's on_data starts or cancels waits until curl has
 * returned (sweep).
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

TAILQ_HEAD(calls, http_call);

struct http {
	struct loop *loop;
	CURLM *multi;
	int epfd;
	struct loop_watch *watch, *timer;
	struct calls calls;
	bool in_curl;
	bool put_off; /* something was started or cancelled meanwhile */
};

/* --- ends ----------------------------------------------------------------- */

static void
call_unlink(struct http *h, struct http_call *c)
{
	TAILQ_REMOVE(&h->calls, c, entry);
	loop_del(h->loop, c->idle);
	c->idle = NULL;
	if (c->added)
		(void)curl_multi_remove_handle(h->multi, c->easy);
	c->added = false;
}

static void
call_finish(struct http_call *c, CURLcode code)
{
	struct http_reply r = c->reply;

	http_call_result(c, code, &r);
	c->over = true;
	call_unlink(c->http, c);
	c->q.on_done(c->q.ctx, &r);
	http_call_free(c);
}

/* What callbacks of curl's asked for: it has returned now. */
static void
sweep(struct http *h)
{
	struct http_call *c, *next;

	if (!h->put_off)
		return;
	h->put_off = false;
	TAILQ_FOREACH_SAFE (c, &h->calls, entry, next) {
		if (c->cancelled) {
			call_unlink(h, c);
			http_call_free(c);
		} else if (!c->added) {
			c->added = curl_multi_add_handle(h->multi, c->easy) ==
			    CURLM_OK;
			h->put_off |= !c->added; /* tried again */
		}
	}
}

static void
harvest(struct http *h)
{
	char *private;
	CURLMsg *m;
	int left;

	sweep(h);
	while ((m = curl_multi_info_read(h->multi, &left)) != NULL) {
		if (m->msg != CURLMSG_DONE)
			continue;
		if (curl_easy_getinfo(
			m->easy_handle, CURLINFO_PRIVATE, &private) == CURLE_OK)
			call_finish((void *)private, m->data.result);
	}
}

static void
act(struct http *h, curl_socket_t s, int mask)
{
	int running;

	h->in_curl = true;
	(void)curl_multi_socket_action(h->multi, s, mask, &running);
	h->in_curl = false;
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
		act(h, ev[i].data.fd, mask);
	}
	harvest(h);
}

static void
on_timer(void *ctx)
{
	struct http *h = ctx;

	h->timer = NULL;
	act(h, CURL_SOCKET_TIMEOUT, 0);
	harvest(h);
}

static int
set_timer(CURLM *multi unused_arg, long ms, void *ctx)
{
	struct http *h = ctx;

	loop_del(h->loop, h->timer);
	h->timer = ms < 0
	    ? NULL
	    : loop_timer_add(h->loop, (uint64_t)ms, 0, on_timer, h);
	return 0;
}

static int
set_socket(CURL *easy unused_arg, curl_socket_t s, int what, void *ctx,
    void *unused unused_arg)
{
	struct http *h = ctx;
	struct epoll_event ev = { .data.fd = s };

	if (what == CURL_POLL_REMOVE) {
		(void)epoll_ctl(h->epfd, EPOLL_CTL_DEL, s, NULL);
		return 0;
	}
	if (what & CURL_POLL_IN)
		ev.events |= EPOLLIN;
	if (what & CURL_POLL_OUT)
		ev.events |= EPOLLOUT;
	if (epoll_ctl(h->epfd, EPOLL_CTL_MOD, s, &ev) == 0)
		return 0;
	return epoll_ctl(h->epfd, EPOLL_CTL_ADD, s, &ev) == 0 ? 0 : -1;
}

/* Silence is measured here: curl counts in whole seconds, and an average. */
static void
on_idle(void *ctx)
{
	struct http_call *c = ctx;
	struct loop *l = c->http->loop;
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

/* --- public --------------------------------------------------------------- */

struct http *
http_create(struct loop *l, struct err *e)
{
	struct http *h = xcalloc(1, sizeof *h);

	h->loop = l;
	TAILQ_INIT(&h->calls);
	h->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (h->epfd < 0) {
		(void)err_set(e, -errno, "epoll: %s", strerror(errno));
		free(h);
		return NULL;
	}
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
	    (h->multi = curl_multi_init()) == NULL) {
		(void)err_set(e, ERR_MODEL, "libcurl can't be started");
		fd_close(&h->epfd);
		free(h);
		return NULL;
	}
	curl_multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, set_socket);
	curl_multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h);
	curl_multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, set_timer);
	curl_multi_setopt(h->multi, CURLMOPT_TIMERDATA, h);
	curl_multi_setopt(h->multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
	h->watch = loop_fd_add(l, h->epfd, LOOP_IN, on_ready, h);
	return h;
}

void
http_free(struct http *h)
{
	struct http_call *c;

	if (h == NULL)
		return;
	while ((c = TAILQ_FIRST(&h->calls)) != NULL) {
		call_unlink(h, c);
		http_call_free(c);
	}
	(void)curl_multi_cleanup(h->multi); /* may still call set_socket */
	loop_del(h->loop, h->timer);
	loop_del(h->loop, h->watch);
	fd_close(&h->epfd);
	curl_global_cleanup();
	free(h);
}

int
http_start(struct http *h, const struct http_request *q, struct http_call **ret,
    struct err *e)
{
	struct http_call *c;
	int r;

	if ((r = http_url_check(q->url, q->plain, e)) < 0) {
		free(q->taken);
		return r;
	}
	if ((r = http_call_create(q, &c, e)) < 0)
		return r;
	c->http = h;
	if (!h->in_curl) {
		if (curl_multi_add_handle(h->multi, c->easy) != CURLM_OK) {
			http_call_free(c);
			return err_set(e, ERR_MODEL, "libcurl takes no call");
		}
		c->added = true;
	} else {
		h->put_off = true;
	}
	TAILQ_INSERT_TAIL(&h->calls, c, entry);
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
	if (c->http->in_curl) {
		c->http->put_off = true; /* sweep() takes it */
		return;
	}
	call_unlink(c->http, c);
	http_call_free(c);
}
