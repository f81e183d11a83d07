/* config.c - see config.h. */
#include "common/compat.h"

#include "common/fdio.h"
#include "common/json.h"
#include "common/log.h"
#include "common/path.h"
#include "proto/msg.h"
#include "sandbox/profile.h"
#include "worker/agent/config.h"

#define MAX_PARALLEL 256

static int
get_path(const json_t *j, const char *key, const char *def, char **ret,
    struct err *e)
{
	const char *s;
	int r;

	if ((r = json_get_str(j, key, def == NULL, &s, e)) < 0)
		return r;
	if (s == NULL || *s == '\0')
		s = def;
	if (s == NULL || *s != '/')
		return err_set(
		    e, ERR_SYNTAX, "%s must be an absolute path", key);
	*ret = path_normal(s);
	return 0;
}

static int
get_text(const json_t *j, const char *key, char **ret, struct err *e)
{
	const char *s;
	int r;

	if ((r = json_get_str(j, key, true, &s, e)) == 0)
		*ret = xstrdup(s);
	return r;
}

int
config_parse(const char *s, size_t len, struct config *ret, struct err *e)
{
	const char *layout = NULL;
	uint64_t protocol = 0;
	json_t *j = NULL;
	int r;

	*ret = (struct config){ 0 };
	spec_init(&ret->inner, LAYER_INNER);
	spec_init(&ret->candidate, LAYER_INNER);
	if ((r = json_parse(s, len, CONFIG_MAX, &j, e)) < 0)
		goto out;
	if ((r = json_get_u64(j, "protocol", 0, 65535, &protocol, e)) < 0)
		goto out;
	if (protocol != PROTO_VERSION) {
		r = err_set(e, ERR_PROTO,
		    "the host speaks protocol %llu, this worker %d",
		    (unsigned long long)protocol, PROTO_VERSION);
		goto out;
	}
	if ((r = get_text(j, "token", &ret->token, e)) < 0 ||
	    (r = get_text(j, "socket", &ret->socket, e)) < 0 ||
	    (r = get_text(j, "worker", &ret->worker, e)) < 0 ||
	    (r = json_get_bool(j, "spare", false, &ret->spare, e)) < 0 ||
	    (r = get_path(j, "root", NULL, &ret->root, e)) < 0 ||
	    (r = get_path(j, "workdir", ret->root, &ret->workdir, e)) < 0 ||
	    (r = get_path(j, "base", IN_BASE, &ret->base, e)) < 0 ||
	    (r = get_path(j, "up", IN_UP, &ret->up, e)) < 0 ||
	    (r = get_path(j, "tmp", "/tmp", &ret->tmp, e)) < 0 ||
	    (r = json_get_str(j, "layout", true, &layout, e)) < 0 ||
	    (r = json_get_u64(
		 j, "parallel", 1, MAX_PARALLEL, &ret->parallel, e)) < 0)
		goto out;
	if (ret->parallel == 0)
		ret->parallel = 1;
	if (strcmp(layout, "copy") == 0) {
		free(ret->up);
		ret->up = NULL;
	}
	spec_clear(&ret->inner);
	spec_clear(&ret->candidate);
	if ((r = spec_from_json(json_object_get(j, "inner"), &ret->inner, e)) <
		0 ||
	    (r = spec_from_json(
		 json_object_get(j, "candidate"), &ret->candidate, e)) < 0)
		goto out;
out:
	json_decref(j);
	if (r < 0)
		config_clear(ret);
	return r;
}

int
config_read(const char *link_dir, struct config *ret, struct err *e)
{
	struct buf b;
	char *path;
	int r;

	buf_init(&b, CONFIG_MAX);
	path = path_join(link_dir, "worker.json");
	r = file_read(path, true, &b, e);
	if (r >= 0)
		r = config_parse(buf_str(&b), b.len, ret, e);
	if (r < 0)
		err_prefix(e, "%s", path);
	free(path);
	buf_clear(&b);
	return r < 0 ? r : 0;
}

void
config_clear(struct config *c)
{
	free(c->token);
	free(c->socket);
	free(c->worker);
	free(c->root);
	free(c->workdir);
	free(c->base);
	free(c->up);
	free(c->tmp);
	spec_clear(&c->inner);
	spec_clear(&c->candidate);
	*c = (struct config){ 0 };
}
