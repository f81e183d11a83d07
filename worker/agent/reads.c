/* reads.c - see reads.h. The watch lies in the commands' /run, which no command
 * can write; what it has seen comes back as a file in the workspace. */
#include "common/compat.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/json.h"
#include "common/log.h"
#include "common/text.h"
#include "proto/msg.h"
#include "sandbox/changes.h"
#include "worker/agent/canary.h"
#include "worker/agent/control.h"
#include "worker/agent/reads.h"
#include "worker/agent/restore.h"
#include "worker/agent/scripts.h"

#define DIR "/run/foray-reads"
#define TESTS_MAX 500
#define PROTECTED_MAX 4000
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

/* What the watch is told; NULL: there is no test that it could watch. */
static char *
describe(const struct agent *a, int base_fd, const char *mark)
{
	const struct strv *g = &a->fs.guarded;
	json_t *tests = json_array(), *fixed = json_array(), *all;
	char *text = NULL;
	size_t i;

	for (i = 0; i < g->n; i++) {
		if (i < PROTECTED_MAX)
			json_array_append_new(fixed, json_string(g->v[i]));
		if (json_array_size(tests) < TESTS_MAX &&
		    is_test(base_fd, g->v[i]))
			json_array_append_new(tests, json_string(g->v[i]));
	}
	all = json_pack("{s:s, s:s, s:O, s:O}", "root", a->cfg.root, "mark",
	    mark, "tests", tests, "protected", fixed);
	if (all != NULL && json_array_size(tests) > 0)
		text = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	json_decref(tests);
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

static void
look(struct agent *a, const char *told, uint64_t limit_ms)
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
	restore_renew(a);
	if (test_run(a, limit_ms, 0, &t, &e) < 0)
		log_warn("no run under a watch: %s", e.text);
	test_run_clear(&t);
	a->task = task;
	strv_clear(&tests);
	spec_clear(&a->cfg.inner);
	a->cfg.inner = inner;
}

/* What the commands have left there is hostile: a name of ours, or nothing. */
static char *
take_mark(struct agent *a, const char *mark)
{
	char *seen = NULL;
	struct buf b;

	buf_init(&b, 4096);
	if (file_read_at(a->fs.root_fd, mark, true, &b, NULL) >= 0 &&
	    b.len > 0 && treefs_is_guarded(&a->fs, buf_str(&b)))
		seen = xstrdup(buf_str(&b));
	(void)unlinkat(a->fs.root_fd, mark, 0);
	buf_clear(&b);
	return seen;
}

char *
reads_run(struct agent *a, int base_fd, uint64_t limit_ms)
{
	char mark[CONTROL_TOKEN_LEN + 2] = ".", *told, *seen = NULL;

	control_token(mark + 1);
	if (a->cfg.inner.backend != BACKEND_BWRAP ||
	    (told = describe(a, base_fd, mark)) == NULL)
		return NULL;
	look(a, told, limit_ms);
	seen = take_mark(a, mark);
	free(told);
	return seen;
}
