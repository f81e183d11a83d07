/* signs.c - see signs.h. */
#include "common/compat.h"

#include <ctype.h>
#include <stdio.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/policy/guard.h"
#include "worker/agent/signs.h"

#define SIGNS_MAX 16
#define FILE_MAX ((size_t)4 << 20)
#define SETUP_MAX 64 /* protected files looked into for what they read */

enum lang {
	PY = 1,
	JS = 2,
	C = 4,
	SH = 8,
	GO = 16,
	RS = 32,
	MK = 64,
	CONF = 128,
	CODE = PY | JS | C | SH | GO | RS
};

enum weight {
	GRAVE,
	LIGHT,
	EXIT
};

#define ASKS "asks whether tests run"
#define CALLS "looks at who calls it"
#define ENDS "ends the process as if all were well"
#define EARLY "runs before main() or after it"
#define ASSERTS "changes what asserts do"
#define EQUAL "is equal to everything"
#define RESULT "prints what a test runner would"
#define LOADS "changes what is loaded into programs"
#define BUILD "changes how the tests are built or run"
#define FRAMEWORK "brings the test framework into the source"

/* A line with all words of mark (between blanks of two), in any of these
 * languages. "?test" stands for a word of tests: see has_test(). */
struct rule {
	unsigned langs;
	enum weight weight;
	const char *mark, *also;
	const char *what;
};

static const struct rule rules[] = {
	{ CODE, GRAVE, "PYTEST_CURRENT_TEST", NULL, ASKS },
	{ CODE, GRAVE, "NODE_TEST_CONTEXT", NULL, ASKS },
	{ CODE, GRAVE, "JEST_WORKER_ID", NULL, ASKS },
	{ PY, GRAVE, "sys.modules", "?test", ASKS },
	{ PY, GRAVE, "sys.argv", "?test", ASKS },
	{ PY, GRAVE, "environ", "?test", ASKS },
	{ PY | C | GO, GRAVE, "getenv", "?test", ASKS },
	{ PY | C | JS | GO | SH, GRAVE, "/proc/self/cmdline", NULL, ASKS },
	{ PY | C | JS, GRAVE, "getppid", NULL, ASKS },
	{ JS, GRAVE, "process.env", "?test", ASKS },
	{ JS, GRAVE, "process.argv", "?test", ASKS },
	{ JS, GRAVE, "process.ppid", NULL, ASKS },
	{ JS, GRAVE, "require.main", "?test", ASKS },
	{ JS, GRAVE, "typeof describe", NULL, ASKS },
	{ JS, GRAVE, "typeof jest", NULL, ASKS },
	{ C, GRAVE, "program_invocation", "?test", ASKS },
	{ SH, GRAVE, "$0", "?test", ASKS },
	{ SH, GRAVE, "PPID", NULL, ASKS },
	{ GO, GRAVE, "testing.Testing()", NULL, ASKS },
	{ GO, GRAVE, "flag.Lookup(\"test.", NULL, ASKS },
	{ GO, GRAVE, "os.Args", "?test", ASKS },
	{ RS, GRAVE, "cfg!(test)", NULL, ASKS },
	{ PY, GRAVE, "inspect.stack", NULL, CALLS },
	{ PY, GRAVE, "inspect.currentframe", NULL, CALLS },
	{ PY, GRAVE, "sys._getframe", NULL, CALLS },
	{ PY, GRAVE, "traceback.extract_stack", NULL, CALLS },
	{ PY, GRAVE, "traceback.format_stack", NULL, CALLS },
	{ JS, GRAVE, "new Error().stack", NULL, CALLS },
	{ PY, EXIT, "os._exit(", NULL, ENDS },
	{ PY, EXIT, "os.kill(os.getpid()", NULL, ENDS },
	{ PY, EXIT, "sys.exit(0", NULL, ENDS },
	{ PY, EXIT, "sys.exit()", NULL, ENDS },
	{ PY, EXIT, "SystemExit", NULL, ENDS },
	{ PY, EXIT, "atexit", NULL, EARLY },
	{ JS, EXIT, "process.exit(", NULL, ENDS },
	{ JS, EXIT, "process.reallyExit", NULL, ENDS },
	{ JS, EXIT, "process.exitCode", "0", ENDS },
	{ C, EXIT, "exit(0)", NULL, ENDS },
	{ C, EXIT, "_Exit(0)", NULL, ENDS },
	{ C, EXIT, "exit(EXIT_SUCCESS)", NULL, ENDS },
	{ C, EXIT, "atexit(", NULL, EARLY },
	{ C, GRAVE, "__attribute__", "constructor", EARLY },
	{ C, GRAVE, "__attribute__", "destructor", EARLY },
	{ C, GRAVE, ".init_array", NULL, EARLY },
	{ SH, EXIT, "exit 0", NULL, ENDS },
	{ SH, EXIT, "trap ", "exit", EARLY },
	{ GO, EXIT, "os.Exit(0)", NULL, ENDS },
	{ RS, EXIT, "process::exit(0)", NULL, ENDS },
	{ PY, GRAVE, "TestCase.", "=", ASSERTS },
	{ PY, GRAVE, "setattr(unittest", NULL, ASSERTS },
	{ PY, GRAVE, "setattr(builtins", NULL, ASSERTS },
	{ PY, GRAVE, "builtins.", " = ", ASSERTS },
	{ PY, LIGHT, "import unittest", NULL, FRAMEWORK },
	{ PY, LIGHT, "from unittest", NULL, FRAMEWORK },
	{ PY, LIGHT, "import pytest", NULL, FRAMEWORK },
	{ PY, LIGHT, "from pytest", NULL, FRAMEWORK },
	{ PY, LIGHT, "_pytest", NULL, FRAMEWORK },
	{ JS, LIGHT, "node:test", NULL, FRAMEWORK },
	{ JS, GRAVE, "assert.", " = ", ASSERTS },
	{ JS, GRAVE, "expect.extend", NULL, ASSERTS },
	{ C, GRAVE, "#undef assert", NULL, ASSERTS },
	{ C, GRAVE, "#define assert", NULL, ASSERTS },
	{ C, GRAVE, "#define NDEBUG", NULL, ASSERTS },
	{ C, GRAVE, "#define main", NULL, ASSERTS },
	{ C, GRAVE, "#define return", NULL, ASSERTS },
	{ C, GRAVE, "#define if", NULL, ASSERTS },
	{ PY, GRAVE, "__eq__", "True", EQUAL },
	{ CODE, GRAVE, " ... ok", NULL, RESULT },
	{ CODE, GRAVE, "Ran ", " test", RESULT },
	{ CODE, GRAVE, " passed in ", NULL, RESULT },
	{ CODE, GRAVE, "test result: ok", NULL, RESULT },
	{ CODE, GRAVE, "--- PASS", NULL, RESULT },
	{ CODE, GRAVE, "<testsuite", NULL, RESULT },
	{ CODE, GRAVE, "# pass ", NULL, RESULT },
	{ CODE, GRAVE, "\"ok 1", NULL, RESULT },
	{ CODE, GRAVE, "'ok 1", NULL, RESULT },
	{ CODE | MK | CONF, GRAVE, "LD_PRELOAD", NULL, LOADS },
	{ CODE | MK | CONF, GRAVE, "PYTHONSTARTUP", NULL, LOADS },
	{ CODE | MK | CONF, GRAVE, "PYTEST_ADDOPTS", NULL, LOADS },
	{ CODE | MK | CONF, GRAVE, "PYTEST_PLUGINS", NULL, LOADS },
	{ CODE | MK | CONF, GRAVE, "NODE_OPTIONS", NULL, LOADS },
	{ CODE | MK | CONF, GRAVE, "BASH_ENV", NULL, LOADS },
	{ CODE | MK | CONF, LIGHT, "PYTHONPATH", NULL, LOADS },
	{ CODE | MK | CONF, LIGHT, "LD_LIBRARY_PATH", NULL, LOADS },
	{ MK, GRAVE, ".DEFAULT_GOAL", NULL, BUILD },
	{ MK, GRAVE, ".SHELLFLAGS", NULL, BUILD },
	{ MK, GRAVE, "MAKEFLAGS", NULL, BUILD },
	{ MK, EXIT, "CC", "=", BUILD },
};

struct scan {
	const struct agent *a;
	int base_fd;
	struct signs *ret;
	struct strv removed; /* sorted: lines that the patch takes out */
	char path[4097];     /* of the file now; "" when it is none of ours */
	unsigned langs;
	unsigned mode; /* of a new file, else 0 */
	struct buf base;
	bool has_base;
	bool in_eq; /* the line before begins __eq__ */
	unsigned long line;
};

/* --- files --------------------------------------------------------------- */

struct suffix {
	const char *name;
	unsigned lang;
};

static const struct suffix suffixes[] = { { ".py", PY }, { ".pyw", PY },
	{ ".pyi", PY }, { ".js", JS }, { ".cjs", JS }, { ".mjs", JS },
	{ ".jsx", JS }, { ".ts", JS }, { ".tsx", JS }, { ".mts", JS },
	{ ".vue", JS }, { ".c", C }, { ".h", C }, { ".cc", C }, { ".cpp", C },
	{ ".cxx", C }, { ".hpp", C }, { ".hh", C }, { ".sh", SH },
	{ ".bash", SH }, { ".go", GO }, { ".rs", RS }, { ".mk", MK },
	{ ".mak", MK }, { ".make", MK }, { ".toml", CONF }, { ".ini", CONF },
	{ ".cfg", CONF }, { ".yml", CONF }, { ".yaml", CONF },
	{ ".env", CONF } };

static unsigned
lang_of(const struct scan *s)
{
	const char *name = path_base(s->path);
	size_t i;

	for (i = 0; i < nitems(suffixes); i++) {
		if (text_ends(name, suffixes[i].name))
			return suffixes[i].lang;
	}
	if (strncasecmp(name, "makefile", 8) == 0)
		return MK;
	if (s->has_base && s->base.len > 2 &&
	    memcmp(buf_str(&s->base), "#!", 2) == 0)
		return memmem(buf_str(&s->base),
			   strcspn(buf_str(&s->base), "\n"), "python",
			   6) != NULL
		    ? PY
		    : SH;
	return (s->mode & 0111) != 0 ? SH : 0;
}

/* "b/src/a.c", perhaps quoted; with odd bytes it stays as it is written. */
static void
begin_file(struct scan *s, const char *name, size_t len)
{
	if (len > 0 && *name == '"') {
		name++;
		len -= 1 + (len > 1 && name[len - 2] == '"');
	}
	if (len > 2 && memcmp(name, "b/", 2) == 0) {
		name += 2;
		len -= 2;
	}
	if (len >= sizeof s->path)
		len = 0;
	memcpy(s->path, name, len);
	s->path[len] = '\0';
	buf_clear(&s->base);
	buf_init(&s->base, FILE_MAX);
	s->has_base = len > 0 &&
	    file_read_at(s->base_fd, s->path, true, &s->base, NULL) >= 0;
	s->langs = guard_is_builtin(s->path) ? 0 : lang_of(s);
	s->in_eq = false;
}

/* --- lines --------------------------------------------------------------- */

static const char *
find(const char *s, size_t len, const char *what)
{
	return memmem(s, len, what, strlen(what));
}

/* A word that begins with "test", or the name of a runner. */
static bool
has_test(const char *s, size_t len)
{
	static const char *const names[] = { "unittest", "pytest", "jest",
		"mocha", "vitest", "nose" };
	size_t i;

	for (i = 0; i < nitems(names); i++) {
		if (find(s, len, names[i]) != NULL)
			return true;
	}
	for (i = 0; i + 4 <= len; i++) {
		if (strncasecmp(s + i, "test", 4) == 0 &&
		    (i == 0 || !isalpha((unsigned char)s[i - 1])))
			return true;
	}
	return false;
}

static bool
is_comment(const struct scan *s, const char *p, size_t len)
{
	while (len > 0 && (*p == ' ' || *p == '\t')) {
		p++;
		len--;
	}
	if (len == 0)
		return true;
	if (s->langs & (PY | SH | MK | CONF))
		return *p == '#';
	return (len > 1 && *p == '/' && (p[1] == '/' || p[1] == '*')) ||
	    (*p == '*' && (len == 1 || p[1] == ' ' || p[1] == '/'));
}

static int
cmp_str(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool
is_moved(const struct scan *s, const char *p, size_t len)
{
	char *text = xstrndup(p, len);
	bool moved = s->removed.n > 0 &&
	    bsearch(&text, s->removed.v, s->removed.n, sizeof(char *),
		cmp_str) != NULL;

	free(text);
	return moved;
}

static void
add(struct scan *s, enum weight weight, const char *what, const char *p,
    size_t len)
{
	struct signs *r = s->ret;
	struct strv *to = weight == GRAVE ? &r->grave : &r->light;
	char *text;

	if (to->n >= SIGNS_MAX || is_moved(s, p, len))
		return;

	while (len > 0 && (*p == ' ' || *p == '\t')) {
		p++;
		len--;
	}
	text = xasprintf("%.300s:%lu %s: %.*s", s->path, s->line, what,
	    (int)text_cut(p, len, 120), p);
	strv_add(to, text);
	if (weight == EXIT)
		strv_add(&r->exits, text);
	free(text);
}

/* "def __eq__(...):" and then nothing but "return True". */
static bool
is_all_equal(struct scan *s, const char *p, size_t len)
{
	bool was = s->in_eq;

	while (len > 0 && (*p == ' ' || *p == '\t')) {
		p++;
		len--;
	}
	s->in_eq = (s->langs & PY) && find(p, len, "def __eq__") != NULL;
	return was && len >= 11 && memcmp(p, "return True", 11) == 0;
}

static bool
is_target(const char *p, size_t len, const char *name)
{
	size_t n = strlen(name);

	if (len <= n || memcmp(p, name, n) != 0)
		return false;
	while (n < len &&
	    (isalnum((unsigned char)p[n]) || p[n] == '-' || p[n] == '_' ||
		p[n] == '/' || p[n] == ' '))
		n++;
	return n < len && p[n] == ':' && (n + 1 == len || p[n + 1] != '=');
}

static void
added(struct scan *s, const char *p, size_t len)
{
	size_t i;

	if (s->langs == 0 || is_comment(s, p, len))
		return;
	if (is_all_equal(s, p, len))
		add(s, GRAVE, EQUAL, p, len);
	if ((s->langs & MK) &&
	    (is_target(p, len, "check") || is_target(p, len, "test")))
		add(s, GRAVE, BUILD, p, len);
	for (i = 0; i < nitems(rules); i++) {
		const struct rule *r = &rules[i];

		if ((r->langs & s->langs) == 0 || find(p, len, r->mark) == NULL)
			continue;
		if (r->also != NULL &&
		    (strcmp(r->also, "?test") == 0
			    ? !has_test(p, len)
			    : find(p, len, r->also) == NULL))
			continue;
		if (s->has_base && s->base.len > 0 &&
		    find(buf_str(&s->base), s->base.len, r->mark) != NULL)
			continue;
		add(s, r->weight, r->what, p, len);
		return;
	}
}

/* --- what protected files read ------------------------------------------- */

/* Does a line include or source a file of that name? */
static bool
line_reads(const char *p, size_t len, const char *name)
{
	static const char *const words[] = { "include ", "-include ",
		"sinclude ", ". ", "source " };
	const char *hit = find(p, len, name);
	size_t i, n = strlen(name);

	if (hit == NULL ||
	    (hit > p && hit[-1] != ' ' && hit[-1] != '/' && hit[-1] != '"' &&
		hit[-1] != '\''))
		return false;
	if (hit + n < p + len && !strchr(" \t\"';)&|", hit[n]))
		return false;
	for (i = 0; i < nitems(words); i++) {
		if (find(p, len, words[i]) != NULL)
			return true;
	}
	return false;
}

/* The protected file that reads a new one, or NULL. */
static const char *
reader_of(const struct scan *s, const char *rel)
{
	const struct strv *g = &s->a->fs.guarded;
	const char *name = path_base(rel), *p, *nl, *found = NULL;
	size_t i, looked = 0;
	struct buf b;

	for (i = 0; i < g->n && looked < SETUP_MAX && found == NULL; i++) {
		if (!guard_is_setup(g->v[i]) && !text_ends(g->v[i], ".sh"))
			continue;
		looked++;
		buf_init(&b, FILE_MAX);
		if (file_read_at(s->base_fd, g->v[i], true, &b, NULL) < 0)
			(void)buf_clear(&b);
		for (p = b.len > 0 ? buf_str(&b) : ""; *p != '\0'; p = nl) {
			nl = p + strcspn(p, "\n");
			if (line_reads(p, (size_t)(nl - p), name))
				found = g->v[i];
			nl += *nl == '\n';
		}
		buf_clear(&b);
	}
	return found;
}

/* What a new file is by its name alone. */
static void
new_file(struct scan *s)
{
	const char *what, *by;

	if (s->path[0] == '\0' || s->has_base || guard_is_builtin(s->path) ||
	    s->ret->grave.n >= SIGNS_MAX)
		return;
	if ((what = signs_shadow(s->base_fd, s->path, s->mode)) != NULL)
		strv_addf(&s->ret->grave, "%.300s %s", s->path, what);
	else if ((by = reader_of(s, s->path)) != NULL)
		strv_addf(&s->ret->grave, "%.300s is new, and %.300s reads it",
		    s->path, by);
}

/* --- the patch ----------------------------------------------------------- */

typedef void line_fn(struct scan *s, const char *p, size_t len);

static void
removed(struct scan *s, const char *p, size_t len)
{
	if (len > 0)
		strv_addn(&s->removed, p, len);
}

/* Each line that is added or taken out, with its file and number. */
static void
walk(struct scan *s, const char *p, size_t left, line_fn *plus, line_fn *minus)
{
	unsigned long old = 0, new = 0, from, n_old, to, n_new;
	size_t len;
	char head[96];

	s->path[0] = '\0';
	for (; left > 0; p += len, left -= len) {
		const char *nl = memchr(p, '\n', left);
		size_t n = nl != NULL ? (size_t)(nl - p) : left;

		len = n + (nl != NULL);
		if (old > 0 || new > 0) {
			char c = n > 0 ? *p : ' ';

			if (c == '\\')
				continue;
			if (c == '+' && plus != NULL && n > 0)
				plus(s, p + 1, n - 1);
			if (c == '-' && minus != NULL)
				minus(s, p + 1, n - 1);
			s->line += c != '-';
			new -= c != '-' && new > 0;
			old -= c != '+' && old > 0;
			continue;
		}
		if (n > 4 && memcmp(p, "+++ ", 4) == 0) {
			begin_file(s, p + 4,
			    strnlen(p + 4, n - 4) < n - 4 ? 0 : n - 4);
			if (s->mode != 0 && plus != NULL)
				new_file(s);
		} else if (n > 11 && memcmp(p, "diff --git ", 11) == 0) {
			s->mode = 0;
			s->path[0] = '\0';
			s->langs = 0;
		}
		(void)strlcpy(
		    head, p, n + 1 < sizeof head ? n + 1 : sizeof head);
		if (sscanf(head, "new file mode %o", &s->mode) == 1)
			continue;
		n_old = n_new = 1;
		if (sscanf(head, "@@ -%lu,%lu +%lu,%lu @@", &from, &n_old, &to,
			&n_new) == 4 ||
		    sscanf(head, "@@ -%lu,%lu +%lu @@", &from, &n_old, &to) ==
			3 ||
		    sscanf(head, "@@ -%lu +%lu,%lu @@", &from, &to, &n_new) ==
			3 ||
		    sscanf(head, "@@ -%lu +%lu @@", &from, &to) == 2) {
			old = n_old;
			new = n_new;
			s->line = to;
		}
	}
}

void
signs_find(const struct agent *a, int base_fd, const char *patch, size_t len,
    struct signs *ret)
{
	struct scan s = { .a = a, .base_fd = base_fd, .ret = ret };

	*ret = (struct signs){ 0 };
	buf_init(&s.base, FILE_MAX);
	walk(&s, patch, len, NULL, removed);
	strv_sort(&s.removed);
	walk(&s, patch, len, added, NULL);
	buf_clear(&s.base);
	strv_clear(&s.removed);
}

void
signs_clear(struct signs *s)
{
	strv_clear(&s->grave);
	strv_clear(&s->light);
	strv_clear(&s->exits);
}
