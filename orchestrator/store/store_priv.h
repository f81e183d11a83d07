/* store_priv.h - the database, for the files of store/ alone. */
#ifndef ORCHESTRATOR_STORE_STORE_PRIV_H
#define ORCHESTRATOR_STORE_STORE_PRIV_H

#include <sqlite3.h>
#include <stdarg.h>

#include "orchestrator/store/store.h"

#define STORE_KEPT 40

struct store {
	sqlite3 *db;
	/* Prepared once; found by the address of their text. */
	struct kept {
		const char *sql;
		sqlite3_stmt *st;
		bool busy;
	} kept[STORE_KEPT];
	unsigned held; /* store_hold() */
	bool in_transaction;
	struct err held_why; /* a write of it that failed */
	char *id;
	char *dir;
	int lock; /* held by the run itself, -1 elsewhere */
};

int store_db_error(struct store *s, const char *what, struct err *e);
/* Bound by a format: s text, i integer (int64_t), d double, b blob (pointer,
 * size_t). NULL pointers bind NULL. sql is a literal. NULL: it can't be
 * prepared. */
sqlite3_stmt *store_vprepare(
    struct store *s, const char *sql, const char *fmt, va_list ap);
sqlite3_stmt *store_prepare(
    struct store *s, const char *sql, const char *fmt, ...);
/* Every statement that was prepared, NULL too, comes back here. */
void store_done(struct store *s, sqlite3_stmt *st);
/* What is open is committed, what was prepared is freed. */
void store_drop_kept(struct store *s);
/* Run a statement without rows; the number of rows changed. */
int store_exec(
    struct store *s, struct err *e, const char *sql, const char *fmt, ...);
/* The first column of the first row; NULL: none. Yours. */
char *store_one_text(struct store *s, const char *sql, const char *fmt, ...);

#endif
