#include <ctype.h>
#include <string.h>

#include "headers.h"

void headers_init(struct headers *h)
{
    int i;

    h->count = 0;
    h->used = 0;
    for (i = 0; i < HEADERS_BUCKETS; i++)
        h->buckets[i] = -1;
}

static unsigned hash_name(const char *name)
{
    unsigned hash = 5381;

    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash % HEADERS_BUCKETS;
}

static int same_name(const char *a, const char *b)
{
    while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

static int is_name_char(int c)
{
    return isalnum(c) || (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static int valid_name(const char *name)
{
    const char *p = name;

    while (is_name_char((unsigned char)*p))
        p++;
    return p > name && *p == '\0';
}

static const char *keep(struct headers *h, const char *text, size_t len)
{
    char *copy = h->text + h->used;

    if (len + 1 > sizeof(h->text) - h->used)
        return NULL;
    memcpy(copy, text, len);
    copy[len] = '\0';
    h->used += len + 1;
    return copy;
}

static int find_from(const struct headers *h, int i, const char *name)
{
    while (i >= 0 && !same_name(h->fields[i].name, name))
        i = h->fields[i].next;
    return i;
}

static int find(const struct headers *h, const char *name)
{
    return find_from(h, h->buckets[hash_name(name)], name);
}

/* New ones go to the end of their bucket: the order of a name's values. */
static int add_kept(struct headers *h, const char *name, const char *value)
{
    int *link = &h->buckets[hash_name(name)];

    while (*link >= 0)
        link = &h->fields[*link].next;
    *link = h->count;
    h->fields[h->count].name = name;
    h->fields[h->count].value = value;
    h->fields[h->count].next = -1;
    h->count++;
    return 0;
}

static int add(struct headers *h, const char *name, size_t name_len,
    const char *value, size_t len)
{
    if (h->count == HEADERS_MAX)
        return -1;
    name = keep(h, name, name_len);
    value = keep(h, value, len);
    if (name == NULL || value == NULL || !valid_name(name))
        return -1;
    return add_kept(h, name, value);
}

int headers_add(struct headers *h, const char *name, const char *value)
{
    return add(h, name, strlen(name), value, strlen(value));
}

int headers_set(struct headers *h, const char *name, const char *value)
{
    int i = find(h, name);

    if (i < 0)
        return headers_add(h, name, value);
    value = keep(h, value, strlen(value));
    if (value == NULL)
        return -1;
    h->fields[i].value = value;
    return 0;
}

long headers_parse(struct headers *h, const char *text)
{
    const char *p = text;

    for (;;) {
        size_t len = strcspn(p, "\r\n"), name_len = strcspn(p, ":\r\n");
        const char *value = p + name_len + 1, *end = p + len;

        if (*end == '\0')
            return -1;
        if (len > 0) {
            if (name_len == len)
                return -1;
            while (value < end && (*value == ' ' || *value == '\t'))
                value++;
            while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
                end--;
            if (add(h, p, name_len, value, (size_t)(end - value)) < 0)
                return -1;
        }
        p += len;
        p += p[0] == '\r' && p[1] == '\n' ? 2 : 1;
        if (len == 0)
            return p - text;
    }
}

const char *headers_get(const struct headers *h, const char *name)
{
    int i = find(h, name);

    return i < 0 ? NULL : h->fields[i].value;
}

int headers_count(const struct headers *h, const char *name)
{
    int i, count = 0;

    for (i = find(h, name); i >= 0; i = find_from(h, h->fields[i].next, name))
        count++;
    return count;
}

int headers_join(const struct headers *h, const char *name, char *out,
    size_t size)
{
    size_t used = 0;
    int i;

    for (i = find(h, name); i >= 0; i = find_from(h, h->fields[i].next, name)) {
        const char *value = h->fields[i].value;
        size_t len = strlen(value), gap = used > 0 ? 2 : 0;

        if (used + gap + len >= size)
            return -1;
        memcpy(out + used, ", ", gap);
        memcpy(out + used + gap, value, len);
        used += gap + len;
    }
    if (size == 0)
        return -1;
    out[used] = '\0';
    return 0;
}
