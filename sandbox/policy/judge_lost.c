/* judge_lost.c - git: what throws work away that is nowhere else, or that only
 * its log still knows; see judge.h. Source: the manual pages. */
#include "common/compat.h"

#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

/* Those of program_find() with kind B (reset --hard, clean -f, push --force)
 * are not repeated. */
static const struct {
	const char *verb, *words;
	const char *letters; /* in a cluster of short options, too */
} losers[] = {
	{ "branch", "--force", "D" },
	{ "checkout", "--force", "f" },
	{ "checkout-index", "--force", "f" },
	{ "filter-branch", "", "" },
	{ "filter-repo", "", "" },
	{ "gc", "--prune=now --prune=all", "" },
	{ "prune", "", "" },
	{ "push", "--delete --prune", "d" },
	{ "read-tree", "--reset", "" },
	{ "reflog", "expire delete drop", "" },
	{ "reset", "--merge", "" },
	{ "rm", "--force", "f" },
	{ "stash", "clear drop", "" },
	{ "switch", "--discard-changes --force", "f" },
	{ "update-ref", "--delete", "d" },
	{ "worktree", "--force", "f" },
};

/* The first word that makes it lose something, 0: none. */
static size_t
losing_word(const struct call *c, const char *words, const char *letters)
{
	const char *s;
	size_t i, n;

	if (*words == '\0' && *letters == '\0')
		return 1;
	for (i = 2; i < c->n && strcmp(c->w[i].text, "--") != 0; i++) {
		const char *text = c->w[i].text;

		/* git takes any beginning of a long option */
		for (s = words; *s != '\0'; s += n + strspn(s + n, " ")) {
			n = strcspn(s, " ");
			if ((text[0] == '-'
				    ? c->w[i].len > 4 || c->w[i].len == n
				    : i == 2 && c->w[i].len == n) &&
			    c->w[i].len <= n &&
			    strncmp(s, text, c->w[i].len) == 0)
				return i;
		}
		if (text[0] == '-' && text[1] != '-' && text[1] != '\0' &&
		    text[1 + strspn(text + 1, "adfinqrvDM")] == '\0' &&
		    strpbrk(text + 1, letters) != NULL)
			return i;
	}
	return 0;
}

static bool
is_whole(const struct sh_word *w)
{
	static const char *const all[] = { ".", "./", ":/", ":/.", ":/*", ":",
		"*", "./*", ":(top)" };

	return text_is_one_of(w->text, all, nitems(all));
}

/* "git checkout .", "git restore .": all that is not stored yet. */
static size_t
whole_tree(const struct call *c)
{
	const bool restores = strcmp(c->w[1].text, "restore") == 0;
	bool staged = false, tree = false;
	size_t i, at = 0;

	if (!restores && strcmp(c->w[1].text, "checkout") != 0)
		return 0;
	for (i = 2; i < c->n; i++) {
		const char *s = c->w[i].text;

		if (s[0] == '-' && s[1] != '-' && s[1] != '\0') {
			staged |= strchr(s, 'S') != NULL;
			tree |= strchr(s, 'W') != NULL;
		}
		staged |= text_starts(s, "--st");
		tree |= text_starts(s, "--w");
		if (is_whole(&c->w[i]) && at == 0)
			at = i;
	}
	return restores && staged && !tree ? 0 : at;
}

void
git_lost(const struct call *c)
{
	const char *verb = c->w[1].text;
	size_t i, at = whole_tree(c);

	for (i = 0; i < nitems(losers) && at == 0; i++)
		if (strcmp(losers[i].verb, verb) == 0)
			at = losing_word(c, losers[i].words, losers[i].letters);
	/* "git push origin :main" */
	for (i = 2; i < c->n && at == 0 && strcmp(verb, "push") == 0; i++)
		if (c->w[i].text[0] == ':' && c->w[i].text[1] != '\0')
			at = i;
	if (at == 0 ||
	    (strcmp(verb, "worktree") == 0 && c->n > 2 &&
		strcmp(c->w[2].text, "remove") != 0) ||
	    (strcmp(verb, "rm") == 0 && losing_word(c, "--cached", "") != 0))
		return;
	piece_found(c->p, FIND_ASK, call_place(c, at), "git %s%s%.60s", verb,
	    at > 1 ? " " : "", at > 1 ? c->w[at].text : "");
}
