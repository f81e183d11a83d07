/* subtask.c - subtasks, attempts and summaries on record; see store.h. */
#include "common/compat.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "orchestrator/store/store_priv.h"

int
store_subtask(struct store *s, const char *id, const char *kind,
    const char *label, const char *hypothesis, const char *state, struct err *e)
{
	int r = store_exec(s, e,
	    "INSERT INTO subtask(id,seq,kind,label,hypothesis,state) VALUES("
	    "?,(SELECT count(*) FROM subtask),?,?,?,?)"
	    " ON CONFLICT(id) DO UPDATE SET state=excluded.state",
	    "sssss", id, kind, label, hypothesis, state);

	return r < 0 ? r : 0;
}

int
store_attempt(struct store *s, const char *subtask, unsigned attempt,
    const char *worker, const char *state, double t, struct err *e)
{
	int r =
	    store_exec(s, e, "INSERT OR REPLACE INTO attempt VALUES(?,?,?,?,?)",
		"sissd", subtask, (int64_t)attempt, worker, state, t);

	return r < 0 ? r : 0;
}

int
store_attempt_drop(
    struct store *s, const char *subtask, unsigned attempt, struct err *e)
{
	int r = store_exec(s, e,
	    "DELETE FROM attempt WHERE subtask=? AND attempt=?", "si", subtask,
	    (int64_t)attempt);

	return r < 0 ? r : 0;
}

int
store_attempts_lost(struct store *s, const char *state, struct err *e)
{
	int r = store_exec(s, e,
	    "UPDATE attempt SET state=? WHERE state='assigned'", "s", state);

	return r < 0 ? r : 0;
}

int
store_summary(struct store *s, const char *subtask, unsigned attempt,
    const char *worker, double t, const char *body, const void *patch,
    size_t patch_len, struct err *e)
{
	int r = store_exec(s, e,
	    "INSERT OR IGNORE INTO summary VALUES(?,?,?,?,?,?)", "sisdsb",
	    subtask, (int64_t)attempt, worker, t, body, patch, patch_len);

	return r < 0 ? r : r == 0;
}

int
store_patch(struct store *s, const char *subtask, char **ret, size_t *ret_len,
    struct err *e)
{
	sqlite3_stmt *st = store_prepare(
	    s, "SELECT patch FROM summary WHERE subtask=?", "s", subtask);
	const void *p;

	*ret = NULL;
	*ret_len = 0;
	if (st == NULL)
		return store_db_error(s, "read", e);
	if (sqlite3_step(st) == SQLITE_ROW &&
	    (p = sqlite3_column_blob(st, 0)) != NULL) {
		*ret_len = (size_t)sqlite3_column_bytes(st, 0);
		*ret = xmalloc(*ret_len + 1);
		memcpy(*ret, p, *ret_len);
		(*ret)[*ret_len] = '\0';
	}
	store_done(s, st);
	return 0;
}

double
store_last_t(struct store *s)
{
	char *t = store_one_text(s, "SELECT max(t) FROM event", "");
	double v = t != NULL ? strtod(t, NULL) : 0;

	free(t);
	return v > 0 ? v : 0;
}

unsigned
store_last_worker(struct store *s)
{
	char *n = store_one_text(s,
	    "SELECT max(CAST(substr(worker,2) AS INTEGER)) FROM attempt", "");
	unsigned long v = n != NULL ? strtoul(n, NULL, 10) : 0;

	free(n);
	return v < 100000000 ? (unsigned)v : 0;
}

int
store_reopen(struct store *s, const char *subtask, struct err *e)
{
	int r = store_exec(
	    s, e, "DELETE FROM summary WHERE subtask=?", "s", subtask);

	return r < 0 ? r : 0;
}

int
store_subtasks(struct store *s, int (*cb)(const struct store_row *, void *),
    void *ctx, struct err *e)
{
	sqlite3_stmt *st = store_prepare(s,
	    "SELECT s.id, s.kind, s.label, s.hypothesis, s.state,"
	    " (SELECT worker FROM attempt a WHERE a.subtask=s.id"
	    "  ORDER BY attempt DESC LIMIT 1),"
	    " (SELECT count(*) FROM attempt a WHERE a.subtask=s.id),"
	    " m.body FROM subtask s LEFT JOIN summary m ON m.subtask=s.id"
	    " ORDER BY s.seq",
	    "");

	if (st == NULL)
		return store_db_error(s, "read", e);
	while (sqlite3_step(st) == SQLITE_ROW) {
		struct store_row row = {
			.subtask = (const char *)sqlite3_column_text(st, 0),
			.kind = (const char *)sqlite3_column_text(st, 1),
			.label = (const char *)sqlite3_column_text(st, 2),
			.hypothesis = (const char *)sqlite3_column_text(st, 3),
			.state = (const char *)sqlite3_column_text(st, 4),
			.worker = (const char *)sqlite3_column_text(st, 5),
			.attempts = (unsigned)sqlite3_column_int(st, 6),
			.summary = (const char *)sqlite3_column_text(st, 7),
		};

		/* A hand may have been at it. */
		if (row.subtask == NULL || row.kind == NULL ||
		    row.label == NULL || row.state == NULL)
			continue;
		if (row.worker == NULL)
			row.worker = "";
		if (cb(&row, ctx) != 0)
			break;
	}
	store_done(s, st);
	return 0;
}
