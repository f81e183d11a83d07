#include <stdio.h>
#include <string.h>

#include "base64.h"
#include "tap.h"

/* Encode in pieces of a size. */
static const char *encoded(const void *data, size_t size, size_t piece,
    size_t wrap)
{
    static char out[BASE64_ROOM(1024)];
    struct base64_encoder e;
    size_t used = 0, i, n;

    base64_encode_begin(&e, wrap);
    for (i = 0; i < size; i += n) {
        n = size - i < piece ? size - i : piece;
        used += base64_encode(&e, (const char *)data + i, n, out + used);
    }
    used += base64_encode_end(&e, out + used);
    out[used] = '\0';
    return out;
}

static int encodes(const char *text, const char *expected)
{
    return strcmp(encoded(text, strlen(text), 100, 0), expected) == 0;
}

/* Decode in pieces; NULL when it is refused. */
static const char *decoded(const char *text, size_t piece)
{
    static char out[1024];
    struct base64_decoder d;
    size_t used = 0, size = strlen(text), i, n;
    long got;

    base64_decode_begin(&d);
    for (i = 0; i < size; i += n) {
        n = size - i < piece ? size - i : piece;
        got = base64_decode(&d, text + i, n, (unsigned char *)out + used);
        if (got < 0)
            return NULL;
        used += (size_t)got;
    }
    out[used] = '\0';
    return base64_decode_end(&d) == 0 ? out : NULL;
}

static int decodes(const char *text, const char *expected)
{
    const char *got = decoded(text, 100);

    if (got == NULL || expected == NULL)
        return got == expected;
    return strcmp(got, expected) == 0;
}

int main(void)
{
    unsigned char all[256];
    char copy[BASE64_ROOM(256)];
    size_t i, piece;
    int good;

    OK(encodes("", ""), "nothing");
    OK(encodes("f", "Zg=="), "one byte");
    OK(encodes("fo", "Zm8="), "two bytes");
    OK(encodes("foo", "Zm9v"), "three bytes");
    OK(encodes("foobar", "Zm9vYmFy"), "six bytes");
    OK(strcmp(encoded("foobarba", 8, 1, 0), "Zm9vYmFyYmE=") == 0,
       "byte by byte");
    OK(strcmp(encoded("foobarba", 8, 5, 8), "Zm9vYmFy\nYmE=\n") == 0,
       "lines");
    OK(strcmp(encoded("foobar", 6, 6, 8), "Zm9vYmFy\n") == 0,
       "a line that is just full");
    OK(decodes("", ""), "decode nothing");
    OK(decodes("Zg==", "f") && decodes("Zm8=", "fo"), "decode padding");
    OK(decodes("Zm9vYmFy", "foobar"), "decode without padding");
    OK(decodes(" Zm9v\r\n\tYm\nFy\n", "foobar"), "decode with white space");
    OK(decodes("Pj4_Pj4-", ">>?>>>") && decodes("Pj4/Pj4+", ">>?>>>"),
       "both alphabets");
    OK(decodes("Zm9*", NULL), "a character of no alphabet");
    OK(decodes("Zm9vYm", NULL) && decodes("Zg=", NULL), "cut off");
    OK(decodes("=Zg=", NULL) && decodes("Z===", NULL), "padding too early");
    OK(decodes("Zg===", NULL), "too much padding");
    OK(decodes("Zg=v", NULL), "padding inside a group");
    OK(decodes("Zg==Zg==", NULL) && decodes("Zm8=Zm9v", NULL),
       "data after the end");

    for (i = 0; i < sizeof(all); i++)
        all[i] = (unsigned char)(255 - i);
    good = 1;
    for (piece = 1; piece < 9; piece++) {
        strcpy(copy, encoded(all, sizeof(all), piece, 64));
        good = good && decoded(copy, piece) != NULL &&
               memcmp(decoded(copy, piece), all, sizeof(all)) == 0;
    }
    OK(good, "there and back in pieces");
    return tap_done();
}
