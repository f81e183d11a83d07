/*
 * What a layer refuses. Everything else is allowed: this is a fence in front of
 * seldom-used kernel code and of calls that reach out of namespaces; the wall
 * is the namespaces themselves.
 *
 * The outer column has to leave alone what the inner bwrap needs (mounts,
 * pivot_root, user namespaces, NETLINK for the loopback device): it runs under
 * the outer filter. The inner filter is loaded by bwrap as the last thing
 * before the command.
 */
#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/fdio.h"
#include "sandbox/seccomp.h"

enum columns {
	BOTH,
	INNER,
	INNER_OR_BARE, /* what makes namespaces: the outer layer needs them
			  unless there are none to be had */
	BARE,          /* both layers, when there are no namespaces */
	BARE_INNER
};

/* Names that this machine's libseccomp or architecture does not have are left
 * out: iopl on arm64, for one. */
static const struct refusal {
	const char *name;
	enum columns where;
	int error;
} refusals[] = {
	/* keys of the kernel's keyring: not namespaced */
	{ "add_key", BOTH, EPERM },
	{ "keyctl", BOTH, EPERM },
	{ "request_key", BOTH, EPERM },

	/* programs in the kernel, observation of the whole machine */
	{ "bpf", BOTH, EPERM },
	{ "perf_event_open", BOTH, EPERM },
	{ "userfaultfd", BOTH, EPERM },
	{ "fanotify_init", BOTH, EPERM },
	{ "syslog", BOTH, EPERM },
	{ "memfd_secret", BOTH, EPERM },

	/* the machine: modules, kernels, ports, swap, terminals, accounts */
	{ "kexec_load", BOTH, EPERM },
	{ "kexec_file_load", BOTH, EPERM },
	{ "init_module", BOTH, EPERM },
	{ "finit_module", BOTH, EPERM },
	{ "delete_module", BOTH, EPERM },
	{ "create_module", BOTH, EPERM },
	{ "iopl", BOTH, EPERM },
	{ "ioperm", BOTH, EPERM },
	{ "swapon", BOTH, EPERM },
	{ "swapoff", BOTH, EPERM },
	{ "reboot", BOTH, EPERM },
	{ "vhangup", BOTH, EPERM },
	{ "acct", BOTH, EPERM },
	{ "quotactl", BOTH, EPERM },
	{ "quotactl_fd", BOTH, EPERM },

	/* the clock */
	{ "clock_settime", BOTH, EPERM },
	{ "clock_settime64", BOTH, EPERM },
	{ "clock_adjtime", BOTH, EPERM },
	{ "clock_adjtime64", BOTH, EPERM },
	{ "settimeofday", BOTH, EPERM },
	{ "adjtimex", BOTH, EPERM },
	{ "stime", BOTH, EPERM },

	/* the newer mount calls (bwrap uses mount(2)), files by handle */
	{ "open_tree", BOTH, EPERM },
	{ "move_mount", BOTH, EPERM },
	{ "fsopen", BOTH, EPERM },
	{ "fsconfig", BOTH, EPERM },
	{ "fsmount", BOTH, EPERM },
	{ "fspick", BOTH, EPERM },
	{ "mount_setattr", BOTH, EPERM },
	{ "name_to_handle_at", BOTH, EPERM },
	{ "open_by_handle_at", BOTH, EPERM },

	/* other processes' memory and descriptors, placement of memory */
	{ "process_vm_readv", BOTH, EPERM },
	{ "process_vm_writev", BOTH, EPERM },
	{ "kcmp", BOTH, EPERM },
	{ "pidfd_getfd", BOTH, EPERM },
	{ "move_pages", BOTH, EPERM },
	{ "migrate_pages", BOTH, EPERM },
	{ "mbind", BOTH, EPERM },
	{ "set_mempolicy", BOTH, EPERM },
	{ "vmsplice", BOTH, EPERM },

	/* "not there", so that programs fall back: io_uring goes around
	 * filters; clone3 has its flags where no filter can see them */
	{ "io_uring_setup", BOTH, ENOSYS },
	{ "io_uring_enter", BOTH, ENOSYS },
	{ "io_uring_register", BOTH, ENOSYS },
	{ "clone3", INNER_OR_BARE, ENOSYS },
	/* the mode of a new file is where no filter can see it, too: see
	 * setid_rules() */
	{ "openat2", INNER, ENOSYS },

	/* innermost: no namespaces, no mounts, no tracing */
	{ "ptrace", INNER, EPERM },
	{ "unshare", INNER_OR_BARE, EPERM },
	{ "setns", INNER_OR_BARE, EPERM },
	{ "mount", INNER_OR_BARE, EPERM },
	{ "umount", INNER_OR_BARE, EPERM },
	{ "umount2", INNER_OR_BARE, EPERM },
	{ "pivot_root", INNER_OR_BARE, EPERM },
	{ "chroot", INNER_OR_BARE, EPERM },
	{ "sethostname", INNER, EPERM },
	{ "setdomainname", INNER, EPERM },

	/* what an ipc namespace would keep apart */
	{ "shmget", BARE, EPERM },
	{ "shmat", BARE, EPERM },
	{ "shmctl", BARE, EPERM },
	{ "semget", BARE, EPERM },
	{ "semctl", BARE, EPERM },
	{ "msgget", BARE, EPERM },
	{ "msgctl", BARE, EPERM },
	{ "mq_open", BARE, EPERM },
	{ "mq_unlink", BARE, EPERM },

	/* attributes of files that Landlock does not see; notify.h has the
	 * others */
	{ "setxattr", BARE, EOPNOTSUPP },
	{ "lsetxattr", BARE, EOPNOTSUPP },
	{ "fsetxattr", BARE, EOPNOTSUPP },
	{ "removexattr", BARE, EOPNOTSUPP },
	{ "lremovexattr", BARE, EOPNOTSUPP },
	{ "fremovexattr", BARE, EOPNOTSUPP },

	/* the way to other programs' sockets */
	{ "socket", BARE_INNER, EAFNOSUPPORT },
	{ "connect", BARE_INNER, EPERM },
};

/* Newer than libseccomp 2.5: since Linux 5.1 a number is the same everywhere.
 */
static const struct {
	int nr;
	int error;
} new_calls[] = {
	{ 467, EPERM }, /* open_tree_attr: open_tree and mount_setattr in one */
};

static const uint64_t new_namespaces[] = {
	CLONE_NEWNS,
	CLONE_NEWCGROUP,
	CLONE_NEWUTS,
	CLONE_NEWIPC,
	CLONE_NEWUSER,
	CLONE_NEWPID,
	CLONE_NEWNET,
};

/* The kernel looks at the low 32 bits only, so a comparison of all 64 could be
 * walked around (CVE-2019-10063). */
static struct scmp_arg_cmp
low32(unsigned arg, uint32_t value)
{
	return SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, UINT32_MAX, value);
}

/* A call that this architecture or libseccomp lacks needs no rule. */
static int
refuse(scmp_filter_ctx ctx, int error, const char *name, unsigned n,
    struct scmp_arg_cmp a, struct scmp_arg_cmp b)
{
	const struct scmp_arg_cmp args[] = { a, b };
	int nr = seccomp_syscall_resolve_name(name);

	if (nr < 0)
		return 0;
	return seccomp_rule_add_array(
	    ctx, SCMP_ACT_ERRNO((uint32_t)error), nr, n, args);
}

static const struct scmp_arg_cmp none;

static bool
is_wanted(enum columns where, const struct seccomp_want *w)
{
	bool inner = w->layer == LAYER_INNER;

	switch (where) {
	case BOTH:
		return true;
	case INNER:
		return inner;
	case INNER_OR_BARE:
		return inner || w->bare;
	case BARE:
		return w->bare;
	case BARE_INNER:
		return w->bare && inner;
	}
	return true;
}

static int
table_rules(scmp_filter_ctx ctx, const struct seccomp_want *w)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < nitems(refusals); i++) {
		if (w->ptrace && strcmp(refusals[i].name, "ptrace") == 0)
			continue;
		if (is_wanted(refusals[i].where, w))
			r = refuse(ctx, refusals[i].error, refusals[i].name, 0,
			    none, none);
	}
	return r;
}

/* By number: libseccomp translates none for another architecture. */
static int
numbered_rules(scmp_filter_ctx ctx, enum sandbox_layer layer)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < nitems(new_calls); i++)
		r = seccomp_rule_add(ctx,
		    SCMP_ACT_ERRNO((uint32_t)new_calls[i].error),
		    new_calls[i].nr, 0);
	if (layer != LAYER_INNER)
		return r;
	/* fchmodat2, newer than libseccomp 2.5: see setid_rules() */
	if (r == 0)
		r = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), 452, 1,
		    SCMP_CMP(2, SCMP_CMP_MASKED_EQ, S_ISUID, S_ISUID));
	if (r == 0)
		r = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), 452, 1,
		    SCMP_CMP(2, SCMP_CMP_MASKED_EQ, S_ISGID, S_ISGID));
	return r;
}

/* Typing into the terminal that we share with the person. */
static int
terminal_rules(scmp_filter_ctx ctx)
{
	int r = refuse(ctx, EPERM, "ioctl", 1, low32(1, TIOCSTI), none);

	if (r == 0)
		r = refuse(ctx, EPERM, "ioctl", 1, low32(1, TIOCLINUX), none);
	return r;
}

/* UNIX, INET, INET6 and NETLINK are left. The others reach large, little-tested
 * parts of the kernel, and VSOCK the machine around this one. */
static int
socket_rules(scmp_filter_ctx ctx, const struct seccomp_want *w)
{
	const char *const calls[] = { "socket", "socketpair" };
	bool no_inet = w->no_inet || w->bare;
	int r = 0;

	for (size_t i = 0; r == 0 && i < nitems(calls); i++) {
		if (i == 0 && w->bare && w->layer == LAYER_INNER)
			continue; /* refused as a whole */
		for (uint32_t f = 0; r == 0 && f < AF_NETLINK; f++) {
			if (f == AF_UNIX ||
			    (!no_inet && (f == AF_INET || f == AF_INET6)))
				continue;
			r = refuse(
			    ctx, EAFNOSUPPORT, calls[i], 1, low32(0, f), none);
		}
		if (r == 0)
			r = refuse(ctx, EAFNOSUPPORT, calls[i], 1,
			    SCMP_CMP(0, SCMP_CMP_GT, AF_NETLINK, 0), none);
	}
	return r;
}

/* clone(2) has its flags first on both of our architectures. */
static int
clone_rules(scmp_filter_ctx ctx)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < nitems(new_namespaces); i++)
		r = refuse(ctx, EPERM, "clone", 1,
		    SCMP_CMP(0, SCMP_CMP_MASKED_EQ, new_namespaces[i],
			new_namespaces[i]),
		    none);
	return r;
}

/* No set-uid and no set-gid file in a tree that may be the person's own, where
 * they would be somebody else's from outside. (New directories still inherit
 * set-gid.) */
static int
setid_rules(scmp_filter_ctx ctx)
{
	static const struct {
		const char *name;
		int mode_arg, flags_arg;
	} calls[] = {
		{ "chmod", 1, -1 },
		{ "fchmod", 1, -1 },
		{ "fchmodat", 2, -1 },
		{ "creat", 1, -1 },
		{ "mknod", 1, -1 },
		{ "mknodat", 2, -1 },
		{ "open", 2, 1 },
		{ "openat", 3, 2 },
	};
	/* The mode counts with these flags only; else it may be rubbish. */
	const uint64_t creating[] = { O_CREAT, O_TMPFILE & ~O_DIRECTORY };
	struct scmp_arg_cmp mode, flags;
	int r = 0;

	for (size_t n = 0; r == 0 && n < 2 * nitems(calls); n++) {
		const size_t i = n / 2;
		const mode_t bit = n % 2 == 0 ? S_ISUID : S_ISGID;

		mode = SCMP_CMP(
		    (unsigned)calls[i].mode_arg, SCMP_CMP_MASKED_EQ, bit, bit);
		if (calls[i].flags_arg < 0) {
			r = refuse(ctx, EPERM, calls[i].name, 1, mode, none);
			continue;
		}
		for (size_t k = 0; r == 0 && k < nitems(creating); k++) {
			flags = SCMP_CMP((unsigned)calls[i].flags_arg,
			    SCMP_CMP_MASKED_EQ, creating[k], creating[k]);
			r = refuse(ctx, EPERM, calls[i].name, 2, mode, flags);
		}
	}
	return r;
}

/* No device nodes. Everybody may make one kind, 0:0, which overlays take for a
 * file that was deleted; what root's tools make of it in the tree is unsaid. */
static int
device_rules(scmp_filter_ctx ctx)
{
	static const struct {
		const char *name;
		unsigned mode_arg;
	} calls[] = { { "mknod", 1 }, { "mknodat", 2 } };
	static const mode_t types[] = { S_IFCHR, S_IFBLK };
	int r = 0;

	for (size_t n = 0; r == 0 && n < nitems(calls) * nitems(types); n++)
		r = refuse(ctx, EPERM, calls[n / nitems(types)].name, 1,
		    SCMP_CMP(calls[n / nitems(types)].mode_arg,
			SCMP_CMP_MASKED_EQ, S_IFMT, types[n % nitems(types)]),
		    none);
	return r;
}

static int
build(const struct seccomp_want *w, scmp_filter_ctx ctx)
{
	int r;

	/* A program of another architecture (32 bits, x32) would be judged by
	 * the wrong numbers: it gets ENOSYS for everything. */
	r = seccomp_attr_set(
	    ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
	if (r == 0)
		r = table_rules(ctx, w);
	if (r == 0)
		r = terminal_rules(ctx);
	if (r == 0)
		r = socket_rules(ctx, w);
	if (r == 0 && (w->layer == LAYER_INNER || w->bare))
		r = clone_rules(ctx);
	/* Other processes' limits: of the same user, and not ours to set. */
	if (r == 0 && w->bare)
		r = refuse(ctx, EPERM, "prlimit64", 1,
		    SCMP_CMP(0, SCMP_CMP_NE, 0, 0), none);
	if (r == 0 && w->layer == LAYER_INNER)
		r = setid_rules(ctx);
	if (r == 0 && w->layer == LAYER_INNER)
		r = device_rules(ctx);
	return r;
}

/* libseccomp 2.5 writes programs to descriptors only. */
static int
export_program(scmp_filter_ctx ctx, struct buf *ret)
{
	int fd, r;

	if ((fd = memfd_create("seccomp", MFD_CLOEXEC)) < 0)
		return -errno;
	r = seccomp_export_bpf(ctx, fd);
	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	if (r == 0)
		r = fd_read_all(fd, ret);
	fd_close(&fd);
	return r;
}

/* Rules are added by the numbers of this machine and translated, so the other
 * architecture joins first and ours leaves last. */
static int
change_arch(scmp_filter_ctx ctx, uint32_t arch)
{
	uint32_t own = seccomp_arch_native();
	int r;

	if (arch == 0 || arch == own)
		return 0;
	if ((r = seccomp_arch_add(ctx, arch)) < 0)
		return r;
	return seccomp_arch_remove(ctx, own);
}

int
seccomp_program_for(
    const struct seccomp_want *w, uint32_t arch, struct buf *ret, struct err *e)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	int r = ctx == NULL ? -ENOMEM : 0;

	if (r == 0)
		r = change_arch(ctx, arch);
	if (r == 0)
		r = build(w, ctx);
	if (r == 0 && (arch == 0 || arch == seccomp_arch_native()))
		r = numbered_rules(ctx, w->layer);
	if (r == 0)
		r = export_program(ctx, ret);
	if (ctx != NULL)
		seccomp_release(ctx);
	if (r < 0)
		return err_set(e, ERR_SANDBOX,
		    "the system call filter can't be built: %s", strerror(-r));
	return 0;
}

int
seccomp_program(const struct seccomp_want *w, const void **ret, size_t *ret_len,
    struct err *e)
{
	static struct buf kept[2][2][2][2];
	struct buf *k = &kept[w->layer][w->ptrace][w->no_inet][w->bare], b;
	int r;

	if (k->len == 0) {
		buf_init(&b, BUF_NOMAX);
		if ((r = seccomp_program_for(w, 0, &b, e)) < 0) {
			buf_clear(&b);
			return r;
		}
		*k = b;
	}
	*ret = k->data;
	*ret_len = k->len;
	return 0;
}

int
seccomp_sockets(const void **ret, size_t *ret_len, struct err *e)
{
	static struct buf kept;
	scmp_filter_ctx ctx;
	int r = 0;

	if (kept.len == 0) {
		ctx = seccomp_init(SCMP_ACT_ALLOW);
		if (ctx == NULL)
			r = -ENOMEM;
		if (r == 0)
			r = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH,
			    SCMP_ACT_ERRNO(ENOSYS));
		if (r == 0)
			r = refuse(ctx, EPERM, "socket", 0, none, none);
		if (r == 0)
			r = refuse(ctx, EPERM, "connect", 0, none, none);
		buf_init(&kept, BUF_NOMAX);
		if (r == 0)
			r = export_program(ctx, &kept);
		if (ctx != NULL)
			seccomp_release(ctx);
	}
	if (r < 0)
		return err_set(e, ERR_SANDBOX,
		    "the system call filter can't be built: %s", strerror(-r));
	*ret = kept.data;
	*ret_len = kept.len;
	return 0;
}

int
seccomp_listen(const long *nrs, size_t n, struct err *e)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	struct sock_fprog prog = { 0 };
	struct buf b;
	int r = ctx == NULL ? -ENOMEM : 0;

	buf_init(&b, BUF_NOMAX);
	if (r == 0)
		r = seccomp_attr_set(
		    ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
	for (size_t i = 0; r == 0 && i < n; i++)
		r = seccomp_rule_add(ctx, SCMP_ACT_NOTIFY, (int)nrs[i], 0);
	if (r == 0)
		r = export_program(ctx, &b);
	if (ctx != NULL)
		seccomp_release(ctx);
	if (r == 0) {
		prog.len = (unsigned short)(b.len / sizeof(struct sock_filter));
		prog.filter = (struct sock_filter *)(void *)b.data;
		r = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		    SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog);
		if (r < 0)
			r = -errno;
	}
	buf_clear(&b);
	if (r < 0)
		return err_set(
		    e, r, "a listener for system calls: %s", strerror(-r));
	return r;
}
