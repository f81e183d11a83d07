/* judge_build.c - builders and test runners: options that let them run or write
 * what an allow rule's star does not stand for; see judge.h. Sources: the
 * manual pages. */
#include "common/compat.h"

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

static void
power(const struct call *c, size_t i)
{
	piece_found(c->p, FIND_POWER, call_place(c, i), "%s %.80s", c->name,
	    c->w[i].text);
}

static void
writes(const struct call *c, size_t i, const char *text)
{
	struct sh_word w = c->w[i];

	w.text = (char *)(uintptr_t)text;
	w.len = strlen(text);
	judge_reach(
	    c->p->j, RULE_EDIT, REACH_BELOW, &w, c->p->src, c->p->src_len);
}

/* Not one of the system's, nor found by its name. */
static bool
is_own(const char *s)
{
	return strchr(s, '/') != NULL && !text_starts(s, "/usr/bin/") &&
	    !text_starts(s, "/bin/");
}

static bool
has_plugin(const char *s)
{
	static const char *const parts[] = { "plugin", "-specs", "-wrapper",
		"-B", "-fuse-ld=/", "-fuse-ld=.", "ld-path=", "-Xclang",
		"-load" };

	for (size_t i = 0; i < nitems(parts); i++)
		if (strstr(s, parts[i]) != NULL)
			return true;
	return false;
}

bool
flags_run(const char *name, const char *value)
{
	return (rule_star("*FLAGS", name, true) ||
		   rule_star("*FLAGS_*", name, true)) &&
	    has_plugin(value);
}

/* --- compilers ------------------------------------------------------------ */

static void
compiler(const struct call *c)
{
	static const char *const outputs[] = { "-fdump-", "-fopt-info",
		"-ftime-trace=", "-foptimization-record-file=",
		"-fprofile-dir=", "-fprofile-generate=",
		"-fprofile-instr-generate=", "-fcrash-diagnostics-dir=" };
	static const char *const nexts[] = { "-MJ", "-serialize-diagnostics",
		"--serialize-diagnostics" };
	size_t i, k;

	for (i = 1; i < c->n; i++) {
		const char *s = c->w[i].text, *eq = strchr(s, '=');

		if ((text_starts(s, "-Wl,") && strstr(s, "plugin") != NULL) ||
		    (strcmp(s, "-Xlinker") == 0 && i + 1 < c->n &&
			strstr(c->w[i + 1].text, "plugin") != NULL) ||
		    text_starts(s, "-iplugindir") ||
		    ((text_starts(s, "-fuse-ld=") ||
			 text_starts(s, "--ld-path=")) &&
			is_own(eq + 1)))
			power(c, i);
		for (k = 0; k < nitems(outputs) && eq != NULL; k++)
			if (text_starts(s, outputs[k]))
				writes(c, i, eq + 1);
		if (text_starts(s, "-fdiagnostics-") &&
		    (s = strstr(s, "file=")) != NULL)
			writes(c, i, s + 5);
		if (i + 1 < c->n &&
		    text_is_one_of(c->w[i].text, nexts, nitems(nexts)))
			writes(c, i, c->w[i + 1].text);
	}
}

/* --- cmake ---------------------------------------------------------------- */

/* -DNAME=VALUE, -DNAME:TYPE=VALUE */
static void
cmake_set(const struct call *c, size_t i, const char *s)
{
	static const char *const any[] = { "*TOOLCHAIN_FILE*", "RULE_LAUNCH_*",
		"CMAKE_PROJECT_*INCLUDE*", "CMAKE_*_INCLUDE_BEFORE",
		"*_CLANG_TIDY", "*_CPPCHECK", "*_CPPLINT", "*_YOU_USE",
		"*_EMULATOR", "CMAKE_MODULE_PATH" };
	static const char *const programs[] = { "*_COMPILER", "*_LAUNCHER",
		"*_PROGRAM", "*_EXECUTABLE", "*_COMMAND", "CMAKE_AR",
		"CMAKE_RANLIB", "CMAKE_STRIP", "CMAKE_NM", "*_LINKER" };
	const char *eq = strchr(s, '=');
	char name[128];
	size_t k;

	if (eq == NULL)
		return;
	(void)snprintf(name, sizeof name, "%.*s", (int)strcspn(s, ":="), s);
	for (k = 0; k < nitems(any); k++)
		if (rule_star(any[k], name, true))
			power(c, i);
	for (k = 0; k < nitems(programs); k++)
		if (rule_star(programs[k], name, true)) {
			if (is_own(eq + 1))
				power(c, i);
			piece_named(c->p, eq + 1, call_place(c, i));
		}
	if (flags_run(name, eq + 1))
		power(c, i);
}

static void
cmake(const struct call *c)
{
	static const char *const files[] = { "--graphviz=", "--trace-redirect=",
		"--profiling-output=", "--debugger-dap-log=" };
	bool installs = false;
	size_t i, k;

	for (i = 1; i < c->n; i++) {
		const char *s = c->w[i].text;

		if (text_starts(s, "-P") || text_starts(s, "-C") ||
		    text_starts(s, "--toolchain"))
			power(c, i);
		if (strcmp(s, "-D") == 0 && i + 1 < c->n)
			cmake_set(c, i + 1, c->w[i + 1].text);
		else if (text_starts(s, "-D"))
			cmake_set(c, i, s + 2);
		for (k = 0; k < nitems(files); k++)
			if (text_starts(s, files[k]))
				writes(c, i, s + strlen(files[k]));
		installs |= strcmp(s, "--install") == 0;
		if (installs && strcmp(s, "--prefix") == 0 && i + 1 < c->n)
			writes(c, i, c->w[i + 1].text);
		else if (installs && text_starts(s, "--prefix="))
			writes(c, i, s + strlen("--prefix="));
		/* what make gets */
		for (k = i + 1; strcmp(s, "--") == 0 && k < c->n; k++)
			if (strchr(c->w[k].text, '=') != NULL ||
			    text_starts(c->w[k].text, "-f") ||
			    text_starts(c->w[k].text, "-E") ||
			    text_starts(c->w[k].text, "-C"))
				power(c, k);
	}
}

/* --- go, pytest, node ----------------------------------------------------- */

static void
go(const struct call *c)
{
	static const char *const flags[] = { "ldflags", "gcflags", "asmflags",
		"gccgoflags" };
	static const char *const files[] = { "coverprofile", "cpuprofile",
		"memprofile", "blockprofile", "mutexprofile", "trace",
		"outputdir" };
	char name[32];
	size_t i;

	for (i = 2; i < c->n; i++) {
		const char *s = c->w[i].text, *value;

		if (s[0] != '-')
			continue;
		s += strspn(s, "-");
		s += text_starts(s, "test.") ? strlen("test.") : 0;
		(void)snprintf(
		    name, sizeof name, "%.*s", (int)strcspn(s, "="), s);
		value = strchr(s, '=');
		if (value == NULL && i + 1 >= c->n)
			continue;
		value = value != NULL ? value + 1 : c->w[i + 1].text;
		if (text_is_one_of(name, flags, nitems(flags)) &&
		    (strstr(value, "ext") != NULL || has_plugin(value)))
			power(c, i);
		if (text_is_one_of(name, files, nitems(files)))
			writes(c, i, value);
	}
}

static void
pytest(const struct call *c)
{
	static const char *const known[] = { "xdist", "pytester", "pytest_cov",
		"cacheprovider", "warnings", "terminal", "logging",
		"faulthandler", "doctest", "unittest", "capture", "timeout",
		"pytest_timeout", "asyncio", "pytest_asyncio", "django",
		"randomly" };
	size_t i;

	for (i = 1; i < c->n; i++) {
		const char *s = c->w[i].text;
		const char *next = i + 1 < c->n ? c->w[i + 1].text : "";

		if (text_starts(s, "-p") && !text_starts(s, "-pdb")) {
			s = s[2] != '\0' ? s + 2 : next;
			if (!text_starts(s, "no:") &&
			    !text_is_one_of(s, known, nitems(known)))
				power(c, i);
		} else if (strcmp(s, "-c") == 0 ||
		    text_starts(s, "--config-file") ||
		    text_starts(s, "--pdbcls")) {
			power(c, i);
		} else if (text_starts(s, "-o") ||
		    text_starts(s, "--override-ini")) {
			if (strstr(s, "addopts") != NULL ||
			    strstr(s, "pythonpath") != NULL ||
			    text_starts(next, "addopts") ||
			    text_starts(next, "pythonpath"))
				power(c, i);
		}
	}
}

/* A module of its own that is loaded first; those that are installed are not
 * the command's. */
static void
node(const struct call *c)
{
	const struct program *prog = program_find(c->name, NULL);
	struct opts o;
	struct opt t;

	opts_begin(&o, prog != NULL ? prog->spec : "+", c->w, c->n);
	while (opts_next(&o, &t)) {
		if (t.kind == OPT_OPERAND || t.kind == OPT_COMPUTED)
			return;
		if ((t.kind == OPT_READ || t.kind == OPT_IMPORT) &&
		    !text_starts(t.name, "--env") && t.has_value &&
		    (strchr("./~", t.value.text[0]) != NULL ||
			strchr(t.value.text, ':') != NULL))
			power(c, t.at);
	}
}

static const struct {
	const char *name;
	void (*fn)(const struct call *);
} rows[] = {
	{ "c++", compiler },
	{ "cc", compiler },
	{ "clang", compiler },
	{ "clang++", compiler },
	{ "cmake", cmake },
	{ "g++", compiler },
	{ "gcc", compiler },
	{ "go", go },
	{ "node", node },
	{ "nodejs", node },
	{ "py.test", pytest },
	{ "pytest", pytest },
};

void
piece_builds(
    struct piece *p, const char *name, const struct sh_word *w, size_t n)
{
	const struct call c = { p, program_alias(name), w, n };

	for (size_t i = 0; i < nitems(rows); i++)
		if (strcmp(rows[i].name, c.name) == 0)
			rows[i].fn(&c);
}
