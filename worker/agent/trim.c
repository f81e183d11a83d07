/* trim.c - old results made shorter; see context.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "worker/agent/context.h"

#define SAME_LINES 3   /* kept of equal lines in a row */
#define DROP_LEAST 700 /* bytes of a message; a stub must be a gain */
#define FIRST_LINE 120
#define SAME_LEAST 200
#define LOOKS_MAX 32 /* results compared with one */

static int
set_content(struct conv *c, size_t i, json_t *j, const char *s, size_t len)
{
	json_object_set_new(j, "content", json_str_lossy(s, len));
	return conv_splice(c, i, i + 1, json_incref(j), NULL);
}

/* Runs of equal lines, blank ones too, cut short. True: ret is shorter. */
static bool
squeeze(const char *s, size_t len, struct buf *ret)
{
	const char *p = s, *end = s + len, *nl, *last = NULL;
	size_t n, last_n = 0, run = 0;

	for (; p < end; p += n) {
		nl = memchr(p, '\n', (size_t)(end - p));
		n = nl != NULL ? (size_t)(nl + 1 - p) : (size_t)(end - p);
		if (last != NULL && n == last_n && memcmp(p, last, n) == 0) {
			run++;
		} else {
			if (run >= SAME_LINES)
				(void)buf_printf(ret,
				    "[the line above %zu times more]\n",
				    run + 1 - SAME_LINES);
			run = 0;
		}
		if (run < SAME_LINES)
			(void)buf_add(ret, p, n);
		last = p;
		last_n = n;
	}
	if (run >= SAME_LINES)
		(void)buf_printf(ret, "[the line above %zu times more]\n",
		    run + 1 - SAME_LINES);
	return ret->len < len;
}

static bool
comes_again(const struct conv *c, size_t i, const json_t *content)
{
	json_t *j;
	bool same = false;
	size_t k, looks = 0;

	for (k = i + 1; k < c->n && !same && looks < LOOKS_MAX; k++) {
		/* Ids may differ in length; the text can't by much. */
		if (c->v[k].role != CONV_RESULT ||
		    c->v[k].len + 256 < c->v[i].len ||
		    c->v[k].len > c->v[i].len + 256)
			continue;
		looks++;
		j = conv_json(c, k);
		same = json_equal(json_object_get(j, "content"), content);
		json_decref(j);
	}
	return same;
}

static bool
strip_one(struct conv *c, size_t i)
{
	static const char again[] = "[the same as a later result below]";
	json_t *j = conv_json(c, i);
	const json_t *content = json_object_get(j, "content");
	const char *s = json_string_value(content);
	bool changed = false;
	struct buf b;

	buf_init(&b, BUF_NOMAX);
	if (s == NULL || c->v[i].stub)
		goto out;
	if (json_string_length(content) >= SAME_LEAST &&
	    comes_again(c, i, content))
		changed = set_content(c, i, j, again, sizeof again - 1) == 0;
	else if (squeeze(s, json_string_length(content), &b))
		changed = set_content(c, i, j, buf_str(&b), b.len) == 0;
out:
	buf_clear(&b);
	json_decref(j);
	return changed;
}

bool
trim_strip(struct conv *c, size_t from, size_t to)
{
	bool changed = false;
	size_t i;

	for (i = from; i < to; i++) {
		if (c->v[i].role == CONV_RESULT && strip_one(c, i))
			changed = true;
	}
	return changed;
}

bool
trim_can_drop(const struct conv *c, size_t i)
{
	return c->v[i].role == CONV_RESULT && c->v[i].len >= DROP_LEAST &&
	    !c->v[i].stub;
}

bool
trim_drop(struct conv *c, size_t i, context_save save, void *ctx)
{
	const char *s, *name;
	char file[64] = "";
	struct buf b;
	json_t *j;
	size_t len, n;
	bool ok = false;

	if (!trim_can_drop(c, i) || (j = conv_json(c, i)) == NULL)
		return false;
	s = json_string_value(json_object_get(j, "content"));
	name = json_string_value(json_object_get(j, "name"));
	if (s == NULL)
		goto out;
	len = json_string_length(json_object_get(j, "content"));
	if (save != NULL)
		save(ctx, s, len, file, sizeof file);
	n = strcspn(s, "\n");
	buf_init(&b, BUF_NOMAX);
	(void)buf_printf(&b,
	    "[dropped to save room: the output of %.64s, "
	    "%zu bytes; ",
	    name != NULL ? name : "a tool", len);
	if (*file != '\0')
		(void)buf_printf(&b, "its full text is in %s]\n", file);
	else
		(void)buf_adds(&b, "make the call again if you need it]\n");
	(void)buf_add(&b, s, text_cut(s, n, FIRST_LINE));
	(void)buf_adds(&b, "\n");
	ok = set_content(c, i, j, buf_str(&b), b.len) == 0;
	c->v[i].stub = ok;
	buf_clear(&b);
out:
	json_decref(j);
	return ok;
}
