#include "common/compat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/options.h"
#include "common/text.h"
#include "orchestrator/cmd.h"

#define FAILING_SHOWN 8

static int cmd_show_main(int argc, char **argv);

const struct cmd cmd_show = {
	.name = "show",
	.synopsis = "[RUN]",
	.purpose = "Show what a run did: status, subtasks, what was ruled out",
	.help = "",
	.run = cmd_show_main,
};

/* Text of others, on one line. */
static void
put(const char *before, const char *s, const char *after)
{
	struct buf b;

	buf_init(&b, 64 << 10);
	(void)text_escape(&b, s, strlen(s));
	(void)printf("%s%s%s", before, buf_str(&b), after);
	buf_clear(&b);
}

static void
put_wide(const char *s, int width)
{
	char text[256];

	(void)text_escape_to(text, sizeof text, s, strlen(s));
	(void)printf("%-*s ", width, text);
}

static void
list(const json_t *summary, const char *key, const char *before)
{
	const json_t *v;
	size_t i;

	json_array_foreach (json_object_get(summary, key), i, v)
		if (json_is_string(v))
			put(before, json_string_value(v), "\n");
}

static void
put_cost(const json_t *summary)
{
	const json_t *usage = json_object_get(summary, "usage");
	double usd = json_real_value(json_object_get(usage, "cost_usd"));
	long long tokens =
	    json_integer_value(json_object_get(usage, "in_tokens")) +
	    json_integer_value(json_object_get(usage, "out_tokens"));

	(void)printf("  [%lld calls, %lld edits",
	    (long long)json_integer_value(json_object_get(summary, "calls")),
	    (long long)json_integer_value(json_object_get(summary, "tried")));
	if (tokens > 0)
		(void)printf(", %lld tokens", tokens);
	if (usd > 0)
		(void)printf(", $%.4f", usd);
	(void)putchar(']');
}

static void
put_spend(struct store *s)
{
	struct spend p;

	if (store_spend(s, NULL, &p) < 0)
		return;
	(void)printf("%-9s%llu\n", "calls", (unsigned long long)p.calls);
	if (p.in_tokens + p.out_tokens > 0)
		(void)printf("%-9s%llu in (%llu cached), %llu out\n", "tokens",
		    (unsigned long long)p.in_tokens,
		    (unsigned long long)p.cached_tokens,
		    (unsigned long long)p.out_tokens);
	if (p.micro > 0)
		(void)printf("%-9s$%.4f\n", "cost", (double)p.micro / 1e6);
}

/* Which host a worker was given to; nothing where all were of one machine. */
struct places {
	json_t *hosts; /* name by worker */
	bool others;
};

static int
on_place(const char *name, const char *body, void *ctx)
{
	struct places *p = ctx;
	const char *worker;
	json_t *ev = NULL;

	if ((strcmp(name, "assigned") != 0 && strcmp(name, "host_up") != 0) ||
	    json_parse(body, strlen(body), 1 << 20, &ev, NULL) < 0)
		return 0;
	worker = json_string_value(json_object_get(ev, "worker"));
	if (worker != NULL)
		(void)json_object_set(
		    p->hosts, worker, json_object_get(ev, "host"));
	if (json_object_get(ev, "address") != NULL)
		p->others = true;
	json_decref(ev);
	return 0;
}

static int
on_row(const struct store_row *row, void *ctx)
{
	const struct places *p = ctx;
	const char *host =
	    json_string_value(json_object_get(p->hosts, row->worker));
	json_t *j = NULL;
	const char *verdict = "", *reason = "";
	const char *last = *row->worker != '\0' ? row->worker : "-";

	if (row->summary != NULL &&
	    json_parse(row->summary, strlen(row->summary), 1 << 20, &j, NULL) ==
		0) {
		(void)json_get_str(j, "verdict", true, &verdict, NULL);
		(void)json_get_str(j, "reason", true, &reason, NULL);
	}
	(void)printf("  ");
	put_wide(row->label, 14);
	put_wide(row->state, 8);
	if (p->others) {
		put_wide(*row->worker != '\0' ? row->worker : "-", 8);
		last = host != NULL ? host : "-";
	}
	if (j == NULL && row->attempts <= 1) {
		put("", last, "");
	} else {
		put_wide(last, p->others ? 12 : 8);
		put(" ", verdict, "");
	}
	if (*reason != '\0')
		put(": ", reason, "");
	if (j != NULL)
		put_cost(j);
	if (row->attempts > 1)
		(void)printf("  (%u attempts)", row->attempts);
	(void)putchar('\n');
	if (row->hypothesis != NULL && strcmp(row->kind, "explore") == 0)
		put("      ", row->hypothesis, "\n");
	if (strcmp(row->kind, "explore") == 0 ||
	    strcmp(row->kind, "reproduce") == 0) {
		list(j, "findings", "        - ");
		list(j, "evidence", "        at ");
	}
	json_decref(j);
	return 0;
}

/* How long all of it took, with what came after each resume. */
struct took {
	double s;
	unsigned ends, resumed;
};

/* What the tests said before, and how long all of it took. */
static int
on_facts(const char *name, const char *body, void *ctx)
{
	struct took *took = ctx;
	json_t *ev = NULL, *v;
	size_t i, n;

	if ((strcmp(name, "baseline") != 0 &&
		strcmp(name, "run_started") != 0 &&
		strcmp(name, "run_finished") != 0) ||
	    json_parse(body, strlen(body), 1 << 20, &ev, NULL) < 0)
		return 0;
	if (strcmp(name, "run_finished") == 0) {
		took->s = json_real_value(json_object_get(ev, "wall_s"));
		took->ends++;
	} else if (strcmp(name, "run_started") == 0) {
		took->resumed += json_is_true(json_object_get(ev, "resumed"));
	} else {
		(void)printf("%-9s%lld pass, %lld fail\n", "before",
		    (long long)json_integer_value(
			json_object_get(ev, "passed")),
		    (long long)json_integer_value(
			json_object_get(ev, "failed")));
		n = json_array_size(json_object_get(ev, "failing"));
		json_array_foreach (json_object_get(ev, "failing"), i, v) {
			if (i == FAILING_SHOWN) {
				(void)printf("%-9sand %zu more\n", "", n - i);
				break;
			}
			if (json_is_string(v))
				put("         ", json_string_value(v), "\n");
		}
	}
	json_decref(ev);
	return 0;
}

static void
put_took(const struct took *t)
{
	if (t->ends == 0)
		return;
	(void)printf("%-9s%.1f s", "time", t->s);
	if (t->resumed > 0)
		(void)printf(" in all, resumed %u time%s", t->resumed,
		    t->resumed == 1 ? "" : "s");
	(void)putchar('\n');
}

/* Patches that hold besides the one that was kept. */
static int
on_end(const char *name, const char *body, void *ctx unused_arg)
{
	json_t *ev = NULL, *v;
	const char *s;
	size_t i;

	if (strcmp(name, "run_finished") != 0 ||
	    json_parse(body, strlen(body), 1 << 20, &ev, NULL) < 0)
		return 0;
	json_array_foreach (json_object_get(ev, "others"), i, v) {
		s = "";
		(void)json_get_str(v, "candidate", true, &s, NULL);
		put("holds    ", s, " as well: ");
		(void)json_get_str(v, "fix", true, &s, NULL);
		put("", s, "\n");
		(void)json_get_str(v, "patch", true, &s, NULL);
		put("         ", s, "\n");
	}
	json_decref(ev);
	return 0;
}

/* What the monitor had to say. */
static int
on_event(const char *name, const char *body, void *ctx)
{
	bool *any = ctx;
	json_t *ev = NULL;
	const char *s = "";

	if (strcmp(name, "monitor") != 0 ||
	    json_parse(body, strlen(body), 1 << 20, &ev, NULL) < 0)
		return 0;
	if (!*any)
		(void)puts("monitor");
	*any = true;
	(void)json_get_str(ev, "worker", true, &s, NULL);
	(void)printf("  ");
	put_wide(s, 8);
	(void)json_get_str(ev, "action", true, &s, NULL);
	put_wide(s, 6);
	(void)json_get_str(ev, "rule", true, &s, NULL);
	put("", s, ": ");
	(void)json_get_str(ev, "why", true, &s, NULL);
	put("", s, "");
	(void)json_get_str(ev, "subject", true, &s, NULL);
	put(" (", s, ")\n");
	json_decref(ev);
	return 0;
}

/* Hooks that failed or were against something: a line each, and how often. */
static int
on_hook(const char *name, const char *body, void *ctx)
{
	json_t *counts = ctx, *ev = NULL;
	const char *on = "", *command = "", *verdict = "", *why = "";
	char *line;

	if (strcmp(name, "hook") != 0 ||
	    json_parse(body, strlen(body), 1 << 20, &ev, NULL) < 0)
		return 0;
	(void)json_get_str(ev, "on", true, &on, NULL);
	(void)json_get_str(ev, "command", true, &command, NULL);
	(void)json_get_str(ev, "verdict", true, &verdict, NULL);
	(void)json_get_str(ev, "warning", true, &why, NULL);
	if (*why == '\0' && strcmp(verdict, "deny") == 0)
		(void)json_get_str(ev, "reason", true, &why, NULL);
	if (*why != '\0') {
		line = xasprintf("%s %s: %s%s", on, command,
		    strcmp(verdict, "deny") == 0 ? "denied: " : "", why);
		(void)json_object_set_new(counts, line,
		    json_integer(
			json_integer_value(json_object_get(counts, line)) + 1));
		free(line);
	}
	json_decref(ev);
	return 0;
}

#define COUNTS_MAX 40

/* What cb has counted, each line once. */
static void
put_counts(struct store *s, const char *title,
    int (*cb)(const char *name, const char *body, void *ctx))
{
	json_t *counts = json_object(), *n;
	const char *line;
	char times[32];
	size_t shown = 0;

	(void)store_events(s, 0, cb, counts);
	if (json_object_size(counts) > 0)
		(void)puts(title);
	json_object_foreach (counts, line, n) {
		if (shown++ == COUNTS_MAX) {
			(void)printf("  and %zu more\n",
			    json_object_size(counts) - COUNTS_MAX);
			break;
		}
		(void)snprintf(times, sizeof times,
		    " (%" JSON_INTEGER_FORMAT " times)\n",
		    json_integer_value(n));
		put("  ", line, json_integer_value(n) > 1 ? times : "\n");
	}
	json_decref(counts);
}

/* Who was sent away, and hosts on which nothing worked: a line each. */
static int
on_host(const char *name, const char *body, void *ctx)
{
	json_t *counts = ctx, *ev = NULL;
	const char *who = "", *key = "", *why = "";
	bool refused = strcmp(name, "host_refused") == 0;
	size_t len;
	char *line;

	if ((!refused && strcmp(name, "host_aside") != 0 &&
		strcmp(name, "door_lost") != 0) ||
	    json_parse(body, strlen(body), 1 << 20, &ev, NULL) < 0)
		return 0;
	(void)json_get_str(ev, refused ? "address" : "host", true, &who, NULL);
	(void)json_get_str(ev, "key", true, &key, NULL);
	(void)json_get_str(ev, "reason", true, &why, NULL);
	/* Without the port: each connection has another. */
	len = strrchr(who, ':') != NULL && refused
	    ? (size_t)(strrchr(who, ':') - who)
	    : strlen(who);
	line = xasprintf("%s%s%.*s%s%s%s: %s",
	    refused                              ? "refused"
		: strcmp(name, "door_lost") == 0 ? "closed"
						 : "set aside",
	    len > 0 ? " " : "", (int)len, who, *key != '\0' ? " (key " : "",
	    key, *key != '\0' ? ")" : "", why);
	(void)json_object_set_new(counts, line,
	    json_integer(
		json_integer_value(json_object_get(counts, line)) + 1));
	free(line);
	json_decref(ev);
	return 0;
}

static void
fact(struct store *s, const char *key)
{
	char *v = store_get(s, key), name[32];

	(void)snprintf(name, sizeof name, "%-9s", key);
	if (v != NULL && *v != '\0')
		put(name, v, "\n");
	free(v);
}

static int
cmd_show_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct places places = { 0 };
	struct took took = { 0 };
	struct err e = { 0 };
	struct store *s;
	char *status;
	bool any = false;
	int opt, r;

	opterr = 0;
	while ((opt = options_next(argc, argv, ":h", options)) != -1)
		return opt == 'h' ? cmd_help(&cmd_show)
				  : cmd_bad_option(&cmd_show, opt, argv);
	if ((r = cmd_open(
		 &cmd_show, argc - optind, argv + optind, false, &s)) != 0)
		return r;
	status = store_status(s);
	(void)printf("%-9s%s\n", "run", store_id(s));
	put("status   ", status, "\n");
	fact(s, "reason");
	fact(s, "repo");
	fact(s, "task");
	fact(s, "tests");
	fact(s, "model");
	(void)printf("%-9s%s\n", "dir", store_dir(s));
	put_spend(s);
	(void)store_events(s, 0, on_facts, &took);
	put_took(&took);
	(void)store_events(s, 0, on_end, NULL);
	(void)puts("subtasks");
	places.hosts = json_object();
	(void)store_events(s, 0, on_place, &places);
	r = store_subtasks(s, on_row, &places, &e) < 0 ? cmd_fail(&e) : 0;
	json_decref(places.hosts);
	(void)store_events(s, 0, on_event, &any);
	put_counts(s, "hooks", on_hook);
	put_counts(s, "hosts", on_host);
	free(status);
	store_close(s);
	return r;
}
