/*
 * checkers_shell.c - what a shell test judges with besides itself. The commands
 * come from the reader of the gate (shell.h).
 */
#include "common/compat.h"

#include <ctype.h>

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/run/checkers_words.h"
#include "sandbox/policy/shell.h"

#define MAX_BYTES ((size_t)16 << 20) /* parsed for one finder */
#define MAX_WORDS 4096               /* written or mentioned */
#define MAX_HELPERS 8                /* more: it is not known which */

/* --- helpers -------------------------------------------------------------- */

static bool
names_helper(const char *path)
{
	static const char *const parts[] = { "test", "tests", "testlib",
		"testing", "assert", "expect", "spec", "harness", "shunit",
		"bats", "tap", "libtest" };

	return words_has_part(path_base(path), parts, nitems(parts));
}

/* 2: a function of that name says whether a test passed; 1: often. */
static unsigned
verdict(const char *function)
{
	static const char *const starts[] = { "assert", "expect", "should",
		"not_ok", "run_test" };
	static const char *const names[] = { "ok", "is", "pass", "fail",
		"failed", "passed" };
	static const char *const often[] = { "check", "plan", "skip", "t", "eq",
		"equal", "equals", "like", "describe", "it", "summary",
		"finish", "done_testing", "setup", "teardown" };

	for (size_t i = 0; i < nitems(starts); i++)
		if (text_starts(function, starts[i]))
			return 2;
	if (text_is_one_of(function, names, nitems(names)))
		return 2;
	return text_is_one_of(function, often, nitems(often)) ||
	    text_starts(function, "test_");
}

/* Is it there to say whether a test passed, by its name or by most of what it
 * defines? What else a test sources is what it tests. */
static bool
is_helper(struct finder *f, const char *path)
{
	char *text;
	size_t i, verdicts = 0, all;
	struct sh_script *script;
	bool sure = false;

	if (names_helper(path))
		return true;
	if (f->bytes > MAX_BYTES || (text = checkers_read(f, "", path)) == NULL)
		return false;
	f->bytes += strlen(text);
	script = sh_parse(text, strlen(text));
	all = script->n_functions;
	for (i = 0; i < all; i++)
		if (verdict(script->functions[i]) > 0) {
			verdicts++;
			sure |= verdict(script->functions[i]) > 1;
		}
	sh_free(script);
	free(text);
	return sure && verdicts * 2 > all;
}

static void
add_helpers(struct scan *s, const char *word, bool by_name)
{
	struct strv files = { 0 };
	char *text, *here;

	words_resolve(s, word, &files);
	for (size_t i = 0; i < files.n && files.n <= MAX_HELPERS; i++) {
		if (strv_has(&s->f->found, files.v[i]) ||
		    !(by_name ? names_helper(files.v[i])
			      : is_helper(s->f, files.v[i])))
			continue;
		checkers_found(s->f, "", files.v[i]);
		text = checkers_read(s->f, "", files.v[i]);
		here = strchr(files.v[i], '/') != NULL ? path_dir(files.v[i])
						       : xstrdup("");
		if (text != NULL)
			checkers_shell(s->f, s->at, here, text, s->depth + 1);
		free(text);
		free(here);
	}
	strv_clear(&files);
}

/* --- expected data -------------------------------------------------------- */

static bool
is_comparison(const char *name)
{
	static const char *const names[] = { "diff", "cmp", "colordiff",
		"sdiff", "wdiff", "comm" };

	return text_is_one_of(path_base(name), names, nitems(names));
}

static bool
names_expected(const char *path)
{
	static const char *const parts[] = { "exp", "expect", "want", "wanted",
		"golden", "gold", "ref", "reference", "correct", "good", "ok",
		"answer", "answers", "expected", "baseline", "snapshot" };

	return words_has_part(path, parts, nitems(parts));
}

static bool
is_made(const struct finder *f, const char *path)
{
	struct strv needs = { 0 }, recipe = { 0 };
	struct makefile m;
	bool made = strv_has(&f->written, path);

	if (!made && checkers_makefile(f, "", &m)) {
		makefile_rule(&m, path, &needs, &recipe);
		made = recipe.n > 0;
		makefile_clear(&m);
	}
	strv_clear(&needs);
	strv_clear(&recipe);
	return made;
}

/* Operands of one comparison: those that were there before and that nothing
 * makes; what other commands were given may be what they write. Of two that are
 * left the one that is named so; else it is not known which. */
static void
add_expected(struct scan *s, const struct sh_cmd *c)
{
	struct strv side = { 0 }, all = { 0 }, given = { 0 };
	size_t sides = 0, i, j, had;
	bool named = false;

	for (i = 1; i < c->n_words; i++) {
		const char *w = c->words[i].text;

		if (*w == '-' || strncmp(w, "<(", 2) == 0)
			continue;
		strv_clear(&side);
		words_resolve(s, w, &side);
		had = all.n;
		for (j = 0; j < side.n; j++) {
			if (is_made(s->f, side.v[j]))
				continue;
			if (!strv_has(&s->f->mentioned, side.v[j]))
				strv_add(&all, side.v[j]);
			else if (names_expected(side.v[j]))
				strv_add(&given, side.v[j]);
		}
		sides += all.n > had;
	}
	for (i = 0; i < all.n; i++)
		named |= names_expected(all.v[i]);
	for (i = 0; i < all.n; i++)
		if (sides < 2 || (named && names_expected(all.v[i])))
			checkers_found(s->f, "", all.v[i]);
	for (i = 0; i < given.n && all.n == 0; i++)
		checkers_found(s->f, "", given.v[i]);
	strv_clear(&side);
	strv_clear(&all);
	strv_clear(&given);
}

/* "./prog <in | diff - out", "./prog <in >got": what goes in is data, too. */
static void
add_input(struct scan *s, const struct sh_cmd *c, const struct sh_cmd *next)
{
	struct strv files = { 0 };
	bool kept = next != NULL && next->piped && next->n_words > 0 &&
	    is_comparison(next->words[0].text);
	size_t i;

	for (i = 0; i < c->n_redirs; i++)
		kept |= c->redirs[i].op == SH_OUT &&
		    strcmp(c->redirs[i].target.text, "/dev/null") != 0;
	if (!kept || c->n_words == 0 ||
	    (strchr(c->words[0].text, '/') == NULL && c->n_words < 2))
		return; /* an interpreter reads its program */
	for (i = 0; i < c->n_redirs; i++)
		if (c->redirs[i].op == SH_IN)
			words_resolve(s, c->redirs[i].target.text, &files);
	for (i = 0; i < files.n; i++)
		if (!is_made(s->f, files.v[i]))
			checkers_found(s->f, "", files.v[i]);
	strv_clear(&files);
}

/* --- commands ------------------------------------------------------------- */

static void
note(struct scan *s, const struct sh_cmd *c)
{
	static const char *const says[] = { "echo", "printf", "test", "[", "[[",
		"cat", "head", "cd", "set" };
	struct strv *w = &s->f->written, *m = &s->f->mentioned;
	size_t i;

	for (i = 0; i < c->n_redirs; i++)
		if (c->redirs[i].op == SH_OUT || c->redirs[i].op == SH_APPEND ||
		    c->redirs[i].op == SH_BOTH)
			if (w->n < MAX_WORDS)
				words_resolve(s, c->redirs[i].target.text, w);
	if (c->n_words == 0 || is_comparison(c->words[0].text) ||
	    text_is_one_of(c->words[0].text, says, nitems(says)))
		return;
	for (i = 1; i < c->n_words && m->n < MAX_WORDS; i++)
		words_resolve(s, c->words[i].text, m);
}

static void
command(struct scan *s, const struct sh_cmd *c, const struct sh_cmd *next)
{
	const char *w = c->n_words > 0 ? c->words[0].text : "";
	size_t i = 1;

	note(s, c);
	add_input(s, c, next);
	if (c->n_words < 2)
		return;
	if (strcmp(w, ".") == 0 || strcmp(w, "source") == 0) {
		add_helpers(s, c->words[1].text, false);
	} else if (is_comparison(w)) {
		add_expected(s, c);
	} else if (strcmp(w, "cd") == 0 && c->words[1].flags == 0) {
		char *to = path_join(s->at, c->words[1].text);

		free(s->at);
		s->at = path_normal(to);
		free(to);
	} else if (checkers_is_shell(w)) {
		while (i < c->n_words && *c->words[i].text == '-' &&
		    strcmp(c->words[i].text, "-c") != 0)
			i++;
		if (i + 1 < c->n_words && strcmp(c->words[i].text, "-c") == 0)
			checkers_shell(s->f, s->at, s->here,
			    c->words[i + 1].text, s->depth + 1);
		else if (i < c->n_words)
			add_helpers(s, c->words[i].text, true);
	} else if (strchr(w, '/') != NULL) {
		add_helpers(s, w, true);
	}
}

/* A loop over scripts that it runs is a list of tests, unless something else
 * judges what they write, or they are told what to work on. */
static void
add_looped(struct scan *s, const struct sh_cmd *c)
{
	static const char *const wraps[] = { "timeout", "nice", "env", "time",
		"exec", "command" };
	struct strv files = { 0 };
	const char *w;
	size_t i = 0, j;

	while (i < c->n_words &&
	    (text_is_one_of(c->words[i].text, wraps, nitems(wraps)) ||
		isdigit((unsigned char)*c->words[i].text)))
		i++;
	if (i < c->n_words && checkers_is_interpreter(c->words[i].text))
		for (i++; i < c->n_words && *c->words[i].text == '-'; i++)
			if (strpbrk(c->words[i].text, "ncm") != NULL)
				return; /* looked at, not run */
	if (i + 1 != c->n_words || c->sub != 0 ||
	    (w = words_loop_at(s, c->words[i].text)) == NULL)
		return;
	for (j = 0; j < c->n_redirs; j++)
		if (c->redirs[j].op != SH_DUP &&
		    strcmp(c->redirs[j].target.text, "/dev/null") != 0)
			return;
	words_resolve(s, w, &files);
	for (j = 0; j < files.n; j++)
		checkers_found(s->f, "", files.v[j]);
	strv_clear(&files);
}

void
checkers_shell(struct finder *f, const char *at, const char *here,
    const char *text, unsigned depth)
{
	struct scan s = {
		.f = f, .at = path_normal(at), .here = here, .depth = depth
	};
	struct sh_script *script;
	size_t i;

	if (depth < CHECKERS_DEPTH && (f->bytes += strlen(text)) <= MAX_BYTES) {
		words_loops(&s, text);
		script = sh_parse(text, strlen(text));
		for (i = 0; i < script->n; i++) {
			const struct sh_cmd *c = &script->cmds[i];
			const struct sh_cmd *next =
			    i + 1 < script->n ? c + 1 : NULL;

			command(&s, c, next);
			if (next == NULL || !next->piped)
				add_looped(&s, c);
		}
		sh_free(script);
	}
	strv_clear(&s.vars);
	strv_clear(&s.values);
	free(s.at);
}
