#ifndef FRAME_H
#define FRAME_H

#include <stddef.h>

#define FRAME_MAGIC 0xA5
#define FRAME_HEADER 4          /* magic, type, length */
#define FRAME_TAIL 2            /* checksum */
#define FRAME_PAYLOAD 64

struct frame {
    unsigned type;
    size_t size;
    unsigned char payload[FRAME_PAYLOAD];
};

enum { FRAME_MORE = 0, FRAME_BAD = -1 };

unsigned get_u16(const unsigned char *p);
void put_u16(unsigned char *p, unsigned value);
unsigned sum_bytes(const unsigned char *p, size_t n);

/* Bytes written, or FRAME_BAD when the room or the payload does not fit. */
int frame_encode(const struct frame *f, unsigned char *out, size_t room);

/* Bytes used up, FRAME_MORE when the frame is not complete, or FRAME_BAD. */
int frame_decode(struct frame *f, const unsigned char *in, size_t have);

/* How many bytes to skip until the next frame may begin. */
size_t frame_resync(const unsigned char *in, size_t have);

#endif
