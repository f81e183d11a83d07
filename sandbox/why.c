/* why.c - see why.h. */
#include "common/compat.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "sandbox/stage.h"
#include "sandbox/why.h"

#define SYSCTL(name, value) \
	"echo " name "=" value " | " \
	"sudo tee /etc/sysctl.d/60-foray.conf && sudo sysctl " \
	"--system"

#define PROC_CAUSE \
	"a new /proc can't be mounted: the container around us masks parts " \
	"of its own (a nested container)"
#define USERNS_CAUSE \
	"user namespaces are refused by the system: a sysctl, AppArmor, or " \
	"a container's seccomp profile"
#define REMEDY_USERNS \
	"on Ubuntu deploy/apparmor/foray; on Debian " SYSCTL( \
	    "kernel.unprivileged_userns_clone", \
	    "1") "; in a container " REMEDY_CONTAINER

/* Stands for why_apparmor_remedy() in the tables. */
static const char apparmor[] = "deploy/apparmor/foray";

long
why_sysctl(const char *path)
{
	struct buf b;
	long n = -1;

	buf_init(&b, 256);
	if (file_read(path, false, &b, NULL) == 0 && b.len > 0)
		n = strtol(buf_str(&b), NULL, 10);
	buf_clear(&b);
	return n;
}

bool
why_in_container(void)
{
	return access("/.dockerenv", F_OK) == 0 ||
	    access("/run/.containerenv", F_OK) == 0 ||
	    getenv("container") != NULL ||
	    getenv("KUBERNETES_SERVICE_HOST") != NULL;
}

/* user_namespaces(7): each line is first inside, first outside, how many. */
static bool
is_mapped(unsigned long id)
{
	unsigned long first, outside, n;
	bool found = false;
	FILE *f = fopen("/proc/self/uid_map", "re");

	if (f == NULL)
		return true; /* no user namespaces: all are there */
	while (!found && fscanf(f, "%lu %lu %lu", &first, &outside, &n) == 3)
		found = id >= first && id - first < n;
	(void)fclose(f); /* was only read */
	return found;
}

int
why_uids(struct err *e)
{
	if (geteuid() != 0 || is_mapped(SANDBOX_UID))
		return 0;
	return err_set(e, ERR_SANDBOX,
	    "this root can become no other user (uid %u is not mapped: "
	    "unshare -r, or a container with few uids). Remedy: run foray as "
	    "an ordinary user, or give the container 65536 uids (podman: "
	    "sudo usermod --add-subuids 100000-165535 --add-subgids "
	    "100000-165535 USER && podman system migrate)",
	    SANDBOX_UID);
}

/* Can root make a mount namespace here? */
static bool
can_unshare(int flags)
{
	int status = 1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(unshare(flags) == 0 ? 0 : 1);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return pid > 0 && status == 0;
}

/* In the source tree our programs stand in build/. */
static char *
find_profile(void)
{
	char *self = NULL, *dir = NULL, *path = NULL;

	if (path_program("foray-host", &self, NULL) == 0) {
		dir = path_dir(self);
		path = path_joinf(dir, "../%s", apparmor);
	}
	free(self);
	free(dir);
	if (path != NULL && access(path, R_OK) == 0) {
		dir = path_normal(path);
		free(path);
		return dir;
	}
	free(path);
	path = path_join(DATADIR, apparmor);
	if (access(path, R_OK) == 0)
		return path;
	free(path);
	return xstrdup(apparmor);
}

const char *
why_apparmor_remedy(void)
{
	static char text[600];
	char *profile = find_profile();

	(void)snprintf(text, sizeof text,
	    "sudo cp %.200s /etc/apparmor.d/foray && "
	    "sudo apparmor_parser -r /etc/apparmor.d/foray; or, for all "
	    "programs: " SYSCTL(
		"kernel.apparmor_restrict_unprivileged_userns", "0"),
	    profile);
	free(profile);
	return text;
}

static struct why
spelled(struct why w)
{
	if (w.remedy == apparmor)
		w.remedy = why_apparmor_remedy();
	return w;
}

/* What bwrap says, most telling first; all pieces must be in it. */
static const struct {
	const char *pieces[2];
	struct why why;
} words_table[] = {
	{ { "mount proc", NULL },
	    { PROC_CAUSE,
		REMEDY_CONTAINER "; or run foray outside of the container" } },
	{ { "setting up uid map", NULL },
	    { "user namespaces are refused by the system: one can be made "
	      "but not used (AppArmor on Ubuntu 23.10 and later)",
		apparmor } },
	{ { "RTM_NEWADDR", NULL },
	    { "user namespaces are made powerless here (AppArmor on "
	      "Ubuntu 23.10 and later)",
		apparmor } },
	{ { "max_*_namespaces", NULL },
	    { "user namespaces: their number is used up or set to 0",
		SYSCTL("user.max_user_namespaces", "15000") } },
	{ { "namespace", "not support" },
	    { "this kernel has no user namespaces",
		"a kernel with CONFIG_USER_NS" } },
	{ { "creating new namespace", NULL }, { USERNS_CAUSE, REMEDY_USERNS } },
	{ { "No permissions to create", NULL },
	    { USERNS_CAUSE, REMEDY_USERNS } },
	{ { "Unexpected capabilities", NULL },
	    { "this user has capabilities without being root, which bwrap "
	      "refuses",
		"start foray without them: setpriv --ambient-caps=-all "
		"--inh-caps=-all foray ..." } },
	{ { "make / slave", NULL },
	    { "mounts are refused (AppArmor's profile of a container)",
		REMEDY_CONTAINER } },
	{ { "pivot_root", NULL },
	    { "the root of this machine is an initramfs, which bwrap can't "
	      "leave",
		"a root file system that was switched to" } },
	{ { "unknown option", NULL },
	    { "this bubblewrap is too old",
		"bubblewrap 0.8 or later: sudo apt-get install bubblewrap" } },
	{ { "PR_SET_SECCOMP", NULL },
	    { "no system call filter can be loaded",
		"a kernel with CONFIG_SECCOMP_FILTER" } },
};

static const struct {
	const char *path;
	long value;
	struct why why;
} sysctls[] = {
	{ "/proc/sys/kernel/unprivileged_userns_clone", 0,
	    { "user namespaces are switched off for ordinary users (Debian)",
		SYSCTL("kernel.unprivileged_userns_clone", "1") } },
	{ "/proc/sys/user/max_user_namespaces", 0,
	    { "user namespaces are switched off: user.max_user_namespaces "
	      "is 0",
		SYSCTL("user.max_user_namespaces", "15000") } },
	{ "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1,
	    { "AppArmor restricts user namespaces (Ubuntu)", apparmor } },
};

/* Neither a mount namespace of root's nor a user namespace can be had there:
 * user_namespaces(7), and MS_PRIVATE wants a mount point. */
static bool
is_bare_chroot(void)
{
	struct statx st;

	return statx(AT_FDCWD, "/", 0, 0, &st) == 0 &&
	    (st.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0 &&
	    (st.stx_attributes & STATX_ATTR_MOUNT_ROOT) == 0;
}

static const struct why bare_chroot = {
	"this is a chroot, and its root is no mount point",
	"outside of it, as root: mount --bind DIR DIR, then chroot DIR again; "
	"an ordinary user can't run foray in a chroot: systemd-nspawn -D DIR, "
	"or podman run --rootfs DIR"
};

struct why
why_machine(void)
{
	static const struct why no_admin = {
		"this root has no CAP_SYS_ADMIN (a container)",
		"run foray as an ordinary user, or add --cap-add SYS_ADMIN to: " REMEDY_CONTAINER
	};
	static const struct why contained = {
		"the container's seccomp or AppArmor profile forbids "
		"namespaces or a new /proc",
		REMEDY_CONTAINER
	};
	static const struct why nothing = { NULL, NULL };

	if (is_bare_chroot())
		return bare_chroot;
	for (size_t i = 0; i < nitems(sysctls); i++) {
		if (why_sysctl(sysctls[i].path) == sysctls[i].value)
			return spelled(sysctls[i].why);
	}
	if (geteuid() == 0 && !can_unshare(CLONE_NEWNS))
		return no_admin;
	return why_in_container() ? contained : nothing;
}

struct why
why_bwrap(const char *words)
{
	static const struct why unknown = {
		"this kernel or its security module refuses it",
		"`foray doctor` shows what else is missing"
	};
	struct why w;

	if (is_bare_chroot())
		return bare_chroot;
	/* What is known to be switched off, before what it may be. */
	for (size_t i = 0; i < nitems(words_table); i++) {
		const char *const *p = words_table[i].pieces;

		if (strcasestr(words, p[0]) == NULL ||
		    (p[1] != NULL && strcasestr(words, p[1]) == NULL))
			continue;
		w = why_machine();
		return w.cause != NULL &&
			strcmp(words_table[i].why.cause, USERNS_CAUSE) == 0
		    ? w
		    : spelled(words_table[i].why);
	}
	w = why_machine();
	return w.cause != NULL ? w : unknown;
}
