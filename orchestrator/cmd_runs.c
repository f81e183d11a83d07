#include "common/compat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/options.h"
#include "common/text.h"
#include "orchestrator/cmd.h"

static int cmd_runs_main(int argc, char **argv);

const struct cmd cmd_runs = {
	.name = "runs",
	.synopsis = "",
	.purpose = "List all runs, the latest last",
	.help = "",
	.run = cmd_runs_main,
};

static int
cmd_runs_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct strv all = { 0 };
	struct err e = { 0 };
	size_t i;
	int opt;

	opterr = 0;
	while ((opt = options_next(argc, argv, ":h", options)) != -1)
		return opt == 'h' ? cmd_help(&cmd_runs)
				  : cmd_bad_option(&cmd_runs, opt, argv);
	if (argc > optind)
		return cmd_usage(&cmd_runs, "it takes no arguments");
	if (store_list(&all, &e) < 0)
		return cmd_fail(&e);
	/* No lines, for whoever reads lines. */
	if (all.n == 0)
		log_warn("there are no runs yet (foray run makes one)");
	for (i = 0; i < all.n; i++) {
		struct store *s = NULL;
		char *status, *repo;
		struct buf b;

		if (store_open(all.v[i], false, &s, &e) < 0) {
			(void)printf("%s  unreadable\n", all.v[i]);
			continue;
		}
		status = store_status(s);
		repo = store_get(s, "repo");
		buf_init(&b, 16 << 10);
		if (repo != NULL)
			(void)text_escape(&b, repo, strlen(repo));
		(void)printf("%s  %-11s  %s\n", all.v[i], status, buf_str(&b));
		buf_clear(&b);
		free(status);
		free(repo);
		store_close(s);
	}
	strv_clear(&all);
	return 0;
}
