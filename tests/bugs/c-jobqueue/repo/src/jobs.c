#include <string.h>

#include "jobs.h"

void jobs_init(struct jobs *q)
{
    heap_init(&q->heap);
    q->next_seq = 1;
}

void jobs_free(struct jobs *q)
{
    heap_free(&q->heap);
}

int jobs_submit(struct jobs *q, const char *name, int priority, long due)
{
    struct job job;

    if (strlen(name) >= sizeof(job.name))
        return -1;
    memset(&job, 0, sizeof(job));
    strcpy(job.name, name);
    job.priority = priority;
    job.due = due;
    job.seq = q->next_seq++;
    return heap_push(&q->heap, &job);
}

const char *jobs_next(struct jobs *q)
{
    static struct job current;

    if (!heap_pop(&q->heap, &current))
        return NULL;
    return current.name;
}

int jobs_cancel(struct jobs *q, const char *name)
{
    size_t i;

    for (i = 0; i < q->heap.count; i++) {
        if (strcmp(q->heap.items[i].name, name) == 0) {
            heap_remove_at(&q->heap, i);
            return 1;
        }
    }
    return 0;
}
