/*
 * model_server.c - the fastest model there is: canned streams, no questions.
 *
 *	model_server DIR [-k KEEP] [-d MS] [-p MS] [-g FILE] [TURN:N]...
 *
 * DIR holds plan.sse, the reply to what asks for a plan, and 0000.sse, 0001.sse
 * and so on, the replies to all others: a conversation's turn is told by the
 * last id "call_bTTTT" in its body, so the streams give their calls such ids.
 * KEEP takes the body of each request that was no planner's. A reply begins -d
 * after the request's end, and after up to twice -p more, left to chance: that
 * paces those who ask.
 *
 * FILE takes, in text, the turn of each request and the microseconds since the
 * reply before it was sent: all that lies between two calls of a model. Whose
 * reply that was is told by the hypothesis in the body, "(H12)", and else by
 *the connection.
 *
 * At a barrier TURN:N the N workers that ask for that turn wait until the last
 * of them has come and a line was read from stdin. stdout, a line each:
 *
 *	port PORT
 *	barrier TURN SECONDS REQUESTS BYTES     all N have come: the clock, and
 *	                                        requests and bytes of bodies so
 *	                                        far; FILE is complete to here
 *
 * Those that waited go one after the other within the time of -d and twice -p.
 * A number in the line is another -p from then on.
 * It ends with stdin. One thread, epoll, HTTP/1.1 with Content-Length only.
 */
#include "common/compat.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "sandbox/limits.h"

#define TURNS_MAX 10000
#define SIBLINGS_MAX 4096
#define HYPOTHESIS "Your hypothesis (H"
#define BARRIERS_MAX 16
#define EVENTS 64
#define HEAD_MAX 16384
#define PIECE ((size_t)256 << 10)
#define ID "call_b"
#define ID_LEN (sizeof ID - 1)

struct conn {
	struct conn *next; /* of those that wait at the barrier */
	int fd;
	struct buf in;
	size_t need; /* bytes of head and body; 0: not known */
	size_t head;
	const struct buf *out;
	size_t out_at;
	struct conn *after; /* of those whose time has not come */
	uint64_t due_us;
	uint64_t sent_us, *sent; /* when the last reply was; its place */
};

struct barrier {
	unsigned turn, n;
};

static struct server {
	int epfd;
	struct buf plan, *turns;
	unsigned n_turns;
	struct barrier barriers[BARRIERS_MAX];
	unsigned n_barriers, at, arrived;
	struct conn *waiting;
	const char *keep;
	uint64_t requests, bytes;
	uint64_t delay_us, pause_us, seed;
	struct conn *held; /* the next first */
	uint64_t sent[SIBLINGS_MAX];
	FILE *gaps;
} sv;

static uint64_t
now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* xorshift64 (Marsaglia 2003); the same in each run. */
static uint64_t
up_to(uint64_t us)
{
	sv.seed ^= sv.seed << 13;
	sv.seed ^= sv.seed >> 7;
	sv.seed ^= sv.seed << 17;
	return us > 0 ? sv.seed % us : 0;
}

/* --- replies -------------------------------------------------------------- */

/* With its head, ready to be sent. False: there is no such file. */
static bool
load(const char *dir, const char *name, struct buf *ret)
{
	char *path = path_join(dir, name);
	struct buf body;
	struct err e;
	bool ok;

	buf_init(&body, BUF_NOMAX);
	buf_init(ret, BUF_NOMAX);
	ok = file_read(path, false, &body, &e) == 0;
	if (ok) {
		(void)buf_printf(ret,
		    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
		    "Content-Length: %zu\r\n\r\n",
		    body.len);
		(void)buf_add(ret, body.data, body.len);
	}
	buf_clear(&body);
	free(path);
	return ok;
}

static void
load_all(const char *dir)
{
	char name[32];

	if (!load(dir, "plan.sse", &sv.plan))
		fatal("%s has no plan.sse", dir);
	for (; sv.n_turns < TURNS_MAX; sv.n_turns++) {
		sv.turns =
		    xreallocarray(sv.turns, sv.n_turns + 1, sizeof *sv.turns);
		(void)snprintf(name, sizeof name, "%04u.sse", sv.n_turns);
		if (!load(dir, name, &sv.turns[sv.n_turns]))
			break;
	}
	if (sv.n_turns == 0)
		fatal("%s has no 0000.sse", dir);
}

/* --- a request ------------------------------------------------------------ */

static unsigned
turn_of(const char *body, size_t len)
{
	const char *end = body + len, *p = end;

	while ((p = memrchr(body, ID[0], (size_t)(p - body))) != NULL) {
		if ((size_t)(end - p) > ID_LEN + 4 &&
		    memcmp(p, ID, ID_LEN) == 0)
			return (unsigned)strtoul(p + ID_LEN, NULL, 10) + 1;
	}
	return 0;
}

static void
keep_body(const char *body, size_t len)
{
	char *path = path_joinf(sv.keep, "%06" PRIu64 ".json", sv.requests);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || fd_write_all(fd, body, len) < 0)
		fatal("%s: %s", path, strerror(errno));
	fd_close(&fd);
	free(path);
}

static void
want(struct conn *c, unsigned events)
{
	struct epoll_event ev = { .events = events, .data.ptr = c };

	if (epoll_ctl(sv.epfd, EPOLL_CTL_MOD, c->fd, &ev) < 0)
		fatal("epoll: %s", strerror(errno));
}

/* How long it took from the last reply to this request. */
static void
note_gap(struct conn *c, unsigned turn, const char *body, size_t len)
{
	const char *p = memmem(body, len, HYPOTHESIS, sizeof HYPOTHESIS - 1);
	unsigned long nr = 0;

	if (p != NULL)
		nr = strtoul(p + sizeof HYPOTHESIS - 1, NULL, 10);
	c->sent = nr > 0 && nr < SIBLINGS_MAX ? &sv.sent[nr] : &c->sent_us;
	if (sv.gaps != NULL && *c->sent != 0)
		(void)fprintf(
		    sv.gaps, "%u %" PRIu64 "\n", turn, now_us() - *c->sent);
}

/* False: the connection is at its end. */
static bool
send_more(struct conn *c)
{
	ssize_t n = send(c->fd, c->out->data + c->out_at,
	    c->out->len - c->out_at, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN;
	c->out_at += (size_t)n;
	if (c->out_at == c->out->len) {
		c->out = NULL;
		*c->sent = now_us();
	}
	want(c, c->out != NULL ? EPOLLOUT : EPOLLIN);
	return true;
}

/* Its reply is sent after so many microseconds. */
static void
hold(struct conn *c, uint64_t us)
{
	struct conn **at = &sv.held;

	c->due_us = now_us() + us;
	while (*at != NULL && (*at)->due_us <= c->due_us)
		at = &(*at)->after;
	c->after = *at;
	*at = c;
	want(c, 0);
}

static void
send_due(void)
{
	struct conn *c;

	while ((c = sv.held) != NULL && c->due_us <= now_us()) {
		sv.held = c->after;
		c->after = NULL;
		want(c, EPOLLOUT);
	}
}

/* For epoll: until the next one's time has come. */
static int
wait_ms(void)
{
	uint64_t now = now_us();

	return sv.held == NULL ? -1
	    : sv.held->due_us <= now
	    ? 0
	    : (int)((sv.held->due_us - now + 999) / 1000);
}

static void
wait_at_barrier(struct conn *c)
{
	const struct barrier *b = &sv.barriers[sv.at];
	struct timespec t;

	c->next = sv.waiting;
	sv.waiting = c;
	want(c, 0);
	if (++sv.arrived < b->n)
		return;
	if (sv.gaps != NULL)
		(void)fflush(sv.gaps);
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	printf("barrier %u %.6f %" PRIu64 " %" PRIu64 "\n", b->turn,
	    (double)t.tv_sec + (double)t.tv_nsec / 1e9, sv.requests, sv.bytes);
	(void)fflush(stdout);
}

static bool
answer(struct conn *c)
{
	const char *body = c->in.data + c->head;
	size_t len = c->need - c->head;
	unsigned turn = turn_of(body, len);
	bool plan =
	    turn == 0 && memmem(body, len, "Plan the search", 15) != NULL;

	sv.requests++;
	sv.bytes += len;
	if (sv.keep != NULL && !plan)
		keep_body(body, len);
	note_gap(c, turn, body, len);
	buf_drain(&c->in, c->need);
	c->need = 0;
	c->out_at = 0;
	c->out = plan ? &sv.plan
		      : &sv.turns[turn < sv.n_turns ? turn : sv.n_turns - 1];
	if (!plan && sv.at < sv.n_barriers && turn == sv.barriers[sv.at].turn) {
		wait_at_barrier(c);
		return true;
	}
	if (sv.delay_us + sv.pause_us > 0) {
		hold(c, sv.delay_us + up_to(2 * sv.pause_us));
		return true;
	}
	return send_more(c);
}

static void
read_head(struct conn *c)
{
	const char *s = buf_str(&c->in), *end = strstr(s, "\r\n\r\n"), *p;

	if (end == NULL) {
		if (c->in.len > HEAD_MAX)
			fatal("a request's head is too long");
		return;
	}
	p = strcasestr(s, "\r\ncontent-length:");
	if (p == NULL || p > end)
		fatal("a request without Content-Length");
	c->head = (size_t)(end + 4 - s);
	c->need = c->head + strtoul(p + 17, NULL, 10);
}

static bool
read_more(struct conn *c)
{
	ssize_t n;

	(void)buf_reserve(&c->in, PIECE);
	n = recv(c->fd, c->in.data + c->in.len, PIECE, MSG_DONTWAIT);
	if (n <= 0)
		return n < 0 && errno == EAGAIN;
	buf_fill(&c->in, (size_t)n);
	if (c->need == 0)
		read_head(c);
	if (c->need == 0 || c->in.len < c->need)
		return true;
	return answer(c);
}

static void
conn_free(struct conn *c)
{
	struct conn **at = &sv.waiting;

	while (*at != NULL && *at != c)
		at = &(*at)->next;
	if (*at == c)
		*at = c->next;
	for (at = &sv.held; *at != NULL && *at != c;)
		at = &(*at)->after;
	if (*at == c)
		*at = c->after;
	fd_close(&c->fd);
	buf_clear(&c->in);
	free(c);
}

/* --- the loop ------------------------------------------------------------- */

static void
accept_one(int listen_fd)
{
	struct conn *c = xcalloc(1, sizeof *c);
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };
	int one = 1;

	buf_init(&c->in, BUF_NOMAX);
	c->fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (c->fd < 0 || epoll_ctl(sv.epfd, EPOLL_CTL_ADD, c->fd, &ev) < 0)
		fatal("accept: %s", strerror(errno));
	(void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static uint64_t
microseconds(const char *ms)
{
	return strtoull(ms, NULL, 10) * 1000;
}

/* A line lets those at the barrier go; the end of stdin ends us. */
static void
on_stdin(void)
{
	struct conn *c, *next;
	char line[64];
	ssize_t n = read(0, line, sizeof line - 1);

	if (n <= 0)
		exit(0);
	line[n] = '\0';
	if (line[0] >= '0' && line[0] <= '9')
		sv.pause_us = microseconds(line);
	sv.at++;
	sv.arrived = 0;
	next = sv.waiting;
	sv.waiting = NULL;
	while ((c = next) != NULL) {
		next = c->next;
		hold(c, up_to(sv.delay_us + 2 * sv.pause_us));
	}
}

static int
listen_here(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) < 0 ||
	    listen(fd, 4096) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		fatal("listen: %s", strerror(errno));
	printf("port %u\n", ntohs(a.sin_port));
	(void)fflush(stdout);
	return fd;
}

static void noreturn_fn
serve(int listen_fd)
{
	struct epoll_event ev[EVENTS];
	struct conn *c;
	bool ok;
	int n;

	for (;;) {
		n = epoll_wait(sv.epfd, ev, EVENTS, wait_ms());
		for (int i = 0; i < n; i++) {
			c = ev[i].data.ptr;
			if (c == NULL) {
				on_stdin();
				continue;
			}
			if (c == (void *)&sv) {
				accept_one(listen_fd);
				continue;
			}
			ok = (ev[i].events & EPOLLOUT) != 0 && c->out != NULL
			    ? send_more(c)
			    : (ev[i].events & EPOLLIN) != 0 && read_more(c);
			if (!ok)
				conn_free(c);
		}
		send_due();
	}
}

static void
options(int argc, char **argv)
{
	struct barrier *b;
	int opt;

	while ((opt = getopt(argc, argv, "k:d:p:g:")) != -1) {
		if (opt == 'k')
			sv.keep = optarg;
		else if (opt == 'd')
			sv.delay_us = microseconds(optarg);
		else if (opt == 'p')
			sv.pause_us = microseconds(optarg);
		else if (opt != 'g' || (sv.gaps = fopen(optarg, "we")) == NULL)
			fatal("an option is wrong");
	}
	for (; optind < argc && sv.n_barriers < BARRIERS_MAX; optind++) {
		b = &sv.barriers[sv.n_barriers++];
		if (sscanf(argv[optind], "%u:%u", &b->turn, &b->n) != 2)
			fatal("%s is no TURN:N", argv[optind]);
	}
}

int
main(int argc, char **argv)
{
	struct epoll_event in = { .events = EPOLLIN };
	struct epoll_event accepts = { .events = EPOLLIN, .data.ptr = &sv };
	int listen_fd;

	log_init("bench");
	limits_raise_nofile();
	sv.seed = 1;
	if (argc < 2)
		fatal("usage: model_server DIR [OPTION]... [TURN:N]...");
	load_all(argv[1]);
	options(argc - 1, argv + 1);
	sv.epfd = epoll_create1(EPOLL_CLOEXEC);
	listen_fd = listen_here();
	if (epoll_ctl(sv.epfd, EPOLL_CTL_ADD, 0, &in) < 0 ||
	    epoll_ctl(sv.epfd, EPOLL_CTL_ADD, listen_fd, &accepts) < 0)
		fatal("epoll: %s", strerror(errno));
	serve(listen_fd);
}
