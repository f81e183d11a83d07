#include "common/compat.h"

#include <stdio.h>

#include "common/log.h"
#include "common/options.h"
#include "common/path.h"
#include "orchestrator/cmd.h"
#include "orchestrator/run/run.h"

static int cmd_rm_main(int argc, char **argv);

const struct cmd cmd_rm = {
	.name = "rm",
	.synopsis = "RUN...",
	.purpose = "Remove runs and all that they recorded",
	.help = "",
	.run = cmd_rm_main,
};

static int
remove_run(const char *name)
{
	struct err e = { 0 };
	struct store *s;
	int r;

	if (store_open(name, false, &s, &e) < 0)
		return cmd_fail(&e);
	if (store_alive(s)) {
		log_error("run %s is still running: end it first", store_id(s));
		r = EXIT_USAGE;
	} else if (path_rmtree(store_dir(s), &e) < 0) {
		r = cmd_fail(&e);
	} else {
		(void)printf("removed %s\n", store_id(s));
		r = 0;
	}
	store_close(s);
	return r;
}

static int
cmd_rm_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int opt, r = 0, one;

	opterr = 0;
	while ((opt = options_next(argc, argv, ":h", options)) != -1)
		return opt == 'h' ? cmd_help(&cmd_rm)
				  : cmd_bad_option(&cmd_rm, opt, argv);
	if (optind == argc)
		return cmd_usage(&cmd_rm, "name the run to remove");
	for (; optind < argc; optind++)
		if ((one = remove_run(argv[optind])) != 0)
			r = one;
	return r;
}
