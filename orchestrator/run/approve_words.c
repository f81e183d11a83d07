/* approve_words.c - a question as a person sees it, and what makes it the same
 * as another. */
#include "common/compat.h"

#include "common/json.h"
#include "common/log.h"
#include "common/text.h"
#include "orchestrator/run/approve_priv.h"

#define LINES_MAX 12 /* of each side of a change */

/* Each line of text behind sign. */
static void
put_lines(struct buf *b, char sign, const char *text)
{
	size_t n = 0, len;

	for (; *text != '\0'; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		if (n++ == LINES_MAX) {
			(void)buf_printf(b, "  %c ...\n", sign);
			return;
		}
		(void)buf_printf(b, "  %c ", sign);
		(void)text_escape(b, text, len);
		(void)buf_adds(b, "\n");
	}
}

/* The detail of a write: {"old", "new"}, as workers give it. */
static bool
put_change(struct buf *b, const char *detail)
{
	const char *old = NULL, *new_text = NULL;
	json_t *j = NULL;

	if (json_parse(detail, strlen(detail), 1 << 16, &j, NULL) < 0)
		return false;
	(void)json_get_str(j, "old", true, &old, NULL);
	(void)json_get_str(j, "new", true, &new_text, NULL);
	if (old != NULL && new_text != NULL && json_object_size(j) == 2) {
		put_lines(b, '-', old);
		put_lines(b, '+', new_text);
	} else {
		new_text = NULL;
	}
	json_decref(j);
	return new_text != NULL;
}

void
approve_words(const struct asked *q, struct buf *ret)
{
	(void)buf_printf(ret, "%s wants (%s):\n  ", q->worker, q->act);
	(void)text_escape(ret, q->subject, strlen(q->subject));
	(void)buf_adds(ret, "\n");
	if (q->detail != NULL && *q->detail != '\0' &&
	    !(strcmp(q->act, "write") == 0 && put_change(ret, q->detail))) {
		(void)buf_adds(ret, "  ");
		(void)text_escape(ret, q->detail, strlen(q->detail));
		(void)buf_adds(ret, "\n");
	}
	(void)text_escape(ret, q->reason, strlen(q->reason));
	(void)buf_adds(ret, "\n");
}

char *
approve_key(const char *act, const char *subject, const char *detail)
{
	json_t *j = NULL;
	char *paths = NULL, *key;

	if (detail == NULL || strcmp(act, "write") == 0)
		detail = "";
	if (strcmp(act, "try") == 0 &&
	    json_parse(detail, strlen(detail), 1 << 16, &j, NULL) == 0 &&
	    json_is_array(json_object_get(j, "paths")))
		detail = paths = json_text(json_object_get(j, "paths"));
	key = xasprintf("%s\n%s\n%s", act, subject, detail);
	json_decref(j);
	free(paths);
	return key;
}

void
approve_writes(const char *act, const char *detail, struct strv *granted)
{
	json_t *j = NULL, *path;
	char *key;
	size_t i;

	if (strcmp(act, "try") != 0 || detail == NULL ||
	    json_parse(detail, strlen(detail), 1 << 16, &j, NULL) < 0)
		return;
	json_array_foreach (json_object_get(j, "paths"), i, path) {
		if (!json_is_string(path))
			continue;
		key = approve_key("write", json_string_value(path), NULL);
		if (!strv_has(granted, key))
			strv_take(granted, &key);
		else
			free(key);
	}
	json_decref(j);
}
