#include <stdio.h>
#include <string.h>

#include "tap.h"
#include "url.h"

static struct url url;

/* "scheme user host port path query fragment", "-" for what is empty */
static int splits(const char *text, const char *expected)
{
    char got[1024];

    if (url_parse(text, &url) < 0)
        strcpy(got, "bad");
    else
        snprintf(got, sizeof(got), "%s %s %s %d %s %s %s", url.scheme,
                 *url.user ? url.user : "-", url.host, url.port, url.path,
                 *url.query ? url.query : "-",
                 *url.fragment ? url.fragment : "-");
    if (strcmp(got, expected) == 0)
        return 1;
    printf("# '%s': expected '%s', got '%s'\n", text, expected, got);
    return 0;
}

static int cleans(const char *path, const char *expected)
{
    char got[64];

    snprintf(got, sizeof(got), "%s", path);
    url_clean_path(got);
    if (strcmp(got, expected) == 0)
        return 1;
    printf("# '%s': expected '%s', got '%s'\n", path, expected, got);
    return 0;
}

static int param_is(const char *query, const char *name, const char *expected)
{
    char got[32];

    snprintf(url.query, sizeof(url.query), "%s", query);
    if (url_param(&url, name, got, sizeof(got)) < 0)
        return expected == NULL;
    return expected != NULL && strcmp(got, expected) == 0;
}

int main(void)
{
    char name[300];

    OK(splits("http://example.org", "http - example.org 0 / - -"), "host only");
    OK(splits("HTTP://Example.ORG/A", "http - example.org 0 /A - -"), "case");
    OK(splits("http://h:8080/a/b", "http - h 8080 /a/b - -"), "port");
    OK(splits("http://h:70000/", "bad"), "port too large");
    OK(splits("http://h:8a/", "bad"), "port is no number");
    OK(splits("http://[::1]:81/", "http - ::1 81 / - -"), "IPv6 address");
    OK(splits("http://[fe80::2]", "http - fe80::2 0 / - -"), "without a port");
    OK(splits("http://[::1/", "bad"), "bracket not closed");
    OK(splits("ftp://ann@h/x", "ftp ann h 0 /x - -"), "user");
    OK(splits("ftp://ann:s%3Acret@h:21/x", "ftp ann:s:cret h 21 /x - -"),
       "user and password");
    OK(splits("ftp://ann@corp.example:pw@h:21/x",
              "ftp ann@corp.example:pw h 21 /x - -"),
       "a mail address as the user");
    OK(splits("ftp://a:p@ss@word@h", "ftp a:p@ss@word h 0 / - -"),
       "a password with signs in it");
    OK(splits("http://h/to@x", "http - h 0 /to@x - -"), "no user in the path");
    OK(splits("http://h?q=a/b#x?y", "http - h 0 / q=a/b x?y"),
       "query and fragment");
    OK(splits("mailto:ann@h", "bad"), "no authority");
    OK(splits("http:///path", "bad"), "no host");
    memset(name, 'x', sizeof(name) - 1);
    memcpy(name, "http://", 7);
    name[sizeof(name) - 1] = '\0';
    OK(splits(name, "bad"), "host too long");

    OK(cleans("/a/./b/../c", "/a/c"), "dots in a path");
    OK(cleans("/a/b/..", "/a/") && cleans("/a/.", "/a/"), "dots at the end");
    OK(cleans("/../../a", "/a") && cleans("/..", "/"), "above the root");
    OK(strcmp(url_file_name("/a/b.txt"), "b.txt") == 0, "file name");

    OK(param_is("a=1&b=2", "b", "2"), "parameter");
    OK(param_is("a%20b=x%26y&c", "a b", "x&y"), "decoded parameter");
    OK(param_is("a=1&c", "c", "") && param_is("a=1", "d", NULL),
       "parameter without a value");
    OK(param_is("a=%4", "a", NULL), "malformed escape");
    return tap_done();
}
