#include "table.h"

/* The character at p, and its bytes; a malformed byte counts as one. */
static size_t decode(const unsigned char *p, unsigned long *ret)
{
    size_t i, len = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : *p >= 0xc0 ? 2 : 1;
    unsigned long code = len == 1 ? *p : *p & (0x7fu >> len);

    for (i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            *ret = '?';
            return 1;
        }
        code = code << 6 | (p[i] & 0x3fu);
    }
    *ret = code;
    return len;
}

static size_t char_width(unsigned long code)
{
    if (code >= 0x300 && code <= 0x36f)
        return 0;
    if ((code >= 0x1100 && code <= 0x115f) ||
        (code >= 0x2e80 && code <= 0xa4cf) ||
        (code >= 0xac00 && code <= 0xd7a3) ||
        (code >= 0x1f300 && code <= 0x1faff))
        return 2;
    return 1;
}

size_t text_width(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    unsigned long code;
    size_t width = 0;

    while (*p) {
        p += decode(p, &code);
        width += char_width(code);
    }
    return width;
}
