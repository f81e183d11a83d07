/* stall.c - see stall.h. */
#include "common/compat.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/loop.h"
#include "worker/agent/stall.h"

#define PROCS_MAX 4096
#define TASKS_MAX 256
#define FILE_MAX_BYTES 4096

struct proc {
	pid_t pid, parent;
	unsigned long long faults, ticks;
	bool below;
};

static bool
read_proc(const char *path, struct buf *b)
{
	buf_reset(b);
	return file_read(path, false, b, NULL) == 0 && b->len > 0;
}

/* "pid (name) state ppid ..."; the name may hold anything. */
static bool
read_stat(pid_t pid, struct buf *b, struct proc *ret)
{
	unsigned long long minor, major, user, kernel;
	char path[64];
	const char *p;
	int parent;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (!read_proc(path, b) || (p = strrchr(buf_str(b), ')')) == NULL)
		return false;
	if (sscanf(p + 1,
		" %*c %d %*d %*d %*d %*d %*u %llu %*u %llu %*u %llu %llu",
		&parent, &minor, &major, &user, &kernel) != 5)
		return false;
	*ret = (struct proc){ .pid = pid,
		.parent = (pid_t)parent,
		.faults = minor + major,
		.ticks = user + kernel };
	return true;
}

/* How often its threads waited for something, and how many there are. */
static uint64_t
waits(pid_t pid, struct buf *b)
{
	static const char key[] = "\nvoluntary_ctxt_switches:";
	uint64_t sum = 0;
	char path[128];
	struct dirent *de;
	const char *p;
	DIR *d;
	int n = 0;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	if ((d = opendir(path)) == NULL)
		return 0;
	while ((de = readdir(d)) != NULL && n < TASKS_MAX) {
		if (de->d_name[0] < '0' || de->d_name[0] > '9')
			continue;
		n++;
		snprintf(path, sizeof path, "/proc/%d/task/%.20s/status",
		    (int)pid, de->d_name);
		if (read_proc(path, b) && (p = strstr(buf_str(b), key)) != NULL)
			sum += strtoull(p + sizeof key - 1, NULL, 10) + 1;
	}
	closedir(d);
	return sum;
}

static size_t
read_all(struct buf *b, struct proc *v)
{
	struct dirent *de;
	DIR *d = opendir("/proc");
	size_t n = 0;

	while (d != NULL && (de = readdir(d)) != NULL && n < PROCS_MAX) {
		if (de->d_name[0] >= '1' && de->d_name[0] <= '9')
			n += read_stat(
			    (pid_t)strtol(de->d_name, NULL, 10), b, &v[n]);
	}
	if (d != NULL)
		closedir(d);
	return n;
}

/* Mark those below root; a parent may stand behind its children. */
static void
mark(struct proc *v, size_t n, pid_t root)
{
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < n; i++) {
			bool is = v[i].pid == root;

			for (size_t k = 0; k < n && !is && !v[i].below; k++)
				is = v[k].below && v[k].pid == v[i].parent;
			if (is && !v[i].below)
				v[i].below = more = true;
		}
	}
}

uint64_t
stall_look(struct stall *s, pid_t pid, uint64_t total)
{
	struct proc *v = xcalloc(PROCS_MAX, sizeof *v);
	uint64_t sign = 1 + total, cpu = 0, hz = (uint64_t)sysconf(_SC_CLK_TCK);
	struct buf b;
	size_t n;

	buf_init(&b, FILE_MAX_BYTES);
	n = read_all(&b, v);
	mark(v, n, pid);
	for (size_t i = 0; i < n; i++) {
		if (!v[i].below)
			continue;
		/* All but the processor time; each only ever grows, but for
		 * processes that go. */
		sign = sign * 31 + (uint64_t)v[i].pid;
		sign = sign * 31 + v[i].faults;
		sign = sign * 31 + waits(v[i].pid, &b);
		cpu += v[i].ticks;
	}
	cpu = cpu * 1000 / (hz > 0 ? hz : 100);
	sign |= sign == 0;
	buf_clear(&b);
	free(v);
	if (sign != s->sign || cpu < s->cpu_ms) {
		s->sign = sign;
		s->cpu_ms = cpu;
		s->moved_ms = loop_now_ms();
	}
	return cpu - s->cpu_ms;
}
