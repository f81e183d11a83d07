/* tool_list.c - list_dir. */
#include "common/compat.h"

#include <fcntl.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/text.h"
#include "worker/agent/agent.h"
#include "worker/agent/dirlist.h"
#include "worker/agent/exec.h"
#include "worker/agent/tool.h"

#define ENTRIES_MAX 500
#define SEEN_MAX 200000

static bool
is_skipped(const char *name)
{
	static const char *const skip[] = { ".git/", "node_modules/",
		"__pycache__/", ".venv/", "venv/", ".tox/", "target/",
		".pytest_cache/", ".mypy_cache/" };
	size_t i;

	for (i = 0; i < nitems(skip); i++) {
		if (strcmp(name, skip[i]) == 0)
			return true;
	}
	return false;
}

/* Without ripgrep: our own walk, well-known by-products left out. */
static void
walk(struct agent *a, const struct treefs_name *top, struct strv *ret)
{
	struct strv todo = { 0 }, names = { 0 };
	struct treefs_name n;
	size_t i, k;
	bool root;

	strv_add(&todo, "");
	for (i = 0; i < todo.n && i < 20000 && ret->n < SEEN_MAX; i++) {
		root = *todo.v[i] == '\0';
		n.tmp = top->tmp;
		n.rel = root ? xstrdup(top->rel)
			     : xasprintf("%s/%s", top->rel, todo.v[i]);
		strv_clear(&names);
		if (dirlist(&a->fs, &n, &names, NULL) == 0) {
			for (k = 0; k < names.n; k++) {
				char *s = xasprintf("%s%s%s", todo.v[i],
				    root ? "" : "/", names.v[k]);
				size_t len = strlen(s);

				if (s[len - 1] != '/') {
					strv_add(ret, s);
				} else if (!is_skipped(names.v[k])) {
					s[len - 1] = '\0';
					strv_add(&todo, s);
				}
				free(s);
			}
		}
		treefs_name_clear(&n);
	}
	strv_clear(&todo);
	strv_clear(&names);
}

/* ripgrep's list of files, which honours .gitignore. False: it could not. */
static bool
rg_files(struct agent *a, const struct treefs_name *top, struct strv *ret)
{
	struct sandbox_spec spec;
	struct exec x = { .timeout_ms = 20000, .keep = 8 << 20 };
	const char *p, *end, *nl;
	char *dir;
	bool ok;

	dir = xasprintf("%s/%s", top->tmp ? a->fs.tmp : a->fs.root, top->rel);
	spec_copy(&spec, &a->cfg.inner);
	spec.egress = false; /* rg has no use for it */
	spec_set_cwd(&spec, dir);
	strv_clear(&spec.argv);
	strv_addl(&spec.argv, "rg", "--no-config", "--files", "--null",
	    "--hidden", "--no-messages", "--glob", "!.git", "--sort", "path",
	    (char *)NULL);
	x.spec = &spec;
	ok = exec_run(&x, NULL) == 0 && !x.timed_out && x.status <= 1 &&
	    x.tail_total == 0;
	p = buf_str(&x.head);
	for (end = p + x.head.len; ok && p < end; p = nl + 1) {
		nl = memchr(p, '\0', (size_t)(end - p));
		if (nl == NULL)
			break;
		if (nl > p)
			strv_addn(ret, p, (size_t)(nl - p));
	}
	exec_clear(&x);
	spec_clear(&spec);
	free(dir);
	return ok;
}

/* Names that a line of text can't hold, and no call could name. */
static size_t
drop_unsayable(struct strv *v)
{
	struct strv kept = { 0 };
	size_t i, n;

	for (i = 0; i < v->n; i++) {
		const unsigned char *p = (const unsigned char *)v->v[i];

		while (*p >= 0x20 && *p != 0x7f)
			p++;
		if (*p == '\0' && text_is_utf8(v->v[i], strlen(v->v[i])))
			strv_add(&kept, v->v[i]);
	}
	n = v->n - kept.n;
	strv_clear(v);
	*v = kept;
	return n;
}

static void
print_entries(struct tool_result *r, const struct strv *v, uint64_t offset,
    size_t dropped)
{
	size_t i;

	for (i = offset - 1; i < v->n && i < offset - 1 + ENTRIES_MAX; i++)
		tool_printf(r, "%s\n", v->v[i]);
	if (dropped > 0)
		tool_printf(r, "[%zu names with control characters left out]\n",
		    dropped);
	if (i < v->n)
		tool_printf(r, "[... %zu more left out; offset %zu goes on]\n",
		    v->n - i, i + 1);
}

static void
list_dir(struct agent *a, const json_t *args, struct tool_result *r)
{
	const char *path = arg_str(args, "path", ".");
	struct treefs_name name = { 0 };
	struct strv v = { 0 };
	struct err e;
	uint64_t offset = 1;
	size_t dropped;
	int fd;

	if (treefs_name(&a->fs, path, &name, &e) < 0) {
		tool_fail_err(r, &e);
		goto out;
	}
	if (!arg_bool(args, "recursive")) {
		if (dirlist(&a->fs, &name, &v, &e) < 0) {
			tool_fail_err(r, &e);
			goto out;
		}
	} else {
		fd = treefs_fd(&a->fs, &name, O_DIRECTORY, &e);
		if (fd < 0) {
			tool_fail_err(r, &e);
			goto out;
		}
		fd_close(&fd);
		if (!rg_files(a, &name, &v)) {
			strv_clear(&v);
			walk(a, &name, &v);
		}
	}
	strv_sort(&v);
	dropped = drop_unsayable(&v);
	if (json_get_u64(args, "offset", 1, SEEN_MAX, &offset, &e) < 0 ||
	    offset == 0)
		offset = 1;
	tool_printf(r, "%s (%zu %s)\n", path, v.n,
	    arg_bool(args, "recursive") ? "files" : "entries");
	print_entries(r, &v, offset, dropped);
out:
	treefs_name_clear(&name);
	strv_clear(&v);
}

const struct tool tool_list_dir = {
	"list_dir",
	"List a directory (\"/\" marks directories, \"@\" links), or with "
	"recursive all files below it that are not ignored by git. 500 "
	"entries a call; offset (1-based) goes on.",
	"{\"type\":\"object\",\"properties\":{"
	"\"path\":{\"type\":\"string\",\"description\":\"default: the working "
	"directory\"},"
	"\"recursive\":{\"type\":\"boolean\"},"
	"\"offset\":{\"type\":\"integer\",\"minimum\":1}}}",
	list_dir,
};
