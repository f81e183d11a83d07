/* seccomp.h - the system calls that a layer refuses, as one table. */
#ifndef SANDBOX_SECCOMP_H
#define SANDBOX_SECCOMP_H

#include "common/buf.h"
#include "common/err.h"
#include "sandbox/spec.h"

struct seccomp_want {
	enum sandbox_layer layer;
	bool ptrace;  /* inner: debuggers may trace what they start */
	bool no_inet; /* no INET and INET6 sockets: there is no network
			 namespace that would keep them in */
	/* There are no namespaces at all (implies no_inet): what they would
	 * keep in is refused, System V IPC and message queues and the limits of
	 * other processes; the outer layer can make none either. Inner: no
	 * sockets but those of socketpair(2), since nothing keeps those of
	 * other programs, which have paths, out of reach. */
	bool bare;
};

/* The BPF program, as bytes for bwrap's --seccomp; each built once a process
 * and kept. Borrowed. */
int seccomp_program(const struct seccomp_want *w, const void **ret,
    size_t *ret_len, struct err *e);
/* For another machine's architecture (SCMP_ARCH_AARCH64), into *ret; without
 * what libseccomp has no name for. 0: this machine's. */
int seccomp_program_for(const struct seccomp_want *w, uint32_t arch,
    struct buf *ret, struct err *e);
/* In a child with no_new_privs: those calls go to a listener from now on, whose
 * descriptor is returned (close-on-exec). -EBUSY: there is one already. */
int seccomp_listen(const long *nrs, size_t n, struct err *e);
/* No socket can be made or connected; nothing else is said. Borrowed. */
int seccomp_sockets(const void **ret, size_t *ret_len, struct err *e);

#endif
