/* probe_sandbox.c - the probes that start sandboxes and mount overlays. */
#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/num.h"
#include "common/path.h"
#include "common/spawn.h"
#include "sandbox/bwrap_args.h"
#include "sandbox/landlock.h"
#include "sandbox/nest.h"
#include "sandbox/overlay.h"
#include "sandbox/probe.h"
#include "sandbox/profile.h"
#include "sandbox/stage.h"
#include "sandbox/start.h"
#include "sandbox/why.h"

#define PROBE_MS 20000

const char *
layout_str(enum layout l)
{
	switch (l) {
	case LAYOUT_OVERLAY:
		return "overlay";
	case LAYOUT_TMPFS:
		return "overlay on tmpfs";
	case LAYOUT_COPY:
		return "copy";
	}
	return "?";
}

/* --- both layers -----------------------------------------------------------
 */

/* The profiles that are really used, around `true`: an outer sandbox whose
 * command is the bwrap of an inner one. */
static void
make_spec(struct sandbox_spec *outer)
{
	struct profile p = { .root = "/tmp/tree",
		.tree_src = "/usr",
		.link_src = "/usr",
		.worker_src = "/usr" };
	struct sandbox_spec inner;

	profile_outer(&p, outer);
	strv_clear(&outer->argv);
	p.tree_src = NULL;
	profile_inner(&p, true, &inner);
	strv_add(&outer->argv, "bwrap");
	bwrap_args(&inner, -1, -1, &outer->argv);
	strv_addl(&outer->argv, "--", "true", (char *)NULL);
	spec_clear(&inner);
}

static int
try_both(struct err *e)
{
	struct sandbox_run run = { .timeout_ms = PROBE_MS };
	struct sandbox_result res;
	struct sandbox_spec spec;
	struct buf out;
	int r;

	make_spec(&spec);
	buf_init(&out, 4096);
	run.start.spec = &spec;
	run.start.stage = true;
	run.out = &out;
	r = sandbox_run(&run, &res, e);
	if (r == 0 && res.timed_out)
		r = err_set(e, ERR_SANDBOX, "it did not end");
	else if (r == 0 && res.status != 0)
		r = err_set(e, ERR_SANDBOX, "inner: %.*s",
		    (int)strcspn(buf_str(&out), "\n"), buf_str(&out));
	buf_clear(&out);
	spec_clear(&spec);
	return r;
}

/* In a nest: what the probe starts may not outlive us, and it runs before the
 * host has a pid namespace that would see to that. */
static int
try_nested(void *ctx)
{
	return try_both(ctx) == 0 ? 0 : 1;
}

static int
try_in_nest(struct err *e)
{
	struct err *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int r;

	if (shared == MAP_FAILED)
		return err_set(e, -errno, "mmap: %s", strerror(errno));
	(void)err_set(shared, ERR_SANDBOX, "the probe ended early");
	if ((r = nest_plain(try_nested, shared, e)) > 0) {
		*e = *shared;
		r = ERR_SANDBOX;
	}
	(void)munmap(shared, sizeof *shared);
	return r;
}

int
probe_sandbox(struct err *e)
{
	struct err why = { 0 };
	struct why w;

	if (why_uids(e) < 0)
		return ERR_SANDBOX;
	if (try_in_nest(&why) == 0)
		return 0;
	/* That error has its own remedy in it. */
	if (strstr(why.text, "is not installed") != NULL)
		return err_set(e, ERR_SANDBOX, "%s", why.text);
	w = why_bwrap(why.text);
	return err_set(e, ERR_SANDBOX,
	    "the sandbox can't be set up here: %s (%.200s). Remedy: %s%s",
	    w.cause, why.text, w.remedy,
	    landlock_abi() > 0 ? ". Or, weaker, with one layer less: "
				 "--sandbox container"
			       : "");
}

/* --- overlay ---------------------------------------------------------------
 */

static int
touch(const char *dir, const char *name)
{
	char *path = path_join(dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	free(path);
	if (fd < 0)
		return -errno;
	fd_close(&fd);
	return 0;
}

/* A deleted file, a directory that was replaced, a new file: as git would. */
static bool
works(const char *merged)
{
	char *file = path_join(merged, "file"), *dir = path_join(merged, "dir");
	char *inside = path_join(merged, "dir/old");
	bool ok;

	ok = unlink(file) == 0 && unlink(inside) == 0 && rmdir(dir) == 0 &&
	    mkdir(dir, 0755) == 0 && touch(merged, "dir/new") == 0 &&
	    access(file, F_OK) < 0 && access(inside, F_OK) < 0;
	free(file);
	free(dir);
	free(inside);
	return ok;
}

static void try_overlay(const char *top, bool on_tmpfs) noreturn_fn;

/* In a child, as the uid that would do it. */
static void
try_overlay(const char *top, bool on_tmpfs)
{
	struct stage st = { 0 };
	struct overlay o = { .on_tmpfs = on_tmpfs };
	char *base, *old, *here, *merged;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (stage_open(&st, NULL) < 0 || stage_add(&st, top, NULL) < 0 ||
	    stage_drop(&st, NULL) < 0)
		_exit(1);
	here = stage_path(&st, top);
	base = path_join(here, "base");
	old = path_join(base, "dir");
	o.dir = path_join(here, on_tmpfs ? "t" : "o");
	merged = path_join(o.dir, "m");
	if (path_mkdirs(old, 0755, NULL) < 0 ||
	    path_mkdirs(o.dir, 0755, NULL) < 0 || touch(base, "file") < 0 ||
	    touch(base, "dir/old") < 0)
		_exit(1);
	strv_add(&o.lowers, base);
	_exit(overlay_enter(&o, NULL) == 0 && works(merged) ? 0 : 1);
}

static bool
overlay_works(const char *top, bool on_tmpfs)
{
	int status = 1;
	pid_t pid = fork();

	if (pid == 0)
		try_overlay(top, on_tmpfs);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return pid > 0 && status == 0;
}

enum layout
probe_layout(const char *dir)
{
	char *top = path_join(dir, ".foray-probe-XXXXXX");
	enum layout l = LAYOUT_COPY;

	if (mkdtemp(top) == NULL) {
		free(top);
		return l;
	}
	if (geteuid() == 0 && chown(top, SANDBOX_UID, SANDBOX_UID) < 0)
		goto out;
	if (overlay_works(top, false))
		l = LAYOUT_OVERLAY;
	else if (overlay_works(top, true))
		l = LAYOUT_TMPFS;
out:
	(void)path_rmtree(top, NULL); /* a few empty files may stay */
	free(top);
	return l;
}
