#ifndef BUFFER_H
#define BUFFER_H

#include <stddef.h>

struct buffer {
    char *data;
    size_t len;
    size_t cap;
};

void buffer_init(struct buffer *b);
void buffer_free(struct buffer *b);
int buffer_add(struct buffer *b, char c);
char *buffer_take(struct buffer *b);    /* malloc'd copy; empties b */

#endif
