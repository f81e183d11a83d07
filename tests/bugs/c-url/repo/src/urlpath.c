#include <string.h>

#include "url.h"

/* In place: what is written never gets ahead of what is read. */
void url_clean_path(char *path)
{
    char *in = path, *out = path;

    while (*in == '/') {
        size_t len = strcspn(in + 1, "/") + 1;

        if (len == 2 && in[1] == '.') {
            if (in[2] == '\0')
                *out++ = '/';
        } else if (len == 3 && in[1] == '.' && in[2] == '.') {
            while (out > path && *--out != '/')
                ;
            if (in[3] == '\0')
                *out++ = '/';
        } else {
            memmove(out, in, len);
            out += len;
        }
        in += len;
    }
    *out = '\0';
}

const char *url_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}
