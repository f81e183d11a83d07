#include "common/compat.h"

#include <limits.h>

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/spec.h"

/* What a spec from a file may hold at most. bwrap itself takes 9000 arguments,
 * three a mount. */
#define MAX_MOUNTS 2900
#define MAX_STRINGS 4096

/* Indexed by enum mount_kind. */
static const struct {
	const char *name;
	bool has_src;
	bool src_is_path; /* absolute, or "@merged" and what is below it */
} kinds[] = {
	[MOUNT_RO] = { "ro", true, true },
	[MOUNT_RW] = { "rw", true, true },
	[MOUNT_TMPFS] = { "tmpfs", false, false },
	[MOUNT_DIR] = { "dir", false, false },
	[MOUNT_SYMLINK] = { "symlink", true, false },
	[MOUNT_PROC] = { "proc", false, false },
	[MOUNT_DEV] = { "dev", false, false },
	[MOUNT_REMOUNT_RO] = { "remount-ro", false, false },
	[MOUNT_DATA] = { "data", true, false },
};

static const char *const layers[] = {
	[LAYER_OUTER] = "outer",
	[LAYER_INNER] = "inner",
};

static const char *const backends[] = {
	[BACKEND_BWRAP] = "bwrap",
	[BACKEND_CONTAINER] = "container",
};

static const struct {
	const char *name;
	size_t offset;
} limits[] = {
	{ "data_bytes", offsetof(struct sandbox_limits, data_bytes) },
	{ "file_bytes", offsetof(struct sandbox_limits, file_bytes) },
	{ "procs", offsetof(struct sandbox_limits, procs) },
	{ "cpu_s", offsetof(struct sandbox_limits, cpu_s) },
	{ "nofile", offsetof(struct sandbox_limits, nofile) },
	{ "memory_bytes", offsetof(struct sandbox_limits, memory_bytes) },
	{ "pids", offsetof(struct sandbox_limits, pids) },
	{ "cpu_milli", offsetof(struct sandbox_limits, cpu_milli) },
	{ "disk_bytes", offsetof(struct sandbox_limits, disk_bytes) },
	{ "output_bytes", offsetof(struct sandbox_limits, output_bytes) },
	{ "wall_ms", offsetof(struct sandbox_limits, wall_ms) },
};

static uint64_t *
limit_at(struct sandbox_limits *l, size_t i)
{
	return (uint64_t *)(void *)((char *)l + limits[i].offset);
}

void
spec_init(struct sandbox_spec *s, enum sandbox_layer layer)
{
	*s = (struct sandbox_spec){ .layer = layer };
}

void
spec_clear(struct sandbox_spec *s)
{
	for (size_t i = 0; i < s->n_mounts; i++) {
		free(s->mounts[i].src);
		free(s->mounts[i].dst);
	}
	free(s->mounts);
	strv_clear(&s->env);
	strv_clear(&s->argv);
	strv_clear(&s->fixed);
	free(s->cwd);
	free(s->hostname);
	*s = (struct sandbox_spec){ .layer = s->layer };
}

static struct sandbox_mount *
add(struct sandbox_spec *s, enum mount_kind kind, const char *src,
    const char *dst)
{
	struct sandbox_mount *m;

	s->mounts =
	    xreallocarray(s->mounts, s->n_mounts + 1, sizeof *s->mounts);
	m = &s->mounts[s->n_mounts++];
	*m = (struct sandbox_mount){
		.kind = kind,
		.src = src != NULL ? xstrdup(src) : NULL,
		.dst = xstrdup(dst),
	};
	return m;
}

void
spec_copy(struct sandbox_spec *dst, const struct sandbox_spec *src)
{
	struct sandbox_mount *m;

	spec_init(dst, src->layer);
	for (size_t i = 0; i < src->n_mounts; i++) {
		m = add(dst, src->mounts[i].kind, src->mounts[i].src,
		    src->mounts[i].dst);
		m->size = src->mounts[i].size;
		m->optional = src->mounts[i].optional;
	}
	strv_copy(&dst->env, &src->env);
	strv_copy(&dst->argv, &src->argv);
	strv_copy(&dst->fixed, &src->fixed);
	dst->cwd = src->cwd != NULL ? xstrdup(src->cwd) : NULL;
	dst->hostname = src->hostname != NULL ? xstrdup(src->hostname) : NULL;
	dst->limits = src->limits;
	dst->backend = src->backend;
	dst->keep_tty = src->keep_tty;
	dst->ptrace = src->ptrace;
	dst->egress = src->egress;
}

void
spec_mount(struct sandbox_spec *s, enum mount_kind kind, const char *src,
    const char *dst)
{
	(void)add(s, kind, src, dst);
}

void
spec_mount_try(struct sandbox_spec *s, enum mount_kind kind, const char *src,
    const char *dst)
{
	add(s, kind, src, dst)->optional = true;
}

void
spec_tmpfs(struct sandbox_spec *s, const char *dst, uint64_t size)
{
	add(s, MOUNT_TMPFS, NULL, dst)->size = size;
}

/* The last one that covers it decides. */
bool
spec_shows(const struct sandbox_spec *s, const char *path)
{
	const struct sandbox_mount *m;

	for (size_t i = s->n_mounts; i > 0; i--) {
		m = &s->mounts[i - 1];
		if (m->kind == MOUNT_REMOUNT_RO || !path_is_below(path, m->dst))
			continue;
		if (m->kind == MOUNT_TMPFS || m->kind == MOUNT_DIR)
			return false;
		return m->kind != MOUNT_RO || strcmp(m->src, "/dev/null") != 0;
	}
	return false;
}

void
spec_set_cwd(struct sandbox_spec *s, const char *cwd)
{
	char *copy = xstrdup(cwd);

	free(s->cwd);
	s->cwd = copy;
}

/* --- JSON ------------------------------------------------------------------
 *
 * A string is a string; one that is not UTF-8 (a path may be anything) is
 * {"hex": "2f61ff"}. */

static json_t *
str_json(const char *s)
{
	char *hex;
	json_t *j;
	size_t len = strlen(s);

	if (text_is_utf8(s, len))
		return json_stringn(s, len);
	hex = xmalloc(2 * len + 1);
	for (size_t i = 0; i < len; i++)
		(void)snprintf(hex + 2 * i, 3, "%02x", (unsigned char)s[i]);
	j = json_pack("{s:s}", "hex", hex);
	free(hex);
	return j;
}

static int
hex_digit(char c)
{
	const char *digits = "0123456789abcdef";
	const char *at = c != '\0' ? strchr(digits, c) : NULL;

	return at != NULL ? (int)(at - digits) : -1;
}

/* Yours; NULL when it is not such a string. */
static char *
json_str(const json_t *j)
{
	const char *hex;
	char *s;
	size_t len;
	int hi, lo;

	if (json_is_string(j)) {
		len = json_string_length(j);
		if (strlen(json_string_value(j)) != len)
			return NULL;
		return xstrdup(json_string_value(j));
	}
	hex = json_string_value(json_object_get(j, "hex"));
	if (hex == NULL || (len = strlen(hex)) % 2 != 0)
		return NULL;
	s = xmalloc(len / 2 + 1);
	for (size_t i = 0; i < len / 2; i++) {
		hi = hex_digit(hex[2 * i]);
		lo = hi < 0 ? -1 : hex_digit(hex[2 * i + 1]);
		if (lo < 0 || (hi == 0 && lo == 0)) {
			free(s);
			return NULL;
		}
		s[i] = (char)(hi << 4 | lo);
	}
	s[len / 2] = '\0';
	return s;
}

static void
set_str(json_t *obj, const char *key, const char *s)
{
	if (s != NULL)
		(void)json_object_set_new(obj, key, str_json(s));
}

static json_t *
strv_json(const struct strv *v)
{
	json_t *a = json_array();

	for (size_t i = 0; i < v->n; i++)
		(void)json_array_append_new(a, str_json(v->v[i]));
	return a;
}

static json_t *
mount_json(const struct sandbox_mount *m)
{
	json_t *j = json_pack("{s:s}", "kind", kinds[m->kind].name);

	set_str(j, "src", m->src);
	set_str(j, "dst", m->dst);
	if (m->size > 0)
		(void)json_object_set_new(
		    j, "size", json_integer((json_int_t)m->size));
	if (m->optional)
		(void)json_object_set_new(j, "optional", json_true());
	return j;
}

json_t *
spec_to_json(const struct sandbox_spec *s)
{
	struct sandbox_limits l = s->limits;
	json_t *j = json_object(), *a = json_array(), *lj = json_object();

	(void)json_object_set_new(j, "layer", json_string(layers[s->layer]));
	for (size_t i = 0; i < s->n_mounts; i++)
		(void)json_array_append_new(a, mount_json(&s->mounts[i]));
	(void)json_object_set_new(j, "mounts", a);
	(void)json_object_set_new(j, "env", strv_json(&s->env));
	(void)json_object_set_new(j, "argv", strv_json(&s->argv));
	set_str(j, "cwd", s->cwd);
	set_str(j, "hostname", s->hostname);
	for (size_t i = 0; i < nitems(limits); i++)
		(void)json_object_set_new(lj, limits[i].name,
		    json_integer((json_int_t)*limit_at(&l, i)));
	(void)json_object_set_new(j, "limits", lj);
	(void)json_object_set_new(
	    j, "backend", json_string(backends[s->backend]));
	(void)json_object_set_new(j, "keep_tty", json_boolean(s->keep_tty));
	(void)json_object_set_new(j, "ptrace", json_boolean(s->ptrace));
	(void)json_object_set_new(j, "egress", json_boolean(s->egress));
	return j;
}

static bool
is_clean_abs(const char *path)
{
	char *normal;
	bool same;

	if (path[0] != '/' || strlen(path) >= PATH_MAX)
		return false;
	normal = path_normal(path);
	same = strcmp(normal, path) == 0;
	free(normal);
	return same;
}

/* "@merged" or "@merged/a/b". */
static bool
is_merged(const char *src)
{
	if (!text_starts(src, "@merged"))
		return false;
	src += strlen("@merged");
	return *src == '\0' || is_clean_abs(src);
}

static int
read_path(const json_t *obj, const char *key, bool required, char **ret,
    struct err *e)
{
	const json_t *v = json_object_get(obj, key);
	char *s = NULL;

	if (v == NULL && !required)
		return 0;
	if (v == NULL)
		return err_set(e, ERR_SYNTAX, "spec: \"%s\" is missing", key);
	if ((s = json_str(v)) == NULL)
		return err_set(e, ERR_SYNTAX, "spec: \"%s\" is no path", key);
	if (!is_clean_abs(s)) {
		free(s);
		return err_set(e, ERR_SYNTAX,
		    "spec: \"%s\" is not an absolute, clean path", key);
	}
	*ret = s;
	return 0;
}

static int
read_src(const json_t *j, struct sandbox_mount *m, struct err *e)
{
	if (!kinds[m->kind].has_src) {
		if (json_object_get(j, "src") != NULL)
			return err_set(e, ERR_SYNTAX,
			    "spec: a %s has no \"src\"", kinds[m->kind].name);
		return 0;
	}
	m->src = json_str(json_object_get(j, "src"));
	if (m->src == NULL || m->src[0] == '\0')
		return err_set(e, ERR_SYNTAX, "spec: a %s needs a \"src\"",
		    kinds[m->kind].name);
	if (kinds[m->kind].src_is_path && !is_merged(m->src) &&
	    !is_clean_abs(m->src))
		return err_set(e, ERR_SYNTAX,
		    "spec: \"src\" is not an absolute, clean path");
	return 0;
}

static int
read_mount(const json_t *j, struct sandbox_mount *m, struct err *e)
{
	const char *name;
	size_t kind = 0;
	int r;

	if (!json_is_object(j))
		return err_set(e, ERR_SYNTAX, "spec: a mount is no object");
	if ((r = json_get_str(j, "kind", true, &name, e)) < 0)
		return r;
	while (kind < nitems(kinds) && strcmp(kinds[kind].name, name) != 0)
		kind++;
	if (kind == nitems(kinds))
		return err_set(e, ERR_SYNTAX, "spec: unknown kind of mount");
	m->kind = (enum mount_kind)kind;
	if ((r = read_src(j, m, e)) < 0)
		return r;
	if ((r = read_path(j, "dst", true, &m->dst, e)) < 0)
		return r;
	if ((r = json_get_u64(j, "size", 0, INT64_MAX, &m->size, e)) < 0)
		return r;
	return json_get_bool(j, "optional", false, &m->optional, e);
}

static int
read_mounts(const json_t *j, struct sandbox_spec *s, struct err *e)
{
	const json_t *a = json_object_get(j, "mounts");
	int r;

	if (!json_is_array(a) || json_array_size(a) > MAX_MOUNTS)
		return err_set(e, ERR_SYNTAX,
		    "spec: \"mounts\" is no array of at most %d", MAX_MOUNTS);
	s->mounts = xcalloc(json_array_size(a) + 1, sizeof *s->mounts);
	for (size_t i = 0; i < json_array_size(a); i++) {
		s->n_mounts = i + 1; /* what it holds so far is freed, too */
		r = read_mount(json_array_get(a, i), &s->mounts[i], e);
		if (r < 0)
			return r;
	}
	return 0;
}

static int
read_strv(const json_t *j, const char *key, struct strv *ret, struct err *e)
{
	const json_t *a = json_object_get(j, key);
	char *s;

	if (a == NULL)
		return 0;
	if (!json_is_array(a) || json_array_size(a) > MAX_STRINGS)
		return err_set(e, ERR_SYNTAX,
		    "spec: \"%s\" is no array of at most %d", key, MAX_STRINGS);
	for (size_t i = 0; i < json_array_size(a); i++) {
		if ((s = json_str(json_array_get(a, i))) == NULL)
			return err_set(e, ERR_SYNTAX,
			    "spec: \"%s\" holds what is no string", key);
		strv_take(ret, &s);
	}
	return 0;
}

static int
read_env(const json_t *j, struct sandbox_spec *s, struct err *e)
{
	int r = read_strv(j, "env", &s->env, e);

	for (size_t i = 0; r == 0 && i < s->env.n; i++) {
		if (strchr(s->env.v[i], '=') == NULL || s->env.v[i][0] == '=')
			r = err_set(e, ERR_SYNTAX,
			    "spec: an entry of \"env\" is not NAME=value");
	}
	return r;
}

static int
read_limits(const json_t *j, struct sandbox_limits *l, struct err *e)
{
	const json_t *lj = json_object_get(j, "limits");
	int r = 0;

	if (lj == NULL)
		return 0;
	if (!json_is_object(lj))
		return err_set(e, ERR_SYNTAX, "spec: \"limits\" is no object");
	for (size_t i = 0; r == 0 && i < nitems(limits); i++)
		r = json_get_u64(
		    lj, limits[i].name, 0, INT64_MAX, limit_at(l, i), e);
	return r;
}

static int
read_hostname(const json_t *j, struct sandbox_spec *s, struct err *e)
{
	const json_t *v = json_object_get(j, "hostname");

	if (v == NULL)
		return 0;
	s->hostname = json_str(v);
	if (s->hostname == NULL || strlen(s->hostname) > 64)
		return err_set(
		    e, ERR_SYNTAX, "spec: \"hostname\" is no host name");
	return 0;
}

int
backend_parse(const char *name, enum sandbox_backend *ret, struct err *e)
{
	for (size_t i = 0; i < nitems(backends); i++) {
		if (strcmp(name, backends[i]) == 0) {
			*ret = (enum sandbox_backend)i;
			return 0;
		}
	}
	return err_set(e, ERR_USAGE,
	    "'%s' is no kind of sandbox: there are bwrap and container", name);
}

const char *
backend_str(enum sandbox_backend b)
{
	return backends[b];
}

int
spec_from_json(const json_t *j, struct sandbox_spec *ret, struct err *e)
{
	struct sandbox_spec s = { 0 };
	const char *layer, *backend = NULL;
	int r;

	if (!json_is_object(j))
		return err_set(e, ERR_SYNTAX, "spec: no object");
	if ((r = json_get_str(j, "layer", true, &layer, e)) < 0)
		return r;
	if (strcmp(layer, layers[LAYER_OUTER]) == 0)
		s.layer = LAYER_OUTER;
	else if (strcmp(layer, layers[LAYER_INNER]) == 0)
		s.layer = LAYER_INNER;
	else
		return err_set(e, ERR_SYNTAX, "spec: unknown layer");

	if ((r = read_mounts(j, &s, e)) < 0 || (r = read_env(j, &s, e)) < 0 ||
	    (r = read_strv(j, "argv", &s.argv, e)) < 0 ||
	    (r = read_path(j, "cwd", false, &s.cwd, e)) < 0 ||
	    (r = read_hostname(j, &s, e)) < 0 ||
	    (r = read_limits(j, &s.limits, e)) < 0 ||
	    (r = json_get_str(j, "backend", false, &backend, e)) < 0 ||
	    (backend != NULL &&
		(r = backend_parse(backend, &s.backend, e)) < 0) ||
	    (r = json_get_bool(j, "keep_tty", false, &s.keep_tty, e)) < 0 ||
	    (r = json_get_bool(j, "ptrace", false, &s.ptrace, e)) < 0 ||
	    (r = json_get_bool(j, "egress", false, &s.egress, e)) < 0)
		goto out;
	*ret = s;
	return 0;
out:
	spec_clear(&s);
	return r;
}
