#include <string.h>

#include "base64.h"

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode_begin(struct base64_encoder *e, size_t wrap)
{
    memset(e, 0, sizeof(*e));
    e->wrap = wrap / 4 * 4;
}

static char *put_group(struct base64_encoder *e, const unsigned char *in,
    size_t count, char *out)
{
    unsigned bits = (unsigned)in[0] << 16;

    if (count > 1)
        bits |= (unsigned)in[1] << 8;
    if (count > 2)
        bits |= in[2];
    *out++ = alphabet[bits >> 18 & 63];
    *out++ = alphabet[bits >> 12 & 63];
    *out++ = count > 1 ? alphabet[bits >> 6 & 63] : '=';
    *out++ = count > 2 ? alphabet[bits & 63] : '=';
    e->column += 4;
    if (e->wrap != 0 && e->column >= e->wrap) {
        *out++ = '\n';
        e->column = 0;
    }
    return out;
}

size_t base64_encode(struct base64_encoder *e, const void *data, size_t size,
    char *out)
{
    const unsigned char *in = data;
    char *start = out;

    while (size-- > 0) {
        e->left[e->left_count++] = *in++;
        if (e->left_count == 3) {
            out = put_group(e, e->left, 3, out);
            e->left_count = 0;
        }
    }
    return (size_t)(out - start);
}

size_t base64_encode_end(struct base64_encoder *e, char *out)
{
    char *start = out;

    if (e->left_count > 0)
        out = put_group(e, e->left, e->left_count, out);
    e->left_count = 0;
    if (e->wrap != 0 && e->column > 0)
        *out++ = '\n';
    e->column = 0;
    return (size_t)(out - start);
}

static int value_of(char c)
{
    const char *at = c != '\0' ? strchr(alphabet, c) : NULL;

    if (c == '-')
        return 62;
    if (c == '_')
        return 63;
    return at != NULL ? (int)(at - alphabet) : -1;
}

void base64_decode_begin(struct base64_decoder *d)
{
    memset(d, 0, sizeof(*d));
}

static size_t end_group(struct base64_decoder *d, unsigned char *out)
{
    unsigned char bytes[3];
    size_t count = (size_t)(3 - d->pads);

    bytes[0] = (unsigned char)(d->bits >> 16);
    bytes[1] = (unsigned char)(d->bits >> 8);
    bytes[2] = (unsigned char)d->bits;
    memcpy(out, bytes, count);
    d->bits = 0;
    d->have = 0;
    return count;
}

long base64_decode(struct base64_decoder *d, const char *text, size_t size,
    unsigned char *out)
{
    unsigned char *start = out;
    int value;

    for (; size > 0; size--, text++) {
        if (strchr(" \t\r\n", *text) != NULL && *text != '\0')
            continue;
        if (*text == '=') {
            if (d->have < 2 || d->pads == 2)
                return -1;
            d->pads++;
            value = 0;
        } else {
            value = value_of(*text);
            if (value < 0)
                return -1;
        }
        d->bits = d->bits << 6 | (unsigned)value;
        if (++d->have == 4)
            out += end_group(d, out);
    }
    return out - start;
}

int base64_decode_end(const struct base64_decoder *d)
{
    return d->have == 0 ? 0 : -1;
}
