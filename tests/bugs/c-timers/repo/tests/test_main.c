#include <stdio.h>
#include <string.h>

#include "tap.h"
#include "timers.h"

static struct timers wheel;
static struct timer a, b, c;
static char story[256];

/* "name@tick" for each call */
static void note(struct timer *t)
{
    sprintf(story + strlen(story), "%s%s@%ld", *story ? " " : "",
            (const char *)t->data, wheel.now);
}

static void note_and_again(struct timer *t)
{
    note(t);
    timer_start(&wheel, t, 3);
}

static void note_and_stop_b(struct timer *t)
{
    note(t);
    timer_stop(&wheel, &b);
}

static void note_and_start_c(struct timer *t)
{
    note(t);
    timer_start(&wheel, &c, 2);
}

static void begin(void)
{
    static struct timer fresh;

    timers_init(&wheel);
    a = b = c = fresh;
    a.call = b.call = c.call = note;
    a.data = (void *)"a";
    b.data = (void *)"b";
    c.data = (void *)"c";
    story[0] = '\0';
}

static int told(const char *expected)
{
    if (strcmp(story, expected) == 0)
        return 1;
    printf("# expected '%s', got '%s'\n", expected, story);
    return 0;
}

int main(void)
{
    begin();
    OK(timers_next(&wheel) == -1 && timers_advance(&wheel, 20) == 0, "none");

    begin();
    timer_start(&wheel, &a, 3);
    OK(a.running && timer_left(&wheel, &a) == 3, "started");
    OK(timers_advance(&wheel, 2) == 0 && told(""), "not before its time");
    OK(timers_advance(&wheel, 1) == 1 && told("a@3"), "at its time");
    OK(!a.running && wheel.count == 0, "and no longer running");
    OK(timers_advance(&wheel, 30) == 0, "once only");

    begin();
    timer_start(&wheel, &a, 5);
    timer_start(&wheel, &b, 5 + TIMERS_SLOTS);
    timer_start(&wheel, &c, 5 + 3 * TIMERS_SLOTS);
    OK(timers_next(&wheel) == 5, "the next one");
    timers_advance(&wheel, 40);
    OK(told("a@5 b@13 c@29"), "more than one turn");

    begin();
    timer_start(&wheel, &a, 4);
    timer_start(&wheel, &b, 4);
    OK(timer_stop(&wheel, &a) && !timer_stop(&wheel, &a), "stopped");
    timers_advance(&wheel, 10);
    OK(told("b@4") && wheel.count == 0, "is not called");

    begin();
    timer_start(&wheel, &a, 4);
    timer_start(&wheel, &a, 6);
    timers_advance(&wheel, 20);
    OK(told("a@6"), "started again before its time");

    begin();
    timer_start(&wheel, &a, 0);
    timers_advance(&wheel, 2);
    OK(told("a@1"), "at once means the next tick");

    begin();
    a.call = note_and_stop_b;
    timer_start(&wheel, &a, 4);
    timer_start(&wheel, &b, 4);
    timer_start(&wheel, &c, 4);
    timers_advance(&wheel, 10);
    OK(told("a@4 c@4"), "a call stops another that is due");

    begin();
    a.call = note_and_start_c;
    timer_start(&wheel, &a, 4);
    timers_advance(&wheel, 10);
    OK(told("a@4 c@6"), "a call starts another");

    begin();
    a.call = note_and_again;
    timer_start(&wheel, &a, 3);
    timers_advance(&wheel, 10);
    OK(told("a@3 a@6 a@9"), "a call starts its own timer");
    OK(timer_left(&wheel, &a) == 2, "which is running then");
    OK(timer_stop(&wheel, &a) && wheel.count == 0, "and can be stopped");
    timers_advance(&wheel, 10);
    OK(told("a@3 a@6 a@9"), "for good");
    return tap_done();
}
