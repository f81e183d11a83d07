/* probe_system.c - the probes of what kernel and system forbid. */
#include "common/compat.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/path.h"
#include "sandbox/container.h"
#include "sandbox/landlock.h"
#include "sandbox/nest.h"
#include "sandbox/probe.h"
#include "sandbox/probe_text.h"
#include "sandbox/why.h"

#define LOW_MIB 1024 /* of disk space */

#define NO_SANDBOX "no sandbox, so no run"
#define NOT_TRIED 0x7f
#define APPARMOR_SYSCTL "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"

/* A user namespace, as the uid that would make it. */
static int
try_userns(void)
{
	int status = 1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER) == 0 ? 0 : errno & 0x7f);
	if (pid < 0)
		return -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void
probe_userns(struct probe_item *it)
{
	long max = why_sysctl("/proc/sys/user/max_user_namespaces");
	struct why w;
	int r = try_userns();

	if (r == 0) {
		detail(it, "can be made (%ld at most)", max);
		return;
	}
	it->state = PROBE_MISSING;
	detail(it, "refused: %s", r > 0 ? strerror(r) : "no answer");
	cost(it, NO_SANDBOX);
	w = why_machine();
	if (w.cause == NULL)
		w = why_bwrap("creating new namespace");
	remedy(it, "%s: %s", w.cause, w.remedy);
}

void
probe_apparmor(struct probe_item *it)
{
	long restricts = why_sysctl(APPARMOR_SYSCTL);

	if (restricts < 0) {
		detail(it, "it does not restrict user namespaces here");
		return;
	}
	if (restricts == 0) {
		detail(it, "apparmor_restrict_unprivileged_userns is 0");
		return;
	}
	/* Root and programs with a profile are exempt: "nested sandbox" says
	 * whether it hits us. */
	it->state = access("/etc/apparmor.d/foray", F_OK) == 0 ? PROBE_OK
							       : PROBE_DEGRADED;
	detail(it, "it restricts user namespaces (Ubuntu)%s",
	    it->state == PROBE_OK ? "; /etc/apparmor.d/foray is there" : "");
	if (it->state == PROBE_OK)
		return;
	cost(it, "ordinary users can't run foray: \"nested sandbox\"");
	remedy(it, "%s", why_apparmor_remedy());
}

/* As the uid that would do it. Where no namespace can be had that is said
 * elsewhere. */
static int
mount_proc(void *unused)
{
	int status = 1;
	pid_t pid;

	(void)unused;
	if (container_drop(NULL) < 0 ||
	    unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) < 0)
		return NOT_TRIED;
	if ((pid = fork()) == 0)
		_exit(mount("proc", "/proc", "proc",
			  MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0
			? 0
			: errno & 0x7f);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return NOT_TRIED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : NOT_TRIED;
}

/* In a nest, as all sandboxes are made: root has a whole /proc there, whatever
 * covers parts of the one around us. */
static int
try_proc(void)
{
	int r = nest_plain(mount_proc, NULL, NULL);

	return r < 0 ? NOT_TRIED : r;
}

/* Mounts over parts of /proc: a new one would show what they hide, so the
 * kernel refuses it. */
static size_t
masked_parts(void)
{
	char line[4096];
	size_t n = 0;
	FILE *f = fopen("/proc/self/mountinfo", "re");

	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		n += strstr(line, " /proc/") != NULL;
	if (f != NULL)
		(void)fclose(f); /* was only read */
	return n;
}

void
probe_proc(struct probe_item *it)
{
	size_t masked = masked_parts();
	int r = try_proc();

	if (r == 0 || r == NOT_TRIED) {
		detail(it, "%s",
		    r == 0 ? "can be mounted"
			   : "not tried: \"user namespaces\"");
		return;
	}
	it->state = PROBE_MISSING;
	detail(it, "refused: %s (%zu parts of /proc are masked: a container)",
	    strerror(r), masked);
	cost(it, NO_SANDBOX);
	remedy(it, "%s", REMEDY_CONTAINER);
}

void
probe_landlock(struct probe_item *it)
{
	int abi = landlock_abi();

	if (abi >= LANDLOCK_ABI_SCOPES) {
		detail(
		    it, "ABI %d: files, TCP, signals, abstract sockets", abi);
		return;
	}
	it->state = PROBE_DEGRADED;
	if (abi == 0) {
		detail(it, "none");
		cost(it, "no --sandbox container; bwrap does not need it");
		remedy(it,
		    "Linux 5.13 or later (6.12 for all of it) with "
		    "CONFIG_SECURITY_LANDLOCK, and \"landlock\" in lsm= on "
		    "the kernel's command line");
		return;
	}
	detail(it, "ABI %d: %s", abi,
	    abi >= 4 ? "files and TCP, but no signals" : "files only");
	cost(it,
	    "with --sandbox container programs can end other processes of "
	    "their user; bwrap does not need it");
	remedy(it, "Linux 6.12 or later (ABI 6)");
}

void
probe_shm(struct probe_item *it)
{
	struct statvfs st;

	if (statvfs("/dev/shm", &st) == 0 && access("/dev/shm", W_OK) == 0) {
		detail(it, "%" PRIu64 " MiB",
		    (uint64_t)st.f_blocks * st.f_frsize >> 20);
		return;
	}
	it->state = PROBE_DEGRADED;
	detail(it, "not there, or not writable");
	cost(it,
	    "nothing for foray: each bwrap sandbox has its own (512 MiB at "
	    "most), --sandbox container has none");
	remedy(it,
	    "sudo mount -t tmpfs -o nosuid,nodev,mode=1777 tmpfs /dev/shm; "
	    "docker run --shm-size 512m");
}

void
probe_container(struct probe_item *it)
{
	struct err e;

	if (container_probe(&e) == 0) {
		detail(it, "--sandbox container would work here%s",
		    geteuid() == 0 ? " (as root: under an unprivileged uid)"
				   : "");
		probe_put(it->cost, sizeof it->cost,
		    "one layer less: use it only where bwrap can't be had. "
		    "No sockets, no pseudo-terminals, no /dev/shm for programs, "
		    "the tree is copied for each worker and stands at another "
		    "path");
		return;
	}
	it->state = PROBE_DEGRADED;
	detail(it, "--sandbox container would not work here");
	cost(it, "nothing where bwrap works");
	remedy(it, "%s", e.text);
}

void
probe_space(const char *dir, const char *what_helps, struct probe_item *ret)
{
	char *path = path_normal(dir), *up;
	struct statvfs st;
	uint64_t mib;

	*ret = (struct probe_item){ .name = "disk space" };
	while (access(path, F_OK) < 0 && strcmp(path, "/") != 0) {
		up = path_dir(path);
		free(path);
		path = up;
	}
	if (statvfs(path, &st) < 0) {
		ret->state = PROBE_DEGRADED;
		detail(ret, "%s: %s", path, strerror(errno));
	} else {
		mib = (uint64_t)st.f_bavail * st.f_frsize >> 20;
		detail(ret, "%" PRIu64 " MiB free at %s", mib, path);
		ret->state = mib < LOW_MIB ? PROBE_DEGRADED : PROBE_OK;
	}
	if (ret->state != PROBE_OK) {
		cost(ret, "workers end with reason \"disk\" when it is full");
		remedy(ret, "%s", what_helps);
	}
	free(path);
}
