/*
 * why.h - why bwrap could not make a sandbox, and what mends it.
 *
 * Told from bwrap's own words and from what this machine says of itself
 * (sysctls, signs of a container, a chroot).
 */
#ifndef SANDBOX_WHY_H
#define SANDBOX_WHY_H

#include "common/err.h"

struct why {
	const char *cause;  /* half a sentence: "user namespaces are ..." */
	const char *remedy; /* commands or files */
};

/* words: what bwrap wrote; may be "". Static strings; never NULL. */
struct why why_bwrap(const char *words);
/* From the machine alone; cause NULL: nothing forbids it that could be seen. */
struct why why_machine(void);

/* Root runs workers under another uid: is there one here? 0, or ERR_SANDBOX
 * with the remedy. Always 0 for other users. */
int why_uids(struct err *e);

/* Signs of docker, podman, kubernetes or another container around us. */
bool why_in_container(void);
/* A number in a file of /proc/sys; -1: there is none. */
long why_sysctl(const char *path);

/* The commands that install our AppArmor profile, with its path here; or the
 * sysctl. Static. */
const char *why_apparmor_remedy(void);

/* Of a container that forbids what is needed. */
#define REMEDY_CONTAINER \
	"docker or podman run --security-opt seccomp=unconfined " \
	"--security-opt apparmor=unconfined " \
	"--security-opt systempaths=unconfined (podman: " \
	"--security-opt unmask=ALL); kubernetes: in the pod hostUsers: " \
	"false, in the container's securityContext procMount: Unmasked and " \
	"seccompProfile: {type: Unconfined}"

#endif
