/* cmd_gate.c - the verdict on a command, and why. */
#include "common/compat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/options.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/cmd.h"
#include "orchestrator/run/policy.h"
#include "orchestrator/run/run.h"
#include "orchestrator/run/settings.h"
#include "sandbox/snapshot.h"

static int cmd_gate_main(int argc, char **argv);

const struct cmd cmd_gate = {
	.name = "gate",
	.synopsis = "[-C DIR] [--policy FILE] [--json] CMD",
	.purpose = "Show the verdict on a command, and why",
	.help =
	    "  -C, --repo DIR      where it would run (.)\n"
	    "      --policy FILE   these rules alone, instead of the settings'\n"
	    "      --json          {\"verdict\",\"reason\",\"parts\":"
	    "[{\"command\",\"verdict\",\n"
	    "                      \"rule\",\"layer\"}]}\n\n"
	    "Nothing is run. Exit status: 0 allow, 1 ask or deny. CMD is one "
	    "word: quote it.\nPERMISSIONS in foray(1) says how rules are "
	    "written.\n",
	.run = cmd_gate_main,
};

static int
print_json(const struct verdict *v)
{
	json_t *j = verdict_json(v);
	char *text = json_text(j);

	(void)printf("%s\n", text);
	free(text);
	json_decref(j);
	return 0;
}

/* A command is judged in several ways, for what it runs and for each file: not
 * again what was said of it, nor that a milder way has nothing against it. */
static bool
is_news(const struct verdict *v, size_t i)
{
	const struct part *p = &v->parts[i], *x;

	for (size_t k = 0; k < v->n; k++) {
		x = &v->parts[k];
		if (k == i || strcmp(x->command, p->command) != 0)
			continue;
		if (x->ruling > p->ruling ||
		    (k < i && x->ruling == p->ruling &&
			strcmp(x->why, p->why) == 0))
			return false;
	}
	return true;
}

static void
print_plain(const struct verdict *v)
{
	size_t i, n = v->more;
	char shown[2048];

	(void)text_escape_to(shown, sizeof shown, v->reason, strlen(v->reason));
	(void)printf("%s: %s\n", ruling_str(v->ruling), shown);
	for (i = 0; i < v->n; i++)
		n += is_news(v, i);
	for (i = 0; i < v->n && n > 1; i++) {
		const struct part *p = &v->parts[i];

		if (!is_news(v, i))
			continue;
		(void)text_escape_to(
		    shown, sizeof shown, p->why, strlen(p->why));
		(void)printf("  %-5s  %s\n         %s\n", ruling_str(p->ruling),
		    p->command, shown);
	}
	if (v->more > 0)
		(void)printf("  (%zu parts more)\n", v->more);
}

static int
find_place(const char *repo, char **ret_cwd, char **ret_top, struct err *e)
{
	char *cwd = realpath(repo, NULL), *top = NULL;
	int rc;

	if (cwd == NULL)
		return err_set(e, ERR_USAGE, "%s: %s", repo, strerror(errno));
	if ((rc = snapshot_toplevel(cwd, &top, e)) < 0) {
		free(cwd);
		return rc;
	}
	*ret_cwd = cwd;
	*ret_top = top != NULL ? top : xstrdup(cwd);
	return 0;
}

static int
judge(const char *repo, const char *policy, bool json, const char *command)
{
	char *cwd = NULL, *top = NULL, *home = NULL;
	struct rules *r = NULL;
	struct judge_place where;
	struct verdict v;
	struct err e = { 0 };
	size_t i;
	int rc;

	(void)path_home(&home, NULL);
	if ((rc = find_place(repo, &cwd, &top, &e)) < 0)
		goto out;
	/* Rules of settings that no run takes are no verdict. */
	if (policy == NULL)
		rc = settings_check(top, NULL, &e);
	if (rc == 0)
		rc = policy != NULL ? policy_file(policy, &r, &e)
				    : policy_load(top, &r, &e);
	if (rc < 0)
		goto out;
	for (i = 0; i < r->ignored.n; i++)
		log_warn("ignored, a repository can only tighten: %s",
		    r->ignored.v[i]);
	where = (struct judge_place){ cwd, top, home };
	judge_command(r, command, &where, &v);
	if (json)
		(void)print_json(&v);
	else
		print_plain(&v);
	rc = v.ruling == RULING_ALLOW ? 0 : EXIT_UNFIXED;
	verdict_clear(&v);
	rules_free(r);
out:
	free(cwd);
	free(top);
	free(home);
	return rc < 0 ? cmd_fail(&e) : rc;
}

static int
cmd_gate_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "repo", required_argument, NULL, 'C' },
		{ "policy", required_argument, NULL, 'p' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *repo = ".", *policy = NULL;
	bool json = false;
	int opt;

	opterr = 0;
	while ((opt = options_next(argc, argv, "+:C:h", options)) != -1) {
		if (opt == 'h')
			return cmd_help(&cmd_gate);
		if (opt == 'C')
			repo = optarg;
		else if (opt == 'p')
			policy = optarg;
		else if (opt == 'j')
			json = true;
		else
			return cmd_bad_option(&cmd_gate, opt, argv);
	}
	if (argc - optind != 1)
		return cmd_usage(
		    &cmd_gate, "give one command, quoted as one word");
	return judge(repo, policy, json, argv[optind]);
}
