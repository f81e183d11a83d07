#include "common/compat.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/num.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/profile_def.h"

#define MAX_LIST 1024
#define MAX_DEPTH 8 /* of "extends" */
#define TIB ((uint64_t)1 << 40)
#define UNLIMITED "unlimited"

void
profile_def_clear(struct profile_def *d)
{
	free(d->name);
	free(d->about);
	strv_clear(&d->show);
	strv_clear(&d->write);
	strv_clear(&d->hide);
	strv_clear(&d->pass_env);
	strv_clear(&d->env);
	*d = (struct profile_def){ 0 };
}

/* --- values ----------------------------------------------------------------
 */

static int
bad(const char *what, const char *key, const char *want, struct err *e)
{
	return err_set(
	    e, ERR_SYNTAX, "%s: \"%s\" has to be %s", what, key, want);
}

static int
read_paths(const json_t *v, const char *what, const char *key, struct strv *to,
    struct err *e)
{
	const char *s, *rest;
	char *clean;
	size_t i;
	json_t *item;

	if (!json_is_array(v) || json_array_size(v) > MAX_LIST)
		return bad(what, key, "a list of paths", e);
	json_array_foreach (v, i, item) {
		s = json_string_value(item);
		rest = s != NULL && text_starts(s, "~/") ? s + 1 : s;
		if (rest == NULL || rest[0] != '/' ||
		    strlen(s) != json_string_length(item) ||
		    strlen(s) >= PATH_MAX)
			return bad(what, key,
			    "a list of absolute paths (or ~/...)", e);
		clean = path_normal(rest);
		if (strcmp(clean, "/") == 0) {
			free(clean);
			return err_set(e, ERR_SYNTAX,
			    "%s: \"%s\": %s is everything: name what is "
			    "needed",
			    what, key, s);
		}
		if (rest != s)
			strv_addf(to, "~%s", clean);
		else if (!strv_has(to, clean))
			strv_add(to, clean);
		free(clean);
	}
	return 0;
}

static bool
is_variable(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	for (; *s != '\0'; s++) {
		if (!isalnum((unsigned char)*s) && *s != '_')
			return false;
	}
	return true;
}

static int
read_names(const json_t *v, const char *what, const char *key, struct strv *to,
    struct err *e)
{
	size_t i;
	json_t *item;

	if (!json_is_array(v) || json_array_size(v) > MAX_LIST)
		return bad(what, key, "a list of variables' names", e);
	json_array_foreach (v, i, item) {
		if (!json_is_string(item) ||
		    !is_variable(json_string_value(item)))
			return bad(what, key, "a list of variables' names", e);
		if (!strv_has(to, json_string_value(item)))
			strv_add(to, json_string_value(item));
	}
	return 0;
}

static int
read_env(const json_t *v, const char *what, struct strv *to, struct err *e)
{
	const char *name;
	json_t *item;

	if (!json_is_object(v))
		return bad(what, "env", "an object of strings", e);
	json_object_foreach ((json_t *)(uintptr_t)v, name, item) {
		if (!is_variable(name) || !json_is_string(item) ||
		    strlen(json_string_value(item)) != json_string_length(item))
			return bad(what, "env", "an object of strings", e);
		strv_setenv(to, name, json_string_value(item));
	}
	return 0;
}

/* A string with a unit, or a whole number. */
static int
read_number(const json_t *v, const char *what, const char *key,
    int (*parse)(const char *, const char *, uint64_t *, struct err *),
    uint64_t *ret, struct err *e)
{
	struct err why;

	if (json_is_integer(v) && json_integer_value(v) >= 0) {
		*ret = (uint64_t)json_integer_value(v);
		return 0;
	}
	if (!json_is_string(v) || parse == NULL)
		return bad(what, key, "a number", e);
	if (parse(json_string_value(v), key, ret, &why) < 0)
		return err_set(e, ERR_SYNTAX, "%s: %s", what, why.text);
	return 0;
}

static int
cpu_time(const char *s, const char *what, uint64_t *ret, struct err *e)
{
	uint64_t ms;
	int r = num_duration_ms(s, what, &ms, e);

	if (r == 0)
		*ret = (ms + 999) / 1000;
	return r;
}

#define AT(f) offsetof(struct profile_def, f)

/* The bounds are those of what a host is told, and what no sandbox could start
 * below. */
static const struct {
	const char *name;
	size_t offset;
	int (*parse)(const char *, const char *, uint64_t *, struct err *);
	uint64_t min, max;
	bool unlimited; /* may be that word */
} limit_keys[] = {
	{ "memory", AT(limits.memory_bytes), num_size, 32 << 20, TIB, false },
	{ "process_memory", AT(limits.data_bytes), num_size, 1 << 20, TIB,
	    true },
	{ "processes", AT(limits.procs), NULL, 8, 1 << 20, false },
	{ "all_processes", AT(limits.pids), NULL, 16, 1 << 20, false },
	{ "cpu", AT(limits.cpu_s), cpu_time, 1, 31536000, false },
	{ "file", AT(limits.file_bytes), num_size, 1, TIB, true },
	{ "disk", AT(limits.disk_bytes), num_size, 1, TIB, false },
	{ "output", AT(limits.output_bytes), num_size, 1, TIB, false },
	{ "open_files", AT(limits.nofile), NULL, 16, 1 << 30, false },
	{ "call", AT(call_ms), num_duration_ms, 1, 31536000000, false },
	{ "subtask", AT(subtask_ms), num_duration_ms, 1, 31536000000, false },
};

static uint64_t *
limit_at(struct profile_def *d, size_t i)
{
	return (uint64_t *)(void *)((char *)d + limit_keys[i].offset);
}

/* Processors: 2, or 0.5. */
static int
read_cpus(const json_t *v, const char *what, uint64_t *ret, struct err *e)
{
	double n = json_number_value(v);

	if (!json_is_number(v) || (n != 0 && n < 0.01) || n > 1024)
		return bad(what, "cpus", "a number from 0.01 to 1024", e);
	*ret = (uint64_t)(n * 1000);
	return 0;
}

static bool
is_unlimited(const json_t *v)
{
	return json_is_string(v) &&
	    strcmp(json_string_value(v), UNLIMITED) == 0;
}

static int
read_limits(
    const json_t *v, const char *what, struct profile_def *d, struct err *e)
{
	const char *key;
	json_t *item;
	uint64_t n;
	size_t i;
	int r;

	if (!json_is_object(v))
		return bad(what, "limits", "an object", e);
	json_object_foreach ((json_t *)(uintptr_t)v, key, item) {
		if (strcmp(key, "cpus") == 0) {
			r = read_cpus(item, what, &d->limits.cpu_milli, e);
			if (r < 0)
				return r;
			continue;
		}
		for (i = 0; i < nitems(limit_keys); i++) {
			if (strcmp(key, limit_keys[i].name) == 0)
				break;
		}
		if (i == nitems(limit_keys))
			return err_set(e, ERR_SYNTAX,
			    "%s: unknown limit \"%s\"", what, key);
		if (limit_keys[i].unlimited && is_unlimited(item)) {
			*limit_at(d, i) = LIMIT_UNLIMITED;
			continue;
		}
		r = read_number(
		    item, what, key, limit_keys[i].parse, limit_at(d, i), e);
		if (r < 0)
			return r;
		n = *limit_at(d, i);
		if (n != 0 && (n < limit_keys[i].min || n > limit_keys[i].max))
			return err_set(e, ERR_SYNTAX,
			    "%s: limits: \"%s\" is %ju to %ju, or 0", what, key,
			    (uintmax_t)limit_keys[i].min,
			    (uintmax_t)limit_keys[i].max);
	}
	return 0;
}

static int
read_bool(const json_t *v, const char *what, const char *key, bool *ret,
    struct err *e)
{
	if (!json_is_boolean(v))
		return bad(what, key, "true or false", e);
	*ret = json_is_true(v);
	return 0;
}

/* --- keys ------------------------------------------------------------------
 */

static int
read_key(struct profile_def *d, const char *what, const char *key,
    const json_t *v, struct err *e)
{
	if (strcmp(key, "show") == 0)
		return read_paths(v, what, key, &d->show, e);
	if (strcmp(key, "write") == 0)
		return read_paths(v, what, key, &d->write, e);
	if (strcmp(key, "hide") == 0)
		return read_paths(v, what, key, &d->hide, e);
	if (strcmp(key, "toolchains") == 0)
		return read_bool(v, what, key, &d->toolchains, e);
	if (strcmp(key, "cache") == 0)
		return read_bool(v, what, key, &d->cache, e);
	if (strcmp(key, "ptrace") == 0)
		return read_bool(v, what, key, &d->ptrace, e);
	if (strcmp(key, "pass_env") == 0)
		return read_names(v, what, key, &d->pass_env, e);
	if (strcmp(key, "env") == 0)
		return read_env(v, what, &d->env, e);
	if (strcmp(key, "tmp") == 0)
		return read_number(v, what, key, num_size, &d->tmp_bytes, e);
	if (strcmp(key, "shm") == 0)
		return read_number(v, what, key, num_size, &d->shm_bytes, e);
	if (strcmp(key, "limits") == 0)
		return read_limits(v, what, d, e);
	if (strcmp(key, "about") == 0) {
		if (!json_is_string(v))
			return bad(what, key, "a sentence", e);
		free(d->about);
		d->about = xstrdup(json_string_value(v));
		return 0;
	}
	return err_set(e, ERR_SYNTAX, "%s: unknown key \"%s\"", what, key);
}

static int load(
    const char *name, unsigned depth, struct profile_def *d, struct err *e);

static int
apply(struct profile_def *d, const json_t *j, const char *what, unsigned depth,
    struct err *e)
{
	const json_t *below = json_object_get(j, "extends");
	const char *key;
	json_t *v;
	int r;

	if (!json_is_object(j))
		return err_set(e, ERR_SYNTAX, "%s: not a JSON object", what);
	if (below == NULL)
		below = json_object_get(j, "profile");
	if (below != NULL && !json_is_null(below)) {
		if (!json_is_string(below))
			return bad(what, "extends", "a profile's name", e);
		if (depth >= MAX_DEPTH)
			return err_set(e, -ELOOP,
			    "profiles extend each other in a circle");
		profile_def_clear(d);
		r = load(json_string_value(below), depth + 1, d, e);
		if (r == -ELOOP && depth > 0)
			return r; /* the first one is named, once */
		if (r == -ELOOP && e != NULL)
			e->code = ERR_SYNTAX;
		if (r < 0)
			return err_prefix(e, "%s", what);
	}
	json_object_foreach ((json_t *)(uintptr_t)j, key, v) {
		if (strcmp(key, "extends") == 0 || strcmp(key, "profile") == 0)
			continue;
		if ((r = read_key(d, what, key, v, e)) < 0)
			return r;
	}
	return 0;
}

int
profile_def_apply(
    struct profile_def *d, const json_t *j, const char *what, struct err *e)
{
	return apply(d, j, what, 0, e);
}

/* --- where they are --------------------------------------------------------
 */

static int
parse(const char *text, size_t len, const char *what, unsigned depth,
    struct profile_def *d, struct err *e)
{
	json_t *j;
	int r;

	if ((r = json_parse(text, len, PROFILE_MAX_BYTES, &j, e)) < 0) {
		(void)err_prefix(e, "%s", what);
		return ERR_SYNTAX;
	}
	r = apply(d, j, what, depth, e);
	json_decref(j);
	return r;
}

static int
not_found(const char *name, struct err *e)
{
	struct buf b;
	int r;

	buf_init(&b, 256);
	for (const struct profile_supplied *s = profile_supplied;
	     s->name != NULL; s++)
		(void)buf_printf(
		    &b, "%s%s", s == profile_supplied ? "" : ", ", s->name);
	r = err_set(e, ERR_NOTFOUND,
	    "there is no profile '%.80s': supplied are %s; your own would be "
	    "profiles/%.80s.json beside settings.json",
	    name, buf_str(&b), name);
	buf_clear(&b);
	return r;
}

/* A person's own lies on "default" unless it says otherwise: with nothing shown
 * not even a shell would be there. */
static int
parse_own(const char *text, size_t len, const char *path, unsigned depth,
    struct profile_def *d, struct err *e)
{
	json_t *j;
	int r;

	if ((r = json_parse(text, len, PROFILE_MAX_BYTES, &j, e)) < 0) {
		(void)err_prefix(e, "%s", path);
		return ERR_SYNTAX;
	}
	if (json_is_object(j) && json_object_get(j, "extends") == NULL)
		(void)json_object_set_new(j, "extends", json_string("default"));
	r = apply(d, j, path, depth, e);
	json_decref(j);
	return r;
}

static int
load_file(const char *path, const char *name, unsigned depth,
    struct profile_def *d, struct err *e)
{
	struct buf b;
	int r;

	buf_init(&b, PROFILE_MAX_BYTES);
	r = file_read(path, false, &b, e);
	if (r == -ENOENT && name != NULL)
		r = not_found(name, e);
	else if (r == -ENOENT)
		r = err_set(e, ERR_NOTFOUND, "there is no profile %s", path);
	else if (r < 0)
		(void)err_prefix(e, "profile %s", path);
	else
		r = parse_own(buf_str(&b), b.len, path, depth, d, e);
	buf_clear(&b);
	return r;
}

static int
load(const char *name, unsigned depth, struct profile_def *d, struct err *e)
{
	char *dir = NULL, *path, *what;
	int r = 1;

	for (const struct profile_supplied *s = profile_supplied;
	     r > 0 && s->name != NULL; s++) {
		if (strcmp(name, s->name) != 0)
			continue;
		what = xasprintf("profile %s", name);
		r = parse(s->text, strlen(s->text), what, depth, d, e);
		free(what);
	}
	if (r > 0 && strchr(name, '/') != NULL) {
		r = load_file(name, NULL, depth, d, e);
	} else if (r > 0) {
		if ((r = path_config_dir(&dir, e)) < 0)
			return r;
		path = path_joinf(dir, "profiles/%s.json", name);
		r = load_file(path, name, depth, d, e);
		free(path);
		free(dir);
	}
	if (r == 0) {
		free(d->name);
		d->name = xstrdup(name);
	}
	return r;
}

int
profile_def_load(const char *name, struct profile_def *ret, struct err *e)
{
	struct profile_def d = { 0 };
	int r = load(name, 0, &d, e);

	if (r < 0)
		profile_def_clear(&d);
	else
		*ret = d;
	return r;
}

json_t *
profile_def_json(const struct profile_def *d)
{
	struct profile_def copy = *d;
	json_t *env = json_object(), *lj = json_object();
	const char *eq;
	char *name;

	for (size_t i = 0; i < d->env.n; i++) {
		eq = strchr(d->env.v[i], '=');
		name = xstrndup(d->env.v[i], (size_t)(eq - d->env.v[i]));
		(void)json_object_set_new(env, name, json_string(eq + 1));
		free(name);
	}
	for (size_t i = 0; i < nitems(limit_keys); i++)
		(void)json_object_set_new(lj, limit_keys[i].name,
		    *limit_at(&copy, i) == LIMIT_UNLIMITED
			? json_string(UNLIMITED)
			: json_integer((json_int_t)*limit_at(&copy, i)));
	(void)json_object_set_new(
	    lj, "cpus", json_real((double)d->limits.cpu_milli / 1000));
	return json_pack(
	    "{s:n, s:s, s:o, s:o, s:o, s:b, s:b, s:b, s:o, s:o, s:I, s:I, s:o}",
	    "extends", "about", d->about != NULL ? d->about : "", "show",
	    json_from_strv(&d->show), "write", json_from_strv(&d->write),
	    "hide", json_from_strv(&d->hide), "toolchains", d->toolchains,
	    "cache", d->cache, "ptrace", d->ptrace, "pass_env",
	    json_from_strv(&d->pass_env), "env", env, "tmp",
	    (json_int_t)d->tmp_bytes, "shm", (json_int_t)d->shm_bytes, "limits",
	    lj);
}
