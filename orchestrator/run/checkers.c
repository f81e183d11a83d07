#include "common/compat.h"

#include <ctype.h>

#include "common/buf.h"
#include "common/fdio.h"
#include "common/json.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/run/checkers_priv.h"
#include "sandbox/policy/guard.h"

#define MAX_STEPS 4096 /* commands that are looked at */
#define MAX_FOUND 4096
#define MAX_BUILDS 256

/* One shell line: cd and for change what its later commands mean. */
struct line {
	struct finder *f;
	char *at; /* directory, as seen from dir */
	char *var;
	struct strv values;
	unsigned depth;
};

static void read_commands(
    struct finder *f, const char *at, const char *text, unsigned depth);
static void read_line(
    struct finder *f, const char *at, const char *text, unsigned depth);

char *
checkers_read(const struct finder *f, const char *at, const char *name)
{
	char *rel = path_join(at, name), *clean = path_normal(rel);
	char *path = path_join(f->dir, clean), *text = NULL;
	struct buf b;

	buf_init(&b, CHECKERS_FILE_MAX);
	if (path_is_safe_rel(clean) && file_read(path, true, &b, NULL) == 0)
		text = xstrdup(buf_str(&b));
	buf_clear(&b);
	free(rel);
	free(clean);
	free(path);
	return text;
}

void
checkers_found(struct finder *f, const char *at, const char *name)
{
	char *rel = path_join(at, name), *clean = path_normal(rel);

	if (f->found.n < MAX_FOUND && !strv_has(&f->found, clean))
		strv_add(&f->found, clean);
	free(rel);
	free(clean);
}

/* --- make files ----------------------------------------------------------- */

bool
checkers_makefile(const struct finder *f, const char *at, struct makefile *ret)
{
	static const char *const names[] = { "GNUmakefile", "makefile",
		"Makefile" };
	char *text = NULL;
	size_t i;

	for (i = 0; i < nitems(names) && text == NULL; i++)
		text = checkers_read(f, at, names[i]);
	if (text == NULL)
		return false;
	makefile_init(ret, &text);
	return true;
}

static void
target(const struct line *l, const struct makefile *m, const char *name,
    unsigned depth)
{
	struct strv needs = { 0 }, recipe = { 0 };
	size_t i;

	if (depth >= CHECKERS_DEPTH || ++l->f->steps > MAX_STEPS)
		return;
	makefile_rule(m, name, &needs, &recipe);
	for (i = 0; i < recipe.n; i++)
		read_line(l->f, l->at, recipe.v[i], depth + 1);
	for (i = 0; i < needs.n; i++)
		if (recipe.n == 0 || makefile_is_phony(m, needs.v[i]))
			target(l, m, needs.v[i], depth + 1);
	strv_clear(&needs);
	strv_clear(&recipe);
}

static void
make(const struct line *l, char *const *argv)
{
	struct line below = *l; /* borrows all but at */
	struct makefile m;
	char *to, *first;
	bool any = false;
	size_t i;

	below.at = xstrdup(l->at);
	for (i = 0; argv[i] != NULL; i++) {
		if (strcmp(argv[i], "-C") == 0 && argv[i + 1] != NULL) {
			to = path_join(below.at, argv[++i]);
			free(below.at);
			below.at = to;
		}
	}
	if (!checkers_makefile(l->f, below.at, &m)) {
		free(below.at);
		return;
	}
	for (i = 0; argv[i] != NULL; i++) {
		if (strcmp(argv[i], "-C") == 0 && argv[i + 1] != NULL) {
			i++;
		} else if (*argv[i] != '-' && strchr(argv[i], '=') == NULL) {
			target(&below, &m, argv[i], l->depth);
			any = true;
		}
	}
	first = any ? NULL : makefile_first(&m);
	if (first != NULL)
		target(&below, &m, first, l->depth);
	free(first);
	makefile_clear(&m);
	free(below.at);
}

/* --- package.json --------------------------------------------------------- */

static void
npm(const struct line *l, char *const *argv)
{
	char *text = checkers_read(l->f, l->at, "package.json");
	const char *name = argv[0], *script = NULL;
	json_t *root = NULL, *scripts;
	struct err e;

	if (name != NULL &&
	    (strcmp(name, "run") == 0 || strcmp(name, "run-script") == 0))
		name = argv[1];
	else if (name != NULL &&
	    (strcmp(name, "t") == 0 || strcmp(name, "tst") == 0))
		name = "test";
	if (text != NULL && name != NULL &&
	    json_parse(text, strlen(text), CHECKERS_FILE_MAX, &root, &e) == 0) {
		scripts = json_object_get(root, "scripts");
		script = json_string_value(json_object_get(scripts, name));
	}
	if (script != NULL)
		read_line(l->f, l->at, script, l->depth + 1);
	json_decref(root);
	free(text);
}

/* --- commands ------------------------------------------------------------- */

bool
checkers_is_shell(const char *word)
{
	static const char *const names[] = { "sh", "bash", "dash", "ksh", "zsh",
		"$(SHELL)" };

	return text_is_one_of(path_base(word), names, nitems(names));
}

bool
checkers_is_interpreter(const char *word)
{
	static const char *const names[] = { "python", "python3", "node",
		"perl", "ruby", "php", "lua", "$(PYTHON)", "$(NODE)" };

	return checkers_is_shell(word) ||
	    text_is_one_of(path_base(word), names, nitems(names));
}

/* Of a shell script only its last line: what runs before is judged by it, and
 * may well be what is tested. */
static void
read_script(const struct line *l, const char *text)
{
	const char *s, *last = "";
	struct buf b;
	size_t n;

	buf_init(&b, CHECKERS_FILE_MAX);
	for (s = text; *s != '\0'; s += n + (s[n] == '\n')) {
		n = strcspn(s, "\n");
		if (text_starts(s, "cd "))
			(void)buf_add(&b, s, n + (s[n] == '\n'));
		else if (n > strspn(s, " \t\r") && *s != '#')
			last = s;
	}
	(void)buf_add(&b, last, strcspn(last, "\n"));
	read_commands(l->f, l->at, buf_str(&b), l->depth + 1);
	buf_clear(&b);
}

/* Makes what is tested. */
static bool
is_builder(const char *name)
{
	static const char *const starts[] = { "build", "gen", "make", "compile",
		"bundle", "install", "setup", "prepare", "configure" };
	size_t i;

	for (i = 0; i < nitems(starts); i++)
		if (text_starts(path_base(name), starts[i]))
			return true;
	return false;
}

static void
script(const struct line *l, const char *name, bool shell, bool bare)
{
	char *text = checkers_read(l->f, l->at, name), *here, *at;

	if (text != NULL && !is_builder(name)) {
		if (shell && (bare || guard_is_builtin(name))) {
			here = path_dir(name);
			at = path_join(l->at, here);
			checkers_shell(l->f, l->at, at, text, l->depth + 1);
			free(here);
			free(at);
		}
		if (bare)
			checkers_found(l->f, l->at, name);
		if (bare && shell && l->depth < CHECKERS_DEPTH)
			read_script(l, text);
	}
	free(text);
}

/* "./x": a script, or a program whose source is looked for. */
static void
run_path(const struct line *l, const char *path, bool bare)
{
	char *text = checkers_read(l->f, l->at, path), *first;

	if (text != NULL && strncmp(text, "#!", 2) == 0) {
		first = xstrndup(text, strcspn(text, "\n"));
		script(l, path, strstr(first, "sh") != NULL, bare);
		free(first);
	} else if (bare) {
		checkers_program(l->f, l->at, path);
	}
	free(text);
}

static bool
is_before(const char *word)
{
	static const char *const names[] = { "if", "then", "do", "else", "elif",
		"while", "!", "{", "(", "exec", "env", "time", "command",
		"nice", "nohup", "timeout", "valgrind", "npx", "c8", "nyc",
		"xvfb-run", "&&" };

	return text_is_one_of(word, names, nitems(names)) ||
	    strchr(word, '=') != NULL || *word == '-' ||
	    isdigit((unsigned char)*word);
}

/* It is told nothing that it should work on. */
static bool
is_bare(char *const *argv)
{
	static const char *const names[] = { "-v", "-q", "--verbose", "--quiet",
		"$@" };

	for (argv++; *argv != NULL; argv++)
		if (!text_is_one_of(*argv, names, nitems(names)))
			return false;
	return true;
}

static void
compiled(struct finder *f, char *const *argv)
{
	struct buf b;

	buf_init(&b, CHECKERS_FILE_MAX);
	for (; *argv != NULL; argv++)
		(void)buf_printf(&b, "%s ", *argv);
	if (f->builds.n < MAX_BUILDS)
		strv_add(&f->builds, buf_str(&b));
	buf_clear(&b);
}

static void
one_command(const struct line *l, char *const *argv)
{
	static const char *const packagers[] = { "npm", "yarn", "pnpm" };
	static const char *const compilers[] = { "cc", "gcc", "clang", "c++",
		"g++", "clang++", "$(CC)", "${CC}", "$(CXX)", "${CXX}" };
	bool shell;

	while (*argv != NULL && is_before(*argv))
		argv++;
	if (*argv == NULL || **argv == '#')
		return;
	if (strcmp(*argv, "make") == 0 || strcmp(*argv, "gmake") == 0 ||
	    strcmp(*argv, "$(MAKE)") == 0) {
		make(l, argv + 1);
	} else if (text_is_one_of(*argv, compilers, nitems(compilers))) {
		compiled(l->f, argv);
	} else if (text_is_one_of(*argv, packagers, nitems(packagers))) {
		npm(l, argv + 1);
	} else if (checkers_is_interpreter(*argv)) {
		shell = checkers_is_shell(*argv);
		for (argv++; *argv != NULL && **argv == '-'; argv++) {
			if (shell && strcmp(*argv, "-c") == 0) {
				one_command(l, argv + 1);
				return;
			}
			if (strncmp(*argv, "-c", 2) == 0 ||
			    strncmp(*argv, "-m", 2) == 0)
				return; /* a module is a word of its own */
		}
		if (*argv != NULL)
			script(l, *argv, shell, is_bare(argv));
	} else if (strchr(*argv, '/') != NULL && **argv != '/') {
		run_path(l, *argv, is_bare(argv));
	}
}

/* With the variable of a for put in, if the command has it. */
static void
each_value(const struct line *l, const struct strv *argv)
{
	struct strv now = { 0 };
	char *plain = xasprintf("$%s", l->var != NULL ? l->var : "");
	char *braces = xasprintf("${%s}", l->var != NULL ? l->var : "");
	bool has = false;
	size_t i, k = 0;

	do {
		strv_clear(&now);
		for (i = 0; i < argv->n; i++) {
			const char *w = argv->v[i], *at = strstr(w, braces);
			size_t len = strlen(braces);

			if (at == NULL) {
				at = strstr(w, plain);
				len = strlen(plain);
			}
			if (l->var == NULL || at == NULL || k >= l->values.n) {
				strv_add(&now, w);
				continue;
			}
			strv_addf(&now, "%.*s%s%s", (int)(at - w), w,
			    l->values.v[k], at + len);
			has = true;
		}
		if (++l->f->steps <= MAX_STEPS)
			one_command(l, strv_argv(&now));
	} while (has && ++k < l->values.n);
	strv_clear(&now);
	free(plain);
	free(braces);
}

/* With the files that globs name; of "$(wildcard a*)" and "$(ls a*)", too. */
static void
begin_for(struct line *l, const struct strv *argv)
{
	size_t i, had;

	free(l->var);
	strv_clear(&l->values);
	l->var = xstrdup(argv->v[1]);
	for (i = 3; i < argv->n; i++) {
		char *word = xstrdup(argv->v[i]);

		word[strcspn(word, ")")] = '\0';
		had = l->values.n;
		if (strpbrk(word, "*?") != NULL)
			checkers_glob(l->f, l->at, word, &l->values);
		if (l->values.n == had)
			strv_add(&l->values, argv->v[i]);
		free(word);
	}
}

static void
change_dir(struct line *l, const char *to)
{
	char *at = path_join(l->at, to);

	free(l->at);
	l->at = at;
}

/* Words without their quotes. judged: something else judges what it writes. */
static void
command(struct line *l, const char *s, size_t len, bool judged)
{
	struct strv argv = { 0 };
	char *text = xstrndup(s, len), *to = text, *p;

	for (p = text; *p != '\0'; p++)
		if (*p != '"' && *p != '\'')
			*to++ = *p;
	*to = '\0';
	p = strpbrk(text, "<>");
	if (p != NULL) {
		judged |= *p == '<' ||
		    (strstr(p, "/dev/null") == NULL &&
			strncmp(p, ">&", 2) != 0);
		*p = '\0';
		if (p > text && isdigit((unsigned char)p[-1]))
			p[-1] = '\0'; /* 2>&1 */
	}
	strv_words(&argv, text);
	if (argv.n > 2 && strcmp(argv.v[0], "for") == 0)
		begin_for(l, &argv);
	else if (argv.n == 2 && strcmp(argv.v[0], "cd") == 0)
		change_dir(l, argv.v[1]);
	else if (!judged && argv.n > 0)
		each_value(l, &argv);
	strv_clear(&argv);
	free(text);
}

static void
read_commands(
    struct finder *f, const char *at, const char *text, unsigned depth)
{
	struct line l = { .f = f, .at = xstrdup(at), .depth = depth };
	bool piped = false;
	size_t n;

	while (depth < CHECKERS_DEPTH && *text != '\0') {
		n = strcspn(text, ";|&\n");
		if (n > 0 && text[n] == '&' && text[n - 1] == '>') /* 2>&1 */
			n += 1 + strcspn(text + n + 1, ";|&\n");
		bool to_pipe = text[n] == '|' && text[n + 1] != '|';

		command(&l, text, n, piped || to_pipe);
		piped = to_pipe;
		text += n + strspn(text + n, ";|&\n");
	}
	strv_clear(&l.values);
	free(l.var);
	free(l.at);
}

static void
read_line(struct finder *f, const char *at, const char *text, unsigned depth)
{
	checkers_shell(f, at, at, text, depth);
	read_commands(f, at, text, depth);
}

void
checkers_find(const char *dir, const struct strv *files, struct strv *commands)
{
	struct finder f = { .dir = dir, .files = files };
	size_t i;

	for (i = 0; i < commands->n; i++)
		read_line(&f, "", commands->v[i], 0);
	for (i = 0; i < f.found.n; i++)
		strv_addf(commands, "sh %s", f.found.v[i]);
	strv_clear(&f.found);
	strv_clear(&f.written);
	strv_clear(&f.mentioned);
	strv_clear(&f.builds);
}
