#include "common/compat.h"

#include <sys/stat.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/num.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/run/settings.h"

/* The parts check what is theirs. */
static const char *const known[] = { "model", "providers", "permissions",
	"network", "review", "builtin_pass", "sandbox", "hooks", "monitor" };

void
settings_note(const char *text)
{
	static struct strv said; /* settings are read more than once */

	if (strv_has(&said, text))
		return;
	strv_add(&said, text);
	log_warn("%s", text);
}

/* NULL: there is no place for them. Yours. */
static char *
file(void)
{
	char *dir = NULL, *path;

	if (path_config_dir(&dir, NULL) < 0)
		return NULL;
	path = path_join(dir, "settings.json");
	free(dir);
	return path;
}

int
settings_in(struct err *e, int r)
{
	char *path = r < 0 && e != NULL ? file() : NULL;

	if (path != NULL)
		(void)err_prefix(e, "%s", path);
	free(path);
	return r;
}

/* Their values are checked where they are used. */
static int
check_network(const json_t *j, const char *path, struct err *e)
{
	static const char *const keys[] = { "fetch", "fetch_private", "allow" };
	const char *key;
	json_t *v;
	size_t i;

	if (j != NULL && !json_is_object(j))
		return err_set(
		    e, ERR_SYNTAX, "%s: \"network\" is no object", path);
	json_object_foreach ((json_t *)(uintptr_t)j, key, v) {
		for (i = 0; i < nitems(keys); i++)
			if (strcmp(key, keys[i]) == 0)
				break;
		if (i == nitems(keys))
			return err_set(e, ERR_SYNTAX,
			    "%s: unknown key \"network.%s\"", path, key);
	}
	return 0;
}

int
settings_pass(const json_t *settings, uint64_t *ret, struct err *e)
{
	const json_t *j = json_object_get(settings, "builtin_pass");

	if (j == NULL)
		return 0;
	if (json_is_false(j)) {
		*ret = 0;
		return 0;
	}
	if (json_is_string(j) &&
	    num_duration_ms(json_string_value(j), "", ret, e) == 0)
		return 0;
	return err_set(e, ERR_SYNTAX,
	    "\"builtin_pass\" is a time such as \"10s\", or false");
}

static int
check(const json_t *j, const char *path, struct err *e)
{
	const char *key;
	char *text;
	uint64_t ms;
	json_t *v;
	size_t i;
	int r;

	if (!json_is_object(j))
		return err_set(e, ERR_SYNTAX, "%s: not a JSON object", path);
	json_object_foreach ((json_t *)(uintptr_t)j, key, v) {
		for (i = 0; i < nitems(known); i++)
			if (strcmp(key, known[i]) == 0)
				break;
		if (strcmp(key, "$schema") == 0) {
			text = xasprintf(
			    "%s: the key \"%s\" means nothing here", path, key);
			settings_note(text);
			free(text);
			continue;
		}
		if (i == nitems(known))
			return err_set(
			    e, ERR_SYNTAX, "%s: unknown key \"%s\"", path, key);
	}
	v = json_object_get(j, "review");
	if (v != NULL && !json_is_boolean(v))
		return err_set(
		    e, ERR_SYNTAX, "%s: \"review\" is true or false", path);
	if ((r = settings_pass(j, &ms, e)) < 0) {
		(void)err_prefix(e, "%s", path);
		return r;
	}
	return check_network(json_object_get(j, "network"), path, e);
}

int
settings_load(json_t **ret, struct err *e)
{
	char *dir = NULL, *path;
	struct stat st;
	struct buf b;
	int r;

	if ((r = path_config_dir(&dir, e)) < 0)
		return r;
	path = path_join(dir, "settings.json");
	free(dir);
	buf_init(&b, SETTINGS_MAX);
	r = file_read(path, false, &b, e);
	if (r == -ENOENT && lstat(path, &st) == 0) {
		r = err_set(e, ERR_SYNTAX, "%s: %s", path,
		    S_ISLNK(st.st_mode) ? "a symbolic link that leads nowhere"
					: strerror(ENOENT));
		goto out;
	}
	if (r == -ENOENT) {
		*ret = json_object();
		r = 0;
		goto out;
	}
	if (r < 0 ||
	    (r = json_parse(buf_str(&b), b.len, SETTINGS_MAX, ret, e)) < 0) {
		(void)err_prefix(e, "%s", path);
		r = ERR_SYNTAX;
		goto out;
	}
	if ((r = check(*ret, path, e)) < 0) {
		json_decref(*ret);
		*ret = NULL;
	}
out:
	buf_clear(&b);
	free(path);
	return r;
}

int
settings_profile(const json_t *settings, const char *named,
    struct profile_def *ret, struct err *e)
{
	const json_t *j = json_object_get(settings, "sandbox");
	json_t *own = json_object();
	struct profile_def d = { 0 };
	const char *name = "default";
	int r = 0;

	if (j != NULL && !json_is_object(j))
		r = err_set(e, ERR_SYNTAX, "\"sandbox\" is not an object");
	if (r == 0 && j != NULL) {
		r = json_get_str(j, "profile", false, &name, e);
		if (r < 0)
			(void)err_prefix(e, "\"sandbox\"");
		if (name == NULL)
			name = "default";
		(void)json_object_update(own, (json_t *)(uintptr_t)j);
		(void)json_object_del(own, "profile");
	}
	r = settings_in(e, r);
	if (named != NULL)
		name = named;
	if (r == 0 && (r = profile_def_load(name, &d, e)) < 0 &&
	    named == NULL) {
		(void)err_prefix(e, "\"sandbox\"");
		r = settings_in(e, r);
	}
	if (r == 0)
		r = settings_in(
		    e, profile_def_apply(&d, own, "\"sandbox\"", e));
	json_decref(own);
	if (r < 0)
		profile_def_clear(&d);
	else
		*ret = d;
	return r;
}

int
settings_model(const char *name, const json_t *settings, struct endpoint **ret,
    struct err *e)
{
	int r = model_find(name, settings, ret, e);

	if (r < 0 && e != NULL &&
	    (text_starts(e->text, "providers") ||
		text_starts(e->text, "model: ") ||
		text_starts(e->text, "\"model\"")))
		r = settings_in(e, r);
	return r;
}

int
settings_notes(size_t max, char **ret, struct err *e)
{
	char *dir = NULL, *path;
	struct buf raw, clean;
	int r;

	if ((r = path_config_dir(&dir, e)) < 0)
		return r;
	path = path_join(dir, "AGENTS.md");
	free(dir);
	buf_init(&raw, SETTINGS_MAX);
	buf_init(&clean, SETTINGS_MAX * 4);
	r = file_read(path, false, &raw, e);
	if (r == -ENOENT)
		r = 0;
	else if (r < 0)
		(void)err_prefix(e, "%s", path);
	if (r == 0 && raw.len > 0)
		r = text_clean(&clean, buf_str(&raw), raw.len, 0);
	if (r == 0)
		*ret = xstrndup(
		    buf_str(&clean), text_cut(buf_str(&clean), clean.len, max));
	buf_clear(&raw);
	buf_clear(&clean);
	free(path);
	return r;
}
