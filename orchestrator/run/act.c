/* act.c - see act.h. */
#include "common/compat.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/log.h"
#include "common/path.h"
#include "orchestrator/run/act.h"
#include "sandbox/changes.h"

/* The person's own commands are theirs. */
static bool
is_own(const struct run *r, const char *command)
{
	return strv_has(&r->tests, command) || strv_has(&r->o.checks, command);
}

/* Files that try_edits would change, each in a copy. */
static void
judge_paths(const struct rules *rules, const struct judge_place *where,
    const struct strv *files, const char *detail, struct verdict *v)
{
	json_t *j = NULL, *x;
	struct verdict one;
	size_t i;

	if (detail == NULL || *detail == '\0' ||
	    json_parse(detail, strlen(detail), 1 << 16, &j, NULL) < 0)
		return;
	json_array_foreach (json_object_get(j, "paths"), i, x) {
		if (!json_is_string(x))
			continue;
		judge_tool(
		    rules, "edit_file", json_string_value(x), where, &one);
		if (one.ruling == RULING_ASK &&
		    strv_has(files, json_string_value(x)))
			verdict_clear(&one);
		else
			verdict_join(v, &one);
	}
	if (json_is_true(json_object_get(j, "more")) && rules->blocks_edits &&
	    v->ruling == RULING_ALLOW) {
		v->ruling = RULING_DENY;
		free(v->reason);
		v->reason = xstrdup("too many files at once to be judged: "
				    "try fewer edits");
	}
	json_decref(j);
}

/* What a worker's own tool said when it refused. Yours. */
static char *
refusal(const char *detail)
{
	json_t *j = NULL;
	const char *why = NULL;
	char *text;

	if (detail != NULL &&
	    json_parse(detail, strlen(detail), 1 << 16, &j, NULL) == 0)
		why = json_string_value(json_object_get(j, "reason"));
	text = xstrdup(why != NULL ? why : "its tool refuses that");
	json_decref(j);
	return text;
}

void
act_judge(const struct run *r, const struct rules *rules,
    const struct judge_place *where, const struct strv *files,
    const struct msg_audit *m, struct verdict *v)
{
	struct verdict more;
	char *path;

	if (strcmp(m->act, "command") == 0) {
		judge_command(rules, m->subject, where, v);
	} else if (strcmp(m->act, "test") == 0) {
		if (is_own(r, m->subject))
			judge_command(rules, "", where, v);
		else
			judge_command(rules, m->subject, where, v);
	} else if (strcmp(m->act, "try") == 0) {
		judge_tool(rules, "try_edits", NULL, where, v);
		if (!is_own(r, m->subject)) {
			judge_command(rules, m->subject, where, &more);
			verdict_join(v, &more);
		}
		judge_paths(rules, where, files, m->detail, v);
	} else if (strcmp(m->act, "write") == 0) {
		path = path_join(r->root, m->subject);
		judge_tool(rules, "edit_file", path, where, v);
		free(path);
	} else if (strcmp(m->act, "refused") == 0) {
		/* It had no effect: this is for the record. */
		*v = (struct verdict){ .ruling = RULING_DENY,
			.reason = refusal(m->detail) };
	} else {
		judge_tool(rules, m->act, m->subject, where, v);
	}
}

char *
act_judge_patch(const struct run *r, const struct rules *rules,
    const struct judge_place *where, const char *patch, size_t len)
{
	struct strv paths = { 0 };
	char *why = NULL, *path;
	struct verdict v;
	struct err e;

	if (patch_paths(patch, len, &paths, &e) < 0)
		strv_clear(&paths); /* it is looked at, and refused, later */
	for (size_t i = 0; i < paths.n && why == NULL; i++) {
		path = path_join(r->root, paths.v[i]);
		judge_tool(rules, "edit_file", path, where, &v);
		if (v.ruling == RULING_DENY)
			why = xasprintf("the patch changes %.400s: %s",
			    paths.v[i], v.reason);
		verdict_clear(&v);
		free(path);
	}
	strv_clear(&paths);
	return why;
}
