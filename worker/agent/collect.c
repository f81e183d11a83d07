#include "common/compat.h"

#include <sys/stat.h>

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/path.h"
#include "common/strv.h"
#include "common/text.h"
#include "sandbox/policy/guard.h"
#include "worker/agent/collect.h"

#define LACKS "ModuleNotFoundError: No module named '"
#define MAX_NAMES 20

/* --- what the output says ------------------------------------------------ */

static size_t
count(const char *s, const char *what)
{
	size_t n = 0;

	while ((s = strstr(s, what)) != NULL) {
		s += strlen(what);
		n++;
	}
	return n;
}

/* The modules that were not found, each a plain name; 0: one of them is a part
 * of a package, which a source file may have to bring. */
static size_t
lacking(const char *s, struct strv *ret)
{
	char *name;

	while ((s = strstr(s, LACKS)) != NULL && ret->n < MAX_NAMES) {
		s += strlen(LACKS);
		name = xstrndup(s, strcspn(s, "'\n"));
		if (*name == '\0' || strpbrk(name, "./ ") != NULL) {
			free(name);
			return 0;
		}
		if (!strv_has(ret, name))
			strv_add(ret, name);
		free(name);
	}
	return ret->n;
}

/* The file of a line "FILE:12: in NAME" (pytest) or `  File "FILE", line 12`.
 * Yours; NULL: it is none. */
static char *
frame(const char *line, size_t len)
{
	static const char file[] = "  File \"";
	const char *end;

	if (len > strlen(file) && strncmp(line, file, strlen(file)) == 0) {
		line += strlen(file);
		return xstrndup(line, strcspn(line, "\"\n"));
	}
	end = memmem(line, len, ".py:", 4);
	if (end == NULL || memmem(line, len, ": in ", 5) == NULL)
		return NULL;
	return xstrndup(line, (size_t)(end - line) + 3);
}

/* Is it the project's own code, no test of it and nothing installed? */
static bool
is_source(const char *file, const char *root, const char *workdir)
{
	char *full = *file == '/' ? xstrdup(file) : path_join(workdir, file);
	char *at = path_normal(full);
	const char *rel = path_rel(at, root);
	bool yes = *file != '<' && rel != NULL && !guard_is_builtin(rel) &&
	    strstr(rel, "site-packages/") == NULL &&
	    strstr(rel, "/lib/python") == NULL;

	free(full);
	free(at);
	return yes;
}

static bool
is_in_source(const char *s, const char *root, const char *workdir)
{
	bool yes = false;
	size_t len;
	char *file;

	for (; *s != '\0' && !yes; s += len + (s[len] == '\n')) {
		len = strcspn(s, "\n");
		if ((file = frame(s, len)) == NULL)
			continue;
		yes = is_source(file, root, workdir);
		free(file);
	}
	return yes;
}

/* --- where the module is ------------------------------------------------- */

static bool
holds(const char *dir, const char *name)
{
	char *pkg = path_join(dir, name), *file = xasprintf("%s.py", pkg);
	struct stat st;
	bool yes = (stat(pkg, &st) == 0 && S_ISDIR(st.st_mode)) ||
	    access(file, F_OK) == 0;

	free(pkg);
	free(file);
	return yes;
}

/* The directory below workdir that has it, "." for itself; the directory above
 * it up to root, absolute. Yours; NULL: none. */
static char *
find_module(const char *root, const char *workdir, const char *name)
{
	DIR *d = holds(workdir, name) ? NULL : opendir(workdir);
	char *found = NULL, *up = xstrdup(workdir), *next;
	struct dirent *de;

	if (holds(workdir, name))
		found = xstrdup(".");
	while (d != NULL && found == NULL && (de = readdir(d)) != NULL) {
		next = path_join(workdir, de->d_name);
		if (de->d_name[0] != '.' && holds(next, name))
			found = xstrdup(de->d_name);
		free(next);
	}
	if (d != NULL)
		(void)closedir(d);
	while (
	    found == NULL && path_is_below(up, root) && strcmp(up, root) != 0) {
		next = path_dir(up);
		free(up);
		up = next;
		if (holds(up, name))
			found = xstrdup(up);
	}
	free(up);
	return found;
}

/* --- what to do ---------------------------------------------------------- */

/* `pytest ...` leaves the working directory out, `python3 -m pytest ...` does
 * not; where that python has no pytest, its path is to be set. */
static char *
there(const char *command, const char *name, const char *dir)
{
	char shown[200];

	(void)text_escape_to(shown, sizeof shown, command, strlen(command));
	if (strcmp(dir, ".") == 0 && text_starts(command, "pytest"))
		return xasprintf("%s is there, but not on Python's path: try "
				 "-t 'python3 -m %s', or -t 'PYTHONPATH=. %s'",
		    name, shown, shown);
	return xasprintf("%s is there, but not on Python's path: try "
			 "-t 'PYTHONPATH=%s %s'",
	    name, dir, shown);
}

char *
collect_trouble(const char *command, const struct test_command *c,
    const char *root, const char *workdir, bool wanted)
{
	struct strv names = { 0 };
	const char *s = buf_str(&c->output);
	char *dir, *what = NULL, *r = NULL, name[80], shown[200];
	size_t modules;

	modules = count(s, "ImportError while importing test module '") +
	    count(s, "ImportError: Failed to import test module: ");
	if (!c->parsed || c->timed_out || c->n_passed > 0 || modules == 0 ||
	    modules < c->n_failed || count(s, LACKS) < modules ||
	    lacking(s, &names) == 0 || is_in_source(s, root, workdir))
		goto out;
	(void)text_escape_to(name, sizeof name, names.v[0], strlen(names.v[0]));
	(void)text_escape_to(shown, sizeof shown, command, strlen(command));
	dir = find_module(root, workdir, names.v[0]);
	if (dir == NULL && wanted)
		goto out;
	if (dir != NULL)
		what = there(command, name, dir);
	else
		what = xasprintf("%s is not in the tree: install it for the "
				 "python that runs, or name the one that has "
				 "it with -t",
		    name);
	free(dir);
	r = xasprintf("the test command `%s` can't run: no test could be "
		      "collected (No module named '%s'). %s",
	    shown, name, what);
out:
	free(what);
	strv_clear(&names);
	return r;
}

char *
collect_offer(char *why, const char *command, const struct test_command *c,
    const char *path_env)
{
	static const char option[] = "-m pytest";
	const char *at = strstr(command, option);
	char *path = NULL, *longer, rest[200];

	if (at == NULL ||
	    strstr(buf_str(&c->output), "No module named pytest") == NULL ||
	    path_search("pytest", path_env, &path) < 0)
		return why;
	at += strlen(option);
	(void)text_escape_to(rest, sizeof rest, at, strlen(at));
	longer = xasprintf(
	    "%s. %s has a python of its own: try -t 'PYTHONPATH=. pytest%s'",
	    why, path, rest);
	free(path);
	free(why);
	return longer;
}
