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

/* The detail of candidates, as workers give it: how many edits of which files,
 * and the first of them, "shown". */
static bool
put_candidates(struct buf *b, const char *detail)
{
	const char *path, *old, *new_text;
	json_t *j = NULL, *paths, *x;
	uint64_t n = 0, hidden = 0;
	size_t i;
	bool ok;

	if (json_parse(detail, strlen(detail), 1 << 16, &j, NULL) < 0)
		return false;
	paths = json_object_get(j, "paths");
	ok = json_is_array(paths) &&
	    json_get_u64(j, "edits", 0, UINT32_MAX, &n, NULL) == 0 &&
	    json_get_u64(j, "hidden", 0, UINT32_MAX, &hidden, NULL) == 0;
	if (ok)
		(void)buf_printf(b, "  %llu edit%s of", (unsigned long long)n,
		    n == 1 ? "" : "s");
	json_array_foreach (ok ? paths : NULL, i, x) {
		path = json_string_value(x);
		(void)buf_adds(b, i > 0 ? ", " : " ");
		if (path != NULL)
			(void)text_escape(b, path, strlen(path));
	}
	if (ok && json_is_true(json_object_get(j, "more")))
		(void)buf_adds(b, ", and other files");
	if (ok)
		(void)buf_addc(b, '\n');
	json_array_foreach (ok ? json_object_get(j, "shown") : NULL, i, x) {
		if (json_get_str(x, "path", true, &path, NULL) < 0 ||
		    json_get_str(x, "old", true, &old, NULL) < 0 ||
		    json_get_str(x, "new", true, &new_text, NULL) < 0)
			continue;
		(void)buf_adds(b, "  ");
		(void)text_escape(b, path, strlen(path));
		(void)buf_addc(b, '\n');
		put_lines(b, '-', old);
		put_lines(b, '+', new_text);
	}
	if (ok && hidden > 0)
		(void)buf_printf(
		    b, "  (%llu changes more)\n", (unsigned long long)hidden);
	json_decref(j);
	return ok;
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
	    !(strcmp(q->act, "write") == 0 && put_change(ret, q->detail)) &&
	    !(strcmp(q->act, "try") == 0 && put_candidates(ret, q->detail))) {
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

char *
approve_kept(const char *act, const char *detail)
{
	json_t *j = NULL;
	char *text;

	if (detail == NULL || strcmp(act, "write") == 0)
		return NULL;
	if (strcmp(act, "try") != 0 ||
	    json_parse(detail, strlen(detail), 1 << 16, &j, NULL) < 0)
		return xstrdup(detail);
	(void)json_object_del(j, "shown");
	(void)json_object_del(j, "hidden");
	text = json_text(j);
	json_decref(j);
	return text;
}

static void
grant_file(struct approvals *a, const char *path)
{
	char *key = approve_key("write", path, NULL);

	if (!strv_has(&a->files, path))
		strv_add(&a->files, path);
	if (!strv_has(&a->granted, key))
		strv_add(&a->granted, key);
	free(key);
}

void
approve_grant(struct approvals *a, const struct asked *q)
{
	char *key = approve_key_of(q);
	json_t *j = NULL, *x;
	size_t i;

	strv_take(&a->granted, &key);
	if (q->rule != NULL || q->as != ASKED_AUDIT)
		return;
	if (strcmp(q->act, "write") == 0)
		grant_file(a, q->subject);
	if (strcmp(q->act, "try") != 0 || q->detail == NULL ||
	    json_parse(q->detail, strlen(q->detail), 1 << 16, &j, NULL) < 0)
		return;
	json_array_foreach (json_object_get(j, "paths"), i, x)
		if (json_is_string(x))
			grant_file(a, json_string_value(x));
	json_decref(j);
}
