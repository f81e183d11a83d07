/*
 * accounts.h - a sandbox's own /etc/passwd and /etc/group.
 *
 * The machine's names and numbers stay, so that files have owners; passwords,
 * comments and the members of groups do not. The account that commands run as
 * comes first, and leads to the private home; so do others of its number.
 */
#ifndef SANDBOX_ACCOUNTS_H
#define SANDBOX_ACCOUNTS_H

#include "common/compat.h"

struct account {
	uid_t uid;
	gid_t gid;
	/* NULL: "foray", /tmp/home, /bin/sh; so is what does not fit into such
	 * a file */
	const char *name, *home, *shell;
};

/* From the machine's text, whose lines may be anything. Yours. */
char *accounts_passwd(const char *text, const struct account *a);
char *accounts_group(const char *text, const struct account *a);

/* make(the text of path); NULL: it can't be read, is a link, or is very large.
 */
char *accounts_file(const char *path, const struct account *a,
    char *(*make)(const char *text, const struct account *a));

#endif
