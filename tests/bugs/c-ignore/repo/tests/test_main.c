#include <stdio.h>
#include <string.h>

#include "ignore.h"
#include "match.h"
#include "tap.h"

static struct ignore list;

static int ignores(const char *path)
{
    size_t len = strlen(path);
    char copy[128];

    strcpy(copy, path);
    if (copy[len - 1] == '/')
        copy[len - 1] = '\0';
    return ignore_path(&list, copy, path[len - 1] == '/');
}

int main(void)
{
    OK(match("src/main.c", "src/main.c") && !match("main.c", "main.cc"),
       "plain names");
    OK(match("*.c", "main.c") && match("*.c", ".c") && !match("*.c", "a.h"),
       "star");
    OK(match("a*b*c", "a-b-b-c") && !match("a*b*c", "a-c-b"), "two stars");
    OK(!match("*.c", "src/main.c"), "a star ends at a slash");
    OK(match("?.c", "a.c") && !match("?.c", ".c"), "question mark");
    OK(!match("src?main.c", "src/main.c"), "which is no slash");
    OK(match("[a-c]x", "bx") && !match("[a-c]x", "dx"), "set");
    OK(match("[!a-c]x", "dx") && !match("[!a-c]x", "bx"), "negated set");
    OK(match("[]-]x", "]x") && match("[]-]x", "-x") && !match("[]-]x", "ax"),
       "bracket and dash in a set");
    OK(!match("src[!a]main.c", "src/main.c"), "a negated set is no slash");
    OK(!match("v[+-9]x", "v/x") && match("v[+-9]x", "v.x"),
       "nor is one that spans it");
    OK(!match("a[bc]", "a") && !match("a[!b]", "a"), "a set needs something");
    OK(match("a[b", "a[b") && !match("a[b", "ab"), "bracket not closed");
    OK(match("\\*x", "*x") && !match("\\*x", "ax"), "backslash");
    OK(match("**/x", "x") && match("**/x", "a/b/x") && !match("**/x", "ax"),
       "folders before");
    OK(match("a/**", "a/b/c") && !match("a/**", "a/"), "all below");
    OK(match("a/**/b", "a/b") && match("a/**/b", "a/x/y/b"), "folders between");

    OK(ignore_parse(&list, "# objects\n*.o\n\n/build/\n!keep.o\ndoc/*.txt\n")
       == 0 && list.count == 4, "parse");
    OK(ignores("a.o") && ignores("src/a.o") && !ignores("a.c"), "at any depth");
    OK(!ignores("src/keep.o"), "taken back");
    OK(ignores("build/") && !ignores("build"), "folders only");
    OK(ignores("build/keep.o") && !ignores("src/build/"), "anchored");
    OK(ignores("doc/a.txt") && !ignores("doc/sub/a.txt"), "slash inside");
    ignore_parse(&list, "tmp[!0-9]\r\nlog[!s]\n");
    OK(ignores("tmpx") && !ignores("tmp1") && ignores("logx/"),
       "sets in rules");
    return tap_done();
}
