/* reads.c - see reads.h. The watch lies in the commands' /run, which no command
 * can write; what it has seen comes back as a file in the workspace. */
#include "common/compat.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/json.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "proto/msg.h"
#include "sandbox/changes.h"
#include "sandbox/gitrun.h"
#include "worker/agent/canary.h"
#include "worker/agent/control.h"
#include "worker/agent/opens.h"
#include "worker/agent/reads.h"
#include "worker/agent/restore.h"
#include "worker/agent/scripts.h"

#define DIR "/run/foray-reads"
#define TESTS_MAX 500
#define PROTECTED_MAX 4000
#define INDEX_MS 10000
#define LATER_S 10
#define FILE_MAX ((size_t)1 << 20)

static bool
is_code(const char *name)
{
	static const char *const suffixes[] = { ".py", ".js", ".cjs", ".mjs",
		".ts", ".mts", ".jsx", ".tsx" };
	size_t i;

	for (i = 0; i < nitems(suffixes); i++)
		if (text_ends(name, suffixes[i]))
			return true;
	return false;
}

bool
reads_may(const char *patch, size_t len)
{
	static const char *const words[] = { "open", "read", "Path", "path",
		"walk", "glob", "listdir", "scandir", "linecache", "inspect",
		"source", "ast", "tokenize", "importlib", "__import__",
		"import(", "exec", "eval", "getattr", "builtins", "subprocess",
		"popen", "system", "spawn", "mmap", "ctypes", "require", "fs",
		"io", "pkgutil", "runpy", "compile", "vars(", "globals",
		"modules", "process", "Function", "cat ", "grep", "sed ", "awk",
		"load", NULL };
	struct strv paths = { 0 };
	bool code = patch_paths(patch, len, &paths, NULL) < 0;
	size_t i;

	for (i = 0; i < paths.n && !code; i++)
		code = is_code(paths.v[i]);
	strv_clear(&paths);
	return code && canary_adds(patch, len, words);
}

/* Code with something that is tested. What a test gives to the program to read
 * lies among such directories, if anything does. */
static bool
is_test(int base_fd, const char *rel)
{
	static const char *const given[] = { "fixture", "data", "sample",
		"example", "input", "golden", NULL };
	static const char *const words[] = { "assert", "expect(", "test(",
		"it(", "def test", NULL };
	struct buf b;
	bool yes;
	size_t i;

	for (i = 0; given[i] != NULL; i++) {
		if (strstr(rel, given[i]) != NULL)
			return false;
	}
	if (!is_code(rel))
		return false;
	buf_init(&b, FILE_MAX);
	yes = file_read_at(base_fd, rel, true, &b, NULL) >= 0;
	for (i = 0; yes && words[i] != NULL; i++) {
		if (strstr(buf_str(&b), words[i]) != NULL)
			break;
	}
	yes = yes && words[i] != NULL;
	buf_clear(&b);
	return yes;
}

static void
find_tests(const struct agent *a, int base_fd, struct strv *ret)
{
	const struct strv *g = &a->fs.guarded;
	size_t i;

	for (i = 0; i < g->n && ret->n < TESTS_MAX; i++)
		if (is_test(base_fd, g->v[i]))
			strv_add(ret, g->v[i]);
}

/* What the watch is told. */
static char *
describe(const struct agent *a, const struct strv *tests, const char *mark,
    const char *count)
{
	const struct strv *g = &a->fs.guarded;
	json_t *fixed = json_array(), *all;
	char *text = NULL;
	size_t i;

	for (i = 0; i < g->n && i < PROTECTED_MAX; i++)
		json_array_append_new(fixed, json_string(g->v[i]));
	all = json_pack("{s:s, s:s, s:s, s:o, s:O}", "root", a->cfg.root,
	    "mark", mark, "count", count, "tests", json_from_strv(tests),
	    "protected", fixed);
	if (all != NULL)
		text = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	json_decref(fixed);
	return text;
}

/* NAME=value, or value and what was there before, with sep between. */
static void
put_first(struct strv *env, const char *name, const char *value, char sep)
{
	size_t n = strlen(name), i;
	char *old = NULL;

	for (i = 0; i < env->n; i++) {
		if (strncmp(env->v[i], name, n) == 0 && env->v[i][n] == '=')
			break;
	}
	if (i == env->n) {
		strv_addf(env, "%s=%s", name, value);
		return;
	}
	old = env->v[i];
	env->v[i] = xasprintf("%s=%s%c%s", name, value, sep, old + n + 1);
	free(old);
}

/* A command may set the variable by itself: the watch comes first there, too.
 */
static char *
with_path(const char *command)
{
	static const char name[] = "PYTHONPATH=";
	const char *at;
	struct buf b;

	buf_init(&b, BUF_NOMAX);
	while ((at = strstr(command, name)) != NULL) {
		at += strlen(name);
		(void)buf_add(&b, command, (size_t)(at - command));
		(void)buf_adds(&b, DIR ":");
		command = at;
	}
	(void)buf_adds(&b, command);
	return buf_detach(&b, NULL);
}

/* git looks into a file whose place or time are not those of its index, or
 * whose time is not before the index's, as of one that was put back: then "git
 * status" would read the tests. */
static void
refresh_index(const struct agent *a)
{
	struct gitrun g = { .cwd = a->cfg.root, .timeout_ms = INDEX_MS };
	char *dir = path_join(a->cfg.root, ".git");
	struct timespec later[2];

	strv_setenv(&g.env, "GIT_DIR", dir);
	strv_setenv(&g.env, "GIT_WORK_TREE", a->cfg.root);
	strv_addl(&g.args, "update-index", "-q", "--refresh", (char *)NULL);
	(void)gitrun(&g, NULL);
	gitrun_clear(&g);
	free(dir);
	(void)clock_gettime(CLOCK_REALTIME, &later[1]);
	later[0] = later[1];
	later[1].tv_sec += LATER_S;
	(void)utimensat(
	    a->fs.root_fd, ".git/index", later, AT_SYMLINK_NOFOLLOW);
}

static void
look(struct agent *a, const char *told, uint64_t limit_ms,
    const struct strv *tests_watched, struct opens *o)
{
	const struct msg_task *task = a->task;
	struct sandbox_spec inner = a->cfg.inner;
	struct msg_task with = *task;
	struct strv tests = { 0 };
	struct test_run t = { 0 };
	struct err e;
	size_t i;

	spec_copy(&a->cfg.inner, &inner);
	spec_mount(&a->cfg.inner, MOUNT_DATA, script_reads_py,
	    DIR "/sitecustomize.py");
	spec_mount(&a->cfg.inner, MOUNT_DATA, script_reads_js, DIR "/reads.js");
	spec_mount(&a->cfg.inner, MOUNT_DATA, told, DIR "/reads.json");
	put_first(&a->cfg.inner.env, "PYTHONPATH", DIR, ':');
	put_first(&a->cfg.inner.env, "NODE_OPTIONS",
	    "--require=" DIR "/reads.js", ' ');
	for (i = 0; i < task->tests.n; i++) {
		char *command = with_path(task->tests.v[i]);

		strv_add(&tests, command);
		free(command);
	}
	with.tests = msg_strs_of(&tests);
	a->task = &with;
	refresh_index(a);
	restore_renew(a);
	opens_begin(o, a->fs.root_fd, tests_watched);
	if (test_run(a, limit_ms, 0, &t, &e) < 0)
		log_warn("no run under a watch: %s", e.text);
	opens_end(o);
	test_run_clear(&t);
	a->task = task;
	strv_clear(&tests);
	spec_clear(&a->cfg.inner);
	a->cfg.inner = inner;
}

/* What the commands have left there is hostile. */
static bool
take(struct agent *a, const char *name, struct buf *b)
{
	bool there = file_read_at(a->fs.root_fd, name, true, b, NULL) >= 0;

	(void)unlinkat(a->fs.root_fd, name, 0);
	return there;
}

/* A name of ours, or nothing. */
static char *
take_mark(struct agent *a, const char *mark)
{
	char *seen = NULL, *text;
	struct buf b;

	buf_init(&b, FILE_MAX);
	if (take(a, mark, &b)) {
		text = buf_detach(&b, NULL);
		text[strcspn(text, "\n")] = '\0';
		if (treefs_is_guarded(&a->fs, text))
			seen = xstrdup(text);
		free(text);
	}
	buf_clear(&b);
	return seen;
}

/* Lines: a test's number, which the watches saw and which is taken off, or "p".
 * False: there is too much of it. */
static bool
take_count(struct agent *a, const char *count, struct reads *r)
{
	const char *p;
	struct buf b;
	size_t n;
	bool good;

	buf_init(&b, FILE_MAX);
	good = faccessat(a->fs.root_fd, count, F_OK, AT_SYMLINK_NOFOLLOW) < 0 ||
	    take(a, count, &b);
	for (p = buf_str(&b); good && *p != '\0'; p += strspn(p, "\n")) {
		bool number = *p >= '0' && *p <= '9';

		r->processes += *p == 'p';
		for (n = 0; *p >= '0' && *p <= '9' && n <= TESTS_MAX; p++)
			n = n * 10 + (size_t)(*p - '0');
		if (number && n < r->tests.n && r->unseen[n] > 0)
			r->unseen[n]--;
		p += strcspn(p, "\n");
	}
	buf_clear(&b);
	return good;
}

void
reads_run(struct agent *a, int base_fd, uint64_t limit_ms, struct reads *ret)
{
	char mark[CONTROL_TOKEN_LEN + 2] = ".";
	char count[CONTROL_TOKEN_LEN + 2] = ".", *told = NULL;
	struct opens o = { .fd = -1 };

	*ret = (struct reads){ 0 };
	if (a->cfg.inner.backend == BACKEND_BWRAP)
		find_tests(a, base_fd, &ret->tests);
	control_token(mark + 1);
	control_token(count + 1);
	if (ret->tests.n == 0 ||
	    (told = describe(a, &ret->tests, mark, count)) == NULL) {
		reads_clear(ret);
		return;
	}
	look(a, told, limit_ms, &ret->tests, &o);
	free(told);
	ret->unseen = xcalloc(ret->tests.n, sizeof *ret->unseen);
	memcpy(ret->unseen, o.n, ret->tests.n * sizeof *ret->unseen);
	opens_clear(&o);
	if (!take_count(a, count, ret))
		memset(ret->unseen, 0, ret->tests.n * sizeof *ret->unseen);
	ret->seen = take_mark(a, mark);
}

void
reads_clear(struct reads *r)
{
	free(r->seen);
	free(r->unseen);
	strv_clear(&r->tests);
	*r = (struct reads){ 0 };
}

bool
reads_unseen(const struct reads *r)
{
	size_t i;

	for (i = 0; r->unseen != NULL && i < r->tests.n; i++)
		if (r->unseen[i] > 0)
			return true;
	return false;
}

const char *
reads_more(const struct reads *r, const struct reads *before)
{
	size_t i;

	/* The same tests, or nothing can be said. */
	if (r->unseen == NULL || before->unseen == NULL ||
	    r->tests.n != before->tests.n || r->processes > before->processes)
		return NULL;
	for (i = 0; i < r->tests.n; i++)
		if (r->unseen[i] > before->unseen[i] &&
		    strcmp(r->tests.v[i], before->tests.v[i]) == 0)
			return r->tests.v[i];
	return NULL;
}
