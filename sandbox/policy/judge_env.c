/* judge_env.c - variables that change which programs run, and what their values
 * come to; see judge.h. Sources: the manual pages. */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

/* Options in variables that make a program slower, faster or more talkative,
 * and no other one: each word of the value begins with one of these; "*" ends
 * those that may go on, with anything that is no option of its own. */
static const struct {
	const char *name, *words;
} tuning[] = {
	{ "GOFLAGS",
	    "-mod=* -count=* -race -v -x -short -tags=* -trimpath -buildvcs=* "
	    "-p=* -timeout=* -cover -json -failfast -parallel=* -shuffle=*" },
	{ "*JAVA*_OPTIONS",
	    "-Xm* -Xs* -XX:MaxRAM* -XX:+Use* -Dfile.encoding=*" },
	{ "MAVEN_OPTS", "-Xm* -Xs* -XX:MaxRAM* -XX:+Use* -Dfile.encoding=*" },
	{ "GRADLE_OPTS",
	    "-Xm* -Xs* -XX:MaxRAM* -XX:+Use* -Dfile.encoding=* "
	    "-Dorg.gradle.daemon=* -Dorg.gradle.jvmargs=-Xm*" },
	{ "*MAKEFLAGS",
	    "-j* --jobs=* -l* -k -s -w -B -i -n -ks -sk --silent --quiet "
	    "--keep-going --no-print-directory --print-directory "
	    "--output-sync* -O*" },
	{ "NODE_OPTIONS",
	    "--max-old-space-size=* --max_old_space_size=* "
	    "--max-semi-space-size=* --stack-trace-limit=* --stack-size=* "
	    "--no-warnings --no-deprecation --trace-warnings "
	    "--trace-deprecation --trace-uncaught --throw-deprecation "
	    "--unhandled-rejections=* --enable-source-maps --expose-gc "
	    "--experimental-vm-modules --experimental-fetch "
	    "--experimental-strip-types --openssl-legacy-provider "
	    "--no-experimental-fetch --test-only --dns-result-order=*" },
	{ "PYTEST_ADDOPTS",
	    "-q -qq -v -vv -vvv -x -s -l -rA -ra --tb=* --color=* --maxfail=* "
	    "--durations=* --no-header --lf --ff -n* --disable-warnings" },
	{ "RUSTFLAGS",
	    "-D -A -W warnings -Dwarnings -Awarnings -A* -D* -W* --cfg -g "
	    "-Copt-level=* -Cdebuginfo=* -Ctarget-cpu=* -Ctarget-feature=* "
	    "-Cinstrument-coverage" },
};

static bool
is_tuning_word(const char *words, const char *word, size_t len)
{
	size_t n;

	for (; *words != '\0'; words += n + strspn(words + n, " ")) {
		n = strcspn(words, " ");
		if (words[n - 1] == '*'
			? len >= n - 1 && strncmp(words, word, n - 1) == 0
			: len == n && strncmp(words, word, n) == 0)
			return true;
	}
	return false;
}

static bool
is_tuning(const char *name, size_t len, const char *value)
{
	char copy[64];
	size_t i, n;

	if (len >= sizeof copy || value[0] == '\0' ||
	    strspn(value,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789 -_=.,:+/") != strlen(value))
		return false;
	memcpy(copy, name, len);
	copy[len] = '\0';
	for (i = 0; i < nitems(tuning); i++)
		if (rule_star(tuning[i].name, copy, true))
			break;
	if (i == nitems(tuning))
		return false;
	for (; *value != '\0'; value += n) {
		value += strspn(value, " ");
		n = strcspn(value, " ");
		if (n > 0 && !is_tuning_word(tuning[i].words, value, n))
			return false;
	}
	return true;
}

bool
assign_is_dangerous(const char *text, char *name, size_t size)
{
	/* Programs that may stand in EDITOR, PAGER, CC and the like. */
	static const char *const plain[] = { "", "cat", "true", "false", ":",
		"less", "more", "cc", "gcc", "clang", "c++", "g++", "clang++",
		"vi", "vim", "nano", "ld", "lld", "-FRX", "FRX", "0", "1", "2",
		"/dev/null", "off" };
	size_t n = strcspn(text, "=+["), i;
	const char *value = strchr(text, '=');
	char low[64];

	if (value != NULL && n < 64) {
		(void)snprintf(low, sizeof low, "%.*s", (int)n, text);
		if (flags_run(low, value + 1)) {
			(void)snprintf(name, size, "%s", low);
			return true;
		}
	}
	if (value == NULL || !name_is_dangerous(text, n) ||
	    is_tuning(text, n, value + 1))
		return false;
	if (strncmp(text, "IFS", 3) != 0 && strncmp(text, "LD_", 3) != 0 &&
	    strncmp(text, "PATH", 4) != 0 &&
	    strncmp(text, "GIT_CONFIG_C", 12) != 0)
		for (i = 0; i < nitems(plain); i++)
			if (strcmp(value + 1, plain[i]) == 0)
				return false;
	(void)snprintf(name, size, "%.*s", (int)n, text);
	return true;
}

/* Values that hold one of the words may run something; "*": any value. */
static const struct {
	const char *name, *words;
} opaque[] = {
	{ "BASH_FUNC_*", "*" },
	{ "FZF_DEFAULT_OPTS", "bind execute become reload preview transform" },
	{ "GIT_CONFIG_COUNT", "*" },
	{ "GIT_CONFIG_KEY_*", "*" },
	{ "GIT_CONFIG_PARAMETERS", "*" },
	{ "GIT_CONFIG*", "/dev/ /proc/" },
	{ "GOFLAGS", "exec vettool ext" },
	{ "*JAVA*_OPTIONS", "OnError OnOut agent" },
	{ "MAVEN_OPTS", "OnError OnOut agent" },
	{ "GRADLE_OPTS", "OnError OnOut agent" },
	{ "LESS", "!" },
	{ "LESSKEY_CONTENT", "*" },
	{ "LUA_INIT*", "*" },
	{ "MAKEFILES", "*" },
	{ "*MAKEFLAGS", "--e $ ` -f --f --ma -E SHELL" },
	{ "NODE_OPTIONS", "-r --req --imp --load --exp -e --eval" },
	{ "NPM_CONFIG_*", "" },
	{ "npm_config_*", "" },
	{ "PERL5DB", "*" },
	{ "PERL5OPT", "-M -m -d" },
	{ "RUBYOPT", "-r -e -I" },
	{ "RUSTFLAGS", "linker" },
	{ "TAR_OPTIONS", "-I -F --to --ch --us --in --ne --rs --rm" },
};

static bool
holds(const char *value, const char *words)
{
	char word[32];
	size_t n;

	for (; *words != '\0'; words += n + strspn(words + n, " ")) {
		n = strcspn(words, " ");
		(void)snprintf(word, sizeof word, "%.*s", (int)n, words);
		if (strcmp(word, "*") == 0 || strstr(value, word) != NULL)
			return true;
	}
	return false;
}

/* npm's settings are variables: some name a program. */
static bool
is_npm_program(const char *name)
{
	static const char *const names[] = { "npm_config_*shell",
		"npm_config_node_options", "npm_config_git",
		"npm_config_editor", "npm_config_viewer",
		"npm_config_*config" };
	char low[64];
	size_t i;

	(void)snprintf(low, sizeof low, "%s", name);
	for (i = 0; low[i] != '\0'; i++) {
		if (low[i] >= 'A' && low[i] <= 'Z')
			low[i] = (char)(low[i] + ('a' - 'A'));
		if (low[i] == '-')
			low[i] = '_';
	}
	for (i = 0; i < nitems(names); i++)
		if (rule_star(names[i], low, true))
			return true;
	return false;
}

/* The script that foray's built-in model loads into node, from a directory that
 * it has made (orchestrator/repair/trace.c), besides what is loaded already. A
 * model that writes one there could as well run it: node FILE. */
static bool
is_tracer(const char *name, const char *value)
{
	static const char already[] = "${NODE_OPTIONS:+$NODE_OPTIONS }";
	static const char option[] = "--require=/", mark[] = "/foray-trace-";
	const char *s;

	if (strcmp(name, "NODE_OPTIONS") != 0)
		return false;
	if (text_starts(value, already))
		value += strlen(already);
	if (!text_starts(value, option) || strpbrk(value, "$` \t\n\"'\\") ||
	    (s = strstr(value, mark)) == NULL)
		return false;
	s += strlen(mark);
	return strspn(s, "0123456789abcdef") == 16 &&
	    strcmp(s + 16, "/trace.js") == 0;
}

static bool
is_opaque(const struct sh_word *w, const char *name, const char *value)
{
	size_t i;

	if (is_npm_program(name))
		return true;
	if (is_tracer(name, value))
		return false;
	/* The number of processors is known to be one. */
	if (strcmp(value, "-j$(nproc)") == 0 || strcmp(value, "-j`nproc`") == 0)
		return false;
	for (i = 0; i < nitems(opaque); i++)
		if (rule_star(opaque[i].name, name, true))
			return (w->flags & SH_COMPUTED) != 0 ||
			    holds(value, opaque[i].words);
	return false;
}

/* What it holds may be run: rules must not be against that. */
void
assign_command(struct piece *p, const struct sh_word *w)
{
	static const char *const names[] = { "*_COMMAND", "*PAGER", "*EDITOR",
		"VISUAL", "*_DIFF", "LESSOPEN", "LESSCLOSE", "LESSEDIT",
		"*_RSH", "*ASKPASS", "*_WRAPPER", "BROWSER", "PS4", "GIT_SSH",
		"CC", "CXX", "LD", "RUSTC", "RUSTDOC", "MANOPT", "BASH_ENV",
		"ENV", "SHELL", "CARGO_TARGET_*_RUNNER",
		"CARGO_TARGET_*_LINKER", "GIT_CONFIG_VALUE_*", "npm_config_*",
		"NPM_CONFIG_*" };
	const char *eq = strchr(w->text, '=');
	struct sh_word file = *w;
	char name[64], *text;
	size_t i;

	if (eq == NULL)
		return;
	(void)snprintf(
	    name, sizeof name, "%.*s", (int)strcspn(w->text, "+="), w->text);
	if (rule_star("GIT_TRACE*", name, true)) {
		file.text += eq + 1 - w->text;
		file.len = strlen(file.text);
		judge_write(p->j, &file, p->src, p->src_len);
	}
	/* as "git -c core.hooksPath=..." is */
	if (rule_star("GIT_CONFIG_KEY_*", name, true) && git_key_runs(eq + 1))
		piece_found(
		    p, FIND_ASK, UNSPELLED, "git's setting %.80s", eq + 1);
	if (strcmp(name, "GIT_CONFIG_PARAMETERS") == 0)
		piece_found(p, FIND_ASK, UNSPELLED, "%s", name);
	if (strcmp(name, "ENV") == 0 || strcmp(name, "BASH_ENV") == 0) {
		file.text += eq + 1 - w->text;
		file.len = strlen(file.text);
		piece_startup(p, &file, UNSPELLED);
	}
	if (!p->j->rules->blocks_commands)
		return;
	if (is_opaque(w, name, eq + 1))
		piece_found(p, FIND_OPAQUE, UNSPELLED,
		    "%s=, which may run something,", name);
	if (text_starts(name, "BASH_FUNC_")) {
		text = xasprintf("f%s", eq + 1);
		piece_named(p, text, UNSPELLED);
		free(text);
		return;
	}
	eq++;
	if (text_starts(name, "LESS"))
		eq += strspn(eq, "|- ");
	for (i = 0; i < nitems(names); i++)
		if (rule_star(names[i], name, true)) {
			piece_named(p, eq, UNSPELLED);
			return;
		}
}

/* The same where it is set for all that comes. */
void
assign_for_all(struct judge *j, const struct sh_cmd *c, const struct sh_word *w)
{
	struct piece p = { .j = j, .src = c->src, .src_len = c->src_len };

	assign_command(&p, w);
	if (p.n_f > 0)
		judge_part(j, c->src, c->src_len, RULING_ASK, NULL,
		    LAYER_BUILTIN, p.f[0].what);
}
