/*
 * premount.h - a sandbox's root, put together before bwrap runs.
 *
 * For each bind bwrap reads the whole table of mounts and walks the path a few
 * times: a tenth of a millisecond, and a worker has a dozen. In a mount
 * namespace of our own the same mounts take three calls each. bwrap gets them
 * all with one bind of "/", and makes what is left: /proc, /dev, what lies
 * inside another mount, and what did not work here.
 */
#ifndef SANDBOX_PREMOUNT_H
#define SANDBOX_PREMOUNT_H

#include "sandbox/spec.h"

/* Only in a mount namespace of our own, after shield_apply(). at: an absolute
 * path of a directory of ours that nobody looks into any more; the root is
 * mounted there. What was mounted is taken out of s and replaced by a first
 * mount that shows it. Nothing here fails: what can't be done stays in s. */
void premount(struct sandbox_spec *s, const char *at);

#endif
