/*
 * foray - explore a hard bug in parallel. See foray(1).
 */
#include "common/compat.h"

#include <sys/resource.h>

#include <fcntl.h>
#include <getopt.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/num.h"
#include "orchestrator/cmd.h"
#include "orchestrator/run/run.h"
#include "sandbox/limits.h"

#define COLUMNS 80 /* of help */

static const struct cmd *const commands[] = { &cmd_run, &cmd_resume,
	&cmd_replay, &cmd_runs, &cmd_show, &cmd_log, &cmd_diff, &cmd_apply,
	&cmd_rm, &cmd_audit, &cmd_doctor, &cmd_sandbox, &cmd_tool, &cmd_gate,
	&cmd_keys, &cmd_egress, &cmd_door };

static void
usage(FILE *out)
{
	size_t i;

	(void)fputs("usage: foray COMMAND [OPTIONS] [ARGUMENTS]\n\n"
		    "Explores a hard bug in parallel: sandboxed workers try "
		    "hypotheses, the verified\nfix is kept.\n\n",
	    out);
	for (i = 0; i < nitems(commands); i++)
		if (commands[i]->purpose != NULL)
			(void)fprintf(out, "  %-8s %s\n", commands[i]->name,
			    commands[i]->purpose);
	(void)fputs("\n`foray COMMAND --help` says more, foray(1) everything. "
		    "Start with:\n\n"
		    "  foray run -C DIR -t 'TEST COMMAND'\n\n"
		    "Exit status: 0 a verified fix (or the command's own "
		    "success), 1 no verified fix,\n2 usage, no tests, or "
		    "tests already green, 3 a budget ended the run, 4 the "
		    "sandbox\ncan't be set up here, 5 a provider, key or host "
		    "failed for good,\nor the answer could not be written, "
		    "130 interrupted.\n",
	    out);
}

/* Text that begins in column at, broken between words; what follows, indent
 * columns in. A '[' keeps together what it opens. */
static void
put_wrapped(const char *s, size_t at, size_t indent)
{
	size_t n, depth;
	bool first = true;

	for (; *s != '\0' && *s != '\n'; s += n + (s[n] == ' ')) {
		for (n = depth = 0;
		     s[n] != '\0' && s[n] != '\n' && (s[n] != ' ' || depth > 0);
		     n++)
			depth += (s[n] == '[') - (s[n] == ']' && depth > 0);
		if (!first && at + 1 + n > COLUMNS) {
			(void)printf("\n%*s", (int)indent, "");
			at = indent;
		} else if (!first) {
			(void)putchar(' ');
			at++;
		}
		(void)printf("%.*s", (int)n, s);
		at += n;
		first = false;
	}
	(void)putchar('\n');
}

/* Where an option's text begins: behind two spaces. */
static size_t
text_column(const char *line, size_t len)
{
	size_t i = 0;

	while (i < len && line[i] == ' ')
		i++;
	while (i + 1 < len && (line[i] != ' ' || line[i + 1] != ' '))
		i++;
	while (i < len && line[i] == ' ')
		i++;
	return i + 1 < len ? i : 0;
}

int
cmd_help(const struct cmd *c)
{
	const char *s = c->help;
	size_t n, at;

	(void)printf(
	    "usage: foray %s%s", c->name, *c->synopsis != '\0' ? " " : "");
	put_wrapped(c->synopsis, strlen("usage: foray  ") + strlen(c->name), 8);
	(void)printf("\n%s.\n%s", c->purpose, *s != '\0' ? "\n" : "");
	for (; *s != '\0'; s += n + (s[n] == '\n')) {
		n = strcspn(s, "\n");
		at = n > COLUMNS ? text_column(s, n) : 0;
		if (n <= COLUMNS) {
			(void)printf("%.*s\n", (int)n, s);
			continue;
		}
		(void)printf("%.*s", (int)at, s);
		put_wrapped(s + at, at, at);
	}
	return 0;
}

int
cmd_usage(const struct cmd *c, const char *fmt, ...)
{
	va_list ap;

	(void)fputs("foray: ", stderr);
	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fprintf(
	    stderr, "\n`foray %s --help` shows what it takes\n", c->name);
	return EXIT_USAGE;
}

int
cmd_bad_option(const struct cmd *c, int opt, char **argv)
{
	char one[] = { '-', (char)optopt, '\0' };
	const char *name = optopt != 0 && optopt < 256 ? one : argv[optind - 1];

	if (opt == ':')
		return cmd_usage(c, "%s needs a value", name);
	/* getopt knows it: what it refuses is the value. */
	if (optopt != 0 && strncmp(argv[optind - 1], "--", 2) == 0 &&
	    strchr(argv[optind - 1], '=') != NULL)
		return cmd_usage(c, "%.*s takes no value",
		    (int)strcspn(argv[optind - 1], "="), argv[optind - 1]);
	return cmd_usage(c, "%s is no option of `foray %s`", name, c->name);
}

int
cmd_limit(struct run_opts *o, int opt, const char *arg, struct err *e)
{
	uint64_t n;
	int r;

	switch (opt) {
	case CMD_MAX_TIME:
		return num_duration_ms(arg, "--max-time", &o->max_time_ms, e);
	case CMD_MAX_CALLS:
		return num_u64(
		    arg, 1, UINT32_MAX, "--max-calls", &o->max_calls, e);
	case CMD_MAX_TOKENS:
		return num_u64(
		    arg, 1, UINT64_MAX, "--max-tokens", &o->max_tokens, e);
	case CMD_MAX_USD:
		return num_usd(arg, "--max-usd", &o->max_micro, e);
	default:
		r = num_u64(arg, 1, RUN_MAX_WORKERS, "-n (--workers)", &n, e);
		if (r == 0)
			o->workers = (unsigned)n;
		return r;
	}
}

int
cmd_fail(const struct err *e)
{
	log_error("%s", e->text);
	switch (e->code) {
	case ERR_SANDBOX:
		return EXIT_SANDBOX;
	case ERR_USAGE:
	case ERR_NOTFOUND:
	case ERR_SYNTAX:
		return EXIT_USAGE;
	default:
		return EXIT_FATAL;
	}
}

int
cmd_open(
    const struct cmd *c, int argc, char **argv, bool write, struct store **ret)
{
	struct err e = { 0 };

	if (argc > 1)
		return cmd_usage(
		    c, "one run at most: \"%s\" is too much", argv[1]);
	if (store_open(argc == 1 ? argv[0] : NULL, write, ret, &e) < 0)
		return cmd_fail(&e);
	return 0;
}

/* Whoever read it has enough, as `head` has. */
static bool
reader_is_gone(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO };

	return poll(&p, 1, 0) == 1 && (p.revents & POLLERR) != 0;
}

/* An answer that could not be written was not given; but a fix that a run has
 * found is found: it is kept, and stderr names it. */
static int
finish(const struct cmd *c, int status)
{
	bool found = c == &cmd_run || c == &cmd_resume || c == &cmd_replay;

	if ((fflush(stdout) == 0 && !ferror(stdout)) || status != 0 ||
	    reader_is_gone())
		return status;
	log_error("stdout: the answer could not be written");
	return found ? status : EXIT_FATAL;
}

/* Is it one letter too many, too few, another one, or two in the wrong order?
 */
static bool
is_slip(const char *word, const char *right)
{
	size_t a = strlen(word), b = strlen(right), i = 0, k = 0;

	while (word[i] != '\0' && word[i] == right[i])
		i++;
	while (k < a - i && k < b - i && word[a - 1 - k] == right[b - 1 - k])
		k++;
	a -= i + k;
	b -= i + k;
	return (a <= 1 && b <= 1) ||
	    (a == 2 && b == 2 && word[i] == right[i + 1] &&
		word[i + 1] == right[i]);
}

static int
no_command(const char *name)
{
	size_t i;

	(void)fprintf(stderr, "foray: there is no command \"%s\"", name);
	for (i = 0; i < nitems(commands); i++)
		if (commands[i]->purpose != NULL &&
		    is_slip(name, commands[i]->name)) {
			(void)fprintf(
			    stderr, "; is it \"%s\"?", commands[i]->name);
			break;
		}
	(void)fputs("\n`foray --help` lists them\n", stderr);
	return EXIT_USAGE;
}

/* /proc/PID/environ shows the memory that the kernel filled at our start, and
 * that of each child between fork and exec: keys must not stand there. */
static void
hide_environment(void)
{
	static char **copies; /* those that are unset later are still ours */
	size_t n = 0, i;

	while (environ[n] != NULL)
		n++;
	copies = xcalloc(n + 1, sizeof *copies);
	for (i = 0; i < n; i++) {
		copies[i] = xstrdup(environ[i]);
		explicit_bzero(environ[i], strlen(environ[i]));
		environ[i] = copies[i];
	}
}

int
main(int argc, char **argv)
{
	size_t i;
	int fd;

	/* Closed descriptors 0 to 2 would become sockets of ours, and a
	 * command's. */
	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= 2);
	if (fd > 2)
		(void)close(fd);
	hide_environment();
	(void)setlocale(LC_CTYPE, "");
	(void)signal(SIGPIPE, SIG_IGN);
	log_init("foray");
	limits_raise_nofile();
	(void)setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 }); /* keys */
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0) {
		usage(stdout);
		return 0;
	}
	if (strcmp(argv[1], "--version") == 0) {
		(void)printf("foray %s\n", FORAY_VERSION);
		return 0;
	}
	for (i = 0; i < nitems(commands); i++)
		if (strcmp(argv[1], commands[i]->name) == 0)
			return finish(
			    commands[i], commands[i]->run(argc - 1, argv + 1));
	return no_command(argv[1]);
}
