#include "common/compat.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "orchestrator/egress/resolve.h"

#define STACK ((size_t)512 << 10)

struct resolver {
	int out[2]; /* pointers to jobs that are done */
	unsigned running;
};

/* Owned by its thread, then by whoever reads it from the pipe. */
struct job {
	int fd;
	char name[256];
	uint16_t port;
	struct answer a;
};

static void
look_up(struct job *j)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG };
	struct addrinfo *list = NULL, *ai;
	char port[8];

	(void)snprintf(port, sizeof port, "%u", j->port);
	j->a.error = getaddrinfo(j->name, port, &hints, &list);
	if (j->a.error != 0)
		return;
	for (ai = list; ai != NULL && j->a.n < RESOLVE_ADDRS; ai = ai->ai_next)
		if (target_from_sockaddr(ai->ai_addr, &j->a.addrs[j->a.n]))
			j->a.n++;
	freeaddrinfo(list);
}

static void *
run(void *arg)
{
	struct job *j = arg;

	look_up(j);
	(void)fd_write_all(j->fd, &arg, sizeof arg); /* to ourselves */
	return NULL;
}

int
resolver_create(struct resolver **ret, struct err *e)
{
	struct resolver *r = xcalloc(1, sizeof *r);
	int code = fd_pipe(r->out);

	if (code < 0) {
		free(r);
		return err_set(e, code, "pipe: %s", err_str(code));
	}
	(void)fd_nonblock(r->out[0], true);
	*ret = r;
	return 0;
}

int
resolver_fd(const struct resolver *r)
{
	return r->out[0];
}

int
resolver_start(struct resolver *r, uint64_t id, const char *name, uint16_t port)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t thread;
	struct job *j;
	int code;

	if (r->running >= RESOLVE_AT_ONCE)
		return -EAGAIN;
	j = xcalloc(1, sizeof *j);
	j->fd = r->out[1];
	j->port = port;
	j->a.id = id;
	(void)strlcpy(j->name, name, sizeof j->name);
	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	(void)pthread_attr_setstacksize(&attr, STACK);
	sigfillset(&all); /* signals are for the loop's thread */
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	code = pthread_create(&thread, &attr, run, j);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	(void)pthread_attr_destroy(&attr);
	if (code != 0) {
		free(j);
		return -EAGAIN;
	}
	r->running++;
	return 0;
}

bool
resolver_next(struct resolver *r, struct answer *ret)
{
	struct job *j;
	void *p;

	if (read(r->out[0], &p, sizeof p) != (ssize_t)sizeof p)
		return false;
	j = p;
	r->running--;
	*ret = j->a;
	free(j);
	return true;
}
