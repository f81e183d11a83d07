/* toolchain_go.h - where Go keeps the modules that it has got. */
#ifndef SANDBOX_TOOLCHAIN_GO_H
#define SANDBOX_TOOLCHAIN_GO_H

/* By $GOMODCACHE, $GOPATH and home (may be NULL); clean and absolute, whether
 * or not it exists. Yours; NULL: nowhere. */
char *go_modules_dir(const char *home);

#endif
