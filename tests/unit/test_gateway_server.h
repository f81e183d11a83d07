/*
 * test_gateway_server.h - an HTTP server on loopback that says what it is told,
 * byte for byte, with the faults of real ones. A thread; one step answers one
 * request, the last step repeats.
 */
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/log.h"

#define STEPS_MAX 16
#define REQUESTS_MAX 64

enum after {
	AFTER_CLOSE,
	AFTER_RESET, /* RST */
	AFTER_STALL, /* silent, until the client goes */
	AFTER_KEEP   /* another request on this connection */
};

struct step {
	char *bytes; /* NULL: nothing */
	size_t len;
	size_t piece; /* bytes at a time; 0: all */
	unsigned pause_us;
	enum after after;
	size_t repeat; /* bytes are sent so many times more */
};

struct server_bed {
	int fd;
	unsigned port;
	pthread_t thread;
	pthread_mutex_t lock;
	struct step steps[STEPS_MAX];
	size_t n_steps;
	char *requests[REQUESTS_MAX];
	unsigned n_requests, n_connections, busy, most_busy;
	volatile bool stop;
};

struct conn {
	struct server_bed *b;
	int fd;
	pthread_t thread;
};

static inline void
bed_take(struct server_bed *b, const struct buf *in, struct step *ret)
{
	size_t i;

	pthread_mutex_lock(&b->lock);
	i = b->n_requests < b->n_steps ? b->n_requests : b->n_steps - 1;
	if (b->n_requests < REQUESTS_MAX)
		b->requests[b->n_requests] = xstrdup(buf_str(in));
	b->n_requests++;
	*ret = b->steps[i];
	if (++b->busy > b->most_busy)
		b->most_busy = b->busy;
	pthread_mutex_unlock(&b->lock);
}

/* How many requests came. */
static inline unsigned
bed_asked(struct server_bed *b)
{
	unsigned n;

	pthread_mutex_lock(&b->lock);
	n = b->n_requests;
	pthread_mutex_unlock(&b->lock);
	return n;
}

/* A whole request, by its Content-Length. */
static inline bool
bed_read(struct server_bed *b, int fd, struct buf *in)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	const char *end, *at;
	char bite[4096];
	size_t want = 0;
	ssize_t n;

	buf_reset(in);
	for (;;) {
		if (in->len > 0 &&
		    (end = strstr(buf_str(in), "\r\n\r\n")) != NULL) {
			at = strcasestr(buf_str(in), "content-length: ");
			want = (size_t)(end + 4 - buf_str(in));
			if (at != NULL && at < end)
				want += strtoul(at + 16, NULL, 10);
			if (in->len >= want)
				return true;
		}
		while (!b->stop && poll(&p, 1, 50) == 0)
			;
		if (b->stop || (n = read(fd, bite, sizeof bite)) <= 0)
			return false;
		(void)buf_add(in, bite, (size_t)n);
	}
}

static inline void
bed_write(struct server_bed *b, int fd, const struct step *s)
{
	size_t piece;

	for (size_t round = 0; round <= s->repeat; round++) {
		for (size_t at = 0; at < s->len && !b->stop; at += piece) {
			piece = s->len - at;
			if (s->piece > 0 && piece > s->piece)
				piece = s->piece;
			if (send(fd, s->bytes + at, piece, MSG_NOSIGNAL) !=
			    (ssize_t)piece)
				return;
			if (s->pause_us > 0)
				(void)usleep(s->pause_us);
		}
	}
}

static inline void *
bed_conn(void *ctx)
{
	struct conn *c = ctx;
	struct server_bed *b = c->b;
	struct linger hard = { .l_onoff = 1 };
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	struct step s = { .after = AFTER_KEEP };
	struct buf in;

	buf_init(&in, BUF_NOMAX);
	while (s.after == AFTER_KEEP && bed_read(b, c->fd, &in)) {
		bed_take(b, &in, &s);
		bed_write(b, c->fd, &s);
		if (s.after == AFTER_STALL)
			while (!b->stop && poll(&p, 1, 50) == 0)
				;
		if (s.after == AFTER_RESET)
			(void)setsockopt(
			    c->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
		pthread_mutex_lock(&b->lock);
		b->busy--;
		pthread_mutex_unlock(&b->lock);
	}
	buf_clear(&in);
	(void)close(c->fd);
	return NULL;
}

static inline void *
bed_accept(void *ctx)
{
	struct server_bed *b = ctx;
	struct conn conns[REQUESTS_MAX * 2];
	size_t n = 0;

	while (!b->stop && n < REQUESTS_MAX * 2) {
		struct pollfd p = { .fd = b->fd, .events = POLLIN };

		if (poll(&p, 1, 20) <= 0)
			continue;
		conns[n].b = b;
		if ((conns[n].fd = accept(b->fd, NULL, NULL)) < 0)
			continue;
		b->n_connections++;
		if (pthread_create(
			&conns[n].thread, NULL, bed_conn, &conns[n]) == 0)
			n++;
	}
	for (size_t i = 0; i < n; i++)
		pthread_join(conns[i].thread, NULL);
	return NULL;
}

static inline void
bed_start(struct server_bed *b)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof a;

	*b = (struct server_bed){ 0 };
	pthread_mutex_init(&b->lock, NULL);
	b->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(b->fd, (struct sockaddr *)&a, sizeof a) < 0 ||
	    listen(b->fd, REQUESTS_MAX * 2) < 0 ||
	    getsockname(b->fd, (struct sockaddr *)&a, &len) < 0)
		fatal("test server: no socket");
	b->port = ntohs(a.sin_port);
}

/* The steps are set. */
static inline void
bed_run(struct server_bed *b)
{
	if (pthread_create(&b->thread, NULL, bed_accept, b) != 0)
		fatal("test server: no thread");
}

static inline void
bed_stop(struct server_bed *b)
{
	b->stop = true;
	pthread_join(b->thread, NULL);
	(void)close(b->fd);
	for (size_t i = 0; i < b->n_steps; i++)
		free(b->steps[i].bytes);
	for (size_t i = 0; i < REQUESTS_MAX; i++)
		free(b->requests[i]);
	pthread_mutex_destroy(&b->lock);
}

static inline struct step *
bed_raw(struct server_bed *b, const char *bytes)
{
	struct step *s = &b->steps[b->n_steps++];

	s->bytes = bytes != NULL ? xstrdup(bytes) : NULL;
	s->len = bytes != NULL ? strlen(bytes) : 0;
	return s;
}

/* headers: whole lines with CRLF. */
static inline struct step *
bed_reply(struct server_bed *b, unsigned status, const char *headers,
    const char *body)
{
	char *text = xasprintf("HTTP/1.1 %u X\r\n%sContent-Length: %zu\r\n"
			       "Connection: close\r\n\r\n%s",
	    status, headers, strlen(body), body);
	struct step *s = bed_raw(b, text);

	free(text);
	return s;
}

/* An event stream without a length: it ends where the connection does. */
static inline struct step *
bed_stream(struct server_bed *b, const char *events)
{
	char *text = xasprintf("HTTP/1.1 200 OK\r\nContent-Type: "
			       "text/event-stream\r\nConnection: close\r\n\r\n"
			       "%s",
	    events);
	struct step *s = bed_raw(b, text);

	free(text);
	return s;
}
