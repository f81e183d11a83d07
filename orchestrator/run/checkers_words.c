/* checkers_words.c - see checkers_words.h. */
#include "common/compat.h"

#include <ctype.h>
#include <strings.h>

#include "common/buf.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/run/checkers_words.h"

#define MAX_VALUES 1024 /* of a word */
#define MAX_GLOBS 512   /* of a finder: each looks at all files */
#define MAX_EXPANSIONS 8
#define MAX_WORD 4096
#define MAX_WORK 200000 /* words with something put in, of a finder */

/* --- files ---------------------------------------------------------------- */

static int
by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool
is_file(const struct finder *f, const char *path)
{
	return f->files->n > 0 &&
	    bsearch(&path, f->files->v, f->files->n, sizeof path, by_bytes) !=
	    NULL;
}

/* path, as seen from the directory at. Both are clean. */
static void
add_below(struct strv *ret, const char *at, const char *path)
{
	const char *rel = path_rel(path, at), *s;
	struct buf up;

	if (*at == '\0' || rel != NULL) {
		strv_add(ret, rel != NULL ? rel : path);
		return;
	}
	buf_init(&up, BUF_NOMAX);
	for (s = at; s != NULL; s = strchr(s + 1, '/'))
		(void)buf_adds(&up, "../");
	(void)buf_adds(&up, path);
	strv_add(ret, buf_str(&up));
	buf_clear(&up);
}

void
checkers_glob(
    struct finder *f, const char *at, const char *word, struct strv *ret)
{
	char *rel = path_join(at, word), *clean = path_normal(rel);
	char *dir = path_normal(at);
	/* Without a directory text_glob() looks at last components only. */
	bool top = strchr(clean, '/') == NULL;
	size_t i;

	if (strcmp(dir, ".") == 0)
		*dir = '\0';
	if (*word != '/' && ++f->globs <= MAX_GLOBS)
		for (i = 0; i < f->files->n && ret->n < MAX_VALUES; i++)
			if ((!top || strchr(f->files->v[i], '/') == NULL) &&
			    text_glob(clean, f->files->v[i]))
				add_below(ret, dir, f->files->v[i]);
	free(rel);
	free(clean);
	free(dir);
}

static bool
is_glob(const char *word)
{
	return strpbrk(word, "*?") != NULL;
}

/* Adds the files that a word without expansions means, as seen from dir. */
static bool
add_at(const struct scan *s, const char *at, const char *word, struct strv *ret)
{
	struct strv names = { 0 };
	size_t i, had = ret->n;

	if (is_glob(word))
		checkers_glob(s->f, at, word, &names);
	else
		strv_add(&names, word);
	for (i = 0; i < names.n; i++) {
		char *rel = path_join(at, names.v[i]);
		char *clean = path_normal(rel);

		if (is_file(s->f, clean) && !strv_has(ret, clean))
			strv_add(ret, clean);
		free(rel);
		free(clean);
	}
	strv_clear(&names);
	return ret->n > had;
}

/* --- words ---------------------------------------------------------------- */

static size_t
name_len(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n;
}

/* Where the expansion at s ("$...") ends. */
static const char *
expansion_end(const char *s)
{
	char open = s[1], close = open == '(' ? ')' : '}';
	unsigned depth = 0;

	if (open != '(' && open != '{') {
		s += 1 + name_len(s + 1);
		return s +
		    (strchr("@*#?$!-", *s) != NULL && *s != '\0' &&
			s[-1] == '$');
	}
	for (s++; *s != '\0'; s++) {
		depth += *s == open;
		if (*s == close && --depth == 0)
			return s + 1;
	}
	return s;
}

/* ${name%x}, ${name%.*} and ${name##*}/ of a value; NULL: not known. Yours. */
static char *
cut_value(const char *value, const char *op, size_t len)
{
	const char *dot = strrchr(value, '.');
	size_t n = strlen(value);
	bool twice = len > 1 && op[1] == op[0];

	if (len == 0)
		return xstrdup(value);
	if (len == 4 && strncmp(op, "##*/", 4) == 0)
		return xstrdup(path_base(value));
	if (*op != '%')
		return NULL;
	op += 1 + twice;
	len -= 1 + twice;
	if (len == 2 && strncmp(op, ".*", 2) == 0)
		return xstrndup(value, dot != NULL ? (size_t)(dot - value) : n);
	if (n >= len && strncmp(value + n - len, op, len) == 0)
		return xstrndup(value, n - len);
	return NULL;
}

/* A word with its expansions put in. prefix: what stood before the first "/"
 * was one, and is left out. */
static void
expand(const struct scan *s, const char *word, unsigned depth, struct strv *ret,
    bool *prefix)
{
	const char *from = strchr(word, '$'), *end, *name;
	struct strv values = { 0 };
	size_t i, n, len;

	if (++s->f->work > MAX_WORK || depth > MAX_EXPANSIONS ||
	    strlen(word) > MAX_WORD || ret->n >= MAX_VALUES)
		return;
	if (from == NULL) {
		strv_add(ret, word);
		return;
	}
	end = expansion_end(from);
	name = from + 1 + (from[1] == '{');
	len = name_len(name);
	for (i = 0; i < s->vars.n; i++) {
		char *cut;

		if (strlen(s->vars.v[i]) != len ||
		    strncmp(s->vars.v[i], name, len) != 0)
			continue;
		n = from[1] == '{' ? (size_t)(end - name) - len : 0;
		cut = cut_value(s->values.v[i], name + len, n > 0 ? n - 1 : 0);
		if (cut != NULL)
			strv_take(&values, &cut);
	}
	if (values.n == 0 && from == word && *end == '/') {
		*prefix = true;
		expand(s, end + 1, depth + 1, ret, prefix);
		return;
	}
	/* "dir/$x" may be any file; "dir/$x.out" may not. */
	if (values.n == 0 && (*end != '\0' || (from > word && from[-1] != '/')))
		strv_add(&values, "*");
	for (i = 0; i < values.n && ret->n < MAX_VALUES; i++) {
		char *now = xasprintf(
		    "%.*s%s%s", (int)(from - word), word, values.v[i], end);

		expand(s, now, depth + 1, ret, prefix);
		free(now);
	}
	strv_clear(&values);
}

void
words_resolve(const struct scan *s, const char *word, struct strv *ret)
{
	struct strv all = { 0 };
	bool prefix = false;
	size_t i;

	expand(s, word, 0, &all, &prefix);
	for (i = 0; i < all.n; i++) {
		char *above = path_join(s->here, "..");
		char *up = path_normal(above);

		if (*all.v[i] == '/' ||
		    (prefix && strcmp(path_base(all.v[i]), "*") == 0) ||
		    strpbrk(all.v[i], "`\n") != NULL) {
			free(above);
			free(up);
			continue;
		}
		if (!add_at(s, prefix ? s->here : s->at, all.v[i], ret) &&
		    !add_at(s, prefix ? s->at : s->here, all.v[i], ret) &&
		    prefix)
			(void)add_at(s, up, all.v[i], ret);
		free(above);
		free(up);
	}
	strv_clear(&all);
}

/* Words of a "for"; those of "$(wildcard a*)" and "$(ls a*)" are its own. */
static void
loop_words(struct scan *s, const char *name, size_t len, char *list)
{
	static const char *const calls[] = { "$(wildcard ", "$(ls " };
	char *p = list, *to = list, *from;
	const char *end;
	size_t i;

	for (i = 0; i < nitems(calls); i++)
		if (text_starts(list, calls[i])) {
			p += strlen(calls[i]);
			p[strcspn(p, ")")] = '\0';
		}
	while (*p != '\0' && s->vars.n < MAX_VALUES) {
		p += strspn(p, " \t");
		for (from = to; *p != '\0' && strchr(" \t", *p) == NULL;) {
			end = *p == '$' ? expansion_end(p) : p + 1;
			for (; p < end; p++)
				if (*p != '"' && *p != '\'')
					*to++ = *p;
		}
		if (to == from)
			continue;
		strv_addn(&s->vars, name, len);
		strv_addn(&s->values, from, (size_t)(to - from));
	}
}

void
words_loops(struct scan *s, const char *text)
{
	const char *p = text, *name, *end;
	size_t len;
	char *list;

	while (s->vars.n < MAX_VALUES && (p = strstr(p, "for ")) != NULL) {
		bool first = p == text || strchr("\n;&|({ \t", p[-1]) != NULL;

		name = p += 4;
		len = name_len(name);
		end = name + len + strspn(name + len, " \t\n");
		if (!first || len == 0 || strncmp(end, "in ", 3) != 0)
			continue;
		end += 3 + strspn(end + 3, " \t");
		list = xstrndup(end, strcspn(end, ";\n|&"));
		loop_words(s, name, len, list);
		free(list);
	}
}

const char *
words_loop_at(const struct scan *s, const char *word)
{
	const char *w = word + 2 * text_starts(word, "./"), *name;
	size_t i, len;

	if (*w != '$')
		return NULL;
	name = w + 1 + (w[1] == '{');
	len = name_len(name);
	for (i = 0; i < s->vars.n; i++)
		if (strlen(s->vars.v[i]) == len &&
		    strncmp(s->vars.v[i], name, len) == 0)
			return w;
	return NULL;
}

bool
words_has_part(const char *name, const char *const *parts, size_t n)
{
	size_t i, len;

	for (const char *p = name; *p != '\0'; p++) {
		if (p > name && isalpha((unsigned char)p[-1]))
			continue;
		for (i = 0; i < n; i++) {
			len = strlen(parts[i]);
			if (strncasecmp(p, parts[i], len) == 0 &&
			    (!isalpha((unsigned char)p[len]) || len > 4))
				return true;
		}
	}
	return false;
}
