/*
 * narrow_js.c - node --test, jest, vitest, mocha; see narrow.h. All of them
 * take a regular expression that is looked for in titles: in the test's own
 * (node 20), or in those of its suites and its own with blanks between (the
 * others). So a pattern is the end of that and not its beginning: the suites
 * may be left out, and more may fit, which is no harm.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "orchestrator/repair/narrow_priv.h"

#define TITLE_MAX 190 /* the parsers cut at 200 */
#define TAP_SEP " > "
#define SPEC_SEP " \xe2\x80\xba "

/* Of a.b.test.ts, a path that a runner of JavaScript takes. */
static bool
is_script(const char *s, size_t len)
{
	static const char *const ends[] = { ".js", ".mjs", ".cjs", ".jsx",
		".ts", ".mts", ".cts", ".tsx" };
	size_t n;

	for (size_t i = 0; i < nitems(ends); i++) {
		n = strlen(ends[i]);
		if (len > n && strncmp(s + len - n, ends[i], n) == 0)
			return true;
	}
	return false;
}

/* "suite > title" as "suite title", a regular expression. NULL: a title may
 * have been cut. */
static char *
pattern(const char *name, const char *sep)
{
	const char *end;
	struct buf b;
	size_t len;

	buf_init(&b, BUF_NOMAX);
	for (;;) {
		end = strstr(name, sep);
		len = end != NULL ? (size_t)(end - name) : strlen(name);
		if (len == 0 || len > TITLE_MAX) {
			buf_clear(&b);
			return NULL;
		}
		narrow_escape(&b, name, len);
		if (end == NULL)
			return buf_detach(&b, NULL);
		(void)buf_addc(&b, ' ');
		name = end + strlen(sep);
	}
}

/* --- node ----------------------------------------------------------------- */

static const char *
last_title(const char *name)
{
	const char *p;

	while ((p = strstr(name, TAP_SEP)) != NULL)
		name = p + strlen(TAP_SEP);
	while ((p = strstr(name, SPEC_SEP)) != NULL)
		name = p + strlen(SPEC_SEP);
	return name;
}

static char *
node_word(const struct narrow *x, const char *name)
{
	(void)x;
	name = last_title(name);
	/* TAP has escapes, and a test without a title has a number. */
	if (strchr(name, '\\') != NULL ||
	    strspn(name, "0123456789") == strlen(name))
		return NULL;
	return pattern(name, SPEC_SEP);
}

/*
 * The file of a failing test, by what TAP says of it:
 *	not ok 2 - title
 *	  ---
 *	  location: '/dir/a.test.js:2:27'
 * NULL: it does not say. Of two with one title the first.
 */
static char *
node_file(const struct narrow *x, const char *name)
{
	static const char mark[] = "location: '";
	const char *title = last_title(name), *p = x->output, *end, *q;
	size_t len = strlen(title);

	for (; (p = strstr(p, "not ok ")) != NULL; p++) {
		end = p + strcspn(p, "\n");
		q = p + strlen("not ok ");
		q += strspn(q, "0123456789");
		if (!text_starts(q, " - ") || strncmp(q + 3, title, len) != 0 ||
		    q + 3 + len != end)
			continue;
		/* Its own block, which ends before the next result. */
		q = strstr(end, mark);
		if (q == NULL || (size_t)(q - end) > 200)
			continue;
		q += strlen(mark);
		len = strcspn(q, "'\n\\");
		for (int n = 0; n < 2 && len > 0; n++) /* ":2:27" */
			while (len > 0 && q[--len] != ':')
				;
		if (*q == '/' && is_script(q, len))
			return xstrndup(q, len);
		return NULL;
	}
	return NULL;
}

/* The files of all that fail; none when one is not known. */
static void
node_files(struct narrow *x, struct strv *ret)
{
	for (size_t i = 0; i < x->failing->n; i++) {
		char *s = node_file(x, x->failing->v[i]);

		if (s == NULL || !narrow_is_clean(s) ||
		    ret->n >= NARROW_FILES_MAX) {
			free(s);
			strv_clear(ret);
			return;
		}
		if (!strv_has(ret, s))
			strv_take(ret, &s);
		free(s);
	}
}

static bool
is_node_test(const struct narrow *x, const char *spec)
{
	struct opts o;
	struct opt t;

	opts_begin(&o, spec, x->w, x->n);
	while (opts_next(&o, &t)) {
		if (t.kind == OPT_OPERAND || t.kind == OPT_COMPUTED)
			return false;
		if (strcmp(x->w[t.at].text, "--test") == 0)
			return true;
	}
	return false;
}

bool
narrow_node(struct narrow *x)
{
	static const char spec[] =
	    "r=A C=A e=X p=X i=X c=X --test=F --test-only=F --watch=X"
	    " --test-name-pattern=W --test-skip-pattern=A --require=A"
	    " --import=A --loader=A --experimental-loader=A --conditions=A"
	    " --test-reporter=A --test-reporter-destination=A"
	    " --test-concurrency=A --test-timeout=A --test-shard=X"
	    " --test-coverage-lines=X --test-coverage-branches=X"
	    " --test-coverage-functions=X --test-force-exit=F --env-file=A"
	    " --eval=X --print=X --check=X --enable-source-maps=F"
	    " --experimental-test-coverage=F --no-warnings=F"
	    " --experimental-vm-modules=F --trace-warnings=F"
	    " --experimental-strip-types=F --experimental-transform-types=F"
	    " --experimental-test-module-mocks=F";
	struct strv names = { 0 }, files = { 0 };
	char *word;
	bool ok;

	if (!is_node_test(x, spec))
		return false;
	node_files(x, &files);
	ok = narrow_options(x, spec, files.n > 0);
	if (ok && !x->files)
		ok = narrow_names(x, node_word, NARROW_TESTS_MAX, &names);
	else
		ok = ok && files.n > 0;
	if (ok && !x->files) {
		word = narrow_choice("--test-name-pattern=", &names, "$");
		strv_take(&x->before, &word);
	}
	/* A file runs by itself, without a process that waits for it. */
	for (size_t i = 0; i < x->n && ok && files.n == 1; i++)
		x->drop[i] |= strcmp(x->w[i].text, "--test") == 0;
	strv_extend(&x->after, &files);
	strv_clear(&names);
	strv_clear(&files);
	return ok;
}

/* --- jest, vitest, mocha -------------------------------------------------- */

static char *
spec_word(const struct narrow *x, const char *name)
{
	(void)x;
	return pattern(name, SPEC_SEP);
}

/* -t PATTERN, for all names. */
static bool
by_title(struct narrow *x, const char *option,
    char *(*one)(const struct narrow *, const char *))
{
	struct strv names = { 0 };
	bool ok = narrow_names(x, one, NARROW_TESTS_MAX, &names);
	char *word;

	if (ok) {
		word = narrow_choice("", &names, "$");
		strv_add(&x->before, option);
		strv_take(&x->before, &word);
	}
	strv_clear(&names);
	return ok;
}

bool
narrow_jest(struct narrow *x)
{
	static const char spec[] =
	    "t=W --testNamePattern=W w=A --maxWorkers=A c=A --config=A i=F"
	    " --runInBand=F --ci=F --silent=F --verbose=F --no-cache=F"
	    " --forceExit=F --detectOpenHandles=F --passWithNoTests=F"
	    " --colors=F --no-colors=F --color=F --no-color=F"
	    " --rootDir=A --testTimeout=A --reporters=X --json=X --watch=X"
	    " --watchAll=X --coverage=X --coverageThreshold=X --bail=F b=F"
	    " --onlyFailures=X f=X o=X --onlyChanged=X --testPathPattern=A"
	    " --testPathPatterns=A --testEnvironment=A --env=A h=X --help=X"
	    " --shard=X --selectProjects=X --projects=X --runTestsByPath=F"
	    " --preset=A u=X --updateSnapshot=X --listTests=X";

	return !x->files && narrow_options(x, spec, false) &&
	    by_title(x, "-t", spec_word);
}

/* "a.test.js > suite > title": the file is part of the name. */
static size_t
vitest_file(const char *name)
{
	const char *end = strstr(name, TAP_SEP);
	size_t len = end != NULL ? (size_t)(end - name) : 0;

	return len > 0 && *name != '-' && is_script(name, len) ? len : 0;
}

static char *
vitest_word(const struct narrow *x, const char *name)
{
	size_t len = vitest_file(name);

	(void)x;
	return len > 0 ? pattern(name + len + strlen(TAP_SEP), TAP_SEP) : NULL;
}

static char *
vitest_operand(const struct narrow *x, const char *name)
{
	size_t len = vitest_file(name);

	(void)x;
	return len > 0 ? xstrndup(name, len) : NULL;
}

bool
narrow_vitest(struct narrow *x)
{
	static const char spec[] =
	    "t=W --testNamePattern=W c=A --config=A r=A --root=A --dir=A"
	    " --environment=A --pool=A --reporter=A --testTimeout=A"
	    " --hookTimeout=A --maxWorkers=A --minWorkers=A --globals=F"
	    " --silent=F --no-file-parallelism=F --passWithNoTests=F"
	    " --isolate=F --no-isolate=F --no-color=F --coverage=X --shard=X"
	    " --changed=X u=X --update=X w=X --watch=X --project=A h=X"
	    " --help=X --run=F";

	return narrow_options(x, spec, true) &&
	    (x->files || by_title(x, "-t", vitest_word)) &&
	    narrow_names(x, vitest_operand, NARROW_FILES_MAX, &x->after);
}

bool
narrow_mocha(struct narrow *x)
{
	static const char spec[] =
	    "g=W --grep=W f=W --fgrep=W i=X --invert=X r=A --require=A t=A"
	    " --timeout=A s=A --slow=A u=A --ui=A R=A --reporter=A j=A"
	    " --jobs=A --config=A --extension=A --file=A --spec=A --ignore=A"
	    " --exclude=A --exit=F --recursive=F --parallel=F p=F --bail=F"
	    " b=F --check-leaks=F --color=F c=F C=F --no-color=F --watch=X"
	    " w=X --forbid-only=F --retries=A n=A --node-option=A --sort=F"
	    " S=F --import=A --colors=F --no-colors=F --colour=F A=F"
	    " --async-only=F h=X --help=X --dry-run=X";

	return !x->files && narrow_options(x, spec, false) &&
	    by_title(x, "-g", spec_word);
}
