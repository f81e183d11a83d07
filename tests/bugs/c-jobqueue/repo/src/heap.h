#ifndef HEAP_H
#define HEAP_H

#include <stddef.h>

#include "job.h"

struct heap {
    struct job *items;
    size_t count;
    size_t capacity;
};

void heap_init(struct heap *h);
void heap_free(struct heap *h);
int heap_push(struct heap *h, const struct job *job);
int heap_pop(struct heap *h, struct job *out);
void heap_remove_at(struct heap *h, size_t index);

#endif
