#include <stdlib.h>
#include <string.h>

#include "buffer.h"

void buffer_init(struct buffer *b)
{
    memset(b, 0, sizeof(*b));
}

void buffer_free(struct buffer *b)
{
    free(b->data);
    buffer_init(b);
}

int buffer_add(struct buffer *b, char c)
{
    if (b->len == b->cap) {
        size_t cap = b->cap ? b->cap * 2 : 16;
        char *data = realloc(b->data, cap);

        if (!data)
            return -1;
        b->data = data;
        b->cap = cap;
    }
    b->data[b->len++] = c;
    return 0;
}

char *buffer_take(struct buffer *b)
{
    char *text = malloc(b->len + 1);

    if (!text)
        return NULL;
    if (b->len > 0)
        memcpy(text, b->data, b->len);
    text[b->len] = '\0';
    b->len = 0;
    return text;
}
