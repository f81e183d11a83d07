/*
 * key.h - API keys: from our environment (taken out of it by model_take_keys)
 * or from a command of the person's. Keys are printable ASCII, and never part
 * of an error text.
 */
#ifndef ORCHESTRATOR_GATEWAY_KEY_H
#define ORCHESTRATOR_GATEWAY_KEY_H

#include "common/err.h"

/* The variable's value, taken or still in the environment. Borrowed; NULL: not
 * set, or empty. */
const char *key_env(const char *name);
/* Copy a variable's value and wipe it from the environment. */
void key_take(const char *name);
void key_drop_all(void);

/* A copy without blanks at its ends, in locked memory where that is allowed;
 * key_free(). what names the source in errors. ERR_MODEL: it is no key. */
int key_copy(const char *text, size_t len, const char *what, char **ret,
    size_t *ret_len, struct err *e);
/* What sh -c command writes. Blocks, for 30 seconds at most. */
int key_command(
    const char *command, char **ret, size_t *ret_len, struct err *e);
void key_free(char *key, size_t len);

#endif
