#include <string.h>

#include "frame.h"

int frame_encode(const struct frame *f, unsigned char *out, size_t room)
{
    size_t total = FRAME_HEADER + f->size + FRAME_TAIL;

    if (f->size > FRAME_PAYLOAD || f->type > 0xFF || room < total)
        return FRAME_BAD;
    out[0] = FRAME_MAGIC;
    out[1] = (unsigned char)f->type;
    put_u16(out + 2, (unsigned)f->size);
    memcpy(out + FRAME_HEADER, f->payload, f->size);
    put_u16(out + FRAME_HEADER + f->size,
            sum_bytes(out + 1, FRAME_HEADER - 1 + f->size));
    return (int)total;
}
