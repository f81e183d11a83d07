/*
 * narrow_other.c - go test, cargo test, ctest, prove; see narrow.h. Options
 * from go 1.19 to 1.23, cargo 1.70 to 1.95, CMake 3.25, Test::Harness 3.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "orchestrator/repair/narrow_priv.h"

/* --- go ------------------------------------------------------------------- */

static const char go_spec[] =
    "v=F -run=W -skip=A -count=A -timeout=A -tags=A p=A"
    " -parallel=A -cpu=A -bench=X -benchtime=A -covermode=A -coverpkg=A"
    " -coverprofile=A -cpuprofile=A -memprofile=A -blockprofile=A"
    " -mutexprofile=A -exec=A o=X -mod=A -modfile=A -ldflags=A"
    " -gcflags=A -asmflags=A -buildmode=A -compiler=A -fuzz=X"
    " -fuzztime=X -list=X -outputdir=A -shuffle=A -vet=A -overlay=A"
    " -pgo=A -toolexec=A -trace=A -pkgdir=A -installsuffix=A -race=F"
    " -msan=F -asan=F -short=F -cover=F -failfast=F -json=X a=F x=F"
    " n=X c=X i=F -args=X -work=F -trimpath=F -linkshared=F"
    " -buildvcs=F -fullpath=F C=A";

/*
 * "example.com/mod/pkg.TestX/sub_name": where the name of the test begins, as
 * early as can be: a path has no ".Test" in it, but a subtest may. Without a
 * test (it did not build): the end.
 */
static size_t
go_split(const char *name)
{
	static const char *const kinds[] = { "Test", "Example", "Fuzz" };
	const char *dot = name;

	while ((dot = strchr(dot, '.')) != NULL) {
		dot++;
		for (size_t i = 0; i < nitems(kinds); i++) {
			size_t n = strlen(kinds[i]);

			/* Testing is no test, Test_x is one. */
			if (strncmp(dot, kinds[i], n) == 0 &&
			    !(dot[n] >= 'a' && dot[n] <= 'z') &&
			    narrow_is_word(dot, strcspn(dot, "/"), ""))
				return (size_t)(dot - name);
		}
	}
	return strlen(name) + 1;
}

static char *
go_package(const struct narrow *x, const char *name)
{
	size_t len = go_split(name) - 1;

	(void)x;
	/* Names that go makes up are no packages. */
	if (!narrow_is_word(name, len, "./~-") || *name == '-' ||
	    (len == 4 && strncmp(name, "main", 4) == 0) ||
	    (len == 22 && strncmp(name, "command-line-arguments", 22) == 0))
		return NULL;
	return xstrndup(name, len);
}

/* Its top alone: a part of a subtest's name would be one of all. */
static char *
go_test(const struct narrow *x, const char *name)
{
	size_t at = go_split(name);

	(void)x;
	if (at > strlen(name))
		return NULL;
	return xstrndup(name + at, strcspn(name + at, "/"));
}

/* "^TestX$/^sub_name$": of one test with its subtest. NULL: it has none. */
static char *
go_subtest(const struct narrow *x)
{
	const char *name = x->failing->v[0], *p;
	size_t at, len;
	struct buf b;

	if (x->failing->n != 1 || !narrow_is_clean(name) ||
	    (at = go_split(name)) > strlen(name) ||
	    strchr(name + at, '/') == NULL)
		return NULL;
	buf_init(&b, BUF_NOMAX);
	for (p = name + at;; p += len + 1) {
		len = strcspn(p, "/");
		(void)buf_addc(&b, '^');
		narrow_escape(&b, p, len);
		(void)buf_addc(&b, '$');
		if (p[len] == '\0')
			return buf_detach(&b, NULL);
		(void)buf_addc(&b, '/');
	}
}

static bool
has_vet(const struct narrow *x)
{
	for (size_t i = x->split; i < x->n; i++) {
		const char *s = x->w[i].text;

		if (text_starts(s + (text_starts(s, "--") ? 1 : 0), "-vet"))
			return true;
	}
	return false;
}

bool
narrow_go(struct narrow *x)
{
	struct strv names = { 0 }, packages = { 0 };
	char *word = NULL;
	bool ok, known;

	known = narrow_names(x, go_package, NARROW_FILES_MAX, &packages);
	ok = narrow_options(x, go_spec, known);
	if (x->files)
		ok = ok && known;
	else
		ok = ok && narrow_names(x, go_test, NARROW_TESTS_MAX, &names);
	if (ok && !x->files && (word = go_subtest(x)) == NULL)
		word = narrow_choice("^", &names, "$");
	if (word != NULL) {
		strv_add(&x->before, "-run");
		strv_take(&x->before, &word);
	}
	/* It takes longer than the tests; the whole command has it again. */
	if (ok && !has_vet(x))
		strv_add(&x->before, "-vet=off");
	if (ok && known)
		strv_extend(&x->after, &packages);
	strv_clear(&names);
	strv_clear(&packages);
	return ok;
}

/* --- cargo ---------------------------------------------------------------- */

static char *
cargo_word(const struct narrow *x, const char *name)
{
	(void)x;
	return narrow_is_word(name, strlen(name), ":") ? xstrdup(name) : NULL;
}

/* "cargo test [options] [filter] -- [options of the tests] [filters]" */
bool
narrow_cargo(struct narrow *x)
{
	static const char spec[] =
	    "p=A F=A j=A Z=A q=F v=F r=F h=X --package=A --exclude=A --bin=A"
	    " --example=A --test=A --bench=A --features=A --target=A"
	    " --target-dir=A --manifest-path=A --profile=A --jobs=A --color=A"
	    " --message-format=X --config=A --lib=F --bins=F --tests=F"
	    " --all-targets=F --doc=F --workspace=F --all=F --release=F"
	    " --quiet=F --verbose=F --all-features=F --no-fail-fast=F"
	    " --no-default-features=F --locked=F --offline=F --frozen=F"
	    " --no-run=X --help=X --examples=F --benches=F --keep-going=F";
	static const char of_tests[] =
	    "q=F Z=A --test-threads=A --nocapture=F --no-capture=F --exact=N"
	    " --skip=A --show-output=F --quiet=F --color=A --ignored=F"
	    " --include-ignored=F --format=X --list=X --logfile=A --bench=X"
	    " --test=F --report-time=F --shuffle=X";
	struct strv names = { 0 };
	size_t dashes;
	bool ok;

	for (dashes = x->split;
	     dashes < x->n && strcmp(x->w[dashes].text, "--") != 0; dashes++)
		;
	if (x->files || !narrow_span(x, spec, x->split, dashes, true) ||
	    (dashes < x->n &&
		!narrow_span(x, of_tests, dashes + 1, x->n, true)))
		return false;
	if (dashes == x->n)
		strv_add(&x->after, "--");
	strv_add(&x->after, "--exact");
	ok = narrow_names(x, cargo_word, NARROW_TESTS_MAX, &names);
	strv_extend(&x->after, &names);
	strv_clear(&names);
	return ok;
}

/* --- ctest ---------------------------------------------------------------- */

static char *
ctest_word(const struct narrow *x, const char *name)
{
	struct buf b;

	(void)x;
	buf_init(&b, BUF_NOMAX);
	narrow_escape(&b, name, strlen(name));
	return buf_detach(&b, NULL);
}

bool
narrow_ctest(struct narrow *x)
{
	static const char spec[] =
	    "R=W --tests-regex=W E=A --exclude-regex=A L=A --label-regex=A"
	    " --label-exclude=A C=A --build-config=A --test-dir=A"
	    " --timeout=A --repeat=A --preset=A j=O --parallel=O V=F"
	    " --verbose=F --output-on-failure=F --stop-on-failure=F"
	    " --no-tests=A --progress=F Q=F --quiet=X O=X --output-log=X"
	    " N=X --show-only=X I=X --tests-information=X F=X U=X -FA=A"
	    " -FS=A -FC=A -LE=A --rerun-failed=X S=X D=X M=X T=X"
	    " --build-and-test=X --resource-spec-file=A --schedule-random=F"
	    " --max-width=A --interactive-debug-mode=A --output-junit=A"
	    " --no-label-summary=F --no-subproject-summary=F"
	    " --test-output-size-passed=A --test-output-size-failed=A";
	struct strv names = { 0 };
	char *word;
	bool ok;

	/* Operands are not known; the number of -j looks like one. */
	ok = !x->files && narrow_options(x, spec, false) &&
	    narrow_names(x, ctest_word, NARROW_TESTS_MAX, &names);
	if (ok) {
		word = narrow_choice("^", &names, "$");
		strv_add(&x->before, "-R");
		strv_take(&x->before, &word);
	}
	strv_clear(&names);
	return ok;
}

/* --- prove: a test is a file ---------------------------------------------- */

static char *
prove_word(const struct narrow *x, const char *name)
{
	(void)x;
	if (strchr(name, ' ') != NULL)
		return NULL;
	return xasprintf("%s%s", *name == '-' ? "./" : "", name);
}

bool
narrow_prove(struct narrow *x)
{
	static const char spec[] =
	    "I=A M=A P=A e=A j=A v=F q=F Q=F l=F b=F r=F f=F o=F c=F w=F m=F"
	    " s=X T=F t=F W=F p=F a=X D=X h=X H=X V=X --lib=F --blib=F"
	    " --exec=A --jobs=A --verbose=F --recurse=F --merge=F --timer=F"
	    " --norc=F --rc=A --ext=A --state=X --shuffle=X --archive=X"
	    " --harness=A --formatter=A --source=A --color=F --nocolor=F"
	    " --failures=F --comments=F --ignore-exit=F --trap=F";

	for (size_t i = 1; i < x->n; i++)
		if (strcmp(x->w[i].text, "::") == 0)
			return false;
	return narrow_options(x, spec, true) &&
	    narrow_names(x, prove_word, NARROW_TESTS_MAX, &x->after);
}
