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
#include "orchestrator/gateway/ledger.h"

struct store;

#define RUN_ID_MAX 64

/* $XDG_STATE_HOME/foray/runs. Yours. */
int store_root(char **ret, struct err *e);
/* A new run's directory (0700) with an empty database; the id is made from the
 * time and a random part: 20261129-154512-0421fa9. On an error nothing of it is
 * left. */
int store_create(struct store **ret, struct err *e);
/* Open an existing run: a whole id, a unique start of one, or NULL for the
 * latest. ERR_NOTFOUND names what was looked for, and the runs that match. */
int store_open(const char *name, bool write, struct store **ret, struct err *e);
/* The same by the path of a run's directory or of its run.db; read only. */
int store_open_path(const char *path, struct store **ret, struct err *e);
void store_close(struct store *s);
/* All ids, oldest first. */
int store_list(struct strv *ret, struct err *e);
int store_find(const char *name, char **ret_id, struct err *e);
/* The latest run in which that small fact is set. */
int store_find_with(const char *key, char **ret_id, struct err *e);

/* Take the run over: ERR_USAGE when another process has it. */
int store_lock(struct store *s, struct err *e);
/* Is the process that made the run still there? (It holds DIR/lock.) */
bool store_alive(const struct store *s);
/* "running" of a dead process reads as "crashed". Yours. */
char *store_status(struct store *s);

const char *store_id(const struct store *s);
const char *store_dir(const struct store *s);

/* One transaction for all writes up to the matching release: what happens at
 * once is on record at once, and costs one commit. Nests. What is told to
 * others afterwards must wait for the release, which fails when any of it could
 * not be written. */
void store_hold(struct store *s);
int store_release(struct store *s, struct err *e);

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
/* It never was given to anybody. */
int store_attempt_drop(
    struct store *s, const char *subtask, unsigned attempt, struct err *e);
/* Attempts that are under way get this state: who knew of them is dead. */
int store_attempts_lost(struct store *s, const char *state, struct err *e);
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
/* The patch of a subtask's summary; *ret NULL for none. Yours. */
int store_patch(struct store *s, const char *subtask, char **ret,
    size_t *ret_len, struct err *e);
/* The time of the last event, in seconds since the run began. */
double store_last_t(struct store *s);
/* The highest number that a worker ("w12") has had. */
unsigned store_last_worker(struct store *s);
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
	const unsigned char *digest; /* HASH_LEN bytes: of all its hashes */
	const char *late;            /* said with it and not kept, "" */
	const char *status;          /* "ok", or a fault's name */
	const char *reply; /* JSON of the assistant message, may be NULL */
	struct spend spend;
	unsigned requests; /* made for it */
	uint64_t ms;
	double t;
};
int store_exchange(
    struct store *s, const struct store_exchange *x, struct err *e);

/* A request is about to be made that may cost so much; it counts until it is
 * answered. */
int store_asked(struct store *s, const char *worker, const char *subtask,
    unsigned attempt, unsigned turn, const struct spend *p, struct err *e);
int store_answered(struct store *s, const char *subtask, unsigned attempt,
    unsigned turn, struct err *e);
/* Was the last request of the subtask one that got no reply? */
bool store_request_failed(struct store *s, const char *subtask);
/* A summary goes: the subtask is to go on. */
int store_reopen(struct store *s, const char *subtask, struct err *e);

/* A reply on record. */
struct store_reply {
	char *reply;
	char *worker;
	unsigned attempt, turn;
	size_t n; /* messages of the conversation that it answers */
	uint64_t in_tokens, out_tokens, cached_tokens;
};
/* digest NULL: the last one of that turn, whatever the conversation. 0, or
 * ERR_NOTFOUND. Clear it. */
int store_reply_find(struct store *s, const char *subtask,
    const unsigned char *digest, uint64_t turn, struct store_reply *ret);
void store_reply_clear(struct store_reply *r);
/* The tool messages that the same worker's next request had after it, at most
 * max; none when the conversation was cut there. */
int store_results_after(
    struct store *s, const struct store_reply *r, size_t max, struct strv *ret);
/* Whose labels begin so have models that count nowhere (run/pass.h). */
#define STORE_FREE "builtin-"
/* What one subtask (NULL: all that count) has spent on record. */
int store_spend(struct store *s, const char *subtask, struct spend *ret);

#endif
