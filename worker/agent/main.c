/*
 * main.c - foray-worker: one subtask in one cage, then gone.
 *
 * worker.json says how to reach the orchestrator and what a command's sandbox
 * looks like; READY is answered by TASK; the task's kind decides what is done;
 * its SUMMARY is the only result.
 */
#include "common/compat.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sysexits.h>

#include "common/log.h"
#include "common/loop.h"
#include "common/path.h"
#include "sandbox/changes.h"
#include "sandbox/container.h"
#include "sandbox/limits.h"
#include "sandbox/profile.h"
#include "worker/agent/agent.h"
#include "worker/agent/batch.h"
#include "worker/agent/command.h"
#include "worker/agent/restore.h"

#define TASK_WAIT_MS 30000
#define READY_AGAIN_MS 5000
#define SPARE_AGAIN_MS 30000

static const struct kind {
	const char *name;
	void (*run)(struct agent *a);
} kinds[] = {
	{ "baseline", baseline_run },
	{ "plan", turn_run },
	{ "explore", turn_run },
	{ "verify", verify_run },
	{ "reproduce", turn_run },
	{ "review", turn_run },
	{ "confirm", confirm_run },
	{ "tool", turn_run },
};

static const char *
link_dir(void)
{
	const char *s = getenv("FORAY_LINK");

	return s != NULL && *s != '\0' ? s : IN_LINK;
}

static int
get_task(struct agent *a, struct err *e)
{
	struct msg m = { .type = MSG_READY };
	int r;

	m.u.ready.protocol = PROTO_VERSION;
	m.u.ready.token = a->cfg.token;
	/* The host looks after one that only waits. */
	r = link_call(a->link, &m, MSG_TASK, NULL, NULL,
	    a->cfg.spare ? SPARE_AGAIN_MS : READY_AGAIN_MS,
	    a->cfg.spare ? 0 : TASK_WAIT_MS, &a->task_msg, e);
	if (r < 0)
		return r;
	a->task = &a->task_msg->u.task;
	if (a->task->parallel > 0)
		a->cfg.parallel = a->task->parallel;
	return r;
}

/* The reproducer's files are there before anything else happens; a verification
 * puts them there itself, after the candidate. */
static int
add_reproducer(struct agent *a, struct err *e)
{
	const struct msg_task *t = a->task;
	int r;

	if (t->base_patch_len == 0)
		return 0;
	r = patch_paths(t->base_patch, t->base_patch_len, &a->reproducer, e);
	if (r == 0 && strcmp(t->kind, "verify") != 0)
		r = patch_apply(
		    a->cfg.root, t->base_patch, t->base_patch_len, false, e);
	if (r < 0)
		err_prefix(e, "the reproducer");
	return r;
}

/* A reviewer sees the patch in place. */
static int
add_candidate(struct agent *a, struct err *e)
{
	const struct msg_task *t = a->task;
	int r;

	if (strcmp(t->kind, "review") != 0)
		return 0;
	r = patch_apply(a->cfg.root, t->patch, t->patch_len, false, e);
	return r < 0 ? err_prefix(e, "the patch to review") : 0;
}

static void
guard(struct agent *a)
{
	const struct msg_strs *given = &a->task->guarded;
	struct strv all = { 0 };
	size_t i;

	for (i = 0; i < given->n; i++)
		strv_add(&all, given->v[i]);
	strv_extend(&all, &a->reproducer);
	treefs_guard(&a->fs, (const char *const *)all.v, all.n);
	a->fs.refused = &a->refused;
	strv_clear(&all);
	command_guard(a);
}

static int
prepare(struct agent *a, struct err *e)
{
	char *cmd = path_join(a->cfg.tmp, "cmd");
	int r = 0;

	if (mkdir(cmd, 0700) < 0 && errno != EEXIST)
		r = err_set(e, -errno, "mkdir %s: %s", cmd, strerror(errno));
	/* Commands see it as /tmp where mounts are made. */
	if (r == 0)
		r = treefs_open(&a->fs, a->cfg.root, a->cfg.workdir, cmd,
		    a->cfg.inner.backend == BACKEND_BWRAP ? "/tmp" : cmd, e);
	free(cmd);
	if (r < 0 || (r = add_reproducer(a, e)) < 0 ||
	    (r = add_candidate(a, e)) < 0)
		return r;
	guard(a);
	return 0;
}

static void
do_task(struct agent *a)
{
	struct err e;
	size_t i;

	if (prepare(a, &e) < 0) {
		agent_end(a, "error", "%s", e.text);
		return;
	}
	for (i = 0; i < nitems(kinds); i++) {
		if (strcmp(kinds[i].name, a->task->kind) == 0) {
			kinds[i].run(a);
			return;
		}
	}
	agent_end(a, "error", "this worker knows no task of kind \"%s\"",
	    a->task->kind);
}

static void
clear(struct agent *a)
{
	batch_free(a);
	link_close(a->link);
	outcome_clear(&a->out);
	strv_clear(&a->written);
	strv_clear(&a->refused);
	strv_clear(&a->todos);
	strv_clear(&a->reproducer);
	restore_free(a->restore);
	treefs_close(&a->fs);
	msg_free(a->task_msg);
	config_clear(&a->cfg);
}

/* A socket's path has 107 bytes at most, and where nothing is mounted it may
 * lie deep. */
static int
shorten_socket(struct config *c, struct err *e)
{
	int fd;

	if (c->inner.backend == BACKEND_BWRAP)
		return 0;
	fd = open(link_dir(), O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_set(
		    e, -errno, "open %s: %s", link_dir(), strerror(errno));
	free(c->socket);
	c->socket = xasprintf("ipc:///proc/self/fd/%d/s", fd);
	return 0; /* stays open as long as we live */
}

static int
work(struct agent *a, struct err *e)
{
	int r;

	if ((r = config_read(link_dir(), &a->cfg, e)) < 0 ||
	    (r = shorten_socket(&a->cfg, e)) < 0)
		return r;
	if ((r = link_open(a->cfg.socket, a->cfg.worker, &a->link, e)) < 0)
		return r;
	if ((r = get_task(a, e)) < 0)
		return r;
	/* Connected, and nothing hostile was looked at yet: where no namespace
	 * keeps us from other sockets, no more of them. */
	if (a->cfg.inner.backend != BACKEND_BWRAP &&
	    (r = container_seal_sockets(e)) < 0)
		return r;
	a->started_ms = loop_now_ms();
	do_task(a);
	return summary_send(a, e);
}

int
main(int argc, char **argv)
{
	struct agent a = { .fs = { .root_fd = -1, .tmp_fd = -1 } };
	struct err e;
	int r;

	(void)argv;
	log_init("foray-worker");
	if (argc != 1) {
		log_error("foray-worker is started by foray-host and takes no "
			  "arguments");
		return EX_USAGE;
	}
	signal(SIGPIPE, SIG_IGN);
	umask(022);
	limits_raise_nofile();
	buf_init(&a.out.output, BUF_NOMAX);
	buf_init(&a.out.patch, BUF_NOMAX);
	r = work(&a, &e);
	if (r < 0)
		log_error("%s", e.text);
	clear(&a);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
