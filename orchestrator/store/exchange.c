/* exchange.c - what was said to models and what they replied; see store.h. */
#include "common/compat.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "orchestrator/store/store_priv.h"

int
store_exchange(struct store *s, const struct store_exchange *x, struct err *e)
{
	const struct spend *p = &x->spend;
	int r = store_exec(s, e,
	    "INSERT INTO exchange(worker,subtask,attempt,turn,base,tail,n,"
	    "digest,late,status,reply,in_tokens,out_tokens,cached_tokens,"
	    "cache_write_tokens,reasoning_tokens,micro,requests,ms,t)"
	    " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	    "ssiiibibsssiiiiiiiid", x->worker, x->subtask, (int64_t)x->attempt,
	    (int64_t)x->turn, (int64_t)x->base, x->tail, x->tail_len,
	    (int64_t)(x->base + x->tail_len / HASH_LEN), x->digest,
	    (size_t)HASH_LEN, x->late, x->status, x->reply,
	    (int64_t)p->in_tokens, (int64_t)p->out_tokens,
	    (int64_t)p->cached_tokens, (int64_t)p->cache_write_tokens,
	    (int64_t)p->reasoning_tokens, (int64_t)p->micro,
	    (int64_t)x->requests, (int64_t)x->ms, x->t);

	return r < 0 ? r : 0;
}

int
store_asked(struct store *s, const char *worker, const char *subtask,
    unsigned attempt, unsigned turn, const struct spend *p, struct err *e)
{
	int r = store_exec(s, e,
	    "INSERT INTO exchange(worker,subtask,attempt,turn,status,in_tokens,"
	    "out_tokens,cached_tokens,cache_write_tokens,reasoning_tokens,micro)"
	    " VALUES(?,?,?,?,'asked',?,?,0,0,0,?)",
	    "ssiiiii", worker, subtask, (int64_t)attempt, (int64_t)turn,
	    (int64_t)p->in_tokens, (int64_t)p->out_tokens, (int64_t)p->micro);

	return r < 0 ? r : 0;
}

int
store_answered(struct store *s, const char *subtask, unsigned attempt,
    unsigned turn, struct err *e)
{
	int r = store_exec(s, e,
	    "DELETE FROM exchange WHERE subtask=? AND turn=? AND attempt=?"
	    " AND status='asked'",
	    "sii", subtask, (int64_t)turn, (int64_t)attempt);

	return r < 0 ? r : 0;
}

static uint64_t
column(sqlite3_stmt *st, int i)
{
	int64_t v = sqlite3_column_int64(st, i);

	return v > 0 ? (uint64_t)v : 0;
}

int
store_reply_find(struct store *s, const char *subtask,
    const unsigned char *digest, uint64_t turn, struct store_reply *ret)
{
	sqlite3_stmt *st = store_prepare(s,
	    "SELECT reply, worker, attempt, turn, n, in_tokens, out_tokens,"
	    " cached_tokens FROM exchange WHERE subtask=? AND turn=?"
	    " AND status='ok' AND (?3 IS NULL OR digest=?3)"
	    " ORDER BY attempt DESC, id DESC LIMIT 1",
	    "sib", subtask, (int64_t)turn, digest, (size_t)HASH_LEN);
	int r = ERR_NOTFOUND;

	*ret = (struct store_reply){ 0 };
	if (st != NULL && sqlite3_step(st) == SQLITE_ROW &&
	    sqlite3_column_text(st, 0) != NULL &&
	    sqlite3_column_text(st, 1) != NULL) {
		ret->reply = xstrdup((const char *)sqlite3_column_text(st, 0));
		ret->worker = xstrdup((const char *)sqlite3_column_text(st, 1));
		ret->attempt = (unsigned)column(st, 2);
		ret->turn = (unsigned)column(st, 3);
		ret->n = (size_t)column(st, 4);
		ret->in_tokens = column(st, 5);
		ret->out_tokens = column(st, 6);
		ret->cached_tokens = column(st, 7);
		r = 0;
	}
	store_done(s, st);
	return r;
}

bool
store_request_failed(struct store *s, const char *subtask)
{
	sqlite3_stmt *st = store_prepare(s,
	    "SELECT status<>'ok' FROM exchange WHERE subtask=?"
	    " ORDER BY id DESC LIMIT 1",
	    "s", subtask);
	bool failed = st != NULL && sqlite3_step(st) == SQLITE_ROW &&
	    sqlite3_column_int(st, 0) != 0;

	store_done(s, st);
	return failed;
}

void
store_reply_clear(struct store_reply *r)
{
	free(r->reply);
	free(r->worker);
	*r = (struct store_reply){ 0 };
}

/* The tool messages among these hashes, up to the first of another kind that
 * follows one. */
static void
take_results(struct store *s, const unsigned char *h, size_t n, size_t max,
    struct strv *ret)
{
	const char *role;
	json_t *j;
	char *body;
	size_t i;
	bool tool;

	for (i = 0; i < n && ret->n < max; i++) {
		body = store_message_get(s, h + i * HASH_LEN);
		j = NULL;
		tool = body != NULL &&
		    json_parse(body, strlen(body), strlen(body), &j, NULL) ==
			0 &&
		    json_get_str(j, "role", true, &role, NULL) == 0 &&
		    strcmp(role, "tool") == 0;
		json_decref(j);
		if (tool)
			strv_add(ret, body);
		free(body);
		if (!tool && ret->n > 0)
			break;
	}
}

int
store_results_after(
    struct store *s, const struct store_reply *r, size_t max, struct strv *ret)
{
	sqlite3_stmt *st = store_prepare(s,
	    "SELECT base, tail FROM exchange WHERE worker=? AND turn=?"
	    " AND status!='asked'"
	    " ORDER BY id DESC LIMIT 1",
	    "si", r->worker, (int64_t)r->turn + 1);

	if (st == NULL)
		return store_db_error(s, "read", NULL);
	if (sqlite3_step(st) == SQLITE_ROW && column(st, 0) == r->n)
		take_results(s, sqlite3_column_blob(st, 1),
		    (size_t)sqlite3_column_bytes(st, 1) / HASH_LEN, max, ret);
	store_done(s, st);
	return 0;
}

int
store_spend(struct store *s, const char *subtask, struct spend *ret)
{
	sqlite3_stmt *st = store_prepare(s,
	    "SELECT sum(status IN ('ok', 'lost')), sum(in_tokens), sum(out_tokens),"
	    " sum(cached_tokens), sum(cache_write_tokens),"
	    " sum(reasoning_tokens), sum(micro) FROM exchange"
	    " WHERE subtask=?1 OR (?1 IS NULL AND subtask NOT IN"
	    " (SELECT id FROM subtask WHERE label GLOB '" STORE_FREE "*'))",
	    "s", subtask);

	*ret = (struct spend){ 0 };
	if (st == NULL || sqlite3_step(st) != SQLITE_ROW) {
		store_done(s, st);
		return store_db_error(s, "read", NULL);
	}
	ret->calls = column(st, 0);
	ret->in_tokens = column(st, 1);
	ret->out_tokens = column(st, 2);
	ret->cached_tokens = column(st, 3);
	ret->cache_write_tokens = column(st, 4);
	ret->reasoning_tokens = column(st, 5);
	ret->micro = column(st, 6);
	store_done(s, st);
	return 0;
}
