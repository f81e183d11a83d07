/*
 * options.c - the command line of foray-host.
 */
#include "common/compat.h"

#include "worker/host/options.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>

#include "common/log.h"
#include "common/num.h"
#include "common/options.h"
#include "proto/label.h"
#include "proto/tcp.h"

#define EXIT_USAGE 2
#define DRAIN_MS 600000
#define CACHE_MAX ((uint64_t)20 << 30)

enum {
	OPT_CONNECT = 256,
	OPT_SLOTS,
	OPT_SPARES,
	OPT_NAME,
	OPT_LABEL,
	OPT_DRAIN,
	OPT_IDLE_EXIT,
	OPT_SCRATCH,
	OPT_CACHE,
	OPT_CACHE_MAX,
	OPT_LIFELINE_FD,
	OPT_PROFILE,
	OPT_SANDBOX,
	OPT_NETWORK,
	OPT_OWN_HOSTS,
	OPT_KEYS,
	OPT_INSECURE,
	OPT_CHECK,
	OPT_HELP,
	OPT_VERSION
};

static const struct option long_options[] = {
	{ "connect", required_argument, NULL, OPT_CONNECT },
	{ "slots", required_argument, NULL, OPT_SLOTS },
	{ "spares", required_argument, NULL, OPT_SPARES },
	{ "name", required_argument, NULL, OPT_NAME },
	{ "label", required_argument, NULL, OPT_LABEL },
	{ "drain", required_argument, NULL, OPT_DRAIN },
	{ "idle-exit", required_argument, NULL, OPT_IDLE_EXIT },
	{ "scratch", required_argument, NULL, OPT_SCRATCH },
	{ "cache", required_argument, NULL, OPT_CACHE },
	{ "cache-max", required_argument, NULL, OPT_CACHE_MAX },
	{ "lifeline-fd", required_argument, NULL, OPT_LIFELINE_FD },
	{ "profile", required_argument, NULL, OPT_PROFILE },
	{ "sandbox", required_argument, NULL, OPT_SANDBOX },
	{ "network", required_argument, NULL, OPT_NETWORK },
	{ "own-hosts", required_argument, NULL, OPT_OWN_HOSTS },
	{ "keys", required_argument, NULL, OPT_KEYS },
	{ "insecure-loopback", no_argument, NULL, OPT_INSECURE },
	{ "check", no_argument, NULL, OPT_CHECK },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

static const char help_text[] =
    "usage: foray-host --connect ENDPOINT [options]\n"
    "       foray-host --check [--connect ENDPOINT] [options]\n"
    "Runs the workers of a foray orchestrator on this machine.\n"
    "\n"
    "  --connect ENDPOINT  where the orchestrator listens: ipc:///PATH or\n"
    "                      tcp://HOST:PORT\n"
    "  --keys DIR          keys for tcp (`foray keys new` makes such a "
    "directory)\n"
    "  --insecure-loopback  tcp without keys: for tests, on 127.0.0.1 only\n"
    "  --slots N           workers at once (default: processors)\n"
    "  --spares N          workers started before they are needed, in slots that\n"
    "                      are free (default: 1)\n"
    "  --name NAME         name to go by (default: the machine's)\n"
    "  --label LABEL       what it is, for foray run --label: gpu, zone=a (more:\n"
    "                      again; default: FORAY_LABELS)\n"
    "  --idle-exit TIME    end after this time without a worker\n"
    "  --drain TIME        how long workers may still run after SIGTERM (10m)\n"
    "  --scratch DIR       where workspaces are made (default: CACHE/scratch)\n"
    "  --cache DIR         where snapshots are (default: ~/.cache/foray)\n"
    "  --cache-max SIZE    let snapshots take so much there (default: 20G)\n"
    "  --profile NAME      sandbox of commands: strict, default, build, debug,\n"
    "                      one of yours, or a file\n"
    "  --sandbox KIND      bwrap (default), or container: one layer less, where\n"
    "                      no namespaces can be had (foray-host(8))\n"
    "  --network SOCKET    give commands a way to allowed hosts by the proxy "
    "that\n"
    "                      takes their networks at this unix socket\n"
    "  --own-hosts LIST    what they reach without it (default: their loopback)\n"
    "  --lifeline-fd N     end when the pipe on descriptor N is hung up\n"
    "  --check             say what this machine lacks, and end\n"
    "  --help, --version\n";

static void usage(const char *text) noreturn_fn;

static void
usage(const char *text)
{
	fprintf(stderr, "foray-host: %s\nTry 'foray-host --help'.\n", text);
	exit(EXIT_USAGE);
}

static uint64_t
number(const char *s, uint64_t min, uint64_t max, const char *what)
{
	struct err e;
	uint64_t v;

	if (num_u64(s, min, max, what, &v, &e) < 0)
		usage(e.text);
	return v;
}

static uint64_t
duration(const char *s, const char *what)
{
	struct err e;
	uint64_t v;

	if (num_duration_ms(s, what, &v, &e) < 0)
		usage(e.text);
	return v;
}

static void
print(const char *text)
{
	if (fputs(text, stdout) == EOF || fflush(stdout) == EOF)
		exit(1);
	exit(0);
}

static const char *
absolute(const char *path, const char *what)
{
	if (path[0] != '/')
		usage(
		    xasprintf("%s: '%s' is not an absolute path", what, path));
	return path;
}

static void
take_labels(struct options *o, const char *text, const char *what)
{
	struct err e;

	if (labels_add(&o->labels, text, what, &e) < 0)
		usage(e.text);
}

static void
take_option(struct options *o, int c)
{
	struct err e;

	switch (c) {
	case OPT_CONNECT:
		o->connect = optarg;
		break;
	case OPT_SLOTS:
		o->slots = number(optarg, 1, 4096, "--slots");
		break;
	case OPT_SPARES:
		o->spares = number(optarg, 0, 4096, "--spares");
		break;
	case OPT_NAME:
		if (strlen(optarg) == 0 || strlen(optarg) > 255)
			usage("--name: 1 to 255 bytes are allowed");
		o->name = optarg;
		break;
	case OPT_LABEL:
		take_labels(o, optarg, "--label");
		break;
	case OPT_DRAIN:
		o->drain_ms = duration(optarg, "--drain");
		break;
	case OPT_IDLE_EXIT:
		o->idle_exit_ms = duration(optarg, "--idle-exit");
		break;
	case OPT_SCRATCH:
		o->scratch = absolute(optarg, "--scratch");
		break;
	case OPT_CACHE:
		o->cache = absolute(optarg, "--cache");
		break;
	case OPT_CACHE_MAX:
		if (num_size(optarg, "--cache-max", &o->cache_max, &e) < 0)
			usage(e.text);
		break;
	case OPT_LIFELINE_FD:
		o->lifeline_fd =
		    (int)number(optarg, 3, 1 << 20, "--lifeline-fd");
		if (fcntl(o->lifeline_fd, F_GETFD) < 0)
			usage(xasprintf("--lifeline-fd: descriptor %d: %s",
			    o->lifeline_fd, strerror(errno)));
		break;
	case OPT_PROFILE:
		o->profile = optarg;
		break;
	case OPT_SANDBOX:
		if (backend_parse(optarg, &o->backend, &e) < 0)
			usage(e.text);
		break;
	case OPT_NETWORK:
		o->network = absolute(optarg, "--network");
		break;
	case OPT_OWN_HOSTS:
		o->own_hosts = optarg;
		break;
	case OPT_KEYS:
		o->keys = optarg;
		break;
	case OPT_INSECURE:
		o->insecure = true;
		break;
	case OPT_CHECK:
		o->check = true;
		break;
	case OPT_HELP:
		print(help_text);
		break;
	case OPT_VERSION:
		print("foray-host " FORAY_VERSION "\n");
		break;
	default:
		/* getopt has said what is wrong. */
		fputs("Try 'foray-host --help'.\n", stderr);
		exit(EXIT_USAGE);
	}
}

/* The keys are read before we are another uid. */
static void
check_connect(struct options *o)
{
	bool tcp = tcp_is(o->connect);
	struct tcp_end at;
	struct err e;

	if (!tcp && strncmp(o->connect, "ipc:///", 7) != 0)
		usage(
		    xasprintf("--connect: '%s' is neither tcp://HOST:PORT nor "
			      "ipc:///PATH",
			o->connect));
	if (!tcp && (o->keys != NULL || o->insecure))
		usage("--keys and --insecure-loopback are for tcp");
	if (o->keys != NULL && o->insecure)
		usage("--keys and --insecure-loopback: give one of them");
	if (!tcp)
		return;
	if (tcp_parse(o->connect, false, &at, &e) < 0)
		usage(xasprintf("--connect: %s", e.text));
	if (o->keys == NULL && !o->insecure)
		usage("tcp needs --keys DIR: `foray keys new NAME`, where the "
		      "orchestrator is, makes such a directory");
	if (o->insecure && tcp_check_loopback(&at, &e) < 0)
		usage(xasprintf("--insecure-loopback: %s", e.text));
	if (o->keys != NULL && !o->check &&
	    curve_read_host(o->keys, &o->curve, &e) < 0)
		usage(xasprintf("--keys: %s", e.text));
	if (o->insecure && !o->check)
		log_warn("--insecure-loopback: every user of this machine can "
			 "be the orchestrator of this host");
}

size_t
options_processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		return (size_t)CPU_COUNT(&set);
	return 1;
}

void
options_parse(struct options *o, int argc, char **argv)
{
	int c;

	memset(o, 0, sizeof *o);
	o->lifeline_fd = -1;
	o->spares = 1;
	o->drain_ms = DRAIN_MS;
	o->cache_max = CACHE_MAX;
	if (getenv("FORAY_SPARES") != NULL)
		o->spares =
		    number(getenv("FORAY_SPARES"), 0, 4096, "FORAY_SPARES");
	while ((c = options_next(argc, argv, "", long_options)) != -1)
		take_option(o, c);
	if (o->labels.n == 0 && getenv("FORAY_LABELS") != NULL &&
	    getenv("FORAY_LABELS")[0] != '\0')
		take_labels(o, getenv("FORAY_LABELS"), "FORAY_LABELS");
	if (optind < argc)
		usage(xasprintf("'%s' is not an option", argv[optind]));
	if (o->connect == NULL && !o->check)
		usage("--connect is missing");
	if (o->connect != NULL)
		check_connect(o);
	if (o->slots == 0)
		o->slots = options_processors();
}
