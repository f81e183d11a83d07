/* skills.c - see skills.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "worker/agent/dirlist.h"
#include "worker/agent/memory.h"
#include "worker/agent/skills.h"

#define NAME_MAX_BYTES 64
#define DESCRIPTION_MAX 400
#define ENTRIES_MAX 1000

static const char *const places[] = { ".agents/skills", ".claude/skills" };

bool
skill_name_ok(const char *name)
{
	size_t n = strspn(name,
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789._-");

	return n > 0 && n <= NAME_MAX_BYTES && name[n] == '\0' && *name != '.';
}

/* --- front matter -------------------------------------------------------- */

static size_t
line_len(const char *s, const char *end)
{
	const char *nl = memchr(s, '\n', (size_t)(end - s));

	return nl != NULL ? (size_t)(nl - s) : (size_t)(end - s);
}

static bool
is_rule(const char *s, size_t n)
{
	while (n > 0 && (s[n - 1] == '\r' || s[n - 1] == ' '))
		n--;
	return n == 3 && memcmp(s, "---", 3) == 0;
}

static void
trim(const char **s, size_t *n)
{
	while (*n > 0 && strchr(" \t\r", (*s)[*n - 1]) != NULL)
		(*n)--;
	while (*n > 0 && (**s == ' ' || **s == '\t')) {
		(*s)++;
		(*n)--;
	}
}

/* "value", 'value' or value; a block's mark is no value. */
static void
add_value(struct buf *b, const char *s, size_t n)
{
	trim(&s, &n);
	if (n >= 2 && (*s == '"' || *s == '\'') && s[n - 1] == *s) {
		s++;
		n -= 2;
	}
	if (b->len == 0 && n > 0 && n <= 2 && (*s == '>' || *s == '|'))
		return;
	if (n > 0 && b->len > 0)
		(void)buf_addc(b, ' ');
	(void)buf_add(b, s, n);
}

/* One line of clean text, or NULL. */
static char *
one_line(const struct buf *b, size_t max)
{
	struct buf c;
	char *out = NULL;
	size_t i;

	buf_init(&c, BUF_NOMAX);
	if (b->len > 0)
		(void)text_clean(&c, buf_str(b), b->len, 0);
	for (i = 0; i < c.len; i++) {
		if (c.data[i] == '\n' || c.data[i] == '\t')
			c.data[i] = ' ';
	}
	if (c.len > 0)
		out = xstrndup(c.data, text_cut(c.data, c.len, max));
	buf_clear(&c);
	return out;
}

size_t
skill_head(const char *s, size_t len, char **ret_name, char **ret_description)
{
	const char *p = s, *end = s + len;
	struct buf name, text, *into = NULL;
	size_t n = line_len(p, end), body = 0;

	*ret_name = *ret_description = NULL;
	if (!is_rule(p, n))
		return 0;
	buf_init(&name, SKILL_BYTES);
	buf_init(&text, SKILL_BYTES);
	for (p += n + (p + n < end); p < end; p += n + (p + n < end)) {
		n = line_len(p, end);
		if (is_rule(p, n)) {
			body = (size_t)(p + n + (p + n < end) - s);
			break;
		}
		if (n == 0 || *p == ' ' || *p == '\t' || *p == '\r') {
			if (into != NULL)
				add_value(into, p, n);
			continue;
		}
		into = NULL;
		if (n > 5 && memcmp(p, "name:", 5) == 0) {
			into = &name;
			add_value(into, p + 5, n - 5);
		} else if (n > 12 && memcmp(p, "description:", 12) == 0) {
			into = &text;
			add_value(into, p + 12, n - 12);
		}
	}
	if (body > 0) {
		*ret_name = one_line(&name, NAME_MAX_BYTES + 1);
		*ret_description = one_line(&text, DESCRIPTION_MAX);
	}
	buf_clear(&name);
	buf_clear(&text);
	return body;
}

/* --- finding ------------------------------------------------------------- */

static bool
has(const struct skills *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (strcmp(s->v[i].name, name) == 0)
			return true;
	}
	return false;
}

static void
add(const struct treefs *fs, const char *rel, struct skills *ret)
{
	struct treefs_name n = { .rel = path_join(rel, "SKILL.md") };
	char *name = NULL, *text = NULL;
	struct buf data;

	buf_init(&data, SKILL_BYTES);
	if (treefs_read(fs, &n, &data, NULL, NULL) < 0)
		goto out;
	(void)skill_head(buf_str(&data), data.len, &name, &text);
	if (name == NULL || !skill_name_ok(name)) {
		free(name);
		name = xstrdup(path_base(rel));
	}
	if (!skill_name_ok(name) || has(ret, name))
		goto out;
	ret->v = xreallocarray(ret->v, ret->n + 1, sizeof *ret->v);
	ret->v[ret->n++] = (struct skill){ .name = name,
		.description =
		    text != NULL ? text : xstrdup("(no description)"),
		.rel = xstrdup(rel) };
	name = text = NULL;
out:
	free(name);
	free(text);
	buf_clear(&data);
	treefs_name_clear(&n);
}

static void
scan(const struct treefs *fs, const char *place, struct skills *ret)
{
	struct treefs_name n = { .rel = xstrdup(place) };
	struct strv names = { 0 };
	char *rel;
	size_t i, len;

	if (dirlist(fs, &n, &names, NULL) < 0)
		goto out;
	strv_sort(&names);
	for (i = 0; i < names.n && i < ENTRIES_MAX && ret->n < SKILLS_MAX;
	     i++) {
		len = strlen(names.v[i]);
		if (names.v[i][len - 1] != '/' && names.v[i][len - 1] != '@')
			continue;
		names.v[i][len - 1] = '\0';
		rel = path_join(place, names.v[i]);
		add(fs, rel, ret);
		free(rel);
	}
out:
	strv_clear(&names);
	treefs_name_clear(&n);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(
	    ((const struct skill *)a)->name, ((const struct skill *)b)->name);
}

void
skills_find(const struct agent *a, struct skills *ret)
{
	struct strv dirs = { 0 };
	size_t i, k;
	char *place;

	memory_dirs(a, &dirs);
	for (i = 0; i < dirs.n; i++) {
		for (k = 0; k < nitems(places); k++) {
			place = strcmp(dirs.v[i], ".") == 0
			    ? xstrdup(places[k])
			    : path_join(dirs.v[i], places[k]);
			scan(&a->fs, place, ret);
			free(place);
		}
	}
	strv_clear(&dirs);
	if (ret->n > 0)
		qsort(ret->v, ret->n, sizeof *ret->v, by_name);
}

void
skills_clear(struct skills *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		free(s->v[i].name);
		free(s->v[i].description);
		free(s->v[i].rel);
	}
	free(s->v);
	*s = (struct skills){ 0 };
}
