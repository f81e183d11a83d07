#include "common/compat.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/toolchain.h"
#include "sandbox/toolchain_go.h"

#define SYSTEM_PATH \
	"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

struct search {
	const char *home; /* clean, no links; NULL: none */
	const char *repo; /* clean, NULL: none */
	struct toolchain *t;
	struct strv path;
};

static bool
is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool
has(const char *dir, const char *name)
{
	char *path = path_join(dir, name);
	bool yes = access(path, F_OK) == 0;

	free(path);
	return yes;
}

/* Shown inside anyway. */
static bool
is_system(const char *path)
{
	static const char *const dirs[] = { "/usr", "/bin", "/sbin", "/lib",
		"/lib32", "/lib64", "/libx32", "/opt", "/etc" };

	for (size_t i = 0; i < nitems(dirs); i++) {
		if (path_is_below(path, dirs[i]))
			return true;
	}
	return false;
}

/* A home, or what lies above one: never shown. By its real place, too, so that
 * a link does not help. */
static bool
is_too_much(const struct search *s, const char *dir)
{
	char *real = realpath(dir, NULL), *up = NULL;
	bool yes = real == NULL;

	if (!yes && s->home != NULL)
		yes =
		    path_is_below(s->home, real) || path_is_below(s->home, dir);
	if (!yes) {
		up = path_dir(real);
		yes = strcmp(real, "/") == 0 || strcmp(real, "/root") == 0 ||
		    strcmp(real, "/home") == 0 || strcmp(up, "/home") == 0 ||
		    path_is_below("/proc", real) ||
		    path_is_below(real, "/proc") ||
		    path_is_below(real, "/sys") || path_is_below(real, "/dev");
	}
	free(up);
	free(real);
	return yes;
}

/* Directories below a home that hold keys and what programs remember. A bin
 * directory there is shown by itself. */
static bool
is_private(const char *path)
{
	static const char *const names[] = { ".ssh", ".gnupg", ".aws", ".azure",
		".kube", ".docker", ".config", ".cache", ".mozilla",
		".password-store", "share", "state", ".git" };

	for (size_t i = 0; i < nitems(names); i++) {
		if (strcmp(path_base(path), names[i]) == 0)
			return true;
	}
	return text_ends(path, "/.local");
}

/* Somebody may have put a link there: into ~/.ssh, say. */
static bool
is_led_out(const char *dir)
{
	char *link = path_leads_out(dir);
	bool yes = link != NULL;

	free(link);
	return yes;
}

static void
show(struct search *s, const char *dir)
{
	if (!is_dir(dir) || is_system(dir) || is_too_much(s, dir) ||
	    is_led_out(dir))
		return;
	if (s->repo != NULL && path_is_below(dir, s->repo))
		return;
	for (size_t i = 0; i < s->t->show.n; i++) {
		if (path_is_below(dir, s->t->show.v[i]))
			return;
	}
	strv_add(&s->t->show, dir);
}

static void
show_in(struct search *s, const char *dir, const char *name)
{
	char *path = path_join(dir, name);

	show(s, path);
	free(path);
}

/* --- version managers with shims -------------------------------------------
 *
 * A shim finds out at each call which version is meant (130 ms for pyenv); here
 * that is done once, and the version's own directory put before the shims. */

static const struct manager {
	const char *dir;  /* last component of its root */
	const char *var;  /* version by environment */
	const char *file; /* version by a file in the tree */
} managers[] = {
	{ ".pyenv", "PYENV_VERSION", ".python-version" },
	{ ".rbenv", "RBENV_VERSION", ".ruby-version" },
	{ ".nodenv", "NODENV_VERSION", ".node-version" },
};

static const struct manager *
manager_of(const char *root)
{
	for (size_t i = 0; i < nitems(managers); i++) {
		if (strcmp(path_base(root), managers[i].dir) == 0)
			return &managers[i];
	}
	return NULL;
}

/* Digits compare as numbers: 3.9 before 3.12. */
static int
newer(const char *a, const char *b)
{
	return strverscmp(a, b);
}

/* The newest installed version that name is a start of: "3.11" -> "3.11.7". */
static char *
best_version(const char *versions, const char *name)
{
	DIR *d = opendir(versions);
	size_t len = strlen(name);
	struct dirent *de;
	char *best = NULL;

	while (d != NULL && (de = readdir(d)) != NULL) {
		if (strncmp(de->d_name, name, len) != 0 ||
		    de->d_name[len] != '.')
			continue;
		if (best != NULL && newer(de->d_name, best) <= 0)
			continue;
		free(best);
		best = xstrdup(de->d_name);
	}
	if (d != NULL)
		(void)closedir(d);
	return best;
}

static bool
add_version(struct search *s, const char *root, const char *name)
{
	char *versions = path_join(root, "versions"), *bin = NULL, *best = NULL;
	bool found = false;

	/* The name comes from the repository. */
	if (path_is_safe_rel(name) && strchr(name, '/') == NULL) {
		bin = path_joinf(versions, "%s/bin", name);
		if (!is_dir(bin) &&
		    (best = best_version(versions, name)) != NULL) {
			free(bin);
			bin = path_joinf(versions, "%s/bin", best);
		}
		found = is_dir(bin);
		if (found && !strv_has(&s->path, bin))
			strv_add(&s->path, bin);
	}
	free(best);
	free(bin);
	free(versions);
	return found;
}

/* Names in text, parted by white space or colons. */
static bool
add_versions(struct search *s, const char *root, const char *text)
{
	const char *apart = ": \t\r\n";
	bool found = false;
	char *name;
	size_t n;

	for (text += strspn(text, apart); *text != '\0';
	     text += n + strspn(text + n, apart)) {
		n = strcspn(text, apart);
		name = xstrndup(text, n);
		if (add_version(s, root, name))
			found = true;
		free(name);
	}
	return found;
}

static bool
add_versions_of_file(
    struct search *s, const char *root, const char *dir, const char *name)
{
	char *path = path_join(dir, name);
	struct buf b;
	bool found = false;

	buf_init(&b, 4096);
	if (file_read(path, false, &b, NULL) == 0)
		found = add_versions(s, root, buf_str(&b));
	buf_clear(&b);
	free(path);
	return found;
}

/* In the order in which the shims look. */
static void
resolve_shims(struct search *s, const char *root)
{
	const struct manager *m = manager_of(root);
	const char *v;
	char *dir, *up;
	bool found = false;

	if (m == NULL)
		return;
	if ((v = getenv(m->var)) != NULL && add_versions(s, root, v))
		return;
	dir = s->repo != NULL ? xstrdup(s->repo) : NULL;
	while (dir != NULL && !found) {
		found = add_versions_of_file(s, root, dir, m->file);
		up = strcmp(dir, "/") != 0 ? path_dir(dir) : NULL;
		free(dir);
		dir = up;
	}
	free(dir);
	if (!found)
		(void)add_versions_of_file(s, root, root, "version");
}

/* --- one directory of PATH -------------------------------------------------
 */

static bool
looks_like_prefix(const char *dir)
{
	static const char *const names[] = { "lib", "lib64", "libexec", "pkg",
		"include", "toolchains", "conda-meta" };

	for (size_t i = 0; i < nitems(names); i++) {
		if (has(dir, names[i]))
			return true;
	}
	return false;
}

/* ~/.local: programs and libraries, not share/ and state/, which hold keys and
 * histories. */
static void
show_local(struct search *s, const char *local)
{
	static const char *const parts[] = { "bin", "lib", "lib64", "pipx",
		"share/pipx", "share/uv", "share/pnpm" };

	for (size_t i = 0; i < nitems(parts); i++)
		show_in(s, local, parts[i]);
}

static void
show_bin(struct search *s, const char *bin)
{
	char *up = path_dir(bin);

	if (text_ends(up, "/.local"))
		show_local(s, up);
	else if (strcmp(path_base(up), ".cargo") == 0 ||
	    manager_of(up) != NULL ||
	    (looks_like_prefix(up) && !is_private(up) && !is_too_much(s, up)))
		show(s, up);
	else
		show(s, bin);
	/* The programs in ~/.cargo/bin are shims of rustup. */
	if (strcmp(path_base(up), ".cargo") == 0) {
		char *beside = path_dir(up);

		show_in(s, beside, ".rustup");
		free(beside);
	}
	free(up);
}

/* R/shims, also below a plug-in: ~/.pyenv/plugins/pyenv-virtualenv/shims */
static void
show_shims(struct search *s, const char *shims)
{
	char *root = path_dir(shims), *up = path_dir(root);
	char *above = path_dir(up);

	if (strcmp(path_base(up), "plugins") == 0 &&
	    manager_of(above) != NULL) {
		show(s, above);
	} else {
		resolve_shims(s, root);
		show(s, is_private(root) ? shims : root);
	}
	free(above);
	free(up);
	free(root);
}

static void
path_entry(struct search *s, const char *entry)
{
	char *dir;

	/* "" and "." mean the working directory: the tree's own programs. */
	if (entry[0] != '/' || strlen(entry) >= PATH_MAX)
		return;
	dir = path_normal(entry);
	if (strv_has(&s->path, dir) || !is_dir(dir) || is_too_much(s, dir)) {
		free(dir);
		return;
	}
	if (!is_system(dir) &&
	    (s->repo == NULL || !path_is_below(dir, s->repo))) {
		if (strcmp(path_base(dir), "shims") == 0)
			show_shims(s, dir);
		else if (strcmp(path_base(dir), "bin") == 0)
			show_bin(s, dir);
		else
			show(s, dir);
	}
	strv_add(&s->path, dir);
	free(dir);
}

/* --- interpreters of virtual environments ----------------------------------
 */

/* The repository names the directory, so it has to prove that it is a Python:
 * "home = /home/u/.ssh" must not show that. */
static bool
is_python(const char *prefix, const char *bin)
{
	char *lib = path_join(prefix, "lib"), *os;
	DIR *d = opendir(lib);
	struct dirent *de;
	bool yes = false;

	while (!yes && d != NULL && (de = readdir(d)) != NULL) {
		if (!text_starts(de->d_name, "python") &&
		    !text_starts(de->d_name, "pypy"))
			continue;
		os = path_joinf(lib, "%s/os.py", de->d_name);
		yes = access(os, F_OK) == 0;
		free(os);
	}
	if (d != NULL)
		(void)closedir(d);
	free(lib);
	return yes &&
	    (has(bin, "python3") || has(bin, "python") || has(bin, "pypy3"));
}

static void
show_venv_home(struct search *s, const char *bin)
{
	char *clean, *up;

	if (bin[0] != '/')
		return;
	clean = path_normal(bin);
	up = path_dir(clean);
	if (strcmp(path_base(clean), "bin") == 0 && is_python(up, clean))
		show(s, up);
	free(up);
	free(clean);
}

/* pyvenv.cfg: "home = /path/of/bin", one of several lines. */
static void
read_venv(struct search *s, const char *venv)
{
	char *path = path_join(venv, "pyvenv.cfg"), *line, *save = NULL, *v;
	struct buf b;

	buf_init(&b, 16384);
	if (file_read(path, false, &b, NULL) < 0 || b.len == 0)
		goto out;
	for (line = strtok_r(b.data, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save)) {
		if ((v = strchr(line, '=')) == NULL)
			continue;
		line[strcspn(line, " \t=")] = '\0';
		if (strcmp(line, "home") != 0)
			continue;
		v++;
		v += strspn(v, " \t");
		v[strcspn(v, "\r")] = '\0';
		for (size_t n = strlen(v);
		     n > 0 && isspace((unsigned char)v[n - 1]); n--)
			v[n - 1] = '\0';
		show_venv_home(s, v);
	}
out:
	buf_clear(&b);
	free(path);
}

static void
find_venvs(struct search *s)
{
	static const char *const names[] = { ".venv", "venv", "env", ".env" };
	char *venv;

	for (size_t i = 0; s->repo != NULL && i < nitems(names); i++) {
		venv = path_join(s->repo, names[i]);
		read_venv(s, venv);
		free(venv);
	}
}

/* --- Go's modules ----------------------------------------------------------
 */

static bool
is_in_path(const struct search *s, const char *program)
{
	for (size_t i = 0; i < s->path.n; i++) {
		if (has(s->path.v[i], program))
			return true;
	}
	return false;
}

static bool
is_shown(const struct search *s, const char *path)
{
	for (size_t i = 0; i < s->t->show.n; i++) {
		if (path_is_below(path, s->t->show.v[i]))
			return true;
	}
	return is_system(path);
}

static void
find_go(struct search *s, const char *home)
{
	char *dir, *clones;

	if (!is_in_path(s, "go"))
		return;
	dir = go_modules_dir(home);
	if (dir != NULL)
		show(s, dir);
	if (dir == NULL || !is_dir(dir) || !is_shown(s, dir)) {
		free(dir);
		return;
	}
	clones = path_join(dir, "cache/vcs");
	if (is_dir(clones))
		strv_add(&s->t->empty, clones);
	free(clones);
	s->t->go_modules = dir;
}

/* --- what is shown but not to be read --------------------------------------
 */

static void
find_masks(struct toolchain *t)
{
	static const char *const names[] = { "credentials", "credentials.toml",
		"credentials.json", "auth.json", "auth.toml", ".npmrc",
		".netrc", ".pypirc", ".git-credentials", ".env", "token" };
	struct stat st;
	char *path;

	for (size_t i = 0; i < t->show.n; i++) {
		for (size_t k = 0; k < nitems(names); k++) {
			path = path_join(t->show.v[i], names[k]);
			if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
				strv_add(&t->mask, path);
			free(path);
		}
	}
}

static char *
join_path(const struct strv *dirs)
{
	struct buf b;
	size_t len;

	if (dirs->n == 0)
		return xstrdup(SYSTEM_PATH);
	buf_init(&b, BUF_NOMAX);
	for (size_t i = 0; i < dirs->n; i++) {
		if (i > 0)
			(void)buf_addc(&b, ':');
		(void)buf_adds(&b, dirs->v[i]);
	}
	return buf_detach(&b, &len);
}

/* A directory that was shown before one above it was: drop it. */
static void
drop_nested(struct strv *dirs)
{
	struct strv kept = { 0 };
	bool inside;

	for (size_t i = 0; i < dirs->n; i++) {
		inside = false;
		for (size_t k = 0; k < dirs->n && !inside; k++)
			inside =
			    k != i && path_is_below(dirs->v[i], dirs->v[k]);
		if (!inside)
			strv_add(&kept, dirs->v[i]);
	}
	strv_clear(dirs);
	*dirs = kept;
}

void
toolchain_find(const char *path_env, const char *home, const char *repo,
    struct toolchain *ret)
{
	struct search s = { .t = ret };
	char *real = home != NULL ? realpath(home, NULL) : NULL;
	char *clean = repo != NULL ? path_normal(repo) : NULL;
	char *copy = xstrdup(path_env != NULL ? path_env : SYSTEM_PATH);
	char *save = NULL;

	*ret = (struct toolchain){ 0 };
	s.home = real;
	s.repo = clean;
	for (char *d = strtok_r(copy, ":", &save); d != NULL;
	     d = strtok_r(NULL, ":", &save))
		path_entry(&s, d);
	/* "pip install --user", whether or not its bin stands in PATH */
	if (home != NULL)
		show_in(&s, home, ".local/lib");
	find_venvs(&s);
	find_go(&s, home);
	drop_nested(&ret->show);
	find_masks(ret);
	ret->path = join_path(&s.path);
	strv_clear(&s.path);
	free(copy);
	free(clean);
	free(real);
}

void
toolchain_clear(struct toolchain *t)
{
	strv_clear(&t->show);
	strv_clear(&t->mask);
	strv_clear(&t->empty);
	free(t->path);
	free(t->go_modules);
	*t = (struct toolchain){ 0 };
}
