/* hint.c - see hint.h. */
#include "common/compat.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/num.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/direct/hint.h"

#define NOT_FOUND 127
#define NOT_RUN 126
#define ABORTED 134 /* AddressSanitizer */
#define TSAN_EXIT 66
#define MAX_LINKS 16
#define GIT_MAX ((size_t)64 << 10)

/* --- a command that is no program ------------------------------------------
 */

static bool
is_assignment(const char *s)
{
	const char *c = s;

	while (isalnum((unsigned char)*c) || *c == '_')
		c++;
	return c > s && !isdigit((unsigned char)*s) && *c == '=';
}

static bool
is_builtin(const char *s)
{
	static const char *const names[] = { ".", "alias", "cd", "eval", "exec",
		"export", "set", "shopt", "source", "trap", "ulimit", "umask",
		"unset" };

	for (size_t i = 0; i < nitems(names); i++) {
		if (strcmp(s, names[i]) == 0)
			return true;
	}
	return false;
}

static bool
hint_shell(char *const *argv)
{
	const char *s = argv[0];

	if (is_assignment(s))
		log_warn("%s is no command: --env %s sets a variable, and "
			 "sh -c '...' runs a line of shell",
		    s, s);
	else if (is_builtin(s))
		log_warn("%s is a command of the shell: sh -c '%s ...'", s, s);
	else if (argv[1] == NULL && strpbrk(s, " \t\n&|;<>$") != NULL &&
	    access(s, F_OK) < 0)
		log_warn("that is a line of shell, and no program has such a "
			 "name: sh -c '...' runs it");
	else
		return false;
	return true;
}

/* --- a program behind a link -----------------------------------------------
 */

/* The longest directory that both lie in. */
static char *
common_dir(const char *a, const char *b)
{
	size_t n = 0, end = 0;

	while (a[n] != '\0' && a[n] == b[n]) {
		if (a[n] == '/')
			end = n;
		n++;
	}
	return xstrndup(a, end);
}

static bool
is_too_much(const char *dir)
{
	char *home = NULL, *real;
	bool yes = strlen(dir) <= 1 || strcmp(dir, "/home") == 0;

	if (!yes && path_home(&home, NULL) == 0) {
		real = realpath(home, NULL);
		yes = path_is_below(home, dir) ||
		    (real != NULL && path_is_below(real, dir));
		free(real);
		free(home);
	}
	return yes;
}

/* What has to be shown for a program: bin/ alone would lack its libraries. */
static char *
to_show(const char *target, const char *real)
{
	char *dir = path_dir(real), *up = path_dir(dir), *both;

	if (strcmp(path_base(dir), "bin") == 0 && !is_too_much(up)) {
		free(dir);
		dir = up;
	} else {
		free(up);
	}
	if (is_too_much(dir)) {
		free(dir);
		return xstrdup(real);
	}
	if (path_is_below(target, dir))
		return dir;
	/* another name on the way there */
	both = common_dir(target, real);
	if (is_too_much(both)) {
		free(both);
		return dir;
	}
	free(dir);
	return both;
}

static void
say_hidden(const char *path, const char *target, const char *real)
{
	char *dir = to_show(target, real);

	if (strcmp(path, target) == 0)
		log_warn("%s is there, but not visible inside: --show %s", path,
		    dir);
	else
		log_warn("%s is a link to %s, which is not visible inside: "
			 "--show %s",
		    path, target, dir);
	free(dir);
}

/* Says so when a link on the way from path leads to what is not visible. */
static bool
hint_links(const struct direct *d, const char *path)
{
	char *real = realpath(path, NULL), *at = xstrdup(path), *dir, *to,
	     *next;
	char target[PATH_MAX];
	bool hidden = false;
	ssize_t n;

	for (int i = 0; real != NULL && i < MAX_LINKS; i++) {
		if ((hidden = !spec_shows(&d->spec, at)))
			break;
		if ((n = readlink(at, target, sizeof target - 1)) <= 0)
			break;
		target[n] = '\0';
		dir = path_dir(at);
		to =
		    target[0] == '/' ? xstrdup(target) : path_join(dir, target);
		next = path_normal(to);
		free(dir);
		free(to);
		free(at);
		at = next;
	}
	/* a directory on the way is a link */
	if (real != NULL && !hidden && !spec_shows(&d->spec, real)) {
		hidden = true;
		free(at);
		at = xstrdup(real);
	}
	if (hidden)
		say_hidden(path, at, real);
	free(real);
	free(at);
	return hidden;
}

/* The interpreter that a script names in its first line. */
static char *
interpreter(const char *path)
{
	char line[PATH_MAX] = "", *s;
	FILE *f;
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) ||
	    (f = fopen(path, "re")) == NULL)
		return NULL;
	if (fgets(line, sizeof line, f) == NULL)
		line[0] = '\0';
	(void)fclose(f); /* was only read */
	if (!text_starts(line, "#!"))
		return NULL;
	s = line + 2 + strspn(line + 2, " \t");
	s[strcspn(s, " \t\r\n")] = '\0';
	return s[0] == '/' ? xstrdup(s) : NULL;
}

static void
hint_file(const struct direct *d, const char *path)
{
	char *by;

	if (hint_links(d, path) || (by = interpreter(path)) == NULL)
		return;
	(void)hint_links(d, by);
	free(by);
}

/* As exec would look for it. */
static void
hint_program(const struct direct *d, const char *name)
{
	const char *path = strv_getenv(&d->spec.env, "PATH");
	char *dir, *file;
	bool found = false;
	size_t n;

	if (strchr(name, '/') != NULL) {
		file = name[0] == '/' ? xstrdup(name)
				      : path_join(d->tree.dir, name);
		hint_file(d, file);
		free(file);
		return;
	}
	for (; !found && path != NULL && *path != '\0';
	     path += n + (path[n] == ':')) {
		n = strcspn(path, ":");
		dir = xstrndup(path, n);
		file = path_join(dir, name);
		found = dir[0] == '/' && access(file, X_OK) == 0;
		if (found)
			hint_file(d, file);
		free(dir);
		free(file);
	}
}

void
hint_status(const struct direct *d, int status, bool each_limited)
{
	const uint64_t data = d->spec.limits.data_bytes;
	char size[32];

	if (status == NOT_FOUND || status == NOT_RUN) {
		if (!hint_shell(d->q->argv) && d->q->backend == BACKEND_BWRAP)
			hint_program(d, d->q->argv[0]);
	} else if ((status == ABORTED || status == TSAN_EXIT) && each_limited &&
	    data > 0 && data != LIMIT_UNLIMITED) {
		log_warn("each process may have %s of memory here, since there "
			 "are no control groups (foray doctor): a program with "
			 "a sanitizer needs --profile debug, or "
			 "\"process_memory\": \"unlimited\"",
		    num_fmt_size(data, size, sizeof size));
	}
}

/* --- git -------------------------------------------------------------------
 */

static void
hint_dir(const struct direct *d, const char *dir, const char *what)
{
	char *real = realpath(dir, NULL);

	if (real != NULL && !spec_shows(&d->spec, real))
		log_warn("%s in %s, which is not visible inside, so git will "
			 "fail there; if you know that directory: --show %s",
		    what, real, real);
	free(real);
}

/* The first line of a file below dir, after prefix, as a path; or NULL. */
static char *
named_in(const char *dir, const char *file, const char *prefix)
{
	char *path = path_join(dir, file), *ret = NULL, *name;
	const char *s;
	struct buf b;

	buf_init(&b, GIT_MAX);
	if (file_read(path, true, &b, NULL) == 0 &&
	    text_starts(s = buf_str(&b), prefix)) {
		s += strlen(prefix);
		name = xstrndup(s, strcspn(s, "\r\n"));
		ret = name[0] == '/' ? xstrdup(name) : path_join(dir, name);
		free(name);
	}
	buf_clear(&b);
	free(path);
	return ret;
}

static void
hint_alternates(const struct direct *d, const char *git)
{
	char *objects = path_join(git, "objects"), *save = NULL, *path;
	char *file = path_join(objects, "info/alternates");
	struct buf b;

	buf_init(&b, GIT_MAX);
	if (file_read(file, true, &b, NULL) == 0 && b.len > 0) {
		for (char *s = strtok_r(b.data, "\n", &save); s != NULL;
		     s = strtok_r(NULL, "\n", &save)) {
			if (*s == '#')
				continue;
			path = *s == '/' ? xstrdup(s) : path_join(objects, s);
			hint_dir(d, path, "objects of this repository lie");
			free(path);
		}
	}
	buf_clear(&b);
	free(file);
	free(objects);
}

static void
hint_git(const struct direct *d)
{
	char *git, *common;
	struct stat st;

	git = path_join(d->tree.root, ".git");
	if (lstat(git, &st) == 0 && S_ISREG(st.st_mode)) {
		free(git);
		git = named_in(d->tree.root, ".git", "gitdir: ");
		if (git != NULL)
			hint_dir(d, git, "this repository lies");
	}
	if (git != NULL && (common = named_in(git, "commondir", "")) != NULL) {
		free(git);
		git = common;
	}
	if (git != NULL)
		hint_alternates(d, git);
	free(git);
}

void
hint_start(const struct direct *d)
{
	/* A copy has one owner, and a repository of its own. */
	if (d->q->copy || d->q->backend != BACKEND_BWRAP)
		return;
	if (d->tree.foreign != NULL)
		log_warn("%s is not of the owner of the tree's top: inside, it "
			 "is nobody's and can't be written",
		    d->tree.foreign);
	hint_git(d);
}
