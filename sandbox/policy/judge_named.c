/*
 * judge_named.c - programs whose operands no table knows: whatever file they
 * are given they read, but for those that are listed here. See judge.h.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

/* What only names files, makes them or asks about them; what says by itself
 * which it reads; and builders and test runners, whose words are targets. */
static bool
is_no_reader(const char *name)
{
	static const char *const names[] = { ".", ":", "[", "[[", "alias",
		"basename", "break", "builtin", "cargo", "cd", "chdir", "cmake",
		"command", "complete", "compgen", "continue", "ctest", "date",
		"declare", "df", "dir", "dirname", "dirs", "docker", "du",
		"echo", "enable", "exit", "export", "expr", "false", "fd",
		"fdfind", "fuser", "getfacl", "getfattr", "getopts", "git",
		"go", "hash", "id", "inotifywait", "kill", "let", "local",
		"locate", "ls", "lsattr", "lsof", "mapfile", "mountpoint",
		"namei", "npm", "pathchk", "pidof", "pip", "pip3", "podman",
		"popd", "printf", "pushd", "pwd", "pytest", "read", "readarray",
		"readlink", "readonly", "realpath", "return", "seq", "set",
		"shift", "shopt", "sleep", "source", "stat", "test", "tree",
		"true", "tsc", "type", "typeset", "ulimit", "umask", "unalias",
		"unset", "vdir", "wait", "whereis", "which", "yes" };

	return text_is_one_of(name, names, nitems(names));
}

/* "--exclude .env": it is left out. */
static bool
leaves_out(const char *option, size_t len)
{
	static const char *const parts[] = { "exclude", "ignore", "skip",
		"omit", "without", "except" };
	char copy[64];

	if (len >= sizeof copy)
		return false;
	memcpy(copy, option, len);
	copy[len] = '\0';
	for (size_t i = 0; copy[0] == '-' && i < nitems(parts); i++)
		if (strstr(copy, parts[i]) != NULL)
			return true;
	return false;
}

static void
may_read(struct piece *p, const struct sh_word *w, const char *from)
{
	unsigned how = REACH_RULES;
	struct sh_word file = *w;

	if ((w->flags & SH_COMPUTED) != 0 || strstr(from, "://") != NULL ||
	    strchr("!", from[0]) != NULL || strchr(from, '\n') != NULL)
		return;
	/* A sentence may be more than a name. */
	if (strchr(from, ' ') != NULL)
		how |= REACH_MAYBE;
	file.text = (char *)(uintptr_t)from;
	file.len = strlen(from);
	if (*from == '~')
		file.flags |= SH_TILDE;
	judge_reach(p->j, RULE_READ, how, &file, p->src, p->src_len);
}

/* A word, and what may be a file's name in it: "--file=F", "-fF", "@F". */
void
piece_may_read(
    struct piece *p, const char *name, const struct sh_word *w, size_t n)
{
	size_t i, len;

	if (is_no_reader(name) || wrapper_find(name, w, n) != NULL)
		return;
	for (i = 1; i < n; i++) {
		const char *s = w[i].text;

		len = strcspn(s, "=");
		if (leaves_out(s, len)) {
			i += s[len] == '\0';
			continue;
		}
		may_read(p, &w[i], s);
		if (s[len] == '=')
			may_read(p, &w[i], s + len + 1);
		if (s[0] == '-' && s[1] != '-' && s[1] != '\0')
			may_read(p, &w[i], s + 2);
		if (s[0] == '@')
			may_read(p, &w[i], s + 1);
	}
}
