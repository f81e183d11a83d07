/*
 * full.c - full sandboxes: how many a second, how soon over a large tree, and
 * what it takes to say what was changed in it. Answers are JSON:
 *
 * full rate SECONDS: starts a second, product and bare bwrap in turns, as many
 * at a time as there are processors.
 *
 * full ready TREE N: ms until a command has run over TREE, N times.
 *
 * full patch TREE N...: for each N, ms to list and to write the patch of N
 * changed files in TREE.
 *
 * TREE belongs to the workers' uid (stage_uid()).
 */
#include "common/compat.h"

#include "bench_bed.h"

#include "sandbox/changes.h"

#define TURNS 4

static void
self_path(char self[PATH_MAX])
{
	ssize_t len = readlink("/proc/self/exe", self, PATH_MAX - 1);

	if (len <= 0)
		fatal("/proc/self/exe: %s", strerror(errno));
	self[len] = '\0';
}

/* Each process needs an overlay of its own. */
static void
own_overlay(const struct bed *b, const char *name, struct overlay *ret)
{
	memset(ret, 0, sizeof *ret);
	strv_copy(&ret->lowers, &b->overlay.lowers);
	ret->dir = path_join(b->overlay.dir, name);
	ret->on_tmpfs = b->overlay.on_tmpfs;
	if (mkdir(ret->dir, 0755) < 0 && errno != EEXIST)
		fatal("mkdir %s: %s", ret->dir, strerror(errno));
}

/* --- rate ----------------------------------------------------------------- */

static void
count_starts(struct bed *b, const struct sandbox_spec *spec,
    const struct strv *bare, int nr, double until, int fd)
{
	struct overlay o = { 0 };
	char name[64];
	int n = 0;

	for (; now_ms() < until; n++) {
		/* A worker's workspace is new; it is removed later. */
		overlay_clear(&o);
		(void)snprintf(
		    name, sizeof name, "r%d-%d-%d", (int)getpid(), nr, n);
		if (bare == NULL)
			own_overlay(b, name, &o);
		if (bare != NULL)
			(void)time_bare(bare, LAYER_OUTER);
		else
			(void)time_product(
			    spec, b->layout == LAYOUT_COPY ? NULL : &o);
	}
	if (write(fd, &n, sizeof n) != sizeof n)
		_exit(1);
	_exit(0);
}

static double
rate(struct bed *b, const struct sandbox_spec *spec, const struct strv *bare,
    double seconds)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	double begin = now_ms(), sum = 0;
	int fds[2], n;

	if (fd_pipe(fds) < 0)
		fatal("pipe");
	for (long i = 0; i < cpus; i++)
		if (fork() == 0)
			count_starts(b, spec, bare, (int)i,
			    begin + seconds * 1e3, fds[1]);
	for (long i = 0; i < cpus; i++) {
		if (read(fds[0], &n, sizeof n) != sizeof n)
			fatal("a process failed");
		sum += n;
	}
	while (wait(NULL) > 0)
		continue;
	begin = now_ms() - begin;
	fd_close(&fds[0]);
	fd_close(&fds[1]);
	return sum / begin * 1e3;
}

static void
bench_rate(struct bed *b, const char *self, double seconds)
{
	json_t *all = json_object();
	struct strv bare = { 0 };
	struct sandbox_spec spec;

	outer_spec(b, self, &spec);
	bare_outer(b, self, &bare);
	strv_clear(&spec.argv);
	strv_add(&spec.argv, "/bin/true");
	(void)rate(b, &spec, NULL, 0.2);
	for (int i = 0; i < TURNS; i++) {
		note(all, "product", rate(b, &spec, NULL, seconds / TURNS));
		note(all, "bare", rate(b, &spec, &bare, seconds / TURNS));
	}
	printf("%s\n", json_text(all));
}

/* --- a large tree --------------------------------------------------------- */

static void
over_tree(struct bed *b, const char *tree)
{
	free(b->base);
	b->base = xstrdup(tree);
}

static void
bench_ready(struct bed *b, const char *self, int n)
{
	json_t *all = json_object();
	struct sandbox_spec spec;
	struct overlay o;
	char name[16];
	double ms;

	outer_spec(b, self, &spec);
	strv_clear(&spec.argv);
	strv_addl(&spec.argv, "/bin/sh", "-c", "test -e .", (char *)NULL);
	for (int i = -1; i < n; i++) {
		(void)snprintf(name, sizeof name, "t%d", i + 1);
		own_overlay(b, name, &o);
		ms = time_product(&spec, b->layout == LAYOUT_COPY ? NULL : &o);
		if (i >= 0)
			note(all, "ready", ms);
	}
	printf("%s\n", json_text(all));
}

/* n files of the tree are changed by a command inside. */
static void
bench_patch(struct bed *b, const char *self, int n, json_t *all)
{
	char key[32], *up, *tmp, *base = stage_path(&b->st, b->base);
	struct sandbox_spec spec;
	struct changes c;
	struct overlay o;
	struct buf patch;
	struct err e;
	double start, ms;

	if (b->layout != LAYOUT_OVERLAY)
		fatal("the upper layer can't be read from outside here");
	outer_spec(b, self, &spec);
	strv_clear(&spec.argv);
	strv_addl(&spec.argv, "/bin/sh", "-c", (char *)NULL);
	strv_addf(&spec.argv,
	    "find . -path ./.git -prune -o -type f -print | head -n %d | "
	    "while read -r f; do echo changed >>\"$f\"; done",
	    n);
	(void)snprintf(key, sizeof key, "p%d", n);
	own_overlay(b, key, &o);
	(void)time_product(&spec, &o);
	up = path_join(o.dir, "up");
	/* A worker's /tmp is a tmpfs. */
	tmp = xstrdup("/dev/shm/foray-bench-XXXXXX");
	if (mkdtemp(tmp) == NULL)
		fatal("mkdir %s: %s", tmp, strerror(errno));
	for (int i = 0; i < 5; i++) {
		buf_init(&patch, BUF_NOMAX);
		start = now_ms();
		if (changes_list(base, up, NULL, 100000, &c, &e) < 0)
			fatal("%s", e.text);
		ms = now_ms() - start;
		if ((int)c.n != n)
			fatal("%zu changes instead of %d", c.n, n);
		(void)snprintf(key, sizeof key, "list %d", n);
		note(all, key, ms);
		if (changes_patch(&c, base, up, tmp, NULL, NULL, &patch, &e) <
		    0)
			fatal("%s", e.text);
		(void)snprintf(key, sizeof key, "patch %d", n);
		note(all, key, now_ms() - start);
		buf_clear(&patch);
		changes_clear(&c);
	}
	if (path_rmtree(tmp, NULL) < 0)
		log_warn("%s could not be removed", tmp);
	free(up);
	free(tmp);
	free(base);
}

static int
outside(struct bed *b, int argc, char **argv)
{
	char self[PATH_MAX];
	json_t *all;

	self_path(self);
	drop(
	    b, self, argc > 2 && strcmp(argv[1], "rate") != 0 ? argv[2] : NULL);
	if (strcmp(argv[1], "rate") == 0) {
		bench_rate(b, self, strtod(argv[2], NULL));
		return 0;
	}
	over_tree(b, argv[2]);
	if (strcmp(argv[1], "ready") == 0) {
		bench_ready(b, self, atoi(argv[3]));
		return 0;
	}
	all = json_object();
	for (int i = 3; i < argc; i++)
		bench_patch(b, self, atoi(argv[i]), all);
	printf("%s\n", json_text(all));
	return 0;
}

int
main(int argc, char **argv)
{
	struct bed b = { 0 };
	int status = 1;
	pid_t pid;

	log_init("bench");
	if (argc < 3 || (argc < 4 && strcmp(argv[1], "rate") != 0))
		fatal("usage: full rate SECONDS | ready TREE N | "
		      "patch TREE N...");
	bed_make(&b);
	pid = fork();
	if (pid == 0)
		return outside(&b, argc, argv);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (path_rmtree(b.dir, NULL) < 0)
		log_warn("%s could not be removed", b.dir);
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
