#ifndef URL_H
#define URL_H

#include <stddef.h>

#define URL_PART 128

struct url {
    char scheme[16];        /* lower case */
    char user[URL_PART];    /* "name:password", decoded; may be empty */
    char host[URL_PART];    /* lower case, without the brackets */
    int port;               /* 0: not given */
    char path[URL_PART];    /* begins with "/" */
    char query[URL_PART];   /* without the "?" */
    char fragment[URL_PART];
};

int url_parse(const char *text, struct url *ret);       /* 0 or -1 */

/* The value of a name in the query, decoded; 0 or -1. */
int url_param(const struct url *url, const char *name, char *out, size_t size);

/* "%41" -> "A"; 0, or -1 when it is malformed or does not fit. */
int url_decode(const char *text, size_t len, char *out, size_t size);

/* urlpath.c: "/a/./b/../c" -> "/a/c"; and its last part */
void url_clean_path(char *path);
const char *url_file_name(const char *path);

#endif
