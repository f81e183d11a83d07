/* refuse.c - see refuse.h. */
#include "common/compat.h"

#include <link.h>
#include <stdlib.h>
#include <strings.h>

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/direct/refuse.h"

/* --- directories of the system ---------------------------------------------
 */

/* A project may lie below these, but is none of them. */
static const char *const alone[] = { "/boot", "/dev/shm", "/etc", "/home",
	"/opt", "/root", "/run", "/run/user", "/tmp", "/usr", "/usr/local",
	"/usr/local/bin", "/usr/local/lib", "/usr/share", "/usr/src", "/var",
	"/var/cache", "/var/lib", "/var/log", "/var/spool", "/var/tmp" };

/* Nor does it lie here. */
static const char *const whole[] = { "/bin", "/dev", "/gnu/store", "/nix/store",
	"/proc", "/sbin", "/sys", "/usr/bin", "/usr/include", "/usr/libexec",
	"/usr/sbin" };

/* /lib, /lib64, /usr/lib32 and what lies below. */
static bool
is_library(const char *path)
{
	if (text_starts(path, "/usr/"))
		path += strlen("/usr");
	if (!text_starts(path, "/lib"))
		return false;
	path += strlen("/lib");
	path += strspn(path, "x0123456789");
	return *path == '\0' || *path == '/';
}

/* /run/user/1000: sockets of everything that runs there. */
static bool
is_runtime(const char *path)
{
	const char *rel = path_rel(path, "/run/user");

	return rel != NULL && strchr(rel, '/') == NULL;
}

static bool
is_system(const char *path)
{
	for (size_t i = 0; i < nitems(alone); i++) {
		if (strcmp(path, alone[i]) == 0)
			return true;
	}
	if (path_is_below(path, "/dev/shm"))
		return false;
	for (size_t i = 0; i < nitems(whole); i++) {
		if (path_is_below(path, whole[i]))
			return true;
	}
	return is_library(path) || is_runtime(path);
}

/* --- what would be writable ------------------------------------------------
 */

static bool
holds_home(const char *dir)
{
	char *home = NULL, *real;
	bool yes;

	if (path_home(&home, NULL) < 0)
		return false;
	real = realpath(home, NULL);
	yes = real != NULL && path_is_below(real, dir);
	free(home);
	free(real);
	return yes;
}

int
refuse_tree(const char *root, struct err *e)
{
	if (strcmp(root, "/") == 0)
		return err_set(e, ERR_USAGE,
		    "the tree is the whole file system: name a directory "
		    "with -C");
	/* Inside, a home is hidden, and not the tree. */
	if (holds_home(root))
		return err_set(e, ERR_USAGE,
		    "the tree would be %s (the top of the git repository, if "
		    "there is one), and your home directory with all its keys "
		    "is in it: name a directory outside of it with -C",
		    root);
	if (is_system(root))
		return err_set(e, ERR_USAGE,
		    "the tree would be %s (the top of the git repository, if "
		    "there is one), a directory of the system: name the "
		    "project's own with -C",
		    root);
	return 0;
}

static bool
has_dotgit(const char *rel)
{
	size_t n;

	for (; *rel != '\0'; rel += n + (rel[n] == '/')) {
		n = strcspn(rel, "/");
		if (n == 4 && strncasecmp(rel, ".git", n) == 0)
			return true;
	}
	return false;
}

static bool
is_guarded(const char *rel, const struct livetree *t)
{
	for (size_t i = 0; i < t->guarded.n; i++) {
		if (path_is_below(rel, t->guarded.v[i]))
			return true;
	}
	return has_dotgit(rel);
}

int
refuse_write(const struct strv *write, const struct livetree *t, struct err *e)
{
	const char *path, *rel;

	for (size_t i = 0; i < write->n; i++) {
		path = write->v[i];
		if (holds_home(path))
			return err_set(e, ERR_USAGE,
			    "\"write\": your home directory with all its keys "
			    "is in %s: name what is needed of it",
			    path);
		if (is_system(path))
			return err_set(e, ERR_USAGE,
			    "\"write\": %s is a directory of the system: name "
			    "what is needed below it",
			    path);
		rel = path_rel(path, t->root);
		if (rel != NULL && is_guarded(rel, t))
			return err_set(e, ERR_USAGE,
			    "\"write\": %s stays read-only, since git runs "
			    "programs that it names: commit outside of the "
			    "sandbox, or use --copy for commits that are thrown "
			    "away",
			    path);
	}
	return 0;
}

int
refuse_write_copy(
    const struct strv *write, const struct livetree *t, struct err *e)
{
	char *real;
	int r = 0;

	for (size_t i = 0; i < write->n && r == 0; i++) {
		real = realpath(write->v[i], NULL);
		if (real != NULL && path_is_below(real, t->root))
			r = err_set(e, ERR_USAGE,
			    "--write: %s lies in the tree, and --copy puts a "
			    "copy there: name a place outside of the tree",
			    real);
		free(real);
	}
	return r;
}

/* --- what would be hidden --------------------------------------------------
 */

struct needed {
	const struct sandbox_spec *s;
	char *hidden;
};

static void
need(struct needed *n, const char *path)
{
	char *real = realpath(path, NULL);

	if (n->hidden == NULL && real != NULL && !spec_shows(n->s, real))
		n->hidden = xstrdup(path);
	free(real);
}

/* What the system's programs are loaded with, as we were. */
static int
need_library(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const char *name = path_base(info->dlpi_name);

	(void)size;
	if ((text_starts(info->dlpi_name, "/lib") ||
		text_starts(info->dlpi_name, "/usr/lib")) &&
	    (text_starts(name, "ld-") || text_starts(name, "libc.")))
		need(ctx, info->dlpi_name);
	return 0;
}

int
refuse_hidden(const struct sandbox_spec *s, struct err *e)
{
	struct needed n = { .s = s };
	int r;

	need(&n, "/bin/sh");
	(void)dl_iterate_phdr(need_library, &n);
	if (n.hidden == NULL)
		return 0;
	r = err_set(e, ERR_USAGE,
	    "no program could be started: %s is not visible (hidden by --hide "
	    "or \"hide\", or not shown by the profile); hide only what is below "
	    "its directory and need not be seen",
	    n.hidden);
	free(n.hidden);
	return r;
}
