#ifndef BASE64_H
#define BASE64_H

#include <stddef.h>

/*
 * Base64 in pieces of any size (RFC 4648). Lines are broken after `wrap`
 * characters, a multiple of 4; 0: never.
 *
 *     base64_encode_begin(&e, 76);
 *     n = base64_encode(&e, data, size, out);      as often as there is data
 *     n += base64_encode_end(&e, out + n);
 */
struct base64_encoder {
    unsigned char left[3];
    size_t left_count;
    size_t wrap, column;
};

/* What may be written for n bytes, and at the end. */
#define BASE64_ROOM(n) (((n) / 3 + 2) * 5)

void base64_encode_begin(struct base64_encoder *e, size_t wrap);
size_t base64_encode(struct base64_encoder *e, const void *data, size_t size,
    char *out);
size_t base64_encode_end(struct base64_encoder *e, char *out);

/*
 * The alphabet of file names ("-_") is understood, too; white space is passed
 * over. Returns the number of bytes, or -1 for what is not base64.
 */
struct base64_decoder {
    unsigned bits;
    int have;           /* characters of a group of four */
    int pads;           /* of them, "=" */
};

void base64_decode_begin(struct base64_decoder *d);
long base64_decode(struct base64_decoder *d, const char *text, size_t size,
    unsigned char *out);
int base64_decode_end(const struct base64_decoder *d);  /* 0, -1: cut off */

#endif
