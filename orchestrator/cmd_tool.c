#include "common/compat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/options.h"
#include "common/text.h"
#include "orchestrator/cmd.h"
#include "orchestrator/run/approve.h"
#include "orchestrator/run/run.h"
#include "orchestrator/verify/apply.h"
#include "sandbox/snapshot.h"

static int cmd_tool_main(int argc, char **argv);

const struct cmd cmd_tool = {
	.name = "tool",
	.synopsis = "[-C DIR] [-t TESTCMD] [--protect GLOB] "
		    "[--unprotect GLOB] [--profile NAME] "
		    "[--sandbox KIND] [--ask HOW] [--apply] NAME JSON",
	.purpose = "Make one tool call as a worker would, on a copy",
	.help =
	    "  -C, --repo DIR      the tree (.)\n"
	    "  -t, --test CMD      protects the files that it names\n"
	    "      --protect GLOB  more protected files\n"
	    "      --unprotect GLOB\n"
	    "                      fewer\n"
	    "      --profile NAME  sandbox of the command\n"
	    "      --sandbox KIND  bwrap, or container: one layer less\n"
	    "      --ask HOW       what the rules ask for: prompt, deny, allow\n"
	    "      --apply         put what the call changed on the tree; no binary\n"
	    "                      or built files\n\n"
	    "Prints {\"ok\":true,\"result\":...,\"patch\":...}, with \"notes\" on "
	    "what is not in the patch, or\n"
	    "{\"ok\":false,\"error\":...} (exit 1).\n",
	.run = cmd_tool_main,
};

static int
print(json_t *j, int status)
{
	char *text = json_text(j);

	(void)printf("%s\n", text);
	free(text);
	json_decref(j);
	return status;
}

static int
apply_to(const char *repo, const char *patch, struct err *e)
{
	char *dir = realpath(repo, NULL), *top = NULL;
	int r;

	if (dir == NULL)
		return err_set(e, ERR_USAGE, "%s: no such directory", repo);
	if ((r = snapshot_toplevel(dir, &top, e)) == 0)
		r = apply_tree(
		    top != NULL ? top : dir, patch, strlen(patch), e);
	free(dir);
	free(top);
	return r;
}

static int
call(const struct run_opts *o)
{
	struct tool_result res = { 0 };
	struct run_opts quiet = *o;
	struct err e = { 0 };
	json_t *j;
	int r;

	quiet.apply = false;
	r = run_main(&quiet, &res);
	if (r != 0)
		goto out;
	if (res.text == NULL) {
		r = print(json_pack("{s:b, s:s}", "ok", 0, "error",
			      "the call gave no result"),
		    EXIT_FATAL);
	} else if (text_starts(res.text, "error: ")) {
		r = print(json_pack("{s:b, s:s}", "ok", 0, "error",
			      res.text + strlen("error: ")),
		    EXIT_UNFIXED);
	} else if (o->apply && *res.patch == '\0' && res.notes.n > 0) {
		r = print(json_pack("{s:b, s:s, s:s, s:o}", "ok", 0, "error",
			      "nothing is applied: see the notes", "result",
			      res.text, "notes", json_from_strv(&res.notes)),
		    EXIT_UNFIXED);
	} else if (o->apply && *res.patch != '\0' &&
	    apply_to(o->repo, res.patch, &e) < 0) {
		r = print(json_pack("{s:b, s:s}", "ok", 0, "error", e.text),
		    EXIT_UNFIXED);
	} else {
		j = json_pack("{s:b, s:s, s:o}", "ok", 1, "result", res.text,
		    "patch", json_str_lossy(res.patch, strlen(res.patch)));
		if (res.notes.n > 0)
			json_object_set_new(
			    j, "notes", json_from_strv(&res.notes));
		r = print(j, 0);
	}
out:
	free(res.text);
	free(res.patch);
	strv_clear(&res.notes);
	return r;
}

static int
cmd_tool_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "repo", required_argument, NULL, 'C' },
		{ "test", required_argument, NULL, 't' },
		{ "protect", required_argument, NULL, 'p' },
		{ "unprotect", required_argument, NULL, 'u' },
		{ "profile", required_argument, NULL, 'P' },
		{ "ask", required_argument, NULL, 'k' },
		{ "apply", no_argument, NULL, 'a' },
		{ "sandbox", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct run_opts o = { .repo = ".", .workers = 1, .quiet = true };
	struct err e;
	int opt, r;

	opterr = 0;
	while ((opt = options_next(argc, argv, ":C:t:h", options)) != -1) {
		if (opt == 'h')
			return cmd_help(&cmd_tool);
		if (opt == 'C')
			o.repo = optarg;
		else if (opt == 't')
			strv_add(&o.tests, optarg);
		else if (opt == 'p')
			strv_add(&o.protect, optarg);
		else if (opt == 'u')
			strv_add(&o.unprotect, optarg);
		else if (opt == 'P')
			o.profile = optarg;
		else if (opt == 'a')
			o.apply = true;
		else if (opt == 's' &&
		    backend_parse(optarg, &o.backend, &e) < 0)
			return cmd_usage(&cmd_tool, "%s", e.text);
		else if (opt == 'k' && approve_option(&o, optarg, &e) < 0)
			return cmd_usage(&cmd_tool, "%s", e.text);
		else if (opt != 's' && opt != 'k')
			return cmd_bad_option(&cmd_tool, opt, argv);
	}
	if (argc - optind != 2)
		return cmd_usage(&cmd_tool,
		    "give the tool's NAME and its arguments as JSON");
	o.tool = argv[optind];
	o.tool_args = argv[optind + 1];
	r = call(&o);
	strv_clear(&o.tests);
	strv_clear(&o.protect);
	strv_clear(&o.unprotect);
	return r;
}
