#include "common/compat.h"

#include "common/log.h"
#include "common/path.h"
#include "sandbox/toolchain_go.h"

char *
go_modules_dir(const char *home)
{
	const char *cache = getenv("GOMODCACHE"), *path = getenv("GOPATH");
	char *top = NULL, *dir;

	if (cache != NULL && cache[0] == '/')
		return path_normal(cache);
	/* The first of several. */
	if (path != NULL && path[0] == '/')
		top = xstrndup(path, strcspn(path, ":"));
	else if (home != NULL)
		top = path_join(home, "go");
	if (top == NULL)
		return NULL;
	dir = path_joinf(top, "pkg/mod");
	free(top);
	top = path_normal(dir);
	free(dir);
	return top;
}
