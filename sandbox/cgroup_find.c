/*
 * cgroup_find.c - which control groups are ours to divide.
 *
 * Where a hierarchy is mounted stands in mountinfo, with the group that the
 * mount shows as its top (in a container that is seldom "/"); where we are in
 * it, in /proc/self/cgroup. The directory is the second below the first.
 */
#include "common/compat.h"

#include <errno.h>
#include <limits.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/num.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/cgroup.h"

#define TEXT_MAX ((size_t)4 << 20)

static const char *const names[] = {
	[CGROUP_MEMORY] = "memory",
	[CGROUP_PIDS] = "pids",
	[CGROUP_CPU] = "cpu",
	[CGROUP_FREEZER] = "freezer",
};

const char *
cgroup_kind_str(enum cgroup_kind k)
{
	static const char *const kinds[] = { "none", "version 1", "version 2" };

	return kinds[k];
}

/* Is word one of list, whose words are separated by sep? */
static bool
has_word(const char *list, size_t len, char sep, const char *word)
{
	size_t n, want = strlen(word);

	while (len > 0) {
		const char *end = memchr(list, sep, len);

		n = end != NULL ? (size_t)(end - list) : len;
		if (n == want && memcmp(list, word, n) == 0)
			return true;
		if (end == NULL)
			break;
		list += n + 1;
		len -= n + 1;
	}
	return false;
}

/* The path in the line of /proc/self/cgroup that names the controller; NULL
 * for V2, whose line is "0::PATH". Yours. */
static char *
own_path(const char *self, const char *controller)
{
	const char *line = self, *list, *path, *end;

	for (; *line != '\0'; line = *end != '\0' ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		list = memchr(line, ':', (size_t)(end - line));
		if (list == NULL)
			continue;
		list++;
		path = memchr(list, ':', (size_t)(end - list));
		if (path == NULL)
			continue;
		if (controller == NULL ? !text_starts(line, "0::")
				       : !has_word(list, (size_t)(path - list),
					     ',', controller))
			continue;
		path++;
		return xstrndup(path, (size_t)(end - path));
	}
	return NULL;
}

/* "\040" and the like, in place. */
static void
unescape(char *s)
{
	char *to = s;

	for (; *s != '\0'; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' &&
		    s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 |
			    (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* The n-th of the words of a line, from 0. Yours, or NULL. */
static char *
word(const char *line, size_t len, size_t n)
{
	const char *at = line, *end = line + len, *stop;
	char *s;

	for (;; n--) {
		stop = memchr(at, ' ', (size_t)(end - at));
		if (stop == NULL)
			stop = end;
		if (n == 0)
			break;
		if (stop == end)
			return NULL;
		at = stop + 1;
	}
	s = xstrndup(at, (size_t)(stop - at));
	unescape(s);
	return s;
}

/* 36 35 98:0 ROOT POINT OPTIONS [TAGS] - TYPE SOURCE SUPEROPTIONS */
static bool
read_mount(const char *line, size_t len, const char *controller,
    char **ret_root, char **ret_point)
{
	const char *dash = memmem(line, len, " - ", 3);
	char *type, *options;
	size_t rest;
	bool is;

	if (dash == NULL)
		return false;
	dash += 3;
	rest = (size_t)(line + len - dash);
	type = word(dash, rest, 0);
	options = word(dash, rest, 2);
	if (controller == NULL)
		is = type != NULL && strcmp(type, "cgroup2") == 0;
	else
		is = type != NULL && strcmp(type, "cgroup") == 0 &&
		    options != NULL &&
		    has_word(options, strlen(options), ',', controller);
	free(type);
	free(options);
	if (!is)
		return false;
	*ret_root = word(line, len, 3);
	*ret_point = word(line, len, 4);
	return *ret_root != NULL && *ret_point != NULL;
}

/* The directory of the group path, where a mount shows root at point. A group
 * outside of root (we were moved, or the namespace is another's) is shown as
 * the mount's top. */
static char *
place(const char *point, const char *root, const char *path)
{
	const char *rel = path_rel(path, root);

	if (rel == NULL || text_starts(path, "/.."))
		rel = "";
	return *rel != '\0' ? path_join(point, rel) : xstrdup(point);
}

static char *
find_dir(const char *mountinfo, const char *self, const char *controller)
{
	char *path = own_path(self, controller), *root, *point, *dir = NULL;
	const char *line = mountinfo;
	size_t len;

	while (path != NULL && dir == NULL && *line != '\0') {
		len = strcspn(line, "\n");
		root = point = NULL;
		if (read_mount(line, len, controller, &root, &point))
			dir = place(point, root, path);
		free(root);
		free(point);
		line += len + (line[len] == '\n');
	}
	free(path);
	return dir;
}

/* Space-separated words of a file of the group; "" when it can't be read. */
static void
read_words(const char *dir, const char *file, struct buf *ret)
{
	char *path = path_join(dir, file);

	buf_init(ret, TEXT_MAX);
	if (file_read(path, false, ret, NULL) < 0)
		buf_reset(ret);
	free(path);
	while (ret->len > 0 && ret->data[ret->len - 1] == '\n')
		ret->data[--ret->len] = '\0';
}

static bool
has_controllers(const char *dir, const char *file, bool with_cpu)
{
	struct buf b;
	bool yes;

	read_words(dir, file, &b);
	yes = has_word(buf_str(&b), b.len, ' ', "memory") &&
	    has_word(buf_str(&b), b.len, ' ', "pids") &&
	    (!with_cpu || has_word(buf_str(&b), b.len, ' ', "cpu"));
	buf_clear(&b);
	return yes;
}

static bool
is_writable(const char *dir)
{
	char *procs = path_join(dir, "cgroup.procs");
	bool yes = access(dir, W_OK) == 0 && access(procs, W_OK) == 0;

	free(procs);
	return yes;
}

/* systemd marks what it has given away; the top of what we see belongs to
 * nobody else. */
static bool
is_delegated(const char *dir)
{
	static const char *const marks[] = { "user.delegate",
		"trusted.delegate" };
	char value[8], *type = path_join(dir, "cgroup.type");
	bool yes = access(type, F_OK) < 0; /* every group but the root */

	free(type);
	for (size_t i = 0; !yes && i < nitems(marks); i++)
		yes = getxattr(dir, marks[i], value, sizeof value) == 1 &&
		    value[0] == '1';
	return yes;
}

/* Is nobody in the group but us and the program that started us? */
static bool
is_alone(const char *dir)
{
	struct buf b;
	bool yes = true;
	char *end;
	long pid;

	read_words(dir, "cgroup.procs", &b);
	for (const char *s = buf_str(&b); yes && *s != '\0'; s = end) {
		pid = strtol(s, &end, 10);
		yes = end != s && (pid == getpid() || pid == getppid());
	}
	buf_clear(&b);
	return yes;
}

static void note(struct cgroup_site *s, const char *fmt, ...) printflike(2, 3);

static void
note(struct cgroup_site *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(s->why, sizeof s->why, fmt, ap);
	va_end(ap);
}

static bool
find_v2(const char *mountinfo, const char *self, struct cgroup_site *ret)
{
	char *dir = find_dir(mountinfo, self, NULL);
	bool cpu, ok = false;

	if (dir == NULL) {
		note(ret, "no control groups are mounted");
		return false;
	}
	if (!has_controllers(dir, "cgroup.controllers", false)) {
		note(ret, "%s has no controllers memory and pids", dir);
		goto out;
	}
	if (!is_writable(dir)) {
		note(ret, "%s is not writable", dir);
		goto out;
	}
	cpu = has_controllers(dir, "cgroup.controllers", true);
	ret->is_divided = has_controllers(dir, "cgroup.subtree_control", cpu);
	if (!ret->is_divided && !is_delegated(dir) && !is_alone(dir)) {
		note(ret, "%s is not delegated, and others run in it", dir);
		goto out;
	}
	for (int i = 0; i < CGROUP_CTLS; i++)
		if (i != CGROUP_CPU || cpu)
			ret->dir[i] = xstrdup(dir);
	ret->kind = CGROUP_V2;
	ok = true;
out:
	free(dir);
	return ok;
}

static bool
find_v1(const char *mountinfo, const char *self, struct cgroup_site *ret)
{
	for (int i = 0; i < CGROUP_CTLS; i++) {
		ret->dir[i] = find_dir(mountinfo, self, names[i]);
		if (ret->dir[i] != NULL && !is_writable(ret->dir[i])) {
			if (i == CGROUP_MEMORY)
				note(ret, "%s is not writable", ret->dir[i]);
			free(ret->dir[i]);
			ret->dir[i] = NULL;
		}
	}
	if (ret->dir[CGROUP_MEMORY] != NULL && ret->dir[CGROUP_PIDS] != NULL) {
		ret->kind = CGROUP_V1;
		ret->why[0] = '\0';
		return true;
	}
	cgroup_site_clear(ret);
	return false;
}

void
cgroup_find_in(const char *mountinfo, const char *self, struct cgroup_site *ret)
{
	memset(ret, 0, sizeof *ret);
	if (!find_v2(mountinfo, self, ret))
		(void)find_v1(mountinfo, self, ret); /* why is set then */
}

void
cgroup_find(struct cgroup_site *ret)
{
	struct buf mounts, self;

	buf_init(&mounts, TEXT_MAX);
	buf_init(&self, TEXT_MAX);
	(void)file_read("/proc/self/mountinfo", false, &mounts, NULL);
	(void)file_read("/proc/self/cgroup", false, &self, NULL);
	cgroup_find_in(buf_str(&mounts), buf_str(&self), ret);
	buf_clear(&mounts);
	buf_clear(&self);
}

void
cgroup_site_clear(struct cgroup_site *s)
{
	for (int i = 0; i < CGROUP_CTLS; i++) {
		free(s->dir[i]);
		s->dir[i] = NULL;
	}
	s->kind = CGROUP_NONE;
}

uint64_t
cgroup_memory(const struct cgroup_site *s)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	uint64_t all = (uint64_t)pages * (uint64_t)size, limit;
	const char *file =
	    s->kind == CGROUP_V2 ? "memory.max" : "memory.limit_in_bytes";
	struct buf b;

	if (s->dir[CGROUP_MEMORY] == NULL)
		return all;
	read_words(s->dir[CGROUP_MEMORY], file, &b);
	/* "max", or beyond all bounds: none. */
	if (num_u64(buf_str(&b), 1, UINT64_MAX, file, &limit, NULL) == 0 &&
	    limit < all)
		all = limit;
	buf_clear(&b);
	return all;
}
