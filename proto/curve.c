/*
 * curve.c - keys in files.
 */
#include "common/compat.h"

#include "proto/curve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"

#define FILE_MAX 4096

int
curve_dir(char **ret, struct err *e)
{
	char *dir;
	int r = path_config_dir(&dir, e);

	if (r < 0)
		return r;
	*ret = path_join(dir, "keys");
	free(dir);
	return 0;
}

int
curve_new(struct curve_pair *ret, struct err *e)
{
	if (zmq_curve_keypair(ret->public_key, ret->secret_key) < 0)
		return err_set(
		    e, -errno, "no keys can be made: %s", zmq_strerror(errno));
	return 0;
}

bool
curve_is_key(const char *s)
{
	unsigned char raw[32];

	return strlen(s) == CURVE_KEY - 1 && zmq_z85_decode(raw, s) != NULL;
}

bool
curve_is_name(const char *s)
{
	static const char ok[] = "abcdefghijklmnopqrstuvwxyz"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	size_t n = strlen(s);

	return n > 0 && n < CURVE_NAME && s[0] != '.' && s[0] != '-' &&
	    strspn(s, ok) == n;
}

void
curve_forget(struct curve_pair *p)
{
	explicit_bzero(p, sizeof *p);
}

/* --- files --------------------------------------------------------------- */

int
curve_parse(const char *text, size_t len, const char *what, char ret[CURVE_KEY],
    struct err *e)
{
	char key[CURVE_KEY] = "";
	size_t at = 0, n;

	while (at < len) {
		const char *line = text + at;
		const char *end = memchr(line, '\n', len - at);

		n = end != NULL ? (size_t)(end - line) : len - at;
		at += n + 1;
		if (n > 0 && line[n - 1] == '\r')
			n--;
		if (n == 0 || (n >= 2 && memcmp(line, "# ", 2) == 0))
			continue;
		if (n != CURVE_KEY - 1 || key[0] != '\0' ||
		    memchr(line, '\0', n) != NULL)
			goto bad;
		memcpy(key, line, n);
		key[n] = '\0';
	}
	if (!curve_is_key(key))
		goto bad;
	memcpy(ret, key, CURVE_KEY);
	explicit_bzero(key, sizeof key);
	return 0;
bad:
	explicit_bzero(key, sizeof key);
	return err_set(e, ERR_SYNTAX,
	    "%s: holds no key (one line of %d characters)", what,
	    CURVE_KEY - 1);
}

/* Group: only where root made the file, as a mounted secret is. */
static int
check_private(int fd, const char *path, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set(e, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_USAGE, "%s: is no file", path);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return err_set(e, ERR_USAGE,
		    "%s: belongs to uid %u, who can change it: chown it to "
		    "uid %u",
		    path, st.st_uid, geteuid());
	if ((st.st_mode & 027) != 0 ||
	    ((st.st_mode & 040) != 0 && (st.st_uid != 0 || geteuid() == 0)))
		return err_set(e, ERR_USAGE,
		    "%s: others can read this secret: make new keys if they "
		    "may have, then chmod 600 %s",
		    path, path);
	return 0;
}

/* In what is ours, root's or the list's owner's nobody else may write. */
static int
check_unwritten(
    const struct stat *st, uid_t owner, const char *path, struct err *e)
{
	if (st->st_uid != owner && st->st_uid != 0)
		return err_set(e, ERR_USAGE,
		    "%s: belongs to uid %u, who can change it: look what it "
		    "is, then chown it to uid %u",
		    path, st->st_uid, owner);
	if ((st->st_mode & 022) != 0)
		return err_set(e, ERR_USAGE,
		    "%s: others can write there and let in whom they want: "
		    "look what is in it, then chmod go-w %s",
		    path, path);
	return 0;
}

enum kind {
	PUBLIC,
	SECRET,
	LISTED
};

/* owner: whose a LISTED key has to be. */
static int
read_key(int dirfd, const char *path, enum kind kind, uid_t owner,
    char ret[CURVE_KEY], struct err *e)
{
	/* A fifo must not hold us up. */
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r = 0;
	struct stat st;
	struct buf b;

	if (fd < 0)
		return err_set(e, ERR_USAGE, "%s: %s", path, strerror(errno));
	buf_init(&b, FILE_MAX);
	if (kind == SECRET)
		r = check_private(fd, path, e);
	else if (kind == LISTED && fstat(fd, &st) < 0)
		r = err_set(e, ERR_USAGE, "%s: %s", path, strerror(errno));
	else if (kind == LISTED && !S_ISREG(st.st_mode))
		r = err_set(e, ERR_USAGE, "%s: is no file", path);
	else if (kind == LISTED)
		r = check_unwritten(&st, owner, path, e);
	if (r == 0 && (r = fd_read_all(fd, &b)) < 0)
		r = r == -ENOBUFS
		    ? err_set(e, ERR_USAGE,
			  "%s: holds no key: it is larger than %d bytes", path,
			  FILE_MAX)
		    : err_set(e, ERR_USAGE, "%s: %s", path, err_str(r));
	if (r == 0 && (r = curve_parse(buf_str(&b), b.len, path, ret, e)) < 0)
		r = ERR_USAGE;
	if (e != NULL && r < 0)
		e->code = r;
	if (b.len > 0)
		explicit_bzero(b.data, b.len);
	buf_clear(&b);
	fd_close(&fd);
	return r;
}

int
curve_read_public(const char *path, char ret[CURVE_KEY], struct err *e)
{
	return read_key(AT_FDCWD, path, PUBLIC, 0, ret, e);
}

/* Any 32 bytes may be a secret: only the file beside it, NAME.pub, tells. */
static bool
is_public(const char *path, const char *key)
{
	size_t n = strlen(path);
	char there[CURVE_KEY], *pub;
	bool same;

	if (n < 7 || strcmp(path + n - 7, ".secret") != 0)
		return false;
	pub = xstrdup(path);
	memcpy(pub + n - 7, ".pub", 5);
	same =
	    curve_read_public(pub, there, NULL) == 0 && strcmp(there, key) == 0;
	free(pub);
	return same;
}

int
curve_read_secret(const char *path, struct curve_pair *ret, struct err *e)
{
	struct curve_pair p;
	int r = read_key(AT_FDCWD, path, SECRET, 0, p.secret_key, e);

	if (r == 0 && zmq_curve_public(p.public_key, p.secret_key) < 0)
		r = err_set(e, ERR_USAGE, "%s: is no secret key", path);
	if (r == 0 && is_public(path, p.secret_key))
		r = err_set(e, ERR_USAGE,
		    "%s: is the public key once more, no secret: copy the "
		    "secret again, or make new keys",
		    path);
	if (r == 0)
		*ret = p;
	curve_forget(&p);
	return r;
}

int
curve_write(const char *path, const char *key, bool secret, struct err *e)
{
	char text[CURVE_KEY + 1];
	int r;

	(void)snprintf(text, sizeof text, "%s\n", key);
	r = file_write(path, text, strlen(text), secret ? 0600 : 0644, e);
	explicit_bzero(text, sizeof text);
	return r;
}

int
curve_read_server(const char *dir, struct curve_pair *ret, struct err *e)
{
	char *path = path_join(dir, "server.secret");
	int r = curve_read_secret(path, ret, e);

	free(path);
	return r;
}

int
curve_read_host(const char *dir, struct curve_host *ret, struct err *e)
{
	char *server = path_join(dir, "server.pub");
	char *own = path_join(dir, "host.secret");
	struct curve_host h;
	int r = curve_read_public(server, h.server, e);

	if (r == 0)
		r = curve_read_secret(own, &h.own, e);
	if (r == 0)
		*ret = h;
	explicit_bzero(&h, sizeof h);
	free(server);
	free(own);
	return r;
}

/* --- the allow-list ------------------------------------------------------ */

static bool
name_of(const char *file, char ret[CURVE_NAME])
{
	size_t n = strlen(file);

	if (n <= 4 || strcmp(file + n - 4, ".pub") != 0 || n - 4 >= CURVE_NAME)
		return false;
	memcpy(ret, file, n - 4);
	ret[n - 4] = '\0';
	return curve_is_name(ret);
}

/* Opens it anew, so that it is read from its start. NULL: *ret_r says why. */
static DIR *
open_list(int dirfd, const char *path, uid_t *ret_owner, int *ret_r)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	DIR *dir = NULL;

	*ret_r = 0;
	if (fd < 0 || fstat(fd, &st) < 0 || (dir = fdopendir(fd)) == NULL) {
		*ret_r = -errno;
		fd_close(&fd);
	} else if ((st.st_mode & 022) != 0) {
		*ret_r = -EPERM;
		(void)closedir(dir);
		dir = NULL;
	} else {
		*ret_owner = st.st_uid;
	}
	return dir;
}

int
curve_allowed(int dirfd, const char *key, char ret_name[CURVE_NAME])
{
	char name[CURVE_NAME], there[CURVE_KEY];
	struct dirent *d;
	unsigned n = 0;
	uid_t owner;
	int r;
	DIR *dir = open_list(dirfd, ".", &owner, &r);

	if (dir == NULL)
		return r;
	while (r == 0 && n++ < CURVE_LIST && (d = readdir(dir)) != NULL) {
		if (name_of(d->d_name, name) &&
		    read_key(dirfd, d->d_name, LISTED, owner, there, NULL) ==
			0 &&
		    strcmp(there, key) == 0) {
			(void)strlcpy(ret_name, name, CURVE_NAME);
			r = 1;
		}
	}
	(void)closedir(dir);
	return r;
}

int
curve_read_listed(const char *path, char ret[CURVE_KEY], struct err *e)
{
	return read_key(AT_FDCWD, path, LISTED, geteuid(), ret, e);
}

/* sticky: others may write beside what is there. */
static int
check_dir(const char *dir, bool sticky, struct err *e)
{
	struct stat st;

	if (stat(dir, &st) < 0)
		return err_set(e, ERR_USAGE, "%s: %s", dir, strerror(errno));
	if (sticky && (st.st_mode & S_ISVTX) != 0)
		st.st_mode &= ~(mode_t)022;
	return check_unwritten(&st, geteuid(), dir, e);
}

static void
check_file(const char *list, const char *file, uid_t owner, curve_odd_cb *odd,
    void *ctx)
{
	char *path = path_join(list, file), name[CURVE_NAME], key[CURVE_KEY];
	size_t len = strlen(file);
	struct err why;

	if (len < 4 || strcmp(file + len - 4, ".pub") != 0)
		goto out; /* notes, and what editors leave */
	if (!name_of(file, name)) {
		(void)err_set(&why, ERR_USAGE,
		    "%s: is no name (letters, digits, '-', '_' and '.')", path);
		odd(why.text, ctx);
	} else if (read_key(AT_FDCWD, path, LISTED, owner, key, &why) < 0) {
		odd(why.text, ctx);
	}
out:
	free(path);
}

int
curve_check_list(const char *keys, curve_odd_cb *odd, void *ctx, struct err *e)
{
	char *list = path_join(keys, "allowed");
	int r = check_dir(keys, true, e);
	DIR *dir = NULL;
	struct dirent *d;
	unsigned n = 0;
	uid_t owner;

	if (r == 0)
		r = check_dir(list, false, e);
	if (r == 0 && (dir = open_list(AT_FDCWD, list, &owner, &r)) == NULL)
		r = err_set(e, ERR_USAGE, "%s: %s", list, err_str(r));
	while (dir != NULL && n++ < CURVE_LIST && (d = readdir(dir)) != NULL)
		check_file(list, d->d_name, owner, odd, ctx);
	if (dir != NULL)
		(void)closedir(dir);
	free(list);
	return r;
}
