/*
 * shield.h - read-only files and directories inside a writable tree, and
 * directories of it that are pinned: mounts of their own, so that they can't be
 * renamed.
 *
 * A spec names them as optional mounts, read-only or writable, of sources that
 * lie below the source of a writable one. bwrap could make them, but needs 0.3
 * ms for the first and 2 ms for the thousandth; and it would follow a symbolic
 * link, out here, where more can be seen than inside: a link ".git/hooks" to
 * our socket's directory would show that directory to the next command.
 */
#ifndef SANDBOX_SHIELD_H
#define SANDBOX_SHIELD_H

#include "common/err.h"
#include "sandbox/spec.h"

/* How many mounts of that kind has it? */
size_t shield_count(const struct sandbox_spec *s);

/* Take those out of s whose source is missing or that a symbolic link leads
 * to. In a mount namespace of our own (in_namespace) those that are to stand
 * where they are in the tree are mounted over themselves and taken out, too: a
 * bind of the tree carries them along. The others are left to bwrap. */
int shield_apply(struct sandbox_spec *s, bool in_namespace, struct err *e);

#endif
