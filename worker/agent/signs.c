/* signs.c - see signs.h. */
#include "common/compat.h"

#include <ctype.h>
#include <stdio.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/policy/guard.h"
#include "worker/agent/signs.h"
#include "worker/agent/signs_priv.h"

#define SIGNS_MAX 16
#define NEAR 2 /* lines */

#define ENDS "ends the process as if all were well"
#define EQUAL "is equal to everything"
#define BUILD "changes how the tests are built or run"

/* A line that the patch adds, in the patch and stripped of comments. */
struct line {
	const char *raw;
	size_t raw_len, at, len;
	unsigned long nr, hunk;
};

struct scan {
	const struct agent *a;
	int base_fd;
	struct signs *ret;
	struct strv removed; /* sorted: lines that the patch takes out */
	char path[4097];     /* of the file now; "" when it is none of ours */
	unsigned langs;
	unsigned mode;   /* of a new file, else 0 */
	struct buf base; /* without comments */
	bool has_base;
	const char *sourced_by; /* a protected script reads it */
	struct lexer lex;
	unsigned long line, hunk;
	/* What is added to it. */
	struct buf text;
	struct line *lines;
	size_t n_lines, cap_lines, cases;
	bool ids; /* one of them takes an object's address */
};

/* --- lines --------------------------------------------------------------- */

static const char *
find(const char *s, size_t len, const char *what)
{
	return memmem(s, len, what, strlen(what));
}

static int
cmp_str(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool
is_moved(const struct scan *s, const char *p, size_t len)
{
	char *text = xstrndup(p, len);
	bool moved = s->removed.n > 0 &&
	    bsearch(&text, s->removed.v, s->removed.n, sizeof(char *),
		cmp_str) != NULL;

	free(text);
	return moved;
}

static void
add(struct scan *s, enum weight weight, const char *what, const struct line *l)
{
	struct signs *r = s->ret;
	struct strv *to = weight == GRAVE ? &r->grave : &r->light;
	const char *p = l->raw;
	size_t len = l->raw_len;
	char *text;

	if (to->n >= SIGNS_MAX || is_moved(s, p, len))
		return;

	while (len > 0 && (*p == ' ' || *p == '\t')) {
		p++;
		len--;
	}
	text = xasprintf("%.300s:%lu %s: %.*s", s->path, l->nr, what,
	    (int)text_cut(p, len, 120), p);
	strv_add(to, text);
	if (weight == EXIT)
		strv_add(&r->exits, text);
	free(text);
}

static const char *
text_of(const struct scan *s, const struct line *l)
{
	return buf_str(&s->text) + l->at;
}

static bool
in_base_n(const struct scan *s, const char *p, size_t len)
{
	return s->base.len > 0 &&
	    memmem(buf_str(&s->base), s->base.len, p, len) != NULL;
}

static bool
in_base(const struct scan *s, const char *what)
{
	return in_base_n(s, what, strlen(what));
}

static size_t
indent(const struct line *l)
{
	size_t n = 0;

	while (n < l->raw_len && (l->raw[n] == ' ' || l->raw[n] == '\t'))
		n++;
	return n;
}

static bool
says(const struct scan *s, const struct line *l, const char *what)
{
	return find(text_of(s, l), l->len, what) != NULL;
}

/* A comparison of line i that does not look at what it compares. */
static void
equal(struct scan *s, size_t i)
{
	const struct line *def = &s->lines[i], *l, *found = NULL;
	const char *p = text_of(s, def);
	enum weight weight;
	struct buf body;
	bool nothing = true, lambda;

	if ((s->langs & PY) == 0 || !says(s, def, "__eq__"))
		return;
	lambda = says(s, def, "lambda ");
	if (lambda && signs_equal(p, def->len, "lambda ", NULL, 0, &weight))
		add(s, weight, EQUAL, def);
	if (lambda || !says(s, def, "def __eq__"))
		return;
	buf_init(&body, BUF_NOMAX);
	for (i++; i < s->n_lines; i++) {
		l = &s->lines[i];
		if (l->hunk != def->hunk || indent(l) <= indent(def))
			break;
		nothing =
		    nothing && signs_compares_nothing(text_of(s, l), l->len);
		if (says(s, l, "return "))
			found = l;
		(void)buf_printf(&body, "%.*s\n", (int)l->len, text_of(s, l));
	}
	if (found == NULL) {
		if (says(s, def, "return ") &&
		    signs_equal(p, def->len, "__eq__(", NULL, 0, &weight))
			add(s, weight, EQUAL, def);
	} else if (signs_equal(p, def->len, "__eq__(", buf_str(&body), body.len,
		       &weight))
		add(s, weight, EQUAL, found);
	else if (nothing)
		add(s, says(s, found, "return True") ? GRAVE : LIGHT, EQUAL,
		    found);
	buf_clear(&body);
}

/* A comparison in line i that takes more for equal than is: "or" in what it
 * returns, a type that is enough, never unequal, one hash for all. */
static void
loose(struct scan *s, size_t i)
{
	const struct line *def = &s->lines[i], *l, *before = NULL;
	bool py = (s->langs & PY) != 0, go = (s->langs & GO) != 0;
	bool eq = py && says(s, def, "def __eq__");
	bool ne = py && says(s, def, "def __ne__");
	bool hash = py && says(s, def, "def __hash__");
	size_t n = 0;

	if (py && signs_never_unequal(text_of(s, def), def->len, false))
		add(s, GRAVE, EQUAL, def);
	go = go && says(s, def, "func (") && says(s, def, ") Equal(");
	if (go && says(s, def, "{ return true"))
		add(s, LIGHT, EQUAL, def);
	if (!eq && !ne && !hash && !go)
		return;
	for (i++; i < s->n_lines; i++, before = l) {
		l = &s->lines[i];
		if (l->hunk != def->hunk || indent(l) <= indent(def))
			return;
		n++;
		if (eq && says(s, l, "return ") && says(s, l, " or "))
			add(s, LIGHT, EQUAL, l);
		else if (eq && before != NULL && says(s, l, "return True") &&
		    (says(s, before, "if isinstance(") ||
			says(s, before, "if type(")))
			add(s, LIGHT, EQUAL, l);
		else if (ne && n == 1 &&
		    signs_never_unequal(text_of(s, l), l->len, true))
			add(s, GRAVE, EQUAL, l);
		else if ((hash && n == 1 &&
			     (says(s, l, "return 0") ||
				 says(s, l, "return 1"))) ||
		    (go && n == 1 && says(s, l, "return true")))
			add(s, LIGHT, EQUAL, l);
		else
			continue;
		return;
	}
}

/* What a rule wants besides, in or near line i. */
static bool
has_also(const struct scan *s, size_t i, const char *also)
{
	const struct line *l = &s->lines[i];
	bool sets = strncmp(also, "?set", 4) == 0;
	bool all = strcmp(also, "?sets") == 0 || strcmp(also, "?file") == 0;
	size_t near = strcmp(also, "?test") == 0 ? NEAR : 0;
	size_t k;

	if (strcmp(also, "?mock") == 0)
		return find(buf_str(&s->text), s->text.len, "mock") != NULL;
	if (*also != '?')
		return find(text_of(s, l), l->len, also) != NULL;
	for (k = 0; k < s->n_lines; k++) {
		const struct line *o = &s->lines[k];

		if (!all &&
		    (k + near < i || k > i + near || o->hunk != l->hunk))
			continue;
		if (sets ? signs_sets(text_of(s, o), o->len)
			 : signs_has_test(text_of(s, o), o->len))
			return true;
	}
	return false;
}

/* It ends who reads it, too. */
static void
add_exit(struct scan *s, const struct line *l)
{
	char *what = s->sourced_by != NULL
	    ? xasprintf(ENDS ", and %.300s reads it", s->sourced_by)
	    : xstrdup(ENDS);

	add(s, s->sourced_by != NULL ? GRAVE : EXIT, what, l);
	free(what);
}

/* No word of a table says it. */
static bool
by_shape(struct scan *s, const struct line *l)
{
	const char *p = text_of(s, l), *what = NULL, *name;
	enum weight weight;
	size_t n;

	if ((s->langs & SH) != 0)
		what = signs_shell_name(p, l->len);
	if ((s->langs & MK) != 0)
		what = signs_make_line(l->raw, p, l->len);
	if (what != NULL) {
		add(s, GRAVE, what, l);
		return true;
	}
	if ((s->langs & C) != 0 && (n = signs_macro(p, l->len, &name)) > 0 &&
	    !in_base_n(s, p, (size_t)(name - p) + n) &&
	    signs_is_function(s->base_fd, s->path, name, n)) {
		add(s, GRAVE, "puts a macro in a function's place", l);
		return true;
	}
	what = signs_code(
	    s->langs, l->raw, l->raw_len, p, l->len, s->ids, &weight);
	if (what != NULL) {
		add(s, weight, what, l);
		if (weight == GRAVE)
			return true;
	}
	if (!signs_is_exit(s->langs, p, l->len) ||
	    signs_is_exit(s->langs, buf_str(&s->base), s->base.len))
		return false;
	add_exit(s, l);
	return s->sourced_by != NULL;
}

static void
by_rules(struct scan *s, size_t i)
{
	const struct line *l = &s->lines[i];
	const struct rule *best = NULL;
	const char *p = text_of(s, l);
	size_t k;

	for (k = 0; k < signs_n_rules; k++) {
		const struct rule *r = &signs_rules[k];

		if ((r->langs & s->langs) == 0 ||
		    find(p, l->len, r->mark) == NULL ||
		    (r->also != NULL && !has_also(s, i, r->also)) ||
		    in_base(s, r->mark))
			continue;
		if (best == NULL || r->weight == GRAVE ||
		    (r->weight == EXIT && best->weight == LIGHT))
			best = r;
		if (r->weight == GRAVE)
			break;
	}
	if (best != NULL)
		add(s, best->weight, best->what, l);
}

/* "if n == 37: return 41", where a test has both. */
static void
own_case(struct scan *s, size_t i)
{
	const struct line *l = &s->lines[i], *next = l + 1;
	const struct line *end = s->lines + s->n_lines;
	char *what;

	if (next < end && next->len == 1 && *text_of(s, next) == '{')
		next++;
	if (next == end || next->hunk != l->hunk)
		next = l;
	what = signs_case(s->a, s->base_fd, s->langs, text_of(s, l), l->len,
	    text_of(s, next), next->len, &s->removed, &s->cases);
	if (what != NULL)
		add(s, LIGHT, what, l);
	free(what);
}

/* All that was added to the file. */
static void
end_file(struct scan *s)
{
	size_t i;

	s->ids = false;
	for (i = 0; i < s->n_lines && !s->ids; i++)
		s->ids =
		    signs_has_id(text_of(s, &s->lines[i]), s->lines[i].len);
	for (i = 0; i < s->n_lines; i++) {
		equal(s, i);
		loose(s, i);
		own_case(s, i);
		if (!by_shape(s, &s->lines[i]))
			by_rules(s, i);
	}
	s->n_lines = 0;
	buf_reset(&s->text);
}

static void
added(struct scan *s, const char *p, size_t len)
{
	struct line *l;

	if (s->langs == 0)
		return;
	if (s->n_lines == s->cap_lines) {
		s->cap_lines = s->cap_lines > 0 ? s->cap_lines * 2 : 64;
		s->lines =
		    xreallocarray(s->lines, s->cap_lines, sizeof *s->lines);
	}
	l = &s->lines[s->n_lines];
	*l = (struct line){ .raw = p,
		.raw_len = len,
		.at = s->text.len,
		.nr = s->line,
		.hunk = s->hunk };
	/* a comment that is none */
	if ((s->langs & GO) != 0 && find(p, len, "//go:") == p)
		(void)buf_add(&s->text, p, len);
	else
		signs_strip(&s->lex, p, len, &s->text);
	l->len = s->text.len - l->at;
	if (l->len > 0)
		s->n_lines++;
}

/* A line that stays: a comment may begin or end in it. */
static void
kept(struct scan *s, const char *p, size_t len)
{
	size_t at = s->text.len;

	if (s->langs == 0)
		return;
	signs_strip(&s->lex, p, len, &s->text);
	if (at == 0)
		buf_reset(&s->text);
	else
		s->text.len = at;
}

/* --- what protected files read ------------------------------------------- */

/* What has no name of a language may be one by who reads it. */
static unsigned
lang_of(struct scan *s, const char *text)
{
	unsigned lang = signs_lang(s->path);
	const char *by;

	if (lang == 0)
		lang = signs_lang_of_script(text);
	if (lang != 0 && lang != SH)
		return lang;
	if ((by = signs_reader(s->a, s->base_fd, s->path)) != NULL) {
		if (signs_lang(by) == MK)
			return MK;
		s->sourced_by = by;
		return SH;
	}
	return lang != 0 || (s->mode & 0111) != 0 ? SH : 0;
}

/* The text before, without its comments. */
static void
read_base(struct scan *s)
{
	struct lexer x = { .langs = s->langs };
	struct buf raw;
	const char *p, *nl;

	buf_init(&raw, SIGNS_FILE_MAX);
	s->has_base = s->path[0] != '\0' &&
	    file_read_at(s->base_fd, s->path, true, &raw, NULL) >= 0;
	s->sourced_by = NULL;
	s->langs = guard_is_builtin(s->path) ? 0 : lang_of(s, buf_str(&raw));
	x.langs = s->langs;
	for (p = buf_str(&raw); *p != '\0' && s->langs != 0; p = nl) {
		nl = p + strcspn(p, "\n");
		signs_strip(&x, p, (size_t)(nl - p), &s->base);
		(void)buf_addc(&s->base, '\n');
		nl += *nl == '\n';
	}
	buf_clear(&raw);
}

/* "b/src/a.c", perhaps quoted; with odd bytes it stays as it is written. */
static void
begin_file(struct scan *s, const char *name, size_t len)
{
	if (len > 0 && *name == '"') {
		name++;
		len -= 1 + (len > 1 && name[len - 2] == '"');
	}
	if (len > 2 && memcmp(name, "b/", 2) == 0) {
		name += 2;
		len -= 2;
	}
	if (len >= sizeof s->path)
		len = 0;
	memcpy(s->path, name, len);
	s->path[len] = '\0';
	buf_reset(&s->base);
	read_base(s);
}

/* What a new file is by its name alone. */
static void
new_file(struct scan *s)
{
	const char *what, *by;

	if (s->path[0] == '\0' || s->has_base || guard_is_builtin(s->path) ||
	    s->ret->grave.n >= SIGNS_MAX)
		return;
	if ((what = signs_shadow(s->base_fd, s->path, s->mode)) != NULL)
		strv_addf(&s->ret->grave, "%.300s %s", s->path, what);
	else if ((by = signs_reader(s->a, s->base_fd, s->path)) != NULL)
		strv_addf(&s->ret->grave, "%.300s is new, and %.300s reads it",
		    s->path, by);
}

/* What a test expects may stand beside it, in a file that is no source. */
static void
old_data(struct scan *s)
{
	const char *name = path_base(s->path), *by;

	if (!s->has_base || s->langs != 0 || guard_is_builtin(s->path) ||
	    strlen(name) < 4 || s->ret->light.n >= SIGNS_MAX)
		return;
	if ((by = signs_named_by(s->a, s->base_fd, name)) != NULL)
		strv_addf(&s->ret->light,
		    "%.300s is changed, which %.300s reads: is that the fix, "
		    "or what was expected?",
		    s->path, by);
}

/* --- the patch ----------------------------------------------------------- */

static void
removed(struct scan *s, const char *p, size_t len)
{
	if (len > 0)
		strv_addn(&s->removed, p, len);
}

/* Each line that is added (plus) or taken out, with its file and number. */
static void
walk(struct scan *s, const char *p, size_t left, bool plus)
{
	unsigned long old = 0, new = 0, from, n_old, to, n_new;
	size_t len;
	char head[96];

	s->path[0] = '\0';
	for (; left > 0; p += len, left -= len) {
		const char *nl = memchr(p, '\n', left);
		size_t n = nl != NULL ? (size_t)(nl - p) : left;

		len = n + (nl != NULL);
		if (old > 0 || new > 0) {
			char c = n > 0 ? *p : ' ';

			if (c == '\\')
				continue;
			if (c == '+' && plus && n > 0)
				added(s, p + 1, n - 1);
			if (c == ' ' && plus && n > 0)
				kept(s, p + 1, n - 1);
			if (c == '-' && !plus)
				removed(s, p + 1, n - 1);
			s->line += c != '-';
			new -= c != '-' && new > 0;
			old -= c != '+' && old > 0;
			continue;
		}
		if (n > 4 && memcmp(p, "+++ ", 4) == 0) {
			end_file(s);
			begin_file(s, p + 4,
			    strnlen(p + 4, n - 4) < n - 4 ? 0 : n - 4);
			if (s->mode != 0 && plus)
				new_file(s);
			else if (plus)
				old_data(s);
		} else if (n > 11 && memcmp(p, "diff --git ", 11) == 0) {
			end_file(s);
			s->mode = 0;
			s->path[0] = '\0';
			s->langs = 0;
		}
		(void)strlcpy(
		    head, p, n + 1 < sizeof head ? n + 1 : sizeof head);
		if (sscanf(head, "new file mode %o", &s->mode) == 1)
			continue;
		n_old = n_new = 1;
		if (sscanf(head, "@@ -%lu,%lu +%lu,%lu @@", &from, &n_old, &to,
			&n_new) == 4 ||
		    sscanf(head, "@@ -%lu,%lu +%lu @@", &from, &n_old, &to) ==
			3 ||
		    sscanf(head, "@@ -%lu +%lu,%lu @@", &from, &to, &n_new) ==
			3 ||
		    sscanf(head, "@@ -%lu +%lu @@", &from, &to) == 2) {
			old = n_old;
			new = n_new;
			s->line = to;
			s->hunk++;
			s->lex = (struct lexer){ .langs = s->langs,
				.at_start = from > 1 };
		}
	}
	end_file(s);
}

void
signs_find(const struct agent *a, int base_fd, const char *patch, size_t len,
    struct signs *ret)
{
	struct scan s = { .a = a, .base_fd = base_fd, .ret = ret };

	*ret = (struct signs){ 0 };
	buf_init(&s.base, SIGNS_FILE_MAX);
	buf_init(&s.text, BUF_NOMAX);
	walk(&s, patch, len, false);
	strv_sort(&s.removed);
	walk(&s, patch, len, true);
	buf_clear(&s.base);
	buf_clear(&s.text);
	free(s.lines);
	strv_clear(&s.removed);
}

void
signs_clear(struct signs *s)
{
	strv_clear(&s->grave);
	strv_clear(&s->light);
	strv_clear(&s->exits);
}
