#include "frame.h"

unsigned get_u16(const unsigned char *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

void put_u16(unsigned char *p, unsigned value)
{
    p[0] = (value >> 8) & 0xFF;
    p[1] = value & 0xFF;
}

unsigned sum_bytes(const unsigned char *p, size_t n)
{
    unsigned sum = 0;

    while (n-- > 0)
        sum += *p++;
    return sum & 0xFFFF;
}
