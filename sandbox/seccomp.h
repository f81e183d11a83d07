/* seccomp.h - the system calls that a layer refuses, as one table. */
#ifndef SANDBOX_SECCOMP_H
#define SANDBOX_SECCOMP_H

#include "common/err.h"
#include "sandbox/spec.h"

/* The BPF program of a layer, as bytes for bwrap's --seccomp; built once a
 * process and kept. Borrowed. */
int seccomp_program(
    enum sandbox_layer layer, const void **ret, size_t *ret_len, struct err *e);

#endif
