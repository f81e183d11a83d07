/*
 * narrow_python.c - pytest, unittest, a file that runs its own tests, django;
 * see narrow.h. Options from pytest 7 and 8, unittest of Python 3.7 to 3.13,
 * django 3 to 5.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "orchestrator/repair/narrow_priv.h"

/* --- pytest --------------------------------------------------------------- */

static const char pytest_spec[] =
    "k=A m=A p=A c=A W=A o=A r=A n=A q=F v=F s=F x=F l=F"
    " --maxfail=A --tb=A --durations=A --durations-min=A --rootdir=A"
    " --ignore=A --ignore-glob=A --deselect=A --confcutdir=A --basetemp=A"
    " --import-mode=A --override-ini=A --config-file=A --pythonwarnings=A"
    " --color=A --capture=A --show-capture=A --assert=A --junitxml=A"
    " --junit-xml=A --junit-prefix=A --verbosity=A --log-level=A"
    " --log-cli-level=A --log-file=A --cov=O --cov-report=A --cov-config=A"
    " --cov-context=A --cov-fail-under=X --numprocesses=A --dist=A"
    " --maxprocesses=A --timeout=A --timeout-method=A --reruns=A"
    " --reruns-delay=A --hypothesis-profile=A --hypothesis-seed=A"
    " --randomly-seed=A --asyncio-mode=A --ds=A --no-header=F"
    " --no-summary=F --quiet=F --verbose=F --exitfirst=F --showlocals=F"
    " --strict-markers=F --strict-config=F --strict=F --no-cov=F"
    " --disable-warnings=F --last-failed=X --lf=X --failed-first=F --ff=F"
    " --new-first=F --nf=F --stepwise=X --sw=X --collect-only=X --co=X"
    " --pyargs=F --doctest-modules=F --doctest-continue-on-failure=F"
    " --cache-clear=F --full-trace=F --trace-config=F --pdb=X --trace=X"
    " --help=X --version=X h=X V=X --fixtures=X --markers=X --noconftest=F"
    " --keep-duplicates=F --continue-on-collection-errors=F --no-migrations=F"
    " --reuse-db=F --benchmark-disable=F --benchmark-skip=F --forked=F"
    " --setup-show=F --setup-only=X --setup-plan=X --runxfail=F";

/* "a.py::T::test_x[1-a b]" as an argument. The brackets may hold anything; what
 * lost the closing one is run for all of its parameters. */
static char *
pytest_word(const struct narrow *x, const char *name)
{
	const char *end = strstr(name, "::"), *bracket;
	size_t len = strlen(name);

	if (end == NULL) { /* a file that can't be collected */
		if (!text_ends(name, ".py") || strchr(name, ' ') != NULL)
			return NULL;
		end = name + len;
	}
	if (end == name)
		return NULL;
	if (x->files)
		len = (size_t)(end - name);
	bracket = strchr(end, '[');
	if (!x->files && bracket != NULL && name[len - 1] != ']')
		len = (size_t)(bracket - name);
	else if (!x->files && bracket == NULL && strchr(end, ' ') != NULL)
		return NULL;
	/* Neither an option nor a file of arguments. */
	return xasprintf("%s%.*s", strchr("-@", name[0]) != NULL ? "./" : "",
	    (int)len, name);
}

bool
narrow_pytest(struct narrow *x)
{
	return narrow_options(x, pytest_spec, true) &&
	    narrow_names(x, pytest_word,
		x->files ? NARROW_FILES_MAX : NARROW_TESTS_MAX, &x->after);
}

/* --- unittest ------------------------------------------------------------- */

#define FAILED_IMPORT "unittest.loader._FailedTest."

/* The dotted part of "pkg.mod.Class.test_x [message] (i=1)", without what is no
 * name of a test; 0: it is none. */
static size_t
dotted_len(const char *name)
{
	static const char *const fixtures[] = { ".setUpClass", ".tearDownClass",
		".setUpModule", ".tearDownModule" };
	size_t len = strcspn(name, " "), n;

	if (name[len] != '\0' && name[len + 1] != '(' && name[len + 1] != '[')
		return 0;
	for (size_t i = 0; i < nitems(fixtures); i++) {
		n = strlen(fixtures[i]);
		if (len > n && strncmp(name + len - n, fixtures[i], n) == 0)
			len -= n;
	}
	if (!narrow_is_word(name, len, ".") || *name == '.' ||
	    name[len - 1] == '.')
		return 0;
	return len;
}

/* The module alone: without the last two parts, the class and the method. */
static size_t
module_len(const char *name, size_t len)
{
	for (int parts = 0; len > 0 && parts < 2; parts++)
		while (len > 0 && name[--len] != '.')
			;
	return len;
}

/* "pkg.mod.Class.test_x", or "pkg.mod" of files. */
static char *
dotted_word(const struct narrow *x, const char *name)
{
	bool broken = text_starts(name, FAILED_IMPORT);
	size_t len;

	if (broken)
		name += strlen(FAILED_IMPORT);
	if ((len = dotted_len(name)) == 0 || text_starts(name, "unittest.") ||
	    text_starts(name, "__main__."))
		return NULL;
	if (x->files && !broken)
		len = module_len(name, len);
	return len > 0 ? xstrndup(name, len) : NULL;
}

/* A pattern for -k: it is looked for in the whole dotted name. */
static char *
pattern_word(const struct narrow *x, const char *name)
{
	char *s = dotted_word(x, name), *ret;

	if (s == NULL || !x->files)
		return s;
	ret = xasprintf("%s.", s);
	free(s);
	return ret;
}

static char *
module_word(const struct narrow *x, const char *name)
{
	struct narrow all = { .files = true };

	(void)x;
	return dotted_word(&all, name);
}

static const char unittest_spec[] =
    "v=F q=F f=F b=F c=F h=X k=W --verbose=F --quiet=F --failfast=F"
    " --buffer=F --catch=F --locals=F --durations=A --help=X";
static const char discover_spec[] =
    "v=F q=F f=F b=F c=F h=X k=W s=A t=A p=W --verbose=F --quiet=F"
    " --failfast=F --buffer=F --catch=F --locals=F --durations=A --help=X"
    " --start-directory=A --top-level-directory=A --pattern=W";

/* How many operands are there? The second is the pattern. */
static size_t
count_operands(const struct narrow *x, const char *spec)
{
	struct opts o;
	struct opt t;
	size_t n = 0;

	opts_begin(&o, spec, x->w, x->n);
	o.i = x->split;
	while (opts_next(&o, &t))
		n += t.kind == OPT_OPERAND || t.kind == OPT_COMPUTED;
	return n;
}

/* Only this file is loaded, when all are in one and it is the pattern's. */
static void
one_file(struct narrow *x)
{
	struct strv modules = { 0 };
	const char *dot;

	if (count_operands(x, discover_spec) < 2 &&
	    narrow_names(x, module_word, 1, &modules)) {
		dot = strrchr(modules.v[0], '.');
		strv_add(&x->before, "-p");
		strv_addf(
		    &x->before, "%s.py", dot != NULL ? dot + 1 : modules.v[0]);
	}
	strv_clear(&modules);
}

static bool
discover(struct narrow *x)
{
	struct strv names = { 0 };
	size_t max = x->files ? NARROW_FILES_MAX : NARROW_TESTS_MAX;
	bool ok;

	x->split = 2;
	ok = narrow_options(x, discover_spec, false) &&
	    narrow_names(x, pattern_word, max, &names);
	if (ok)
		one_file(x);
	for (size_t i = 0; ok && i < names.n; i++)
		strv_addl(&x->before, "-k", names.v[i], (char *)NULL);
	strv_clear(&names);
	return ok;
}

bool
narrow_unittest(struct narrow *x)
{
	if (x->n > 1 && strcmp(x->w[1].text, "discover") == 0)
		return discover(x);
	return narrow_options(x, unittest_spec, true) &&
	    narrow_names(x, dotted_word,
		x->files ? NARROW_FILES_MAX : NARROW_TESTS_MAX, &x->after);
}

/* --- a file with unittest.main() at its end ------------------------------- */

static char *
own_word(const struct narrow *x, const char *name)
{
	size_t len;

	(void)x;
	if (!text_starts(name, "__main__."))
		return NULL;
	name += strlen("__main__.");
	len = dotted_len(name);
	return len > 0 ? xstrndup(name, len) : NULL;
}

bool
narrow_script(struct narrow *x)
{
	return !x->files && text_ends(x->w[0].text, ".py") &&
	    narrow_options(x, unittest_spec, true) &&
	    narrow_names(x, own_word, NARROW_TESTS_MAX, &x->after);
}

/* --- django --------------------------------------------------------------- */

bool
narrow_django(struct narrow *x)
{
	static const char spec[] =
	    "v=A k=A t=A p=A --verbosity=A --settings=A --pythonpath=A"
	    " --top-level-directory=A --pattern=A --testrunner=A --tag=A"
	    " --exclude-tag=A --noinput=F --no-input=F --failfast=F"
	    " --keepdb=F --reverse=X r=X --debug-mode=F d=F --debug-sql=F"
	    " --pdb=X --buffer=F b=F --timing=F --no-faulthandler=F"
	    " --traceback=F --no-color=F --force-color=F --help=X h=X";

	return narrow_options(x, spec, true) &&
	    narrow_names(x, dotted_word,
		x->files ? NARROW_FILES_MAX : NARROW_TESTS_MAX, &x->after);
}
