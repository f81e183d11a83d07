#include <stdio.h>
#include <string.h>

#include "ipaddr.h"
#include "ipset.h"

void ipset_init(struct ipset *set)
{
    set->count = 0;
}

/* The first range that does not end well before lo. */
static size_t first_near(const struct ipset *set, uint32_t lo)
{
    size_t i = 0;

    while (i < set->count && set->ranges[i].hi + 1 < lo)
        i++;
    return i;
}

/* Make room for, or away with, ranges: [from, from + old) becomes new ones. */
static int resize(struct ipset *set, size_t from, size_t old, size_t new)
{
    if (set->count - old + new > IPSET_MAX)
        return -1;
    memmove(set->ranges + from + new, set->ranges + from + old,
            (set->count - from - old) * sizeof(set->ranges[0]));
    set->count = set->count - old + new;
    return 0;
}

static int add_range(struct ipset *set, uint32_t lo, uint32_t hi)
{
    size_t from = first_near(set, lo);
    size_t to = from;
    uint32_t end = hi;

    while (to < set->count && set->ranges[to].lo <= hi + 1) {
        if (set->ranges[to].lo < lo)
            lo = set->ranges[to].lo;
        if (set->ranges[to].hi > end)
            end = set->ranges[to].hi;
        to++;
    }
    if (resize(set, from, to - from, 1) < 0)
        return -1;
    set->ranges[from].lo = lo;
    set->ranges[from].hi = end;
    return 0;
}

static int remove_range(struct ipset *set, uint32_t lo, uint32_t hi)
{
    size_t i = 0;

    while (i < set->count) {
        struct iprange r = set->ranges[i];
        size_t left = r.lo < lo, right = r.hi > hi;

        if (r.hi < lo || r.lo > hi) {
            i++;
            continue;
        }
        if (resize(set, i, 1, left + right) < 0)
            return -1;
        if (left) {
            set->ranges[i].lo = r.lo;
            set->ranges[i++].hi = lo - 1;
        }
        if (right) {
            set->ranges[i].lo = hi + 1;
            set->ranges[i++].hi = r.hi;
        }
    }
    return 0;
}

int ipset_add(struct ipset *set, const char *text)
{
    uint32_t lo, hi;

    if (iprange_parse(text, &lo, &hi) < 0)
        return -1;
    return add_range(set, lo, hi);
}

int ipset_remove(struct ipset *set, const char *text)
{
    uint32_t lo, hi;

    if (iprange_parse(text, &lo, &hi) < 0)
        return -1;
    return remove_range(set, lo, hi);
}

int ipset_has(const struct ipset *set, uint32_t address)
{
    size_t low = 0, high = set->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (set->ranges[middle].hi < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set->count && set->ranges[low].lo <= address;
}

uint64_t ipset_size(const struct ipset *set)
{
    uint64_t size = 0;
    size_t i;

    for (i = 0; i < set->count; i++)
        size += (uint64_t)set->ranges[i].hi - set->ranges[i].lo + 1;
    return size;
}

void ipset_write(const struct ipset *set, char *out, size_t size)
{
    char lo[IPADDR_TEXT], hi[IPADDR_TEXT];
    size_t i, used = 0;

    if (size > 0)
        out[0] = '\0';
    for (i = 0; i < set->count && used < size; i++) {
        const struct iprange *r = &set->ranges[i];

        ipaddr_write(r->lo, lo);
        ipaddr_write(r->hi, hi);
        used += (size_t)snprintf(out + used, size - used, "%s%s%s%s",
                                 i ? "," : "", lo, r->lo < r->hi ? "-" : "",
                                 r->lo < r->hi ? hi : "");
    }
}
