/* checkers_c.c - programs that were compiled and whose status is the verdict.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/run/checkers_priv.h"

static const char *const endings[] = { ".c", ".cc", ".cpp", ".cxx" };

/* Does it use something of the project, and (main) may it be a program? */
static bool
is_source(const struct finder *f, const char *at, const char *name, bool main)
{
	char *text = checkers_read(f, at, name);
	bool ret = text != NULL && strstr(text, "#include \"") != NULL &&
	    (!main || strstr(text, "main(") != NULL);

	free(text);
	return ret;
}

/* A source, or an object that one is for. */
static void
add_sources(const struct finder *f, const char *at, const char *word, bool main,
    struct strv *ret)
{
	const char *dot = strrchr(word, '.');
	size_t i,
	    len = dot != NULL && strchr(dot, '/') == NULL ? (size_t)(dot - word)
							  : strlen(word);

	for (i = 0; i < nitems(endings); i++) {
		char *name = xasprintf("%.*s%s", (int)len, word, endings[i]);

		if (is_source(f, at, name, main) && !strv_has(ret, name))
			strv_add(ret, name);
		free(name);
	}
}

void
checkers_program(struct finder *f, const char *at, const char *path)
{
	struct strv needs = { 0 }, recipe = { 0 }, sources = { 0 };
	char *name = path_normal(path);
	struct makefile m;
	size_t i;

	for (i = 0; i < nitems(endings); i++)
		if (text_ends(path, endings[i]))
			goto out; /* not a program */
	add_sources(f, at, name, false, &sources);
	if (sources.n == 0 && checkers_makefile(f, at, &m)) {
		makefile_rule(&m, name, &needs, &recipe);
		for (i = 0; i < recipe.n; i++)
			strv_words(&needs, recipe.v[i]);
		for (i = 0; i < needs.n; i++)
			add_sources(f, at, needs.v[i], true, &sources);
		makefile_clear(&m);
	}
	if (sources.n == 1)
		checkers_found(f, at, sources.v[0]);
out:
	strv_clear(&needs);
	strv_clear(&recipe);
	strv_clear(&sources);
	free(name);
}
