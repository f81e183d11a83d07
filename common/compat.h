/*
 * compat.h - the first include of every source file: attributes and the
 * functions that this tree does not use.
 */
#ifndef COMMON_COMPAT_H
#define COMMON_COMPAT_H

#include <sys/types.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* These declare what is poisoned below, so they come before it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define printflike(fmt, first) __attribute__((format(printf, fmt, first)))
#define must_check __attribute__((warn_unused_result))
#define noreturn_fn __attribute__((noreturn))
#define unused_arg __attribute__((unused))

#define nitems(a) (sizeof(a) / sizeof((a)[0]))

/* Unbounded or non-reentrant: tests/lint/banned.sh refuses more. */
#undef sprintf /* a macro of glibc with clang and fortification */
#pragma GCC poison sprintf vsprintf strcat strncat gets strtok

#endif
