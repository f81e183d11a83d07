/* canary_place.c - where a statement can stand in a test file, and which; see
 * canary.h. Lines that begin at the margin are what a file does by itself: that
 * is enough of the languages here, and what was planted is parsed later. */
#include "common/compat.h"

#include <ctype.h>

#include "common/log.h"
#include "common/text.h"
#include "worker/agent/canary.h"

static bool
starts(const char *p, const char *what)
{
	return strncmp(p, what, strlen(what)) == 0;
}

static bool
is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* One of the words, with no letter behind it. */
static bool
starts_any(const char *p, const char *const *words)
{
	for (; *words != NULL; words++) {
		size_t n = strlen(*words);

		if (starts(p, *words) &&
		    (!is_name((*words)[n - 1]) || !is_name(p[n])))
			return true;
	}
	return false;
}

static const char *
next_line(const char *p)
{
	p += strcspn(p, "\n");
	return *p == '\n' ? p + 1 : p;
}

/* The last byte of the line that is no blank; ' ' for none. */
static char
last_byte(const char *p)
{
	size_t n = strcspn(p, "\n");

	while (n > 0 && isspace((unsigned char)p[n - 1]))
		n--;
	return n > 0 ? p[n - 1] : ' ';
}

enum canary_lang
canary_lang(const char *rel, const char *text)
{
	if (text_ends(rel, ".py") ||
	    (starts(text, "#!") &&
		memmem(text, strcspn(text, "\n"), "python", 6) != NULL))
		return CANARY_PY;
	if (text_ends(rel, ".js") || text_ends(rel, ".cjs") ||
	    text_ends(rel, ".mjs"))
		return CANARY_JS;
	if (text_ends(rel, ".c") || text_ends(rel, ".cc") ||
	    text_ends(rel, ".cpp"))
		return CANARY_C;
	if (text_ends(rel, ".sh") || text_ends(rel, ".bash") ||
	    (starts(text, "#!") &&
		memmem(text, strcspn(text, "\n"), "sh", 2) != NULL))
		return CANARY_SH;
	return CANARY_NONE;
}

/* --- behind the imports --------------------------------------------------- */

static const char *const py_imports[] = { "import ", "from ", NULL };
static const char *const js_imports[] = { "const ", "let ", "var ", "import ",
	"require(", "} from ", "} = ", NULL };
static const char *const sh_imports[] = { ". ", "source ", NULL };

static bool
is_import(enum canary_lang lang, const char *p)
{
	size_t n = strcspn(p, "\n");

	if (lang == CANARY_PY)
		return starts_any(p, py_imports);
	if (lang == CANARY_SH)
		return starts_any(p, sh_imports);
	return starts_any(p, js_imports) &&
	    strchr(";)\"'", last_byte(p)) != NULL &&
	    (starts(p, "import ") || memmem(p, n, "require(", 8) != NULL ||
		memmem(p, n, " from ", 6) != NULL);
}

static bool
c_main(const char *text, size_t *ret)
{
	const char *p = text;

	for (; *p != '\0'; p = next_line(p)) {
		if (!starts(p, "int main") && !starts(p, "main("))
			continue;
		p += strcspn(p, "{");
		*ret = (size_t)(p - text) + 1;
		return *p == '{';
	}
	return false;
}

static bool
head(enum canary_lang lang, const char *text, size_t *ret)
{
	const char *p, *end = NULL;

	if (lang == CANARY_C)
		return c_main(text, ret);
	for (p = text; *p != '\0'; p = next_line(p)) {
		const char *q = p;

		if (!is_import(lang, p))
			continue;
		/* "from a import (", "import a, \" */
		if (lang == CANARY_PY && last_byte(p) == '(')
			while (*q != '\0' && *q != ')')
				q = next_line(q);
		while (lang != CANARY_JS && last_byte(q) == '\\')
			q = next_line(q);
		end = next_line(q);
		p = q; /* nothing twice: an import may never end */
	}
	if (end == NULL && lang == CANARY_SH) {
		for (end = text; *end == '#' || *end == '\n';)
			end = next_line(end);
	}
	if (end == NULL)
		return false;
	*ret = (size_t)(end - text);
	return true;
}

/* --- the end -------------------------------------------------------------- */

/* Lines at the margin that go on with a statement. */
static const char *const goes_on[] = { "else", "elif", "except", "finally",
	"catch", "fi", "done", "esac", "then", "do", ")", "]", "}", "#", "//",
	"*", "/*", ".", "?", ":", ";", "\"\"\"", "'''", "|", "&&", NULL };
/* A last statement that does not end the process. */
static const char *const harmless[] = { "print(", "print ", "console.log(",
	"echo ", "printf ", "assert ", "assert(", "assert.", "test ", "[ ",
	"expect(", NULL };

static bool
is_begin(const char *text, const char *p)
{
	const char *prev = p;

	if (*p == '\0' || isspace((unsigned char)*p) || starts_any(p, goes_on))
		return false;
	while (prev > text && isspace((unsigned char)prev[-1]))
		prev--;
	return prev == text || strchr("\\|&,([{", prev[-1]) == NULL;
}

/* "if __name__ ..." whose body goes on behind what it calls. */
static bool
is_plain_main(const char *p)
{
	return starts(p, "if __name__") && strstr(p, "exit") == NULL &&
	    strstr(p, "Exit") == NULL && strstr(p, "unittest") == NULL &&
	    strstr(p, ".main(") == NULL;
}

/* Before at, may the process end as if all were well? exit(1) and "exit 1" are
 * no such end, nor is a word that is part of another. */
static bool
may_end(enum canary_lang lang, const char *text, size_t at)
{
	static const char *const words[] = { "exit", "Exit", "quit", "exec",
		"abort" };
	const char *hit, *q;
	size_t i;

	for (i = 0; i < nitems(words); i++) {
		size_t n = strlen(words[i]);

		for (hit = text; (hit = strstr(hit, words[i])) != NULL &&
		     (size_t)(hit - text) < at;
		     hit = q) {
			q = hit + n;
			if ((is_name(*q) && !starts(q, "v") &&
				!starts(q, "l")) ||
			    (lang != CANARY_PY && hit > text &&
				is_name(hit[-1])))
				continue;
			while (*q == ' ' || *q == '(')
				q++;
			if ((*q >= '1' && *q <= '9') || *q == '-' ||
			    starts(q, "EXIT_FAILURE") || *q == '"' ||
			    *q == '\'')
				continue;
			return true;
		}
	}
	return false;
}

/* Before the last return of main(), where nothing follows it. */
static bool
c_end(const char *text, size_t *ret)
{
	const char *p, *hit = NULL;
	size_t from;

	if (!c_main(text, &from))
		return false;
	for (p = text + from; *p != '\0'; p = next_line(p)) {
		if (starts(p + strspn(p, " \t"), "return"))
			hit = p;
	}
	if (hit == NULL)
		return false;
	for (p = next_line(hit); *p != '\0'; p++) {
		if (*p != '}' && !isspace((unsigned char)*p))
			return false;
	}
	if (strchr(hit, '}') != strrchr(hit, '}'))
		return false;
	*ret = (size_t)(hit - text);
	return true;
}

static bool
end(enum canary_lang lang, const char *text, size_t *ret)
{
	const char *p, *last = NULL;

	if (lang == CANARY_C)
		return c_end(text, ret) && !may_end(lang, text, *ret);
	for (p = text; *p != '\0'; p = next_line(p)) {
		if (is_begin(text, p))
			last = p;
	}
	if (last == NULL)
		return false;
	*ret = starts_any(last, harmless) ||
		(lang == CANARY_PY && is_plain_main(last))
	    ? strlen(text)
	    : (size_t)(last - text);
	return !may_end(lang, text, *ret);
}

bool
canary_place(enum canary_lang lang, const char *text, enum canary_place where,
    size_t *ret)
{
	size_t first, at;

	if (!head(lang, text, &first))
		return false;
	*ret = first;
	if (where == CANARY_END && end(lang, text, &at) && at > first)
		*ret = at;
	return true;
}

/* --- what is planted ------------------------------------------------------ */

/* Each assert that the file has, as a call that must throw. */
static void
js_text(const char *text, struct buf *ret)
{
	static const struct {
		const char *has, *call;
	} calls[] = {
		{ "assert.strictEqual(", "assert.strictEqual(0, 1)" },
		{ "assert.equal(", "assert.equal(0, 1)" },
		{ "assert.notStrictEqual(", "assert.notStrictEqual(1, 1)" },
		{ "assert.deepStrictEqual(",
		    "assert.deepStrictEqual([0], [1])" },
		{ "assert.deepEqual(", "assert.deepEqual([0], [1])" },
		{ "assert.ok(", "assert.ok(false)" },
		{ "assert.throws(", "assert.throws(() => 0)" },
		{ "assert(", "assert(false)" },
		{ "expect(", "expect(0).toBe(1)" },
	};
	size_t i, n = 0;

	(void)buf_adds(ret, ";{ let n = 0; for (const f of [");
	for (i = 0; i < nitems(calls); i++) {
		if (strstr(text, calls[i].has) == NULL)
			continue;
		n++;
		(void)buf_printf(ret, "() => %s, ", calls[i].call);
	}
	(void)buf_printf(ret,
	    "]) { try { f(); } catch (e) { n++; } } "
	    "if (n === %zu) throw new Error(\"@\"); }\n",
	    n);
}

void
canary_text(enum canary_lang lang, const char *text, struct buf *ret)
{
	switch (lang) {
	case CANARY_PY:
		(void)buf_adds(ret,
		    strstr(text, "assert ") != NULL
			? "assert 0 == 1, \"@\"\n"
			: "raise AssertionError(\"@\")\n");
		break;
	case CANARY_JS:
		js_text(text, ret);
		break;
	case CANARY_C:
		(void)buf_adds(ret,
		    strstr(text, "<assert.h>") != NULL ||
			    strstr(text, "<cassert>") != NULL
			? "\tassert(!\"@\");\n"
			: "\t{ __builtin_printf(\"@\\n\"); return 97; }\n");
		break;
	case CANARY_SH:
		(void)buf_adds(ret, "echo \"@\" >&2; exit 97\n");
		break;
	case CANARY_NONE:
		break;
	}
}
