/* command.c - see command.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/path.h"
#include "worker/agent/batch.h"
#include "worker/agent/command.h"
#include "worker/agent/restore.h"

/* Each costs a start about 0.3 ms, and they add up: at 128 a candidate takes
 * twice its time. Its copy is thrown away, so a few are enough there. */
#define GUARD_MOUNTS_MAX 128
#define GUARD_CANDIDATE_MAX 16

void
command_spec(struct agent *a, const struct sandbox_spec *base,
    const char *command, struct sandbox_spec *ret)
{
	if (base == &a->cfg.inner)
		batch_rest(a);
	restore_all(a->restore);
	spec_copy(ret, base);
	spec_set_cwd(ret, a->cfg.workdir);
	strv_clear(&ret->argv);
	strv_addl(&ret->argv, "/bin/sh", "-c", command, (char *)NULL);
}

/* The n-th of them. */
static void
guard(struct agent *a, const char *rel, size_t n)
{
	char *path, *src;

	if (n >= GUARD_MOUNTS_MAX)
		return;
	path = path_join(a->cfg.root, rel);
	spec_mount_try(&a->cfg.inner, MOUNT_RO, path, path);
	if (n < GUARD_CANDIDATE_MAX) {
		src = path_join("@merged", rel);
		spec_mount_try(&a->cfg.candidate, MOUNT_RO, src, path);
		free(src);
	}
	free(path);
}

/* Without mounts: its content is looked after by restore.h; that nothing else
 * stands in its place meanwhile, by its name's being kept. */
static void
fix(struct agent *a, const char *rel)
{
	char *path = path_join(a->cfg.root, rel);

	strv_add(&a->cfg.inner.fixed, path);
	strv_add(&a->cfg.candidate.fixed, path);
	free(path);
}

void
command_guard(struct agent *a)
{
	size_t i, n = 0;

	if (a->cfg.inner.backend != BACKEND_BWRAP) {
		a->restore = restore_create(a);
		for (i = 0; i < a->fs.guarded.n; i++)
			fix(a, a->fs.guarded.v[i]);
		fix(a, ".git");
		return;
	}
	for (i = 0; i < a->reproducer.n; i++)
		guard(a, a->reproducer.v[i], n++);
	for (i = 0; i < a->fs.guarded.n && n < GUARD_MOUNTS_MAX; i++) {
		if (!strv_has(&a->reproducer, a->fs.guarded.v[i]))
			guard(a, a->fs.guarded.v[i], n++);
	}
}
