#ifndef HEADERS_H
#define HEADERS_H

#include <stddef.h>

#define HEADERS_MAX 32
#define HEADERS_BUCKETS 61
#define HEADERS_TEXT 4096

/*
 * Header fields of a message, "Name: value" each. The case of names does not
 * matter, but is kept. A name can be there several times.
 */
struct header {
    const char *name, *value;
    int next;                   /* in the bucket, -1 ends it */
};

struct headers {
    struct header fields[HEADERS_MAX];
    int count;
    int buckets[HEADERS_BUCKETS];
    char text[HEADERS_TEXT];
    size_t used;
};

void headers_init(struct headers *h);

/* Lines up to the empty one; how many bytes that were, or -1. */
long headers_parse(struct headers *h, const char *text);

int headers_add(struct headers *h, const char *name, const char *value);
int headers_set(struct headers *h, const char *name, const char *value);
int headers_count(const struct headers *h, const char *name);

/* The first value, NULL when there is none. */
const char *headers_get(const struct headers *h, const char *name);

/* All values, "a, b"; 0, or -1 when they do not fit. */
int headers_join(const struct headers *h, const char *name, char *out,
    size_t size);

#endif
