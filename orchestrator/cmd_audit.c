#include "common/compat.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "orchestrator/cmd.h"
#include "orchestrator/egress/single.h"
#include "orchestrator/run/run.h"
#include "orchestrator/store/audit.h"

static int cmd_audit_main(int argc, char **argv);

const struct cmd cmd_audit = {
	.name = "audit",
	.synopsis = "[--verify] [RUN | --sandbox]",
	.purpose = "Print the record of every act of a run, or check its chain",
	.help =
	    "      --verify   is the chain intact? Names the first line that "
	    "is not (exit 1)\n"
	    "      --sandbox  of the network of all `foray sandbox`, instead of "
	    "a run's\n",
	.run = cmd_audit_main,
};

/* s: NULL for the chain in dir. */
static int
verify(struct store *s, const char *dir)
{
	const char *name = s != NULL ? store_id(s) : "sandbox";
	char note[256];
	struct err e = { 0 };
	uint64_t n;
	int r;

	r = s != NULL ? audit_verify(s, &n, note, sizeof note, &e)
		      : audit_verify_dir(dir, &n, note, sizeof note, &e);
	if (r < 0) {
		if (e.code != ERR_DENIED && e.code != ERR_SYNTAX)
			return cmd_fail(&e);
		(void)printf("%s: NOT intact: %s\n", name, e.text);
		return EXIT_UNFIXED;
	}
	(void)printf("%s: intact, %" PRIu64 " lines%s%s\n", name, n,
	    *note != '\0' ? "; " : "", note);
	return 0;
}

static int
print(const char *dir)
{
	char *path = path_join(dir, "audit.jsonl");
	struct err e = { 0 };
	struct buf b;
	int r = 0;

	buf_init(&b, (size_t)1 << 30);
	if (file_read(path, true, &b, &e) < 0)
		r = cmd_fail(&e);
	else
		(void)fwrite(buf_str(&b), 1, b.len, stdout);
	buf_clear(&b);
	free(path);
	return r;
}

static int
sandbox_chain(bool check)
{
	struct err e = { 0 };
	char *dir = NULL;
	int r;

	if (single_dir(&dir, &e) < 0)
		return cmd_fail(&e);
	r = check ? verify(NULL, dir) : print(dir);
	free(dir);
	return r;
}

static int
cmd_audit_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "verify", no_argument, NULL, 'v' },
		{ "sandbox", no_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	bool check = false, sandbox = false;
	struct store *s;
	const char *run = NULL;
	struct err e = { 0 };
	int opt, r;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (opt == 'h')
			return cmd_help(&cmd_audit);
		if (opt != 'v' && opt != 's')
			return cmd_bad_option(&cmd_audit, opt, argv);
		check |= opt == 'v';
		sandbox |= opt == 's';
	}
	if (argc - optind > 1)
		return cmd_usage(&cmd_audit, "one run at most");
	if (sandbox && optind < argc)
		return cmd_usage(&cmd_audit, "a run or --sandbox, not both");
	if (sandbox)
		return sandbox_chain(check);
	if (optind < argc)
		run = argv[optind];
	if (store_open(run, false, &s, &e) < 0)
		return cmd_fail(&e);
	r = check ? verify(s, NULL) : print(store_dir(s));
	store_close(s);
	return r;
}
