/*
 * curve.h - keys of hosts and orchestrators (CURVE, rfc.zeromq.org/spec/26).
 *
 * A key is 40 characters of Z85 in a file of one line; empty lines and lines
 * that begin with "# " are passed over. The orchestrator's directory
 * (curve_dir(), mode 0700):
 *
 *	server.pub, server.secret	its own pair
 *	allowed/NAME.pub		who may connect: the allow-list
 *	hosts/NAME/			to be copied or mounted: --keys DIR
 *		server.pub		who the host wants to talk to
 *		host.pub, host.secret	what it is known by
 *
 * One such directory may serve a whole fleet, or each host has its own. A
 * secret that others can read is refused, and an allow-list that others can
 * write. Nothing is cached: a key that is removed is refused from then on.
 */
#ifndef PROTO_CURVE_H
#define PROTO_CURVE_H

#include "common/err.h"

#define CURVE_KEY 41     /* characters of a key and NUL */
#define CURVE_NAME 64    /* of a key's name and NUL */
#define CURVE_LIST 10000 /* keys that an allow-list may have */

struct curve_pair {
	char public_key[CURVE_KEY];
	char secret_key[CURVE_KEY];
};

/* What a host needs to connect. */
struct curve_host {
	char server[CURVE_KEY]; /* public */
	struct curve_pair own;
};

/* $XDG_CONFIG_HOME/foray/keys. Not created. Yours. */
int curve_dir(char **ret, struct err *e);

int curve_new(struct curve_pair *ret, struct err *e);
bool curve_is_key(const char *s);
/* Letters, digits, '-', '_' and '.', not first '.' or '-', at most 63 bytes. */
bool curve_is_name(const char *s);
/* Out of memory that others may get. */
void curve_forget(struct curve_pair *p);

/* The one key in the text of a file; what names it in errors. ERR_SYNTAX. */
int curve_parse(const char *text, size_t len, const char *what,
    char ret[CURVE_KEY], struct err *e);
/* ERR_USAGE with the remedy when a file is missing, holds no key, or is a
 * secret that others can read, or the public key of the file beside it. */
int curve_read_public(const char *path, char ret[CURVE_KEY], struct err *e);
int curve_read_secret(const char *path, struct curve_pair *ret, struct err *e);
/* Mode 0644, or 0600 for a secret; on the disk when it returns. */
int curve_write(const char *path, const char *key, bool secret, struct err *e);

/* dir/server.secret, and dir/server.pub with dir/host.secret. */
int curve_read_server(const char *dir, struct curve_pair *ret, struct err *e);
int curve_read_host(const char *dir, struct curve_host *ret, struct err *e);

/* Is it in the allow-list, an open directory? 1 and the name of its file
 * without ".pub"; 0; negative when the list can't be read: then nobody is
 * allowed. A file that holds no key allows nobody, nor does one that others
 * than root and the list's owner can write: -EPERM when the list is so. */
int curve_allowed(int dirfd, const char *key, char ret_name[CURVE_NAME]);

/* A file of our allow-list; ERR_USAGE says why it lets nobody in. */
int curve_read_listed(const char *path, char ret[CURVE_KEY], struct err *e);
/* What is wrong with the file that text begins with: it lets nobody in. */
typedef void curve_odd_cb(const char *text, void *ctx);
/* Can the allow-list in a directory of keys be used? ERR_USAGE with the remedy
 * when others can write to it or to the directory. */
int curve_check_list(
    const char *keys, curve_odd_cb *odd, void *ctx, struct err *e);

#endif
