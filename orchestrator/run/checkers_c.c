/*
 * checkers_c.c - programs that were compiled and whose status is the verdict.
 *
 * The file that has main() is the test, or what is tested. It is the test when
 * it is called so, when it compares what functions of other files return with
 * values of its own, or when nothing but the test's own rule makes the program:
 * no product is built only to be tested.
 */
#include "common/compat.h"

#include <ctype.h>

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/run/checkers_words.h"

#define MAX_SOURCES 64
#define MAX_TEXT ((size_t)4 << 20)   /* of a program's files */
#define MAX_LOOKED ((size_t)1 << 30) /* bytes, for a finder's programs */
#define MAX_GOALS 2000               /* of a finder: each reads a make file */

static const char *const endings[] = { ".c", ".cc", ".cpp", ".cxx" };

/* A program, as its make file or a command builds it. */
struct program {
	struct finder *f;
	const char *at;
	char *name;
	struct makefile m;
	bool has_makefile;
	struct strv sources, texts;
	size_t size; /* of the texts */
};

/* --- what it is built from ------------------------------------------------ */

static void
add_source(struct program *p, const char *name)
{
	char *text;

	if (p->sources.n >= MAX_SOURCES || p->size > MAX_TEXT ||
	    strv_has(&p->sources, name) ||
	    (text = checkers_read(p->f, p->at, name)) == NULL)
		return;
	p->size += strlen(text);
	strv_add(&p->sources, name);
	strv_take(&p->texts, &text);
}

/* A source, or an object or a program that one is for. */
static void
add_sources(struct program *p, const char *word)
{
	const char *dot = strrchr(word, '.');
	size_t i,
	    len = dot != NULL && strchr(dot, '/') == NULL ? (size_t)(dot - word)
							  : strlen(word);

	for (i = 0; i < nitems(endings); i++) {
		char *name = xasprintf("%.*s%s", (int)len, word, endings[i]);

		add_source(p, name);
		free(name);
	}
}

/* The last command that compiled it; its words are added. */
static void
built(const struct program *p, struct strv *words)
{
	struct strv one = { 0 };
	size_t i, j;

	for (i = p->f->builds.n; i-- > 0 && words->n == 0;) {
		strv_clear(&one);
		strv_words(&one, p->f->builds.v[i]);
		for (j = 0; j + 1 < one.n; j++) {
			const char *out = one.v[j + 1];

			out += 2 * text_starts(out, "./");
			if (strcmp(one.v[j], "-o") == 0 &&
			    strcmp(out, p->name) == 0)
				strv_copy(words, &one);
		}
	}
	strv_clear(&one);
}

/* --- is its main file the test? ------------------------------------------- */

static const char *
word_start(const char *text, const char *s)
{
	while (s > text && (isalnum((unsigned char)s[-1]) || s[-1] == '_'))
		s--;
	return s;
}

/* Does another file of the project have name( ... )? */
static bool
is_elsewhere(const struct strv *texts, size_t main, const char *name)
{
	char *call = xasprintf("%s(", name);
	const char *s;
	bool ret = false;
	size_t i;

	for (i = 0; i < texts->n && !ret; i++) {
		if (i == main)
			continue;
		for (s = texts->v[i]; (s = strstr(s, call)) != NULL; s++)
			if (word_start(texts->v[i], s) == s)
				break;
		ret = s != NULL;
	}
	free(call);
	return ret;
}

/* Is there a value that no error check has: not 0, 1 or NULL? */
static bool
compares(const char *s, const char *end)
{
	for (; s + 1 < end; s++) {
		const char *v = s + 2, *from;

		if ((s[0] != '=' && s[0] != '!') || s[1] != '=')
			continue;
		v += strspn(v, " \t-+");
		if (*v == '"' || *v == '\'' || (*v >= '2' && *v <= '9') ||
		    (isdigit((unsigned char)*v) &&
			(isdigit((unsigned char)v[1]) || v[1] == '.')))
			return true;
		/* cases[i].want */
		for (from = v; v < end && strchr(" )&|;", *v) == NULL; v++)
			continue;
		if (memmem(from, (size_t)(v - from), "want", 4) != NULL ||
		    memmem(from, (size_t)(v - from), "expect", 6) != NULL)
			return true;
	}
	return false;
}

static bool
has_word(const char *s, const char *end, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (memmem(s, (size_t)(end - s), words[i], strlen(words[i])) !=
		    NULL)
			return true;
	return false;
}

/* Is what this call returns compared with what should come? */
static bool
is_judged(const char *text, const char *call)
{
	static const char *const asserts[] = { "assert", "ASSERT", "CHECK",
		"check(", "EXPECT", "expect(", "REQUIRE" };
	static const char *const strings[] = { "strcmp", "strncmp", "memcmp" };
	const char *s = call, *end = call + strcspn(call, ";{}");

	while (s > text && strchr(";{}\n", s[-1]) == NULL)
		s--;
	return has_word(s, call, asserts, nitems(asserts)) ||
	    (has_word(s, call, strings, nitems(strings)) &&
		memchr(call, '"', (size_t)(end - call)) != NULL) ||
	    compares(call, end);
}

static bool
says_verdict(const char *text)
{
	static const char *const words[] = { "\"FAIL", "\"PASS", "\"not ok",
		"\"ok %", " FAIL", "\"Passed", "\"Failed" };

	return has_word(text, text + strlen(text), words, nitems(words));
}

static bool
judges(const struct program *p, size_t main)
{
	static const char *const libc[] = { "main", "if", "while", "for",
		"switch", "return", "sizeof", "strcmp", "strncmp", "memcmp",
		"printf", "fprintf", "puts", "assert", "strlen", "malloc",
		"free", "getopt", "read", "write", "open", "fopen", "fclose",
		"fgets", "getc", "getchar", "fgetc", "scanf", "sscanf",
		"fscanf", "snprintf", "atoi", "strtol", "exit", "defined" };
	const char *text = p->texts.v[main], *s, *from;
	struct strv no = { 0 }, yes = { 0 };
	bool ret = says_verdict(text);

	for (s = text; !ret && (s = strchr(s, '(')) != NULL; s++) {
		char *name;

		from = word_start(text, s);
		name = xstrndup(from, (size_t)(s - from));
		if (from < s && !text_is_one_of(name, libc, nitems(libc)) &&
		    !strv_has(&no, name) && !strv_has(&yes, name)) {
			p->f->looked += p->size;
			if (p->f->looked > MAX_LOOKED)
				ret = true; /* it can't be told */
			strv_add(
			    is_elsewhere(&p->texts, main, name) ? &yes : &no,
			    name);
		}
		if (from < s && strv_has(&yes, name))
			ret |= is_judged(text, from);
		free(name);
	}
	strv_clear(&yes);
	strv_clear(&no);
	return ret;
}

/* Does making goal make it, other than to run it? */
static bool
makes(const struct program *p, const char *goal, unsigned depth)
{
	struct strv needs = { 0 }, recipe = { 0 };
	char *run = xasprintf("./%s", p->name);
	bool ret = false;
	size_t i;

	if (depth < CHECKERS_DEPTH && ++p->f->goals <= MAX_GOALS) {
		makefile_rule(&p->m, goal, &needs, &recipe);
		ret = strcmp(goal, p->name) == 0 && needs.n + recipe.n > 0;
		for (i = 0; i < recipe.n; i++)
			if (strstr(recipe.v[i], run) != NULL)
				strv_clear(&needs);
		for (i = 0; i < needs.n && !ret; i++)
			ret = strcmp(needs.v[i], p->name) == 0 ||
			    makes(p, needs.v[i], depth + 1);
	}
	strv_clear(&needs);
	strv_clear(&recipe);
	free(run);
	return ret;
}

/* Is it what the project is made for: built when nothing is said, or
 * installed? */
static bool
is_product(const struct program *p)
{
	static const char *const goals[] = { "all", "build", "default" };
	struct strv needs = { 0 }, recipe = { 0 }, words = { 0 };
	char *first;
	bool ret;
	size_t i;

	if (!p->has_makefile)
		return false;
	first = makefile_first(&p->m);
	ret = first != NULL && makes(p, first, 0);
	for (i = 0; i < nitems(goals) && !ret; i++)
		ret = makes(p, goals[i], 0);
	makefile_rule(&p->m, "install", &needs, &recipe);
	for (i = 0; i < recipe.n; i++)
		strv_words(&words, recipe.v[i]);
	ret |= strv_has(&needs, p->name) || strv_has(&words, p->name);
	strv_clear(&needs);
	strv_clear(&recipe);
	strv_clear(&words);
	free(first);
	return ret;
}

static bool
names_test(const char *path)
{
	static const char *const parts[] = { "t", "test", "tests", "check",
		"checks", "spec", "verify", "suite", "selftest", "unittest",
		"testing" };

	return words_has_part(path_base(path), parts, nitems(parts));
}

/* The one that has main(); of several the one that is called a test. -1: not
 * known. */
static int
main_source(const struct program *p)
{
	int ret = -1, named = -1;
	unsigned n = 0, n_named = 0;

	for (size_t i = 0; i < p->sources.n; i++) {
		if (strstr(p->texts.v[i], "main(") == NULL)
			continue;
		n++;
		ret = (int)i;
		if (names_test(p->sources.v[i])) {
			n_named++;
			named = (int)i;
		}
	}
	if (n == 0 && p->sources.n == 1)
		return 0; /* a header has it */
	return n == 1 ? ret : n_named == 1 ? named : -1;
}

/* The headers and sources that it includes stand among the others. */
static void
add_included(struct program *p, size_t main)
{
	static const char inc[] = "#include \"";
	char *up = path_dir(p->sources.v[main]);
	const char *s = p->texts.v[main];

	while ((s = strstr(s, inc)) != NULL) {
		char *rel, *name;

		s += sizeof inc - 1;
		rel = xstrndup(s, strcspn(s, "\"\n"));
		name = path_join(up, rel);
		add_source(p, name);
		free(rel);
		free(name);
	}
	free(up);
}

void
checkers_program(struct finder *f, const char *at, const char *path)
{
	struct program p = { .f = f, .at = at, .name = path_normal(path) };
	struct strv needs = { 0 }, recipe = { 0 };
	bool own, ruled, several;
	size_t i;
	int main;

	for (i = 0; i < nitems(endings); i++)
		if (text_ends(path, endings[i]))
			goto out; /* not a program */
	p.has_makefile = checkers_makefile(f, at, &p.m);
	if (p.has_makefile)
		makefile_rule(&p.m, p.name, &needs, &recipe);
	for (i = 0; i < recipe.n; i++)
		strv_words(&needs, recipe.v[i]);
	ruled = needs.n > 0;
	if (!ruled)
		built(&p, &needs);
	for (i = 0; i < needs.n; i++)
		add_sources(&p, needs.v[i]);
	if (p.sources.n == 0)
		add_sources(&p, p.name);
	several = p.sources.n > 1;
	main = main_source(&p);
	if (main < 0)
		goto out;
	own = strstr(p.texts.v[main], "#include \"") != NULL;
	if (!own && !several)
		goto out; /* it tests nothing but itself */
	add_included(&p, (size_t)main);
	if (names_test(p.name) || names_test(p.sources.v[main]) ||
	    judges(&p, (size_t)main) || ((own || ruled) && !is_product(&p)))
		checkers_found(f, at, p.sources.v[main]);
out:
	if (p.has_makefile)
		makefile_clear(&p.m);
	strv_clear(&p.sources);
	strv_clear(&p.texts);
	strv_clear(&needs);
	strv_clear(&recipe);
	free(p.name);
}
