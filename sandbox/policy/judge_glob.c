/*
 * judge_glob.c - a name with wildcards ("src/" and "*.c"): may it be one that a
 * rule about paths is against? Component by component, each wildcard of either
 * side taken for all that it may stand for; a bracket is any end of a name.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

#define NAME_MAX_GLOB 255

/* Where nothing more is known of a component. */
static size_t
known(const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < n && strchr("[\\{", s[i]) == NULL; i++)
		;
	return i;
}

/* The i-th of a component of n, of which k are known: a "*" behind those. */
static char
at(const char *s, size_t n, size_t k, size_t i)
{
	return i < k ? s[i] : i == k && k < n ? '*' : '\0';
}

/* How much may still be compared, in pairs of characters; at the end all is
 * taken for a match. */
static bool
afford(size_t *left, size_t pairs)
{
	const bool can = *left > pairs;

	*left = can ? *left - pairs : 0;
	return can;
}

/* Is there a name that both stand for? */
static bool
meet(const char *a, size_t n, const char *b, size_t m, size_t *left)
{
	const size_t side = m + 2, kn = known(a, n), km = known(b, m);
	size_t i, k;
	bool *f, met;

	/* The most common answer. */
	if (kn > 0 && km > 0 && strchr("*?", a[0]) == NULL &&
	    strchr("*?", b[0]) == NULL && a[0] != b[0])
		return false;
	if (n > NAME_MAX_GLOB || m > NAME_MAX_GLOB ||
	    !afford(left, (n + 2) * side))
		return true;
	f = xcalloc((n + 2) * side, sizeof *f);
	for (i = n + 1; i-- > 0;)
		for (k = m + 1; k-- > 0;) {
			const char x = at(a, n, kn, i), y = at(b, m, km, k);
			bool *v = &f[i * side + k];

			if (x == '\0' && y == '\0')
				*v = true;
			else if (x == '*')
				*v = f[(i + 1) * side + k] ||
				    (y != '\0' && f[i * side + k + 1]);
			else if (y == '*')
				*v = f[i * side + k + 1] ||
				    (x != '\0' && f[(i + 1) * side + k]);
			else if (x != '\0' && y != '\0')
				*v = (x == y || x == '?' || y == '?') &&
				    f[(i + 1) * side + k + 1];
		}
	met = f[0];
	free(f);
	return met;
}

/* A wildcard at its front stands for no dot, unless an option says so. */
static bool
names_meet(
    const char *pat, size_t n, const char *s, size_t m, bool dots, size_t *left)
{
	if (!dots && n > 0 && pat[0] == '.' && m > 0 &&
	    strchr("*?[", s[0]) != NULL)
		return false;
	return meet(pat, n, s, m, left);
}

static const char *
next(const char *s)
{
	s += strcspn(s, "/");
	return s + strspn(s, "/");
}

static bool
is_any(const char *s)
{
	return strncmp(s, "**", 2) == 0 && (s[2] == '/' || s[2] == '\0');
}

/* tree: what is below the name counts, too. */
static bool
paths_meet(const char *pat, const char *s, bool dots, bool tree, size_t *left)
{
	if (!afford(left, 16))
		return true;
	if (*pat == '\0')
		return true;
	if (is_any(pat) && *next(pat) == '\0')
		return *s != '\0' || tree;
	if (is_any(pat))
		return paths_meet(next(pat), s, dots, tree, left) ||
		    (*s != '\0' && paths_meet(pat, next(s), dots, tree, left));
	if (*s == '\0')
		return tree;
	if (is_any(s))
		return paths_meet(pat, next(s), dots, tree, left) ||
		    paths_meet(next(pat), s, dots, tree, left);
	return names_meet(
		   pat, strcspn(pat, "/"), s, strcspn(s, "/"), dots, left) &&
	    paths_meet(next(pat), next(s), dots, tree, left);
}

/* ".env", "a.key": hardly the name of a directory. */
static bool
is_of_file(const char *pat)
{
	return text_starts(pat, ".env") ||
	    (pat[0] != '\0' && strchr(pat + 1, '.') != NULL);
}

static bool
meets(const char *pat, const char *s, bool dots, unsigned how, size_t *left)
{
	const bool tree = (how & (REACH_TREE | REACH_BELOW)) != 0;
	size_t n = strlen(pat);

	while (n > 0 && pat[n - 1] == '/')
		n--;
	if (memchr(pat, '/', n) != NULL || is_any(pat))
		return paths_meet(pat + strspn(pat, "/"), s, dots, tree, left);
	/* A name in any directory, and of one where it may be. */
	const bool file = n == strlen(pat) && is_of_file(pat);

	for (; *s != '\0'; s = next(s)) {
		if (file && *next(s) != '\0')
			continue;
		if (is_any(s) ||
		    names_meet(pat, n, s, strcspn(s, "/"), dots, left))
			return true;
	}
	return tree && (how & REACH_ANY) != 0;
}

/* What is left of path behind base, NULL: it does not lead there. */
static const char *
behind(const char *path, const char *base, size_t *left)
{
	if (base == NULL)
		return NULL;
	path += strspn(path, "/");
	base += strspn(base, "/");
	while (*base != '\0') {
		if (*path == '\0' ||
		    (!is_any(path) &&
			!meet(path, strcspn(path, "/"), base,
			    strcspn(base, "/"), left)))
			return NULL;
		if (is_any(path)) /* it may go on within it */
			return path;
		path = next(path);
		base = next(base);
	}
	return path;
}

static bool
from(const char *pat, const char *path, const char *base, bool dots,
    unsigned how, size_t *left)
{
	const char *rel = behind(path, base, left);

	return rel != NULL && meets(pat, rel, dots, how, left);
}

static bool
rule_meets(const struct rule *r, const char *path,
    const struct judge_place *where, bool dots, unsigned how, size_t *left)
{
	const char *p = r->pattern;

	if (p == NULL)
		return true;
	if (text_starts(p, "//"))
		return from(p + 1, path, "/", dots, how, left);
	if (strcmp(p, "~") == 0)
		return behind(path, where->home, left) != NULL;
	if (text_starts(p, "~/"))
		return from(p + 1, path, where->home, dots, how, left);
	if (*p == '/')
		return from(p, path, where->workspace, dots, how, left);
	if (text_starts(p, "./"))
		return from(p + 1, path, where->cwd, dots, how, left);
	return from(p, path, where->cwd, dots, how, left) ||
	    from(p, path, where->workspace, dots, how, left);
}

/* Options of shells that let it stand for more. */
static bool
is_wide(const char *text)
{
	static const char *const words[] = { "dotglob", "GLOBIGNORE",
		"globdots", "GLOB_DOTS", "BASHOPTS" };

	for (size_t i = 0; i < nitems(words); i++)
		if (strstr(text, words[i]) != NULL)
			return true;
	return false;
}

/* It leads to where defaults are about files there. */
static bool
by_default(const struct judge *j, enum rule_about about, const char *path)
{
	const struct rules *r = j->rules;
	char *dir = xstrndup(path, strcspn(path, "*?["));
	char *slash = strrchr(dir, '/');
	bool in;

	if (slash != NULL)
		*slash = '\0';
	in = path_is_below(dir, j->where->workspace);
	free(dir);
	if (about != RULE_EDIT)
		return !in && r->read_out.set &&
		    r->read_out.ruling != RULING_ALLOW;
	/* Whichever it is, one of them may be about it. */
	return (r->write_in.set && r->write_in.ruling != RULING_ALLOW) ||
	    (!in && r->write_out.set && r->write_out.ruling != RULING_ALLOW);
}

/* "*", whatever is before it. */
static bool
is_all(const char *path)
{
	const char *last = path_base(path);

	return last[strspn(last, "*?")] == '\0';
}

bool
judge_may_meet(struct judge *j, enum rule_about about, unsigned how,
    const struct sh_word *w, const char *cwd)
{
	const bool tilde = (w->flags & SH_TILDE) != 0 && w->text[0] == '~';
	const bool wide = is_wide(j->whole);
	size_t *left = &j->globs;
	char *path;
	bool met;

	path = judge_path(w->text, tilde, cwd, j->where);
	/* What is in there has other names, too. */
	met = strstr(j->whole, "nocaseglob") != NULL ||
	    behind(path, "/proc", left) != NULL ||
	    behind(path, "/dev", left) != NULL ||
	    ((how & REACH_WHOLE) != 0 && is_all(path)) ||
	    ((how & REACH_RULES) == 0 && by_default(j, about, path));
	for (size_t i = 0; i < j->rules->n && !met; i++) {
		const struct rule *x = &j->rules->v[i];

		met = x->ruling != RULING_ALLOW && judge_speaks(x, about) &&
		    rule_meets(x, path, j->where, wide, how, left);
	}
	free(path);
	return met;
}
