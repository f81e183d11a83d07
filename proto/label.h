/*
 * label.h - what a host is, in words of its owner: "gpu", "zone=a". foray-host
 * --label sends them in HELLO, foray run --label wants them.
 */
#ifndef PROTO_LABEL_H
#define PROTO_LABEL_H

#include "common/err.h"
#include "common/strv.h"

#define LABEL_MAX 64  /* bytes, NUL not counted */
#define LABELS_MAX 32 /* of a host, and of a run */

/* Add what text lists, separated by commas; one that is there already is not
 * added again. what names the option in the error. ERR_USAGE for anything but
 * letters, digits, '.', '_', '-', '/', ':' and '='. */
int labels_add(
    struct strv *to, const char *text, const char *what, struct err *e);
/* Is every one of want in have? */
bool labels_in(const struct strv *want, const struct strv *have);

#endif
