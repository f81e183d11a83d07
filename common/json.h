/*
 * json.h - jansson with limits and readable errors. jansson's own functions
 * may be used beside it; strings given to it must be UTF-8.
 */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <jansson.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/strv.h"

/* Parse len bytes: at most max_bytes long, at most 64 levels deep, duplicate
 * keys refused, nothing after the value; any JSON value may stand at the top.
 * "\u0000" and lone surrogates, which models do write, are replaced by U+FFFD
 * before parsing. *ret is a new reference. */
int json_parse(
    const char *s, size_t len, size_t max_bytes, json_t **ret, struct err *e);

/* Compact text, keys in the order they were set (sorted: JSON_SORT_KEYS).
 * Returned string is yours. Dies only when memory is out. */
char *json_text(const json_t *j);
char *json_text_sorted(const json_t *j);

/* Typed gets from an object. Missing or null: default. Wrong type: ERR_SYNTAX
 * with a sentence that names the key and the type wanted. required: missing is
 * an error too. Strings are borrowed from the object. */
int json_get_str(const json_t *obj, const char *key, bool required,
    const char **ret, struct err *e); /* NULL when absent */
int json_get_u64(const json_t *obj, const char *key, uint64_t def, uint64_t max,
    uint64_t *ret, struct err *e);
int json_get_bool(
    const json_t *obj, const char *key, bool def, bool *ret, struct err *e);
int json_get_strv(const json_t *obj, const char *key, size_t max_n,
    struct strv *ret, struct err *e); /* replaces *ret; absent: empty */

/* json_string of bytes that may not be UTF-8 (cleaned to U+FFFD). */
json_t *json_str_lossy(const char *s, size_t len);
/* Array of strings. */
json_t *json_from_strv(const struct strv *v);

#endif
