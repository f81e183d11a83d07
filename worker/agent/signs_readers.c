/* signs_readers.c - who reads a file: protected scripts and makefiles include
 * it, tests name it; see signs_priv.h. */
#include "common/compat.h"

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/policy/guard.h"
#include "worker/agent/signs_priv.h"

/* Does a line include or source a file of that name? */
static bool
line_reads(const char *p, size_t len, const char *name)
{
	static const char *const words[] = { "include ", "-include ",
		"sinclude ", ". ", "source " };
	const char *hit = memmem(p, len, name, strlen(name));
	size_t i, n = strlen(name);

	if (hit == NULL ||
	    (hit > p && hit[-1] != ' ' && hit[-1] != '/' && hit[-1] != '"' &&
		hit[-1] != '\''))
		return false;
	if (hit + n < p + len && !strchr(" \t\"';)&|", hit[n]))
		return false;
	for (i = 0; i < nitems(words); i++) {
		if (memmem(p, len, words[i], strlen(words[i])) != NULL)
			return true;
	}
	return false;
}

/* A shell's or Python's by its first line. */
unsigned
signs_lang_of_script(const char *text)
{
	if (strncmp(text, "#!", 2) != 0)
		return 0;
	return memmem(text, strcspn(text, "\n"), "python", 6) != NULL ? PY : SH;
}

/* The protected file that reads this one, or NULL. */
const char *
signs_reader(const struct agent *a, int base_fd, const char *rel)
{
	const struct strv *g = &a->fs.guarded;
	const char *name = path_base(rel), *p, *nl, *found = NULL;
	size_t i, looked = 0;
	struct buf b;

	for (i = 0; i < g->n && looked < SIGNS_SETUP_MAX && found == NULL;
	     i++) {
		unsigned lang = signs_lang(g->v[i]);

		if (!guard_is_setup(g->v[i]) && lang != 0 && lang != SH)
			continue;
		looked++;
		buf_init(&b, SIGNS_FILE_MAX);
		if (file_read_at(base_fd, g->v[i], true, &b, NULL) < 0 ||
		    (!guard_is_setup(g->v[i]) && lang == 0 &&
			signs_lang_of_script(buf_str(&b)) != SH))
			buf_reset(&b);
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

/* Is the name there, whole, as in "golden/total.txt"? */
static bool
names_file(const char *text, const char *name)
{
	size_t n = strlen(name);
	const char *p;

	for (p = text; (p = strstr(p, name)) != NULL; p += n)
		if (p > text && strchr("\"'`/ =(", p[-1]) != NULL &&
		    strchr("\"'` )\n", p[n]) != NULL)
			return true;
	return false;
}

const char *
signs_named_by(const struct agent *a, int base_fd, const char *name)
{
	const struct strv *g = &a->fs.guarded;
	const char *found = NULL;
	size_t i, looked = 0;
	struct buf b;

	for (i = 0; i < g->n && looked < SIGNS_SETUP_MAX && found == NULL;
	     i++) {
		if (guard_is_setup(g->v[i]) || signs_lang(g->v[i]) == 0)
			continue;
		looked++;
		buf_init(&b, SIGNS_FILE_MAX);
		if (file_read_at(base_fd, g->v[i], true, &b, NULL) >= 0 &&
		    names_file(buf_str(&b), name))
			found = g->v[i];
		buf_clear(&b);
	}
	return found;
}
