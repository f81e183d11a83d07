/* wall.c - see wall.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/path.h"
#include "orchestrator/run/wall.h"
#include "sandbox/container.h"
#include "sandbox/landlock.h"
#include "sandbox/probe.h"

/* What an auditor has to know of the run: what stood between it and the
 * machine. */
static int
record(struct run *r, struct err *e)
{
	json_t *j = json_pack("{s:i, s:s}", "landlock_abi", landlock_abi(),
	    "warning", container_warning());
	char *text = json_text(j);
	int rc;

	rc = audit_write(r->audit, run_now(r), "", "sandbox",
	    backend_str(r->o.backend), text, "allow", e);
	free(text);
	json_decref(j);
	return rc;
}

int
wall_check(struct run *r, struct err *e)
{
	/* Nothing runs on this machine. */
	if (r->o.listen != NULL && r->o.local_set && r->o.local == 0)
		return 0;
	if (r->o.backend == BACKEND_BWRAP)
		return probe_sandbox(e);
	log_warn("%s", container_warning());
	if (container_probe(e) < 0)
		return err_prefix(e, "--sandbox container does not work here");
	return record(r, e);
}

int
wall_cache(const struct run *r, char **ret, struct err *e)
{
	return r->o.backend == BACKEND_CONTAINER ? container_cache(ret, e)
						 : path_cache_dir(ret, e);
}
