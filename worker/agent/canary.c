/* canary.c - see canary.h. */
#include "common/compat.h"

#include <sys/stat.h>

#include <fcntl.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "sandbox/policy/guard.h"
#include "worker/agent/canary.h"
#include "worker/agent/control.h"
#include "worker/agent/syntax.h"

#define FILES_MAX 32
#define FILE_MAX ((size_t)1 << 20)

static bool
read_base(int base_fd, const char *rel, struct buf *ret, struct stat *st)
{
	return fstatat(base_fd, rel, st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(st->st_mode) &&
	    file_read_at(base_fd, rel, true, ret, NULL) >= 0 && ret->len > 0 &&
	    memchr(buf_str(ret), '\0', ret->len) == NULL;
}

static bool
is_one(int base_fd, const char *rel)
{
	struct stat st;
	struct buf b;
	size_t at;
	bool yes;

	buf_init(&b, FILE_MAX);
	yes = !guard_is_setup(rel) && read_base(base_fd, rel, &b, &st) &&
	    canary_place(
		canary_lang(rel, buf_str(&b)), buf_str(&b), CANARY_HEAD, &at);
	buf_clear(&b);
	return yes;
}

/* By its path, or by its name alone behind a "cd". */
static bool
is_named(const struct agent *a, const char *rel)
{
	const char *name = path_base(rel);
	size_t i;

	for (i = 0; i < a->task->tests.n; i++) {
		if (strstr(a->task->tests.v[i], name) != NULL)
			return true;
	}
	return false;
}

bool
canary_find(const struct agent *a, int base_fd, struct canaries *ret)
{
	const struct strv *g = &a->fs.guarded;
	size_t i;

	*ret = (struct canaries){ .named = true };
	for (i = 0; i < g->n && ret->files.n < FILES_MAX; i++) {
		if (is_named(a, g->v[i]) && is_one(base_fd, g->v[i]))
			strv_add(&ret->files, g->v[i]);
	}
	if (ret->files.n > 0)
		return true;
	ret->named = false;
	for (i = 0; i < g->n && ret->files.n < FILES_MAX; i++) {
		if (is_one(base_fd, g->v[i]))
			strv_add(&ret->files, g->v[i]);
	}
	return ret->files.n > 0;
}

static bool
put(struct agent *a, const char *rel, const struct buf *old,
    const struct stat *st, enum canary_place where, const char *token)
{
	enum canary_lang lang = canary_lang(rel, buf_str(old));
	char why[400];
	struct buf b, text;
	size_t at;
	bool ok = canary_place(lang, buf_str(old), where, &at);

	buf_init(&b, FILE_MAX * 2);
	buf_init(&text, BUF_NOMAX);
	if (ok) {
		(void)buf_add(&b, buf_str(old), at);
		if (at > 0 && buf_str(old)[at - 1] != '\n')
			(void)buf_addc(&b, '\n');
		canary_text(lang, buf_str(old), &text);
		control_put(&b, buf_str(&text), token);
		(void)buf_add(&b, buf_str(old) + at, old->len - at);
		ok = control_write(a, rel, st, &b) >= 0 &&
		    syntax_check(a, rel, why, sizeof why);
	}
	buf_clear(&text);
	buf_clear(&b);
	return ok;
}

void
canary_plant(
    struct agent *a, int base_fd, enum canary_place where, struct canaries *c)
{
	char token[CONTROL_TOKEN_LEN + 1];
	struct strv left = { 0 };
	size_t i;

	strv_clear(&c->tokens);
	for (i = 0; i < c->files.n; i++) {
		const char *rel = c->files.v[i];
		struct stat st;
		struct buf old;
		bool ok;

		buf_init(&old, FILE_MAX);
		control_token(token);
		ok = read_base(base_fd, rel, &old, &st);
		if (ok && !put(a, rel, &old, &st, where, token) &&
		    (where == CANARY_HEAD ||
			!put(a, rel, &old, &st, CANARY_HEAD, token))) {
			(void)control_write(a, rel, &st, &old);
			ok = false;
		}
		if (ok) {
			strv_add(&left, rel);
			strv_add(&c->tokens, token);
		}
		buf_clear(&old);
	}
	strv_clear(&c->files);
	c->files = left;
}

static bool
has_failed(const struct test_run *t, const char *token)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		if (t->v[i].status != 0 && t->v[i].output.len > 0 &&
		    memmem(buf_str(&t->v[i].output), t->v[i].output.len, token,
			strlen(token)) != NULL)
			return true;
	}
	return false;
}

size_t
canary_seen(struct canaries *c, const struct test_run *t, bool drop)
{
	struct strv left = { 0 };
	size_t i, n = 0;

	for (i = 0; i < c->files.n; i++) {
		if (has_failed(t, c->tokens.v[i]))
			n++;
		else
			strv_add(&left, c->files.v[i]);
	}
	if (drop) {
		strv_clear(&c->files);
		c->files = left;
	} else {
		strv_clear(&left);
	}
	return n;
}

bool
canary_adds(const char *patch, size_t len, const char *const *words)
{
	const char *end = patch + len, *line, *next;
	size_t n, i;

	for (line = patch; line < end; line = next) {
		next = memchr(line, '\n', (size_t)(end - line));
		next = next != NULL ? next + 1 : end;
		n = (size_t)(next - line);
		if (*line != '+' || (n >= 4 && memcmp(line, "+++ ", 4) == 0))
			continue;
		for (i = 0; words[i] != NULL; i++) {
			if (memmem(line, n, words[i], strlen(words[i])) != NULL)
				return true;
		}
	}
	return false;
}

bool
canary_may_end(const char *patch, size_t len)
{
	static const char *const words[] = { "exit", "exec", "_ex", "abort",
		"kill", "syscall", "ctypes", "fork", "spawn", "quit", "signal",
		"jmp", "trap", "eval", "process.", "process[", "'process'",
		"\"process\"", "domain", "asm", "getattr", "globals",
		"builtins", "__import__", "importlib", "settrace", "Exit",
		"set -", "+$", "+\"$", NULL };

	return canary_adds(patch, len, words);
}

void
canary_clear(struct canaries *c)
{
	strv_clear(&c->files);
	strv_clear(&c->tokens);
}
