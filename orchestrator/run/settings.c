#include "common/compat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/run/settings.h"

/* The parts check what is theirs. */
static const char *const known[] = { "model", "providers", "permissions",
	"network", "review", "limits" };

static int
check(const json_t *j, const char *path, struct err *e)
{
	const char *key;
	json_t *v;
	size_t i;

	if (!json_is_object(j))
		return err_set(e, ERR_SYNTAX, "%s: not a JSON object", path);
	json_object_foreach ((json_t *)(uintptr_t)j, key, v) {
		for (i = 0; i < nitems(known); i++)
			if (strcmp(key, known[i]) == 0)
				break;
		if (i == nitems(known))
			return err_set(
			    e, ERR_SYNTAX, "%s: unknown key \"%s\"", path, key);
	}
	v = json_object_get(j, "review");
	if (v != NULL && !json_is_boolean(v))
		return err_set(
		    e, ERR_SYNTAX, "%s: \"review\" is true or false", path);
	return 0;
}

int
settings_load(json_t **ret, struct err *e)
{
	char *dir = NULL, *path;
	struct buf b;
	int r;

	if ((r = path_config_dir(&dir, e)) < 0)
		return r;
	path = path_join(dir, "settings.json");
	free(dir);
	buf_init(&b, SETTINGS_MAX);
	r = file_read(path, false, &b, e);
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
