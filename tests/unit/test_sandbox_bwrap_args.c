/*
 * The supplied profiles as bwrap's arguments, against tests/golden/. After a
 * change that is meant: FORAY_GOLDEN_UPDATE=1, then look at the difference.
 */
#include "common/compat.h"

#include <setjmp.h>
/* cmocka needs the ones above */
#include <cmocka.h>

#include "common/fdio.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/bwrap_args.h"
#include "sandbox/explain.h"
#include "sandbox/profile.h"

/* One option a line. */
static void
to_lines(const struct strv *args, struct buf *ret)
{
	struct buf line;
	size_t i = 0;

	buf_init(&line, 65536);
	while (i < args->n) {
		buf_reset(&line);
		assert_int_equal(buf_adds(&line, args->v[i++]), 0);
		while (i < args->n && !text_starts(args->v[i], "--"))
			assert_int_equal(
			    buf_printf(&line, " %s", args->v[i++]), 0);
		assert_int_equal(buf_printf(ret, "%s\n", buf_str(&line)), 0);
	}
	buf_clear(&line);
}

static void
compare(const char *name, const struct sandbox_spec *spec)
{
	struct strv args = { 0 };
	struct buf got, want;
	char *path = path_joinf("tests/golden", "%s.txt", name);
	struct err e;

	buf_init(&got, 1 << 20);
	buf_init(&want, 1 << 20);
	bwrap_args(spec, 3, 4, &args);
	to_lines(&args, &got);
	if (getenv("FORAY_GOLDEN_UPDATE") != NULL)
		assert_int_equal(
		    file_write(path, got.data, got.len, 0644, &e), 0);
	if (file_read(path, false, &want, &e) < 0)
		fail_msg("%s", e.text);
	assert_string_equal(buf_str(&got), buf_str(&want));
	free(path);
	strv_clear(&args);
	buf_clear(&got);
	buf_clear(&want);
}

static struct toolchain tools;
static struct strv guarded;
static struct profile_view view; /* of a machine that does not exist */

static void
make_view(const char *name)
{
	struct err e;

	profile_view_clear(&view);
	memset(&view, 0, sizeof view);
	if (profile_def_load(name, &view.def, &e) < 0)
		fail_msg("%s", e.text);
	spec_mount(&view.show, MOUNT_RO, "/usr", "/usr");
	spec_mount(&view.show, MOUNT_RO, "/etc", "/etc");
	spec_mount(&view.show, MOUNT_SYMLINK, "usr/bin", "/bin");
	spec_mount(&view.late, MOUNT_RO, "/run/resolve/real.conf",
	    "/run/resolve/stub.conf");
	strv_add(&view.hide_files, "/etc/secret");
	strv_add(&view.hide_files, "/proc/keys");
	strv_add(&view.hide_dirs, "/usr/share/private");
	strv_add(&view.hide_dirs, "/elsewhere");
	strv_add(&view.write, "/data/out");
	view.passwd = strdup("TEXT-OF-PASSWD");
	view.group = strdup("TEXT-OF-GROUP");
}

static void
example(struct profile *p)
{
	make_view("default");
	*p = (struct profile){
		.view = &view,
		.tools = &tools,
		.root = "/home/person/project",
		.workdir = "/home/person/project/sub",
		.tree_src = "@merged",
		.base_src = "/cache/snap/tree",
		.up_src = "/scratch/w1/up",
		.link_src = "/scratch/w1/link",
		.worker_src = "/usr/libexec/foray/foray-worker",
		.guarded = &guarded,
	};
}

static void
test_outer(void **state)
{
	struct sandbox_spec spec;
	struct profile p;

	(void)state;
	example(&p);
	profile_outer(&p, &spec);
	compare("bwrap-outer", &spec);
	assert_int_equal(spec.argv.n, 1);
	assert_string_equal(spec.argv.v[0], IN_WORKER);
	assert_string_equal(strv_getenv(&spec.env, "PATH"), "/x/bin:/usr/bin");
	assert_string_equal(
	    strv_getenv(&spec.env, "PYENV_ROOT"), "/home/person/.pyenv");
	spec_clear(&spec);
}

/* What is at dst inside; NULL: nothing. */
static const char *
source_of(const struct sandbox_spec *s, const char *dst)
{
	for (size_t i = 0; i < s->n_mounts; i++)
		if (strcmp(s->mounts[i].dst, dst) == 0)
			return s->mounts[i].src;
	return NULL;
}

/* Libraries that a worker brings along are its own, not its commands'. */
static void
test_libraries(void **state)
{
	struct sandbox_spec outer, inner;
	struct profile p;

	(void)state;
	example(&p);
	p.lib_src = "/opt/foray host/lib/foray";
	profile_outer(&p, &outer);
	profile_inner(&p, false, &inner);
	assert_string_equal(source_of(&outer, IN_LIB), p.lib_src);
	assert_null(source_of(&inner, IN_LIB));
	spec_clear(&outer);
	spec_clear(&inner);
}

static void
test_inner(void **state)
{
	struct sandbox_spec spec;
	struct profile p;

	(void)state;
	example(&p);
	p.tree_src = NULL;
	profile_inner(&p, false, &spec);
	compare("bwrap-inner", &spec);
	spec_clear(&spec);
	p.tree_src = "@merged";
	profile_inner(&p, true, &spec);
	compare("bwrap-inner-candidate", &spec);
	spec_clear(&spec);
}

static void
test_direct(void **state)
{
	struct sandbox_spec spec;
	struct profile p;

	(void)state;
	example(&p);
	p.tree_src = p.root;
	profile_direct(&p, &spec);
	spec.keep_tty = true;
	compare("bwrap-direct", &spec);
	spec_clear(&spec);
}

/* The person's own tree, a linked worktree with a repository in it, in the
 * profile with a cache; what it says in words. */
static void
test_build(void **state)
{
	struct strv shown = { 0 }, pinned = { 0 };
	struct sandbox_spec spec;
	struct buf got, want;
	struct profile p;
	struct err e;
	const char *path = "tests/golden/explain-build.txt";

	(void)state;
	example(&p);
	make_view("build");
	strv_add(&shown, "/home/person/main/.git");
	strv_addl(&pinned, "/home/person/project/vendor",
	    "/home/person/project/vendor/sub", (char *)NULL);
	strv_clear(&guarded);
	strv_add(&guarded, "vendor/sub/.git");
	p.tree_src = p.root;
	p.cache_src = "/cache/packages";
	p.shown = &shown;
	p.pinned = &pinned;
	profile_direct(&p, &spec);
	compare("bwrap-direct-build", &spec);
	assert_string_equal(
	    strv_getenv(&spec.env, "CARGO_HOME"), "/tmp/home/.cache/cargo");
	assert_true(spec.limits.procs == 4096);

	buf_init(&got, 1 << 20);
	buf_init(&want, 1 << 20);
	explain(&view.def, &spec, p.root, NULL, &got);
	if (getenv("FORAY_GOLDEN_UPDATE") != NULL)
		assert_int_equal(
		    file_write(path, got.data, got.len, 0644, &e), 0);
	if (file_read(path, false, &want, &e) < 0)
		fail_msg("%s", e.text);
	assert_string_equal(buf_str(&got), buf_str(&want));
	buf_clear(&got);
	buf_clear(&want);
	spec_clear(&spec);
	strv_clear(&shown);
	strv_clear(&pinned);
}

/* Every kind, by hand. */
static void
test_kinds(void **state)
{
	struct sandbox_spec spec;

	(void)state;
	spec_init(&spec, LAYER_INNER);
	spec_mount(&spec, MOUNT_RO, "/a b", "/c");
	spec_mount(&spec, MOUNT_RW, "/a", "/c");
	spec_mount_try(&spec, MOUNT_RO, "/a", "/c");
	spec_mount_try(&spec, MOUNT_RW, "/a", "/c");
	spec_tmpfs(&spec, "/t", 0);
	spec_tmpfs(&spec, "/t", 4096);
	spec_mount(&spec, MOUNT_DIR, NULL, "/d");
	spec_mount(&spec, MOUNT_PROC, NULL, "/proc");
	spec_mount(&spec, MOUNT_DEV, NULL, "/dev");
	spec_mount(&spec, MOUNT_REMOUNT_RO, NULL, "/t");
	spec_mount(&spec, MOUNT_DATA, "7", "/f");
	compare("bwrap-kinds", &spec);
	spec_clear(&spec);
}

/* The word is no number, and stays one on the way to another process. */
static void
test_unlimited(void **state)
{
	static const char text[] = "{\"limits\": {\"process_memory\": "
				   "\"unlimited\", \"file\": \"unlimited\"}}";
	struct profile_def d = { 0 }, again = { 0 };
	json_t *j, *there;
	struct err e;

	(void)state;
	assert_int_equal(json_parse(text, strlen(text), 4096, &j, &e), 0);
	assert_int_equal(profile_def_apply(&d, j, "test", &e), 0);
	json_decref(j);
	assert_true(d.limits.data_bytes == LIMIT_UNLIMITED);
	there = profile_def_json(&d);
	assert_int_equal(profile_def_apply(&again, there, "again", &e), 0);
	json_decref(there);
	assert_true(again.limits.data_bytes == LIMIT_UNLIMITED);
	assert_true(again.limits.file_bytes == LIMIT_UNLIMITED);
	profile_def_clear(&again);
	/* What bounds the machine's share of it can't be. */
	j = json_pack("{s:{s:s}}", "limits", "memory", "unlimited");
	assert_int_equal(profile_def_apply(&d, j, "test", &e), ERR_SYNTAX);
	json_decref(j);
	profile_def_clear(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outer),
		cmocka_unit_test(test_libraries),
		cmocka_unit_test(test_inner),
		cmocka_unit_test(test_direct),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_build),
		cmocka_unit_test(test_unlimited),
	};
	int r;

	strv_addl(&tools.show, "/home/person/.pyenv", "/home/person/go",
	    (char *)NULL);
	strv_add(&tools.mask, "/home/person/go/credentials");
	strv_add(&tools.empty, "/home/person/go/pkg/mod/cache/vcs");
	tools.go_modules = strdup("/home/person/go/pkg/mod");
	tools.path = strdup("/x/bin:/usr/bin");
	strv_addl(&guarded, "tests/test_a.py",
	    "/home/person/project/tests/test_b.py", "/elsewhere", (char *)NULL);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	toolchain_clear(&tools);
	strv_clear(&guarded);
	profile_view_clear(&view);
	return r;
}
