/* sql.c - statements and transactions; see store_priv.h and store_hold(). */
#include "common/compat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "orchestrator/store/store_priv.h"

int
store_db_error(struct store *s, const char *what, struct err *e)
{
	int code = sqlite3_errcode(s->db);
	int sys = sqlite3_system_errno(s->db);

	if (code == SQLITE_FULL || sys == ENOSPC || sys == EDQUOT)
		return err_set(
		    e, -ENOSPC, "%s: %s: no space left", s->dir, what);
	return err_set(
	    e, -EIO, "%s: %s: %s", s->dir, what, sqlite3_errmsg(s->db));
}

static sqlite3_stmt *
take_kept(struct store *s, const char *sql)
{
	struct kept *k;
	size_t i;

	for (i = 0; i < STORE_KEPT; i++) {
		k = &s->kept[i];
		if (k->sql == sql && !k->busy) {
			k->busy = true;
			return k->st;
		}
	}
	return NULL;
}

static sqlite3_stmt *
make_statement(struct store *s, const char *sql)
{
	sqlite3_stmt *st = NULL;
	size_t i;

	if (sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &st,
		NULL) != SQLITE_OK)
		return NULL;
	for (i = 0; i < STORE_KEPT; i++) {
		if (s->kept[i].sql != NULL)
			continue;
		s->kept[i] = (struct kept){ sql, st, true };
		break;
	}
	return st;
}

void
store_done(struct store *s, sqlite3_stmt *st)
{
	size_t i;

	for (i = 0; i < STORE_KEPT; i++) {
		if (st == NULL || s->kept[i].st != st)
			continue;
		(void)sqlite3_reset(st);
		(void)sqlite3_clear_bindings(st);
		s->kept[i].busy = false;
		return;
	}
	(void)sqlite3_finalize(st);
}

sqlite3_stmt *
store_vprepare(struct store *s, const char *sql, const char *fmt, va_list ap)
{
	sqlite3_stmt *st = take_kept(s, sql);
	const void *p;
	size_t len;
	int i;

	if (st == NULL && (st = make_statement(s, sql)) == NULL)
		return NULL;
	for (i = 1; fmt[i - 1] != '\0'; i++) {
		switch (fmt[i - 1]) {
		case 's':
			(void)sqlite3_bind_text(st, i, va_arg(ap, const char *),
			    -1, SQLITE_TRANSIENT);
			break;
		case 'i':
			(void)sqlite3_bind_int64(st, i, va_arg(ap, int64_t));
			break;
		case 'd':
			(void)sqlite3_bind_double(st, i, va_arg(ap, double));
			break;
		case 'b':
			p = va_arg(ap, const void *);
			len = va_arg(ap, size_t);
			(void)sqlite3_bind_blob64(
			    st, i, p, len, SQLITE_TRANSIENT);
			break;
		default:
			fatal("store: bad format %s", fmt);
		}
	}
	return st;
}

sqlite3_stmt *
store_prepare(struct store *s, const char *sql, const char *fmt, ...)
{
	sqlite3_stmt *st;
	va_list ap;

	va_start(ap, fmt);
	st = store_vprepare(s, sql, fmt, ap);
	va_end(ap);
	return st;
}

static int
run_statement(struct store *s, const char *sql)
{
	sqlite3_stmt *st = store_prepare(s, sql, "");
	int r = st != NULL ? sqlite3_step(st) : SQLITE_ERROR;

	store_done(s, st);
	return r == SQLITE_DONE ? 0 : -1;
}

void
store_drop_kept(struct store *s)
{
	size_t i;

	if (s->in_transaction)
		(void)run_statement(s, "COMMIT");
	for (i = 0; i < STORE_KEPT; i++)
		(void)sqlite3_finalize(s->kept[i].st);
}

void
store_hold(struct store *s)
{
	s->held++;
}

int
store_release(struct store *s, struct err *e)
{
	int r = 0;

	if (s->held == 0 || --s->held > 0)
		return 0;
	if (s->held_why.code != 0) {
		r = s->held_why.code;
		if (e != NULL)
			*e = s->held_why;
	}
	s->held_why.code = 0;
	if (!s->in_transaction)
		return r;
	s->in_transaction = false;
	if (run_statement(s, "COMMIT") < 0) {
		r = store_db_error(s, "commit", e);
		(void)run_statement(s, "ROLLBACK");
	}
	return r;
}

int
store_exec(
    struct store *s, struct err *e, const char *sql, const char *fmt, ...)
{
	sqlite3_stmt *st;
	struct err why;
	va_list ap;
	int r;

	if (s->held > 0 && !s->in_transaction)
		s->in_transaction = run_statement(s, "BEGIN IMMEDIATE") == 0;
	va_start(ap, fmt);
	st = store_vprepare(s, sql, fmt, ap);
	va_end(ap);
	r = st != NULL ? sqlite3_step(st) : SQLITE_ERROR;
	if (r == SQLITE_DONE || r == SQLITE_ROW) {
		store_done(s, st);
		return sqlite3_changes(s->db);
	}
	r = store_db_error(s, st != NULL ? "write" : "prepare", &why);
	store_done(s, st);
	if (s->held > 0 && s->held_why.code == 0)
		s->held_why = why;
	if (e != NULL)
		*e = why;
	return r;
}

char *
store_one_text(struct store *s, const char *sql, const char *fmt, ...)
{
	sqlite3_stmt *st;
	char *ret = NULL;
	va_list ap;

	va_start(ap, fmt);
	st = store_vprepare(s, sql, fmt, ap);
	va_end(ap);
	if (st == NULL)
		return NULL;
	if (sqlite3_step(st) == SQLITE_ROW &&
	    sqlite3_column_text(st, 0) != NULL)
		ret = xstrdup((const char *)sqlite3_column_text(st, 0));
	store_done(s, st);
	return ret;
}
