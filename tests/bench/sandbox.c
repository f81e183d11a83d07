/*
 * sandbox.c - what the sandbox costs over bare bwrap, both in one run.
 *
 *	sandbox ROUNDS      prints one JSON object: name -> [ms, ...]
 *
 * An outer sandbox is started as the host does it (staged and dropped when
 * root, overlay where that works). Inside, this program plays the worker: it
 * runs /bin/true through sandbox_run() with the profile's specification, and
 * between these through posix_spawn() with a list of arguments that is written
 * out here, so that neither profits from a quiet moment.
 *
 *	inner          sandbox_run(), the worker's specification
 *	inner_bare     bwrap with the same flags, mounts, filter
 *	inner_short    bwrap with the shortest list that still is a sandbox
 *	inner_bare_2   inner_bare, two at a time, per command
 *	outer          sandbox_run() of the outer layer with its overlay
 *	outer_bare     bwrap with the same flags and mounts, no overlay
 */
#include "common/compat.h"

#include "bench_bed.h"

#define SPEC_IN IN_LINK "/inner.json"
#define WARM_UP 5

/* --- inside the outer sandbox: the worker -------------------------------- */

static void
read_spec(struct sandbox_spec *ret, struct toolchain *ret_tools)
{
	struct buf b;
	struct err e;
	json_t *j, *v;
	size_t i;

	buf_init(&b, 1 << 20);
	if (file_read(SPEC_IN, true, &b, &e) < 0)
		fatal("%s", e.text);
	j = json_loadb(b.data, b.len, 0, NULL);
	if (j == NULL ||
	    spec_from_json(json_object_get(j, "spec"), ret, &e) < 0)
		fatal("%s: %s", SPEC_IN, j == NULL ? "no JSON" : e.text);
	memset(ret_tools, 0, sizeof *ret_tools);
	json_array_foreach (json_object_get(j, "show"), i, v)
		strv_add(&ret_tools->show, json_string_value(v));
	json_decref(j);
	buf_clear(&b);
}

static int
inside(int rounds)
{
	json_t *all = json_object();
	struct strv same = { 0 }, few = { 0 };
	struct toolchain tools;
	struct sandbox_spec spec;
	double ms, start;
	pid_t pids[2];
	char *text;

	read_spec(&spec, &tools);
	strv_add(&spec.argv, "/bin/true");
	bare_inner(&same, &tools);
	bare_short(&few);
	for (int i = -WARM_UP; i < rounds; i++) {
		ms = time_product(&spec, NULL);
		if (i >= 0)
			note(all, "inner", ms);
		ms = time_bare(&same, LAYER_INNER);
		if (i >= 0)
			note(all, "inner_bare", ms);
		ms = time_bare(&few, LAYER_INNER);
		if (i >= 0)
			note(all, "inner_short", ms);
		start = now_ms();
		pids[0] = spawn_bare(&same, LAYER_INNER);
		pids[1] = spawn_bare(&same, LAYER_INNER);
		wait_bare(pids[0]);
		wait_bare(pids[1]);
		if (i >= 0)
			note(all, "inner_bare_2", (now_ms() - start) / 2);
	}
	text = json_text(all);
	printf("%s\n", text);
	return 0;
}

/* --- outside: the host --------------------------------------------------- */

static void
write_spec(const struct bed *b)
{
	struct profile p = {
		.tools = &b->tools, .root = ROOT_IN, .tree_src = ROOT_IN
	};
	char *path = path_join(b->link, "inner.json"), *text;
	json_t *j = json_object(), *show = json_array();
	struct sandbox_spec spec;
	struct err e;

	profile_inner(&p, false, &spec);
	spec.limits = (struct sandbox_limits){
		.data_bytes = 4096 * MIB, .file_bytes = 4096 * MIB, .procs = 512
	};
	/* As the worker does for protected files. */
	spec_mount_try(&spec, MOUNT_RO, ROOT_IN "/test", ROOT_IN "/test");
	for (size_t i = 0; i < b->tools.show.n; i++)
		json_array_append_new(show, json_string(b->tools.show.v[i]));
	json_object_set_new(j, "spec", spec_to_json(&spec));
	json_object_set_new(j, "show", show);
	text = json_text(j);
	if (file_write(path, text, strlen(text), 0644, &e) < 0)
		fatal("%s", e.text);
	free(text);
	free(path);
	json_decref(j);
	spec_clear(&spec);
}

static void
run_inside(struct bed *b, struct sandbox_spec *spec, const char *rounds)
{
	struct sandbox_run run = { .timeout_ms = 600000 };
	struct sandbox_result res;
	struct buf out, errs;
	struct err e;

	buf_init(&out, 1 << 22);
	buf_init(&errs, 1 << 16);
	strv_addl(&spec->argv, "--inside", rounds, (char *)NULL);
	run.start.spec = spec;
	run.start.overlay = b->layout == LAYOUT_COPY ? NULL : &b->overlay;
	run.out = &out;
	run.err = &errs;
	if (sandbox_run(&run, &res, &e) < 0)
		fatal("%s", e.text);
	if (res.status != 0)
		fatal("inside: status %d: %s", res.status, buf_str(&errs));
	printf("%s", buf_str(&out));
	buf_clear(&out);
	buf_clear(&errs);
}

static void
run_outside(struct bed *b, const char *rounds)
{
	int n = (int)strtol(rounds, NULL, 10);
	char self[PATH_MAX];
	struct strv bare = { 0 };
	struct sandbox_spec spec;
	json_t *all = json_object();
	ssize_t len;
	double ms;

	len = readlink("/proc/self/exe", self, sizeof self - 1);
	if (len <= 0)
		fatal("/proc/self/exe: %s", strerror(errno));
	self[len] = '\0';
	write_spec(b);
	drop(b, self, NULL);
	outer_spec(b, self, &spec);
	bare_outer(b, self, &bare);
	strv_clear(&spec.argv);
	strv_add(&spec.argv, "/bin/true");
	for (int i = -WARM_UP; i < n; i++) {
		ms = time_product(
		    &spec, b->layout == LAYOUT_COPY ? NULL : &b->overlay);
		if (i >= 0)
			note(all, "outer", ms);
		ms = time_bare(&bare, LAYER_OUTER);
		if (i >= 0)
			note(all, "outer_bare", ms);
	}
	printf("%s\n", json_text(all));
	strv_clear(&spec.argv);
	strv_add(&spec.argv, IN_WORKER);
	run_inside(b, &spec, rounds);
}

int
main(int argc, char **argv)
{
	struct bed b = { 0 };
	int status = 1;
	pid_t pid;

	log_init("bench");
	if (argc == 3 && strcmp(argv[1], "--inside") == 0)
		return inside((int)strtol(argv[2], NULL, 10));
	if (argc != 2)
		fatal("usage: sandbox ROUNDS");
	bed_make(&b);
	/* A child, since the way down from root has no way back. */
	pid = fork();
	if (pid == 0) {
		run_outside(&b, argv[1]);
		return 0;
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (path_rmtree(b.dir, NULL) < 0)
		log_warn("%s could not be removed", b.dir);
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
