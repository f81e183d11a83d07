/* names.c - of variables, settings and words that start programs; see
 * programs.h. Sources: the manual pages. */
#include "common/compat.h"

#include "sandbox/policy/programs.h"
#include "sandbox/policy/rules.h"

static bool
in(const char *const *list, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (rule_star(list[i], name, true))
			return true;
	return false;
}

bool
name_is_dangerous(const char *name, size_t len)
{
	static const char *const names[] = { "LD_*", "DYLD_*", "GLIBC_TUNABLES",
		"PATH", "BASH_ENV", "ENV", "IFS", "SHELL", "SHELLOPTS",
		"BASHOPTS", "PS4", "PROMPT_COMMAND", "CDPATH", "BASH_FUNC_*",
		"GIT_CONFIG*", "GIT_SSH*", "GIT_EXTERNAL_DIFF", "GIT_EDITOR",
		"GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_ASKPASS",
		"GIT_PROXY_COMMAND", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR",
		"GIT_DIR", "GIT_ATTR_SOURCE", "GIT_ALLOW_PROTOCOL",
		"GIT_TRACE*", "*ASKPASS", "*EDITOR", "VISUAL", "*PAGER",
		"BROWSER", "MANOPT", "LESSOPEN", "LESSCLOSE", "LESSEDIT",
		"LESS", "LESSKEY*", "PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME",
		"PYTHONBREAKPOINT", "PYTHONINSPECT", "PYTHONEXECUTABLE",
		"NODE_OPTIONS", "NODE_PATH", "NPM_CONFIG_*", "npm_config_*",
		"PERL5OPT", "PERL5LIB", "PERLLIB", "PERL5DB", "RUBYOPT",
		"RUBYLIB", "GEM_PATH", "GEM_HOME", "BUNDLE_GEMFILE",
		"LUA_INIT*", "LUA_PATH*", "LUA_CPATH*", "PHPRC",
		"PHP_INI_SCAN_DIR", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS",
		"JDK_JAVA_OPTIONS", "CLASSPATH", "MAVEN_OPTS", "GRADLE_OPTS",
		"MAKEFLAGS", "GNUMAKEFLAGS", "MAKEFILES", "CC", "CXX", "LD",
		"RUSTC", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RUSTDOC",
		"RUSTFLAGS", "CARGO_TARGET_*_RUNNER", "CARGO_TARGET_*_LINKER",
		"CARGO_HOME", "GOFLAGS", "GOROOT", "GCC_EXEC_PREFIX",
		"COMPILER_PATH", "RIPGREP_CONFIG_PATH", "FZF_DEFAULT_COMMAND",
		"FZF_DEFAULT_OPTS", "TAR_OPTIONS", "RSYNC_RSH", "CVS_RSH",
		"TERMINFO*", "OPENSSL_CONF", "GCONV_PATH", "LOCPATH",
		"HOSTALIASES", "XDG_CONFIG_HOME", "HOME", "ZDOTDIR",
		"PYTEST_ADDOPTS", "PYTEST_PLUGINS", "DOCKER_HOST", "KUBECONFIG",
		"PWD", "GOENV", "GOCACHEPROG", "GOTOOLDIR", "CGO_*_ALLOW",
		"CMAKE_TOOLCHAIN_FILE", "CMAKE_PROJECT_*INCLUDE*",
		"CARGO_BUILD_RUSTC*", "CARGO_*_WRAPPER", "RSYNC_CONNECT_PROG",
		"CURL_HOME", "WGETRC", "PSQLRC", "VIMINIT", "GVIMINIT",
		"EXINIT", "OPENSSL_ENGINES", "OPENSSL_MODULES",
		"PIP_CONFIG_FILE", "DOTNET_STARTUP_HOOKS", "CORECLR_*PROFILER*",
		"CMAKE_*_LAUNCHER", "NODE_REPL_*MODULE", "R_PROFILE*",
		"R_ENVIRON*", "ERL_*FLAGS", "JULIA_LOAD_PATH",
		"GUILE_LOAD_PATH", "TCLLIBPATH", "BAT_CONFIG_PATH",
		"GIT_COMMON_DIR", "SVN_SSH", "HGRCPATH", "MERCURIAL",
		"DIFFPROG", "CTAGS", "AWKPATH", "AWKLIBPATH", "INPUTRC" };
	char copy[64];

	if (len >= sizeof copy)
		return false;
	memcpy(copy, name, len);
	copy[len] = '\0';
	return in(names, nitems(names), copy);
}

bool
git_key_runs(const char *key)
{
	/* git-config(1); section and variable in lower case, a subsection as it
	 * is. */
	static const char *const keys[] = { "core.fsmonitor", "core.hookspath",
		"core.pager", "core.editor", "core.sshcommand", "core.askpass",
		"core.gitproxy", "core.alternaterefscommand",
		"core.attributesfile", "core.worktree", "alias.*", "pager.*",
		"diff.external", "diff.*.textconv", "diff.*.command",
		"difftool.*", "mergetool.*", "merge.*.driver", "filter.*",
		"credential.helper", "credential.*.helper", "sequence.editor",
		"gpg.program", "gpg.*.program", "gpg.ssh.defaultkeycommand",
		"sendemail.*", "uploadpack.*", "remote.*.uploadpack",
		"remote.*.receivepack", "remote.*.vcs", "remote.*.proxy",
		"protocol.*", "include.*", "includeif.*", "browser.*.cmd",
		"man.*.cmd", "web.browser", "help.browser", "instaweb.*",
		"init.templatedir", "submodule.*.update",
		"interactive.difffilter", "trailer.*.command", "trailer.*.cmd",
		"clean.requireforce", "hook.*", "imap.tunnel" };
	char low[128];
	size_t i, len = strlen(key);

	if (len >= sizeof low)
		return true;
	for (i = 0; i <= len; i++)
		low[i] = key[i] >= 'A' && key[i] <= 'Z'
		    ? (char)(key[i] + ('a' - 'A'))
		    : key[i];
	return in(keys, nitems(keys), low);
}

static const struct {
	const char *name, *words; /* that start programs, space-separated */
} interpreters[] = {
	{ "python",
	    "system popen subprocess spawn exec execv execl eval pty "
	    "__import__ importlib ctypes getattr rmtree" },
	{ "perl",
	    "system exec qx ` open fork eval unlink syscall require &{ &$ ->( "
	    "->$ CORE:: *{ rmtree" },
	{ "ruby",
	    "system exec ` popen spawn fork eval Open3 IO Kernel %x send "
	    "method(" },
	{ "node",
	    "child_process exec execSync spawn spawnSync fork eval Function "
	    "process.binding require(" },
	{ "php", "system exec shell_exec passthru popen proc_open eval `" },
	{ "lua", "execute popen load loadstring" },
	{ "ipython", "! % system popen subprocess exec spawn eval pty" },
	{ "irb", "system exec ` popen spawn fork eval Open3 IO Kernel %x" },
	{ "tclsh", "exec open eval" },
	{ "expect", "spawn exec system open eval" },
	{ "bun", "child_process exec spawn fork eval Function require( Bun $" },
	{ "deno",
	    "Command run( child_process exec spawn eval Function require( "
	    "import( dlopen" },
	{ "elixir", ":os System Port Code apply" },
	{ "guile",
	    "system popen open-pipe open-input-pipe primitive-fork eval" },
	{ "julia", "run ` pipeline eval include ccall" },
	{ "osascript", "shell" },
	{ "Rscript", "system shell pipe( eval source parse .C .Call dyn.load" },
};

static const char *
interpreter_words(const char *program)
{
	size_t i;

	for (i = 0; i < nitems(interpreters); i++)
		if (strncmp(program, interpreters[i].name,
			strlen(interpreters[i].name)) == 0)
			return interpreters[i].words;
	return NULL;
}

bool
is_interpreter(const char *name)
{
	return interpreter_words(name) != NULL;
}

/* A file of data, or a module of node's own that starts nothing. */
static bool
is_tame_module(const char *s)
{
	static const char *const names[] = { "assert", "buffer", "console",
		"crypto", "events", "fs", "fs/promises", "os", "path",
		"perf_hooks", "process", "punycode", "querystring", "readline",
		"stream", "string_decoder", "timers", "tty", "url", "util",
		"zlib" };
	const char quote = *s, *end;
	size_t i, n;

	if (quote != '\'' && quote != '"')
		return false;
	s++;
	if ((end = strpbrk(s, "'\"\\\n")) == NULL || *end != quote ||
	    end[1] != ')')
		return false;
	if (strncmp(s, "node:", 5) == 0)
		s += 5;
	n = (size_t)(end - s);
	if (n > 5 && strncmp(end - 5, ".json", 5) == 0)
		return true;
	for (i = 0; i < nitems(names); i++)
		if (strlen(names[i]) == n && strncmp(names[i], s, n) == 0)
			return true;
	return false;
}

/* The word there is a part of another one that starts nothing: "empty",
 * "literal_eval", "executable", "platform.system". */
static bool
is_other_word(
    const char *program, const char *word, const char *code, const char *at)
{
	static const char *const whole[] = { "pty", "eval", "system" };
	const char before = at > code ? at[-1] : ' ';
	size_t i;

	if (strcmp(word, "require(") == 0)
		return is_tame_module(at + strlen(word));
	if (strncmp(program, "python", 6) != 0)
		return false;
	if (strcmp(word, "exec") == 0)
		return strncmp(at, "execute", 7) == 0 ||
		    strncmp(at, "executor", 8) == 0 ||
		    strncmp(at, "executable", 10) == 0;
	if (strcmp(word, "system") == 0 && at - code >= 9 &&
	    strncmp(at - 9, "platform.", 9) == 0)
		return true;
	for (i = 0; i < nitems(whole); i++)
		if (strcmp(word, whole[i]) == 0)
			return before == '_' ||
			    (before >= 'a' && before <= 'z') ||
			    (before >= 'A' && before <= 'Z');
	return false;
}

bool
code_starts(const char *program, const char *code)
{
	const char *s = strcmp(program, "emacs") == 0
	    ? "shell process-file process-lines call-process start-process "
	      "make-process (compile load eval dired-do"
	    : interpreter_words(program);
	const char *at;
	char word[32];
	size_t n;

	while (s != NULL && *s != '\0') {
		n = strcspn(s, " ");
		if (n < sizeof word) {
			memcpy(word, s, n);
			word[n] = '\0';
			for (at = code; (at = strstr(at, word)) != NULL; at++)
				if (!is_other_word(program, word, code, at))
					return true;
		}
		s += n + strspn(s + n, " ");
	}
	return false;
}

/* --- operands ------------------------------------------------------------- */

unsigned
program_use(const char *operands, size_t k, size_t n)
{
	enum {
		R = USE_READ,
		W = USE_WRITE,
		B = USE_BELOW,
		X = USE_REMOVE,
		I = R | W | B | USE_INPLACE
	};
	static const struct {
		const char *how;
		unsigned first, second, more, last;
	} rows[] = {
		{ "w", W, W, W, 0 },
		{ "w+", R | W, R | W, R | W, 0 },
		{ "wb", W | B, W | B, W | B, 0 },
		{ "wi", I, I, I, 0 },
		{ "w-1", 0, W, W, 0 },
		{ "w-2", 0, 0, W, 0 },
		{ "w1", W, 0, 0, 0 },
		{ "w2", 0, W, 0, 0 },
		{ "wl", 0, 0, 0, W },
		{ "wr", R | W, R | W, R | W, 0 },
		{ "x", X, X, X, 0 },
		{ "names", 0, X, X, 0 },
		{ "r", R, R, R, 0 },
		{ "r+", R, R, R, 0 },
		{ "r-1", 0, R, R, 0 },
		{ "r1", R, 0, 0, 0 },
		{ "rw1", R | W, R, R, 0 },
		{ "rwl", R, R, R, W },
		{ "rw2", R, W, R, 0 },
		{ "zip", W, R, R, 0 },
		{ "pack", W, R | B, R | B, 0 },
		{ "unpack", R, 0, 0, 0 },
		{ "into", R, W | B, 0, 0 },
		{ "patch", W, R, R, 0 },
		{ "any", R, R, R, 0 },
	};
	size_t i;

	for (i = 0; operands != NULL && i < nitems(rows); i++) {
		if (strcmp(rows[i].how, operands) != 0)
			continue;
		/* One alone is both, or what an option says. */
		if (k + 1 == n && rows[i].last != 0)
			return rows[i].last | (n == 1 ? rows[i].first : 0);
		return k == 0 ? rows[i].first
		    : k == 1  ? rows[i].second
			      : rows[i].more;
	}
	return 0;
}

/* --- before the verb ------------------------------------------------------ */

const char *
program_globals(const char *name)
{
	static const struct {
		const char *name, *spec;
	} rows[] = {
		{ "git",
		    "C=A c=G --git-dir=Q --work-tree=K --namespace=A "
		    "--exec-path=Q --config-env=Q --super-prefix=A p=F "
		    "--shallow-file=A "
		    "--attr-source=A" },
		{ "npm",
		    "C=A --prefix=K w=A --workspace=A --script-shell=Q "
		    "--node-options=Q --git=Q --shell=Q --editor=Q" },
		{ "pnpm", "C=A --dir=A F=A --filter=A" },
		{ "yarn", "--cwd=A" },
		{ "cargo", "C=A Z=A --config=Q --color=A --manifest-path=A" },
		{ "go", "C=A -C=A" },
		{ "docker",
		    "H=A --host=A c=A --context=A l=A --log-level=A "
		    "--config=A" },
		{ "podman", "H=A c=A --log-level=A --root=A" },
		{ "kubectl", "n=A --namespace=A --context=A --kubeconfig=Q" },
		{ "helm",
		    "n=A --namespace=A --kube-context=A --post-renderer=Q" },
		{ "gh", "R=A --repo=A" },
		{ "systemctl", "H=A M=A p=A" },
		{ "pip", "--python=Q --proxy=A --cache-dir=A --log=A" },
		{ "pip3", "--proxy=A --cache-dir=A --log=A" },
		{ "uv", "--directory=A --project=A --cache-dir=A" },
		{ "poetry", "C=A --directory=A P=A --project=A" },
		{ "terraform", "-chdir=A" },
		{ "hg", "R=A --cwd=A --config=Q" },
		{ "svn", "" },
		{ "apt", "o=Q c=Q t=A" },
		{ "apt-get", "o=Q c=Q t=A" },
	};
	const struct program *prog;
	size_t i;

	for (i = 0; i < nitems(rows); i++)
		if (strcmp(rows[i].name, name) == 0)
			return rows[i].spec;
	if (name[0] == '7' && (prog = program_find(name, "a")) != NULL)
		return prog->spec;
	return NULL;
}

/* --- other names ---------------------------------------------------------- */

const char *
program_alias(const char *name)
{
	static const struct {
		const char *name, *of;
	} rows[] = {
		{ "7za", "7z" },
		{ "7zr", "7z" },
		{ "7zz", "7z" },
		{ "bsdtar", "tar" },
		{ "bsdunzip", "unzip" },
		{ "bunzip2", "bzip2" },
		{ "gawk", "awk" },
		{ "gsed", "sed" },
		{ "gtar", "tar" },
		{ "mawk", "awk" },
		{ "nawk", "awk" },
		{ "pbzip2", "bzip2" },
		{ "pigz", "gzip" },
		{ "uncompress", "compress" },
		{ "unlz4", "lz4" },
		{ "unlzma", "xz" },
		{ "lzma", "xz" },
		{ "lzip", "xz" },
		{ "brotli", "xz" },
		{ "lzop", "xz" },
		{ "lrunzip", "xz" },
		{ "lrzip", "xz" },
		{ "unpigz", "gzip" },
		{ "unxz", "xz" },
		{ "unzstd", "zstd" },
		{ "zstdmt", "zstd" },
		{ "lz4cat", "zstdcat" },
		{ "gvim", "vim" },
		{ "rvim", "vim" },
	};
	static const char *const compilers[] = { "gcc", "g++", "clang",
		"clang++", "cpp" };
	size_t i;

	for (i = 0; i < nitems(rows); i++)
		if (strcmp(rows[i].name, name) == 0)
			return rows[i].of;
	/* gcc-14, x86_64-linux-gnu-g++ */
	for (i = 0; i < nitems(compilers); i++) {
		size_t n = strlen(compilers[i]), len = strlen(name);

		if (strncmp(name, compilers[i], n) == 0 && name[n] == '-' &&
		    name[n + 1] >= '0' && name[n + 1] <= '9')
			return compilers[i];
		if (len > n + 1 && name[len - n - 1] == '-' &&
		    strcmp(name + len - n, compilers[i]) == 0)
			return compilers[i];
	}
	if (strncmp(name, "python3.", 8) == 0)
		return "python3";
	return strncmp(name, "mkfs.", 5) == 0 ? "mkfs" : name;
}
