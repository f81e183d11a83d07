#include "common/compat.h"

#include "common/hash.h"
#include "common/log.h"
#include "common/text.h"
#include "orchestrator/repair/trace.h"
#include "orchestrator/repair/word.h"

#define MARK "/foray-trace-"
#define NONCE_BYTES 8
#define COMMAND_MAX 8192 /* of run_command */
#define LEAST_MS 2000
#define SLOWER 4 /* than without the tracer, at most */
#define WRITE_S 5
#define COPY_MAX_KB 20480

/* How the programs of a language are traced. */
struct way {
	unsigned dialects;
	struct {
		const char *script, *name;
	} file[3];
	size_t n_first;      /* so many files by a call of their own */
	bool copy;           /* always in a copy of the tree */
	const char *prepare; /* a row of its own */
	const char *before;  /* makes the test command find the tracer */
	const char *report;  /* writes the report, given the nonce */
};

static const struct way ways[] = {
	{ DIALECT_PY,
	    { { "trace.py", "sitecustomize.py" },
		{ "monitor.py", "foray_monitor.py" },
		{ "report.py", "report.py" } },
	    1, false, "",
	    "PYTHONPATH=\"$d${PYTHONPATH:+:$PYTHONPATH}\" "
	    "PYTHONDONTWRITEBYTECODE=1; "
	    "export PYTHONPATH PYTHONDONTWRITEBYTECODE",
	    "python3 -I -S \"$d/report.py\"" },
	{ DIALECT_JS,
	    { { "trace.js", "trace.js" }, { "report.js", "report.js" } }, 1,
	    false, "",
	    "NODE_OPTIONS=\"${NODE_OPTIONS:+$NODE_OPTIONS }"
	    "--require=$d/trace.js\"; export NODE_OPTIONS",
	    "NODE_OPTIONS= node \"$d/report.js\"" },
	{ DIALECT_C,
	    { { "hook.c", "hook.c" }, { "cc.sh", "cc.sh" },
		{ "gcov.sh", "gcov.sh" } },
	    2, true,
	    "mkdir \"$d/bin\" \"$d/t\" && cp \"$d/cc.sh\" \"$d/bin/cc\" && "
	    "cp \"$d/cc.sh\" \"$d/bin/gcc\" && cp \"$d/cc.sh\" \"$d/bin/c++\" && "
	    "cp \"$d/cc.sh\" \"$d/bin/g++\" && chmod -R +x \"$d/bin\" && "
	    "cc -c -o \"$d/hook.o\" \"$d/hook.c\" || exit 1\n",
	    "PATH=\"$d/bin:$PATH\" FORAY_TRACE=\"$d/t\" MAKEFLAGS=B; "
	    "export PATH FORAY_TRACE MAKEFLAGS",
	    "sh \"$d/gcov.sh\"" },
};

static const char *
script(const char *name)
{
	const struct trace_script *s = trace_scripts;

	while (strcmp(s->name, name) != 0) {
		s++;
		if (s->name == NULL)
			fatal("no tracer %s", name);
	}
	return s->text;
}

static const struct way *
find_way(unsigned dialect)
{
	for (size_t i = 0; i < nitems(ways); i++) {
		if (ways[i].dialects & dialect)
			return &ways[i];
	}
	return NULL;
}

/* The text with its own place for "$d": rules about paths can't judge what is
 * written below a variable. dir: NULL: it is only known there. */
static void
add_in(struct buf *b, const char *dir, const char *text)
{
	const char *p;

	for (; (p = strstr(text, "$d")) != NULL; text = p + 2) {
		(void)buf_add(b, text, (size_t)(p - text));
		(void)buf_adds(b, word_is_char(p[2]) ? "$d" : dir);
	}
	(void)buf_adds(b, text);
}

static void
add_file(struct buf *b, const char *dir, const char *name, const char *text,
    const char *nonce)
{
	add_in(b, dir, "cat >\"$d/");
	(void)buf_printf(
	    b, "%s\" <<'%s' && :\n%s%s\n", name, nonce, text, nonce);
}

static void
add_quoted(struct buf *b, const char *s)
{
	(void)buf_addc(b, '\'');
	for (; *s != '\0'; s++) {
		if (*s == '\'')
			(void)buf_adds(b, "'\\''");
		else
			(void)buf_addc(b, *s);
	}
	(void)buf_addc(b, '\'');
}

static void
add_place(struct buf *b, const char *dir)
{
	(void)buf_printf(b, "d=\"%s\"\n", dir);
}

/* Into a copy of the tree, when it is not too large for one. */
static void
add_copy(struct buf *b, const char *dir)
{
	(void)buf_printf(b, "test \"$(du -sk . | cut -f1)\" -le %d || exit 1\n",
	    COPY_MAX_KB);
	add_in(b, dir,
	    "mkdir \"$d/copy\" && cp -a . \"$d/copy\" && cd \"$d/copy\" || "
	    "exit 1\npwd >>\"$d/tree\"\n");
}

size_t
trace_commands(const char *test, enum token_dialect d, bool copy,
    const char *tmp, const char *nonce, char *ret[TRACE_MAX_CALLS])
{
	const struct way *w = find_way(d);
	struct buf a, b;
	char *dir;

	if (w == NULL)
		return 0;
	dir = xasprintf(
	    "%s%s%s", tmp != NULL ? tmp : "${TMPDIR:-/tmp}", MARK, nonce);
	buf_init(&a, COMMAND_MAX);
	add_place(&a, dir);
	add_in(&a, dir, "mkdir -m 700 \"$d\" && pwd >\"$d/tree\" && ");
	buf_init(&b, COMMAND_MAX);
	add_place(&b, dir);
	for (size_t i = 0; i < nitems(w->file) && w->file[i].name; i++)
		add_file(i < w->n_first ? &a : &b, dir, w->file[i].name,
		    script(w->file[i].script), nonce);
	if (copy || w->copy)
		add_copy(&b, dir);
	add_in(&b, dir, w->prepare);
	(void)buf_adds(&b, "(");
	add_in(&b, dir, w->before);
	(void)buf_adds(&b, "; sh -c ");
	add_quoted(&b, test);
	(void)buf_adds(&b, ") >/dev/null 2>&1 </dev/null\n");
	add_in(&b, dir, w->report);
	(void)buf_printf(&b, " %s\n", nonce);
	free(dir);
	if (a.len + 1 >= COMMAND_MAX || b.len + strlen(nonce) >= COMMAND_MAX) {
		buf_clear(&a);
		buf_clear(&b);
		return 0;
	}
	ret[0] = buf_detach(&a, NULL);
	ret[1] = buf_detach(&b, NULL);
	return 2;
}

/* Compiled by what writes counters; others of the dialect are not traced. */
static bool
is_c(const char *path)
{
	static const char *const ends[] = { ".c", ".h", ".cc", ".cpp", ".cxx",
		".hpp", ".hh" };

	for (size_t i = 0; i < nitems(ends); i++) {
		if (text_ends(path, ends[i]))
			return true;
	}
	return false;
}

/* Of most of what was read and is no test. */
static enum token_dialect
main_dialect(const struct reading *r)
{
	size_t bytes[DIALECT_SH + 1] = { 0 };
	enum token_dialect best = DIALECT_NONE, d;

	for (size_t i = 0; i < r->n_file; i++) {
		const struct reading_file *f = &r->file[i];

		if (f->test || f->failed || f->text.len == 0)
			continue;
		d = dialect_of(f->path, buf_str(&f->text), f->text.len);
		if (d == DIALECT_C && !is_c(f->path))
			d = DIALECT_NONE;
		bytes[d] += d != DIALECT_NONE ? f->text.len : 0;
		if (bytes[d] > bytes[best])
			best = d;
	}
	return best;
}

static void
call(json_t *reply, const json_t *conv, const char *command, uint64_t limit_s)
{
	dialog_call(reply, conv, "run_command",
	    json_pack("{s:s, s:I}", "command", command, "timeout_s",
		(json_int_t)limit_s));
}

size_t
trace_ask(json_t *reply, const json_t *conv, const struct facts *f,
    const struct reading *r)
{
	char nonce[2 * NONCE_BYTES + 1], *command[TRACE_MAX_CALLS];
	uint64_t limit_ms = LEAST_MS + SLOWER * f->test_ms;
	size_t n;

	if (f->tests.n == 0 || f->test_ms > TRACE_MAX_TEST_MS)
		return 0;
	hash_random_hex(nonce, NONCE_BYTES);
	n = trace_commands(
	    f->tests.v[0], main_dialect(r), !f->plan, f->tmp, nonce, command);
	for (size_t i = 0; i < n; i++) {
		call(reply, conv, command[i],
		    i + 1 < n ? WRITE_S : (limit_ms + 999) / 1000);
		free(command[i]);
	}
	return n;
}

/* The nonce of a command of ours, or NULL. */
static char *
nonce_of(const char *command)
{
	const char *p = strstr(command, MARK);
	size_t n;

	if (p == NULL)
		return NULL;
	p += strlen(MARK);
	n = strspn(p, "0123456789abcdef");
	return n == 2 * NONCE_BYTES ? xstrndup(p, n) : NULL;
}

void
trace_scan(struct trace *t, const json_t *conv)
{
	const json_t *msg;
	size_t i;

	*t = (struct trace){ 0 };
	json_array_foreach (conv, i, msg) {
		json_t *args;
		char *nonce = NULL;

		if (!dialog_is(msg, "tool"))
			continue;
		if (strcmp(dialog_answered(conv, i, &args), "run_command") == 0)
			nonce = nonce_of(dialog_str(args, "command"));
		json_decref(args);
		if (nonce == NULL)
			continue;
		t->asked = true;
		if (!t->found &&
		    spectrum_parse(
			&t->spectrum, dialog_str(msg, "content"), nonce) == 0)
			t->found = true;
		free(nonce);
	}
}

void
trace_clear(struct trace *t)
{
	spectrum_clear(&t->spectrum);
}
