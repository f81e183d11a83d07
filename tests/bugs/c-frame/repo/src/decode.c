#include <string.h>

#include "frame.h"

int frame_decode(struct frame *f, const unsigned char *in, size_t have)
{
    size_t size, total;

    if (have > 0 && in[0] != FRAME_MAGIC)
        return FRAME_BAD;
    if (have < FRAME_HEADER + FRAME_TAIL)
        return FRAME_MORE;
    size = get_u16(in + 2);
    if (size > FRAME_PAYLOAD)
        return FRAME_BAD;
    total = FRAME_HEADER + size + FRAME_TAIL;
    if (have < total)
        return FRAME_MORE;
    if (get_u16(in + total - FRAME_TAIL) !=
        sum_bytes(in + 1, FRAME_HEADER - 1 + size))
        return FRAME_BAD;
    f->type = in[1];
    f->size = size;
    memcpy(f->payload, in + FRAME_HEADER, size);
    return (int)total;
}

size_t frame_resync(const unsigned char *in, size_t have)
{
    size_t i;

    for (i = 1; i < have; i++)
        if (in[i] == FRAME_MAGIC)
            return i;
    return have;
}
