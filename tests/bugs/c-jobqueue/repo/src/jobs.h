#ifndef JOBS_H
#define JOBS_H

#include "heap.h"

struct jobs {
    struct heap heap;
    unsigned long next_seq;
};

void jobs_init(struct jobs *q);
void jobs_free(struct jobs *q);
int jobs_submit(struct jobs *q, const char *name, int priority, long due);
const char *jobs_next(struct jobs *q);          /* NULL when empty */
int jobs_cancel(struct jobs *q, const char *name);

#endif
