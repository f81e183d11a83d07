/* judge_names.c - names that a command gives to another: what find finds and ls
 * lists, as far as their words tell; see judge.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

static struct sh_word
named(struct piece *p, const struct sh_word *root, const char *name)
{
	struct sh_word w = { .flags = SH_GLOB };

	if (root != NULL)
		w.flags |= root->flags & SH_TILDE;
	w.text = (char *)(uintptr_t)judge_keep(
	    p->j, xasprintf("%s/**/%s", root != NULL ? root->text : ".", name));
	w.len = strlen(w.text);
	return w;
}

/* Tests that only leave something out; "-o" and "!" are none. */
size_t
find_names(const struct call *c, size_t end, struct sh_word *ret)
{
	static const char *const tests[] = { "-name", "-type", "-maxdepth",
		"-mindepth", "-path", "-size", "-newer", "-mtime", "-mmin" };
	const char *name = NULL;
	size_t i, n, k;

	for (i = 1; i < end && strchr("-(!,", c->w[i].text[0]) == NULL; i++)
		if ((c->w[i].flags & SH_COMPUTED) != 0)
			return 0;
	n = i - 1;
	for (;
	     i + 1 < end && text_is_one_of(c->w[i].text, tests, nitems(tests));
	     i += 2)
		if (strcmp(c->w[i].text, "-name") == 0)
			name = (c->w[i + 1].flags & SH_COMPUTED) == 0
			    ? c->w[i + 1].text
			    : NULL;
	if (i != end || name == NULL || strchr(name, '/') != NULL)
		return 0;
	for (k = 0; k < (n > 0 ? n : 1); k++)
		ret[k] = named(c->p, n > 0 ? &c->w[k + 1] : NULL, name);
	return k;
}

/* "src" and "*.c": no directory, whose names it would list. */
static bool
is_listed(const struct sh_word *w)
{
	const char *dot = strrchr(path_base(w->text), '.');

	return (w->flags & SH_COMPUTED) == 0 && w->text[0] != '-' &&
	    dot != NULL && dot[1] != '\0' && strpbrk(dot, "*?") == NULL;
}

static size_t
listed_names(const struct call *c, struct sh_word *ret)
{
	size_t i, n = 0;

	for (i = 1; i < c->n; i++) {
		const char *s = c->w[i].text;

		if (s[0] == '-' && s[1] != '\0' &&
		    s[strspn(s, "-1trS")] == '\0')
			continue;
		if (!is_listed(&c->w[i]))
			return 0;
		ret[n++] = c->w[i];
	}
	return n;
}

/* git ls-files PATTERN...: in any directory. */
static size_t
tracked_names(const struct call *c, struct sh_word *ret)
{
	size_t i, n = 0;

	if (c->n < 3 || strcmp(c->w[1].text, "ls-files") != 0)
		return 0;
	for (i = 2; i < c->n; i++) {
		if (strcmp(c->w[i].text, "-z") == 0)
			continue;
		if (!is_listed(&c->w[i]) || c->w[i].text[0] == ':' ||
		    strchr(c->w[i].text, '/') != NULL)
			return 0;
		ret[n++] = named(c->p, NULL, c->w[i].text);
	}
	return n;
}

/* The command whose output is the input of this one, and nothing else is. */
static const struct sh_cmd *
piped_from(const struct piece *p)
{
	const struct sh_script *s = p->j->script;
	const struct sh_cmd *c = p->cmd, *from;
	const char *at;

	if (c == NULL || !c->piped || c->n_redirs > 0 || c <= s->cmds ||
	    c >= s->cmds + s->n)
		return NULL;
	from = c - 1;
	if (from->sub != c->sub || from->piped || from->n_redirs > 0 ||
	    from->n_assigns > 0 || from->n_words == 0 || from->src >= c->src)
		return NULL;
	at = from->src + from->src_len;
	at += strspn(at, " \t");
	if (*at != '|' || at[1] == '|' || at[1] == '&')
		return NULL;
	at++;
	return at + strspn(at, " \t\n") == c->src ? from : NULL;
}

size_t
piped_names(struct piece *p, struct sh_word **ret)
{
	const struct sh_cmd *from = piped_from(p);
	struct call c = { .p = p };
	const char *last;

	if (from == NULL || p->j->script->n_functions > 0)
		return 0;
	c.w = from->words;
	c.n = from->n_words;
	c.name = c.w[0].text;
	*ret = judge_words(p->j, c.n);
	last = c.w[c.n - 1].text;
	if (strcmp(c.name, "ls") == 0)
		return listed_names(&c, *ret);
	if (strcmp(c.name, "git") == 0)
		return tracked_names(&c, *ret);
	if (strcmp(c.name, "find") == 0)
		return find_names(
		    &c, c.n - (text_starts(last, "-print") ? 1 : 0), *ret);
	return 0;
}
