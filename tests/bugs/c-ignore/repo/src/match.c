#include <string.h>

#include "match.h"

/*
 * One character against the set that p points behind the "[" of. Returns the
 * place behind the "]", or NULL when there is none.
 */
static const char *match_set(const char *p, char c, int *ret)
{
    int negated = *p == '!' || *p == '^';
    int found = 0, first = 1;

    if (negated)
        p++;
    for (; *p && (first || *p != ']'); first = 0) {
        char low = *p++, high;

        if (low == '\\' && *p)
            low = *p++;
        high = low;
        if (p[0] == '-' && p[1] != '\0' && p[1] != ']') {
            high = p[1];
            p += 2;
        }
        if (low <= c && c <= high)
            found = 1;
    }
    *ret = found != negated;
    return *p == ']' ? p + 1 : NULL;
}

static int match_star(const char *pattern, const char *path)
{
    for (;; path++) {
        if (match(pattern, path))
            return 1;
        if (*path == '\0' || *path == '/')
            return 0;
    }
}

static int match_folders(const char *pattern, const char *path)
{
    while (path != NULL) {
        if (match(pattern, path))
            return 1;
        path = strchr(path, '/');
        if (path != NULL)
            path++;
    }
    return 0;
}

int match(const char *p, const char *s)
{
    const char *end;
    int good;

    for (; *p; s++) {
        if (strncmp(p, "**/", 3) == 0)
            return match_folders(p + 3, s);
        if (strcmp(p, "**") == 0)
            return *s != '\0';
        switch (*p) {
        case '*':
            return match_star(p + 1, s);
        case '?':
            if (*s == '\0' || *s == '/')
                return 0;
            p++;
            break;
        case '[':
            end = match_set(p + 1, *s, &good);
            if (end != NULL) {
                if (!good || *s == '\0')
                    return 0;
                p = end;
                break;
            }
            if (*s != *p++)
                return 0;
            break;
        case '\\':
            if (p[1] != '\0')
                p++;
            /* fall through */
        default:
            if (*s != *p++)
                return 0;
        }
    }
    return *s == '\0';
}
