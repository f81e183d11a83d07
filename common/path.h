/* path.h - names of files and where the project keeps its own. */
#ifndef COMMON_PATH_H
#define COMMON_PATH_H

#include "common/buf.h"
#include "common/err.h"
#include "common/strv.h"

/* "a/b" from "a" and "b"; one slash between. Yours. */
char *path_join(const char *a, const char *b);
char *path_joinf(const char *dir, const char *fmt, ...) printflike(2, 3);
const char *path_base(const char *path); /* borrowed; after the last slash */
char *path_dir(const char *path);        /* yours; "." when there is none */

/* Lexically clean: no "//", "." or trailing slash; ".." takes its component
 * away and stays only at the front of a relative path. "" is ".". Yours. */
char *path_normal(const char *path);
/* Is path equal to dir or below it? Both absolute and clean. */
bool path_is_below(const char *path, const char *dir);
/* The rest of path below dir ("" when equal), NULL when it is not below. */
const char *path_rel(const char *path, const char *dir);
/* A relative path with no empty, "." or ".." component, no leading slash and no
 * ".git" component (in any case): what a patch or a tool may name. */
bool path_is_safe_rel(const char *path);

/* $XDG_STATE_HOME/foray (or ~/.local/state/foray), $XDG_CACHE_HOME/foray.
 * Relative XDG values are ignored, as the specification says. Not created. */
int path_state_dir(char **ret, struct err *e);
int path_cache_dir(char **ret, struct err *e);
/* $XDG_CONFIG_HOME/foray. */
int path_config_dir(char **ret, struct err *e);
/* The caller's home directory: $HOME, else from the password file. Yours. */
int path_home(char **ret, struct err *e);

/* Does a symbolic link on the way to path lead out of the directory that it
 * stands in? Who may write there may then choose what path is. Links that stand
 * in / or a system directory count as the system's. path: absolute and clean.
 * Yours: the first such link; NULL: there is none, or no such path. */
char *path_leads_out(const char *path);

/* mkdir -p; existing directories are fine, anything else is an error. */
int path_mkdirs(const char *path, mode_t mode, struct err *e);

/* Remove a tree. Never follows a symbolic link, never crosses a mount point
 * (the top included: -EXDEV), makes unreadable directories of ours readable
 * first. A missing path is success. Iterative in depth by descriptors (no
 * PATH_MAX limit). What can't be removed stays, the rest goes, and the first
 * reason is returned. */
int path_rmtree(const char *path, struct err *e);

/* Where one of our own programs is ("foray-host"): beside /proc/self/exe, else
 * in the LIBEXECDIR chosen at build time. Yours. ERR_NOTFOUND names both. */
int path_program(const char *name, char **ret, struct err *e);
/* Search path_env (NULL: $PATH) for an executable; relative entries are passed
 * over. A name with a slash is only tested. Yours. ERR_NOTFOUND. */
int path_search(const char *name, const char *path_env, char **ret);
/* The system's own program of that name, else the first in $PATH, for what is
 * run outside a sandbox: $PATH may lead into a tree (an activated virtual
 * environment), where a sandboxed command can put a program of that name. */
int path_system(const char *name, char **ret);

#endif
