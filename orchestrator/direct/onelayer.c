/* onelayer.c - see onelayer.h. */
#include "common/compat.h"

#include <stdlib.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "orchestrator/direct/onelayer.h"
#include "sandbox/container.h"

int
onelayer_make(struct onelayer *o, const char *base, struct err *e)
{
	char *cache = NULL, *parent = NULL, *dir = NULL;
	int r;

	if ((r = container_cache(&cache, e)) < 0)
		return r;
	parent = path_join(cache, "scratch");
	workspace_sweep(parent);
	if ((r = path_mkdirs(parent, 0711, e)) < 0 ||
	    (r = workspace_scratch(parent, &o->scratch, &o->lock, e)) < 0)
		goto out;
	o->tmp = path_join(o->scratch, "t");
	dir = path_join(o->scratch, "w");
	r = container_make_tmp(o->tmp, e);
	if (r == 0 && base != NULL)
		r = workspace_create(dir, base, LAYOUT_COPY, &o->ws, e);
out:
	free(cache);
	free(parent);
	free(dir);
	return r;
}

void
onelayer_spec(
    const struct onelayer *o, const char *root, struct sandbox_spec *s)
{
	/* A copy is thrown away: what is protected in it needs no guard. */
	container_spec(s, o->tmp,
	    o->ws.tree_src != NULL ? CONTAINER_DROP_GUARDS
				   : CONTAINER_KEEP_GUARDS);
	if (o->ws.tree_src != NULL)
		container_move(s, root, o->ws.tree_src);
}

void
onelayer_clear(struct onelayer *o)
{
	workspace_remove(&o->ws);
	if (o->scratch != NULL)
		(void)path_rmtree(o->scratch, NULL);
	fd_close(&o->lock);
	free(o->scratch);
	free(o->tmp);
	*o = (struct onelayer){ .lock = -1 };
}
