#ifndef TIMERS_H
#define TIMERS_H

#define TIMERS_SLOTS 8

/*
 * A wheel of timers: one slot a tick, round and round. A timer that is further
 * away than one turn stays in its slot until its turn has come. The memory of
 * a timer belongs to the caller, who sets call and data. A call may start and
 * stop any timer, its own included.
 */
struct timer {
    void (*call)(struct timer *timer);
    void *data;
    long due;
    int running;
    struct timer *next, *before;
};

struct timers {
    struct timer slots[TIMERS_SLOTS];   /* heads of rings */
    long now;
    int count;
};

void timers_init(struct timers *w);
void timer_start(struct timers *w, struct timer *t, long ticks);
int timer_stop(struct timers *w, struct timer *t);      /* 1: it was running */
long timer_left(const struct timers *w, const struct timer *t);

/* Go on by some ticks; returns how many timers were called. */
int timers_advance(struct timers *w, long ticks);

/* Ticks until the next one is due, -1 when there is none. */
long timers_next(const struct timers *w);

#endif
