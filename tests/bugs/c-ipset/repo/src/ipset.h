#ifndef IPSET_H
#define IPSET_H

#include <stddef.h>
#include <stdint.h>

#define IPSET_MAX 64

struct iprange {
    uint32_t lo, hi;        /* both belong to it */
};

/* Sorted ranges that neither overlap nor touch. */
struct ipset {
    struct iprange ranges[IPSET_MAX];
    size_t count;
};

void ipset_init(struct ipset *set);
int ipset_add(struct ipset *set, const char *text);     /* -1: bad or full */
int ipset_remove(struct ipset *set, const char *text);
int ipset_has(const struct ipset *set, uint32_t address);
uint64_t ipset_size(const struct ipset *set);

/* "10.0.0.0-10.0.0.9,10.0.1.1" */
void ipset_write(const struct ipset *set, char *out, size_t size);

#endif
