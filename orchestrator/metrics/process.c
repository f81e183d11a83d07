/* Formats: proc(5), /proc/PID/stat and statm. */
#include "common/compat.h"

#include <sys/resource.h>

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/fdio.h"
#include "orchestrator/metrics/process.h"

#define FIELDS_TO_START 20 /* from behind the name: the 22nd of all */

static uint64_t
us_of(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * 1000000 + (uint64_t)tv->tv_usec;
}

static uint64_t
clock_us(clockid_t clock)
{
	struct timespec ts = { 0 };

	(void)clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static void
read_memory(const char *text, struct figures *f)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), size, resident;

	if (sscanf(text, "%" SCNu64 " %" SCNu64, &size, &resident) != 2)
		return;
	f->virtual_bytes = size * page;
	f->resident = resident * page;
}

static void
read_start(const char *text, struct figures *f)
{
	uint64_t ticks, since_boot;
	int i;

	/* A name may hold anything, ')' too. */
	text = strrchr(text, ')');
	for (i = 0; text != NULL && i < FIELDS_TO_START; i++)
		text = strchr(text + 1, ' ');
	if (text == NULL || sscanf(text, "%" SCNu64, &ticks) != 1)
		return;
	since_boot = ticks * 1000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	f->start_us =
	    clock_us(CLOCK_REALTIME) - clock_us(CLOCK_BOOTTIME) + since_boot;
}

static void
read_file(const char *path, void (*take)(const char *, struct figures *),
    struct figures *f)
{
	struct buf b;

	buf_init(&b, 4096);
	if (file_read(path, false, &b, NULL) == 0)
		take(buf_str(&b), f);
	buf_clear(&b);
}

static void
count_fds(struct figures *f)
{
	DIR *d = opendir("/proc/self/fd");
	uint64_t n = 0;

	if (d == NULL)
		return;
	for (const struct dirent *de; (de = readdir(d)) != NULL;)
		n += de->d_name[0] != '.';
	(void)closedir(d);
	f->fds = n - 1; /* without d's own */
}

void
process_figures(struct figures *f)
{
	struct rusage u;
	struct rlimit l;

	f->cpu_us = f->resident = f->virtual_bytes = UINT64_MAX;
	f->fds = f->max_fds = f->start_us = UINT64_MAX;
	if (getrusage(RUSAGE_SELF, &u) == 0)
		f->cpu_us = us_of(&u.ru_utime) + us_of(&u.ru_stime);
	if (getrlimit(RLIMIT_NOFILE, &l) == 0)
		f->max_fds = (uint64_t)l.rlim_cur;
	read_file("/proc/self/statm", read_memory, f);
	read_file("/proc/self/stat", read_start, f);
	count_fds(f);
}
