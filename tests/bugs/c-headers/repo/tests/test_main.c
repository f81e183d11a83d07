#include <stdio.h>
#include <string.h>

#include "headers.h"
#include "tap.h"

static struct headers h;

static int is(const char *name, const char *expected)
{
    const char *got = headers_get(&h, name);

    if (got == NULL || expected == NULL)
        return got == expected;
    if (strcmp(got, expected) == 0)
        return 1;
    printf("# %s: expected '%s', got '%s'\n", name, expected, got);
    return 0;
}

static long parse(const char *text)
{
    headers_init(&h);
    return headers_parse(&h, text);
}

int main(void)
{
    char out[64], name[16];
    int i, good, spread;

    headers_init(&h);
    OK(is("Host", NULL) && headers_count(&h, "Host") == 0, "none");
    OK(headers_add(&h, "Host", "example.org") == 0, "add");
    OK(is("Host", "example.org") && is("Hos", NULL) && is("Hosts", NULL),
       "get");
    OK(headers_add(&h, "Bad Name", "x") < 0 && headers_add(&h, "", "x") < 0,
       "names that are none");

    headers_init(&h);
    headers_add(&h, "Via", "one");
    headers_add(&h, "Accept", "text/plain");
    headers_add(&h, "Via", "two");
    OK(is("Via", "one") && headers_count(&h, "Via") == 2, "a name twice");
    OK(headers_join(&h, "Via", out, sizeof(out)) == 0 &&
       strcmp(out, "one, two") == 0, "all values");
    OK(headers_join(&h, "Via", out, 8) < 0, "that do not fit");
    headers_set(&h, "Accept", "*/*");
    OK(is("Accept", "*/*") && headers_count(&h, "Accept") == 1, "set");
    headers_set(&h, "Age", "10");
    OK(is("Age", "10"), "set what was not there");

    headers_init(&h);
    headers_add(&h, "Content-Length", "42");
    OK(is("content-length", "42") && is("CONTENT-LENGTH", "42"),
       "whatever the case");
    headers_set(&h, "content-Length", "43");
    OK(h.count == 1 && is("Content-Length", "43"), "set, whatever the case");
    headers_add(&h, "content-length", "44");
    OK(headers_count(&h, "Content-Length") == 2, "count, whatever the case");
    OK(strcmp(h.fields[0].name, "Content-Length") == 0, "the case is kept");

    OK(parse("A: 1\r\nB:2\r\n\r\nbody") == 13, "parse");
    OK(is("A", "1") && is("B", "2") && h.count == 2, "parsed");
    OK(parse("A: \t one two \t\n\n") == 16 && is("A", "one two"),
       "blanks around the value");
    OK(parse("A:\nB: x:y\n\n") == 11 && is("A", "") && is("B", "x:y"),
       "no value, and a colon");
    OK(parse("\r\n") == 2 && h.count == 0, "empty");
    OK(parse("A: 1\r\nB: 2") < 0, "cut off");
    OK(parse("A: 1\nno colon\n\n") < 0 && parse(" A: 1\n\n") < 0, "malformed");

    headers_init(&h);
    good = 1;
    for (i = 0; i < HEADERS_MAX; i++) {
        sprintf(name, "X-%d", i);
        good = good && headers_add(&h, name, name + 2) == 0;
    }
    for (i = 0; i < HEADERS_MAX; i++) {
        sprintf(name, "X-%d", i);
        good = good && is(name, name + 2);
    }
    OK(good && headers_add(&h, "One", "more") < 0, "as many as there can be");
    for (i = 0, spread = 0; i < HEADERS_BUCKETS; i++)
        spread += h.buckets[i] >= 0;
    OK(spread > HEADERS_MAX / 2, "spread over the buckets");
    return tap_done();
}
