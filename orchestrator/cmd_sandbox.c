/*
 * cmd_sandbox.c - one command in the command sandbox of a worker: the real tree
 * with .git read-only, or a throw-away copy.
 */
#include "common/compat.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/num.h"
#include "common/options.h"
#include "common/path.h"
#include "orchestrator/cmd.h"
#include "orchestrator/direct/direct.h"
#include "orchestrator/run/run.h"
#include "sandbox/cgroup.h"
#include "sandbox/explain.h"
#include "sandbox/why.h"

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
	    "      --allow-net HOST[:PORT]  reach this host, by a proxy (settings: "
	    "network.allow)\n"
	    "      --max-time D     90, 10m, 2h: then it is killed (status "
	    "124)\n"
	    "      --sandbox KIND   bwrap, or container: one layer less, where no "
	    "namespaces\n"
	    "                       can be had\n"
	    "      --explain        say what it could see and do, and run "
	    "nothing\n"
	    "      --json           with --explain: the mounts, limits and "
	    "variables as data\n\n"
	    "No network but that, no home directory, no other processes. The "
	    "command's exit\nstatus is passed on, and so are signals; 125 is a "
	    "failure of the sandbox itself.\nProfiles and the settings' "
	    "\"sandbox\": man foray(1).\n",
	.run = cmd_sandbox_main,
};

static void
add_host(void *ctx, const char *host, const char *from)
{
	strv_addf(ctx, "%s (%s)", host, from);
}

static void
add_host_json(void *ctx, const char *host, const char *from)
{
	(void)json_array_append_new(
	    ctx, json_pack("{s:s, s:s}", "host", host, "from", from));
}

static int
print_explanation(const struct direct *d, bool json)
{
	struct explain_net net = { .own = single_own_name(d->net) };
	struct cgroup_site site;
	struct buf b;
	json_t *j, *hosts;
	char *text;

	if (json) {
		j = spec_to_json(&d->spec);
		hosts = json_array();
		single_hosts(d->net, add_host_json, hosts);
		(void)json_object_set_new(j, "network", hosts);
		text = json_text(j);
		json_decref(j);
		(void)puts(text);
		free(text);
		return 0;
	}
	buf_init(&b, BUF_NOMAX);
	single_hosts(d->net, add_host, &net.hosts);
	explain(&d->view.def, &d->spec, d->tree.root, &net, &b);
	cgroup_find(&site);
	if (site.kind == CGROUP_NONE)
		(void)buf_printf(&b,
		    "no groups       limits hold for each "
		    "process alone here, processors not at all:\n"
		    "                %s (foray doctor)\n",
		    site.why);
	cgroup_site_clear(&site);
	(void)fputs(buf_str(&b), stdout);
	strv_clear(&net.hosts);
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
	OPT_ALLOW_NET,
	OPT_MAX_TIME,
	OPT_SANDBOX,
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
	{ "allow-net", required_argument, NULL, OPT_ALLOW_NET },
	{ "max-time", required_argument, NULL, OPT_MAX_TIME },
	{ "sandbox", required_argument, NULL, OPT_SANDBOX },
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
	char *path = realpath(arg, NULL), *cwd, *joined, *abs;

	if (path == NULL)
		return err_set(
		    e, ERR_USAGE, "%s: %s: %s", option, arg, strerror(errno));
	if (strcmp(path, "/") == 0) {
		free(path);
		return err_set(e, ERR_USAGE,
		    "%s: / is everything: name what is needed", option);
	}
	free(path);
	/* As it was called, so that it is found by that name, and a link in it
	 * that somebody else put there is seen. */
	if ((cwd = realpath(".", NULL)) == NULL)
		return err_set(e, ERR_USAGE, "%s: %s: where we are: %s", option,
		    arg, strerror(errno));
	joined = arg[0] == '/' ? xstrdup(arg) : path_join(cwd, arg);
	abs = path_normal(joined);
	strv_add(to, abs);
	free(abs);
	free(joined);
	free(cwd);
	return 0;
}

static int
add_env(struct profile_def *d, const char *arg, struct err *e)
{
	size_t len = strcspn(arg, "=");

	if (len == 0)
		return err_set(e, ERR_USAGE,
		    "--env: want NAME or NAME=VALUE, not \"%s\"", arg);
	/* No shell would pass it on. */
	for (size_t i = 0; i < len; i++)
		if (isspace((unsigned char)arg[i]) ||
		    iscntrl((unsigned char)arg[i]))
			return err_set(e, ERR_USAGE,
			    "--env: \"%.*s\" is no name of a variable: it has "
			    "a space in it",
			    (int)(len < 80 ? len : 80), arg);
	if (arg[len] == '\0' && getenv(arg) == NULL)
		log_warn("--env %s: it is not set here, so it is not passed on",
		    arg);
	strv_add(arg[len] == '=' ? &d->env : &d->pass_env, arg);
	return 0;
}

static int
set_option(struct direct_request *q, bool *json, int opt, const char *arg,
    struct err *e)
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
	case OPT_ALLOW_NET:
		strv_add(&q->allow, arg);
		break;
	case OPT_MAX_TIME:
		return num_duration_ms(arg, "--max-time", &q->max_ms, e);
	case OPT_SANDBOX:
		return backend_parse(arg, &q->backend, e);
	case OPT_EXPLAIN:
		q->explain = true;
		break;
	case OPT_JSON:
		*json = true;
		break;
	default:
		break;
	}
	return 0;
}

static int
check(const struct direct_request *q, bool json, struct err *e)
{
	if (*q->argv == NULL && !q->explain)
		return err_set(e, ERR_USAGE, "give the command after --");
	if (json && !q->explain)
		return err_set(e, ERR_USAGE, "--json goes with --explain");
	return 0;
}

static int
make_and_run(const struct direct_request *q, bool json)
{
	bool tty = isatty(STDIN_FILENO) == 1;
	struct direct d;
	struct err e = { 0 };
	int r = q->explain ? 0 : why_uids(&e);

	if (r == 0 && (r = direct_make(q, tty, &d, &e)) == 0) {
		r = q->explain ? print_explanation(&d, json)
			       : direct_run(&d, tty, &e);
		direct_clear(&d);
	}
	if (r < 0)
		log_error("%s", e.text);
	return r < 0 ? EXIT_OWN : r;
}

static int
cmd_sandbox_main(int argc, char **argv)
{
	struct direct_request q = { .repo = "." };
	int opt, r = EXIT_OWN;
	struct err e = { 0 };
	bool json = false;

	opterr = 0;
	while ((opt = options_next(argc, argv, "+:C:h", options)) != -1) {
		if (opt == 'h') {
			r = cmd_help(&cmd_sandbox);
			goto out;
		}
		if (opt == '?' || opt == ':') {
			(void)cmd_bad_option(&cmd_sandbox, opt, argv);
			goto out;
		}
		if (set_option(&q, &json, opt, optarg, &e) < 0) {
			(void)cmd_usage(&cmd_sandbox, "%s", e.text);
			goto out;
		}
	}
	q.argv = argv + optind;
	if (check(&q, json, &e) < 0)
		(void)cmd_usage(&cmd_sandbox, "%s", e.text);
	else
		r = make_and_run(&q, json);
out:
	profile_def_clear(&q.extra);
	strv_clear(&q.allow);
	return r;
}
