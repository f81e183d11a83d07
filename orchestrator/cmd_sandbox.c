/*
 * cmd_sandbox.c - one command in the command sandbox of a worker: the real tree
 * with .git read-only, or a throw-away copy.
 */
#include "common/compat.h"

#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/num.h"
#include "common/path.h"
#include "common/spawn.h"
#include "common/text.h"
#include "orchestrator/cmd.h"
#include "orchestrator/run/livetree.h"
#include "orchestrator/run/nest.h"
#include "orchestrator/run/run.h"
#include "orchestrator/run/settings.h"
#include "sandbox/explain.h"
#include "sandbox/lockdir.h"
#include "sandbox/profile.h"
#include "sandbox/snapshot.h"
#include "sandbox/stage.h"
#include "sandbox/start.h"

static int cmd_sandbox_main(int argc, char **argv);

const struct cmd cmd_sandbox = {
	.name = "sandbox",
	.synopsis = "[-C DIR] [--copy] [OPTIONS] -- CMD [ARG]...",
	.purpose = "Run a command in the worker's command sandbox",
	.help =
	    "  -C, --repo DIR       the tree (.); writable, its .git read-only\n"
	    "      --copy           on a copy that is thrown away\n"
	    "      --profile NAME   strict, default, build, debug, one of yours, "
	    "or a file\n"
	    "      --show PATH      visible too, read-only\n"
	    "      --write PATH     visible too, writable\n"
	    "      --hide PATH      not visible\n"
	    "      --env NAME[=VALUE]  a variable; without a value: yours\n"
	    "      --max-time D     90, 10m, 2h: then it is killed (status "
	    "124)\n"
	    "      --explain        say what it could see and do, and run "
	    "nothing\n"
	    "      --json           with --explain: the mounts, limits and "
	    "variables as data\n\n"
	    "No network, no home directory, no other processes. The command's "
	    "exit status is\npassed on, and so are signals; 125 is a failure of "
	    "the sandbox itself. Profiles and\nthe settings' \"sandbox\": man "
	    "foray(1).\n",
	.run = cmd_sandbox_main,
};

#define COPY_PREFIX "foray-copy-"
#define STATUS_TIMEOUT 124 /* as timeout(1) */

struct request {
	const char *repo, *profile;
	struct profile_def extra; /* --show, --write, --hide, --env */
	bool copy, explain, json;
	uint64_t max_ms;
	char **argv;
};

/* All that a sandbox is made of. */
struct made {
	struct livetree tree;
	struct stat dir;        /* where it stands */
	struct snapshot snap;   /* --copy */
	struct overlay overlay; /* --copy */
	int copy_lock; /* its directory is ours as long as it is open */
	struct profile_view view;
	struct toolchain tools;
	struct sandbox_spec spec;
	struct strv live;
	char *cache;
};

static void
made_clear(struct made *m)
{
	if (m->overlay.dir != NULL)
		(void)path_rmtree(m->overlay.dir, NULL);
	fd_close(&m->copy_lock);
	overlay_clear(&m->overlay);
	snapshot_clear(&m->snap);
	livetree_clear(&m->tree);
	profile_view_clear(&m->view);
	toolchain_clear(&m->tools);
	spec_clear(&m->spec);
	strv_clear(&m->live);
	free(m->cache);
}

/* --- what it is made of ----------------------------------------------------
 */

static int
make_copy(struct made *m, struct err *e)
{
	char *mount = NULL, *cache = NULL, *store;
	struct snapshot_opts o = { 0 };
	struct strv hidden = { 0 };
	uid_t uid = stage_uid();
	int r;

	if ((r = path_cache_dir(&cache, e)) < 0)
		return r;
	store = path_join(cache, "snapshots");
	o.store = store;
	strv_extend(&hidden, &m->view.hide_dirs);
	strv_extend(&hidden, &m->view.hide_files);
	o.hide = &hidden;
	r = snapshot_create(m->tree.root, &o, &m->snap, e);
	strv_clear(&hidden);
	free(store);
	free(cache);
	if (r < 0)
		return r;
	lockdir_sweep("/tmp", COPY_PREFIX);
	if ((r = lockdir_create(
		 "/tmp", COPY_PREFIX, &mount, &m->copy_lock, e)) < 0)
		return r;
	m->overlay.dir = mount;
	m->overlay.on_tmpfs = true;
	strv_add(&m->overlay.lowers, m->snap.tree);
	if (uid != geteuid() && chown(mount, uid, uid) < 0)
		return err_set(
		    e, -errno, "chown %s: %s", mount, strerror(errno));
	return 0;
}

static void
add_all(struct strv *to, const struct strv *from)
{
	for (size_t i = 0; i < from->n; i++)
		strv_add(to, from->v[i]);
}

/* The profile, the settings' changes to it, the command line's. */
static int
make_view(
    const struct request *q, const char *home, struct made *m, struct err *e)
{
	struct profile_def d = { 0 };
	json_t *settings = NULL;
	const char *eq;
	int r;

	if ((r = settings_load(&settings, e)) == 0)
		r = settings_profile(settings, q->profile, &d, e);
	json_decref(settings);
	if (r < 0)
		return r;
	add_all(&d.show, &q->extra.show);
	add_all(&d.write, &q->extra.write);
	add_all(&d.hide, &q->extra.hide);
	add_all(&d.pass_env, &q->extra.pass_env);
	for (size_t i = 0; i < q->extra.env.n; i++) {
		eq = strchr(q->extra.env.v[i], '=');
		char *name = xstrndup(
		    q->extra.env.v[i], (size_t)(eq - q->extra.env.v[i]));

		strv_setenv(&d.env, name, eq + 1);
		free(name);
	}
	profile_view_find(&d, home, &m->view);
	return 0;
}

/* Kept from one sandbox to the next, but never the person's own. */
static int
make_cache(struct made *m, struct err *e)
{
	char *dir = NULL;
	uid_t uid = stage_uid();
	int r;

	if (!m->view.def.cache)
		return 0;
	if ((r = path_cache_dir(&dir, e)) < 0)
		return r;
	m->cache = path_join(dir, "packages");
	free(dir);
	if ((r = path_mkdirs(m->cache, 0700, e)) < 0)
		return r;
	if (uid != geteuid() && lchown(m->cache, uid, uid) < 0)
		return err_set(
		    e, -errno, "chown %s: %s", m->cache, strerror(errno));
	return 0;
}

static void
make_spec(const struct request *q, struct made *m, bool tty)
{
	const char *term = getenv("TERM");
	struct profile p = {
		.view = &m->view,
		.tools = &m->tools,
		.cache_src = m->cache,
		.root = m->tree.root,
		.workdir = m->tree.dir,
		.tree_src = q->copy ? "@merged" : m->tree.root,
		.guarded = &m->tree.guarded,
		.pinned = &m->tree.pinned,
		.shown = &m->tree.shown,
	};

	profile_direct(&p, &m->spec);
	m->spec.keep_tty = tty;
	if (tty && term != NULL)
		strv_setenv(&m->spec.env, "TERM", term);
	if (q->copy)
		return;
	strv_add(&m->live, m->tree.root);
	strv_extend(&m->live, &m->tree.shown);
	strv_extend(&m->live, &m->view.write);
}

static int
make(const struct request *q, struct made *m, bool tty, struct err *e)
{
	char *home = NULL;
	int r;

	if (stat(q->repo, &m->dir) < 0)
		return err_set(
		    e, ERR_USAGE, "%s: %s", q->repo, strerror(errno));
	(void)path_home(&home, NULL);
	if ((r = livetree_find(q->repo, &m->tree, e)) < 0 ||
	    (r = make_view(q, home, m, e)) < 0 || (r = make_cache(m, e)) < 0)
		goto out;
	/* An explanation needs no copy to be made. */
	if (q->copy && !q->explain)
		r = make_copy(m, e);
	else if (!q->copy)
		r = livetree_look(&m->tree, e);
	if (r < 0)
		goto out;
	toolchain_find(getenv("PATH"), home, m->tree.root, &m->tools);
	make_spec(q, m, tty);
out:
	free(home);
	return r;
}

/* --- while it runs ---------------------------------------------------------
 */

static const int passed_on[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1,
	SIGUSR2, SIGCONT, SIGWINCH, SIGALRM };

/* A terminal's own signals reach the command by themselves when it shares the
 * terminal with us. */
static void
pass_on(
    const struct sandbox_proc *p, const struct signalfd_siginfo *si, bool tty)
{
	int sig = (int)si->ssi_signo;

	if (tty && si->ssi_code == SI_KERNEL)
		return;
	if (!sandbox_signal(p, sig) &&
	    (sig == SIGINT || sig == SIGTERM || sig == SIGHUP ||
		sig == SIGQUIT))
		sandbox_kill(p); /* it has not begun yet, or is ending */
}

/* Returns its wait status; *ret_late: it was killed for taking too long. */
static int
attend(struct sandbox_proc *p, int sigfd, uint64_t max_ms, bool tty,
    bool *ret_late)
{
	struct pollfd pfd = { .fd = sigfd, .events = POLLIN };
	uint64_t end = max_ms > 0 ? loop_now_ms() + max_ms : 0, now;
	struct signalfd_siginfo si;
	int status, wait = -1;

	for (;;) {
		if (waitpid(p->pid, &status, WNOHANG) == p->pid)
			return status;
		if (end > 0) {
			now = loop_now_ms();
			wait = now >= end         ? 0
			    : end - now > INT_MAX ? INT_MAX
						  : (int)(end - now);
			if (wait == 0) {
				*ret_late = true;
				sandbox_kill(p);
				end = 0;
				wait = -1;
			}
		}
		if (poll(&pfd, 1, wait) <= 0 ||
		    read(sigfd, &si, sizeof si) != sizeof si)
			continue;
		if (si.ssi_signo != SIGCHLD)
			pass_on(p, &si, tty);
		else if (tty && si.ssi_code == CLD_STOPPED)
			nest_stopped();
	}
}

/* A command in a directory above the tree can exchange the tree for a link
 * while we look at it and bwrap mounts it by name. What is mounted in the end
 * has to be what was meant in the beginning. */
#define IN_TREE \
	"test \"$(command -p stat -c %d:%i .)\" = \"$1\" || " \
	"{ echo 'foray: the tree was exchanged for another' >&2; exit 125; }; " \
	"shift; "

/* By a shell, so that a command that is not there is 127 and no failure of the
 * sandbox. With a terminal its signals go to all in the foreground, bwrap too,
 * which has to ignore them; GNU env undoes that for the command. */
static void
set_command(struct made *m, char **argv, bool tty)
{
	if (tty)
		strv_addl(&m->spec.argv, "/usr/bin/env",
		    "--default-signal=INT,QUIT", (char *)NULL);
	if (m->live.n > 0) {
		strv_addl(&m->spec.argv, "/bin/sh", "-c", IN_TREE "exec \"$@\"",
		    "sandbox", (char *)NULL);
		strv_addf(&m->spec.argv, "%ju:%ju", (uintmax_t)m->dir.st_dev,
		    (uintmax_t)m->dir.st_ino);
	} else {
		strv_addl(&m->spec.argv, "/bin/sh", "-c", "exec \"$@\"",
		    "sandbox", (char *)NULL);
	}
	for (; *argv != NULL; argv++)
		strv_add(&m->spec.argv, *argv);
}

static int
block_signals(struct err *e)
{
	sigset_t set;
	int fd;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < nitems(passed_on); i++)
		(void)sigaddset(&set, passed_on[i]);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	if ((fd = signalfd(-1, &set, SFD_CLOEXEC)) < 0)
		return err_set(e, -errno, "signalfd: %s", strerror(errno));
	return fd;
}

static int
run(const struct request *q, struct made *m, bool tty, struct err *e)
{
	bool shield = tty && nest_env_resets_signals(), late = false;
	struct sandbox_start s = { .spec = &m->spec,
		.stage = true,
		.ignore_keys = shield,
		.fds = { STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO },
		.overlay = q->copy ? &m->overlay : NULL,
		.live = &m->live };
	struct sandbox_proc p;
	pid_t feeder = -1;
	int sigfd, r, ws, status;

	if ((sigfd = block_signals(e)) < 0)
		return sigfd;
	set_command(m, q->argv, shield);
	if ((r = nest_stdin(&s.fds[0], &feeder, e)) == 0)
		r = sandbox_start(&s, &p, e);
	if (r == 0 && p.live_readonly)
		log_warn("the tree is read-only here: its files can't be "
			 "mapped to an unprivileged owner on this file system "
			 "(--copy gives a writable copy)");
	if (r == 0) {
		ws = attend(&p, sigfd, q->max_ms, tty, &late);
		if (!sandbox_finished(&p, ws, &status))
			r = err_set(e, ERR_SANDBOX,
			    "bwrap could not set the sandbox up (foray doctor "
			    "says what is missing)");
		else
			r = late ? STATUS_TIMEOUT : status;
	}
	if (late)
		log_warn("killed: --max-time is over");
	nest_stdin_close(s.fds[0], feeder);
	fd_close(&sigfd);
	return r;
}

struct nested {
	const struct request *q;
	struct made *m;
	bool tty;
};

static int
run_nested(void *ctx)
{
	struct nested *n = ctx;
	struct err e;
	int r = run(n->q, n->m, n->tty, &e);

	if (r >= 0)
		return r;
	log_error("%s", e.text);
	return EXIT_OWN;
}

/* --- the command line ------------------------------------------------------
 */

static int
print_explanation(const struct request *q, const struct made *m)
{
	struct buf b;
	json_t *j;
	char *text;

	if (q->json) {
		j = spec_to_json(&m->spec);
		text = json_text(j);
		json_decref(j);
		(void)puts(text);
		free(text);
		return 0;
	}
	buf_init(&b, BUF_NOMAX);
	explain(&m->view.def, &m->spec, m->tree.root, &b);
	(void)fputs(buf_str(&b), stdout);
	buf_clear(&b);
	return 0;
}

enum {
	OPT_COPY = 256,
	OPT_PROFILE,
	OPT_SHOW,
	OPT_WRITE,
	OPT_HIDE,
	OPT_ENV,
	OPT_MAX_TIME,
	OPT_EXPLAIN,
	OPT_JSON
};

static const struct option options[] = {
	{ "repo", required_argument, NULL, 'C' },
	{ "copy", no_argument, NULL, OPT_COPY },
	{ "profile", required_argument, NULL, OPT_PROFILE },
	{ "show", required_argument, NULL, OPT_SHOW },
	{ "write", required_argument, NULL, OPT_WRITE },
	{ "hide", required_argument, NULL, OPT_HIDE },
	{ "env", required_argument, NULL, OPT_ENV },
	{ "max-time", required_argument, NULL, OPT_MAX_TIME },
	{ "explain", no_argument, NULL, OPT_EXPLAIN },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* A path of the command line is relative to where we are; here a missing one is
 * a mistake. */
static int
add_path(struct strv *to, const char *option, const char *arg, struct err *e)
{
	char *path = realpath(arg, NULL), *abs;

	if (path == NULL)
		return err_set(
		    e, ERR_USAGE, "%s: %s: %s", option, arg, strerror(errno));
	if (strcmp(path, "/") == 0) {
		free(path);
		return err_set(e, ERR_USAGE,
		    "%s: / is everything: name what is needed", option);
	}
	/* as it was called, so that it is found by that name */
	abs = arg[0] == '/' ? path_normal(arg) : xstrdup(path);
	strv_add(to, abs);
	free(abs);
	free(path);
	return 0;
}

static int
add_env(struct profile_def *d, const char *arg, struct err *e)
{
	size_t len = strcspn(arg, "=");

	if (len == 0)
		return err_set(e, ERR_USAGE,
		    "--env: want NAME or NAME=VALUE, not \"%s\"", arg);
	strv_add(arg[len] == '=' ? &d->env : &d->pass_env, arg);
	return 0;
}

static int
set_option(struct request *q, int opt, const char *arg, struct err *e)
{
	switch (opt) {
	case 'C':
		q->repo = arg;
		break;
	case OPT_COPY:
		q->copy = true;
		break;
	case OPT_PROFILE:
		q->profile = arg;
		break;
	case OPT_SHOW:
		return add_path(&q->extra.show, "--show", arg, e);
	case OPT_WRITE:
		return add_path(&q->extra.write, "--write", arg, e);
	case OPT_HIDE:
		return add_path(&q->extra.hide, "--hide", arg, e);
	case OPT_ENV:
		return add_env(&q->extra, arg, e);
	case OPT_MAX_TIME:
		return num_duration_ms(arg, "--max-time", &q->max_ms, e);
	case OPT_EXPLAIN:
		q->explain = true;
		break;
	case OPT_JSON:
		q->json = true;
		break;
	default:
		break;
	}
	return 0;
}

static int
check(const struct request *q, struct err *e)
{
	if (*q->argv == NULL && !q->explain)
		return err_set(e, ERR_USAGE, "give the command after --");
	if (q->json && !q->explain)
		return err_set(e, ERR_USAGE, "--json goes with --explain");
	return 0;
}

static int
cmd_sandbox_main(int argc, char **argv)
{
	struct request q = { .repo = "." };
	struct made m = { .copy_lock = -1 };
	struct nested n = { .q = &q, .m = &m };
	struct err e = { 0 };
	int opt, r = 0;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, "+:C:h", options, NULL)) != -1) {
		if (opt == 'h')
			return cmd_help(&cmd_sandbox);
		if (opt == '?' || opt == ':') {
			(void)cmd_bad_option(&cmd_sandbox, opt, argv);
			goto own;
		}
		if (set_option(&q, opt, optarg, &e) < 0) {
			(void)cmd_usage(&cmd_sandbox, "%s", e.text);
			goto own;
		}
	}
	q.argv = argv + optind;
	if (check(&q, &e) < 0) {
		(void)cmd_usage(&cmd_sandbox, "%s", e.text);
		goto own;
	}
	n.tty = isatty(STDIN_FILENO) == 1;
	r = make(&q, &m, n.tty, &e);
	if (r == 0)
		r = q.explain ? print_explanation(&q, &m)
			      : nest(run_nested, &n, n.tty, &e);
	made_clear(&m);
	profile_def_clear(&q.extra);
	if (r >= 0)
		return r;
	log_error("%s", e.text);
	return EXIT_OWN;
own:
	profile_def_clear(&q.extra);
	return EXIT_OWN;
}
