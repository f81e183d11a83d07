/* snapshot_ignored.c - which files of a snapshot git ignores: build outputs and
 * the like. Asked of the private .git, whose configuration is ours. */
#include "common/compat.h"

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/gitrun.h"
#include "sandbox/snapshot.h"

#define LIST_MAX ((size_t)64 << 20)

/* Sorted; a directory that is ignored as a whole ends in "/". */
static int
ignored(const struct snapshot *s, struct strv *ret, struct err *e)
{
	struct gitrun run = { 0 };
	char *dir = path_join(s->tree, ".git");
	struct buf out;
	size_t at;
	int r;

	buf_init(&out, LIST_MAX);
	strv_addl(&run.args, "ls-files", "-z", "--others", "--ignored",
	    "--exclude-standard", "--directory", (char *)NULL);
	strv_setenv(&run.env, "GIT_DIR", dir);
	strv_setenv(&run.env, "GIT_WORK_TREE", s->tree);
	run.cwd = s->tree;
	run.out = &out;
	r = gitrun(&run, e);
	if (r > 0)
		r = gitrun_failed(&run, r, e);
	for (at = 0; r == 0 && at < out.len; at += strlen(out.data + at) + 1)
		strv_add(ret, out.data + at);
	strv_sort(ret);
	gitrun_clear(&run);
	buf_clear(&out);
	free(dir);
	return r;
}

static bool
covers(const char *ign, const char *path)
{
	return strcmp(ign, path) == 0 ||
	    (text_ends(ign, "/") && text_starts(path, ign));
}

int
snapshot_unignored(const struct snapshot *s, struct strv *ret, struct err *e)
{
	struct strv ign = { 0 };
	size_t i, k = 0;
	int r = 0;

	if (s->commit == NULL) {
		strv_copy(ret, &s->files);
		return 0;
	}
	if ((r = ignored(s, &ign, e)) < 0)
		goto out;
	strv_clear(ret);
	/* Both lists are sorted by bytes. */
	for (i = 0; i < s->files.n; i++) {
		const char *f = s->files.v[i];

		while (k < ign.n && strcmp(ign.v[k], f) < 0 &&
		    !covers(ign.v[k], f))
			k++;
		if (k == ign.n || !covers(ign.v[k], f))
			strv_add(ret, f);
	}
out:
	strv_clear(&ign);
	return r;
}
