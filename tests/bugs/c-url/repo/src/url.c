#include <ctype.h>
#include <string.h>

#include "url.h"

static int hex(int c)
{
    const char *digits = "0123456789abcdef";
    const char *at = c != '\0' ? strchr(digits, tolower(c)) : NULL;

    return at != NULL ? (int)(at - digits) : -1;
}

int url_decode(const char *text, size_t len, char *out, size_t size)
{
    size_t i, used = 0;

    for (i = 0; i < len; i++) {
        int c = (unsigned char)text[i];

        if (c == '%') {
            int high = i + 1 < len ? hex((unsigned char)text[i + 1]) : -1;
            int low = i + 2 < len ? hex((unsigned char)text[i + 2]) : -1;

            if (high < 0 || low < 0)
                return -1;
            c = high * 16 + low;
            i += 2;
        }
        if (used + 1 >= size)
            return -1;
        out[used++] = (char)c;
    }
    out[used] = '\0';
    return 0;
}

static int copy(const char *from, size_t len, char *out, size_t size)
{
    if (len >= size)
        return -1;
    memcpy(out, from, len);
    out[len] = '\0';
    return 0;
}

static void lower(char *p)
{
    for (; *p; p++)
        *p = (char)tolower((unsigned char)*p);
}

static int parse_port(const char *digits, int *ret)
{
    int port = 0;

    for (; *digits; digits++) {
        if (!isdigit((unsigned char)*digits))
            return -1;
        port = port * 10 + (*digits - '0');
        if (port > 65535)
            return -1;
    }
    *ret = port;
    return 0;
}

/* "host", "host:port", "[v6]", "[v6]:port" */
static int parse_host(char *text, struct url *url)
{
    char *host = text, *end, *port = NULL;

    if (*text == '[') {
        host = text + 1;
        end = strchr(host, ']');
        if (end == NULL)
            return -1;
        if (end[1] == ':')
            port = end + 2;
        else if (end[1] != '\0')
            return -1;
        *end = '\0';
    } else {
        end = strrchr(text, ':');
        if (end != NULL) {
            *end = '\0';
            port = end + 1;
        }
    }
    lower(host);
    if (*host == '\0' || copy(host, strlen(host), url->host, URL_PART) < 0)
        return -1;
    return port != NULL ? parse_port(port, &url->port) : 0;
}

static int parse_authority(const char *text, size_t len, struct url *url)
{
    char authority[2 * URL_PART];
    char *host = authority, *at;

    if (copy(text, len, authority, sizeof(authority)) < 0)
        return -1;
    at = strchr(authority, '@');
    if (at != NULL) {
        if (url_decode(authority, (size_t)(at - authority), url->user,
                       URL_PART) < 0)
            return -1;
        host = at + 1;
    }
    return parse_host(host, url);
}

int url_parse(const char *text, struct url *url)
{
    size_t len = strcspn(text, ":/?#");

    memset(url, 0, sizeof(*url));
    if (len == 0 || strncmp(text + len, "://", 3) != 0)
        return -1;
    if (copy(text, len, url->scheme, sizeof(url->scheme)) < 0)
        return -1;
    lower(url->scheme);
    text += len + 3;
    len = strcspn(text, "/?#");
    if (parse_authority(text, len, url) < 0)
        return -1;
    text += len;
    len = strcspn(text, "?#");
    if (copy(len > 0 ? text : "/", len > 0 ? len : 1, url->path, URL_PART) < 0)
        return -1;
    url_clean_path(url->path);
    text += len;
    if (*text == '?') {
        len = strcspn(++text, "#");
        if (copy(text, len, url->query, URL_PART) < 0)
            return -1;
        text += len;
    }
    return *text == '#' ? copy(text + 1, strlen(text + 1), url->fragment,
                               URL_PART) : 0;
}

int url_param(const struct url *url, const char *name, char *out, size_t size)
{
    const char *p = url->query;
    char key[URL_PART];

    while (*p) {
        size_t len = strcspn(p, "&");
        const char *is = memchr(p, '=', len);
        size_t key_len = is != NULL ? (size_t)(is - p) : len;

        if (url_decode(p, key_len, key, sizeof(key)) == 0 &&
            strcmp(key, name) == 0)
            return is != NULL ? url_decode(is + 1, len - key_len - 1, out, size)
                              : url_decode("", 0, out, size);
        p += len;
        p += *p == '&';
    }
    return -1;
}
