#include "common/compat.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/fdio.h"
#include "common/log.h"
#include "common/num.h"
#include "common/options.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/cmd.h"
#include "orchestrator/metrics/endpoint.h"
#include "orchestrator/run/approve.h"
#include "orchestrator/run/fleet.h"
#include "orchestrator/run/run.h"
#include "orchestrator/run/topology.h"
#include "proto/label.h"

#define MAX_TASK (128u << 10)

enum {
	OPT_PROTECT = 256,
	OPT_UNPROTECT,
	OPT_PROFILE,
	OPT_ASK,
	OPT_TOPOLOGY,
	OPT_SEED,
	OPT_NO_BUILTIN,
	OPT_ALL,
	OPT_APPLY,
	OPT_BRANCH,
	OPT_JSON,
	OPT_SANDBOX,
	OPT_ALLOW_NET,
	OPT_LABEL,
	OPT_METRICS
};

static const struct option options[] = {
	{ "repo", required_argument, NULL, 'C' },
	{ "test", required_argument, NULL, 't' },
	{ "check", required_argument, NULL, 'k' },
	{ "workers", required_argument, NULL, 'n' },
	{ "model", required_argument, NULL, 'm' },
	{ "file", required_argument, NULL, 'f' },
	{ "protect", required_argument, NULL, OPT_PROTECT },
	{ "unprotect", required_argument, NULL, OPT_UNPROTECT },
	{ "profile", required_argument, NULL, OPT_PROFILE },
	{ "ask", required_argument, NULL, OPT_ASK },
	{ "max-time", required_argument, NULL, CMD_MAX_TIME },
	{ "max-calls", required_argument, NULL, CMD_MAX_CALLS },
	{ "max-tokens", required_argument, NULL, CMD_MAX_TOKENS },
	{ "max-usd", required_argument, NULL, CMD_MAX_USD },
	{ "topology", required_argument, NULL, OPT_TOPOLOGY },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "no-builtin", no_argument, NULL, OPT_NO_BUILTIN },
	{ "all", no_argument, NULL, OPT_ALL },
	{ "apply", no_argument, NULL, OPT_APPLY },
	{ "branch", required_argument, NULL, OPT_BRANCH },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "sandbox", required_argument, NULL, OPT_SANDBOX },
	{ "allow-net", required_argument, NULL, OPT_ALLOW_NET },
	{ "label", required_argument, NULL, OPT_LABEL },
	{ "metrics", required_argument, NULL, OPT_METRICS },
	FLEET_OPTIONS,
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
    "  -C, --repo DIR        the tree to work on (.); never changed without "
    "--apply\n"
    "  -t, --test CMD        a test command; the first must come to pass "
    "(detected)\n"
    "  -k, --check CMD       must pass on a candidate too (build, linter)\n"
    "  -n, --workers N       workers at once (the smaller of 4 and the "
    "processors)\n"
    "  -m, --model NAME      builtin, openai/NAME, anthropic/NAME, or one of "
    "the settings\n"
    "      --topology NAME   hypotheses, single, escalate (builtin: "
    "hypotheses; else escalate)\n"
    "      --no-builtin      with a model that is paid for: builtin does not "
    "try first\n"
    "  -f, --file FILE       read the TASK from FILE (- is stdin)\n"
    "      --protect GLOB    more files that no worker may change\n"
    "      --unprotect GLOB  fewer: the bug is in what -t names or runs\n"
    "      --profile NAME    sandbox of commands: strict, default, build, "
    "debug, or yours\n"
    "      --allow-net HOST[:PORT]\n"
    "                        commands may reach this host (more: again; "
    "settings:\n"
    "                        network.allow); none otherwise\n"
    "      --ask HOW         what the rules ask for: prompt (on a terminal), "
    "deny, allow\n"
    "      --max-time D      90, 10m, 2h: the whole run\n"
    "      --max-calls N     model calls of the whole run\n"
    "      --max-tokens N    tokens of the whole run\n"
    "      --max-usd F       money of the whole run\n"
    "      --seed N          for choices left to chance (1)\n"
    "      --all             do not stop at the first verified fix\n"
    "      --apply           apply the verified patch to the tree\n"
    "      --branch NAME     commit it on a new branch instead\n"
    "      --sandbox KIND    bwrap; or container: one layer less, where no\n"
    "                        namespaces can be had (foray(1), SANDBOX)\n" FLEET_HELP
    "      --label LABEL         only hosts that have it (more: again)\n"
    "      --metrics ENDPOINT    Prometheus metrics: :PORT (loopback), "
    "HOST:PORT, unix:/PATH\n"
    "      --json            one event a line on stdout\n\n"
    "The path of the verified patch goes to stdout, progress to stderr. When "
    "all\ntests pass, a TASK and a model are needed: it writes a test that shows "
    "the bug\nfirst.\n";

static int cmd_run_main(int argc, char **argv);

const struct cmd cmd_run = {
	.name = "run",
	.synopsis = "[-C DIR] [-t TESTCMD]... [-k CHECKCMD]... [-n WORKERS] "
		    "[OPTIONS] [TASK]",
	.purpose = "Find and verify a fix for a failing test",
	.help = help,
	.run = cmd_run_main,
};

/* TASK, -f FILE, or stdin when something is piped there. */
static int
read_task(int argc, char **argv, const char *file, char **ret, struct err *e)
{
	struct buf raw, clean;
	struct stat st;
	int r = 0, i;

	if (file == NULL && argc == 1 && stat(argv[0], &st) == 0 &&
	    S_ISDIR(st.st_mode))
		return err_set(e, ERR_USAGE,
		    "\"%s\" is a directory, and a TASK is in words: "
		    "foray run -C %s",
		    argv[0], argv[0]);

	buf_init(&raw, MAX_TASK);
	buf_init(&clean, MAX_TASK * 2);
	if (file != NULL && argc > 0)
		r = err_set(e, ERR_USAGE, "a TASK and -f: give one of them");
	else if (file != NULL && strcmp(file, "-") != 0)
		r = file_read(file, false, &raw, e);
	else if (file != NULL)
		r = fd_read_all(STDIN_FILENO, &raw);
	for (i = 0; r == 0 && i < argc; i++)
		r = buf_printf(&raw, "%s%s", i > 0 ? " " : "", argv[i]);
	if (r == -ENOBUFS || r == ERR_LIMIT)
		r = err_set(e, ERR_USAGE, "the TASK is longer than %u KiB",
		    MAX_TASK >> 10);
	else if (r < 0 && file != NULL)
		r = e->code = ERR_USAGE; /* -f names what can't be read */
	if (r == 0)
		r = text_clean(&clean, buf_str(&raw), raw.len, 0);
	if (r == 0 && clean.len > 0)
		*ret = buf_detach(&clean, NULL);
	buf_clear(&raw);
	buf_clear(&clean);
	return r;
}

#define MAX_COMMANDS 60
#define MAX_COMMAND 8000

static int
add_command(struct strv *to, const char *option, const char *arg, struct err *e)
{
	if (to->n >= MAX_COMMANDS)
		return err_set(
		    e, ERR_USAGE, "%s: %d at most", option, MAX_COMMANDS);
	if (strlen(arg) > MAX_COMMAND)
		return err_set(e, ERR_USAGE,
		    "%s: longer than %d bytes: put it in a script", option,
		    MAX_COMMAND);
	strv_add(to, arg);
	return 0;
}

static int
set_option(struct run_opts *o, int opt, const char *arg, struct err *e)
{
	int r = 0;

	if (arg == NULL)
		arg = ""; /* an option without a value */
	if (opt != 'C' && opt != 'f' && !text_is_utf8(arg, strlen(arg)))
		return err_set(e, ERR_USAGE, "an option's value is not UTF-8");
	switch (opt) {
	case 'C':
		o->repo = arg;
		break;
	case 't':
		if (arg[strspn(arg, " \t\n")] == '\0')
			return err_set(
			    e, ERR_USAGE, "-t (--test): the command is empty");
		return add_command(&o->tests, "-t", arg, e);
	case 'k':
		return add_command(&o->checks, "-k", arg, e);
	case 'm':
		o->model = arg;
		break;
	case OPT_PROTECT:
		strv_add(&o->protect, arg);
		break;
	case OPT_UNPROTECT:
		strv_add(&o->unprotect, arg);
		break;
	case OPT_PROFILE:
		o->profile = arg;
		break;
	case OPT_ALLOW_NET:
		strv_add(&o->allow_net, arg);
		break;
	case OPT_LABEL:
		return labels_add(&o->labels, arg, "--label", e);
	case OPT_METRICS:
		o->metrics = arg;
		return endpoint_check(arg, e);
	case OPT_ASK:
		return approve_option(o, arg, e);
	case 'n':
	case CMD_MAX_TIME:
	case CMD_MAX_CALLS:
	case CMD_MAX_TOKENS:
	case CMD_MAX_USD:
		return cmd_limit(o, opt, arg, e);
	case OPT_TOPOLOGY:
		o->topology = arg;
		return topology_check(arg, e);
	case OPT_SEED:
		return num_u64(arg, 0, UINT64_MAX, "--seed", &o->seed, e);
	case OPT_NO_BUILTIN:
		o->no_builtin = true;
		break;
	case OPT_ALL:
		o->all = true;
		break;
	case OPT_APPLY:
		o->apply = true;
		break;
	case OPT_BRANCH:
		o->branch = arg;
		break;
	case OPT_JSON:
		o->json = true;
		break;
	case OPT_SANDBOX:
		return backend_parse(arg, &o->backend, e);
	default:
		r = fleet_option(o, opt, arg, e);
		break;
	}
	return r < 0 ? r : 0;
}

static int
cmd_run_main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct run_opts o = {
		.repo = ".",
		.workers = cpus > 4 ? 4
		    : cpus < 1      ? 1
				    : (unsigned)cpus,
		.seed = 1,
	};
	const char *file = NULL;
	char *task = NULL, *replay = NULL;
	struct err e = { 0 };
	int opt, ret;

	opterr = 0;
	while (
	    (opt = options_next(argc, argv, ":C:t:k:n:m:f:h", options)) != -1) {
		if (opt == 'h') {
			ret = cmd_help(&cmd_run);
			goto out;
		}
		if (opt == '?' || opt == ':') {
			ret = cmd_bad_option(&cmd_run, opt, argv);
			goto out;
		}
		if (opt == 'f') {
			file = optarg;
		} else if (set_option(&o, opt, optarg, &e) < 0) {
			ret = cmd_usage(&cmd_run, "%s", e.text);
			goto out;
		}
	}
	if (o.apply && o.branch != NULL) {
		ret = cmd_usage(
		    &cmd_run, "--apply and --branch: give one of them");
		goto out;
	}
	if (fleet_check_options(&o, &e) < 0) {
		ret = cmd_usage(&cmd_run, "%s", e.text);
		goto out;
	}
	if (read_task(argc - optind, argv + optind, file, &task, &e) < 0) {
		ret = cmd_fail(&e);
		goto out;
	}
	o.task = task;
	if (o.model != NULL && text_starts(o.model, "replay:")) {
		if (o.no_builtin) {
			ret = cmd_usage(&cmd_run,
			    "--no-builtin: a replay does what was recorded");
			goto out;
		}
		replay = path_join(".", o.model + strlen("replay:"));
		o.replay = o.model[strlen("replay:")] == '/'
		    ? o.model + strlen("replay:")
		    : replay;
	}
	ret = run_main(&o, NULL);
out:
	strv_clear(&o.tests);
	strv_clear(&o.checks);
	strv_clear(&o.protect);
	strv_clear(&o.unprotect);
	strv_clear(&o.allow_net);
	strv_clear(&o.labels);
	free(task);
	free(replay);
	return ret;
}
