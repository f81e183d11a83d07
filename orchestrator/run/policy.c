#include "common/compat.h"

#include <errno.h>
#include <sys/stat.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/run/policy.h"
#include "orchestrator/run/settings.h"

/* *ret: NULL when there is no such file. */
static int
read_object(const char *path, bool nofollow, json_t **ret, struct err *e)
{
	struct buf b;
	int r;

	buf_init(&b, SETTINGS_MAX);
	*ret = NULL;
	r = file_read(path, nofollow, &b, e);
	if (r == 0 &&
	    ((r = json_parse(buf_str(&b), b.len, SETTINGS_MAX, ret, e)) < 0 ||
		!json_is_object(*ret))) {
		if (r == 0)
			(void)err_set(e, ERR_SYNTAX, "not a JSON object");
		(void)err_prefix(e, "%s", path);
		json_decref(*ret);
		*ret = NULL;
		r = ERR_SYNTAX;
	}
	buf_clear(&b);
	return r;
}

static int
add_user(struct rules *r, struct err *e)
{
	json_t *settings = NULL, *p;
	char *dir = NULL, *path;
	int rc;

	if ((rc = settings_load(&settings, e)) < 0 ||
	    (rc = path_config_dir(&dir, e)) < 0) {
		json_decref(settings);
		return rc;
	}
	path = path_join(dir, "settings.json");
	p = json_object_get(settings, "permissions");
	if (p != NULL)
		rc = rules_add(r, LAYER_USER, path, p, e);
	free(path);
	free(dir);
	json_decref(settings);
	return rc;
}

static int
add_repo(struct rules *r, const char *root, struct err *e)
{
	char *path = path_join(root, POLICY_REPO_FILE), shown[80];
	const char *key;
	json_t *j = NULL, *v;
	int rc = read_object(path, true, &j, e);

	if (rc == -ENOENT || rc == -ENOTDIR)
		rc = 0;
	else if (rc < 0 && strstr(e->text, path) == NULL)
		(void)err_prefix(e, "%s", path);
	if (rc < 0 || j == NULL)
		goto out;
	json_object_foreach (j, key, v) {
		if (strcmp(key, "permissions") == 0)
			continue;
		text_escape_to(shown, sizeof shown, key, strlen(key));
		if (r->ignored.n < RULES_MAX)
			strv_addf(
			    &r->ignored, "%s: \"%s\"", POLICY_REPO_FILE, shown);
	}
	v = json_object_get(j, "permissions");
	if (v != NULL)
		rc = rules_add(r, LAYER_REPO, POLICY_REPO_FILE, v, e);
out:
	/* Whatever is wrong with it: the same end. */
	if (rc < 0)
		rc = e->code = ERR_SYNTAX;
	json_decref(j);
	free(path);
	return rc;
}

/* What other tools would take hooks, servers and permissions from. */
static void
note_others(struct rules *r, const char *root)
{
	static const char *const files[] = { ".mcp.json",
		".claude/settings.json", ".claude/settings.local.json",
		".codex/config.toml", ".cursor/mcp.json", ".cursor/hooks.json",
		".gemini/settings.json", ".vscode/mcp.json", "opencode.json" };
	struct stat st;
	char *path;

	for (size_t i = 0; i < nitems(files); i++) {
		path = path_join(root, files[i]);
		if (lstat(path, &st) == 0)
			strv_addf(&r->ignored,
			    "%s: another tool's settings, not read", files[i]);
		free(path);
	}
}

int
policy_load(const char *root, struct rules **ret, struct err *e)
{
	struct rules *r = rules_create();
	int rc;

	if ((rc = add_user(r, e)) < 0 || (rc = add_repo(r, root, e)) < 0) {
		rules_free(r);
		return rc;
	}
	note_others(r, root);
	*ret = r;
	return 0;
}

int
policy_file(const char *path, struct rules **ret, struct err *e)
{
	struct rules *r = rules_create();
	json_t *j = NULL, *p;
	int rc = read_object(path, false, &j, e);

	if (rc == 0 && (p = json_object_get(j, "permissions")) == NULL)
		rc = err_set(e, ERR_SYNTAX,
		    "%s: there is no \"permissions\": want "
		    "{\"permissions\": {\"deny\": "
		    "[...]}}",
		    path);
	else if (rc == 0)
		rc = rules_add(r, LAYER_CMDLINE, path, p, e);
	else if (rc != ERR_SYNTAX)
		rc = e->code = ERR_USAGE;
	json_decref(j);
	if (rc < 0)
		rules_free(r);
	else
		*ret = r;
	return rc;
}
