/*
 * log.h - messages for a person, on stderr (or a file), one line each.
 *
 * Only programs log: common, proto and sandbox return errors instead
 * (log_debug is allowed everywhere). Control bytes are escaped, so that no
 * text of a peer can move the cursor. errno is kept.
 *
 * A reader who doesn't read holds nobody up: once a line has waited for 200 ms,
 * it and what follows are left out until there is room again, and then it is
 * said how many they were.
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
 * starting level is INFO, or DEBUG when FORAY_DEBUG is set and not empty.
 * FORAY_LOG=json makes each line an object: time (RFC 3339, UTC), level,
 * program, the ids that are known, message. */
void log_init(const char *name);
void log_set_level(enum log_level level);
/* Send lines to fd instead of stderr (the log keeps the descriptor). */
void log_set_fd(int fd);

/*
 * Ids: what a line is about, as far as it is known. They are said in lines of
 * JSON (FORAY_LOG=json) and nowhere else; whoever begins to work on something
 * sets them, and puts back what was there before when it is done:
 *
 *	log_ids_get(&old);
 *	log_id(LOG_ID_WORKER, "w3");
 *	...
 *	log_ids_set(&old);
 */
enum log_id {
	LOG_ID_RUN,
	LOG_ID_HOST,
	LOG_ID_SUBTASK,
	LOG_ID_ATTEMPT, /* a number, as text */
	LOG_ID_WORKER,
	LOG_ID_CALL, /* of a worker: "model-4", "audit-17", "fetch-1" */
	LOG_IDS
};
#define LOG_ID_MAX 64
struct log_ids {
	char v[LOG_IDS][LOG_ID_MAX + 1];
};
/* A copy, cut to LOG_ID_MAX bytes; NULL or "": none. */
void log_id(enum log_id which, const char *value);
/* The same: prefix (may be "") and a number; 0: none. */
void log_id_number(enum log_id which, const char *prefix, uint64_t n);
void log_ids_get(struct log_ids *ret);
void log_ids_set(const struct log_ids *ids);
/* Is each line a JSON object? Nothing else belongs to stderr then. */
bool log_is_json(void);

void log_debug(const char *fmt, ...) printflike(1, 2);
void log_info(const char *fmt, ...) printflike(1, 2);
void log_warn(const char *fmt, ...) printflike(1, 2);
void log_error(const char *fmt, ...) printflike(1, 2);

/* What a peer's messages make us say: at most LOG_BUDGET lines in ten seconds,
 * and then how many more there were. While *b is set, log_info() and log_warn()
 * draw on it; NULL: no limit. Yours; zeroed at first. */
#define LOG_BUDGET 100
struct log_budget {
	int64_t since_s;
	unsigned said, unsaid;
};
void log_budget(struct log_budget *b);

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
