#include <stddef.h>

#include "timers.h"

void timers_init(struct timers *w)
{
    int i;

    for (i = 0; i < TIMERS_SLOTS; i++)
        w->slots[i].next = w->slots[i].before = &w->slots[i];
    w->now = 0;
    w->count = 0;
}

static void ring_join(struct timer *head, struct timer *t)
{
    t->before = head->before;
    t->next = head;
    head->before->next = t;
    head->before = t;
}

static void ring_leave(struct timer *t)
{
    t->before->next = t->next;
    t->next->before = t->before;
    t->next = t->before = t;
}

void timer_start(struct timers *w, struct timer *t, long ticks)
{
    if (t->running)
        timer_stop(w, t);
    if (ticks < 1)
        ticks = 1;
    t->due = w->now + ticks;
    t->running = 1;
    ring_join(&w->slots[t->due % TIMERS_SLOTS], t);
    w->count++;
}

int timer_stop(struct timers *w, struct timer *t)
{
    if (!t->running)
        return 0;
    ring_leave(t);
    t->running = 0;
    w->count--;
    return 1;
}

long timer_left(const struct timers *w, const struct timer *t)
{
    return t->running ? t->due - w->now : 0;
}

static void expire(struct timers *w, struct timer *t)
{
    ring_leave(t);
    w->count--;
    t->call(t);
    t->running = 0;
}

/*
 * What is due goes to a ring of its own first: a call may stop the neighbour
 * of its timer, or start one that belongs to this very slot a turn later.
 */
static int run_slot(struct timers *w)
{
    struct timer *head = &w->slots[w->now % TIMERS_SLOTS];
    struct timer due, *t, *next;
    int called = 0;

    due.next = due.before = &due;
    for (t = head->next; t != head; t = next) {
        next = t->next;
        if (t->due == w->now) {
            ring_leave(t);
            ring_join(&due, t);
        }
    }
    while (due.next != &due) {
        expire(w, due.next);
        called++;
    }
    return called;
}

int timers_advance(struct timers *w, long ticks)
{
    int called = 0;

    while (ticks-- > 0) {
        w->now++;
        called += run_slot(w);
    }
    return called;
}

long timers_next(const struct timers *w)
{
    const struct timer *t;
    long best = -1;
    int i;

    for (i = 0; i < TIMERS_SLOTS; i++) {
        const struct timer *head = &w->slots[i];

        for (t = head->next; t != head; t = t->next) {
            if (best < 0 || t->due - w->now < best)
                best = t->due - w->now;
        }
    }
    return best;
}
