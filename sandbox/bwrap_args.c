#include "common/compat.h"

#include <inttypes.h>

#include "sandbox/bwrap_args.h"

static void
bind(const struct sandbox_mount *m, const char *option, struct strv *ret)
{
	strv_addf(ret, "%s%s", option, m->optional ? "-try" : "");
	strv_addl(ret, m->src, m->dst, (char *)NULL);
}

static void
mount_args(const struct sandbox_mount *m, struct strv *ret)
{
	switch (m->kind) {
	case MOUNT_RO:
		bind(m, "--ro-bind", ret);
		break;
	case MOUNT_RW:
		bind(m, "--bind", ret);
		break;
	case MOUNT_TMPFS:
		if (m->size > 0) {
			strv_add(ret, "--size");
			strv_addf(ret, "%" PRIu64, m->size);
		}
		strv_addl(ret, "--tmpfs", m->dst, (char *)NULL);
		break;
	case MOUNT_DIR:
		strv_addl(ret, "--dir", m->dst, (char *)NULL);
		break;
	case MOUNT_SYMLINK:
		strv_addl(ret, "--symlink", m->src, m->dst, (char *)NULL);
		break;
	case MOUNT_PROC:
		strv_addl(ret, "--proc", m->dst, (char *)NULL);
		break;
	case MOUNT_DEV:
		strv_addl(ret, "--dev", m->dst, (char *)NULL);
		break;
	case MOUNT_REMOUNT_RO:
		strv_addl(ret, "--remount-ro", m->dst, (char *)NULL);
		break;
	case MOUNT_DATA:
		strv_addl(ret, "--ro-bind-data", m->src, m->dst, (char *)NULL);
		break;
	}
}

static void
fd_arg(const char *option, int fd, struct strv *ret)
{
	if (fd < 0)
		return;
	strv_add(ret, option);
	strv_addf(ret, "%d", fd);
}

void
bwrap_args(const struct sandbox_spec *s, int seccomp_fd, int status_fd,
    struct strv *ret)
{
	strv_addl(ret, "--unshare-all", "--die-with-parent", (char *)NULL);
	/* The outer layer has to leave user namespaces to the inner one. */
	if (s->layer == LAYER_INNER)
		strv_addl(ret, "--unshare-user", "--disable-userns",
		    "--cap-drop", "ALL", (char *)NULL);
	if (!s->keep_tty)
		strv_add(ret, "--new-session");
	/* One that every machine's /etc/hosts has: programs look their own
	 * name up. */
	strv_addl(ret, "--hostname",
	    s->hostname != NULL ? s->hostname : "localhost", (char *)NULL);
	for (size_t i = 0; i < s->n_mounts; i++)
		mount_args(&s->mounts[i], ret);
	strv_addl(ret, "--chdir", s->cwd != NULL ? s->cwd : "/", (char *)NULL);
	fd_arg("--seccomp", seccomp_fd, ret);
	fd_arg("--json-status-fd", status_fd, ret);
}
