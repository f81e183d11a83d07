/*
 * tool_try.c - try_edits: many alternative edits, one check, several at once.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/loop.h"
#include "common/text.h"
#include "worker/agent/agent.h"
#include "worker/agent/tool.h"
#include "worker/agent/trial.h"

#define EDITS_MAX 200

#define SHOWN_MAX 3500 /* bytes of the edits that a person is shown */
#define SIDE_MAX 600

/* The changes themselves, the first ones, for a person who is asked. */
static void
add_shown(json_t *to, const json_t *edits)
{
	json_t *list = json_array(), *one;
	const json_t *v, *ch;
	size_t i, k, bytes = 0, hidden = 0;
	const char *path, *old, *new_text;
	char *text;

	json_array_foreach (edits, i, v) {
		json_array_foreach (json_object_get(v, "changes"), k, ch) {
			path = arg_str(ch, "path", "");
			old = arg_str(ch, "old", "");
			new_text = arg_str(ch, "new", "");
			one = json_pack("{s:s, s:o, s:o}", "path", path, "old",
			    json_str_lossy(
				old, text_cut(old, strlen(old), SIDE_MAX)),
			    "new",
			    json_str_lossy(new_text,
				text_cut(
				    new_text, strlen(new_text), SIDE_MAX)));
			text = json_text(one);
			if (bytes + strlen(text) + 1 > SHOWN_MAX) {
				hidden++;
				json_decref(one);
			} else {
				bytes += strlen(text) + 1;
				json_array_append_new(list, one);
			}
			free(text);
		}
	}
	json_object_set_new(to, "shown", list);
	if (hidden > 0)
		json_object_set_new(
		    to, "hidden", json_integer((json_int_t)hidden));
}

/* What is said of the edits: how many, of which files, and the first ones. */
static char *
audit_detail(const json_t *edits)
{
	json_t *j = json_object(), *paths = json_array();
	const json_t *v, *ch;
	struct strv seen = { 0 };
	size_t i, k, bytes = 0;
	char *text;

	json_array_foreach (edits, i, v) {
		json_array_foreach (json_object_get(v, "changes"), k, ch) {
			const char *p = arg_str(ch, "path", "");

			/* Worst case of escaping, within AUDIT's 16 KiB. */
			if (strv_has(&seen, p))
				continue;
			if (bytes + strlen(p) * 6 > 12000) {
				json_object_set_new(j, "more", json_true());
				continue;
			}
			bytes += strlen(p) * 6 + 3;
			strv_add(&seen, p);
			json_array_append_new(paths, json_string(p));
		}
	}
	json_object_set_new(
	    j, "edits", json_integer((json_int_t)json_array_size(edits)));
	json_object_set_new(j, "paths", paths);
	add_shown(j, edits);
	text = json_text(j);
	json_decref(j);
	strv_clear(&seen);
	return text;
}

static char *
report(const struct trial *t)
{
	json_t *j = json_object(), *list = json_array();
	size_t i;
	char *text;

	json_object_set_new(j, "tried", json_integer((json_int_t)t->done));
	json_object_set(j, "passed", t->passed);
	for (i = 0; i < t->n; i++) {
		if (t->results[i] != NULL)
			json_array_append(list, t->results[i]);
	}
	json_object_set_new(j, "results", list);
	text = json_text(j);
	json_decref(j);
	return text;
}

static void
try_edits(struct agent *a, const json_t *args, struct tool_result *r)
{
	struct trial t = {
		.a = a,
		.edits = json_object_get(args, "edits"),
		.check = arg_str(args, "check", ""),
		.stop_on_pass = arg_bool(args, "stop_on_pass"),
	};
	struct err e;
	uint64_t within_s;
	char *text;
	size_t i;
	int rc;

	t.n = json_array_size(t.edits);
	t.timeout_ms = agent_limit_s(a, arg_u64(args, "timeout_s", 0));
	if ((within_s = arg_u64(args, "within_s", 0)) > 0)
		t.end_ms = loop_now_ms() + agent_limit_s(a, within_s);
	if (t.n == 0 || t.n > EDITS_MAX) {
		tool_fail(r, "`edits` must hold 1 to %d edits", EDITS_MAX);
		return;
	}
	if (*t.check == '\0' || strlen(t.check) > AGENT_COMMAND_MAX) {
		tool_fail(r, "`check` must be a command of 1 to %d bytes",
		    AGENT_COMMAND_MAX);
		return;
	}
	text = audit_detail(t.edits);
	rc = agent_audit(a, "try", t.check, text, &e);
	free(text);
	if (rc < 0) {
		tool_fail_err(r, &e);
		return;
	}
	t.passed = json_array();
	t.results = xcalloc(t.n, sizeof(json_t *));
	trial_run(&t);
	if (t.broken.code != 0) {
		tool_fail_err(r, &t.broken);
	} else {
		text = report(&t);
		(void)buf_adds(&r->text, text);
		free(text);
	}
	for (i = 0; i < t.n; i++)
		json_decref(t.results[i]);
	free(t.results);
	json_decref(t.passed);
}

const struct tool tool_try_edits = {
	"try_edits",
	"Try up to 200 alternative edits at once: each is applied to its own "
	"copy of the workspace as it is now, and the check command runs there. "
	"The result says which pass (exit status 0) and how the others failed. "
	"The workspace itself is not changed; apply the winner with edit_file. "
	"An edit with empty `changes` runs the check on the tree as it is; its "
	"result has the whole output.",
	"{\"type\":\"object\",\"properties\":{"
	"\"check\":{\"type\":\"string\",\"description\":\"shell command\"},"
	"\"edits\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
	"\"properties\":{\"label\":{\"type\":\"string\"},"
	"\"changes\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
	"\"properties\":{\"path\":{\"type\":\"string\"},"
	"\"old\":{\"type\":\"string\"},\"new\":{\"type\":\"string\"},"
	"\"line\":{\"type\":\"integer\"}},"
	"\"required\":[\"path\",\"old\",\"new\"]}}},"
	"\"required\":[\"changes\"]}},"
	"\"timeout_s\":{\"type\":\"integer\",\"description\":\"for each "
	"check\"},"
	"\"within_s\":{\"type\":\"integer\",\"description\":\"for all of "
	"them; what has no result by then is left out\"},"
	"\"stop_on_pass\":{\"type\":\"boolean\"}},"
	"\"required\":[\"check\",\"edits\"]}",
	try_edits,
};
