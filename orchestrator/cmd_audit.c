#include "common/compat.h"

#include <errno.h>
#include <inttypes.h>
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
#include "orchestrator/egress/single.h"
#include "orchestrator/monitor/replay.h"
#include "orchestrator/run/run.h"
#include "orchestrator/run/settings.h"
#include "orchestrator/store/audit.h"

static int cmd_audit_main(int argc, char **argv);

const struct cmd cmd_audit = {
	.name = "audit",
	.synopsis =
	    "[--verify | --monitor] [--worker W] [--act A] [--verdict V] "
	    "[RUN [RULES.json] | --sandbox]",
	.purpose = "Print the record of every act of a run, or check its chain",
	.help =
	    "      --worker W, --act A, --verdict V\n"
	    "                 only lines with one of these (w1,w2; command,write; "
	    "deny)\n"
	    "      --verify   is the chain intact? Names the first line that "
	    "is not (exit 1)\n"
	    "      --monitor  run the monitor's rules over it: which lines "
	    "complete one (exit 1)?\n"
	    "                 RULES.json stands in the place of the settings, "
	    "{\"monitor\": ...}\n"
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
		/* There is a run, and its record is gone. */
		if (e.code == -ENOENT && s != NULL)
			(void)err_set(&e, ERR_DENIED,
			    "the record (audit.jsonl) is missing");
		if (e.code != ERR_DENIED && e.code != ERR_SYNTAX)
			return cmd_fail(&e);
		(void)printf("%s: NOT intact: %s\n", name, e.text);
		return EXIT_UNFIXED;
	}
	(void)printf("%s: intact, %" PRIu64 " lines%s%s\n", name, n,
	    *note != '\0' ? "; " : "", note);
	return 0;
}

/* --- which lines ---------------------------------------------------------- */

enum {
	BY_WORKER,
	BY_ACT,
	BY_VERDICT,
	N_FIELDS
};

static const char *const fields[N_FIELDS] = { "worker", "act", "verdict" };

/* An empty list: any. */
struct filter {
	struct strv of[N_FIELDS];
	struct strv seen[N_FIELDS]; /* what the lines have, up to SEEN_MAX */
};

#define SEEN_MAX 40

static void
filter_add(struct strv *list, const char *text)
{
	size_t n;

	for (; *text != '\0'; text += n + (text[n] == ',')) {
		n = strcspn(text, ",");
		if (n > 0)
			strv_addn(list, text, n);
	}
}

static void
filter_clear(struct filter *f)
{
	for (int i = 0; i < N_FIELDS; i++) {
		strv_clear(&f->of[i]);
		strv_clear(&f->seen[i]);
	}
}

static bool
filter_any(struct filter *f)
{
	for (int i = 0; i < N_FIELDS; i++)
		if (f->of[i].n > 0)
			return true;
	return false;
}

/* A line that can't be read is shown: whoever looks for something should see
 * it. */
static bool
filter_takes(struct filter *f, const char *line, size_t len)
{
	const char *s;
	json_t *j = NULL;
	bool yes = true;

	if (!filter_any(f))
		return true;
	if (json_parse(line, len, len, &j, NULL) < 0)
		return true;
	for (int i = 0; i < N_FIELDS; i++) {
		s = json_string_value(json_object_get(j, fields[i]));
		if (s != NULL && f->of[i].n > 0 && f->seen[i].n < SEEN_MAX &&
		    !strv_has(&f->seen[i], s))
			strv_add(&f->seen[i], s);
		yes = yes &&
		    (f->of[i].n == 0 || s == NULL || strv_has(&f->of[i], s));
	}
	json_decref(j);
	return yes;
}

/* As it is; on a terminal without what could drive it. */
static void
put_line(const char *line, size_t n)
{
	struct buf b;

	if (isatty(STDOUT_FILENO) != 1) {
		(void)fwrite(line, 1, n, stdout);
		return;
	}
	buf_init(&b, BUF_NOMAX);
	(void)text_escape(&b, line, n > 0 && line[n - 1] == '\n' ? n - 1 : n);
	(void)puts(buf_str(&b));
	buf_clear(&b);
}

/* A word that no line has is a slip of the pen, likely. */
static void
say_unknown(struct filter *f)
{
	struct buf b;

	for (int i = 0; i < N_FIELDS; i++) {
		for (size_t k = 0; k < f->of[i].n; k++) {
			if (strv_has(&f->seen[i], f->of[i].v[k]))
				continue;
			buf_init(&b, BUF_NOMAX);
			for (size_t m = 0; m < f->seen[i].n; m++) {
				(void)buf_adds(&b, m > 0 ? ", " : "");
				(void)text_escape(&b, f->seen[i].v[m],
				    strlen(f->seen[i].v[m]));
			}
			log_warn("no line has the %s \"%s\"; there are: %s",
			    fields[i], f->of[i].v[k],
			    b.len > 0 ? buf_str(&b) : "none");
			buf_clear(&b);
		}
	}
}

static void
print_lines(struct filter *f, const char *text, size_t len)
{
	const char *nl;
	size_t n;

	for (; len > 0; text += n, len -= n) {
		nl = memchr(text, '\n', len);
		n = nl != NULL ? (size_t)(nl - text) + 1 : len;
		if (filter_takes(f, text, n - (nl != NULL)))
			put_line(text, n);
	}
	say_unknown(f);
}

static int
print(const char *dir, struct filter *f)
{
	char *path = path_join(dir, "audit.jsonl");
	struct err e = { 0 };
	struct buf b;
	int r = 0;

	buf_init(&b, (size_t)1 << 30);
	if (file_read(path, true, &b, &e) < 0)
		r = cmd_fail(&e);
	else
		print_lines(f, buf_str(&b), b.len);
	buf_clear(&b);
	free(path);
	return r;
}

/* --- the monitor's rules over a chain ------------------------------------ */

/* "monitor" of a file, or of the settings. */
static int
read_rules(const char *file, struct monitor_rules *ret, struct err *e)
{
	json_t *j = NULL;
	struct buf b;
	int r = monitor_rules_supplied(ret, e);

	buf_init(&b, MONITOR_FILE_MAX);
	if (r == 0 && file == NULL) {
		r = settings_load(&j, e);
		file = "settings.json";
	} else if (r == 0 && (r = file_read(file, false, &b, e)) == 0) {
		r = json_parse(buf_str(&b), b.len, MONITOR_FILE_MAX, &j, e);
		if (r == 0 && json_object_get(j, "monitor") == NULL)
			r = err_set(e, ERR_SYNTAX, "there is no \"monitor\"");
		if (r < 0)
			(void)err_prefix(e, "%s", file);
	} else if (r < 0) {
		e->code = ERR_USAGE;
	}
	if (r == 0)
		r = monitor_rules_apply(
		    ret, json_object_get(j, "monitor"), file, e);
	json_decref(j);
	buf_clear(&b);
	return r;
}

static void
print_hit(void *ctx, uint64_t line, const struct monitor_act *a,
    const struct monitor_hit *h)
{
	size_t *hits = ctx;
	char subject[400];

	++*hits;
	text_escape_to(subject, sizeof subject, h->subject, strlen(h->subject));
	(void)printf("line %" PRIu64 "  %.3fs  %s  %s, %s: %s (%s: %s)\n", line,
	    a->t, a->worker, monitor_action_str(h->rule->action), h->rule->name,
	    h->rule->why, a->act, subject);
}

static int
monitor_chain(struct store *s, const char *file)
{
	struct monitor_rules rules = { 0 };
	struct monitor_place place;
	struct monitor *m;
	struct err e = { 0 };
	size_t hits = 0;
	uint64_t lines;
	char note[256];
	int r;

	/* What was changed says nothing of what was done. */
	r = audit_verify(s, &lines, note, sizeof note, &e);
	if (r == 0)
		r = read_rules(file, &rules, &e);
	if (r < 0) {
		monitor_rules_clear(&rules);
		return cmd_fail(&e);
	}
	replay_place(s, &place);
	m = monitor_create(&rules, &place);
	r = replay_chain(s, m, print_hit, &hits, &e);
	monitor_free(m);
	if (r < 0)
		return cmd_fail(&e);
	if (hits == 0)
		(void)printf("%s: no rule of the monitor\n", store_id(s));
	return hits > 0 ? EXIT_UNFIXED : 0;
}

static int
sandbox_chain(bool check, struct filter *f)
{
	struct err e = { 0 };
	char *dir = NULL;
	int r;

	if (single_dir(&dir, &e) < 0)
		return cmd_fail(&e);
	if (!single_recorded(dir)) {
		/* No lines, for whoever reads lines. */
		log_warn("no foray sandbox has asked for a host yet (only "
			 "with --allow-net or network.allow can it): nothing "
			 "is recorded");
		r = 0;
	} else {
		r = check ? verify(NULL, dir) : print(dir, f);
	}
	free(dir);
	return r;
}

struct what {
	bool check, sandbox, monitor;
	struct filter filter;
	const char *run, *rules;
};

/* 0, or the status to exit with and *ret_done. */
static int
read_args(int argc, char **argv, struct what *w, bool *ret_done)
{
	static const struct option options[] = {
		{ "verify", no_argument, NULL, 'v' },
		{ "sandbox", no_argument, NULL, 's' },
		{ "monitor", no_argument, NULL, 'm' },
		{ "worker", required_argument, NULL, 0 },
		{ "act", required_argument, NULL, 1 },
		{ "verdict", required_argument, NULL, 2 },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int opt;

	*ret_done = true;
	opterr = 0;
	while ((opt = options_next(argc, argv, ":h", options)) != -1) {
		if (opt == 'h')
			return cmd_help(&cmd_audit);
		if (opt >= 0 && opt < N_FIELDS)
			filter_add(&w->filter.of[opt], optarg);
		else if (opt != 'v' && opt != 's' && opt != 'm')
			return cmd_bad_option(&cmd_audit, opt, argv);
		w->check |= opt == 'v';
		w->sandbox |= opt == 's';
		w->monitor |= opt == 'm';
	}
	if (w->monitor && optind < argc && text_ends(argv[argc - 1], ".json"))
		w->rules = argv[--argc];
	if (w->check + w->sandbox + w->monitor > 1 &&
	    !(w->check && w->sandbox && !w->monitor))
		return cmd_usage(&cmd_audit,
		    "--monitor goes with neither --verify nor --sandbox");
	if ((w->check || w->monitor) && filter_any(&w->filter))
		return cmd_usage(&cmd_audit,
		    "--worker, --act and --verdict are for lines to print: the "
		    "chain is verified, and looked at, as a whole");
	if (argc - optind > 1)
		return cmd_usage(&cmd_audit, "one run at most");
	if (w->sandbox && optind < argc)
		return cmd_usage(&cmd_audit, "a run or --sandbox, not both");
	w->run = optind < argc ? argv[optind] : NULL;
	*ret_done = false;
	return 0;
}

static int
carry_out(struct what *w)
{
	struct store *s;
	struct err e = { 0 };
	int r;

	if (w->sandbox)
		return sandbox_chain(w->check, &w->filter);
	if (store_open(w->run, false, &s, &e) < 0)
		return cmd_fail(&e);
	r = w->monitor ? monitor_chain(s, w->rules)
	    : w->check ? verify(s, NULL)
		       : print(store_dir(s), &w->filter);
	store_close(s);
	return r;
}

static int
cmd_audit_main(int argc, char **argv)
{
	struct what w = { 0 };
	bool done;
	int r = read_args(argc, argv, &w, &done);

	if (!done)
		r = carry_out(&w);
	filter_clear(&w.filter);
	return r;
}
