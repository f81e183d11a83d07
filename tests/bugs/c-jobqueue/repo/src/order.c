#include "job.h"

static int compare_long(long a, long b)
{
    return (a > b) - (a < b);
}

/* Jobs without a due time come after those that have one. */
static int compare_due(long a, long b)
{
    if (a == 0 || b == 0)
        return (a == 0) - (b == 0);
    return compare_long(a, b);
}

int job_compare(const struct job *a, const struct job *b)
{
    int order;

    order = compare_long(b->priority, a->priority);
    if (order != 0)
        return order;
    order = compare_due(b->due, a->due);
    if (order != 0)
        return order;
    return compare_long((long)a->seq, (long)b->seq);
}
