/*
 * store.h - a run on disk: one directory, one SQLite file in WAL mode.
 *
 *	DIR/run.db          plan, subtasks, attempts, summaries, exchanges,
 *events DIR/audit.jsonl     audit.h DIR/sessions/W.jsonl  what worker W and its
 *model said (transcript.h) DIR/patches/        NAME.patch of every candidate;
 *final.patch
 *
 * A run is its directory: copy it and you have it. Messages of conversations
 * are kept once, by hash; an exchange lists only the hashes that its turn
 *added. Every write is committed when the call returns (WAL,
 *synchronous=NORMAL: it survives the death of any process; a power cut may cost
 *the last ones). On a network file system WAL is not used
 *(journal_mode=DELETE).
 */
#ifndef ORCHESTRATOR_STORE_STORE_H
#define ORCHESTRATOR_STORE_STORE_H

#include "common/err.h"
#include "common/hash.h"
#include "common/json.h"
#include "common/strv.h"

struct store;

#define RUN_ID_MAX 64

/* $XDG_STATE_HOME/foray/runs. Yours. */
int store_root(char **ret, struct err *e);
/* A new run's directory (0700) with an empty database; the id is made from the
 * time and a random part: 20261129-154512-0421fa9. */
int store_create(struct store **ret, struct err *e);
/* Open an existing run: a whole id, a unique start of one, or NULL for the
 * latest. ERR_NOTFOUND names what was looked for, and the runs that match. */
int store_open(const char *name, bool write, struct store **ret, struct err *e);
void store_close(struct store *s);
/* All ids, oldest first. */
int store_list(struct strv *ret, struct err *e);
int store_find(const char *name, char **ret_id, struct err *e);

/* Is the process that made the run still there? (It holds DIR/lock.) */
bool store_alive(const struct store *s);
/* "running" of a dead process reads as "crashed". Yours. */
char *store_status(struct store *s);

const char *store_id(const struct store *s);
const char *store_dir(const struct store *s);

/* Small facts of the run: "status", "task", "repo", "started_at", ... */
int store_set(
    struct store *s, const char *key, const char *value, struct err *e);
/* Yours; NULL when absent or on any error. */
char *store_get(struct store *s, const char *key);

int store_event(struct store *s, double t, const char *name, const char *body,
    struct err *e);
/* Calls cb for every event in order; a nonzero return stops. after: events with
 * a larger row id only. Returns the last row id seen, or negative. */
int64_t store_events(struct store *s, int64_t after,
    int (*cb)(const char *name, const char *body, void *ctx), void *ctx);

int store_subtask(struct store *s, const char *id, const char *kind,
    const char *label, const char *hypothesis, const char *state,
    struct err *e);
int store_attempt(struct store *s, const char *subtask, unsigned attempt,
    const char *worker, const char *state, double t, struct err *e);
/* The first summary of a subtask is kept; a later one changes nothing and
 * returns 1. */
int store_summary(struct store *s, const char *subtask, unsigned attempt,
    const char *worker, double t, const char *body, const void *patch,
    size_t patch_len, struct err *e);

struct store_row {
	const char *subtask, *kind, *label, *hypothesis, *state;
	const char *worker; /* of the last attempt; "" */
	unsigned attempts;
	const char *summary; /* JSON text, or NULL */
};
int store_subtasks(struct store *s,
    int (*cb)(const struct store_row *, void *ctx), void *ctx, struct err *e);

int store_message(struct store *s, const unsigned char hash[HASH_LEN],
    const char *body, struct err *e);
/* Yours; NULL when it is not there. */
char *store_message_get(struct store *s, const unsigned char hash[HASH_LEN]);

/* One exchange with a model: the conversation is the first `base` hashes of the
 * worker's exchange before it and then tail. */
struct store_exchange {
	const char *worker, *subtask;
	unsigned attempt, turn;
	size_t base;
	const void *tail;
	size_t tail_len;
	const char *status;
	const char *reply; /* JSON of the assistant message, may be NULL */
	uint64_t in_tokens, out_tokens, cached_tokens, ms;
	double t;
};
int store_exchange(
    struct store *s, const struct store_exchange *x, struct err *e);
uint64_t store_exchanges(struct store *s, const char *worker);

#endif
