/* flight.c - see flight.h. */
#include "common/compat.h"

#include "common/buf.h"
#include "common/fdio.h"
#include "common/log.h"
#include "worker/agent/flight.h"

#define ROUND 2         /* checks before a decision, at least */
#define BUSY_PERCENT 50 /* a check that computes so much does not wait */
#define IDLE_PERCENT 30 /* of the machine: there is room */
#define TICKS 10        /* of its clock, before that is told */
#define HOLD 8

void
flight_begin(
    struct flight *f, size_t share, const char *check, uint64_t memory_bytes)
{
	unsigned char h[HASH_LEN];

	hash_bytes(check, strlen(check), h);
	if (share < 1)
		share = 1;
	if (f->share == share && memcmp(f->check, h, sizeof h) == 0)
		return;
	*f = (struct flight){
		.share = share, .now = share, .memory_bytes = memory_bytes
	};
	memcpy(f->check, h, sizeof h);
}

size_t
flight_now(const struct flight *f)
{
	return f->now;
}

/* So many are looked at together. */
static size_t
round_of(const struct flight *f)
{
	return f->now > ROUND ? f->now : ROUND;
}

/* Is there memory for n? One process of the largest may be one of several. */
static bool
has_room(const struct flight *f, size_t n)
{
	return f->memory_bytes == 0 ||
	    n * 4 * f->rss_kib * 1024 <= f->memory_bytes;
}

static void
decide(struct flight *f, bool calm)
{
	uint64_t wall = f->wall_ms / f->n;
	bool waits = f->cpu_ms * 100 < f->wall_ms * BUSY_PERCENT;
	size_t more = f->now * 2;

	if (more > f->share * FLIGHT_MORE)
		more = f->share * FLIGHT_MORE;
	if (f->now == f->share)
		f->share_ms =
		    f->share_ms == 0 ? wall : (3 * f->share_ms + wall) / 4;
	if (f->now > f->share && (!waits || wall * 2 > f->share_ms * 3)) {
		f->now = f->share;
		f->hold = HOLD;
	} else if (f->hold > 0) {
		f->hold--;
	} else if (waits && calm && wall * 3 <= f->share_ms * 4 &&
	    has_room(f, more)) {
		f->now = more;
	}
	log_debug("candidates: %zu at once; %llu ms each, %llu ms computing%s",
	    f->now, (unsigned long long)wall,
	    (unsigned long long)(f->cpu_ms / f->n),
	    calm ? "" : ", the machine is busy");
}

void
flight_add(struct flight *f, uint64_t wall_ms, uint64_t cpu_ms,
    uint64_t rss_kib, uint64_t idle, uint64_t total)
{
	uint64_t spent;

	if (f->n == 0 && f->total == 0) {
		f->idle = idle;
		f->total = total;
	}
	f->n++;
	f->wall_ms += wall_ms;
	f->cpu_ms += cpu_ms;
	if (rss_kib > f->rss_kib)
		f->rss_kib = rss_kib;
	if (f->n < round_of(f))
		return;
	spent = total - f->total;
	decide(f,
	    total >= f->total + TICKS && idle > f->idle &&
		(idle - f->idle) * 100 >= spent * IDLE_PERCENT);
	f->n = 0;
	f->wall_ms = f->cpu_ms = 0;
	f->idle = idle;
	f->total = total;
}

/* "cpu  user nice system idle iowait irq softirq steal ...", of all. */
static void
machine(uint64_t *ret_idle, uint64_t *ret_total)
{
	unsigned long long v[8] = { 0 };
	struct buf b;

	*ret_idle = *ret_total = 0;
	buf_init(&b, 1 << 20);
	if (file_read("/proc/stat", false, &b, NULL) == 0 &&
	    sscanf(buf_str(&b), "cpu %llu %llu %llu %llu %llu %llu %llu %llu",
		&v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]) == 8) {
		/* Not what nice processes take: while they run, a check that
		 * gets no processor looks like one that waits. */
		*ret_idle = v[3] + v[4];
		for (size_t i = 0; i < nitems(v); i++)
			*ret_total += v[i];
	}
	buf_clear(&b);
}

void
flight_note(struct flight *f, const struct exec *x)
{
	uint64_t idle = 0, total = 0;

	if (!x->ran || x->timed_out || x->too_much || x->oom > 0)
		return;
	if (f->total == 0 || f->n + 1 >= round_of(f))
		machine(&idle, &total);
	flight_add(f, x->ms, x->cpu_ms, x->rss_kib, idle, total);
}
