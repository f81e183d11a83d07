#include "common/compat.h"

#include "orchestrator/run/outside.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/path.h"
#include "orchestrator/run/state.h"

#define LINKS_MAX 16

/* Of an absolute path in the tree as root has it: the first link on the way,
 * read; NULL: there is none. *ret_rest: what follows it. Yours. */
static char *
first_link(
    const char *tree, const char *root, const char *path, const char **ret_rest)
{
	const char *at = path + strlen(root);
	char to[4096], *here, *up, *ret;
	ssize_t n;

	while (*at != '\0') {
		at += strspn(at, "/");
		at += strcspn(at, "/");
		here = xasprintf("%s%.*s", tree,
		    (int)(at - path - (ptrdiff_t)strlen(root)),
		    path + strlen(root));
		n = readlink(here, to, sizeof to - 1);
		free(here);
		if (n <= 0)
			continue;
		to[n] = '\0';
		*ret_rest = at;
		here = xstrndup(path, (size_t)(at - path));
		up = path_dir(here);
		ret = to[0] == '/' ? xstrdup(to) : path_join(up, to);
		free(here);
		free(up);
		return ret;
	}
	return NULL;
}

char *
outside_target(
    const char *tree, const char *root, const char *dir, const char *word)
{
	char *base = path_join(root, dir), *joined, *path, *to;
	const char *rest;
	int i;

	joined = word[0] == '/' ? xstrdup(word) : path_join(base, word);
	path = path_normal(joined);
	free(joined);
	free(base);
	for (i = 0; i < LINKS_MAX && path_is_below(path, root); i++) {
		to = first_link(tree, root, path, &rest);
		if (to == NULL)
			break;
		joined = xasprintf("%s%s", to, rest);
		free(to);
		free(path);
		path = path_normal(joined);
		free(joined);
	}
	if (i == 0 || path_is_below(path, root)) {
		free(path);
		return NULL;
	}
	return path;
}

char *
outside_hint(const struct run *r)
{
	char *word, *to, *ret = NULL;
	size_t i;

	for (i = 0; i < r->tests.n && ret == NULL; i++) {
		const char *s = r->tests.v[i] + strspn(r->tests.v[i], " \t");

		word = xstrndup(s, strcspn(s, " \t;|&<>()'\"$`"));
		to = strchr(word, '/') != NULL
		    ? outside_target(r->snap.tree, r->root, r->workdir, word)
		    : NULL;
		if (to != NULL)
			ret = xasprintf("%s leads to %s, outside of the tree, "
					"which does not travel: each host has "
					"to have it at that path",
			    word, to);
		free(word);
		free(to);
	}
	return ret;
}
