#include <string.h>

#include "frame.h"
#include "tap.h"

/* Taken from the protocol document: "temperature 21.5" as type 7. */
static const unsigned char sample[] = {
    0xA5, 0x07, 0x00, 0x05, 0x15, 0x00, 0x32, 0x00, 0x53
};

static struct frame frame_of(unsigned type, const char *text)
{
    struct frame f;

    memset(&f, 0, sizeof(f));
    f.type = type;
    f.size = strlen(text);
    memcpy(f.payload, text, f.size);
    return f;
}

int main(void)
{
    unsigned char wire[128];
    struct frame f, g;
    int n;

    put_u16(wire, 0x1234);
    OK(wire[0] == 0x12 && wire[1] == 0x34, "put_u16 is big-endian");
    OK(get_u16(wire) == 0x1234, "get_u16 is big-endian");
    put_u16(wire, 3);
    OK(wire[0] == 0 && wire[1] == 3 && get_u16(wire) == 3, "small number");
    OK(sum_bytes(sample, 0) == 0 && sum_bytes(sample, 2) == 0xAC, "sum");

    memset(&f, 0, sizeof(f));
    f.type = 7;
    f.size = 3;
    memcpy(f.payload, "\x15\x00\x32", 3);
    n = frame_encode(&f, wire, sizeof(wire));
    OK(n == sizeof(sample) && memcmp(wire, sample, sizeof(sample)) == 0,
       "encode the sample frame");

    memset(&g, 0, sizeof(g));
    n = frame_decode(&g, sample, sizeof(sample));
    OK(n == sizeof(sample) && g.type == 7 && g.size == 3 &&
       memcmp(g.payload, f.payload, 3) == 0, "decode the sample frame");

    f = frame_of(1, "hello");
    n = frame_encode(&f, wire, sizeof(wire));
    OK(n == 11 && frame_decode(&g, wire, (size_t)n) == n && g.type == 1 &&
       g.size == 5 && memcmp(g.payload, "hello", 5) == 0, "round trip");
    OK(frame_decode(&g, wire, (size_t)n - 1) == FRAME_MORE, "incomplete");
    OK(frame_decode(&g, wire, 0) == FRAME_MORE, "nothing yet");
    OK(frame_decode(&g, wire, 128) == n, "more data follows");
    wire[5] ^= 1;
    OK(frame_decode(&g, wire, (size_t)n) == FRAME_BAD, "damaged payload");
    wire[0] = 0;
    OK(frame_decode(&g, wire, (size_t)n) == FRAME_BAD, "no magic");

    f = frame_of(2, "");
    n = frame_encode(&f, wire, sizeof(wire));
    OK(n == 6 && frame_decode(&g, wire, 6) == 6 && g.size == 0,
       "empty payload");

    memset(&f, 'x', sizeof(f));
    f.type = 3;
    f.size = FRAME_PAYLOAD;
    n = frame_encode(&f, wire, sizeof(wire));
    OK(n == 70 && frame_decode(&g, wire, 70) == 70, "largest payload");
    OK(frame_encode(&f, wire, 69) == FRAME_BAD, "no room");
    f.size++;
    OK(frame_encode(&f, wire, sizeof(wire)) == FRAME_BAD, "payload too large");

    OK(frame_resync((const unsigned char *)"\0\1\xA5\2", 4) == 2, "resync");
    OK(frame_resync((const unsigned char *)"\0\1\2", 3) == 3, "nothing found");
    return tap_done();
}
