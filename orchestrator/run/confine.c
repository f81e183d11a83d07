#include "common/compat.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/path.h"
#include "orchestrator/run/confine.h"
#include "orchestrator/run/settings.h"

static int
read_profile(const struct store *s, struct profile_def *ret, struct err *e)
{
	char *path = path_join(store_dir(s), RUN_PROFILE);
	int rc = ERR_NOTFOUND;

	if (access(path, F_OK) == 0)
		rc = profile_def_load(path, ret, e);
	free(path);
	return rc;
}

int
confine_find(struct run *r, struct err *e)
{
	json_t *settings = NULL, *j;
	const char *value;
	char *path, *text;
	int rc;

	rc = read_profile(r->store, &r->profile, e);
	if (rc != ERR_NOTFOUND)
		return rc;
	if (r->old != NULL)
		rc = read_profile(r->old, &r->profile, e);
	if (rc == ERR_NOTFOUND && (rc = settings_load(&settings, e)) == 0)
		rc = settings_profile(settings, r->o.profile, &r->profile, e);
	json_decref(settings);
	if (rc < 0)
		return rc;
	/* A host has not our environment. */
	for (size_t i = 0; i < r->profile.pass_env.n; i++) {
		value = getenv(r->profile.pass_env.v[i]);
		if (value != NULL && *value != '\0')
			strv_setenv(
			    &r->profile.env, r->profile.pass_env.v[i], value);
	}
	path = path_join(store_dir(r->store), RUN_PROFILE);
	j = profile_def_json(&r->profile);
	text = json_text(j);
	json_decref(j);
	rc = file_write(path, text, strlen(text), 0600, e);
	free(text);
	free(path);
	return rc;
}
