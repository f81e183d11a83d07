#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"

#define ALIGN 16

void arena_init(struct arena *a, size_t chunk_size)
{
    memset(a, 0, sizeof(*a));
    a->chunk_size = chunk_size;
}

void arena_free(struct arena *a)
{
    struct arena_chunk *c, *next;

    for (c = a->first; c != NULL; c = next) {
        next = c->next;
        free(c->data);
        free(c);
    }
    arena_init(a, a->chunk_size);
}

static struct arena_chunk *new_chunk(struct arena *a, size_t size)
{
    struct arena_chunk *c = calloc(1, sizeof(*c));

    if (c == NULL)
        return NULL;
    c->size = size > a->chunk_size ? size : a->chunk_size;
    c->data = malloc(c->size);
    if (c->data == NULL) {
        free(c);
        return NULL;
    }
    a->chunks++;
    return c;
}

/* Put a chunk behind the one in use. */
static void insert(struct arena *a, struct arena_chunk *c)
{
    struct arena_chunk **link = &a->first;

    if (a->current != NULL)
        link = &a->current->next;
    c->next = *link;
    *link = c;
}

/* Go to the kept chunk behind the current one if it is large enough. */
static struct arena_chunk *advance(struct arena *a, size_t size)
{
    struct arena_chunk *old = a->current;
    struct arena_chunk *c = old != NULL ? old->next : a->first;

    if (c == NULL || c->size < size) {
        c = new_chunk(a, size);
        if (c == NULL)
            return NULL;
        insert(a, c);
    }
    c->base = old != NULL ? old->base + old->used : 0;
    a->current = c;
    return c;
}

static int fits(const struct arena_chunk *c, size_t size)
{
    return c != NULL && c->size - c->used >= size;
}

void *arena_alloc(struct arena *a, size_t size)
{
    struct arena_chunk *c = a->current;
    void *p;

    if (size > SIZE_MAX - ALIGN)
        return NULL;
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (size == 0)
        size = ALIGN;
    if (!fits(c, size))
        c = advance(a, size);
    if (!fits(c, size))
        return NULL;
    p = c->data + c->used;
    c->used += size;
    return p;
}

char *arena_strdup(struct arena *a, const char *text)
{
    return arena_join(a, text, "");
}

char *arena_join(struct arena *a, const char *one, const char *two)
{
    size_t len = strlen(one), rest = strlen(two) + 1;
    char *p = arena_alloc(a, len + rest);

    if (p != NULL) {
        memcpy(p, one, len);
        memcpy(p + len, two, rest);
    }
    return p;
}

size_t arena_mark(const struct arena *a)
{
    return a->current != NULL ? a->current->base + a->current->used : 0;
}

void arena_rewind(struct arena *a, size_t mark)
{
    struct arena_chunk *c = a->first;

    if (mark >= arena_mark(a))
        return;
    while (c != NULL && c != a->current && c->base + c->used < mark)
        c = c->next;
    if (mark == 0)
        c = NULL;
    a->current = c;
    if (c != NULL)
        c->used = mark - c->base;
}
