#include "common/compat.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/accounts.h"
#include "sandbox/profile_view.h"
#include "sandbox/stage.h"

void
profile_view_clear(struct profile_view *v)
{
	profile_def_clear(&v->def);
	spec_clear(&v->show);
	spec_clear(&v->late);
	strv_clear(&v->write);
	strv_clear(&v->hide_dirs);
	strv_clear(&v->hide_files);
	free(v->passwd);
	free(v->group);
}

/* NULL: there is no home. */
static char *
expand(const char *path, const char *home)
{
	if (path[0] != '~')
		return xstrdup(path);
	return home != NULL ? path_join(home, path + 2) : NULL;
}

static void
expand_all(const struct strv *from, const char *home, struct strv *to)
{
	char *path;

	for (size_t i = 0; i < from->n; i++) {
		path = expand(from->v[i], home);
		if (path != NULL && access(path, F_OK) == 0)
			strv_add(to, path);
		free(path);
	}
}

/* Will it be there inside, at its own path? */
static bool
is_shown(const struct strv *shown, const char *path)
{
	if (path_is_below(path, "/proc") || path_is_below(path, "/dev"))
		return true;
	for (size_t i = 0; i < shown->n; i++) {
		if (path_is_below(path, shown->v[i]))
			return true;
	}
	return false;
}

/* A link stays one where what it leads to is there (/bin -> usr/bin); else the
 * thing itself stands in its place. */
static void
show(struct profile_view *v, const struct strv *shown, const char *path)
{
	char target[PATH_MAX], *real = realpath(path, NULL);
	struct stat st;
	ssize_t n;

	if (real == NULL || lstat(path, &st) < 0)
		goto out;
	if (S_ISLNK(st.st_mode) && strcmp(real, path) != 0 &&
	    is_shown(shown, real) &&
	    (n = readlink(path, target, sizeof target - 1)) > 0) {
		target[n] = '\0';
		spec_mount(&v->show, MOUNT_SYMLINK, target, path);
	} else {
		spec_mount(&v->show, MOUNT_RO, real, path);
	}
out:
	free(real);
}

/* Files that programs need and that some systems keep elsewhere, behind a link:
 * resolv.conf in /run, for one. */
static void
follow(struct profile_view *v, const struct strv *shown, const char *path)
{
	char target[PATH_MAX], *real = realpath(path, NULL), *dir, *at, *clean;
	ssize_t n;

	if (real == NULL || !is_shown(shown, path) || is_shown(shown, real) ||
	    (n = readlink(path, target, sizeof target - 1)) <= 0)
		goto out;
	target[n] = '\0';
	dir = path_dir(path);
	at = target[0] == '/' ? xstrdup(target) : path_join(dir, target);
	clean = path_normal(at);
	spec_mount(&v->late, MOUNT_RO, real, clean);
	free(dir);
	free(at);
	free(clean);
out:
	free(real);
}

static void
hide(struct profile_view *v, const char *path)
{
	char *real = realpath(path, NULL);
	struct stat st;

	if (real != NULL && stat(real, &st) == 0)
		strv_add(
		    S_ISDIR(st.st_mode) ? &v->hide_dirs : &v->hide_files, real);
	free(real);
}

void
profile_view_hidden(
    const struct profile_def *d, const char *home, struct strv *ret)
{
	struct strv hidden = { 0 };
	char *real;

	expand_all(&d->hide, home, &hidden);
	for (size_t i = 0; i < hidden.n; i++) {
		if ((real = realpath(hidden.v[i], NULL)) != NULL)
			strv_take(ret, &real);
	}
	strv_clear(&hidden);
}

static int
check_links(const struct strv *paths, const char *what, struct err *e)
{
	char *link;
	int r;

	for (size_t i = 0; i < paths->n; i++) {
		if ((link = path_leads_out(paths->v[i])) == NULL)
			continue;
		r = err_set(e, ERR_USAGE,
		    "\"%s\": %s goes through the symbolic link %s, which "
		    "leads elsewhere: name the place itself",
		    what, paths->v[i], link);
		free(link);
		return r;
	}
	return 0;
}

/* By their real names, which nobody can exchange for a link. */
static void
make_real(struct strv *paths)
{
	struct strv real = { 0 };
	char *path;

	for (size_t i = 0; i < paths->n; i++) {
		if ((path = realpath(paths->v[i], NULL)) != NULL)
			strv_take(&real, &path);
	}
	strv_clear(paths);
	*paths = real;
}

/* Who we are inside. What is hidden can't be mounted on them (profile.c), so it
 * is not made. */
static void
find_accounts(struct profile_view *v, const struct strv *hidden)
{
	uid_t uid = stage_uid();
	struct account a = {
		.uid = uid,
		.gid = uid == geteuid() ? getegid() : uid,
		.name = strv_getenv(&v->def.env, "USER"),
		.home = strv_getenv(&v->def.env, "HOME"),
		.shell = strv_getenv(&v->def.env, "SHELL"),
	};

	if (!strv_has(hidden, "/etc/passwd"))
		v->passwd = accounts_file("/etc/passwd", &a, accounts_passwd);
	if (!strv_has(hidden, "/etc/group"))
		v->group = accounts_file("/etc/group", &a, accounts_group);
}

static bool
is_made(const struct profile_view *v, const char *path)
{
	return (v->passwd != NULL && strcmp(path, "/etc/passwd") == 0) ||
	    (v->group != NULL && strcmp(path, "/etc/group") == 0);
}

int
profile_view_find(struct profile_def *def, const char *home,
    struct profile_view *ret, struct err *e)
{
	static const char *const needed[] = { "/etc/resolv.conf", "/etc/hosts",
		"/etc/localtime", "/etc/nsswitch.conf", "/etc/passwd",
		"/etc/group", "/etc/ssl/certs/ca-certificates.crt",
		"/etc/pki/tls/certs/ca-bundle.crt" };
	/* The kernel's keys are told by uid, whatever the namespaces. */
	static const char *const keys[] = { "/proc/keys", "/proc/key-users" };
	struct strv shown = { 0 }, hidden = { 0 };
	int r;

	*ret = (struct profile_view){ .def = *def };
	*def = (struct profile_def){ 0 };
	expand_all(&ret->def.show, home, &shown);
	expand_all(&ret->def.hide, home, &hidden);
	expand_all(&ret->def.write, home, &ret->write);
	if ((r = check_links(&shown, "show", e)) < 0 ||
	    (r = check_links(&ret->write, "write", e)) < 0)
		goto out;
	make_real(&ret->write);
	find_accounts(ret, &hidden);
	for (size_t i = 0; i < shown.n; i++) {
		if (!is_made(ret, shown.v[i]))
			show(ret, &shown, shown.v[i]);
	}
	for (size_t i = 0; i < nitems(needed); i++)
		follow(ret, &shown, needed[i]);
	for (size_t i = 0; i < hidden.n; i++)
		hide(ret, hidden.v[i]);
	for (size_t i = 0; i < nitems(keys); i++)
		hide(ret, keys[i]);
out:
	strv_clear(&shown);
	strv_clear(&hidden);
	if (r < 0)
		profile_view_clear(ret);
	return r;
}

const struct profile_view *
profile_view_default(void)
{
	static struct profile_view kept;
	struct profile_def def;
	struct err e;

	if (kept.def.name == NULL) {
		if (profile_def_load("default", &def, &e) < 0)
			fatal("%s", e.text); /* it is part of the program */
		if (profile_view_find(&def, NULL, &kept, &e) < 0)
			fatal("%s", e.text);
	}
	return &kept;
}
