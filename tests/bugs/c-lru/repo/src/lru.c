#include <stdio.h>
#include <string.h>

#include "lru.h"

static int *bucket_of(struct lru *c, const char *key)
{
    unsigned hash = 2166136261u;

    for (; *key; key++)
        hash = (hash ^ (unsigned char)*key) * 16777619u;
    return &c->buckets[hash % LRU_BUCKETS];
}

static void ring_leave(struct lru *c, int i)
{
    struct lru_node *n = &c->nodes[i];

    c->nodes[n->newer].older = n->older;
    c->nodes[n->older].newer = n->newer;
}

static void ring_join(struct lru *c, int i)
{
    struct lru_node *head = &c->nodes[0], *n = &c->nodes[i];

    n->newer = 0;
    n->older = head->older;
    c->nodes[head->older].newer = i;
    head->older = i;
}

static int find(struct lru *c, const char *key)
{
    int i = *bucket_of(c, key);

    while (i != 0 && strcmp(c->nodes[i].key, key) != 0)
        i = c->nodes[i].next;
    return i;
}

static void drop(struct lru *c, int i)
{
    int *link = bucket_of(c, c->nodes[i].key);

    while (*link != i)
        link = &c->nodes[*link].next;
    *link = c->nodes[i].next;
    ring_leave(c, i);
    c->nodes[i].next = c->free;
    c->free = i;
    c->used--;
}

static int expired(const struct lru_node *n, long now)
{
    return n->expires != 0 && n->expires <= now;
}

int lru_init(struct lru *c, int capacity)
{
    int i;

    if (capacity < 1 || capacity > LRU_MAX)
        return -1;
    memset(c, 0, sizeof(*c));
    c->capacity = capacity;
    for (i = capacity; i > 0; i--) {
        c->nodes[i].next = c->free;
        c->free = i;
    }
    return 0;
}

int lru_put(struct lru *c, const char *key, long value, long expires)
{
    int i = find(c, key);
    int *bucket = bucket_of(c, key);

    if (strlen(key) >= LRU_KEY)
        return -1;
    if (c->used == c->capacity) {
        drop(c, c->nodes[0].newer);
        c->evicted++;
    }
    if (i != 0) {
        ring_leave(c, i);
    } else {
        i = c->free;
        c->free = c->nodes[i].next;
        c->nodes[i].next = *bucket;
        *bucket = i;
        strcpy(c->nodes[i].key, key);
        c->used++;
    }
    c->nodes[i].value = value;
    c->nodes[i].expires = expires;
    ring_join(c, i);
    return 0;
}

int lru_get(struct lru *c, const char *key, long now, long *ret)
{
    int i = find(c, key);

    if (i != 0 && expired(&c->nodes[i], now)) {
        drop(c, i);
        i = 0;
    }
    if (i == 0) {
        c->misses++;
        return 0;
    }
    c->hits++;
    ring_leave(c, i);
    ring_join(c, i);
    *ret = c->nodes[i].value;
    return 1;
}

int lru_remove(struct lru *c, const char *key)
{
    int i = find(c, key);

    if (i == 0)
        return 0;
    drop(c, i);
    return 1;
}

int lru_expire(struct lru *c, long now)
{
    int count = 0, i = c->nodes[0].older, older;

    while (i != 0) {
        older = c->nodes[i].older;
        if (expired(&c->nodes[i], now)) {
            drop(c, i);
            count++;
        }
        i = older;
    }
    return count;
}

void lru_keys(const struct lru *c, char *out, size_t size)
{
    size_t used = 0;
    int i;

    if (size > 0)
        out[0] = '\0';
    for (i = c->nodes[0].older; i != 0 && used < size; i = c->nodes[i].older)
        used += (size_t)snprintf(out + used, size - used, "%s%s",
                                 used ? " " : "", c->nodes[i].key);
}
