/* judge_special.c - programs with a grammar of their own: find, git config,
 * make, tar, and what belongs to the shell. */
#include "common/compat.h"

#include <strings.h>

#include "common/log.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

static bool
is_one_of(const char *s, const char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(s, list[i]) == 0)
			return true;
	return false;
}

/* --- find ----------------------------------------------------------------- */

/* The words up to ";" or "+", names that it finds in the place of "{}". */
static size_t
find_exec(const struct call *c, size_t from)
{
	struct sh_word *a = judge_words(c->p->j, c->n - from);
	size_t i, n = 0;

	for (i = from; i < c->n; i++) {
		const char *s = c->w[i].text;

		if (strcmp(s, ";") == 0 ||
		    (strcmp(s, "+") == 0 && i > from &&
			strcmp(c->w[i - 1].text, "{}") == 0))
			break;
		a[n] = c->w[i];
		if (strstr(s, "{}") != NULL) {
			a[n].flags |= SH_COMPUTED | SH_QUOTED;
			a[n].var = (char *)(uintptr_t) "found";
			if (strcmp(s, "{}") == 0)
				a[n].text = (char *)(uintptr_t) "./$found";
		}
		n++;
	}
	judge_argv(c->p, a, n, c->p->needs_cover);
	return i;
}

/* Which of the files that it finds is not looked at: all of them. */
static void
find_delete(const struct call *c)
{
	static const struct sh_word here = { .text = (char *)(uintptr_t) ".",
		.len = 1 };
	size_t i;

	for (i = 1; i < c->n; i++) {
		if (strchr("-(!", c->w[i].text[0]) != NULL)
			break;
		judge_remove(c->p->j, &c->w[i], c->p->src, c->p->src_len);
	}
	if (i == 1)
		judge_remove(c->p->j, &here, c->p->src, c->p->src_len);
}

static bool
special_find(const struct call *c)
{
	static const char *const run[] = { "-exec", "-execdir", "-ok",
		"-okdir" };
	static const char *const write[] = { "-fprint", "-fprint0", "-fprintf",
		"-fls" };
	size_t i;

	for (i = 1; i < c->n; i++) {
		const struct sh_word *w = &c->w[i];

		if (is_one_of(w->text, run, nitems(run))) {
			i = find_exec(c, i + 1);
		} else if (is_one_of(w->text, write, nitems(write))) {
			piece_found(c->p, FIND_POWER, call_place(c, i),
			    "find %s", w->text);
			if (i + 1 < c->n)
				judge_write(c->p->j, &c->w[i + 1], c->p->src,
				    c->p->src_len);
		} else if (strcmp(w->text, "-delete") == 0) {
			piece_found(
			    c->p, FIND_POWER, call_place(c, i), "find -delete");
			find_delete(c);
		} else if ((w->flags & SH_COMPUTED) != 0 &&
		    strchr("$`<-", w->text[0]) != NULL) {
			/* Several words in the place of one: -exec, too. */
			piece_found(c->p,
			    (w->flags & SH_QUOTED) != 0 ? FIND_POWER
							: FIND_OPAQUE,
			    call_place(c, i),
			    "%s%.60s, which may become an action of find,",
			    w->var != NULL ? "$" : "",
			    w->var != NULL ? w->var : w->text);
		}
	}
	return true;
}

/* --- git ------------------------------------------------------------------ */

/* Programs that may stand in core.pager and core.editor; or none at all. */
static bool
is_harmless(const char *key, const char *value)
{
	static const char *const plain[] = { "", "cat", "true", "false", ":",
		"less", "more", "vim", "vi", "nano", "emacs", "cache", "store",
		"less -FRX", "less -R", "delta", "code --wait", "never",
		"manager", "osxkeychain" };

	if (text_starts(key, "alias."))
		return value[0] != '!';
	if (strncasecmp(key, "core.hookspath", 14) == 0)
		return false;
	return is_one_of(value, plain, nitems(plain));
}

/* An alias is what its text would be. */
static void
git_alias(struct piece *p, const char *value, size_t at)
{
	char *text =
	    value[0] == '!' ? xstrdup(value + 1) : xasprintf("git %s", value);

	piece_named(p, text, at);
	free(text);
}

void
piece_git_config(struct piece *p, const struct sh_word *value, size_t at)
{
	const char *eq = strchr(value->text, '=');
	char *key = eq != NULL
	    ? xstrndup(value->text, (size_t)(eq - value->text))
	    : xstrdup(value->text);

	if ((value->flags & SH_COMPUTED) != 0 &&
	    strcspn(value->text, "$`") < strlen(key))
		piece_found(
		    p, FIND_POWER, at, "git -c with a name that is computed");
	else if (git_key_runs(key) &&
	    ((value->flags & SH_COMPUTED) != 0 || eq == NULL ||
		!is_harmless(key, eq + 1)))
		piece_found(p, FIND_ASK, at, "git -c %.80s", key);
	if (eq != NULL && text_starts(key, "alias.") &&
	    (value->flags & SH_COMPUTED) == 0)
		git_alias(p, eq + 1, at);
	free(key);
}

/* git config KEY VALUE: it stays, also for what comes later. */
static void
git_config(const struct call *c)
{
	static const char *const reads[] = { "--get", "--get-all",
		"--get-regexp", "--list", "-l", "--unset", "--unset-all",
		"--remove-section", "--get-urlmatch", "get", "list", "unset" };
	const struct sh_word *key = NULL, *value = NULL;
	struct opts o;
	struct opt t;

	opts_begin(
	    &o, "f=A --file=A --blob=A --type=A --default=A", c->w, c->n);
	o.i = 2;
	while (opts_next(&o, &t)) {
		if (is_one_of(c->w[t.at].text, reads, nitems(reads)))
			return;
		if (t.kind != OPT_OPERAND && t.kind != OPT_COMPUTED)
			continue;
		if (key == NULL && strcmp(c->w[t.at].text, "set") == 0)
			continue;
		if (key == NULL)
			key = &c->w[t.at];
		else if (value == NULL)
			value = &c->w[t.at];
	}
	if (key == NULL || value == NULL || !git_key_runs(key->text))
		return;
	if (text_starts(key->text, "alias.") &&
	    (value->flags & SH_COMPUTED) == 0)
		git_alias(c->p, value->text, call_place(c, 1));
	if ((value->flags & SH_COMPUTED) == 0 &&
	    is_harmless(key->text, value->text))
		return;
	piece_found(c->p, FIND_ASK, call_place(c, (size_t)(value - c->w)),
	    "git config %.80s", key->text);
}

/* What it shows, or stores, of the files that are named, at any time: REV:PATH,
 * PATH; and the one that it makes. */
static void
git_files(const struct call *c)
{
	static const char *const shows[] = { "show", "cat-file", "diff", "log",
		"blame", "annotate", "grep", "archive", "add", "stage",
		"hash-object", "update-index" };
	static const char *const makes[] = { "bundle create", "worktree add" };
	const char *sub = c->w[1].text;
	struct sh_word file;
	size_t i, k, n;

	for (i = 2; is_one_of(sub, shows, nitems(shows)) && i < c->n; i++) {
		const char *s = c->w[i].text, *path = strchr(s, ':');

		if ((c->w[i].flags & (SH_COMPUTED | SH_GLOB)) != 0 ||
		    (s[0] == '-' && (path == NULL || s[1] != 'L')))
			continue;
		file = c->w[i];
		file.text += path != NULL ? path + 1 - s : 0;
		file.len = strlen(file.text);
		judge_read(c->p->j, &file, c->p->src, c->p->src_len);
	}
	for (k = 0; k < nitems(makes); k++) {
		n = strcspn(makes[k], " ");
		if (strlen(sub) != n || strncmp(sub, makes[k], n) != 0 ||
		    c->n < 3 || strcmp(c->w[2].text, makes[k] + n + 1) != 0)
			continue;
		for (i = 3; i < c->n; i++) {
			if (c->w[i].text[0] != '-') {
				judge_write(c->p->j, &c->w[i], c->p->src,
				    c->p->src_len);
				break;
			}
			i += is_one_of(c->w[i].text,
			    (const char *const[]){ "-b", "-B", "--reason" }, 3);
		}
	}
}

static bool
special_git(const struct call *c)
{
	size_t i;

	if (c->n < 2)
		return true;
	git_files(c);
	if (strcmp(c->w[1].text, "config") == 0) {
		git_config(c);
		return true;
	}
	for (i = 2; i < c->n; i++) {
		const char *s = c->w[i].text;

		if (strcmp(c->w[1].text, "push") == 0 && s[0] == '+')
			piece_found(c->p, FIND_ASK, call_place(c, i),
			    "git push +%.60s", s + 1);
		if (text_starts(s, "ext::"))
			piece_found(c->p, FIND_ASK, call_place(c, i),
			    "git ext::, which runs a program");
	}
	return false;
}

/* --- make, tar ------------------------------------------------------------ */

/* A line of a makefile. */
static void
make_text(const struct call *c, size_t i)
{
	const char *s = c->w[i].text;

	if ((strcmp(s, "-E") == 0 || strchr(s, '=') == NULL) && i + 1 < c->n)
		s = c->w[++i].text;
	if ((c->w[i].flags & SH_COMPUTED) != 0 ||
	    strpbrk(s, "$`:!;\n") != NULL || strstr(s, "SHELL") != NULL)
		piece_found(c->p, FIND_OPAQUE, call_place(c, i),
		    "a line for make that may run something");
}

/* CC=./x: the program that it names runs. */
static void
make_tool(const struct call *c, size_t i, const char *name, const char *value)
{
	static const char *const known[] = { "gcc", "g++", "cc", "c++", "clang",
		"ccache", "tcc", "musl-gcc", "ld", "ar", "python", "go",
		"node" };
	size_t n = strcspn(value, " "), k;
	bool plain = n == 0;

	for (k = 0; k < nitems(known); k++)
		plain |= text_starts(value, known[k]) &&
		    memchr(value, '/', n) == NULL;
	if (!plain || (c->w[i].flags & SH_COMPUTED) != 0)
		piece_found(c->p, FIND_POWER, call_place(c, i),
		    "make %s=, which names a program,", name);
	piece_named(c->p, value, call_place(c, i));
}

static bool
special_make(const struct call *c)
{
	static const char *const names[] = { "SHELL", ".SHELLFLAGS",
		"MAKEFLAGS", "GNUMAKEFLAGS", "MAKEFILES", "MAKE" };
	static const char *const tools[] = { "CC", "CXX", "LD", "AR", "AS",
		"CPP", "FC", "RM", "CP", "MV", "INSTALL", "RANLIB", "STRIP",
		"NM", "OBJCOPY", "YACC", "LEX", "GO", "CARGO", "RUSTC", "NODE",
		"NPM", "PYTHON", "PYTHON3", "PERL", "RUBY", "SED", "AWK",
		"GREP", "GIT", "HOSTCC", "CMAKE", "TAR", "SH", "BASH" };
	char name[64];
	size_t i;

	for (i = 1; i < c->n; i++) {
		const char *s = c->w[i].text, *eq = strchr(s, '=');

		if (text_starts(s, "--ev") || text_starts(s, "-E")) {
			make_text(c, i);
			continue;
		}
		if (eq == NULL || eq == s || s[0] == '-')
			continue;
		(void)snprintf(
		    name, sizeof name, "%.*s", (int)strcspn(s, ":+?!="), s);
		if (is_one_of(name, names, nitems(names)) || eq[-1] == '!' ||
		    strpbrk(eq + 1, ";|&`$<>\n") != NULL)
			piece_found(c->p,
			    strchr(eq, '$') == NULL && eq[-1] != '!' &&
				    strcmp(name, "MAKE") != 0 &&
				    !is_one_of(name, names, 5)
				? FIND_POWER
				: FIND_OPAQUE,
			    call_place(c, i),
			    "make %s=, which may change what runs,", name);
		else if (is_one_of(name, tools, nitems(tools)))
			make_tool(c, i, name, eq + 1);
	}
	return false;
}

static void
tar_into(const struct call *c)
{
	static const struct sh_word here = { .text = (char *)(uintptr_t) ".",
		.len = 1 };
	const struct sh_word *dir = &here;
	struct sh_word attached;
	size_t i;

	for (i = 1; i < c->n; i++) {
		const char *s = c->w[i].text;

		if (i + 1 < c->n &&
		    (strcmp(s, "-C") == 0 || strcmp(s, "--directory") == 0)) {
			dir = &c->w[i + 1];
		} else if (text_starts(s, "--directory=") ||
		    (text_starts(s, "-C") && s[2] != '\0')) {
			attached = c->w[i];
			attached.text += s[1] == '-' ? 12 : 2;
			attached.len = strlen(attached.text);
			dir = &attached;
		}
	}
	judge_reach(
	    c->p->j, RULE_EDIT, REACH_BELOW, dir, c->p->src, c->p->src_len);
}

/* "tar xzf FILE" is "tar -x -z -f FILE": letters take their words in order. */
static bool
special_tar(const struct call *c)
{
	bool old = c->n > 1 && c->w[1].text[0] != '-', writes = false;
	bool unpacks = false;
	size_t i, k, next = 2;

	for (i = 1; i < c->n; i++) {
		const char *s = c->w[i].text;

		if (i > 1 && s[0] != '-')
			continue;
		if (text_starts(s, "--"))
			writes |= strcmp(s, "--create") == 0 ||
			    strcmp(s, "--append") == 0 ||
			    strcmp(s, "--update") == 0;
		else
			writes |= strpbrk(s, "cruA") != NULL;
		unpacks |= text_starts(s, "--ex") || text_starts(s, "--get") ||
		    (!text_starts(s, "--") && !text_starts(s, "-C") &&
			strchr(s, 'x') != NULL && strchr(s, 'O') == NULL);
	}
	for (k = 0; old && c->w[1].text[k] != '\0'; k++) {
		char l = c->w[1].text[k];

		if (strchr("fCTXIFbVgKLN", l) == NULL)
			continue;
		if (next >= c->n)
			break;
		if (l == 'I' || l == 'F')
			piece_found(c->p, FIND_POWER, call_place(c, next),
			    "tar %c, which runs something,", l);
		if (l == 'f' && writes)
			judge_write(
			    c->p->j, &c->w[next], c->p->src, c->p->src_len);
		next++;
	}
	for (i = 1; !old && i + 1 < c->n; i++) {
		const char *s = c->w[i].text;
		size_t len = strlen(s);

		if (writes &&
		    (strcmp(s, "--file") == 0 ||
			(s[0] == '-' && s[1] != '-' && s[len - 1] == 'f')))
			judge_write(
			    c->p->j, &c->w[i + 1], c->p->src, c->p->src_len);
	}
	/* What it packs. */
	for (i = old ? next : 1; writes && i < c->n; i++) {
		const char *s = c->w[i].text, *prev = c->w[i - 1].text;

		if (s[0] != '-' &&
		    (prev[0] != '-' || prev[strlen(prev) - 1] != 'f'))
			judge_reach(c->p->j, RULE_READ, REACH_BELOW | REACH_ANY,
			    &c->w[i], c->p->src, c->p->src_len);
	}
	/* Where it unpacks to. */
	if (unpacks && !writes)
		tar_into(c);
	return false;
}

/* --- the shell's own ------------------------------------------------------ */

static bool
special_cd(const struct call *c)
{
	static const struct sh_word home = {
		.text = (char *)(uintptr_t) "~", .len = 1, .flags = SH_TILDE
	};
	const struct sh_word *dir = &home;
	const struct sh_cmd *cmd = c->p->cmd;
	size_t i;
	const char *s;
	bool replace;

	for (i = 1; i < c->n; i++)
		if (c->w[i].text[0] != '-' || c->w[i].text[1] == '\0')
			dir = &c->w[i];
	for (i = 0; cmd != NULL && i < cmd->n_assigns; i++)
		c->p->j->dir_unknown |=
		    text_starts(cmd->assigns[i].text, "CDPATH=");
	if (c->p->j->tainted != NULL && strcmp(c->p->j->tainted, "CDPATH") == 0)
		c->p->j->dir_unknown = true;
	if (strcmp(c->name, "popd") == 0) {
		c->p->j->dir_unknown = true;
		return true;
	}
	replace = c->p->j->linear && cmd != NULL && !cmd->piped;
	if (replace) {
		s = cmd->src + cmd->src_len;
		s += strspn(s, " \t");
		replace = s[0] != '|' || s[1] == '|';
	}
	judge_cd(c->p->j, dir, replace);
	return true;
}

static bool
special_alias(const struct call *c)
{
	size_t i;
	const char *eq;

	for (i = 1; i < c->n; i++)
		if ((eq = strchr(c->w[i].text, '=')) != NULL)
			piece_text(c->p, eq + 1,
			    (c->w[i].flags & SH_COMPUTED) != 0, c->w[i].var,
			    call_place(c, i));
	return true;
}

static bool
special_source(const struct call *c)
{
	int fd = c->n > 1 ? piece_descriptor(c->p, &c->w[1]) : -1;

	if (c->n > 1 && text_starts(c->w[1].text, "<("))
		piece_found(c->p, FIND_ASK, call_place(c, 1),
		    "shell text that a process writes");
	else if (fd >= 0)
		(void)piece_input(c->p, fd);
	else if (c->n > 1) {
		judge_read(c->p->j, &c->w[1], c->p->src, c->p->src_len);
		judge_argv(c->p, c->w + 1, c->n - 1, false);
	}
	return true;
}

/* An index in a name is arithmetic, and that runs substitutions. */
static bool
special_names(const struct call *c)
{
	size_t i;

	for (i = 1; i < c->n; i++) {
		const char *s = strchr(c->w[i].text, '[');

		if ((c->w[i].flags & SH_COMPUTED) == 0 && s != NULL &&
		    s > c->w[i].text &&
		    (strstr(s, "$(") != NULL || strchr(s, '`') != NULL))
			piece_found(c->p, FIND_ASK, call_place(c, i),
			    "a name whose index holds a command");
	}
	return false;
}

static const struct {
	const char *name;
	bool (*fn)(const struct call *);
} rows[] = {
	{ "find", special_find },
	{ "gfind", special_find },
	{ "git", special_git },
	{ "make", special_make },
	{ "gmake", special_make },
	{ "tar", special_tar },
	{ "gtar", special_tar },
	{ "bsdtar", special_tar },
	{ "cd", special_cd },
	{ "pushd", special_cd },
	{ "popd", special_cd },
	{ "alias", special_alias },
	{ "source", special_source },
	{ ".", special_source },
	{ "let", special_names },
	{ "test", special_names },
	{ "[", special_names },
	{ "printf", special_names },
	{ "read", special_names },
	{ "unset", special_names },
	{ "declare", special_names },
	{ "typeset", special_names },
	{ "local", special_names },
	{ "export", special_names },
};

bool
piece_special(
    struct piece *p, const char *name, const struct sh_word *w, size_t n)
{
	const struct call c = { p, name, w, n };
	size_t i;

	for (i = 0; i < nitems(rows); i++)
		if (strcmp(rows[i].name, name) == 0)
			return rows[i].fn(&c);
	return piece_relay(p, name, w, n);
}
