/* judge_search.c - grep and its like: which of their operands are files, and
 * what they look at in a directory; see judge.h. Sources: the manual pages. */
#include "common/compat.h"

#include "common/path.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

static bool
is_grep(const char *name)
{
	static const char *const names[] = { "egrep", "fgrep", "grep",
		"zgrep" };

	return text_is_one_of(name, names, nitems(names));
}

/* Into directories by themselves, but not to what is hidden or ignored. */
static bool
is_deep(const char *name)
{
	static const char *const names[] = { "ag", "rg" };

	return text_is_one_of(name, names, nitems(names));
}

/* ".env", ".npmrc", "key.pem", not ".ssh": the name of a file, no directory. */
static bool
is_file_name(const char *base)
{
	return text_starts(base, ".env") ||
	    (base[0] == '.' && text_ends(base, "rc")) ||
	    strchr(base + (base[0] == '.'), '.') != NULL;
}

/* Is no file that rules are against one of these: "*.py"? */
static bool
is_free(const struct judge *j, const char *glob)
{
	const char *ext = glob + 1, *base;
	size_t i;

	if (!text_starts(glob, "*.") || strpbrk(ext, "*?[{\\") != NULL)
		return false;
	for (i = 0; i < j->rules->n; i++) {
		const struct rule *x = &j->rules->v[i];

		if (x->ruling == RULING_ALLOW || !judge_speaks(x, RULE_READ))
			continue;
		base = x->pattern != NULL ? path_base(x->pattern) : "*";
		if (strpbrk(base, "*?[") != NULL || !is_file_name(base) ||
		    text_ends(base, ext))
			return false;
	}
	return true;
}

void
view_search_option(struct view *v, const struct opt *t)
{
	static const char *const patterns[] = { "--regexp", "--file",
		"--from-file" };
	static const char *const shown[] = { "--hidden", "--no-ignore",
		"--unrestricted", "--all-types", "--search-hidden" };
	const char *name = program_alias(v->prog->name);
	const char *s = v->w[t->at].text, *glob = NULL;
	const bool grep = is_grep(name), deep = is_deep(name);
	size_t i;

	if (!grep && !deep && strcmp(name, "jq") != 0)
		return;
	/* Then the first operand is no pattern. */
	v->coded |= t->letter == 'f' || (t->letter == 'e' && name[0] != 'j');
	for (i = 0; i < nitems(patterns); i++)
		v->coded |= t->letter == '\0' && text_starts(s, patterns[i]);
	v->recursive |= grep &&
	    ((t->letter == 'd' && strcmp(t->value.text, "recurse") == 0) ||
		text_ends(s, "=recurse"));
	v->recursive &= !deep;
	for (i = 0; i < nitems(shown); i++)
		v->hidden |= deep && text_starts(s, shown[i]);
	v->hidden |= deep && t->letter != '\0' &&
	    strchr(name[0] == 'a' ? "atuU" : "u.", t->letter) != NULL;
	if (grep && text_starts(s, "--include="))
		glob = s + strlen("--include=");
	else if (deep && t->has_value &&
	    (t->letter == 'g' || text_starts(s, "--glob=")))
		glob = t->value.text;
	if (glob != NULL && !v->widened)
		v->narrowed = is_free(v->p->j, glob);
	v->widened |= glob != NULL && !v->narrowed;
}

void
view_search(struct view *v, const struct sh_word *w, size_t n)
{
	static const struct sh_word here = { .text = (char *)(uintptr_t) ".",
		.len = 1 };
	const char *name = program_alias(v->prog->name);
	const unsigned how = REACH_BELOW | REACH_WHOLE | REACH_RULES;
	const bool grep = is_grep(name), diff = strcmp(name, "diff") == 0;
	struct piece *p = v->p;
	size_t i = diff || v->coded ? 0 : 1;

	if ((v->narrowed && !v->widened) ||
	    !(((grep || diff) && v->recursive) || (is_deep(name) && v->hidden)))
		return;
	if (i >= n && !diff)
		judge_reach(p->j, RULE_READ, how, &here, p->src, p->src_len);
	for (; i < n; i++)
		judge_reach(p->j, RULE_READ, how, &w[i], p->src, p->src_len);
}
