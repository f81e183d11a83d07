/*
 * strv.h - an owned vector of strings that ends in NULL, for argv, envp and
 * lists of names. A zeroed struct is empty and valid; v is NULL while nothing
 * was added, except that strv_argv() always gives a valid array.
 */
#ifndef COMMON_STRV_H
#define COMMON_STRV_H

#include "common/compat.h"

struct strv {
	char **v; /* n strings, then NULL */
	size_t n;
	size_t size;
};

void strv_clear(struct strv *s);
void strv_add(struct strv *s, const char *str); /* copies */
void strv_addn(struct strv *s, const char *str, size_t len);
void strv_addf(struct strv *s, const char *fmt, ...) printflike(2, 3);
void strv_take(struct strv *s, char **str); /* takes *str, nulls it */
/* Several at once, ended by (char *)NULL. */
void strv_addl(struct strv *s, ...) __attribute__((sentinel));
/* What stands between blanks and line ends. */
void strv_words(struct strv *s, const char *text);
void strv_extend(struct strv *s, const struct strv *more);
void strv_copy(struct strv *dst, const struct strv *src); /* clears dst */
bool strv_has(const struct strv *s, const char *str);
void strv_sort(struct strv *s); /* by bytes */
char *const *strv_argv(const struct strv *s);

/* As an environment: NAME=value, one entry a name. */
void strv_setenv(struct strv *s, const char *name, const char *value);
const char *strv_getenv(const struct strv *s, const char *name);

#endif
