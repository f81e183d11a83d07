#include "common/compat.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "orchestrator/store/store_priv.h"

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS fact(key TEXT PRIMARY KEY, value TEXT);"
    "CREATE TABLE IF NOT EXISTS event(id INTEGER PRIMARY KEY, t REAL,"
    " name TEXT, body TEXT);"
    "CREATE TABLE IF NOT EXISTS subtask(id TEXT PRIMARY KEY, seq INTEGER,"
    " kind TEXT, label TEXT, hypothesis TEXT, state TEXT);"
    "CREATE TABLE IF NOT EXISTS attempt(subtask TEXT, attempt INTEGER,"
    " worker TEXT, state TEXT, t REAL, PRIMARY KEY(subtask, attempt));"
    "CREATE TABLE IF NOT EXISTS summary(subtask TEXT PRIMARY KEY,"
    " attempt INTEGER, worker TEXT, t REAL, body TEXT, patch BLOB);"
    "CREATE TABLE IF NOT EXISTS message(hash BLOB PRIMARY KEY, body TEXT)"
    " WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS exchange(id INTEGER PRIMARY KEY, worker TEXT,"
    " subtask TEXT, attempt INTEGER, turn INTEGER, base INTEGER, tail BLOB,"
    " n INTEGER, digest BLOB, late TEXT, status TEXT, reply TEXT,"
    " in_tokens INTEGER, out_tokens INTEGER, cached_tokens INTEGER,"
    " cache_write_tokens INTEGER, reasoning_tokens INTEGER, micro INTEGER,"
    " requests INTEGER, ms INTEGER, t REAL);"
    "CREATE INDEX IF NOT EXISTS exchange_turn ON exchange(subtask, turn);";

int
store_root(char **ret, struct err *e)
{
	char *state;
	int r;

	if ((r = path_state_dir(&state, e)) < 0)
		return r;
	*ret = path_join(state, "runs");
	free(state);
	return 0;
}

static bool
on_network(const char *dir)
{
	struct statfs st;

	if (statfs(dir, &st) < 0)
		return false;
	switch ((unsigned long)st.f_type) {
	case NFS_SUPER_MAGIC:
	case 0x517BUL:     /* SMB */
	case 0xFF534D42UL: /* CIFS */
	case 0xFE534D42UL: /* SMB2 */
	case V9FS_MAGIC:
	case 0x65735546UL: /* FUSE: sshfs and the like */
		return true;
	default:
		return false;
	}
}

static int
open_db(struct store *s, bool write, bool create, struct err *e)
{
	char *path = path_join(s->dir, "run.db");
	int flags = write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
	struct stat st;
	int r = 0;

	/* A fifo would be waited for without end. */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		r = err_set(e, ERR_USAGE, "%s is no regular file", path);
		goto out;
	}
	if (create)
		flags |= SQLITE_OPEN_CREATE;
	if (sqlite3_open_v2(path, &s->db, flags, NULL) != SQLITE_OK) {
		r = err_set(e, -EIO, "%s: %s", path,
		    s->db != NULL ? sqlite3_errmsg(s->db) : "out of memory");
		goto out;
	}
	(void)sqlite3_busy_timeout(s->db, 5000);
	if (!write)
		goto out;
	if (sqlite3_exec(s->db,
		on_network(s->dir) ? "PRAGMA journal_mode=DELETE"
				   : "PRAGMA journal_mode=WAL;"
				     "PRAGMA synchronous=NORMAL",
		NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_exec(s->db, schema, NULL, NULL, NULL) != SQLITE_OK)
		r = store_db_error(s, "set up", e);
out:
	free(path);
	return r;
}

/* By name is by age: the milliseconds stand before the random part. */
static void
make_id(char *dst, size_t size)
{
	char random[5], date[32];
	struct timespec now;
	struct tm tm;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	(void)localtime_r(&now.tv_sec, &tm);
	(void)strftime(date, sizeof date, "%Y%m%d-%H%M%S", &tm);
	hash_random_hex(random, 2);
	(void)snprintf(
	    dst, size, "%s-%03ld%s", date, now.tv_nsec / 1000000, random);
}

int
store_create(struct store **ret, struct err *e)
{
	struct store *s = xcalloc(1, sizeof *s);
	char id[RUN_ID_MAX];
	char *root = NULL, *sub, *made = NULL;
	int r;

	s->lock = -1;
	if ((r = store_root(&root, e)) < 0 ||
	    (r = path_mkdirs(root, 0700, e)) < 0)
		goto out;
	make_id(id, sizeof id);
	s->id = xstrdup(id);
	s->dir = path_join(root, id);
	if (mkdir(s->dir, 0700) < 0) {
		r = err_set(e, -errno, "mkdir %s: %s", s->dir, strerror(errno));
		goto out;
	}
	made = xstrdup(s->dir);
	sub = path_join(s->dir, "sessions");
	r = path_mkdirs(sub, 0700, e);
	free(sub);
	if (r < 0)
		goto out;
	sub = path_join(s->dir, "patches");
	r = path_mkdirs(sub, 0700, e);
	free(sub);
	if (r < 0 || (r = open_db(s, true, true, e)) < 0)
		goto out;
	if ((r = store_lock(s, e)) < 0)
		goto out;
	if ((r = store_set(s, "schema", "1", e)) == 0)
		r = store_set(s, "id", id, e);
out:
	free(root);
	if (r == -ENOSPC || r == -EDQUOT)
		(void)err_prefix(e,
		    "free some space, or set XDG_STATE_HOME to a directory on "
		    "another disk");
	if (r < 0) {
		store_close(s);
		/* No half of a run is left. */
		if (made != NULL)
			(void)path_rmtree(made, NULL);
		free(made);
		return r;
	}
	free(made);
	*ret = s;
	return 0;
}

int
store_list(struct strv *ret, struct err *e)
{
	char *root;
	DIR *d;
	struct dirent *de;
	int r;

	if ((r = store_root(&root, e)) < 0)
		return r;
	if ((d = opendir(root)) == NULL) {
		if (errno != ENOENT)
			r = err_set(e, -errno, "%s: %s", root, strerror(errno));
		free(root);
		return r;
	}
	while ((de = readdir(d)) != NULL) {
		char *db;

		if (de->d_name[0] == '.')
			continue;
		db = path_joinf(root, "%s/run.db", de->d_name);
		if (access(db, F_OK) == 0)
			strv_add(ret, de->d_name);
		free(db);
	}
	(void)closedir(d);
	free(root);
	strv_sort(ret);
	return 0;
}

int
store_find(const char *name, char **ret_id, struct err *e)
{
	struct strv all = { 0 };
	const char *hit = NULL;
	size_t i, hits = 0;
	int r;

	if ((r = store_list(&all, e)) < 0)
		return r;
	if (all.n == 0) {
		r = err_set(e, ERR_NOTFOUND,
		    "there are no runs yet: start one with `foray run`");
		goto out;
	}
	if (name == NULL)
		hit = all.v[all.n - 1], hits = 1;
	for (i = 0; name != NULL && i < all.n; i++) {
		if (strcmp(all.v[i], name) == 0) {
			hit = all.v[i];
			hits = 1;
			break;
		}
		if (*name != '\0' &&
		    strncmp(all.v[i], name, strlen(name)) == 0) {
			hit = all.v[i];
			hits++;
		}
	}
	if (hits == 0)
		r = err_set(e, ERR_NOTFOUND,
		    "no run is called \"%s\": `foray runs` lists them", name);
	else if (hits > 1)
		r = err_set(e, ERR_NOTFOUND,
		    "\"%s\" is the start of %zu runs: give more of the name",
		    name, hits);
	else
		*ret_id = xstrdup(hit);
out:
	strv_clear(&all);
	return r;
}

int
store_open(const char *name, bool write, struct store **ret, struct err *e)
{
	struct store *s = xcalloc(1, sizeof *s);
	char *root = NULL;
	int r;

	s->lock = -1;
	if ((r = store_find(name, &s->id, e)) < 0 ||
	    (r = store_root(&root, e)) < 0)
		goto out;
	s->dir = path_join(root, s->id);
	r = open_db(s, write, false, e);
out:
	free(root);
	if (r < 0) {
		store_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

int
store_find_with(const char *key, char **ret_id, struct err *e)
{
	struct strv all = { 0 };
	struct store *s;
	char *value = NULL;
	size_t i;
	int r = store_list(&all, e);

	for (i = all.n; r == 0 && value == NULL && i > 0; i--) {
		if (store_open(all.v[i - 1], false, &s, NULL) < 0)
			continue;
		value = store_get(s, key);
		store_close(s);
		if (value != NULL)
			*ret_id = xstrdup(all.v[i - 1]);
	}
	if (r == 0 && value == NULL)
		r = ERR_NOTFOUND;
	free(value);
	strv_clear(&all);
	return r;
}

int
store_open_path(const char *path, struct store **ret, struct err *e)
{
	struct store *s = xcalloc(1, sizeof *s);
	char *real = realpath(path, NULL), *db = NULL;
	struct stat st;
	int r;

	s->lock = -1;
	if (real == NULL || stat(real, &st) < 0) {
		r = err_set(e, ERR_NOTFOUND, "%s: %s", path, strerror(errno));
		goto out;
	}
	s->dir = S_ISDIR(st.st_mode) ? xstrdup(real) : path_dir(real);
	s->id = xstrdup(path_base(s->dir));
	db = path_join(s->dir, "run.db");
	if (access(db, F_OK) < 0 && errno == ENOENT)
		r = err_set(e, ERR_NOTFOUND,
		    "%s: no directory of a run: there is no run.db in it",
		    path);
	else
		r = open_db(s, false, false, e);
out:
	free(db);
	free(real);
	if (r < 0) {
		store_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

int
store_lock(struct store *s, struct err *e)
{
	char *path = path_join(s->dir, "lock");
	int r = 0;

	s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (s->lock < 0)
		r = err_set(e, -errno, "%s: %s", path, strerror(errno));
	else if (flock(s->lock, LOCK_EX | LOCK_NB) < 0)
		r = errno == EWOULDBLOCK
		    ? err_set(
			  e, ERR_USAGE, "the run %s is still going on", s->id)
		    : err_set(e, -errno, "%s: %s", path, strerror(errno));
	free(path);
	return r;
}

void
store_close(struct store *s)
{
	if (s == NULL)
		return;
	store_drop_kept(s);
	(void)sqlite3_close(s->db);
	fd_close(&s->lock);
	free(s->id);
	free(s->dir);
	free(s);
}

bool
store_alive(const struct store *s)
{
	char *path = path_join(s->dir, "lock");
	int fd = open(path, O_RDWR | O_CLOEXEC);
	bool held =
	    fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;

	fd_close(&fd);
	free(path);
	return held;
}

char *
store_status(struct store *s)
{
	char *status = store_get(s, "status");

	if (status == NULL)
		return xstrdup("unreadable");
	if (strcmp(status, "running") == 0 && !store_alive(s)) {
		free(status);
		return xstrdup("crashed");
	}
	return status;
}

const char *
store_id(const struct store *s)
{
	return s->id;
}

const char *
store_dir(const struct store *s)
{
	return s->dir;
}

int
store_set(struct store *s, const char *key, const char *value, struct err *e)
{
	int r = store_exec(
	    s, e, "INSERT OR REPLACE INTO fact VALUES(?,?)", "ss", key, value);

	return r < 0 ? r : 0;
}

char *
store_get(struct store *s, const char *key)
{
	return store_one_text(
	    s, "SELECT value FROM fact WHERE key=?", "s", key);
}

int
store_event(struct store *s, double t, const char *name, const char *body,
    struct err *e)
{
	int r = store_exec(s, e, "INSERT INTO event(t,name,body) VALUES(?,?,?)",
	    "dss", t, name, body);

	return r < 0 ? r : 0;
}

int64_t
store_events(struct store *s, int64_t after,
    int (*cb)(const char *name, const char *body, void *ctx), void *ctx)
{
	sqlite3_stmt *st = store_prepare(s,
	    "SELECT id,name,body FROM event WHERE id>? ORDER BY id", "i",
	    after);
	int64_t last = after;

	if (st == NULL)
		return -EIO;
	while (sqlite3_step(st) == SQLITE_ROW) {
		last = sqlite3_column_int64(st, 0);
		if (cb((const char *)sqlite3_column_text(st, 1),
			(const char *)sqlite3_column_text(st, 2), ctx) != 0)
			break;
	}
	store_done(s, st);
	return last;
}

int
store_message(struct store *s, const unsigned char hash[HASH_LEN],
    const char *body, struct err *e)
{
	int r = store_exec(s, e, "INSERT OR IGNORE INTO message VALUES(?,?)",
	    "bs", hash, (size_t)HASH_LEN, body);

	return r < 0 ? r : 0;
}

char *
store_message_get(struct store *s, const unsigned char hash[HASH_LEN])
{
	return store_one_text(s, "SELECT body FROM message WHERE hash=?", "b",
	    hash, (size_t)HASH_LEN);
}
