#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/num.h"
#include "common/path.h"
#include "orchestrator/store/audit.h"
#include "orchestrator/store/audit_priv.h"

struct audit {
	struct store *store; /* NULL: a chain of its own */
	char *dir;
	int fd, head_fd; /* head_fd: of audit.head, without a store */
	off_t size;      /* as we left it, without a store */
	uint64_t n;
	char head[HASH_HEX];
	bool behind;       /* the head does not know of the last line */
	char repaired[96]; /* what is to be said of it; "": nothing */
};

uint64_t
audit_lines(const struct audit *a)
{
	return a->n;
}

static int
put_head(struct audit *a, struct err *e)
{
	char text[HASH_HEX + 32];
	int len = snprintf(text, sizeof text, "%" PRIu64 " %s", a->n, a->head);

	if (a->store != NULL)
		return store_set(a->store, "audit_head", text, e);
	/* It never gets shorter. */
	if (pwrite(a->head_fd, text, (size_t)len, 0) != len)
		return err_set(
		    e, -EIO, "%s/audit.head: can't be written", a->dir);
	return 0;
}

/* On a full disk the line may be written and the head not: the next line waits
 * for it, since two that it does not know of would be nobody's. */
static int
save_head(struct audit *a, struct err *e)
{
	int r = put_head(a, e);

	a->behind = r < 0;
	return r < 0 ? r : 0;
}

/* Yours; NULL: there is none yet. */
static char *
read_head(const struct audit *a)
{
	char text[HASH_HEX + 32];
	ssize_t n;

	if (a->store != NULL)
		return store_get(a->store, "audit_head");
	n = pread(a->head_fd, text, sizeof text - 1, 0);
	return n > 0 ? xstrndup(text, (size_t)n) : NULL;
}

/* "N HASH"; an absent head is the empty chain. */
static int
load_head(
    const struct audit *a, uint64_t *ret_n, char head[HASH_HEX], struct err *e)
{
	char *text = read_head(a), *space;
	int r = 0;

	*ret_n = 0;
	audit_zero(head);
	if (text == NULL)
		return 0;
	space = strchr(text, ' ');
	if (space == NULL || strlen(space + 1) != HASH_HEX - 1) {
		r = err_set(
		    e, ERR_SYNTAX, "the head of the audit chain can't be read");
	} else {
		*space = '\0';
		r = num_u64(text, 0, UINT64_MAX, "audit head", ret_n, e);
		(void)strlcpy(head, space + 1, HASH_HEX);
	}
	free(text);
	return r;
}

void
audit_close(struct audit *a)
{
	if (a == NULL)
		return;
	if (a->behind)
		(void)save_head(a, NULL);
	if (a->fd >= 0)
		(void)fsync(a->fd);
	fd_close(&a->fd);
	fd_close(&a->head_fd);
	free(a->dir);
	free(a);
}

/* A full disk took a part of a line: the next one must not follow on it. */
static void
undo(struct audit *a, off_t size)
{
	if (size < 0 || ftruncate(a->fd, size) < 0)
		log_warn("%s/audit.jsonl: a part of a line stays", a->dir);
}

static int
write_line(struct audit *a, double t, const char *worker, const char *act,
    const char *subject, const char *detail, const char *verdict, struct err *e)
{
	off_t size = lseek(a->fd, 0, SEEK_END);
	char hash[HASH_HEX];
	json_t *line, *more = NULL;
	struct buf b;
	char *text;
	int r;

	if (a->behind && (r = save_head(a, e)) < 0)
		return r;
	if (detail != NULL && *detail != '\0' &&
	    json_parse(detail, strlen(detail), MAX_LINE, &more, NULL) < 0)
		more = json_str_lossy(detail, strlen(detail));
	line = json_pack("{s:I, s:s, s:f, s:o, s:o, s:o, s:o?, s:s}", "n",
	    (json_int_t)a->n + 1, "prev", a->head, "t", t, "worker",
	    json_str_lossy(worker, strlen(worker)), "act",
	    json_str_lossy(act, strlen(act)), "subject",
	    json_str_lossy(subject, strlen(subject)), "detail", more, "verdict",
	    verdict);
	if (line == NULL)
		return err_set(e, -EINVAL, "audit: the line can't be built");
	/* Whose chain it is, under the hash of all that follows. */
	if (a->store != NULL && a->n == 0)
		(void)json_object_set_new(
		    line, "run", json_string(store_id(a->store)));
	text = json_text(line);
	json_decref(line);
	buf_init(&b, MAX_LINE * 2);
	/* Without the closing brace, which comes back after the hash. */
	r = buf_add(&b, text, strlen(text) - 1);
	free(text);
	audit_hash(buf_str(&b), b.len, hash);
	if (r == 0)
		r = buf_printf(&b, HASH_KEY "%s\"}\n", hash);
	if (r == 0 && (r = fd_write_all(a->fd, b.data, b.len)) < 0)
		undo(a, size);
	buf_clear(&b);
	if (r < 0)
		return err_set(e, r, "%s/audit.jsonl: %s", a->dir, err_str(r));
	a->n++;
	memcpy(a->head, hash, sizeof hash);
	return save_head(a, e);
}

/* The torn line at the end, from there to size, goes to a file of its own:
 * nothing that was written is thrown away. */
static int
set_aside(const struct audit *a, off_t from, off_t size, struct err *e)
{
	size_t len = (size_t)(size - from);
	char *path = path_join(a->dir, "audit.torn"), *text;
	int fd = -1, r = 0;

	if (len > MAX_LINE * 2)
		len = MAX_LINE * 2; /* no line of ours */
	text = xmalloc(len + 1);
	if (pread(a->fd, text, len, from) != (ssize_t)len)
		r = err_set(e, -EIO, "audit: the torn line can't be read");
	text[len] = '\n';
	if (r == 0 &&
	    (fd = open(path,
		 O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
		 0600)) < 0)
		r = err_set(e, -errno, "%s: %s", path, strerror(errno));
	if (r == 0 && (r = fd_write_all(fd, text, len + 1)) < 0)
		r = err_set(e, r, "%s: %s", path, err_str(r));
	if (r == 0 && ftruncate(a->fd, from) < 0)
		r = err_set(e, -errno, "audit: %s", strerror(errno));
	fd_close(&fd);
	free(text);
	free(path);
	return r;
}

/* What a crash left is mended when the chain is taken up again, and the line
 * after it says so. */
static void
note_repair(struct audit *a, size_t torn, bool unknown)
{
	if (torn > 0)
		(void)snprintf(a->repaired, sizeof a->repaired,
		    "a crash left %zu bytes of a line at the end: they are in "
		    "audit.torn",
		    torn);
	else if (unknown)
		(void)snprintf(a->repaired, sizeof a->repaired,
		    "a crash left a line that the head did not know of: it is "
		    "kept");
	else
		return;
	log_warn("%s/audit.jsonl: %s", a->dir, a->repaired);
}

static int
write_repair(struct audit *a, double t, struct err *e)
{
	char text[sizeof a->repaired];

	if (a->repaired[0] == '\0')
		return 0;
	memcpy(text, a->repaired, sizeof text);
	a->repaired[0] = '\0';
	return write_line(a, t, "", "repair", text, NULL, "allow", e);
}

static int
read_chain(const struct audit *a, struct chain *c, struct err *e)
{
	char *path = path_join(a->dir, "audit.jsonl");
	struct buf b;
	int r;

	*c = (struct chain){ 0 };
	audit_zero(c->last);
	buf_init(&b, (size_t)4 << 30);
	if ((r = load_head(a, &c->want, c->head, e)) == 0 &&
	    (r = file_read(path, true, &b, e)) == 0)
		r = chain_check(c, buf_str(&b), b.len, e);
	buf_clear(&b);
	free(path);
	return r;
}

/* Line 1, the directory and run.db name the same run; note: it is not said. */
static int
check_run(struct store *s, const struct chain *c, char *note, size_t note_size,
    struct err *e)
{
	const char *id = store_id(s);
	char *own = store_get(s, "id");
	int r = 0;

	if (own != NULL && strcmp(own, id) != 0)
		r = err_set(e, ERR_DENIED,
		    "run.db is that of the run %.60s, not of %s", own, id);
	else if (c->n > 0 && strcmp(c->run, id) != 0 &&
	    (own != NULL || c->run[0] != '\0'))
		r = err_set(e, ERR_DENIED,
		    "line 1 is of %s: the record is not that of %s",
		    c->run[0] != '\0' ? c->run : "no run", id);
	else if (c->n > 0 && c->run[0] == '\0')
		(void)snprintf(note + strlen(note), note_size - strlen(note),
		    "%sline 1 names no run, so whose it is can't be told",
		    note[0] != '\0' ? "; " : "");
	free(own);
	return r;
}

static int
verify(const struct audit *a, struct chain *c, uint64_t *ret_lines, char *note,
    size_t note_size, struct err *e)
{
	int r = read_chain(a, c, e);

	note[0] = '\0';
	if (r == 0 && c->rest > 0)
		(void)snprintf(note, note_size,
		    "a torn line of %zu bytes at the end (a crash)", c->rest);
	else if (r == 0 && c->n == c->want + 1)
		(void)snprintf(note, note_size,
		    "line %" PRIu64 " was written as the run was killed", c->n);
	*ret_lines = c->n;
	return r;
}

/* A run that came to its end has written its last line, and its head knows it:
 * what is behind is no crash's. */
static bool
has_ended(struct store *s)
{
	char *status = store_get(s, "status");
	bool yes = status != NULL && strcmp(status, "running") != 0;

	free(status);
	return yes;
}

int
audit_verify(struct store *s, uint64_t *ret_lines, char *note, size_t note_size,
    struct err *e)
{
	struct audit a = { .store = s, .fd = -1, .head_fd = -1 };
	struct chain c;
	int r;

	a.dir = xstrdup(store_dir(s));
	r = verify(&a, &c, ret_lines, note, note_size, e);
	if (r == 0 && note[0] != '\0' && has_ended(s))
		r = err_set(e, ERR_DENIED,
		    "line %" PRIu64 " or what is behind it was added after "
		    "the run's end",
		    *ret_lines);
	if (r == 0)
		r = check_run(s, &c, note, note_size, e);
	free(a.dir);
	return r;
}

/* A chain that a crash left: a torn line goes, a whole one that the head had
 * not learnt of is taken. */
static int
carry_on(struct audit *a, struct err *e)
{
	struct chain c;
	int r;

	if (read_chain(a, &c, e) < 0)
		return err_prefix(e, "the audit chain");
	if (c.rest > 0 &&
	    (r = set_aside(a, (off_t)c.used, (off_t)(c.used + c.rest), e)) < 0)
		return r;
	a->n = c.n;
	memcpy(a->head, c.last, sizeof a->head);
	note_repair(a, c.rest, c.n > c.want);
	return save_head(a, e);
}

int
audit_open(struct store *s, struct audit **ret, struct err *e)
{
	struct audit *a = xcalloc(1, sizeof *a);
	char *path = path_join(store_dir(s), "audit.jsonl");
	int r;

	a->store = s;
	a->dir = xstrdup(store_dir(s));
	a->head_fd = -1;
	a->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (a->fd < 0)
		r = err_set(e, -errno, "%s: %s", path, strerror(errno));
	else
		r = carry_on(a, e);
	free(path);
	if (r < 0) {
		audit_close(a);
		return r;
	}
	*ret = a;
	return 0;
}

/* --- a chain of its own -------------------------------------------------- */

/* The last whole line of the file: *ret_len bytes at the end of *ret, which is
 * yours; *ret_end is where it ends in the file. An empty file has none. */
static int
last_line(const struct audit *a, off_t size, char **ret, size_t *ret_len,
    off_t *ret_end, struct err *e)
{
	size_t want = size < (off_t)MAX_LINE * 3 ? (size_t)size : MAX_LINE * 3;
	char *text = xcalloc(1, want + 1), *nl, *before;
	ssize_t n = pread(a->fd, text, want, size - (off_t)want);

	*ret_end = 0;
	*ret_len = 0;
	if (n != (ssize_t)want) {
		free(text);
		return err_set(e, -EIO, "%s/audit.jsonl can't be read", a->dir);
	}
	nl = memrchr(text, '\n', want);
	if (nl == NULL && (off_t)want < size) {
		free(text);
		return err_set(e, ERR_DENIED,
		    "%s/audit.jsonl ends in what is no line of it", a->dir);
	}
	if (nl != NULL) {
		*ret_end = size - (off_t)want + (nl + 1 - text);
		before = memrchr(text, '\n', (size_t)(nl - text));
		before = before != NULL ? before + 1 : text;
		*ret_len = (size_t)(nl - before);
		memmove(text, before, *ret_len);
	}
	*ret = text;
	return 0;
}

static int
take_last(struct audit *a, const char *line, size_t len, bool *ret_unknown,
    struct err *e)
{
	char known[HASH_HEX], *prev = NULL;
	const char *s = NULL;
	json_t *j = NULL;
	uint64_t want = 0;
	int r;

	a->n = 0;
	audit_zero(a->head);
	if (len > 0 && json_parse(line, len, MAX_LINE * 2, &j, NULL) == 0 &&
	    json_get_str(j, "prev", true, &s, NULL) == 0) {
		prev = xstrdup(s);
		(void)json_get_u64(j, "n", 0, UINT64_MAX, &a->n, NULL);
	}
	json_decref(j);
	r = len == 0 ? 0
		     : chain_check_line(line, len, a->n,
			   prev != NULL ? prev : "", a->head, e);
	free(prev);
	if (r == 0)
		r = load_head(a, &want, known, e);
	if (r < 0)
		return r;
	if (a->n < want || a->n > want + 1 ||
	    (a->n == want && strcmp(known, a->head) != 0))
		return err_set(e, ERR_DENIED,
		    "its last line is not the one that its head knows: it was "
		    "changed (move the directory away to begin a new chain)");
	*ret_unknown = a->n > want;
	return 0;
}

/* What others have written since; a line torn by a crash goes. */
static int
catch_up(struct audit *a, struct err *e)
{
	char *line = NULL;
	bool unknown = false;
	struct stat st;
	size_t len;
	off_t end;
	int r;

	if (fstat(a->fd, &st) < 0)
		return err_set(e, -errno, "audit: %s", strerror(errno));
	if (a->size == st.st_size && a->size > 0)
		return 0;
	if ((r = last_line(a, st.st_size, &line, &len, &end, e)) == 0 &&
	    (r = take_last(a, line, len, &unknown, e)) == 0 && end < st.st_size)
		r = set_aside(a, end, st.st_size, e);
	if (r == 0)
		note_repair(a, (size_t)(st.st_size - end), unknown);
	free(line);
	return r < 0 ? err_prefix(e, "the audit chain in %s", a->dir) : 0;
}

int
audit_write(struct audit *a, double t, const char *worker, const char *act,
    const char *subject, const char *detail, const char *verdict, struct err *e)
{
	struct stat st;
	int r;

	if (a->store != NULL) {
		r = write_repair(a, t, e);
		return r < 0 ? r
			     : write_line(a, t, worker, act, subject, detail,
				   verdict, e);
	}
	if (flock(a->fd, LOCK_EX) < 0)
		return err_set(e, -errno, "lock %s/audit.jsonl: %s", a->dir,
		    strerror(errno));
	if ((r = catch_up(a, e)) == 0 && (r = write_repair(a, t, e)) == 0)
		r = write_line(a, t, worker, act, subject, detail, verdict, e);
	a->size = r == 0 && fstat(a->fd, &st) == 0 ? st.st_size : -1;
	(void)flock(a->fd, LOCK_UN);
	return r;
}

static int
open_files(struct audit *a, int flags, struct err *e)
{
	char *chain = path_join(a->dir, "audit.jsonl");
	char *head = path_join(a->dir, "audit.head");
	int r = 0;

	a->fd = open(chain, flags | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (a->fd >= 0)
		a->head_fd = open(head, flags | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (a->fd < 0 || a->head_fd < 0)
		r = err_set(e, errno == ENOENT ? ERR_NOTFOUND : -errno,
		    "%s: %s", a->fd < 0 ? chain : head, strerror(errno));
	free(chain);
	free(head);
	return r;
}

int
audit_open_dir(const char *dir, struct audit **ret, struct err *e)
{
	struct audit *a;
	int r;

	if ((r = path_mkdirs(dir, 0700, e)) < 0)
		return r;
	a = xcalloc(1, sizeof *a);
	a->fd = a->head_fd = -1;
	a->size = -1;
	a->dir = xstrdup(dir);
	if ((r = open_files(a, O_RDWR | O_CREAT, e)) < 0) {
		audit_close(a);
		return r;
	}
	*ret = a;
	return 0;
}

int
audit_verify_dir(const char *dir, uint64_t *ret_lines, char *note,
    size_t note_size, struct err *e)
{
	struct audit a = { .fd = -1, .head_fd = -1 };
	struct chain c;
	int r;

	a.dir = xstrdup(dir);
	/* Not between a line and its head. */
	if ((r = open_files(&a, O_RDWR, e)) == 0) {
		(void)flock(a.fd, LOCK_SH);
		r = verify(&a, &c, ret_lines, note, note_size, e);
	}
	fd_close(&a.fd);
	fd_close(&a.head_fd);
	free(a.dir);
	return r;
}
