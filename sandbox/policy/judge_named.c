/*
 * judge_named.c - programs whose operands no table knows: whatever file they
 * are given they read, but for those that are listed here, and a command that
 * they are given they may run. See judge.h.
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

/* Does it begin with that word: "rm", "/bin/rm", "rm -r x", "--cmd=rm x"? What
 * stands further in a text is said, not done. */
static bool
begins_with(const char *text, const char *word)
{
	const size_t n = strlen(word);
	size_t len = strcspn(text, " \t\n;&|"), k;

	if (text[0] == '-' && (k = strcspn(text, "=")) < len) {
		text += k + 1;
		len -= k + 1;
	}
	return n > 0 && len >= n && strncmp(text + len - n, word, n) == 0 &&
	    (len == n || text[len - n - 1] == '/');
}

static bool
is_given(const struct rule *x, const struct sh_word *w, size_t n)
{
	size_t i = 1, k;

	for (k = 0; k < x->words.n && strchr(x->words.v[k], '*') == NULL; k++) {
		while (i < n && !begins_with(w[i].text, x->words.v[k]))
			i++;
		if (i == n)
			return false;
	}
	return k > 0;
}

void
piece_may_run(
    struct piece *p, const char *name, const struct sh_word *w, size_t n)
{
	const struct rules *r = p->j->rules;
	size_t i;

	if (!r->blocks_commands || is_no_reader(name) ||
	    wrapper_find(name, w, n) != NULL)
		return;
	for (i = 0; i < r->n; i++) {
		const struct rule *x = &r->v[i];

		if (x->about != RULE_COMMAND || x->ruling == RULING_ALLOW ||
		    x->layer == LAYER_BUILTIN)
			continue;
		if (!judge_afford(p->j, n, p->src, p->src_len))
			return;
		if (!is_given(x, w, n))
			continue;
		piece_found(p, FIND_ASK, UNSPELLED,
		    "%.60s, which may run what %.60s is against,", name,
		    x->text);
		return;
	}
}
