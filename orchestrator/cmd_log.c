#include "common/compat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/options.h"
#include "common/text.h"
#include "orchestrator/cmd.h"
#include "orchestrator/run/run.h"
#include "orchestrator/store/transcript.h"
#include "orchestrator/view/plain.h"

#define POLL_US 200000

static int cmd_log_main(int argc, char **argv);

const struct cmd cmd_log = {
	.name = "log",
	.synopsis = "[-f] [--json] [WORKER] [RUN]",
	.purpose = "Show a run's events, or what one worker and its model said",
	.help = "  -f, --follow   go on while the run runs\n"
		"      --json     as it is stored, one object a line\n\n"
		"WORKER is a name as `foray show` has it (w3).\n",
	.run = cmd_log_main,
};

struct view {
	struct plain *plain; /* NULL: JSON */
};

static int
on_event(const char *name, const char *body, void *ctx)
{
	struct view *v = ctx;
	json_t *j = NULL;

	if (v->plain == NULL) {
		(void)puts(body);
		return 0;
	}
	if (json_parse(body, strlen(body), 1 << 20, &j, NULL) == 0)
		plain_event(v->plain, name, j);
	json_decref(j);
	return 0;
}

/* A line, escaped but for its tabs. */
static void
escaped(const char *s, size_t len)
{
	struct buf b;
	size_t n;

	buf_init(&b, 64 << 10);
	while (len > 0) {
		for (n = 0; n < len && s[n] != '\t'; n++)
			;
		(void)text_escape(&b, s, n);
		if (n < len) {
			(void)buf_addc(&b, '\t');
			n++;
		}
		s += n;
		len -= n;
	}
	(void)printf("    %s\n", buf_str(&b));
	buf_clear(&b);
}

/* Lines of a text, indented. */
static void
indented(const char *s)
{
	size_t n;

	while (*s != '\0') {
		n = strcspn(s, "\n");
		escaped(s, n > 4000 ? 4000 : n);
		s += n + (s[n] == '\n');
	}
}

static void
show_message(const char *line, size_t len)
{
	const json_t *call, *calls;
	json_t *j = NULL;
	const char *role = "?", *text = NULL;
	size_t i;

	if (json_parse(line, len, 8 << 20, &j, NULL) < 0)
		return;
	(void)json_get_str(j, "role", true, &role, NULL);
	(void)json_get_str(j, "content", false, &text, NULL);
	(void)printf("--- %.3fs turn %lld %s",
	    json_real_value(json_object_get(j, "t")),
	    (long long)json_integer_value(json_object_get(j, "turn")), role);
	if (json_object_get(j, "name") != NULL)
		(void)printf(
		    " %s", json_string_value(json_object_get(j, "name")));
	(void)putchar('\n');
	if (strcmp(role, "tools") == 0)
		(void)printf("    (%zu tools)\n",
		    json_array_size(json_object_get(j, "tools")));
	if (text != NULL)
		indented(text);
	calls = json_object_get(j, "tool_calls");
	json_array_foreach (calls, i, call) {
		(void)printf("  > %s ",
		    json_string_value(json_object_get(call, "name")));
		text = json_string_value(json_object_get(call, "arguments"));
		(void)printf("%.1000s\n", text != NULL ? text : "");
	}
	json_decref(j);
}

/* Print what was added since *used; whole lines only. */
static int
show_session(const char *path, bool json, size_t *used, struct err *e)
{
	const char *p, *nl;
	struct buf b;
	int r;

	buf_init(&b, (size_t)1 << 30);
	if ((r = file_read(path, true, &b, e)) == 0)
		while (*used < b.len &&
		    (nl = memchr(b.data + *used, '\n', b.len - *used)) !=
			NULL) {
			p = b.data + *used;
			if (json)
				(void)printf("%.*s\n", (int)(nl - p), p);
			else
				show_message(p, (size_t)(nl - p));
			*used += (size_t)(nl - p) + 1;
		}
	buf_clear(&b);
	(void)fflush(stdout);
	return r;
}

static int
log_events(struct store *s, bool follow, bool json)
{
	struct view v = { .plain = json ? NULL : plain_create(stdout) };
	int64_t at = 0;
	bool alive;

	do {
		alive = store_alive(s);
		at = store_events(s, at, on_event, &v);
		(void)fflush(stdout);
		if (follow && alive)
			(void)usleep(POLL_US);
	} while (at >= 0 && follow && alive);
	plain_free(v.plain);
	return at < 0 ? EXIT_FATAL : 0;
}

/* What a worker was for. */
struct duty {
	const char *worker;
	char *kind;
};

static int
on_assigned(const char *name, const char *body, void *ctx)
{
	struct duty *d = ctx;
	const char *worker = NULL, *kind = NULL;
	json_t *j = NULL;

	if (strcmp(name, "assigned") != 0 ||
	    json_parse(body, strlen(body), 1 << 20, &j, NULL) < 0)
		return 0;
	(void)json_get_str(j, "worker", true, &worker, NULL);
	(void)json_get_str(j, "kind", true, &kind, NULL);
	if (worker != NULL && kind != NULL && strcmp(worker, d->worker) == 0) {
		free(d->kind);
		d->kind = xstrdup(kind);
	}
	json_decref(j);
	return 0;
}

static void
say_none(struct store *s, const char *worker)
{
	struct duty d = { .worker = worker };

	(void)store_events(s, 0, on_assigned, &d);
	if (d.kind != NULL)
		log_error("worker %s of run %s (%s) talked to no model: it has "
			  "no conversation (`foray log %s` has its events)",
		    worker, store_id(s), d.kind, store_id(s));
	else
		log_error("run %s has no worker \"%s\" (`foray show` lists "
			  "them)",
		    store_id(s), worker);
	free(d.kind);
}

static int
log_worker(struct store *s, const char *worker, bool follow, bool json)
{
	char *path = transcript_path(s, worker);
	struct err e = { 0 };
	size_t used = 0;
	bool alive;
	int r;

	if (access(path, F_OK) < 0 && !follow) {
		say_none(s, worker);
		free(path);
		return EXIT_USAGE;
	}
	do {
		alive = store_alive(s);
		r = show_session(path, json, &used, &e);
		if (follow && alive)
			(void)usleep(POLL_US);
	} while (follow && alive);
	free(path);
	return r < 0 ? cmd_fail(&e) : 0;
}

static bool
is_worker(const char *s)
{
	return s[0] == 'w' && s[1] != '\0' &&
	    strspn(s + 1, "0123456789") == strlen(s + 1);
}

static int
cmd_log_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "follow", no_argument, NULL, 'f' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *worker = NULL, *run = NULL;
	bool follow = false, json = false;
	struct err e = { 0 };
	struct store *s;
	int opt, r;

	opterr = 0;
	while ((opt = options_next(argc, argv, ":fh", options)) != -1) {
		if (opt == 'h')
			return cmd_help(&cmd_log);
		if (opt == 'f')
			follow = true;
		else if (opt == 'j')
			json = true;
		else
			return cmd_bad_option(&cmd_log, opt, argv);
	}
	for (; optind < argc; optind++) {
		if (is_worker(argv[optind]) && worker == NULL)
			worker = argv[optind];
		else if (run == NULL)
			run = argv[optind];
		else
			return cmd_usage(
			    &cmd_log, "\"%s\" is too much", argv[optind]);
	}
	if (store_open(run, false, &s, &e) < 0)
		return cmd_fail(&e);
	r = worker != NULL ? log_worker(s, worker, follow, json)
			   : log_events(s, follow, json);
	store_close(s);
	return r;
}
