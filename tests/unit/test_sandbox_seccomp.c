/*
 * The filters, loaded by ourselves in a child (both layers) and by bwrap around
 * this program as "--calls" (inner).
 */
#include "common/compat.h"

#include <setjmp.h>
/* cmocka needs the ones above */
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/probe.h"
#include "sandbox/profile.h"
#include "sandbox/seccomp.h"
#include "sandbox/stage.h"
#include "sandbox/start.h"

#define ANY (-1)    /* whatever the kernel says */
#define OPEN_NR 467 /* open_tree_attr */

#define CALL(name) #name, SYS_##name

static const struct call {
	const char *name;
	long nr;
	long a[4];
	int outer, inner; /* errno that it must give */
} calls[] = {
	{ CALL(keyctl), { 0 }, EPERM, EPERM },
	{ CALL(add_key), { 0 }, EPERM, EPERM },
	{ CALL(request_key), { 0 }, EPERM, EPERM },
	{ CALL(bpf), { 0 }, EPERM, EPERM },
	{ CALL(perf_event_open), { 0 }, EPERM, EPERM },
	{ CALL(userfaultfd), { 0 }, EPERM, EPERM },
	{ CALL(fanotify_init), { 0 }, EPERM, EPERM },
	{ CALL(syslog), { 10 }, EPERM, EPERM },
	{ CALL(kexec_load), { 0 }, EPERM, EPERM },
	{ CALL(init_module), { 0 }, EPERM, EPERM },
	{ CALL(finit_module), { -1 }, EPERM, EPERM },
	{ CALL(delete_module), { 0 }, EPERM, EPERM },
	{ CALL(swapon), { 0 }, EPERM, EPERM },
	{ CALL(swapoff), { 0 }, EPERM, EPERM },
	{ CALL(reboot), { 0 }, EPERM, EPERM },
	{ CALL(vhangup), { 0 }, EPERM, EPERM },
	{ CALL(acct), { 1 }, EPERM, EPERM },
	{ CALL(quotactl), { -1 }, EPERM, EPERM },
	{ CALL(clock_settime), { -1 }, EPERM, EPERM },
	{ CALL(settimeofday), { 1 }, EPERM, EPERM },
	{ CALL(adjtimex), { 0 }, EPERM, EPERM },
	{ CALL(open_tree), { -1 }, EPERM, EPERM },
	{ CALL(move_mount), { -1 }, EPERM, EPERM },
	{ CALL(fsopen), { 0 }, EPERM, EPERM },
	{ CALL(fsconfig), { -1 }, EPERM, EPERM },
	{ CALL(fsmount), { -1 }, EPERM, EPERM },
	{ CALL(fspick), { -1 }, EPERM, EPERM },
	{ CALL(mount_setattr), { -1 }, EPERM, EPERM },
	{ "open_tree_attr", OPEN_NR, { -1 }, EPERM, EPERM },
	{ CALL(name_to_handle_at), { -1 }, EPERM, EPERM },
	{ CALL(open_by_handle_at), { -1 }, EPERM, EPERM },
	{ CALL(process_vm_readv), { 0 }, EPERM, EPERM },
	{ CALL(process_vm_writev), { 0 }, EPERM, EPERM },
	{ CALL(kcmp), { 0 }, EPERM, EPERM },
	{ CALL(pidfd_getfd), { -1 }, EPERM, EPERM },
	{ CALL(move_pages), { 0 }, EPERM, EPERM },
	{ CALL(migrate_pages), { 0 }, EPERM, EPERM },
	{ CALL(mbind), { 0 }, EPERM, EPERM },
	{ CALL(set_mempolicy), { 0 }, EPERM, EPERM },
	{ CALL(vmsplice), { -1 }, EPERM, EPERM },
	{ CALL(io_uring_setup), { 0 }, ENOSYS, ENOSYS },
	{ CALL(io_uring_enter), { -1 }, ENOSYS, ENOSYS },
	{ CALL(io_uring_register), { -1 }, ENOSYS, ENOSYS },
	{ "TIOCSTI", SYS_ioctl, { 0, TIOCSTI, 0 }, EPERM, EPERM },
	{ "TIOCSTI, high bits", SYS_ioctl, { 0, (1L << 32) | TIOCSTI }, EPERM,
	    EPERM },
	{ "TIOCLINUX", SYS_ioctl, { 0, TIOCLINUX, 0 }, EPERM, EPERM },
	{ "AF_VSOCK", SYS_socket, { 40, SOCK_STREAM, 0 }, EAFNOSUPPORT,
	    EAFNOSUPPORT },
	{ "AF_PACKET", SYS_socket, { AF_PACKET, SOCK_RAW, 0 }, EAFNOSUPPORT,
	    EAFNOSUPPORT },
	{ "AF_ALG", SYS_socket, { AF_ALG, SOCK_SEQPACKET, 0 }, EAFNOSUPPORT,
	    EAFNOSUPPORT },
	{ "AF_AX25", SYS_socket, { 3, SOCK_DGRAM, 0 }, EAFNOSUPPORT,
	    EAFNOSUPPORT },
	{ "AF_AX25, high bits", SYS_socket, { (1L << 32) | 3, SOCK_DGRAM, 0 },
	    EAFNOSUPPORT, EAFNOSUPPORT },
	{ "AF_TIPC pair", SYS_socketpair, { 30, SOCK_STREAM, 0 }, EAFNOSUPPORT,
	    EAFNOSUPPORT },
	{ "AF_UNIX", SYS_socket, { AF_UNIX, SOCK_STREAM, 0 }, 0, 0 },
	{ "AF_INET", SYS_socket, { AF_INET, SOCK_STREAM, 0 }, 0, 0 },
	{ "AF_INET6", SYS_socket, { AF_INET6, SOCK_STREAM, 0 }, 0, 0 },
	{ "AF_NETLINK", SYS_socket, { AF_NETLINK, SOCK_RAW, 0 }, 0, 0 },
	{ CALL(ptrace), { 0 }, ANY, EPERM },
	{ CALL(unshare), { 0 }, 0, EPERM },
	{ CALL(setns), { -1 }, EBADF, EPERM },
	{ CALL(mount), { 0 }, ANY, EPERM },
	{ CALL(umount2), { 0 }, ANY, EPERM },
	{ CALL(pivot_root), { 0 }, ANY, EPERM },
	{ CALL(chroot), { 0 }, ANY, EPERM },
	{ CALL(sethostname), { 0 }, ANY, EPERM },
	{ CALL(clone3), { 0 }, EINVAL, ENOSYS },
	{ CALL(openat2), { 0 }, EINVAL, ENOSYS },
	{ "clone, user ns", SYS_clone, { CLONE_NEWUSER | CLONE_FS }, EINVAL,
	    EPERM },
	{ "clone, mount ns", SYS_clone, { CLONE_NEWNS | CLONE_FS }, EINVAL,
	    EPERM },
	{ "chmod 4755", SYS_fchmod, { -1, 04755 }, EBADF, EPERM },
	{ "chmod 2755", SYS_fchmod, { -1, 02755 }, EBADF, EPERM },
	{ "fchmodat2 4755", 452, { -1, 0, 04755 }, ANY, EPERM },
	{ "openat, new set-uid", SYS_openat,
	    { -1, 0, O_CREAT | O_WRONLY, 04755 }, ANY, EPERM },
	{ "openat, tmpfile", SYS_openat, { -1, 0, O_TMPFILE | O_RDWR, 04755 },
	    ANY, EPERM },
	/* without O_CREAT the mode is rubbish */
	{ "openat", SYS_openat, { -1, (long)"/", O_RDONLY, -1 }, 0, 0 },
	{ "openat, new", SYS_openat,
	    { -1, (long)"/dev/null", O_RDONLY | O_CREAT, 0644 }, 0, 0 },
#ifdef __x86_64__
	{ CALL(iopl), { 3 }, EPERM, EPERM },
	{ CALL(ioperm), { 0, 1, 1 }, EPERM, EPERM },
	{ "chmod, old", SYS_chmod, { 0, 04755 }, EFAULT, EPERM },
	{ "mknod", SYS_mknod, { 0, S_IFREG | 04755 }, EFAULT, EPERM },
	{ "mknod, device", SYS_mknod, { 0, S_IFCHR | 0644 }, EFAULT, EPERM },
	{ "creat", SYS_creat, { 0, 04755 }, EFAULT, EPERM },
	/* x32: another architecture's numbers */
	{ "x32 getpid", 0x40000000 + SYS_getpid, { 0 }, ENOSYS, ENOSYS },
#endif
};

static void *
thread(void *arg)
{
	return arg;
}

/* Prints what is wrong; 0 when nothing is. */
static int
try_calls(enum sandbox_layer layer)
{
	int wrong = 0, want, got, status = -1;
	const struct call *c;
	pthread_t t;
	pid_t pid;
	long r;

	for (c = calls; c < calls + nitems(calls); c++) {
		want = layer == LAYER_OUTER ? c->outer : c->inner;
		/* Not tried where it might do something. */
		if (want == ANY)
			continue;
		errno = 0;
		r = syscall(c->nr, c->a[0], c->a[1], c->a[2], c->a[3]);
		got = r < 0 ? errno : 0;
		if (got == want)
			continue;
		printf(
		    "%s: %s, not %s\n", c->name, strerror(got), strerror(want));
		wrong++;
	}
	/* What every program does. */
	pid = fork();
	if (pid == 0)
		_exit(7);
	if (pid < 0 || waitpid(pid, &status, 0) != pid ||
	    WEXITSTATUS(status) != 7) {
		printf("fork\n");
		wrong++;
	}
	if (pthread_create(&t, NULL, thread, NULL) != 0 ||
	    pthread_join(t, NULL) != 0) {
		printf("threads\n");
		wrong++;
	}
	(void)fflush(stdout);
	return wrong == 0 ? 0 : 1;
}

#ifdef __x86_64__
/* getpid() of 32 bits, from a 64 bit program. */
static long
int80_getpid(void)
{
	long r;

	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory");
	return r;
}
#endif

static void
try_filter(enum sandbox_layer layer)
{
	const struct seccomp_want want = { .layer = layer };
	struct sock_fprog prog;
	const void *bytes;
	size_t len;
	int status = -1;
	pid_t pid;
	struct err e;

	if (seccomp_program(&want, &bytes, &len, &e) < 0)
		fail_msg("%s", e.text);
	assert_true(len > 0 && len % sizeof(struct sock_filter) == 0);
	print_message("# %zu instructions\n", len / sizeof(struct sock_filter));
	pid = fork();
	if (pid == 0) {
		prog.len = (unsigned short)(len / sizeof(struct sock_filter));
		memcpy(&prog.filter, &bytes, sizeof bytes);
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
			_exit(3);
#ifdef __x86_64__
		if (int80_getpid() != -ENOSYS)
			_exit(4);
#endif
		_exit(try_calls(layer));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void
test_outer(void **state)
{
	(void)state;
	try_filter(LAYER_OUTER);
}

static void
test_inner(void **state)
{
	(void)state;
	try_filter(LAYER_INNER);
}

/* What a program of the filter's gives: an errno, 0 for "allowed", -1 for
 * anything else. Of the machine's language only what libseccomp writes. */
static int
judge(const struct buf *b, uint32_t arch, int nr, const uint64_t args[6])
{
	struct seccomp_data d = { .nr = nr, .arch = arch };
	const struct sock_filter *p = (const void *)b->data, *i;
	size_t n = b->len / sizeof *p, pc = 0;
	uint32_t a = 0;
	bool yes;

	for (size_t k = 0; args != NULL && k < nitems(d.args); k++)
		d.args[k] = args[k];
	while (pc < n) {
		i = &p[pc++];
		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			assert_true(i->k + sizeof a <= sizeof d);
			memcpy(&a, (const char *)&d + i->k, sizeof a);
			continue;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= i->k;
			continue;
		case BPF_JMP | BPF_JA:
			pc += i->k;
			continue;
		case BPF_RET | BPF_K:
			if (i->k == SECCOMP_RET_ALLOW)
				return 0;
			if ((i->k & SECCOMP_RET_ACTION_FULL) ==
			    SECCOMP_RET_ERRNO)
				return (int)(i->k & SECCOMP_RET_DATA);
			return -1;
		case BPF_JMP | BPF_JEQ | BPF_K:
			yes = a == i->k;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			yes = a > i->k;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			yes = a >= i->k;
			break;
		default:
			fail_msg("unknown instruction %x", i->code);
			return -1;
		}
		pc += yes ? i->jt : i->jf;
	}
	return -1;
}

/* The numbers of the other architecture, and the same answers. */
static void
test_other_architecture(void **state)
{
	static const uint32_t archs[] = { SCMP_ARCH_X86_64, SCMP_ARCH_AARCH64 };
	const uint64_t sockets[] = { AF_VSOCK, AF_ALG, AF_PACKET, AF_INET };
	uint64_t args[6] = { 0 };
	struct buf b;
	struct err e;
	int nr, want, seen;

	(void)state;
	for (size_t k = 0; k < 2 * nitems(archs); k++) {
		const uint32_t arch = archs[k / 2];
		const struct seccomp_want w = {
			.layer = k % 2 == 0 ? LAYER_OUTER : LAYER_INNER,
		};

		buf_init(&b, BUF_NOMAX);
		if (seccomp_program_for(&w, arch, &b, &e) < 0)
			fail_msg("%s", e.text);
		seen = 0;
		for (size_t i = 0; i < nitems(calls); i++) {
			nr = seccomp_syscall_resolve_name_arch(
			    arch, calls[i].name);
			want = w.layer == LAYER_OUTER ? calls[i].outer
						      : calls[i].inner;
			/* what else there is comes from the kernel itself */
			if (nr < 0 ||
			    (want != EPERM && want != ENOSYS &&
				want != EAFNOSUPPORT))
				continue;
			for (size_t n = 0; n < nitems(calls[i].a); n++)
				args[n] = (uint64_t)calls[i].a[n];
			if (judge(&b, arch, nr, args) != want)
				fail_msg("%s on %x: %d, not %d", calls[i].name,
				    arch, judge(&b, arch, nr, args), want);
			seen++;
		}
		assert_true(seen > 30);
		memset(args, 0, sizeof args);
		nr = seccomp_syscall_resolve_name_arch(arch, "socket");
		for (size_t i = 0; i < nitems(sockets); i++) {
			args[0] = sockets[i];
			assert_int_equal(judge(&b, arch, nr, args),
			    sockets[i] == AF_INET ? 0 : EAFNOSUPPORT);
		}
		if (arch == seccomp_arch_native())
			assert_int_equal(judge(&b, arch, OPEN_NR, NULL), EPERM);
		/* the other's programs get nothing at all */
		assert_int_equal(judge(&b, archs[1 - k / 2], nr, args), ENOSYS);
		buf_clear(&b);
	}
}

/* What a profile may open, and what a missing network namespace closes. */
static void
test_wants(void **state)
{
	struct seccomp_want w = { .layer = LAYER_INNER, .ptrace = true };
	uint64_t args[6] = { AF_INET6 };
	struct buf b;

	(void)state;
	buf_init(&b, BUF_NOMAX);
	assert_int_equal(seccomp_program_for(&w, 0, &b, NULL), 0);
	assert_int_equal(judge(&b, seccomp_arch_native(), SYS_ptrace, NULL), 0);
	assert_int_equal(
	    judge(&b, seccomp_arch_native(), SYS_process_vm_readv, NULL),
	    EPERM);
	assert_int_equal(judge(&b, seccomp_arch_native(), SYS_socket, args), 0);
	buf_clear(&b);
	w.ptrace = false;
	w.no_inet = true;
	buf_init(&b, BUF_NOMAX);
	assert_int_equal(seccomp_program_for(&w, 0, &b, NULL), 0);
	assert_int_equal(
	    judge(&b, seccomp_arch_native(), SYS_ptrace, NULL), EPERM);
	assert_int_equal(
	    judge(&b, seccomp_arch_native(), SYS_socket, args), EAFNOSUPPORT);
	args[0] = AF_UNIX;
	assert_int_equal(judge(&b, seccomp_arch_native(), SYS_socket, args), 0);
	buf_clear(&b);
}

static void
test_kept(void **state)
{
	const struct seccomp_want inner = { .layer = LAYER_INNER };
	const struct seccomp_want outer = { .layer = LAYER_OUTER };
	const void *a, *b;
	size_t n, m;

	(void)state;
	assert_int_equal(seccomp_program(&inner, &a, &n, NULL), 0);
	assert_int_equal(seccomp_program(&inner, &b, &m, NULL), 0);
	assert_ptr_equal(a, b);
	assert_int_equal(n, m);
	assert_int_equal(seccomp_program(&outer, &b, &m, NULL), 0);
	assert_ptr_not_equal(a, b);
	assert_true(m < n);
}

/* By bwrap, in the real profile. */
static void
test_in_sandbox(void **state)
{
	char self[4096];
	struct profile p = { .root = "/tmp/t", .tree_src = "/usr/share" };
	struct sandbox_spec spec;
	struct sandbox_run run = { .timeout_ms = 20000 };
	struct sandbox_result res;
	struct buf out;
	struct err e;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	(void)state;
	assert_true(n > 0);
	self[n] = '\0';
	if (probe_sandbox(&e) < 0) {
		if (getenv("FORAY_SANDBOX_MUST_WORK") != NULL)
			fail_msg("%s", e.text);
		fprintf(stderr, "SKIPPED: test_sandbox_seccomp: %s\n", e.text);
		skip();
	}
	profile_direct(&p, &spec);
	spec.limits.data_bytes = 0; /* a sanitizer takes more */
	spec_mount(&spec, MOUNT_RO, self, "/run/test");
	strv_addl(&spec.argv, "/run/test", "--calls", (char *)NULL);
	/* which would want ptrace */
	strv_setenv(&spec.env, "ASAN_OPTIONS", "detect_leaks=0");
	buf_init(&out, 65536);
	run.start = (struct sandbox_start){ .spec = &spec, .stage = true };
	run.out = &out;
	if (sandbox_run(&run, &res, &e) < 0)
		fail_msg("%s", e.text);
	assert_string_equal(buf_str(&out), "");
	assert_int_equal(res.status, 0);
	buf_clear(&out);
	spec_clear(&spec);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outer),
		cmocka_unit_test(test_inner),
		cmocka_unit_test(test_other_architecture),
		cmocka_unit_test(test_wants),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_in_sandbox),
	};

	if (argc > 1 && strcmp(argv[1], "--calls") == 0)
		return try_calls(LAYER_INNER);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
