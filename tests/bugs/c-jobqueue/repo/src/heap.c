#include <stdlib.h>

#include "heap.h"

void heap_init(struct heap *h)
{
    h->items = NULL;
    h->count = 0;
    h->capacity = 0;
}

void heap_free(struct heap *h)
{
    free(h->items);
    heap_init(h);
}

static void swap_items(struct heap *h, size_t i, size_t j)
{
    struct job tmp = h->items[i];

    h->items[i] = h->items[j];
    h->items[j] = tmp;
}

static int before(const struct heap *h, size_t i, size_t j)
{
    return job_compare(&h->items[i], &h->items[j]) < 0;
}

static void sift_up(struct heap *h, size_t i)
{
    while (i > 0) {
        size_t parent = (i - 1) / 2;

        if (!before(h, i, parent))
            break;
        swap_items(h, i, parent);
        i = parent;
    }
}

static void sift_down(struct heap *h, size_t i)
{
    for (;;) {
        size_t child = 2 * i + 1;

        if (child >= h->count)
            break;
        if (child + 1 < h->count && before(h, child + 1, child))
            child++;
        if (!before(h, child, i))
            break;
        swap_items(h, i, child);
        i = child;
    }
}

int heap_push(struct heap *h, const struct job *job)
{
    if (h->count == h->capacity) {
        size_t capacity = h->capacity ? h->capacity * 2 : 8;
        struct job *items = realloc(h->items, capacity * sizeof(*items));

        if (!items)
            return -1;
        h->items = items;
        h->capacity = capacity;
    }
    h->items[h->count] = *job;
    h->count++;
    sift_up(h, h->count - 1);
    return 0;
}

void heap_remove_at(struct heap *h, size_t index)
{
    h->count--;
    if (index == h->count)
        return;
    h->items[index] = h->items[h->count];
    sift_down(h, index);
    sift_up(h, index);
}

int heap_pop(struct heap *h, struct job *out)
{
    if (h->count == 0)
        return 0;
    *out = h->items[0];
    heap_remove_at(h, 0);
    return 1;
}
