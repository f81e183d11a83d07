/* opts_word.c - expansions whose first character is known; see opts.h. */
#include "common/compat.h"

#include "common/text.h"
#include "sandbox/policy/opts.h"

/* What these print begins with no dash, whoever made the repository (a branch
 * may be called "--output"): hashes, numbers, paths. A command may have the
 * options behind it, and operands. */
static const struct {
	const char *command, *options;
} prints[] = {
	{ "git merge-base", "--fork-point --octopus" },
	{ "git rev-parse",
	    "--short --verify --quiet -q --show-toplevel --git-dir "
	    "--absolute-git-dir --symbolic-full-name" },
	{ "id", "-u -g -un -gn" },
	{ "nproc", "--all" },
	{ "pwd", "-P -L" },
	{ "uname", "-s -m -r" },
	{ "whoami", "" },
};

static bool
is_listed(const char *list, const char *word, size_t len)
{
	size_t n;

	for (; *list != '\0'; list += n + strspn(list + n, " ")) {
		n = strcspn(list, " ");
		if (n == len && strncmp(list, word, n) == 0)
			return true;
	}
	return false;
}

/* "git merge-base main HEAD", without anything that a shell expands. */
static bool
prints_no_dash(const char *s, size_t len)
{
	size_t i, n, k;

	for (i = 0; i < len; i++)
		if (strchr("abcdefghijklmnopqrstuvwxyz"
			   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			   " ._/@^~:=+%-",
			s[i]) == NULL)
			return false;
	for (k = 0; k < nitems(prints); k++) {
		n = strlen(prints[k].command);
		if (len < n || strncmp(s, prints[k].command, n) != 0 ||
		    (len > n && s[n] != ' '))
			continue;
		for (i = n; i < len; i += n) {
			i += strspn(s + i, " ");
			n = strcspn(s + i, " )`");
			if (s[i] == '-' &&
			    !is_listed(prints[k].options, s + i, n))
				return false;
			if (n == 0)
				break;
		}
		return true;
	}
	return false;
}

bool
word_may_be_option(const struct sh_word *w)
{
	const char *s = w->text, *end;

	if ((w->flags & SH_GLOB) != 0 && strchr("*?[", s[0]) != NULL)
		return true;
	if ((w->flags & SH_COMPUTED) == 0 || strchr("$`", s[0]) == NULL)
		return false;
	/* A directory; where one is set to something else, that is told by
	 * itself. */
	s += text_starts(s, "${") ? 2 : 1;
	if (text_starts(s, "HOME") || text_starts(s, "PWD")) {
		s += *s == 'H' ? 4 : 3;
		s += *s == '}' && w->text[1] == '{';
		return *s != '/' && *s != '\0';
	}
	s = w->text;
	if (text_starts(s, "$(") && (end = strchr(s, ')')) != NULL)
		return !prints_no_dash(s + 2, (size_t)(end - s) - 2);
	if (*s == '`' && (end = strchr(s + 1, '`')) != NULL)
		return !prints_no_dash(s + 1, (size_t)(end - s) - 1);
	return true;
}
