#ifndef ARENA_H
#define ARENA_H

#include <stddef.h>

/*
 * Memory that is given back all at once. It comes from chunks, which an
 * arena keeps for the next round:
 *
 *     arena_init(&a, 4096);
 *     for each request {
 *         p = arena_alloc(&a, n); ...
 *         arena_rewind(&a, 0);
 *     }
 *     arena_free(&a);
 *
 * A mark is what arena_mark returns; rewinding to it drops what is younger.
 */
struct arena_chunk {
    struct arena_chunk *next;
    size_t size, used;
    size_t base;            /* sum of `used` of all before, while in use */
    unsigned char *data;
};

struct arena {
    struct arena_chunk *first, *current;
    size_t chunk_size;
    int chunks;             /* ever made and still there */
};

void arena_init(struct arena *a, size_t chunk_size);
void arena_free(struct arena *a);
void *arena_alloc(struct arena *a, size_t size);        /* NULL: no memory */
char *arena_strdup(struct arena *a, const char *text);
char *arena_join(struct arena *a, const char *one, const char *two);
size_t arena_mark(const struct arena *a);
void arena_rewind(struct arena *a, size_t mark);

#endif
