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

/* What follows are words, no names. */
static bool
is_writer_of_words(const char *name)
{
	static const char *const names[] = { ":", "echo", "false", "printf",
		"true" };

	return text_is_one_of(name, names, nitems(names));
}

static bool
has_one_of(const char *option, size_t len, const char *const *parts, size_t n)
{
	char copy[64];
	size_t i;

	if (option[0] != '-' || len >= sizeof copy)
		return false;
	memcpy(copy, option, len);
	copy[len] = '\0';
	for (i = 0; i < n; i++)
		if (strstr(copy, parts[i]) != NULL)
			return true;
	return false;
}

/* "--exclude .env": it is left out, or looked at from outside. */
static bool
leaves_out(const char *option, size_t len)
{
	static const char *const parts[] = { "exclude", "ignore", "skip",
		"omit", "without", "except", "reference" };

	return has_one_of(option, len, parts, nitems(parts));
}

/* "--cacert .env": by its name its value is a file that is read. */
static bool
names_a_file(const char *option)
{
	static const char *const parts[] = { "file", "config", "cert", "key",
		"from", "secret", "env", "input" };
	size_t len = strlen(option);

	return strchr(option, '=') == NULL && !leaves_out(option, len) &&
	    has_one_of(option, len, parts, nitems(parts));
}

static void
may_read(struct piece *p, const struct sh_word *w, const char *from)
{
	unsigned how = REACH_RULES;
	struct sh_word file = *w;

	if (strchr("!", from[0]) != NULL || strchr(from, '\n') != NULL)
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

/* What may be a file's name in it: "id=a,src=F", "F:/place", "@F", "<F". */
static void
parts_may_be_read(struct piece *p, const struct sh_word *w, const char *from)
{
	const char *part;
	size_t n;

	if ((w->flags & SH_COMPUTED) != 0 || strstr(from, "://") != NULL)
		return;
	may_read(p, w, from);
	for (; *from != '\0'; from += n + (from[n] != '\0')) {
		from += *from == '@' || *from == '<';
		n = strcspn(from, "=,:");
		part = judge_keep(p->j, xstrndup(from, n));
		may_read(p, w, part);
	}
}

void
piece_may_read(struct piece *p, const char *name, const struct sh_word *w,
    size_t n, bool operands)
{
	const struct wrapper *wr = wrapper_find(name, w, n);
	bool named = false;
	size_t i, len;

	if (is_writer_of_words(name))
		return;
	/* Of a wrapper those before the command: "sops exec-env F ls". */
	if (wr != NULL)
		n = wr->sub != NULL && n > 2 + wr->skip ? 2 + wr->skip
		    : n > 1 + wr->skip                  ? 1 + wr->skip
							: n;
	operands &= !is_no_reader(name);
	for (i = 1; i < n; i++) {
		const char *s = w[i].text;

		len = strcspn(s, "=");
		if (leaves_out(s, len)) {
			i += s[len] == '\0';
			continue;
		}
		if (operands || named || s[0] == '@')
			parts_may_be_read(p, &w[i], s);
		else if (s[0] == '-' && s[len] == '=')
			parts_may_be_read(p, &w[i], s + len + 1);
		if (operands && s[0] == '-' && s[1] != '-' && s[1] != '\0')
			parts_may_be_read(p, &w[i], s + 2);
		named = names_a_file(s);
	}
}
