#include "common/compat.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"
#include "common/options.h"
#include "common/path.h"
#include "orchestrator/cmd.h"
#include "orchestrator/run/run.h"
#include "orchestrator/run/settings.h"
#include "sandbox/container.h"
#include "sandbox/probe.h"
#include "sandbox/snapshot.h"

static int cmd_doctor_main(int argc, char **argv);

const struct cmd cmd_doctor = {
	.name = "doctor",
	.synopsis = "",
	.purpose = "Say what this machine can and can't do, and the remedy",
	.help = "",
	.run = cmd_doctor_main,
};

static int
program(const char *name)
{
	struct probe_item it;

	probe_program(name, &it);
	probe_print(&it);
	return it.state == PROBE_OK ? 0 : -1;
}

/* What runs from here would read. What a person is to mend before one starts,
 * or NULL; a fault of it is no fault of the machine. */
static const char *
settings(void)
{
	const char *ret = NULL;
	char *top = NULL, *model = NULL;
	struct err e = { 0 };
	int r;

	if ((r = snapshot_toplevel(".", &top, &e)) == 0)
		r = settings_check(top != NULL ? top : ".", NULL, &e);
	if (r < 0)
		ret = "what \"settings\" above names is mended";
	else if ((r = settings_check(top != NULL ? top : ".", &model, &e)) < 0)
		ret = "what \"settings\" above names is mended, or -m names "
		      "a model that is in order";
	if (r < 0)
		(void)printf("%-18s %-8s %s\n", "settings", "WRONG", e.text);
	else
		(void)printf("%-18s %-8s model: %s\n", "settings", "ok", model);
	free(top);
	free(model);
	return ret;
}

/* What a sandbox can be made without, but no workspace; NULL: it is there. */
static const char *
no_workspace(const struct probe_item *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].state == PROBE_MISSING &&
		    (strcmp(v[i].name, "git") == 0 ||
			strcmp(v[i].name, "workspace") == 0))
			return v[i].name;
	return NULL;
}

static int
cmd_doctor_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct probe_item items[PROBE_MAX], room;
	struct err e = { 0 };
	char *cache = NULL, *scratch;
	const char *lack, *wrong;
	size_t i, n;
	int opt, r = 0;

	opterr = 0;
	while ((opt = options_next(argc, argv, ":h", options)) != -1)
		return opt == 'h' ? cmd_help(&cmd_doctor)
				  : cmd_bad_option(&cmd_doctor, opt, argv);
	if (argc > optind)
		return cmd_usage(&cmd_doctor, "it takes no arguments");
	if (path_cache_dir(&cache, &e) < 0)
		return cmd_fail(&e);
	scratch = path_join(cache, "scratch");
	n = probe_all(scratch, items);
	for (i = 0; i < n; i++)
		probe_print(&items[i]);
	probe_space(scratch,
	    "make room there, or set XDG_CACHE_HOME to a directory that has "
	    "more",
	    &room);
	probe_print(&room);
	wrong = settings();
	if (program("foray-host") < 0 || program("foray-worker") < 0)
		r = EXIT_FATAL;
	if (r != 0) {
		(void)printf("\nworkers can't run here: programs are missing "
			     "(make install puts all three in place)\n");
	} else if (probe_sandbox(&e) < 0) {
		(void)printf("\nworkers can't run here: no sandbox; \"nested "
			     "sandbox\" above has the remedy%s\n",
		    container_probe(NULL) == 0
			? "\n(weaker, with one layer less: --sandbox container)"
			: "");
		r = EXIT_SANDBOX;
	} else if ((lack = no_workspace(items, n)) != NULL) {
		(void)printf("\nworkers can't run here: \"%s\" above has the "
			     "remedy\n",
		    lack);
		r = EXIT_FATAL;
	} else {
		(void)printf("\nworkers can run here%s\n",
		    geteuid() == 0 ? " (started as root: under an "
				     "unprivileged uid)"
				   : "");
	}
	if (wrong != NULL) {
		(void)printf("no run starts until %s\n", wrong);
		r = r != 0 ? r : EXIT_USAGE;
	}
	free(scratch);
	free(cache);
	return r;
}
