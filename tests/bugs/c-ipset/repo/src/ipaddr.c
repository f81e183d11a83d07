#include <ctype.h>
#include <stdio.h>

#include "ipaddr.h"

static const char *read_number(const char *p, unsigned max, unsigned *ret)
{
    unsigned value = 0;

    if (!isdigit((unsigned char)*p))
        return NULL;
    while (isdigit((unsigned char)*p)) {
        value = value * 10 + (unsigned)(*p++ - '0');
        if (value > max)
            return NULL;
    }
    *ret = value;
    return p;
}

const char *ipaddr_read(const char *p, uint32_t *ret)
{
    uint32_t address = 0;
    unsigned part;
    int i;

    for (i = 0; i < 4; i++) {
        if (i > 0 && *p++ != '.')
            return NULL;
        p = read_number(p, 255, &part);
        if (p == NULL)
            return NULL;
        address = address << 8 | part;
    }
    *ret = address;
    return p;
}

void ipaddr_write(uint32_t address, char out[IPADDR_TEXT])
{
    snprintf(out, IPADDR_TEXT, "%u.%u.%u.%u", address >> 24 & 255,
             address >> 16 & 255, address >> 8 & 255, address & 255);
}

int iprange_parse(const char *text, uint32_t *ret_lo, uint32_t *ret_hi)
{
    uint32_t lo, hi, mask;
    unsigned bits;
    const char *p = ipaddr_read(text, &lo);

    if (p == NULL)
        return -1;
    hi = lo;
    if (*p == '-') {
        p = ipaddr_read(p + 1, &hi);
    } else if (*p == '/') {
        p = read_number(p + 1, 32, &bits);
        if (p == NULL)
            return -1;
        mask = bits == 0 ? 0 : UINT32_MAX << (32 - bits);
        lo &= mask;
        hi = lo | ~mask;
    }
    if (p == NULL || *p != '\0' || hi < lo)
        return -1;
    *ret_lo = lo;
    *ret_hi = hi;
    return 0;
}
