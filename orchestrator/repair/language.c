#include "common/compat.h"

#include <string.h>

#include "orchestrator/repair/language.h"
#include "orchestrator/repair/word.h"

#define FIRST_LINE_MAX 200

static const struct language languages[] = {
	{ "c h cc hh cpp hpp cxx hxx m mm java rs cs kt kts scala d dart zig v "
	  "proto",
	    "", DIALECT_C, "//", false },
	{ "go swift", "", DIALECT_C, "//", true },
	{ "php", "php", DIALECT_C, "// #", false },
	{ "js mjs cjs jsx ts mts cts tsx", "node deno", DIALECT_JS, "//",
	    false },
	{ "awk", "awk", DIALECT_JS, "#", false },
	{ "pl pm t", "perl", DIALECT_JS, "#", false },
	{ "py pyi pyw pyx nim gd", "python", DIALECT_PY, "#", false },
	{ "rb cr", "ruby", DIALECT_PY, "#", false },
	{ "sh bash ksh zsh bats", "sh", DIALECT_SH, "#", false },
};

static const struct language *
by_extension(const char *ext)
{
	size_t i;

	for (i = 0; i < nitems(languages); i++)
		if (word_find(languages[i].exts, ext, strlen(ext)) >= 0)
			return &languages[i];
	return NULL;
}

/* The next word of a line; its length, 0 at the end. */
static size_t
next_word(const char **p, const char *end)
{
	size_t n = 0;

	while (*p < end && (**p == ' ' || **p == '\t'))
		(*p)++;
	while (*p + n < end && (*p)[n] != ' ' && (*p)[n] != '\t' &&
	    (*p)[n] != '\r')
		n++;
	return n;
}

/* "#!/usr/bin/env -S python3 -B" means python3. */
static size_t
program_of(const char *line, size_t len, const char **ret)
{
	const char *p = line + 2, *end = line + len;
	const char *slash;
	size_t n = next_word(&p, end);

	slash = memrchr(p, '/', n);
	if (slash != NULL) {
		n -= (size_t)(slash + 1 - p);
		p = slash + 1;
	}
	if (n == 3 && memcmp(p, "env", 3) == 0)
		do {
			p += n;
			n = next_word(&p, end);
		} while (n > 0 && (*p == '-' || memchr(p, '=', n) != NULL));
	*ret = p;
	return n;
}

static const struct language *
by_first_line(const char *line, size_t len)
{
	const char *w, *program;
	size_t i, n;
	int k;

	len = program_of(line, len, &program);
	for (i = 0; i < nitems(languages); i++)
		for (k = 0; (w = word_at(languages[i].programs, k, &n)) != NULL;
		     k++)
			if (memmem(program, len, w, n) != NULL)
				return &languages[i];
	return NULL;
}

const struct language *
language_of(const char *path, const char *text, size_t len)
{
	const char *base = strrchr(path, '/'), *dot;
	size_t n = 0;

	base = base != NULL ? base + 1 : path;
	dot = strrchr(base, '.');
	if (dot != NULL && dot != base)
		return by_extension(dot + 1);
	if (text == NULL || len < 3 || text[0] != '#' || text[1] != '!')
		return NULL;
	while (n < len && n < FIRST_LINE_MAX && text[n] != '\n')
		n++;
	return by_first_line(text, n);
}

enum token_dialect
dialect_of(const char *path, const char *text, size_t len)
{
	const struct language *l = language_of(path, text, len);

	return l != NULL ? l->dialect : DIALECT_NONE;
}
