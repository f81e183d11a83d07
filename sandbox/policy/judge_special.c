/* judge_special.c - programs with a grammar of their own: find, git config,
 * make, tar, and what belongs to the shell. */
#include "common/compat.h"

#include <strings.h>

#include "common/log.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

/* --- find ----------------------------------------------------------------- */

/* The words up to ";" or "+", names that it finds in the place of "{}". */
static size_t
find_exec(const struct call *c, size_t from)
{
	struct sh_word *found = judge_words(c->p->j, c->n);
	const size_t n_found = find_names(c, from - 1, found);
	struct sh_word *a = judge_words(c->p->j, c->n - from + n_found);
	size_t i, n = 0;
	bool all = false;

	for (i = from; i < c->n; i++) {
		const char *s = c->w[i].text;

		if (strcmp(s, ";") == 0 ||
		    (strcmp(s, "+") == 0 && i > from &&
			strcmp(c->w[i - 1].text, "{}") == 0))
			break;
		if (strcmp(s, "{}") == 0 && n > 0 && n_found > 0 && !all) {
			memcpy(a + n, found, n_found * sizeof *found);
			n += n_found;
			all = true;
			continue;
		}
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
		judge_reach(c->p->j, RULE_EDIT, REACH_TREE, &c->w[i], c->p->src,
		    c->p->src_len);
	}
	if (i == 1)
		judge_reach(c->p->j, RULE_EDIT, REACH_TREE, &here, c->p->src,
		    c->p->src_len);
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

		if (text_is_one_of(w->text, run, nitems(run))) {
			i = find_exec(c, i + 1);
		} else if (text_is_one_of(w->text, write, nitems(write))) {
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

/* --- make ----------------------------------------------------------------- */

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
		if (text_is_one_of(name, names, nitems(names)) ||
		    eq[-1] == '!' || strpbrk(eq + 1, ";|&`$<>\n") != NULL)
			piece_found(c->p,
			    strchr(eq, '$') == NULL && eq[-1] != '!' &&
				    strcmp(name, "MAKE") != 0 &&
				    !text_is_one_of(name, names, 5)
				? FIND_POWER
				: FIND_OPAQUE,
			    call_place(c, i),
			    "make %s=, which may change what runs,", name);
		else if (text_is_one_of(name, tools, nitems(tools)))
			make_tool(c, i, name, eq + 1);
	}
	return false;
}

/* --- cmake -----------------------------------------------------------------
 */

/* cmake -E COMMAND: its tools are those of other names. */
static bool
special_cmake(const struct call *c)
{
	static const struct {
		const char *tool, *name, *option;
	} tools[] = { { "cat", "cat", NULL }, { "chdir", "env", "-C" },
		{ "copy", "cp", "-r" }, { "copy_directory", "cp", "-rT" },
		{ "copy_directory_if_different", "cp", "-rT" },
		{ "copy_if_different", "cp", NULL },
		{ "create_hardlink", "ln", NULL },
		{ "create_symlink", "ln", "-s" }, { "env", "env", NULL },
		{ "make_directory", "mkdir", NULL }, { "remove", "rm", NULL },
		{ "remove_directory", "rm", "-r" }, { "rename", "mv", NULL },
		{ "rm", "rm", NULL }, { "tar", "tar", NULL },
		{ "time", "time", NULL }, { "touch", "touch", NULL } };
	struct sh_word *a;
	size_t i, n = 0;

	if (c->n < 3 || strcmp(c->w[1].text, "-E") != 0)
		return false;
	a = judge_words(c->p->j, c->n);
	for (i = 0; i < nitems(tools); i++) {
		if (strcmp(tools[i].tool, c->w[2].text) != 0)
			continue;
		if (strcmp(tools[i].name, "env") == 0 ||
		    strcmp(tools[i].name, "time") == 0)
			piece_found(c->p, FIND_POWER, call_place(c, 2),
			    "cmake -E %s, which starts others,", tools[i].tool);
		a[n].text = (char *)(uintptr_t)tools[i].name;
		a[n++].len = strlen(tools[i].name);
		if (tools[i].option != NULL) {
			a[n].text = (char *)(uintptr_t)tools[i].option;
			a[n++].len = strlen(tools[i].option);
		}
		memcpy(a + n, c->w + 3, (c->n - 3) * sizeof *a);
		judge_argv(c->p, a, n + c->n - 3, false);
		return true;
	}
	return false;
}

/* --- readers -------------------------------------------------------------- */

/* What a list names is not known. */
static bool
special_sort(const struct call *c)
{
	size_t i;

	for (i = 1; i < c->n; i++)
		if (text_starts(c->w[i].text, "--fi"))
			judge_some(c->p, RULE_READ, "names in a list");
	return false;
}

/* What only goes through the preprocessor is shown as it is. */
static bool
special_cc(const struct call *c)
{
	static const char *const shows[] = { "-E", "-x", "-M", "-MM", "-P" };
	static const char *const files[] = { "-include", "-imacros" };
	struct sh_word file;
	bool read = false;
	size_t i, k;

	for (i = 1; i < c->n; i++) {
		read |= text_is_one_of(c->w[i].text, shows, nitems(shows)) ||
		    text_starts(c->w[i].text, "-x");
		if (text_starts(c->w[i].text, "-MF") && c->w[i].len > 3) {
			file = c->w[i];
			file.text += 3;
			file.len -= 3;
			judge_write(c->p->j, &file, c->p->src, c->p->src_len);
		}
		for (k = 0; k < nitems(files); k++) {
			if (!text_starts(c->w[i].text, files[k]))
				continue;
			file = c->w[i];
			file.text += strlen(files[k]);
			if (*file.text == '\0' && i + 1 < c->n)
				file = c->w[++i];
			file.len = strlen(file.text);
			judge_read(c->p->j, &file, c->p->src, c->p->src_len);
			break;
		}
		if (c->w[i].text[0] == '@') {
			file = c->w[i];
			file.text++;
			file.len--;
			judge_read(c->p->j, &file, c->p->src, c->p->src_len);
		}
	}
	for (i = 1; read && i < c->n; i++)
		if (c->w[i].text[0] != '-' &&
		    strcmp(c->w[i - 1].text, "-o") != 0)
			judge_read(c->p->j, &c->w[i], c->p->src, c->p->src_len);
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
	c->p->j->dir_unknown |= c->p->j->cd_unknown;
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

	for (i = 1; i < c->n; i++) {
		if ((eq = strchr(c->w[i].text, '=')) != NULL)
			piece_text(c->p, eq + 1,
			    (c->w[i].flags & SH_COMPUTED) != 0, c->w[i].var,
			    call_place(c, i));
		judge_alias(c->p, &c->w[i]);
	}
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
		piece_written(c->p, &c->w[1], call_place(c, 1));
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

		piece_tmpdir(c->p, &c->w[i]);

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
	{ "ar", special_ar },
	{ "bindfs", special_mount },
	{ "cmake", special_cmake },
	{ "bsdcpio", special_cpio },
	{ "cpio", special_cpio },
	{ "docker", special_container },
	{ "podman", special_container },
	{ "nerdctl", special_container },
	{ "git", special_git },
	{ "cargo", special_cargo },
	{ "gdb", special_gdb },
	{ "jar", special_tar },
	{ "java", special_java },
	{ "mktemp", special_mktemp },
	{ "pytest", special_pytest },
	{ "make", special_make },
	{ "gmake", special_make },
	{ "mount", special_mount },
	{ "pax", special_pax },
	{ "tar", special_tar },
	{ "gtar", special_tar },
	{ "bsdtar", special_tar },
	{ "compgen", special_complete },
	{ "complete", special_complete },
	{ "fc", special_fc },
	{ "history", special_history },
	{ "c++", special_cc },
	{ "cc", special_cc },
	{ "clang", special_cc },
	{ "clang++", special_cc },
	{ "g++", special_cc },
	{ "gcc", special_cc },
	{ "sort", special_sort },
	{ "cd", special_cd },
	{ "chdir", special_cd },
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
		if (strcmp(rows[i].name, name) == 0 ||
		    (rows[i].fn == special_cc &&
			strcmp(rows[i].name, program_alias(name)) == 0))
			return rows[i].fn(&c);
	return piece_relay(p, name, w, n);
}
