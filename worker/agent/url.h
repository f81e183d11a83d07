/*
 * url.h - links of a page: a reference resolved against where it stands
 * (RFC 3986, 5.2, with what browsers forgive: spaces around, line ends and tabs
 * within, backslashes).
 */
#ifndef WORKER_AGENT_URL_H
#define WORKER_AGENT_URL_H

#include "common/compat.h"

#define URL_MAX 2048

/* The absolute URL, yours; NULL when there is none: base is NULL or no URL, the
 * scheme is not http, https, ftp or mailto, or it is over URL_MAX bytes. Bytes
 * that are no part of a URL, and parentheses, are written as %XX. */
char *url_resolve(const char *base, const char *ref, size_t len);

#endif
