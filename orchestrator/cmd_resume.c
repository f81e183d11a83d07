/* cmd_resume.c - resume and replay: runs that are there already. */
#include "common/compat.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/num.h"
#include "common/options.h"
#include "common/text.h"
#include "orchestrator/cmd.h"
#include "orchestrator/metrics/endpoint.h"
#include "orchestrator/run/approve.h"
#include "orchestrator/run/fleet.h"
#include "orchestrator/run/run.h"
#include "orchestrator/store/store.h"
#include "proto/label.h"

#define HINT_MAX 1000 /* as a hypothesis */

enum {
	OPT_JSON = 256,
	OPT_SANDBOX,
	OPT_ALLOW_NET,
	OPT_ASK,
	OPT_LABEL,
	OPT_METRICS
};

static int cmd_resume_main(int argc, char **argv);
static int cmd_replay_main(int argc, char **argv);

const struct cmd cmd_resume = {
	.name = "resume",
	.synopsis = "[-n WORKERS] [BUDGETS] [--sandbox KIND] "
		    "[--allow-net HOST]... [--ask HOW] [--label LABEL]... "
		    "[--metrics ENDPOINT] [--listen ENDPOINT] [--json] [RUN] "
		    "[HINT]",
	.purpose = "Carry on after a crash, an interrupt or a spent budget",
	.help =
	    "  -n, --workers N       workers at once (as before)\n"
	    "      --max-usd F, --max-tokens N, --max-calls N, --max-time D\n"
	    "                        new limits, of what was spent before and "
	    "now together\n"
	    "      --sandbox KIND    bwrap, or container: to be said again\n"
	    "      --allow-net HOST[:PORT]\n"
	    "                        one more host that commands may reach\n"
	    "      --ask HOW         what the rules ask for: prompt, deny, "
	    "allow\n"
	    "      --label LABEL, --metrics ENDPOINT\n"
	    "                        as for run; to be said again\n"
	    "      what follows, too: --local 0 of the run is not kept\n" FLEET_HELP
	    "      --json            one event a line on stdout\n\n"
	    "What is finished is kept, what was answered is not asked again. "
	    "A HINT is tried\nas one more hypothesis, first.\n",
	.run = cmd_resume_main,
};

const struct cmd cmd_replay = {
	.name = "replay",
	.synopsis = "[--sandbox KIND] [--json] [RUN]",
	.purpose = "Run again offline, from the recorded model replies",
	.help = "      --sandbox KIND    bwrap, or container\n"
		"      --json            one event a line on stdout\n\n"
		"RUN is a name, the start of one, or the path of a run's "
		"directory. The commands\nand tests are run again; no model "
		"is asked. It becomes a run of its own.\n",
	.run = cmd_replay_main,
};

static int
set_limit(struct run_opts *o, int opt, const char *arg, struct err *e)
{
	int r = 0;

	switch (opt) {
	case 'n':
	case CMD_MAX_TIME:
	case CMD_MAX_CALLS:
	case CMD_MAX_TOKENS:
	case CMD_MAX_USD:
		return cmd_limit(o, opt, arg, e);
	case OPT_SANDBOX:
		return backend_parse(arg, &o->backend, e);
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
	case OPT_JSON:
		o->json = true;
		break;
	default:
		r = fleet_option(o, opt, arg, e);
		break;
	}
	return r < 0 ? r : 0;
}

/* -1: go on; else an exit status. */
static int
options(
    const struct cmd *c, bool limits, int argc, char **argv, struct run_opts *o)
{
	static const struct option all[] = {
		{ "json", no_argument, NULL, OPT_JSON },
		{ "sandbox", required_argument, NULL, OPT_SANDBOX },
		{ "help", no_argument, NULL, 'h' },
		{ "workers", required_argument, NULL, 'n' },
		{ "ask", required_argument, NULL, OPT_ASK },
		{ "max-time", required_argument, NULL, CMD_MAX_TIME },
		{ "max-calls", required_argument, NULL, CMD_MAX_CALLS },
		{ "max-tokens", required_argument, NULL, CMD_MAX_TOKENS },
		{ "max-usd", required_argument, NULL, CMD_MAX_USD },
		{ "allow-net", required_argument, NULL, OPT_ALLOW_NET },
		{ "label", required_argument, NULL, OPT_LABEL },
		{ "metrics", required_argument, NULL, OPT_METRICS },
		FLEET_OPTIONS,
		{ NULL, 0, NULL, 0 },
	};
	struct err e;
	int opt;

	opterr = 0;
	while ((opt = options_next(argc, argv, limits ? ":n:h" : ":h", all)) !=
	    -1) {
		if (opt == 'h')
			return cmd_help(c);
		if (opt == '?' || opt == ':' ||
		    (!limits && opt != OPT_JSON && opt != OPT_SANDBOX &&
			opt != OPT_ASK))
			return cmd_bad_option(c, opt, argv);
		if (set_limit(o, opt, optarg != NULL ? optarg : "", &e) < 0)
			return cmd_usage(c, "%s", e.text);
	}
	return fleet_check_options(o, &e) < 0 ? cmd_usage(c, "%s", e.text) : -1;
}

/* The run of that name; "": the latest that came so far that it can go on. With
 * none, the latest: why it can't is said of it. Yours. */
static int
find_run(const char *name, char **ret, struct err *e)
{
	char *last = NULL;
	int r = store_find(*name != '\0' ? name : NULL, ret, e);

	if (r < 0 || *name != '\0' || store_find_with("opts", &last, NULL) < 0)
		return r;
	if (strcmp(last, *ret) != 0)
		log_info("%s never began: the latest run that did is %s", *ret,
		    last);
	free(*ret);
	*ret = last;
	return 0;
}

static int
cmd_resume_main(int argc, char **argv)
{
	struct run_opts o = { 0 };
	struct err e;
	char *id = NULL;
	int r = options(&cmd_resume, true, argc, argv, &o);

	if (r >= 0)
		return r;
	o.resume = "";
	if (argc - optind > 2)
		return cmd_usage(&cmd_resume,
		    "give a RUN and a HINT (in one word: quote it)");
	if (argc - optind == 2) {
		o.resume = argv[optind];
		o.hint = argv[optind + 1];
	} else if (argc - optind == 1 && strchr(argv[optind], ' ') != NULL) {
		o.hint = argv[optind];
	} else if (argc - optind == 1) {
		o.resume = argv[optind];
	}
	if (o.hint != NULL && !text_is_utf8(o.hint, strlen(o.hint)))
		return cmd_usage(&cmd_resume, "the HINT is not UTF-8");
	if (o.hint != NULL && strlen(o.hint) > HINT_MAX)
		return cmd_usage(&cmd_resume,
		    "the HINT is longer than %d bytes: one hypothesis in a "
		    "sentence or two",
		    HINT_MAX);
	if (find_run(o.resume, &id, &e) < 0)
		return cmd_fail(&e);
	o.resume = id;
	r = run_main(&o, NULL);
	strv_clear(&o.allow_net);
	strv_clear(&o.labels);
	free(id);
	return r;
}

static int
cmd_replay_main(int argc, char **argv)
{
	struct run_opts o = { 0 };
	char *id = NULL;
	struct err e;
	int r = options(&cmd_replay, false, argc, argv, &o);

	if (r >= 0)
		return r;
	if (argc - optind > 1)
		return cmd_usage(&cmd_replay, "give one RUN");
	if (argc - optind == 0 && find_run("", &id, &e) < 0)
		return cmd_fail(&e);
	o.replay = id != NULL ? id : argv[optind];
	r = run_main(&o, NULL);
	free(id);
	return r;
}
