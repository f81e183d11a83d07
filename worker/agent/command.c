/* command.c - see command.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/path.h"
#include "worker/agent/command.h"

/* Each costs a start about 0.3 ms, and they add up: at 128 a candidate takes
 * twice its time. Its copy is thrown away, so a few are enough there. */
#define GUARD_MOUNTS_MAX 128
#define GUARD_CANDIDATE_MAX 16

void
command_spec(const struct agent *a, const struct sandbox_spec *base,
    const char *command, struct sandbox_spec *ret)
{
	spec_copy(ret, base);
	spec_set_cwd(ret, a->cfg.workdir);
	strv_clear(&ret->argv);
	strv_addl(&ret->argv, "/bin/sh", "-c", command, (char *)NULL);
}

void
command_guard(struct agent *a)
{
	size_t i;
	char *path, *src;

	for (i = 0; i < a->fs.guarded.n && i < GUARD_MOUNTS_MAX; i++) {
		path = path_join(a->cfg.root, a->fs.guarded.v[i]);
		spec_mount_try(&a->cfg.inner, MOUNT_RO, path, path);
		if (i < GUARD_CANDIDATE_MAX) {
			src = path_join("@merged", a->fs.guarded.v[i]);
			spec_mount_try(&a->cfg.candidate, MOUNT_RO, src, path);
			free(src);
		}
		free(path);
	}
}
