/* control.c - see control.h. */
#include "common/compat.h"

#include <sys/stat.h>

#include <ctype.h>
#include <fcntl.h>

#include "common/fdio.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "worker/agent/control.h"

#define FILES_MAX 4
#define FILE_MAX ((size_t)1 << 20)

/* What is added; "@" becomes a word of its own, each line of statements one
 * test. */
struct way {
	const char *const *suffixes;
	const char *needs[2]; /* in the file: both, NULL for any */
	const char *head;     /* before them, once */
	const char *before;   /* each */
	const char *const *statements;
	const char *after;
	const char *foot;
};

static const char *const py[] = { ".py", NULL };
static const char *const js[] = { ".js", ".cjs", ".mjs", ".ts", ".mts", ".jsx",
	".tsx", NULL };
static const char *const go[] = { "_test.go", NULL };

static const char *const py_unittest[] = { "self.assertEqual([0], [1])",
	"self.assertTrue(False)", "self.assertFalse(True)",
	"self.assertIs(self, None)", "self.assertIsNone(self)",
	"self.assertIn(0, [])", "self.assertGreater(0, 1)",
	"self.assertNotEqual(1, 1)", "self.assertAlmostEqual(0, 1)",
	"self.assertRaises(ValueError, int, \"1\")", "self.fail(\"@\")",
	"raise AssertionError(\"@\")", NULL };
static const char *const py_pytest[] = { "assert [0] == [1]",
	"raise AssertionError(\"@\")", NULL };
static const char *const js_assert[] = { "assert.strictEqual(0, 1)",
	"throw new Error(\"@\")", NULL };
static const char *const js_expect[] = { "expect(0).toBe(1)",
	"throw new Error(\"@\")", NULL };
static const char *const js_throw[] = { "throw new Error(\"@\")", NULL };
static const char *const go_fatal[] = { "t.Fatal(\"@\")", NULL };

/* The first that fits. */
static const struct way ways[] = {
	{ py, { "TestCase", "unittest" },
	    "\n\nclass Test@(__import__(\"unittest\").TestCase):\n",
	    "    def test_@(self):\n        ", py_unittest, "\n", "\n\n" },
	{ py, { "def test_", NULL }, "\n\n", "def test_@():\n    ", py_pytest,
	    "\n\n\n", "" },
	{ js, { "test(", "assert.strictEqual(" }, "\n", "test(\"@\", () => { ",
	    js_assert, "; });\n", "" },
	{ js, { "test(", "expect(" }, "\n", "test(\"@\", () => { ", js_expect,
	    "; });\n", "" },
	{ js, { "it(", "expect(" }, "\n", "it(\"@\", () => { ", js_expect,
	    "; });\n", "" },
	{ js, { "it(", "assert.strictEqual(" }, "\n", "it(\"@\", () => { ",
	    js_assert, "; });\n", "" },
	{ js, { "test(", NULL }, "\n", "test(\"@\", () => { ", js_throw,
	    "; });\n", "" },
	{ js, { "it(", NULL }, "\n", "it(\"@\", () => { ", js_throw, "; });\n",
	    "" },
	{ go, { "func Test", "testing" }, "\n",
	    "func Test@(t *testing.T) {\n\t", go_fatal, "\n}\n\n", "" },
};

static bool
holds(const struct buf *b, const char *what)
{
	return what == NULL ||
	    memmem(buf_str(b), b->len, what, strlen(what)) != NULL;
}

static const struct way *
way_for(const char *rel, const struct buf *text)
{
	size_t i, k;

	for (i = 0; i < nitems(ways) && text->len > 0; i++) {
		const struct way *w = &ways[i];

		for (k = 0; w->suffixes[k] != NULL; k++) {
			if (text_ends(rel, w->suffixes[k]))
				break;
		}
		if (w->suffixes[k] != NULL && holds(text, w->needs[0]) &&
		    holds(text, w->needs[1]))
			return w;
	}
	return NULL;
}

/* Text with each "@" replaced. */
void
control_put(struct buf *b, const char *text, const char *token)
{
	size_t n;

	for (; *text != '\0'; text += n) {
		n = strcspn(text, "@");
		(void)buf_add(b, text, n);
		if (text[n] == '@') {
			(void)buf_adds(b, token);
			n++;
		}
	}
}

/* Letters only: a name in all of the languages. */
void
control_token(char token[CONTROL_TOKEN_LEN + 1])
{
	char hex[CONTROL_TOKEN_LEN * 2 + 1];
	size_t i;

	hash_random_hex(hex, CONTROL_TOKEN_LEN);
	for (i = 0; i < CONTROL_TOKEN_LEN; i++) {
		int d = hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10;

		token[i] = (char)((i == 0 ? 'A' : 'a') + d);
	}
	token[CONTROL_TOKEN_LEN] = '\0';
}

/* Where a Python script begins to run its tests, else the end. */
static size_t
place(const char *rel, const struct buf *text)
{
	const char *hit = NULL, *s = buf_str(text), *at = s;

	while (
	    text_ends(rel, ".py") && (at = strstr(at, "\nif __name__")) != NULL)
		hit = at++;
	return hit != NULL ? (size_t)(hit + 1 - s) : text->len;
}

static void
write_tests(const struct way *w, struct buf *b, struct strv *tokens)
{
	char token[CONTROL_TOKEN_LEN + 1];
	size_t i;

	control_token(token);
	control_put(b, w->head, token);
	for (i = 0; w->statements[i] != NULL; i++) {
		control_token(token);
		control_put(b, w->before, token);
		control_put(b, w->statements[i], token);
		control_put(b, w->after, token);
		strv_add(tokens, token);
	}
	control_put(b, w->foot, token);
}

/* Python tells its bytecode from that of the text before by mtime and size. */
int
control_write(struct agent *a, const char *rel, const struct stat *base,
    const struct buf *text)
{
	int64_t floor = (int64_t)base->st_mtime;
	struct stat now;

	if (fstatat(a->fs.root_fd, rel, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	    now.st_mtime > floor)
		floor = (int64_t)now.st_mtime;
	return treefs_put(a->fs.root_fd, rel, buf_str(text), text->len,
	    base->st_mode & 0777, floor, NULL);
}

static bool
plant(struct agent *a, int base_fd, const char *rel, struct control *c)
{
	struct buf old, new;
	struct stat st;
	size_t at;
	const struct way *w = NULL;
	bool ok = false;

	buf_init(&old, FILE_MAX);
	buf_init(&new, FILE_MAX * 2);
	if (fstatat(base_fd, rel, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(st.st_mode) &&
	    file_read_at(base_fd, rel, true, &old, NULL) >= 0)
		w = way_for(rel, &old);
	if (w != NULL) {
		at = place(rel, &old);
		(void)buf_add(&new, buf_str(&old), at);
		write_tests(w, &new, &c->tokens);
		(void)buf_add(&new, buf_str(&old) + at, old.len - at);
		ok = control_write(a, rel, &st, &new) >= 0;
	}
	if (ok)
		strv_add(&c->files, rel);
	buf_clear(&old);
	buf_clear(&new);
	return ok;
}

/* Does the name of a failing test speak of the file? By its stem. */
static bool
is_spoken_of(const struct msg_strs *names, const char *rel)
{
	char *stem = xstrndup(path_base(rel), strcspn(path_base(rel), "."));
	bool found = false;
	size_t i;

	for (i = 0; i < names->n && !found; i++)
		found = *stem != '\0' && strstr(names->v[i], stem) != NULL;
	free(stem);
	return found;
}

bool
control_plant(struct agent *a, int base_fd, struct control *ret)
{
	const struct strv *g = &a->fs.guarded;
	int pass;
	size_t i;

	*ret = (struct control){ 0 };
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < g->n && ret->files.n < FILES_MAX; i++) {
			if (strv_has(&ret->files, g->v[i]) ||
			    (pass == 0 &&
				!is_spoken_of(&a->task->failing, g->v[i])))
				continue;
			(void)plant(a, base_fd, g->v[i], ret);
		}
	}
	return ret->files.n > 0;
}

static bool
is_own(const struct control *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->tokens.n; i++) {
		if (strstr(name, c->tokens.v[i]) != NULL)
			return true;
	}
	return false;
}

size_t
control_failing(const struct control *c, const struct test_run *t)
{
	size_t i, j, k, n = 0;

	for (i = 0; i < c->tokens.n; i++) {
		bool found = false;

		for (j = 0; j < t->n && !found; j++) {
			const struct test_command *v = &t->v[j];

			for (k = 0; k < v->failed.n && !found; k++)
				found = strstr(v->failed.v[k],
					    c->tokens.v[i]) != NULL;
			if (!v->parsed && v->status != 0 && v->output.len > 0)
				found =
				    found || holds(&v->output, c->tokens.v[i]);
		}
		n += found;
	}
	return n;
}

const char *
control_other(const struct control *c, const struct test_run *t,
    const struct test_run *before, const struct msg_strs *flaky)
{
	size_t i, k, m;

	for (i = 0; i < t->n; i++) {
		for (k = 0; k < t->v[i].failed.n && t->v[i].parsed; k++) {
			const char *s = t->v[i].failed.v[k];
			bool may = is_own(c, s) || test_run_failed(before, s);

			for (m = 0; m < flaky->n && !may; m++)
				may = strcmp(flaky->v[m], s) == 0;
			if (!may)
				return s;
		}
	}
	return NULL;
}

void
control_clear(struct control *c)
{
	strv_clear(&c->files);
	strv_clear(&c->tokens);
}
