/* testrun.c - see testrun.h. */
#include "common/compat.h"

#include "common/json.h"
#include "common/log.h"
#include "common/text.h"
#include "worker/agent/command.h"
#include "worker/agent/exec.h"
#include "worker/agent/output.h"
#include "worker/agent/testrun.h"

#define LOOK_MS 100 /* how exact the end of a loop's start is known */

static int
cmp_str(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool
has_sorted(const struct strv *v, const char *name)
{
	return v->n > 0 &&
	    bsearch(&name, v->v, v->n, sizeof(char *), cmp_str) != NULL;
}

char *
test_command_name(const char *command)
{
	char line[TESTS_MAX_NAME + 1];

	text_escape_to(line, sizeof line, command, strlen(command));
	return xstrdup(line);
}

static void
judge(const char *command, struct test_command *c)
{
	struct test_report rep;
	struct buf clean;
	char *name;
	bool bad = c->timed_out || c->status != 0;

	buf_init(&clean, BUF_NOMAX);
	if (c->output.len > 0)
		(void)text_clean(
		    &clean, buf_str(&c->output), c->output.len, 4096);
	tests_parse(buf_str(&clean), clean.len, &rep);
	buf_clear(&clean);
	name = test_command_name(command);
	if (rep.runner != NULL && !rep.none) {
		c->parsed = true;
		c->failed = rep.failed;
		c->passed = rep.passed;
		rep.failed = rep.passed = (struct strv){ 0 };
		c->n_passed = rep.n_passed;
		c->n_failed = rep.n_failed;
		c->n_skipped = rep.n_skipped;
		c->all_names = rep.all_names;
		c->exact = rep.exact;
		c->slowest_ms = rep.slowest_ms;
		if (bad && c->failed.n == 0) {
			strv_add(&c->failed, name);
			c->n_failed += c->n_failed == 0;
		}
		if (c->n_failed < c->failed.n)
			c->n_failed = c->failed.n;
	} else if (bad) {
		strv_add(&c->failed, name);
		c->n_failed = 1;
	} else {
		strv_add(&c->passed, name);
		c->n_passed = 1;
		c->all_names = true;
	}
	test_report_clear(&rep);
	free(name);
}

static int
run_one(struct agent *a, const char *command, uint64_t timeout_ms,
    uint64_t stall_ms, struct test_command *c, struct err *e)
{
	struct sandbox_spec spec;
	struct exec x = {
		.timeout_ms = timeout_ms, .stall_ms = stall_ms, .keep = 4 << 20
	};
	char text[64];
	int r;

	*c = (struct test_command){ 0 };
	buf_init(&c->output, BUF_NOMAX);
	if ((r = agent_audit(a, "test", command, NULL, e)) < 0)
		return r;
	command_spec(a, &a->cfg.inner, command, &spec);
	x.spec = &spec;
	r = exec_run(&x, e);
	if (r == 0) {
		c->status = x.status;
		c->timed_out = x.timed_out;
		c->stalled = x.stalled;
		/* What it takes when nothing loops; the rest is not known. */
		c->ms = x.stalled ? x.moved_ms + LOOK_MS : x.ms;
		(void)exec_text(&x, &c->output);
		if (x.stalled)
			(void)buf_printf(&c->output,
			    "\n[in a loop: %llu s of processor time led to "
			    "nothing]\n",
			    (unsigned long long)stall_ms / 1000);
		judge(command, c);
		snprintf(text, sizeof text, "%llu passed, %llu failed",
		    (unsigned long long)c->n_passed,
		    (unsigned long long)c->n_failed);
		agent_progress(a, "test", NULL,
		    c->failed.n == 0 ? "ok" : "error", text, x.ms);
	}
	exec_clear(&x);
	spec_clear(&spec);
	return r;
}

int
test_run(struct agent *a, uint64_t timeout_ms, uint64_t stall_ms,
    struct test_run *ret, struct err *e)
{
	const struct msg_strs *tests = &a->task->tests;
	size_t i;
	int r = 0;

	*ret = (struct test_run){ .per_test = tests->n > 0 };
	ret->v = xcalloc(tests->n + 1, sizeof *ret->v);
	for (i = 0; i < tests->n && r == 0; i++) {
		struct test_command *c = &ret->v[ret->n++];

		r = run_one(a, tests->v[i], timeout_ms, stall_ms, c, e);
		if (!c->parsed)
			ret->per_test = false;
		ret->n_passed += c->n_passed;
		ret->n_failed += c->n_failed;
		ret->n_skipped += c->n_skipped;
		if (c->ms > ret->longest_ms)
			ret->longest_ms = c->ms;
		if (c->slowest_ms > ret->slowest_ms)
			ret->slowest_ms = c->slowest_ms;
	}
	return r;
}

void
test_run_clear(struct test_run *t)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		strv_clear(&t->v[i].failed);
		strv_clear(&t->v[i].passed);
		buf_clear(&t->v[i].output);
	}
	free(t->v);
	*t = (struct test_run){ 0 };
}

bool
test_run_failed(const struct test_run *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		if (has_sorted(&t->v[i].failed, name))
			return true;
	}
	return false;
}

bool
test_run_passed(const struct test_run *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		if (has_sorted(&t->v[i].passed, name))
			return true;
	}
	return false;
}

/* --- why nothing ran ----------------------------------------------------- */

struct sign {
	const char *text; /* in the output */
	const char *why;
};

#define NEEDS_NETWORK \
	"it needs the network, which the sandbox does not have: fetch what it " \
	"needs beforehand, or allow its hosts (--allow-net, settings: " \
	"network.allow)"
#define NEEDS_HOST \
	"it needs a host that it may not reach: allow it (--allow-net, " \
	"settings: network.allow), or fetch what it needs beforehand"

static const struct sign signs[] = {
	/* of the proxy; curl, Python and node say no more than the number */
	{ "is not in network.allow", NEEDS_HOST },
	{ "CONNECT tunnel failed, response 403", NEEDS_HOST },
	{ "Tunnel connection failed: 403", NEEDS_HOST },
	{ "Could not resolve host", NEEDS_NETWORK },
	{ "Temporary failure in name resolution", NEEDS_NETWORK },
	{ "Name or service not known", NEEDS_NETWORK },
	{ "getaddrinfo E", NEEDS_NETWORK },
	{ "Network is unreachable", NEEDS_NETWORK },
	{ "No module named pytest",
	    "pytest is not installed for the python that runs: install it, or "
	    "name the one of your virtual environment with -t" },
	{ "Missing script:",
	    "package.json has no such script: give another "
	    "command with -t" },
	{ "No rule to make target",
	    "the makefile has no such target: give another command with -t" },
	{ "No targets specified and no makefile found",
	    "there is no makefile in the working directory (-C)" },
	{ "could not find `Cargo.toml`",
	    "there is no Cargo.toml in the working directory (-C)" },
	{ "go.mod file not found",
	    "there is no go.mod in the working directory (-C)" },
	{ "go: cannot find main module",
	    "there is no go.mod in the working directory (-C)" },
	{ "Could not read package.json",
	    "there is no package.json in the working directory (-C)" },
	{ "ERROR: not found: ", "it names a test that does not exist" },
	{ "sh: 0: cannot open ", "it names a file that does not exist" },
	{ ": can't open file '", "it names a file that does not exist" },
	{ "Could not find '", "it names a file that does not exist" },
	{ "ERROR: file or directory not found",
	    "it names a file that does not exist" },
	{ "error: unrecognized arguments",
	    "it is given an option that it does not know" },
	{ "EADDRINUSE", "an address that it listens on is taken" },
};

static const char *
find_sign(const struct test_command *c)
{
	size_t i;

	for (i = 0; i < nitems(signs) && c->output.len > 0; i++) {
		if (memmem(buf_str(&c->output), c->output.len, signs[i].text,
			strlen(signs[i].text)) != NULL)
			return signs[i].why;
	}
	return NULL;
}

/* Python's own words, by which it ends before it runs anything: "PYTHON: No
 * module named NAME", of the module of its -m. What a traceback says of a
 * module is another thing. */
static bool
lacks_module(const char *command, const char *last)
{
	static const char says[] = ": No module named ";
	const char *at = strstr(last, says), *name;
	char *option;
	bool yes;

	if (at == NULL || last + strcspn(last, " ") != at + 1)
		return false;
	name = at + strlen(says);
	option = xasprintf("-m %.*s", (int)strcspn(name, " ;."), name);
	yes = strstr(command, option) != NULL;
	free(option);
	return yes;
}

static bool
ran_none(const struct test_command *c)
{
	struct test_report rep;
	struct buf clean;
	bool none;

	buf_init(&clean, BUF_NOMAX);
	if (c->output.len > 0)
		(void)text_clean(
		    &clean, buf_str(&c->output), c->output.len, 4096);
	tests_parse(buf_str(&clean), clean.len, &rep);
	none = rep.runner != NULL && rep.none;
	test_report_clear(&rep);
	buf_clear(&clean);
	return none;
}

/* unittest makes a failed test of a name that it does not find: is it one that
 * the command gives, not a module that a test asks for? */
static bool
names_no_test(const char *command, const struct test_command *c)
{
	static const char *const before[] = { "No module named '",
		"has no attribute '" };
	const char *text = buf_str(&c->output), *at;
	char *name = NULL, *word, *part;
	bool yes = false;

	if (c->n_passed > 0 || c->n_failed != 1 ||
	    strstr(text, "_FailedTest") == NULL)
		return false;
	for (size_t i = 0; i < nitems(before) && name == NULL; i++) {
		if ((at = strstr(text, before[i])) != NULL) {
			at += strlen(before[i]);
			name = xstrndup(at, strcspn(at, "'\n"));
		}
	}
	for (at = command;
	     name != NULL && !yes && *(at += strspn(at, " ")) != '\0';
	     at += strcspn(at, " ")) {
		word = xasprintf(".%.*s.", (int)strcspn(at, " "), at);
		part = xasprintf(".%s.", name);
		yes = strstr(word, part) != NULL;
		free(part);
		free(word);
	}
	free(name);
	return yes;
}

char *
test_command_trouble(const char *command, const struct test_command *c)
{
	char name[200], last[200];
	const char *why;

	text_escape_to(name, sizeof name, command, strlen(command));
	output_last_line(buf_str(&c->output), c->output.len, last, sizeof last);
	if (c->timed_out && !c->stalled)
		return xasprintf(
		    "the test command `%s` timed out after %llu s: give a "
		    "faster one with -t, or find out what it waits for",
		    name, (unsigned long long)((c->ms + 500) / 1000));
	if (c->parsed && names_no_test(command, c))
		return xasprintf(
		    "the test command `%s` names a test that does not exist "
		    "(%s)",
		    name, last);
	if (c->parsed || c->stalled)
		return NULL;
	if (c->status == 127)
		return xasprintf(
		    "the test command `%s` can't run: command not found (%s). "
		    "Install it, or give another with -t",
		    name, last);
	if (c->status == 126)
		return xasprintf(
		    "the test command `%s` can't run: not executable (%s). " TESTRUN_NO_EXEC
		    ", or give another with -t",
		    name, last);
	if (c->status == 128 + 9)
		return xasprintf(
		    "the test command `%s` was killed (out of memory, or over a "
		    "limit)",
		    name);
	if (ran_none(c))
		return xasprintf(
		    "the test command `%s` ran no tests (%s): give one that "
		    "does with -t",
		    name, last);
	if (c->status == 1 && lacks_module(command, last))
		return xasprintf(
		    "the test command `%s` can't run: its python has no such "
		    "module (%s). Install it, name the python that has it, or "
		    "give another with -t",
		    name, last);
	if (c->status != 0 && (why = find_sign(c)) != NULL)
		return xasprintf("the test command `%s` can't run: %s (%s)",
		    name, why, last);
	return NULL;
}
