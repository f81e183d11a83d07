/*
 * toolchain.h - the programs that PATH leads to, made visible in a sandbox.
 *
 * Homes are hidden inside. Directories of PATH that lie outside the system
 * directories (/usr, /bin, /sbin, /lib*, /opt, /etc) are shown read-only, by
 * the root of their toolchain: ~/.pyenv/shims -> ~/.pyenv, ~/.cargo/bin ->
 * ~/.cargo and ~/.rustup, ~/.nvm/versions/node/X/bin -> that X, D/bin -> D
 * unless D is a home directory or "/", anything else itself. Shims (pyenv) are
 * resolved once: the version's own bin directory stands before them.
 * Interpreters of the repository's virtual environments (pyvenv.cfg "home") are
 * shown too. Files that hold credentials (~/.cargo/credentials*, ...) are
 * masked. With go in PATH its module cache is shown ($GOMODCACHE,
 * $GOPATH/pkg/mod or ~/go/pkg/mod), without its clones, whose settings may hold
 * passwords.
 */
#ifndef SANDBOX_TOOLCHAIN_H
#define SANDBOX_TOOLCHAIN_H

#include "common/strv.h"

struct toolchain {
	struct strv show; /* directories to bind read-only, at their own path */
	struct strv mask; /* files to cover with an empty one */
	struct strv empty; /* directories to cover with an empty one */
	char *path;        /* PATH for inside */
	char *go_modules;  /* the module cache, which is visible; or NULL */
};

/* path_env: the caller's PATH; home: the caller's home; repo: the tree (for
 * .venv, venv, env), may be NULL. Only what exists is listed. */
void toolchain_find(const char *path_env, const char *home, const char *repo,
    struct toolchain *ret);
void toolchain_clear(struct toolchain *t);

#endif
