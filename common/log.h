/*
 * log.h - messages for a person, on stderr (or a file), one line each.
 *
 * Only programs log: common, proto and sandbox return errors instead
 * (log_debug is allowed everywhere). Control bytes are escaped, so that no
 * text of a peer can move the cursor. errno is kept.
 */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

#include "common/compat.h"

enum log_level {
	LOG_LVL_DEBUG,
	LOG_LVL_INFO,
	LOG_LVL_WARN,
	LOG_LVL_ERROR
};

/* name stands before every line ("foray-host"); kept by reference. The
 * starting level is INFO, or DEBUG when FORAY_DEBUG is set and not empty. */
void log_init(const char *name);
void log_set_level(enum log_level level);
/* Send lines to fd instead of stderr (the log keeps the descriptor). */
void log_set_fd(int fd);

void log_debug(const char *fmt, ...) printflike(1, 2);
void log_info(const char *fmt, ...) printflike(1, 2);
void log_warn(const char *fmt, ...) printflike(1, 2);
void log_error(const char *fmt, ...) printflike(1, 2);

/* For start-up and broken invariants only, never for what a peer, a model, a
 * file or a user sent. Exits with status 70. */
void fatal(const char *fmt, ...) printflike(1, 2) noreturn_fn;

/* Allocation of sizes that we chose: these die when memory is out. */
void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) printflike(1, 2);

#endif
