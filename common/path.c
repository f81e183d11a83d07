#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/path.h"

#ifndef LIBEXECDIR
#define LIBEXECDIR "/usr/local/libexec/foray"
#endif

char *
path_join(const char *a, const char *b)
{
	size_t len = strlen(a);

	while (len > 1 && a[len - 1] == '/')
		len--;
	while (*b == '/')
		b++;
	if (len == 0)
		return xstrdup(b);
	return xasprintf(
	    "%.*s%s%s", (int)len, a, a[len - 1] == '/' ? "" : "/", b);
}

char *
path_joinf(const char *dir, const char *fmt, ...)
{
	char *rest, *path;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&rest, fmt, ap);
	va_end(ap);
	if (n < 0)
		fatal("out of memory (path)");
	path = path_join(dir, rest);
	free(rest);
	return path;
}

const char *
path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

char *
path_dir(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t len;

	if (slash == NULL)
		return xstrdup(".");
	len = (size_t)(slash - path);
	while (len > 0 && path[len - 1] == '/')
		len--;
	return len > 0 ? xstrndup(path, len) : xstrdup("/");
}

static bool
is_dots(const char *s, size_t len)
{
	return len == 2 && s[0] == '.' && s[1] == '.';
}

/* Take the last component of dst off; false when there is none to take. */
static bool
pop(char *dst, size_t root, size_t *len)
{
	size_t at = *len;

	while (at > root && dst[at - 1] != '/')
		at--;
	if (*len == root || is_dots(dst + at, *len - at))
		return false;
	*len = at > root ? at - 1 : root;
	return true;
}

char *
path_normal(const char *path)
{
	size_t root = path[0] == '/', len = root, n;
	char *dst = xmalloc(strlen(path) + 2);

	if (root)
		dst[0] = '/';
	for (const char *s = path; *s != '\0'; s += n) {
		s += strspn(s, "/");
		n = strcspn(s, "/");
		if (n == 0 || (n == 1 && s[0] == '.'))
			continue;
		if (is_dots(s, n) && (pop(dst, root, &len) || root))
			continue;
		if (len > root)
			dst[len++] = '/';
		memcpy(dst + len, s, n);
		len += n;
	}
	if (len == 0)
		dst[len++] = '.';
	dst[len] = '\0';
	return dst;
}

const char *
path_rel(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	if (len == 0 || strncmp(path, dir, len) != 0)
		return NULL;
	if (dir[len - 1] == '/') /* the root */
		return path + len;
	if (path[len] == '/')
		return path + len + 1;
	return path[len] == '\0' ? path + len : NULL;
}

bool
path_is_below(const char *path, const char *dir)
{
	return path_rel(path, dir) != NULL;
}

bool
path_is_safe_rel(const char *path)
{
	size_t n;

	for (const char *s = path;; s += n + 1) {
		n = strcspn(s, "/");
		if (n == 0 || (n == 1 && s[0] == '.') || is_dots(s, n) ||
		    (n == 4 && strncasecmp(s, ".git", 4) == 0))
			return false;
		if (s[n] == '\0')
			return true;
	}
}

int
path_home(char **ret, struct err *e)
{
	const char *home = getenv("HOME");
	struct passwd pw, *found;
	char space[4096];
	int r;

	if (home != NULL && home[0] == '/') {
		*ret = xstrdup(home);
		return 0;
	}
	r = getpwuid_r(getuid(), &pw, space, sizeof space, &found);
	if (r != 0 || found == NULL || pw.pw_dir[0] != '/')
		return err_set(e, ERR_NOTFOUND,
		    "no home directory: HOME is not set and the password file "
		    "has none for user %u",
		    (unsigned)getuid());
	*ret = xstrdup(pw.pw_dir);
	return 0;
}

static int
xdg_dir(const char *var, const char *fallback, char **ret, struct err *e)
{
	const char *base = getenv(var);
	char *home = NULL, *dir;
	int r;

	if (base != NULL && base[0] == '/') {
		*ret = path_join(base, "foray");
		return 0;
	}
	if ((r = path_home(&home, e)) < 0)
		return r;
	dir = path_join(home, fallback);
	*ret = path_join(dir, "foray");
	free(dir);
	free(home);
	return 0;
}

int
path_state_dir(char **ret, struct err *e)
{
	return xdg_dir("XDG_STATE_HOME", ".local/state", ret, e);
}

int
path_cache_dir(char **ret, struct err *e)
{
	return xdg_dir("XDG_CACHE_HOME", ".cache", ret, e);
}

int
path_config_dir(char **ret, struct err *e)
{
	return xdg_dir("XDG_CONFIG_HOME", ".config", ret, e);
}

static int
mkdir_one(const char *path, mode_t mode, struct err *e)
{
	struct stat st;
	int saved;

	if (mkdir(path, mode) == 0)
		return 0;
	saved = errno;
	/* A directory that exists may also give EROFS or EACCES. */
	if (stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return 0;
		saved = ENOTDIR;
	}
	return err_set(
	    e, -saved, "make directory %s: %s", path, strerror(saved));
}

int
path_mkdirs(const char *path, mode_t mode, struct err *e)
{
	char *copy;
	int r = 0;

	if (path[0] == '\0')
		return err_set(e, -ENOENT, "make directory: the name is empty");
	copy = xstrdup(path);
	for (char *s = copy + 1; *s != '\0'; s++) {
		if (*s != '/' || s[-1] == '/')
			continue;
		*s = '\0';
		r = mkdir_one(copy, mode, e);
		*s = '/';
		if (r < 0)
			goto out;
	}
	r = mkdir_one(copy, mode, e);
out:
	free(copy);
	return r;
}

/* The last is NixOS. */
#define SYSTEM_PATH "/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin"

static bool
is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	    access(path, X_OK) == 0;
}

int
path_program(const char *name, char **ret, struct err *e)
{
	char self[4096], *dir = NULL, *beside = NULL, *installed;
	ssize_t n;
	int r = 0;

	installed = path_join(LIBEXECDIR, name);
	n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n > 0) {
		self[n] = '\0';
		dir = path_dir(self);
		beside = path_join(dir, name);
		if (is_program(beside)) {
			*ret = beside;
			beside = NULL;
			goto out;
		}
	}
	if (is_program(installed)) {
		*ret = installed;
		installed = NULL;
		goto out;
	}
	r = err_set(e, ERR_NOTFOUND, "program %s is neither %s nor %s", name,
	    beside != NULL ? beside : "beside this one", installed);
out:
	free(dir);
	free(beside);
	free(installed);
	return r;
}

int
path_search(const char *name, const char *path_env, char **ret)
{
	char *path;
	size_t n;

	if (name[0] == '\0')
		return ERR_NOTFOUND;
	if (strchr(name, '/') != NULL) {
		if (!is_program(name))
			return ERR_NOTFOUND;
		*ret = xstrdup(name);
		return 0;
	}
	if (path_env == NULL)
		path_env = getenv("PATH");
	if (path_env == NULL)
		path_env = "/usr/local/bin:/usr/bin:/bin";
	for (const char *s = path_env; *s != '\0'; s += n + (s[n] == ':')) {
		n = strcspn(s, ":");
		/* The current directory may be a hostile repository. */
		if (s[0] != '/')
			continue;
		path = xasprintf("%.*s/%s", (int)n, s, name);
		if (is_program(path)) {
			*ret = path;
			return 0;
		}
		free(path);
	}
	return ERR_NOTFOUND;
}

int
path_system(const char *name, char **ret)
{
	return path_search(name, SYSTEM_PATH, ret) == 0
	    ? 0
	    : path_search(name, NULL, ret);
}

static bool
is_system_dir(const char *dir)
{
	static const char *const dirs[] = { "/usr", "/etc", "/opt", "/nix",
		"/gnu" };

	for (size_t i = 0; i < nitems(dirs); i++) {
		if (path_is_below(dir, dirs[i]))
			return true;
	}
	return strcmp(dir, "/") == 0;
}

/* One component. */
static bool
leads_out(const char *link)
{
	char *dir = path_dir(link), *real_dir = realpath(dir, NULL);
	char *real = realpath(link, NULL);
	bool out = real_dir != NULL && real != NULL && !is_system_dir(dir) &&
	    !path_is_below(real, real_dir);

	free(dir);
	free(real_dir);
	free(real);
	return out;
}

char *
path_leads_out(const char *path)
{
	const char *at = path;
	struct stat st;
	char *part;

	while (*at != '\0') {
		at += *at == '/';
		at += strcspn(at, "/");
		part = xstrndup(path, (size_t)(at - path));
		if (lstat(part, &st) < 0 ||
		    (S_ISLNK(st.st_mode) && leads_out(part))) {
			if (access(part, F_OK) == 0)
				return part;
			free(part);
			return NULL;
		}
		free(part);
	}
	return NULL;
}
