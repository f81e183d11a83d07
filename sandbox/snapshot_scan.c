/* snapshot_scan.c - which files are there, and which are left out. */
#include "common/compat.h"

#include <sys/vfs.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <strings.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/copyfile.h"
#include "sandbox/snapshot_priv.h"
#include "sandbox/walk.h"

#ifndef CONFIGFS_MAGIC
#define CONFIGFS_MAGIC 0x62656570
#endif
#ifndef MQUEUE_MAGIC
#define MQUEUE_MAGIC 0x19800202
#endif

#define PROGRESS_EVERY 256

/*
 * Files that hold credentials, by their usual names, without regard to case.
 * "*x": ends with x; "x*": starts with x; "d/x": x in d; "d/": all below d.
 */
static const char *const secret_always[] = { ".env", NULL };
static const char *const secret_untracked[] = { ".env.*", ".envrc", ".netrc",
	"_netrc", ".pgpass", ".my.cnf", ".mylogin.cnf", ".npmrc", ".yarnrc.yml",
	".pypirc", ".git-credentials", ".htpasswd", ".dockercfg", ".s3cfg",
	".boto", ".vault-token", ".terraformrc", ".ssh/", ".gnupg/", ".aws/",
	".azure/", ".kube/", ".docker/config.json", ".gem/credentials",
	".cargo/credentials", ".cargo/credentials.toml", ".config/gcloud/",
	"id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519",
	"id_ed25519_sk", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx",
	"*.ppk", "*.tfvars", "credentials.json", "client_secret*",
	"service-account*", "service_account*",
	"application_default_credentials.json", "secrets.json", "secrets.yml",
	"secrets.yaml", "secrets.toml", "master.key", NULL };
/* Only when there is a private key in it: most are certificates. */
static const char *const secret_if_key[] = { "*.pem", "*.key", NULL };
/* Examples for others. */
static const char *const not_secret[] = { "*.example", "*.sample", "*.template",
	"*.tmpl", "*.dist", "*.pub", "*.md", "*.py", "*.js", "*.ts", "*.go",
	"*.c", "*.h", "*.rs", "*.java", "*.rb", "*.pyc", "*.so", "*.html",
	"*.map", NULL };

static bool
secret_match(const char *pattern, const char *path)
{
	const char *slash = strchr(pattern, '/');
	const char *name = strrchr(path, '/');
	size_t n = strlen(pattern), len = strlen(path), m;
	const char *at;

	name = name != NULL ? name + 1 : path;
	if (slash != NULL && slash[1] == '\0') { /* "d/": a component */
		for (at = path; at != NULL;) {
			if (strncasecmp(at, pattern, n) == 0)
				return true;
			at = strchr(at, '/');
			if (at != NULL)
				at++;
		}
		return false;
	}
	if (slash != NULL) {
		return len >= n && strcasecmp(path + len - n, pattern) == 0 &&
		    (len == n || path[len - n - 1] == '/');
	}
	if (pattern[0] == '*') {
		m = strlen(name);
		return m >= n - 1 &&
		    strcasecmp(name + m - (n - 1), pattern + 1) == 0;
	}
	if (pattern[n - 1] == '*')
		return strncasecmp(name, pattern, n - 1) == 0;
	return strcasecmp(name, pattern) == 0;
}

static bool
any_match(const char *const *patterns, const char *path)
{
	for (; *patterns != NULL; patterns++) {
		if (secret_match(*patterns, path))
			return true;
	}
	return false;
}

static bool
has_private_key(int dirfd, const char *name)
{
	char head[4096];
	struct stat st;
	ssize_t n;
	int fd;

	fd = copy_open(dirfd, name, &st);
	if (fd < 0)
		return false;
	n = read(fd, head, sizeof head);
	fd_close(&fd);
	return n > 0 && memmem(head, (size_t)n, "PRIVATE KEY-----", 16) != NULL;
}

bool
snap_is_secret(const char *path, int dirfd, bool *ret_always)
{
	const char *name = strrchr(path, '/');

	name = name != NULL ? name + 1 : path;
	*ret_always = any_match(secret_always, path);
	if (*ret_always)
		return true;
	if (any_match(secret_if_key, path))
		return has_private_key(dirfd, name);
	return any_match(secret_untracked, path) &&
	    !any_match(not_secret, path);
}

void
snap_skip(struct strv *skipped, const char *path, const char *why)
{
	struct buf b;

	if (skipped->n >= SKIPPED_MAX)
		return;
	buf_init(&b, 8192);
	(void)text_escape(&b, path, strlen(path));
	(void)buf_printf(&b, ": %s", why);
	strv_add(skipped, buf_str(&b));
	buf_clear(&b);
}

static bool
is_left_out(const struct snap_scan *s, const struct stat *st)
{
	size_t i;

	for (i = 0; i < s->left_n; i++) {
		if (st->st_dev == s->left_dev[i] &&
		    st->st_ino == s->left_ino[i])
			return true;
	}
	return false;
}

/* What the kernel makes up: no files of a person. */
static bool
is_kernel_fs(int dirfd, const char *name)
{
	static const unsigned long magic[] = { PROC_SUPER_MAGIC, SYSFS_MAGIC,
		CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, DEVPTS_SUPER_MAGIC,
		DEBUGFS_MAGIC, TRACEFS_MAGIC, SECURITYFS_MAGIC, BPF_FS_MAGIC,
		BINFMTFS_MAGIC, EFIVARFS_MAGIC, PSTOREFS_MAGIC, SELINUX_MAGIC,
		NSFS_MAGIC, CONFIGFS_MAGIC, MQUEUE_MAGIC };
	struct statfs fs;
	size_t i;
	int fd, r;

	fd = openat(dirfd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	r = fstatfs(fd, &fs);
	fd_close(&fd);
	for (i = 0; r == 0 && i < nitems(magic); i++) {
		if ((unsigned long)fs.f_type == magic[i])
			return true;
	}
	return false;
}

static struct snap_entry *
add_entry(struct snap_scan *s, const struct walk_ent *w, char type)
{
	struct snap_entry *en = snap_list_add(s->list, w->path);

	en->type = type;
	en->mode = w->st->st_mode & (type == 'd' ? 01777 : 0777);
	en->size = (uint64_t)w->st->st_size;
	en->mtime_ns = snap_ns(&w->st->st_mtim);
	en->ctime_ns = snap_ns(&w->st->st_ctim);
	en->ino = w->st->st_ino;
	return en;
}

static int
scan_dir(struct snap_scan *s, const struct walk_ent *w, dev_t parent)
{
	if (is_left_out(s, w->st))
		return WALK_SKIP;
	if (w->st->st_dev != parent && is_kernel_fs(w->dirfd, w->name)) {
		snap_skip(s->skipped, w->path, "a file system of the kernel");
		return WALK_SKIP;
	}
	(void)add_entry(s, w, 'd');
	return 0;
}

static void
scan_link(struct snap_scan *s, const struct walk_ent *w)
{
	char target[4096];
	ssize_t n;

	n = readlinkat(w->dirfd, w->name, target, sizeof target - 1);
	if (n < 0)
		return; /* it vanished */
	target[n] = '\0';
	add_entry(s, w, 'l')->target = xstrdup(target);
}

static bool
is_hidden(const struct snap_scan *s, const char *path)
{
	const struct strv *h = s->o->hide;
	const char *rel;

	for (size_t i = 0; h != NULL && i < h->n; i++) {
		rel = path_rel(h->v[i], s->root);
		if (rel != NULL && strcmp(rel, path) == 0)
			return true;
	}
	return false;
}

static int
scan_entry(const struct walk_ent *w, void *ctx)
{
	struct snap_scan *s = ctx;
	struct stat st;
	bool always;

	if (++s->seen % PROGRESS_EVERY == 0 && s->o->progress != NULL &&
	    s->o->progress(s->seen, 0, s->o->ctx) != 0)
		return -EINTR;
	if (strcmp(w->name, ".git") == 0)
		return WALK_SKIP;
	if (is_hidden(s, w->path)) {
		snap_skip(s->skipped, w->path, "hidden by the profile");
		return WALK_SKIP;
	}
	switch (w->st->st_mode & S_IFMT) {
	case S_IFDIR:
		st.st_dev = 0;
		(void)fstat(w->dirfd, &st);
		return scan_dir(s, w, st.st_dev);
	case S_IFLNK:
		scan_link(s, w);
		return 0;
	case S_IFREG:
		if (!snap_is_secret(w->path, w->dirfd, &always)) {
			(void)add_entry(s, w, 'f');
			return 0;
		}
		if (!always)
			strv_add(&s->secrets, w->path);
		/* A tracked one becomes a plain entry again (snapshot.c). */
		add_entry(s, w, 'f')->gone = true;
		if (always)
			snap_skip(
			    s->skipped, w->path, "it may hold credentials");
		return 0;
	case S_IFSOCK:
		snap_skip(s->skipped, w->path, "a socket");
		return 0;
	case S_IFIFO:
		snap_skip(s->skipped, w->path, "a fifo");
		return 0;
	default:
		snap_skip(s->skipped, w->path, "a device");
		return 0;
	}
}

static int
scan_error(const char *path, int error, void *ctx)
{
	struct snap_scan *s = ctx;

	/* A directory was listed before it could not be read. */
	snap_skip(s->skipped, path, strerror(error));
	return 0;
}

int
snap_scan(struct snap_scan *s, struct err *e)
{
	static const struct walk_ops ops = { scan_entry, scan_error };
	int r;

	r = walk_tree(s->rootfd, &ops, s);
	if (r < 0)
		return err_set(e, r, "read the tree: %s", strerror(-r));
	return 0;
}
