#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/num.h"
#include "common/path.h"
#include "orchestrator/store/audit.h"

#define HASH_KEY ",\"hash\":\""
/* What follows the hashed bytes: ,"hash":"<64>"} */
#define HASH_TAIL (sizeof HASH_KEY - 1 + HASH_HEX - 1 + 2)
#define MAX_LINE (256u << 10)

struct audit {
	struct store *store;
	int fd;
	uint64_t n;
	char head[HASH_HEX];
};

static void
zero_head(char head[HASH_HEX])
{
	memset(head, '0', HASH_HEX - 1);
	head[HASH_HEX - 1] = '\0';
}

static int
save_head(struct audit *a, struct err *e)
{
	char text[HASH_HEX + 32];

	(void)snprintf(text, sizeof text, "%" PRIu64 " %s", a->n, a->head);
	return store_set(a->store, "audit_head", text, e);
}

/* "N HASH" from run.db; an absent head is the empty chain. */
static int
load_head(struct store *s, uint64_t *ret_n, char head[HASH_HEX], struct err *e)
{
	char *text = store_get(s, "audit_head"), *space;
	int r = 0;

	*ret_n = 0;
	zero_head(head);
	if (text == NULL)
		return 0;
	space = strchr(text, ' ');
	if (space == NULL || strlen(space + 1) != HASH_HEX - 1) {
		r = err_set(e, ERR_SYNTAX,
		    "the head of the audit chain in run.db can't be read");
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
	if (a->fd >= 0)
		(void)fsync(a->fd);
	fd_close(&a->fd);
	free(a);
}

static void
hex_of(const char *p, size_t len, char ret[HASH_HEX])
{
	unsigned char h[HASH_LEN];

	hash_bytes(p, len, h);
	hash_hex(h, ret);
}

int
audit_write(struct audit *a, double t, const char *worker, const char *act,
    const char *subject, const char *detail, const char *verdict, struct err *e)
{
	char hash[HASH_HEX];
	json_t *line, *more = NULL;
	struct buf b;
	char *text;
	int r;

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
	text = json_text(line);
	json_decref(line);
	buf_init(&b, MAX_LINE * 2);
	/* Without the closing brace, which comes back after the hash. */
	r = buf_add(&b, text, strlen(text) - 1);
	free(text);
	hex_of(buf_str(&b), b.len, hash);
	if (r == 0)
		r = buf_printf(&b, HASH_KEY "%s\"}\n", hash);
	if (r == 0)
		r = fd_write_all(a->fd, b.data, b.len);
	buf_clear(&b);
	if (r < 0)
		return err_set(e, r, "%s/audit.jsonl: %s", store_dir(a->store),
		    err_str(r));
	a->n++;
	memcpy(a->head, hash, sizeof hash);
	return save_head(a, e);
}

/* One line without its newline. Sets hash to its own. */
static int
check_line(const char *p, size_t len, uint64_t n, const char *prev,
    char hash[HASH_HEX], struct err *e)
{
	const char *tail, *want;
	json_t *j = NULL;
	uint64_t got;
	int r = 0;

	if (len < HASH_TAIL || len > MAX_LINE * 2)
		return err_set(e, ERR_DENIED,
		    "line %" PRIu64 " was changed: it is no line of the chain",
		    n);
	tail = p + len - HASH_TAIL;
	hex_of(p, (size_t)(tail - p), hash);
	if (strncmp(tail, HASH_KEY, sizeof HASH_KEY - 1) != 0 ||
	    memcmp(tail + sizeof HASH_KEY - 1, hash, HASH_HEX - 1) != 0 ||
	    memcmp(p + len - 2, "\"}", 2) != 0)
		return err_set(e, ERR_DENIED,
		    "line %" PRIu64 " was changed: its hash does not fit", n);
	if (json_parse(p, len, MAX_LINE * 2, &j, NULL) < 0 ||
	    json_get_str(j, "prev", true, &want, NULL) < 0 ||
	    json_get_u64(j, "n", 0, UINT64_MAX, &got, NULL) < 0)
		r = err_set(e, ERR_DENIED,
		    "line %" PRIu64 " was changed: it can't be read", n);
	else if (strcmp(want, prev) != 0 || got != n)
		r = err_set(e, ERR_DENIED,
		    "line %" PRIu64 " does not follow the line before it: "
		    "lines were removed, added or moved here",
		    n);
	json_decref(j);
	return r;
}

struct chain {
	uint64_t want, n; /* lines that run.db knows of, lines in the file */
	char head[HASH_HEX], last[HASH_HEX];
	size_t used, rest; /* bytes of whole lines, and of a torn one */
};

/* Every whole line against the one before it and against run.db. */
static int
check_lines(struct chain *c, const char *p, size_t size, struct err *e)
{
	char prev[HASH_HEX];
	const char *nl;
	size_t len;
	int r;

	while ((nl = memchr(p + c->used, '\n', size - c->used)) != NULL) {
		len = (size_t)(nl - (p + c->used));
		memcpy(prev, c->last, sizeof prev);
		c->n++;
		if ((r = check_line(p + c->used, len, c->n, prev, c->last, e)) <
		    0)
			return r;
		c->used += len + 1;
		if (c->n == c->want && strcmp(c->last, c->head) != 0)
			return err_set(e, ERR_DENIED,
			    "line %" PRIu64 " was changed: the head in run.db "
			    "does not fit it",
			    c->n);
	}
	c->rest = size - c->used;
	if (c->n < c->want)
		return err_set(e, ERR_DENIED,
		    "line %" PRIu64 " is missing: run.db knows %" PRIu64
		    " lines, the file has %" PRIu64,
		    c->n + 1, c->want, c->n);
	if (c->n > c->want + 1)
		return err_set(e, ERR_DENIED,
		    "line %" PRIu64 " is not known to run.db: lines were added",
		    c->want + 2);
	return 0;
}

static int
read_chain(struct store *s, struct chain *c, struct err *e)
{
	char *path = path_join(store_dir(s), "audit.jsonl");
	struct buf b;
	int r;

	*c = (struct chain){ 0 };
	zero_head(c->last);
	buf_init(&b, (size_t)4 << 30);
	if ((r = load_head(s, &c->want, c->head, e)) == 0 &&
	    (r = file_read(path, true, &b, e)) == 0)
		r = check_lines(c, buf_str(&b), b.len, e);
	buf_clear(&b);
	free(path);
	return r;
}

int
audit_verify(struct store *s, uint64_t *ret_lines, char *note, size_t note_size,
    struct err *e)
{
	struct chain c;
	int r = read_chain(s, &c, e);

	note[0] = '\0';
	if (r == 0 && c.rest > 0)
		(void)snprintf(note, note_size,
		    "a torn line of %zu bytes at the end (a crash)", c.rest);
	else if (r == 0 && c.n == c.want + 1)
		(void)snprintf(note, note_size,
		    "line %" PRIu64 " was written as the run was killed", c.n);
	*ret_lines = c.n;
	return r;
}

/* A chain that a crash left: a torn line goes, a whole one that run.db had not
 * learnt of is taken. */
static int
carry_on(struct audit *a, struct err *e)
{
	struct chain c;
	int r;

	if ((r = read_chain(a->store, &c, e)) < 0)
		return err_prefix(e, "the audit chain");
	if (c.rest > 0 && ftruncate(a->fd, (off_t)c.used) < 0)
		return err_set(e, -errno, "audit: %s", strerror(errno));
	a->n = c.n;
	memcpy(a->head, c.last, sizeof a->head);
	return save_head(a, e);
}

int
audit_open(struct store *s, struct audit **ret, struct err *e)
{
	struct audit *a = xcalloc(1, sizeof *a);
	char *path = path_join(store_dir(s), "audit.jsonl");
	int r;

	a->store = s;
	a->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
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
