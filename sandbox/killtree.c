/* killtree.c - see killtree.h. */
#include "common/compat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/loop.h"
#include "sandbox/killtree.h"

#define SOFT_MS 300

struct proc {
	pid_t pid, parent;
	char state;
	unsigned long threads;
	unsigned long long start; /* tells a number's next owner apart */
	bool below, monitor;
};

struct procs {
	struct proc *v;
	size_t n, size;
};

/* "PID (NAME) STATE PARENT ...": the name may hold anything. */
static bool
read_proc(int dir, const char *pid, struct proc *ret)
{
	char path[64], text[1024], *at;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof path, "%.20s/stat", pid);
	if ((fd = openat(dir, path, O_RDONLY | O_CLOEXEC)) < 0)
		return false;
	n = read(fd, text, sizeof text - 1);
	fd_close(&fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	memset(ret, 0, sizeof *ret);
	ret->pid = (pid_t)strtol(text, NULL, 10);
	at = strrchr(text, ')');
	return at != NULL &&
	    sscanf(at + 1,
		" %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
		"%*d %*d %lu %*d %llu",
		&ret->state, &ret->parent, &ret->threads, &ret->start) == 4;
}

static void
look(struct procs *ps)
{
	struct dirent *d;
	struct proc p;
	DIR *dir = opendir("/proc");

	ps->n = 0;
	while (dir != NULL && (d = readdir(dir)) != NULL) {
		if (d->d_name[0] < '1' || d->d_name[0] > '9' ||
		    !read_proc(dirfd(dir), d->d_name, &p))
			continue;
		if (ps->n == ps->size) {
			ps->size = ps->size > 0 ? 2 * ps->size : 256;
			ps->v = xreallocarray(ps->v, ps->size, sizeof *ps->v);
		}
		ps->v[ps->n++] = p;
	}
	if (dir != NULL)
		(void)closedir(dir);
}

static int
by_pid(const void *key, const void *elem)
{
	const pid_t *pid = key;
	const struct proc *p = elem;

	return *pid < p->pid ? -1 : *pid > p->pid;
}

/* Mark what is below top; how many of them live. /proc lists by number. */
static size_t
mark(struct procs *ps, pid_t top)
{
	const struct proc *parent;
	size_t alive = 0;
	bool more = true;

	/* A parent may have the higher number: until nothing is added. */
	while (more) {
		more = false;
		for (size_t i = 0; i < ps->n; i++) {
			struct proc *p = &ps->v[i];

			if (p->below)
				continue;
			parent = bsearch(
			    &p->parent, ps->v, ps->n, sizeof *ps->v, by_pid);
			p->below = p->parent == top ||
			    (parent != NULL && parent->below);
			more |= p->below;
			alive += p->below && p->state != 'Z' && p->state != 'X';
		}
	}
	return alive;
}

static const int signals[] = { SIGCHLD, SIGTERM, SIGINT, SIGQUIT, SIGHUP,
	SIGTSTP };

void
killtree_signals(sigset_t *ret)
{
	(void)sigemptyset(ret);
	for (size_t i = 0; i < nitems(signals); i++)
		(void)sigaddset(ret, signals[i]);
}

static bool
is_monitor(pid_t pid)
{
	unsigned long long blocked = 0, want = 0;
	char path[64], line[256];
	FILE *f;

	for (size_t i = 0; i < nitems(signals); i++)
		want |= 1ull << (signals[i] - 1);
	(void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	if ((f = fopen(path, "re")) == NULL)
		return false;
	while (fgets(line, sizeof line, f) != NULL) {
		if (sscanf(line, "SigBlk: %llx", &blocked) == 1)
			break;
	}
	(void)fclose(f); /* was only read */
	return (blocked & want) == want;
}

/* By a descriptor, looked at again once it is held: the number can't have come
 * to somebody else. */
static void
blow(const struct proc *p, int signo)
{
	char name[24], path[] = "/proc";
	struct proc now;
	int fd, dir;

	if ((fd = pidfd_open(p->pid, 0)) < 0)
		return;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)snprintf(name, sizeof name, "%d", (int)p->pid);
	if (dir >= 0 && read_proc(dir, name, &now) && now.start == p->start)
		(void)pidfd_send_signal(fd, signo, NULL, 0);
	fd_close(&dir);
	fd_close(&fd);
}

/* How many of them there were. */
static size_t
blow_all(const struct procs *ps, int signo, bool monitors)
{
	size_t n = 0;

	for (size_t i = 0; i < ps->n; i++) {
		const struct proc *p = &ps->v[i];

		if (!p->below || p->state == 'Z' || p->state == 'X' ||
		    p->monitor != monitors)
			continue;
		blow(p, signo);
		n++;
	}
	return n;
}

static void
tell_monitors(struct procs *ps, bool soft)
{
	for (size_t i = 0; i < ps->n; i++) {
		if (ps->v[i].below)
			ps->v[i].monitor = soft && is_monitor(ps->v[i].pid);
	}
}

/* Stop what is there, again until nothing new comes; how many are alive. */
static size_t
stop_all(struct procs *ps, bool soft)
{
	size_t n, last = 0;

	for (;;) {
		look(ps);
		n = mark(ps, getpid());
		tell_monitors(ps, soft);
		if (n <= last)
			return n;
		last = n;
		(void)blow_all(ps, SIGSTOP, false);
	}
}

static void
pause_ms(long ms)
{
	struct timespec ts = { .tv_nsec = ms * 1000000 };

	(void)nanosleep(&ts, NULL);
}

/* True: there is no child any more. */
static bool
reap_children(void)
{
	pid_t pid;

	do
		pid = waitpid(-1, NULL, WNOHANG);
	while (pid > 0 || (pid < 0 && errno == EINTR));
	return pid < 0;
}

bool
killtree(bool reap, uint64_t limit_ms)
{
	uint64_t began = loop_now_ms(), now = began;
	struct procs ps = { 0 };
	bool done;
	size_t n;

	/* The usual case costs one call. */
	while (!(done = reap && reap_children())) {
		n = stop_all(&ps, now - began < SOFT_MS);
		done = n == 0 && !reap;
		now = loop_now_ms();
		if (done || now - began >= limit_ms)
			break;
		/* Monitors last: by then they are on their way. */
		if (blow_all(&ps, SIGKILL, false) == 0)
			(void)blow_all(&ps, SIGTERM, true);
		pause_ms(1);
	}
	free(ps.v);
	return done;
}

uint64_t
killtree_threads(uid_t uid)
{
	struct procs ps = { 0 };
	char path[32];
	struct stat st;
	uint64_t n = 0;

	look(&ps);
	for (size_t i = 0; i < ps.n; i++) {
		(void)snprintf(path, sizeof path, "/proc/%d", (int)ps.v[i].pid);
		if (stat(path, &st) == 0 && st.st_uid == uid)
			n += ps.v[i].threads;
	}
	free(ps.v);
	return n;
}
