/*
 * libmicrohttpd in its external mode: it has an epoll descriptor of its own,
 * which is watched by the loop, and a timer for what it wants to do later.
 *
 * Its own time limit counts from the last byte, so that a request of one byte
 * every few seconds would hold a connection for long: the time since the
 * connection began is looked at here.
 */
#include "common/compat.h"

#include <sys/queue.h>
#include <sys/socket.h>

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "orchestrator/metrics/endpoint.h"
#include "orchestrator/metrics/scrape.h"
#include "orchestrator/metrics/table.h"

#define CONNECTIONS 32
#define MEMORY 8192 /* of a connection: request line and headers */
#define LIFE_MS 3000
#define IDLE_S 2
#define TICK_MS 1000

struct guest {
	TAILQ_ENTRY(guest) entry;
	int fd; /* the library's */
	uint64_t since_ms;
};

struct scrape {
	struct loop *loop;
	struct MHD_Daemon *daemon;
	struct loop_watch *watch, *timer, *tick;
	TAILQ_HEAD(, guest) guests; /* the oldest first */
	void (*text)(void *ctx, struct buf *b);
	void *ctx;
	char *url, *path;
};

static enum MHD_Result
answer(struct MHD_Connection *c, unsigned status, const char *type,
    const char *allow, struct buf *b)
{
	size_t len;
	char *body = buf_detach(b, &len);
	struct MHD_Response *r =
	    MHD_create_response_from_buffer(len, body, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result ok = MHD_NO;

	if (r == NULL) {
		free(body);
		return MHD_NO;
	}
	if (MHD_add_response_header(r, "Content-Type", type) == MHD_YES &&
	    MHD_add_response_header(r, "Connection", "close") == MHD_YES &&
	    (allow == NULL ||
		MHD_add_response_header(r, "Allow", allow) == MHD_YES))
		ok = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return ok;
}

/* Called when the headers are there. */
static enum MHD_Result
on_request(void *ctx, struct MHD_Connection *c, const char *url,
    const char *method, const char *version unused_arg,
    const char *upload unused_arg, size_t *upload_size unused_arg,
    void **state unused_arg)
{
	static const char plain[] = "text/plain; charset=utf-8";
	struct scrape *s = ctx;
	struct buf b;

	buf_init(&b, BUF_NOMAX);
	if (strcmp(method, "GET") != 0) {
		(void)buf_adds(&b, "only GET\n");
		return answer(c, MHD_HTTP_METHOD_NOT_ALLOWED, plain, "GET", &b);
	}
	if (strcmp(url, "/metrics") == 0) {
		s->text(s->ctx, &b);
		return answer(c, MHD_HTTP_OK, METRICS_CONTENT_TYPE, NULL, &b);
	}
	if (strcmp(url, "/healthz") == 0) {
		(void)buf_adds(&b, "ok\n");
		return answer(c, MHD_HTTP_OK, plain, NULL, &b);
	}
	(void)buf_adds(&b, "there is /metrics and /healthz\n");
	return answer(c, MHD_HTTP_NOT_FOUND, plain, NULL, &b);
}

static void
on_guest(void *ctx, struct MHD_Connection *c, void **mine,
    enum MHD_ConnectionNotificationCode what)
{
	struct scrape *s = ctx;
	const union MHD_ConnectionInfo *info;
	struct guest *g = *mine;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (g != NULL)
			TAILQ_REMOVE(&s->guests, g, entry);
		free(g);
		*mine = NULL;
		return;
	}
	info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	if (info == NULL)
		return;
	g = xcalloc(1, sizeof *g);
	g->fd = info->connect_fd;
	g->since_ms = loop_now_ms();
	TAILQ_INSERT_TAIL(&s->guests, g, entry);
	*mine = g;
}

static void turn(struct scrape *s);

static void
on_timer(void *ctx)
{
	struct scrape *s = ctx;

	s->timer = NULL;
	turn(s);
}

/* One bounded round of the library, and when it wants the next. */
static void
turn(struct scrape *s)
{
	MHD_UNSIGNED_LONG_LONG ms;

	(void)MHD_run(s->daemon);
	loop_del(s->loop, s->timer);
	s->timer = NULL;
	if (MHD_get_timeout(s->daemon, &ms) == MHD_YES)
		s->timer = loop_timer_add(s->loop, ms, 0, on_timer, s);
}

static void
on_ready(int fd unused_arg, unsigned events unused_arg, void *ctx)
{
	turn(ctx);
}

static void
on_tick(void *ctx)
{
	struct scrape *s = ctx;
	uint64_t now = loop_now_ms();
	struct guest *g;

	/* The library sees the end of the connection then. */
	TAILQ_FOREACH (g, &s->guests, entry)
		if (now - g->since_ms >= LIFE_MS)
			(void)shutdown(g->fd, SHUT_RDWR);
	turn(s);
}

int
scrape_start(struct loop *l, const char *endpoint,
    void (*text)(void *ctx, struct buf *b), void *ctx, struct scrape **ret,
    struct err *e)
{
	struct scrape *s = xcalloc(1, sizeof *s);
	const union MHD_DaemonInfo *info;
	int fd = -1, r;

	s->loop = l;
	s->text = text;
	s->ctx = ctx;
	TAILQ_INIT(&s->guests);
	if ((r = endpoint_listen(endpoint, &fd, &s->url, &s->path, e)) < 0)
		goto out;
	s->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request,
	    s, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
	    (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
	    (size_t)MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
	    MHD_OPTION_NOTIFY_CONNECTION, on_guest, s, MHD_OPTION_END);
	if (s->daemon == NULL) {
		fd_close(&fd);
		r = err_set(e, ERR_USAGE,
		    "--metrics %s: the web server does not start", endpoint);
		goto out;
	}
	info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	s->watch = loop_fd_add(l, info->epoll_fd, LOOP_IN, on_ready, s);
	s->tick = loop_timer_add(l, TICK_MS, TICK_MS, on_tick, s);
out:
	if (r < 0) {
		scrape_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

const char *
scrape_url(const struct scrape *s)
{
	return s->url;
}

void
scrape_free(struct scrape *s)
{
	if (s == NULL)
		return;
	loop_del(s->loop, s->watch);
	loop_del(s->loop, s->timer);
	loop_del(s->loop, s->tick);
	if (s->daemon != NULL)
		MHD_stop_daemon(s->daemon); /* closes the socket, too */
	if (s->path != NULL)
		(void)unlink(s->path);
	free(s->url);
	free(s->path);
	free(s);
}
