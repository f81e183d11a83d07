/* rules_match.c - does a rule speak of this? See rules.h. */
#include "common/compat.h"

#include <strings.h>

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/policy/rules.h"

bool
rule_star(const char *p, const char *s, bool slash)
{
	const char *star = NULL, *back = NULL;

	for (;;) {
		if (*p == '*') {
			star = ++p;
			back = s;
		} else if (*s == '\0') {
			return *p == '\0';
		} else if (*p == *s) {
			p++;
			s++;
		} else if (star != NULL && (slash || *back != '/')) {
			p = star;
			s = ++back;
		} else {
			return false;
		}
	}
}

const char *
rule_base(const char *word)
{
	const char *p = strrchr(word, '/');

	return p != NULL && p[1] != '\0' ? p + 1 : word;
}

/* --- commands ------------------------------------------------------------ */

/* Bytes at its front that are known. */
static size_t
known_prefix(const struct sh_word *w)
{
	if ((w->flags & SH_GLOB) != 0)
		return strcspn(w->text, "$`<>*?[");
	return strcspn(w->text, "$`<>");
}

/* What is computed may become many words, or none. */
static bool
is_many(const struct sh_word *w)
{
	if ((w->flags & SH_GLOB) != 0)
		return true;
	return (w->flags & SH_COMPUTED) != 0 &&
	    ((w->flags & SH_QUOTED) == 0 || strchr(w->text, '@') != NULL);
}

static enum rule_match
word_blocks(const char *pat, const struct sh_word *w, bool first)
{
	size_t known, head = strcspn(pat, "*");
	const char *text = w->text;

	if ((w->flags & (SH_COMPUTED | SH_GLOB)) == 0) {
		if (rule_star(pat, text, true) ||
		    (first && rule_star(pat, rule_base(text), true)))
			return MATCH_YES;
		return MATCH_NO;
	}
	if (strcmp(pat, "*") == 0)
		return MATCH_YES;
	if ((w->flags & SH_COMPUTED) == 0 && rule_star(pat, text, true))
		return MATCH_YES;
	known = known_prefix(w);
	if (first && memchr(text, '/', known) != NULL)
		return MATCH_MAYBE;
	return strncmp(pat, text, known < head ? known : head) == 0
	    ? MATCH_MAYBE
	    : MATCH_NO;
}

/* A lone star stands for one or more words. may: what is computed fits. */
static bool
words_block(const struct rule *r, const struct sh_word *w, size_t n, bool may)
{
	size_t p = 0, i = 0, star = SIZE_MAX, back = 0;
	enum rule_match m;

	for (;;) {
		if (p == r->words.n && (r->more || i == n))
			return true;
		if (i == n)
			return false;
		if (p < r->words.n && strcmp(r->words.v[p], "*") == 0) {
			star = ++p;
			back = ++i;
			continue;
		}
		m = p < r->words.n ? word_blocks(r->words.v[p], &w[i], i == 0)
				   : MATCH_NO;
		if (may && is_many(&w[i]) &&
		    (m != MATCH_NO || known_prefix(&w[i]) == 0))
			return true;
		if (m == MATCH_YES || (m == MATCH_MAYBE && may)) {
			p++;
			i++;
		} else if (star != SIZE_MAX) {
			p = star;
			i = ++back;
		} else {
			return false;
		}
	}
}

static void
join(struct buf *b, const char *first, const struct sh_word *w, size_t n)
{
	size_t i;

	(void)buf_adds(b, first);
	for (i = 1; i < n; i++)
		(void)buf_printf(b, " %s", w[i].text);
}

/* As one string: a star stands for blanks too. */
static bool
string_blocks(const struct rule *r, const struct sh_word *w, size_t n)
{
	struct buf p, s;
	bool match;
	size_t i;

	buf_init(&p, BUF_NOMAX);
	buf_init(&s, BUF_NOMAX);
	for (i = 0; i < r->words.n; i++)
		(void)buf_printf(&p, "%s%s", i > 0 ? " " : "", r->words.v[i]);
	join(&s, w[0].text, w, n);
	match = rule_star(buf_str(&p), buf_str(&s), true);
	if (!match) {
		buf_reset(&s);
		join(&s, rule_base(w[0].text), w, n);
		match = rule_star(buf_str(&p), buf_str(&s), true);
	}
	if (!match && r->more) {
		(void)buf_adds(&p, " *");
		match = rule_star(buf_str(&p), buf_str(&s), true);
	}
	buf_clear(&p);
	buf_clear(&s);
	return match;
}

enum rule_match
rule_blocks(const struct rule *r, const struct sh_word *w, size_t n)
{
	if (r->pattern == NULL)
		return MATCH_YES;
	if (n == 0)
		return MATCH_NO;
	if (words_block(r, w, n, false) ||
	    (r->spelled < r->words.n && string_blocks(r, w, n)))
		return MATCH_YES;
	return words_block(r, w, n, true) ? MATCH_MAYBE : MATCH_NO;
}

static bool
word_allows(const char *pat, const struct sh_word *w, bool first)
{
	if (first)
		return (w->flags & (SH_COMPUTED | SH_GLOB)) == 0 &&
		    rule_star(pat, w->text, false);
	if (strcmp(pat, "*") == 0)
		return true;
	return (w->flags & SH_COMPUTED) == 0 && rule_star(pat, w->text, true);
}

bool
rule_allows(const struct rule *r, const struct sh_word *w, size_t n)
{
	size_t p = 0, i = 0, star = SIZE_MAX, back = 0;

	if (r->pattern == NULL)
		return true;
	if (n == 0 || (w[0].flags & (SH_COMPUTED | SH_GLOB)) != 0)
		return false;
	for (;;) {
		if (p == r->words.n && (r->more || i == n))
			return true;
		if (i == n)
			return false;
		if (i > 0 && p < r->words.n &&
		    strcmp(r->words.v[p], "*") == 0) {
			star = ++p;
			back = ++i;
		} else if (p < r->words.n &&
		    word_allows(r->words.v[p], &w[i], i == 0)) {
			p++;
			i++;
		} else if (star != SIZE_MAX) {
			p = star;
			i = ++back;
		} else {
			return false;
		}
	}
}

/* --- paths --------------------------------------------------------------- */

/* rel: below the pattern's base. A match of a directory is one of all that is
 * in it. */
static bool
glob_below(const char *pat, const char *rel)
{
	char *anchored, *path, *p;
	size_t len = strlen(pat);
	bool match = false;

	if (strcmp(rel, "") == 0)
		return strcmp(pat, "") == 0 || strcmp(pat, "**") == 0;
	/* A slash that is not at the end ties it to its base; text_glob()
	 * compares a pattern without one with the last component. */
	if (len > 0 && pat[len - 1] == '/')
		len--;
	if (memchr(pat, '/', len) != NULL) {
		anchored =
		    xasprintf("@/%.*s", (int)(len - (*pat == '/' ? 1 : 0)),
			*pat == '/' ? pat + 1 : pat);
		path = xasprintf("@/%s", rel);
	} else {
		anchored = xstrndup(pat, len);
		path = xstrdup(rel);
	}
	for (p = path + (*path == '@' ? 2 : 0); !match && p != NULL;) {
		p = strchr(p, '/');
		if (p != NULL)
			*p = '\0';
		match = text_glob(anchored, path);
		if (p != NULL)
			*p++ = '/';
	}
	free(anchored);
	free(path);
	return match;
}

static bool
covers_from(const char *pat, const char *path, const char *base)
{
	const char *rel = base != NULL ? path_rel(path, base) : NULL;

	return rel != NULL && glob_below(pat, rel);
}

bool
rule_covers_path(
    const struct rule *r, const char *path, const struct judge_place *where)
{
	const char *p = r->pattern;

	if (p == NULL)
		return true;
	if (text_starts(p, "//"))
		return covers_from(p + 1, path, "/");
	if (strcmp(p, "~") == 0)
		return where->home != NULL && path_is_below(path, where->home);
	if (text_starts(p, "~/"))
		return covers_from(p + 1, path, where->home);
	if (*p == '/')
		return covers_from(p, path, where->workspace);
	if (text_starts(p, "./"))
		return covers_from(p + 1, path, where->cwd);
	if (covers_from(p, path, where->cwd))
		return true;
	/* ".env" must not become readable by going into a directory. */
	return r->ruling != RULING_ALLOW &&
	    covers_from(p, path, where->workspace);
}

/* May something below path, which is rel from the pattern's base, match it?
 * Component by component, until one stands for any number of them. */
static bool
goes_on_below(const char *pat, const char *rel)
{
	char *want, *have;
	bool match = true;
	size_t n, k;

	while (*rel != '\0' && match) {
		n = strcspn(pat, "/");
		k = strcspn(rel, "/");
		if (n == 2 && strncmp(pat, "**", 2) == 0)
			return true;
		want = xstrndup(pat, n);
		have = xstrndup(rel, k);
		match = n > 0 && text_glob(want, have);
		free(want);
		free(have);
		pat += n + strspn(pat + n, "/");
		rel += k + strspn(rel + k, "/");
	}
	return match && *pat != '\0';
}

/* Does a pattern that is counted from base speak of something in path? */
static bool
speaks_below(const char *pat, const char *base, const char *path)
{
	const char *rel;

	pat += strspn(pat, "/");
	if (base == NULL || *pat == '\0')
		return false;
	rel = path_rel(path, base);
	if (rel != NULL)
		return goes_on_below(pat, rel);
	return path_is_below(base, path);
}

bool
rule_lies_below(
    const struct rule *r, const char *path, const struct judge_place *where)
{
	const char *p = r->pattern;

	if (p != NULL && strcmp(p, "~") == 0)
		return where->home != NULL && path_is_below(where->home, path);
	if (p == NULL || strchr(p, '/') == NULL || text_starts(p, "**/"))
		return false; /* of any directory: rule_covers_path() */
	if (text_starts(p, "//"))
		return speaks_below(p, "/", path);
	if (text_starts(p, "~/"))
		return speaks_below(p + 1, where->home, path);
	if (*p == '/')
		return speaks_below(p, where->workspace, path);
	if (text_starts(p, "./"))
		return speaks_below(p + 2, where->cwd, path);
	return speaks_below(p, where->cwd, path) ||
	    speaks_below(p, where->workspace, path);
}

bool
rule_covers_host(const struct rule *r, const char *host)
{
	const char *p;
	size_t n, h = strlen(host);

	if (r->pattern == NULL)
		return true;
	if (h > 0 && host[h - 1] == '.')
		h--; /* the same host */
	p = r->pattern + strlen("domain:");
	n = strlen(p);
	if (strncmp(p, "*.", 2) != 0)
		return n == h && strncasecmp(p, host, n) == 0;
	return h > n - 1 && strncasecmp(host + h - (n - 1), p + 1, n - 1) == 0;
}
