#ifndef LRU_H
#define LRU_H

#include <stddef.h>

#define LRU_KEY 32
#define LRU_MAX 64
#define LRU_BUCKETS 32

/*
 * The answers that were asked for last. Nodes live in one array; node 0 is
 * the head of the ring that goes from the newest to the oldest.
 */
struct lru_node {
    char key[LRU_KEY];
    long value;
    long expires;           /* 0: never */
    int newer, older;       /* the ring */
    int next;               /* same bucket, or free; 0 ends it */
};

struct lru {
    struct lru_node nodes[LRU_MAX + 1];
    int buckets[LRU_BUCKETS];
    int free;
    int used, capacity;
    long hits, misses, evicted;
};

int lru_init(struct lru *c, int capacity);
int lru_put(struct lru *c, const char *key, long value, long expires);
int lru_get(struct lru *c, const char *key, long now, long *ret);
int lru_remove(struct lru *c, const char *key);

/* Drop all that have expired; how many. */
int lru_expire(struct lru *c, long now);

/* "newest older oldest" */
void lru_keys(const struct lru *c, char *out, size_t size);

#endif
