/* A spec as JSON and back, and JSON that is not one. */
#include "common/compat.h"

#include <setjmp.h>
/* cmocka needs the ones above */
#include <cmocka.h>

#include "sandbox/spec.h"

static void
fill(struct sandbox_spec *s)
{
	spec_init(s, LAYER_INNER);
	spec_mount(s, MOUNT_RO, "/usr", "/usr");
	spec_mount(s, MOUNT_RW, "@merged", "/home/p/\"x\"\n\xc3\xa4");
	spec_mount_try(s, MOUNT_RO, "@merged/.git/config", "/home/p/c");
	spec_mount(s, MOUNT_RO, "/not\xff\xfeutf8", "/not\xff\xfeutf8");
	spec_tmpfs(s, "/tmp", 1 << 20);
	spec_tmpfs(s, "/run", 0);
	spec_mount(s, MOUNT_DIR, NULL, "/tmp/home");
	spec_mount(s, MOUNT_SYMLINK, "usr/bin", "/bin");
	spec_mount(s, MOUNT_PROC, NULL, "/proc");
	spec_mount(s, MOUNT_DEV, NULL, "/dev");
	spec_mount(s, MOUNT_REMOUNT_RO, NULL, "/");
	strv_addl(&s->env, "A=1", "EMPTY=", "LATIN=\xe9", (char *)NULL);
	strv_addl(&s->argv, "sh", "-c", "echo \xff", "", (char *)NULL);
	spec_set_cwd(s, "/home/p");
	s->limits = (struct sandbox_limits){
		.data_bytes = (uint64_t)3 << 40,
		.file_bytes = 2,
		.procs = 3,
		.cpu_s = 4,
		.nofile = 5,
		.memory_bytes = (uint64_t)6 << 40,
		.pids = 7,
		.cpu_milli = 8,
		.disk_bytes = 9,
		.output_bytes = 10,
		.wall_ms = 11,
	};
	s->backend = BACKEND_CONTAINER;
	s->keep_tty = true;
	s->ptrace = true;
}

static void
same_strv(const struct strv *a, const struct strv *b)
{
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++)
		assert_string_equal(a->v[i], b->v[i]);
}

static void
same_str(const char *a, const char *b)
{
	assert_int_equal(a == NULL, b == NULL);
	if (a != NULL)
		assert_string_equal(a, b);
}

static void
same(const struct sandbox_spec *a, const struct sandbox_spec *b)
{
	assert_int_equal(a->layer, b->layer);
	assert_int_equal(a->n_mounts, b->n_mounts);
	for (size_t i = 0; i < a->n_mounts; i++) {
		assert_int_equal(a->mounts[i].kind, b->mounts[i].kind);
		same_str(a->mounts[i].src, b->mounts[i].src);
		same_str(a->mounts[i].dst, b->mounts[i].dst);
		assert_true(a->mounts[i].size == b->mounts[i].size);
		assert_int_equal(a->mounts[i].optional, b->mounts[i].optional);
	}
	same_strv(&a->env, &b->env);
	same_strv(&a->argv, &b->argv);
	same_str(a->cwd, b->cwd);
	same_str(a->hostname, b->hostname);
	assert_memory_equal(&a->limits, &b->limits, sizeof a->limits);
	assert_int_equal(a->backend, b->backend);
	assert_int_equal(a->keep_tty, b->keep_tty);
	assert_int_equal(a->ptrace, b->ptrace);
}

static void
test_round_trip(void **state)
{
	struct sandbox_spec a, b, c;
	json_t *j, *again;
	char *text;
	struct err e;

	(void)state;
	fill(&a);
	j = spec_to_json(&a);
	text = json_text(j);
	assert_int_equal(
	    json_parse(text, strlen(text), 1 << 20, &again, &e), 0);
	if (spec_from_json(again, &b, &e) < 0)
		fail_msg("%s", e.text);
	same(&a, &b);
	spec_copy(&c, &b);
	same(&a, &c);
	json_decref(j);
	json_decref(again);
	free(text);
	spec_clear(&a);
	spec_clear(&b);
	spec_clear(&c);
}

static int
read_text(const char *text, struct err *e)
{
	struct sandbox_spec s;
	json_t *j;
	int r;

	r = json_parse(text, strlen(text), 1 << 20, &j, e);
	if (r < 0)
		fail_msg("the test's own JSON: %s", e->text);
	r = spec_from_json(j, &s, e);
	if (r == 0)
		spec_clear(&s);
	json_decref(j);
	return r;
}

static void
test_hostile(void **state)
{
	static const char *const bad[] = {
		"[]",
		"{}",
		"null",
		"{\"layer\":\"outer\"}",
		"{\"layer\":\"middle\",\"mounts\":[]}",
		"{\"layer\":1,\"mounts\":[]}",
		"{\"layer\":\"inner\",\"mounts\":{}}",
		"{\"layer\":\"inner\",\"mounts\":[1]}",
		"{\"layer\":\"inner\",\"mounts\":[{}]}",
		"{\"layer\":\"inner\",\"mounts\":[{\"kind\":\"ro\"}]}",
		"{\"layer\":\"inner\",\"mounts\":[{\"kind\":\"bind\",\"dst\":\"/a\"}]}",
		/* no source, a source too many */
		"{\"layer\":\"inner\",\"mounts\":[{\"kind\":\"rw\",\"dst\":\"/a\"}]}",
		"{\"layer\":\"inner\",\"mounts\":[{\"kind\":\"tmpfs\",\"src\":\"/a\",\"dst\":\"/a\"}]}",
		/* paths that are relative, not clean, empty */
		"{\"layer\":\"inner\",\"mounts\":[{\"kind\":\"dir\",\"dst\":\"a\"}]}",
		"{\"layer\":\"inner\",\"mounts\":[{\"kind\":\"dir\",\"dst\":\"\"}]}",
		"{\"layer\":\"inner\",\"mounts\":[{\"kind\":\"dir\",\"dst\":\"/a/../b\"}]}",
		"{\"layer\":\"inner\",\"mounts\":[{\"kind\":\"dir\",\"dst\":\"/a//b\"}]}",
		"{\"layer\":\"inner\",\"mounts\":[{\"kind\":\"dir\",\"dst\":\"/a/\"}]}",
		"{\"layer\":\"inner\",\"mounts\":[{\"kind\":\"ro\",\"src\":\"a\",\"dst\":\"/a\"}]}",
		"{\"layer\":\"inner\",\"mounts\":[{\"kind\":\"ro\",\"src\":\"/a/../etc\",\"dst\":\"/a\"}]}",
		"{\"layer\":\"inner\",\"mounts\":[{\"kind\":\"ro\",\"src\":\"@merged/../x\",\"dst\":\"/a\"}]}",
		"{\"layer\":\"inner\",\"mounts\":[{\"kind\":\"ro\",\"src\":\"@mergedx\",\"dst\":\"/a\"}]}",
		"{\"layer\":\"inner\",\"mounts\":[{\"kind\":\"ro\",\"src\":7,\"dst\":\"/a\"}]}",
		"{\"layer\":\"inner\",\"mounts\":[{\"kind\":\"dir\",\"dst\":{\"hex\":\"2f0061\"}}]}",
		"{\"layer\":\"inner\",\"mounts\":[{\"kind\":\"dir\",\"dst\":{\"hex\":\"2f6\"}}]}",
		"{\"layer\":\"inner\",\"mounts\":[{\"kind\":\"dir\",\"dst\":{\"hex\":\"2fzz\"}}]}",
		"{\"layer\":\"inner\",\"mounts\":[{\"kind\":\"dir\",\"dst\":{\"hex\":\"2f2e2e\"}}]}",
		/* sizes */
		"{\"layer\":\"inner\",\"mounts\":[{\"kind\":\"tmpfs\",\"dst\":\"/a\",\"size\":-1}]}",
		"{\"layer\":\"inner\",\"mounts\":[{\"kind\":\"tmpfs\",\"dst\":\"/a\",\"size\":\"1\"}]}",
		"{\"layer\":\"inner\",\"mounts\":[],\"limits\":[]}",
		"{\"layer\":\"inner\",\"mounts\":[],\"limits\":{\"procs\":-3}}",
		/* the rest */
		"{\"layer\":\"inner\",\"mounts\":[],\"env\":[\"NOVALUE\"]}",
		"{\"layer\":\"inner\",\"mounts\":[],\"env\":[\"=x\"]}",
		"{\"layer\":\"inner\",\"mounts\":[],\"env\":\"A=1\"}",
		"{\"layer\":\"inner\",\"mounts\":[],\"argv\":[1]}",
		"{\"layer\":\"inner\",\"mounts\":[],\"argv\":[[\"x\"]]}",
		"{\"layer\":\"inner\",\"mounts\":[],\"cwd\":\"here\"}",
		"{\"layer\":\"inner\",\"mounts\":[],\"cwd\":null}",
		"{\"layer\":\"inner\",\"mounts\":[],\"hostname\":7}",
		"{\"layer\":\"inner\",\"mounts\":[],\"keep_tty\":\"yes\"}",
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < nitems(bad); i++) {
		memset(&e, 0, sizeof e);
		if (read_text(bad[i], &e) >= 0)
			fail_msg("taken: %s", bad[i]);
		assert_true(e.text[0] != '\0');
	}
	assert_int_equal(
	    read_text("{\"layer\":\"inner\",\"mounts\":[],\"more\":1}", &e), 0);
}

static void
test_too_many(void **state)
{
	json_t *j = json_object(), *mounts = json_array();
	struct sandbox_spec s;

	(void)state;
	for (int i = 0; i < 4000; i++)
		json_array_append_new(
		    mounts, json_pack("{s:s,s:s}", "kind", "dir", "dst", "/a"));
	json_object_set_new(j, "layer", json_string("inner"));
	json_object_set_new(j, "mounts", mounts);
	assert_true(spec_from_json(j, &s, NULL) < 0);
	json_decref(j);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
