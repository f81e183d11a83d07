#include "common/compat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/options.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/cmd.h"
#include "orchestrator/run/run.h"
#include "orchestrator/verify/apply.h"
#include "orchestrator/verify/conflict.h"

static int cmd_diff_main(int argc, char **argv);
static int cmd_apply_main(int argc, char **argv);

const struct cmd cmd_diff = {
	.name = "diff",
	.synopsis = "[RUN]",
	.purpose = "Print the verified patch of a run",
	.help = "",
	.run = cmd_diff_main,
};

const struct cmd cmd_apply = {
	.name = "apply",
	.synopsis = "[-C DIR] [--branch NAME] [RUN]",
	.purpose = "Apply the verified patch of a run to its tree",
	.help =
	    "  -C, --repo DIR      another tree than the run's\n"
	    "      --branch NAME   commit it on a new branch, the tree stays "
	    "as it is\n",
	.run = cmd_apply_main,
};

/* The run of that name; without one the latest that ever began: a call of a
 * tool is no run that a person means. */
static int
open_run(const struct cmd *c, int argc, char **argv, struct store **ret)
{
	char *id = NULL;
	int r;

	if (argc == 0 && store_find_with("opts", &id, NULL) == 0) {
		r = cmd_open(c, 1, &id, false, ret);
		free(id);
		return r;
	}
	return cmd_open(c, argc, argv, false, ret);
}

static int
read_final(struct store *s, struct buf *b, struct err *e)
{
	char *path = path_join(store_dir(s), "patches/final.patch");
	int r = 0;

	if (access(path, F_OK) < 0)
		r = err_set(e, ERR_NOTFOUND,
		    "run %s has no verified patch (`foray show %s` says what "
		    "was tried)",
		    store_id(s), store_id(s));
	else
		r = file_read(path, true, b, e);
	free(path);
	return r;
}

/* On a terminal control bytes are shown, not obeyed. */
static void
print_patch(const struct buf *b)
{
	const char *p = buf_str(b), *end = p + b->len, *stop;
	struct buf text;

	if (isatty(STDOUT_FILENO) != 1) {
		(void)fwrite(p, 1, b->len, stdout);
		return;
	}
	for (; p < end; p = stop + 1) {
		for (stop = p; stop < end && *stop != '\n' && *stop != '\t';)
			stop++;
		buf_init(&text, BUF_NOMAX);
		(void)text_escape(&text, p, (size_t)(stop - p));
		(void)printf("%s%c", buf_str(&text), stop < end ? *stop : '\n');
		buf_clear(&text);
	}
}

static int
cmd_diff_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct err e = { 0 };
	struct store *s;
	struct buf b;
	int opt, r;

	opterr = 0;
	while ((opt = options_next(argc, argv, ":h", options)) != -1)
		return opt == 'h' ? cmd_help(&cmd_diff)
				  : cmd_bad_option(&cmd_diff, opt, argv);
	if ((r = open_run(&cmd_diff, argc - optind, argv + optind, &s)) != 0)
		return r;
	buf_init(&b, 64 << 20);
	if (read_final(s, &b, &e) < 0)
		r = e.code == ERR_NOTFOUND
		    ? (log_error("%s", e.text), EXIT_UNFIXED)
		    : cmd_fail(&e);
	else
		print_patch(&b);
	buf_clear(&b);
	store_close(s);
	return r;
}

static int
apply(struct store *s, const char *repo, const char *branch)
{
	char *root = repo != NULL ? realpath(repo, NULL) : store_get(s, "repo");
	struct err e = { 0 };
	struct buf b, why;
	int r;

	buf_init(&b, 64 << 20);
	buf_init(&why, 64 << 10);
	if (root == NULL)
		r = err_set(&e, ERR_USAGE, "%s: no such directory",
		    repo != NULL ? repo : "the run's tree");
	else if ((r = read_final(s, &b, &e)) == 0)
		r = branch != NULL
		    ? apply_branch(root, branch, b.data, b.len, NULL, &e)
		    : apply_tree(root, b.data, b.len, &e);
	if (r == 0)
		(void)printf("applied to %s\n", branch != NULL ? branch : root);
	else if (root != NULL && branch == NULL && b.len > 0)
		conflict_describe(root, b.data, b.len, &why);
	if (why.len > 0)
		(void)fprintf(stderr, "%.*s", (int)why.len, buf_str(&why));
	buf_clear(&why);
	buf_clear(&b);
	free(root);
	if (r < 0 && e.code != ERR_USAGE) {
		log_error("%s", e.text);
		return EXIT_UNFIXED;
	}
	return r < 0 ? cmd_fail(&e) : 0;
}

static int
cmd_apply_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "repo", required_argument, NULL, 'C' },
		{ "branch", required_argument, NULL, 'b' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *repo = NULL, *branch = NULL;
	struct store *s;
	int opt, r;

	opterr = 0;
	while ((opt = options_next(argc, argv, ":C:h", options)) != -1) {
		if (opt == 'h')
			return cmd_help(&cmd_apply);
		if (opt == 'C')
			repo = optarg;
		else if (opt == 'b')
			branch = optarg;
		else
			return cmd_bad_option(&cmd_apply, opt, argv);
	}
	if ((r = open_run(&cmd_apply, argc - optind, argv + optind, &s)) != 0)
		return r;
	r = apply(s, repo, branch);
	store_close(s);
	return r;
}
