/*
 * recorded.c - a resumed run makes its calls again, for what they do to the
 * files; the texts that the model saw stay as they were recorded, so that the
 * conversation, and with it every later answer, stays the same.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "worker/agent/tool.h"
#include "worker/agent/turn.h"

/* The message for this call, as JSON (a new reference) and as text; NULL:
 * there is none. */
static json_t *
find(const struct msg_strs *v, const char *id, const char *name,
    const char **ret_text)
{
	size_t i, n = conv_name_len(name);
	const char *its;
	json_t *j;

	for (i = 0; i < v->n; i++) {
		if (json_parse(v->v[i], strlen(v->v[i]), CONV_MESSAGE_MAX, &j,
			NULL) < 0)
			continue;
		its = arg_str(j, "name", "");
		if (strcmp(arg_str(j, "role", ""), "tool") == 0 &&
		    strcmp(arg_str(j, "tool_call_id", ""), id) == 0 &&
		    strlen(its) == n && memcmp(its, name, n) == 0 &&
		    json_is_string(json_object_get(j, "content"))) {
			*ret_text = v->v[i];
			return j;
		}
		json_decref(j);
	}
	return NULL;
}

bool
recorded_result(const struct msg_strs *v, const json_t *call, struct buf *ret)
{
	const char *text;
	json_t *j =
	    find(v, arg_str(call, "id", ""), arg_str(call, "name", ""), &text);

	if (j == NULL)
		return false;
	(void)buf_adds(ret, arg_str(j, "content", ""));
	json_decref(j);
	return true;
}

/* What counts of a result: an error, or how a command ended. */
static size_t
outcome_len(const char *s)
{
	if (text_starts(s, "error: "))
		return strlen("error: ");
	if (text_starts(s, "exit status ") || text_starts(s, "timed out "))
		return strcspn(s, "\n");
	return 0;
}

enum recorded
recorded_find(const struct msg_strs *v, const char *id, const char *name,
    const char *fresh, const char **ret_text, json_t **ret_json, char *line,
    size_t line_size)
{
	const char *old, *text = NULL;
	json_t *j = find(v, id, name, &text);
	size_t n, m;

	if (j == NULL)
		return RECORDED_NONE;
	old = arg_str(j, "content", "");
	n = outcome_len(old);
	m = outcome_len(fresh);
	if (n == m && memcmp(old, fresh, n) == 0) {
		*ret_text = text;
		*ret_json = j;
		return RECORDED_SAME;
	}
	snprintf(line, line_size, "%.60s: recorded \"%.80s\", now \"%.80s\"",
	    name, old, fresh);
	json_decref(j);
	return RECORDED_DIFFERS;
}
