#include <stdio.h>
#include <string.h>

#include "ipaddr.h"
#include "ipset.h"
#include "tap.h"

static struct ipset set;

/* Start anew and take the words in turn: "+range" adds, "-range" removes. */
static const char *after(const char *words)
{
    static char line[256], out[512];
    char *word;

    ipset_init(&set);
    snprintf(line, sizeof(line), "%s", words);
    for (word = strtok(line, " "); word; word = strtok(NULL, " ")) {
        if (*word == '+' && ipset_add(&set, word + 1) < 0)
            return "bad";
        if (*word == '-' && ipset_remove(&set, word + 1) < 0)
            return "bad";
    }
    ipset_write(&set, out, sizeof(out));
    return out;
}

static int gives(const char *words, const char *expected)
{
    const char *got = after(words);

    if (strcmp(got, expected) == 0)
        return 1;
    printf("# '%s': expected '%s', got '%s'\n", words, expected, got);
    return 0;
}

static int has(const char *text)
{
    uint32_t address;

    return ipaddr_read(text, &address) != NULL && ipset_has(&set, address);
}

int main(void)
{
    OK(gives("", ""), "empty");
    OK(gives("+10.0.0.1", "10.0.0.1"), "one address");
    OK(gives("+10.0.0.7/30", "10.0.0.4-10.0.0.7"), "a network");
    OK(gives("+10.0.0.9-10.0.0.3", "bad"), "a range the wrong way round");
    OK(gives("+10.0.0.256", "bad"), "a part too large");
    OK(gives("+10.0.0.0/33", "bad"), "too many bits");
    OK(gives("+9.0.0.1 +7.0.0.1 +8.0.0.1", "7.0.0.1,8.0.0.1,9.0.0.1"),
       "kept in order");
    OK(gives("+10.0.0.1-10.0.0.5 +10.0.0.3-10.0.0.9", "10.0.0.1-10.0.0.9"),
       "overlapping ranges are one");
    OK(gives("+10.0.0.1-10.0.0.5 +10.0.0.6", "10.0.0.1-10.0.0.6"),
       "touching from above");
    OK(gives("+10.0.0.6 +10.0.0.1-10.0.0.5", "10.0.0.1-10.0.0.6"),
       "touching from below");
    OK(gives("+10.0.0.1 +10.0.0.3", "10.0.0.1,10.0.0.3"), "a gap of one");
    OK(gives("+1.0.0.1 +3.0.0.1 +5.0.0.1 +2.0.0.0-4.0.0.0",
             "1.0.0.1,2.0.0.0-4.0.0.0,5.0.0.1"), "swallows what is inside");
    OK(gives("+3.0.0.0/8 +0.0.0.0-0.0.0.9", "0.0.0.0-0.0.0.9,3.0.0.0-3.255.255.255"),
       "the lowest address");
    OK(gives("+0.0.0.0-0.0.0.9 +0.0.0.0-0.0.0.3 +0.0.0.10", "0.0.0.0-0.0.0.10"),
       "again at the lowest address");
    OK(gives("+224.0.0.0-255.255.255.255 +10.0.0.1",
             "10.0.0.1,224.0.0.0-255.255.255.255"),
       "below a range with the highest address");
    OK(gives("+255.255.255.255 +255.255.255.254 +255.255.255.250",
             "255.255.255.250,255.255.255.254-255.255.255.255"),
       "beside the highest address");
    OK(gives("+10.0.0.1 +192.168.0.0/16 +172.0.0.0-255.255.255.255",
             "10.0.0.1,172.0.0.0-255.255.255.255"),
       "up to the highest address");
    OK(gives("+10.0.0.0/24 -10.0.0.100-10.0.0.149",
             "10.0.0.0-10.0.0.99,10.0.0.150-10.0.0.255"), "a hole");
    OK(gives("+10.0.0.0/24 +10.0.2.0/24 -10.0.0.128-10.0.2.127",
             "10.0.0.0-10.0.0.127,10.0.2.128-10.0.2.255"), "cut at both ends");
    OK(gives("+10.0.0.0/24 -10.0.0.0/16", ""), "all is removed");
    OK(gives("+10.0.0.0-255.255.255.255 -200.0.0.0-255.255.255.255",
             "10.0.0.0-199.255.255.255"), "the highest is removed");

    after("+10.0.0.0/8 +192.168.1.1 +192.168.1.9");
    OK(has("10.255.255.255") && has("192.168.1.9"), "has");
    OK(!has("11.0.0.0") && !has("192.168.1.5") && !has("9.255.255.255"),
       "has not");
    OK(ipset_size(&set) == 16777218, "size");
    return tap_done();
}
