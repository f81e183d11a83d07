#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "sandbox/userns.h"

static int
put(const char *path, const char *text, struct err *e)
{
	int fd, r;

	fd = open(path, O_WRONLY | O_CLOEXEC);
	r = fd < 0 ? -errno : fd_write_all(fd, text, strlen(text));
	fd_close(&fd);
	if (r < 0)
		return err_set(e, ERR_SANDBOX, "user namespace: write %s: %s",
		    path, strerror(-r));
	return 0;
}

int
userns_map_self(uid_t uid, gid_t gid, struct err *e)
{
	char line[64];
	int r;

	/* Some kernels lack it, and then gid_map needs it not. */
	if (access("/proc/self/setgroups", F_OK) == 0 &&
	    (r = put("/proc/self/setgroups", "deny", e)) < 0)
		return r;
	(void)snprintf(line, sizeof line, "%u %u 1\n", uid, uid);
	if ((r = put("/proc/self/uid_map", line, e)) < 0)
		return r;
	(void)snprintf(line, sizeof line, "%u %u 1\n", gid, gid);
	return put("/proc/self/gid_map", line, e);
}

int
userns_unshare(int more, struct err *e)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();

	/* A process that changed its uid can't write its own maps until this
	 * is set again. */
	(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	if (unshare(CLONE_NEWUSER | more) < 0)
		return err_set(e, ERR_SANDBOX,
		    "a user namespace can't be made: %s", strerror(errno));
	return userns_map_self(uid, gid, e);
}
