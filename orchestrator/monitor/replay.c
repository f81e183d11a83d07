#include "common/compat.h"

#include <errno.h>
#include <stdlib.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/monitor/replay.h"

#define CHAIN_MAX ((size_t)4 << 30)
#define LINE_MAX_BYTES ((size_t)512 << 10)
#define FACT_MAX ((size_t)64 << 20)
#define HITS_MAX 16

/* --- facts ---------------------------------------------------------------- */

static void
add_strs(const json_t *list, struct strv *to)
{
	const json_t *v;
	size_t i;

	json_array_foreach (list, i, v)
		if (json_is_string(v))
			strv_add(to, json_string_value(v));
}

static json_t *
fact(struct store *s, const char *key)
{
	char *text = store_get(s, key);
	json_t *j = NULL;

	if (text != NULL)
		(void)json_parse(text, strlen(text), FACT_MAX, &j, NULL);
	free(text);
	return j;
}

void
replay_place(struct store *s, struct monitor_place *ret)
{
	char *root = store_get(s, "repo"), *below = store_get(s, "workdir");
	json_t *opts = fact(s, "opts"), *guarded = fact(s, "guarded");

	*ret = (struct monitor_place){ 0 };
	ret->root = root != NULL ? root : xstrdup("/");
	ret->workdir = below != NULL && *below != '\0'
	    ? path_join(ret->root, below)
	    : xstrdup(ret->root);
	ret->guarded_known = guarded != NULL;
	add_strs(guarded, &ret->guarded);
	strv_sort(&ret->guarded);
	add_strs(json_object_get(opts, "tests"), &ret->own);
	add_strs(json_object_get(opts, "checks"), &ret->own);
	json_decref(opts);
	json_decref(guarded);
	free(below);
}

int
replay_save_guarded(struct store *s, const struct strv *guarded, struct err *e)
{
	json_t *j = json_from_strv(guarded);
	char *text = json_text(j);
	int r = store_set(s, "guarded", text, e);

	free(text);
	json_decref(j);
	return r;
}

/* --- lines ---------------------------------------------------------------- */

static const char *
str(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s != NULL ? s : "";
}

/* Held by the monitor: it was about to happen, and was looked at as such. */
static const char *
verdict_of(const json_t *j)
{
	const char *why = str(json_object_get(j, "detail"), "reason");

	return text_starts(why, "the monitor (") ? "allow" : str(j, "verdict");
}

struct replaying {
	struct monitor *m;
	void (*hit)(void *ctx, uint64_t line, const struct monitor_act *a,
	    const struct monitor_hit *h);
	void *ctx;
};

static void
replay_line(const struct replaying *r, const char *p, size_t len, uint64_t line)
{
	struct monitor_hit hits[HITS_MAX];
	struct monitor_act a;
	json_t *j = NULL;
	char *detail;
	size_t i, n;

	if (json_parse(p, len, LINE_MAX_BYTES, &j, NULL) < 0)
		return;
	detail = json_is_object(json_object_get(j, "detail"))
	    ? json_text(json_object_get(j, "detail"))
	    : NULL;
	a = (struct monitor_act){ .t = json_number_value(
				      json_object_get(j, "t")),
		.worker = str(j, "worker"),
		.act = str(j, "act"),
		.subject = str(j, "subject"),
		.detail = detail,
		.verdict = verdict_of(j) };
	n = monitor_feed(r->m, &a, hits, nitems(hits));
	for (i = 0; i < n; i++) {
		if (r->hit != NULL)
			r->hit(r->ctx, line, &a, &hits[i]);
		free(hits[i].subject);
	}
	free(detail);
	json_decref(j);
}

int
replay_chain(struct store *s, struct monitor *m,
    void (*hit)(void *ctx, uint64_t line, const struct monitor_act *a,
	const struct monitor_hit *h),
    void *ctx, struct err *e)
{
	struct replaying r = { m, hit, ctx };
	char *path = path_join(store_dir(s), "audit.jsonl");
	const char *p, *nl;
	uint64_t line = 0;
	struct buf b;
	int rc;

	buf_init(&b, CHAIN_MAX);
	if ((rc = file_read(path, true, &b, e)) == -ENOENT)
		rc = 0;
	else if (rc < 0)
		(void)err_prefix(e, "%s", path);
	p = buf_str(&b);
	while (rc == 0 && (nl = strchr(p, '\n')) != NULL) {
		replay_line(&r, p, (size_t)(nl - p), ++line);
		p = nl + 1;
	}
	buf_clear(&b);
	free(path);
	return rc;
}
