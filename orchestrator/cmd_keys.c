/* cmd_keys.c - keys: who may work for runs that listen. */
#include "common/compat.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/options.h"
#include "common/path.h"
#include "orchestrator/cmd.h"
#include "orchestrator/run/run.h"
#include "proto/curve.h"

static int cmd_keys_main(int argc, char **argv);

const struct cmd cmd_keys = {
	.name = "keys",
	.synopsis = "[--keys DIR] [list | new NAME | allow NAME KEY | "
		    "remove NAME]",
	.purpose = "Keys of hosts on other machines",
	.help =
	    "      --keys DIR        where they are (~/.config/foray/keys)\n\n"
	    "  list                  what is there (the default)\n"
	    "  new NAME              make a directory to copy to a host, or to "
	    "all hosts, for\n"
	    "                        foray-host --keys, and let it in\n"
	    "  allow NAME KEY        let in a host that has a key already\n"
	    "  remove NAME           refuse it from now on; its directory "
	    "stays\n",
	.run = cmd_keys_main,
};

/* --- what is there ------------------------------------------------------- */

static char *
allowed_path(const char *dir, const char *name)
{
	return path_joinf(dir, "allowed/%s.pub", name);
}

static void
print_key(const char *dir, const char *name)
{
	char *path = allowed_path(dir, name), key[CURVE_KEY];
	char *host = path_joinf(dir, "hosts/%s", name);

	/* What is wrong with it is said below all that are right. */
	if (curve_read_listed(path, key, NULL) == 0)
		(void)printf("%-16s %s%s%s\n", name, key,
		    access(host, F_OK) == 0 ? "  " : "",
		    access(host, F_OK) == 0 ? host : "");
	free(path);
	free(host);
}

static void
odd_cb(const char *text, void *ctx unused_arg)
{
	log_warn("%s: it lets nobody in", text);
}

static int
list_allowed(const char *dir, struct err *e)
{
	char *path = path_join(dir, "allowed"), *name;
	struct dirent **found = NULL;
	int n = scandir(path, &found, NULL, alphasort), i;
	size_t len;

	if (n < 0 && errno != ENOENT) {
		n = err_set(e, -errno, "%s: %s", path, strerror(errno));
		free(path);
		return n;
	}
	for (i = 0; i < n; i++) {
		name = found[i]->d_name;
		len = strlen(name);
		if (len > 4 && strcmp(name + len - 4, ".pub") == 0) {
			name[len - 4] = '\0';
			if (curve_is_name(name))
				print_key(dir, name);
		}
		free(found[i]);
	}
	free(found);
	free(path);
	return n < 0 ? 0 : curve_check_list(dir, odd_cb, NULL, e);
}

static int
list(const char *dir, const char *name unused_arg, const char *key unused_arg,
    struct err *e)
{
	struct curve_pair server;
	char *secret = path_join(dir, "server.secret");
	bool none = access(secret, F_OK) < 0 && errno == ENOENT;
	int r;

	free(secret);
	if (none) {
		(void)printf(
		    "no keys in %s: foray keys new NAME makes them\n", dir);
		return 0;
	}
	if ((r = curve_read_server(dir, &server, e)) < 0)
		return r;
	(void)printf(
	    "in %s\n%-16s %s\n", dir, "(this machine)", server.public_key);
	curve_forget(&server);
	return list_allowed(dir, e);
}

/* --- what is made -------------------------------------------------------- */

static void
ignore_cb(const char *text unused_arg, void *ctx unused_arg)
{
}

/* The directory, our own pair and the empty allow-list. */
static int
ensure(const char *dir, struct curve_pair *ret, struct err *e)
{
	char *secret = path_join(dir, "server.secret");
	char *public = path_join(dir, "server.pub");
	char *allowed = path_join(dir, "allowed"), key[CURVE_KEY];
	struct stat st;
	int r = path_mkdirs(dir, 0700, e);

	if (r == 0 && stat(dir, &st) == 0 && (st.st_mode & 022) != 0)
		r = err_set(e, ERR_USAGE,
		    "%s: others can write there: chmod 700 %s", dir, dir);
	if (r == 0 && access(secret, F_OK) < 0 && errno == ENOENT &&
	    (r = curve_new(ret, e)) == 0)
		r = curve_write(secret, ret->secret_key, true, e);
	if (r == 0)
		r = curve_read_secret(secret, ret, e);
	if (r == 0 &&
	    (curve_read_public(public, key, NULL) < 0 ||
		strcmp(key, ret->public_key) != 0))
		r = curve_write(public, ret->public_key, false, e);
	/* Whoever could write there may have done so: not for us to undo. */
	if (r == 0 && access(allowed, F_OK) == 0)
		r = curve_check_list(dir, ignore_cb, NULL, e);
	/* Public keys: a process of another uid reads them for us. */
	if (r == 0 && (r = path_mkdirs(allowed, 0755, e)) == 0 &&
	    chmod(allowed, 0755) < 0)
		r = err_set(e, -errno, "%s: %s", allowed, strerror(errno));
	free(secret);
	free(public);
	free(allowed);
	return r;
}

static int
check_new(const char *dir, const char *name, struct err *e)
{
	char *path = allowed_path(dir, name);
	struct stat st;
	int r = 0;

	if (lstat(path, &st) == 0)
		r = err_set(e, ERR_USAGE,
		    "there is a key \"%s\" already (%s): take another name, or "
		    "end that one first: foray keys remove %s",
		    name, path, name);
	free(path);
	return r;
}

/* A secret must not go where a link leads that somebody has put there. */
static int
check_dir(const char *path, struct err *e)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT
		    ? 0
		    : err_set(e, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return err_set(e, ERR_USAGE,
		    "%s: is %s: look where it comes from, and remove it", path,
		    S_ISLNK(st.st_mode)       ? "a link"
			: S_ISDIR(st.st_mode) ? "another user's"
					      : "no directory");
	return 0;
}

static int
allow(const char *dir, const char *name, const char *key, struct err *e)
{
	struct curve_pair server;
	char *path = allowed_path(dir, name);
	int r = check_new(dir, name, e);

	if (r == 0 && !curve_is_key(key))
		r = err_set(e, ERR_USAGE,
		    "'%s' is no public key (%d characters, as foray-host says "
		    "it; quote it)",
		    key, CURVE_KEY - 1);
	if (r == 0 && (r = ensure(dir, &server, e)) == 0) {
		curve_forget(&server);
		r = curve_write(path, key, false, e);
	}
	free(path);
	if (r == 0)
		(void)printf("%s is let in\n", name);
	return r;
}

static int
write_host(const char *host, const struct curve_pair *server,
    const struct curve_pair *own, struct err *e)
{
	char *server_pub = path_join(host, "server.pub");
	char *pub = path_join(host, "host.pub");
	char *secret = path_join(host, "host.secret"), *up = path_dir(host);
	int r;

	(void)((r = check_dir(up, e)) < 0 || (r = check_dir(host, e)) < 0 ||
	    (r = path_mkdirs(host, 0700, e)) < 0 ||
	    (r = curve_write(server_pub, server->public_key, false, e)) < 0 ||
	    (r = curve_write(pub, own->public_key, false, e)) < 0 ||
	    (r = curve_write(secret, own->secret_key, true, e)) < 0);
	free(server_pub);
	free(pub);
	free(secret);
	free(up);
	return r;
}

static int
make(const char *dir, const char *name, const char *key unused_arg,
    struct err *e)
{
	char *host = path_joinf(dir, "hosts/%s", name);
	char *path = allowed_path(dir, name);
	struct curve_pair server = { "", "" }, own = { "", "" };
	int r = check_new(dir, name, e);

	/* Let in at last: nothing is half done then. */
	if (r == 0)
		(void)((r = ensure(dir, &server, e)) < 0 ||
		    (r = curve_new(&own, e)) < 0 ||
		    (r = write_host(host, &server, &own, e)) < 0 ||
		    (r = curve_write(path, own.public_key, false, e)) < 0);
	if (r == 0)
		(void)printf("%s\n"
			     "Copy or mount this directory where %s runs "
			     "(it holds a secret), and there:\n"
			     "  foray-host --connect tcp://THIS-MACHINE:PORT "
			     "--keys DIRECTORY\n",
		    host, name);
	curve_forget(&server);
	curve_forget(&own);
	free(host);
	free(path);
	return r;
}

/* The directory stays, a host may have it mounted: it opens nothing any more,
 * and with it the host can be let in again. */
static void
say_removed(const char *dir, const char *name, const char *key)
{
	char *host = path_joinf(dir, "hosts/%s", name);

	(void)printf("%s is refused from now on\n", name);
	if (*key != '\0')
		(void)printf("To let it in again: foray keys allow %s '%s'\n",
		    name, key);
	if (access(host, F_OK) == 0)
		(void)printf("Its directory stays; remove it when no host is "
			     "to use it: %s\n",
		    host);
	free(host);
}

static int
remove_key(const char *dir, const char *name, const char *key unused_arg,
    struct err *e)
{
	char *path = allowed_path(dir, name), own[CURVE_KEY];
	int r;

	if (curve_read_public(path, own, NULL) < 0)
		own[0] = '\0';
	r = unlink(path) < 0 ? -errno : 0;
	if (r == -EISDIR)
		r = err_set(e, ERR_USAGE,
		    "%s: is a directory, no key, and lets nobody in: look "
		    "what it is, and remove it by hand",
		    path);
	else if (r == -ENOENT)
		r = err_set(e, ERR_NOTFOUND,
		    "there is no key \"%s\" in %s (foray keys lists them)",
		    name, dir);
	else if (r < 0)
		err_set(e, r, "%s: %s", path, err_str(r));
	if (r == 0)
		say_removed(dir, name, own);
	free(path);
	return r;
}

static const struct verb {
	const char *name;
	int args;
	int (*fn)(
	    const char *dir, const char *name, const char *key, struct err *e);
} verbs[] = {
	{ "list", 0, list },
	{ "new", 1, make },
	{ "allow", 2, allow },
	{ "remove", 1, remove_key },
};

/* Two at a time would each make a pair of our own, and hosts would have the one
 * that was written over. *ret: -1 when there is nothing to lock. */
static int
lock_dir(const char *dir, bool make_it, int *ret, struct err *e)
{
	int r = make_it ? path_mkdirs(dir, 0700, e) : 0;

	*ret = -1;
	if (r < 0)
		return r;
	*ret = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*ret < 0)
		return make_it
		    ? err_set(e, -errno, "open %s: %s", dir, strerror(errno))
		    : 0;
	while (flock(*ret, LOCK_EX) < 0)
		if (errno != EINTR) {
			r = err_set(
			    e, -errno, "lock %s: %s", dir, strerror(errno));
			fd_close(ret);
			return r;
		}
	return 0;
}

static int
run_verb(const char *dir, int argc, char **argv)
{
	const struct verb *v = &verbs[0];
	struct err e = { 0 };
	int lock = -1, r = 0;
	size_t i;

	for (i = 0; argc > 0 && i < nitems(verbs); i++)
		if (strcmp(verbs[i].name, argv[0]) == 0)
			break;
	if (i == nitems(verbs))
		return cmd_usage(
		    &cmd_keys, "there is no `foray keys %s`", argv[0]);
	v = &verbs[argc > 0 ? i : 0];
	if (argc > 0 && argc - 1 != v->args)
		return cmd_usage(&cmd_keys, "`foray keys %s` takes %s", v->name,
		    v->args == 0       ? "nothing more"
			: v->args == 1 ? "a NAME"
				       : "a NAME and a KEY");
	if (v->args > 0 && !curve_is_name(argv[1]))
		return cmd_usage(&cmd_keys,
		    "'%s' is no name: letters, digits, '-', '_' and '.', at "
		    "most %d",
		    argv[1], CURVE_NAME - 1);
	if (v->args > 0)
		r = lock_dir(dir, v->fn != remove_key, &lock, &e);
	if (r == 0)
		r = v->fn(dir, v->args > 0 ? argv[1] : NULL,
		    v->args > 1 ? argv[2] : NULL, &e);
	fd_close(&lock);
	return r < 0 ? cmd_fail(&e) : 0;
}

static int
cmd_keys_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "keys", required_argument, NULL, 'K' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	char *dir = NULL;
	struct err e = { 0 };
	int opt, ret;

	opterr = 0;
	/* '+': a KEY may begin with a dash. */
	while ((opt = options_next(argc, argv, "+:h", options)) != -1) {
		if (opt != 'K') {
			free(dir);
			return opt == 'h'
			    ? cmd_help(&cmd_keys)
			    : cmd_bad_option(&cmd_keys, opt, argv);
		}
		free(dir);
		dir = xstrdup(optarg);
	}
	if (dir == NULL && curve_dir(&dir, &e) < 0)
		return cmd_fail(&e);
	ret = run_verb(dir, argc - optind, argv + optind);
	free(dir);
	return ret;
}
