#include <string.h>

#include "jobs.h"
#include "tap.h"

static struct jobs q;

/* Run everything and join the names: "a b c". */
static const char *drain(void)
{
    static char out[512];
    const char *name;

    out[0] = '\0';
    while ((name = jobs_next(&q)) != NULL) {
        if (out[0])
            strcat(out, " ");
        strcat(out, name);
    }
    jobs_free(&q);
    jobs_init(&q);
    return out;
}

static int ran(const char *expected)
{
    const char *got = drain();

    if (strcmp(got, expected) == 0)
        return 1;
    printf("# expected '%s', got '%s'\n", expected, got);
    return 0;
}

int main(void)
{
    int i;
    char name[40];

    jobs_init(&q);
    OK(jobs_next(&q) == NULL, "empty queue");

    jobs_submit(&q, "low", 1, 0);
    jobs_submit(&q, "high", 9, 0);
    jobs_submit(&q, "mid", 5, 0);
    OK(ran("high mid low"), "priority order");

    jobs_submit(&q, "d300", 3, 300);
    jobs_submit(&q, "d100", 3, 100);
    jobs_submit(&q, "d500", 3, 500);
    jobs_submit(&q, "d200", 3, 200);
    jobs_submit(&q, "d400", 3, 400);
    OK(ran("d100 d200 d300 d400 d500"), "earlier due time first");

    jobs_submit(&q, "whenever", 3, 0);
    jobs_submit(&q, "dated", 3, 900);
    OK(ran("dated whenever"), "undated after dated");

    jobs_submit(&q, "first", 4, 0);
    jobs_submit(&q, "second", 4, 0);
    jobs_submit(&q, "third", 4, 0);
    OK(ran("first second third"), "first come, first served");

    jobs_submit(&q, "x", 1, 50);
    jobs_submit(&q, "y", 2, 70);
    jobs_submit(&q, "z", 2, 60);
    OK(ran("z y x"), "priority beats due time");

    jobs_submit(&q, "a", 9, 0);
    jobs_submit(&q, "b", 8, 0);
    jobs_submit(&q, "c", 7, 0);
    OK(jobs_cancel(&q, "b"), "cancel known job");
    OK(!jobs_cancel(&q, "nobody"), "cancel unknown job");
    OK(ran("a c"), "cancelled job does not run");

    for (i = 0; i < 10; i++) {
        sprintf(name, "%c", 'a' + (i * 7) % 10);
        jobs_submit(&q, name, -((i * 7) % 10), 0);
    }
    OK(ran("a b c d e f g h i j"), "ten jobs");

    /* The hole left by e has to be filled from another branch. */
    for (i = 0; i < 7; i++) {
        static const int priority[] = { 90, 20, 80, 15, 10, 70, 75 };

        sprintf(name, "%c", 'a' + i);
        jobs_submit(&q, name, priority[i], 0);
    }
    jobs_cancel(&q, "d");
    OK(ran("a c g f b e"), "cancel in the middle keeps the order");

    memset(name, 'n', 32);
    name[32] = '\0';
    OK(jobs_submit(&q, name, 1, 0) == -1, "name too long");
    name[31] = '\0';
    OK(jobs_submit(&q, name, 1, 0) == 0, "longest name");
    jobs_free(&q);
    return tap_done();
}
