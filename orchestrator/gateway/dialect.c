/* dialect.c - see dialect.h: the order of a request and its bytes. */
#include "common/compat.h"

#include "common/log.h"
#include "orchestrator/gateway/dialect_priv.h"

const char missing_text[] =
    "interrupted: this call has no result and was not made again";

static const struct dialect *const dialects[] = {
	&dialect_chat,
	&dialect_responses,
	&dialect_anthropic,
};

const struct dialect *
dialect_find(const char *name)
{
	for (size_t i = 0; i < nitems(dialects); i++) {
		if (strcmp(dialects[i]->name, name) == 0)
			return dialects[i];
	}
	return NULL;
}

void
wire_clear(struct wire *w)
{
	free(w->text);
	strv_clear(&w->ids);
	*w = (struct wire){ 0 };
}

void
bearer_headers(const char *key, struct strv *ret)
{
	strv_add(ret, "Content-Type: application/json");
	strv_add(ret, "Accept: text/event-stream, application/json");
	if (key != NULL && *key != '\0')
		strv_addf(ret, "Authorization: Bearer %s", key);
}

/* --- order -----------------------------------------------------------------
 */

static void
add_step(struct plan *p, const struct wire *w, const char *missing)
{
	struct step *s = &p->v[p->n++];

	s->w = w;
	s->missing = missing;
	s->user_side =
	    w == NULL || w->role == ROLE_TOOL || w->role == ROLE_USER;
}

/* The place of an id among the calls, or calls->n. */
static size_t
call_of(const struct strv *calls, const struct wire *result)
{
	size_t i;

	for (i = 0; i < calls->n && result->ids.n > 0; i++) {
		if (strcmp(calls->v[i], result->ids.v[0]) == 0)
			return i;
	}
	return calls->n;
}

/* msgs[from..to) stands between an assistant message and the next: first what
 * answers its calls, then the rest. */
static void
plan_answers(struct plan *p, const struct request *q, size_t from, size_t to,
    const struct strv *calls)
{
	bool answered[REPLY_CALLS_MAX] = { false };
	size_t i, k;

	for (i = from; i < to && calls != NULL; i++) {
		if (q->msgs[i]->role != ROLE_TOOL)
			continue;
		k = call_of(calls, q->msgs[i]);
		if (k >= calls->n || k >= REPLY_CALLS_MAX || answered[k])
			continue;
		answered[k] = true;
		add_step(p, q->msgs[i], NULL);
	}
	for (k = 0; calls != NULL && k < calls->n && k < REPLY_CALLS_MAX; k++) {
		if (!answered[k])
			add_step(p, NULL, calls->v[k]);
	}
	for (i = from; i < to; i++) {
		if (q->msgs[i]->role == ROLE_TOOL || q->msgs[i]->len == 0)
			continue;
		if (q->msgs[i]->role == ROLE_TOOLS)
			p->tools = q->msgs[i];
		else
			add_step(p, q->msgs[i], NULL);
	}
}

void
plan_make(const struct request *q, struct plan *ret)
{
	const struct strv *calls = NULL;
	size_t i, from = 0, most = q->n;

	for (i = 0; i < q->n; i++) {
		if (q->msgs[i]->role == ROLE_ASSISTANT)
			most += q->msgs[i]->ids.n;
	}
	*ret = (struct plan){ 0 };
	ret->v = xreallocarray(NULL, most + 1, sizeof *ret->v);
	for (i = 0; i < q->n; i++) {
		if (q->msgs[i]->role != ROLE_ASSISTANT)
			continue;
		plan_answers(ret, q, from, i, calls);
		if (q->msgs[i]->len > 0)
			add_step(ret, q->msgs[i], NULL);
		calls = &q->msgs[i]->ids;
		from = i + 1;
	}
	plan_answers(ret, q, from, q->n, calls);
}

void
plan_clear(struct plan *p)
{
	free(p->v);
	*p = (struct plan){ 0 };
}

/* --- bytes -----------------------------------------------------------------
 */

int
body_over(const struct buf *b, struct err *e)
{
	return err_set(e, ERR_LIMIT,
	    "the request is larger than the limit of %zu bytes", b->max);
}

int
body_head(struct buf *b, json_t *head)
{
	char *text = json_text(head);
	int r = buf_add(b, text, strlen(text) - 1);

	free(text);
	json_decref(head);
	return r;
}

int
body_tools(struct buf *b, const struct plan *p)
{
	if (p->tools == NULL)
		return 0;
	if (buf_adds(b, ",\"tools\":[") < 0 ||
	    buf_add(b, p->tools->text, p->tools->len) < 0)
		return -1;
	return buf_addc(b, ']');
}

int
body_with_member(
    struct buf *b, const char *text, size_t len, const char *member)
{
	if (buf_add(b, text, len - 1) < 0 || buf_addc(b, ',') < 0 ||
	    buf_adds(b, member) < 0)
		return -1;
	return buf_addc(b, '}');
}

/* The message ends in its text: late goes in before the closing "}. */
static int
with_late(struct buf *b, const char *text, size_t len, const char *late)
{
	json_t *j = json_str_lossy(late, strlen(late));
	char *quoted = json_text(j);
	int r = 0;

	if (buf_add(b, text, len - 2) < 0 || buf_adds(b, "\\n\\n") < 0 ||
	    buf_adds(b, quoted + 1) < 0 || buf_addc(b, '}') < 0)
		r = -1;
	free(quoted);
	json_decref(j);
	return r;
}

static int
add_made(struct buf *b, json_t *j, const char *late)
{
	char *text = json_text(j);
	size_t len = strlen(text);
	int r;

	r = late != NULL ? with_late(b, text, len, late)
			 : buf_add(b, text, len);
	free(text);
	json_decref(j);
	return r;
}

int
body_steps(struct buf *b, const struct plan *p, const struct message_form *f,
    const char *late)
{
	const struct step *s;
	const char *l;
	int r = 0;

	for (size_t i = 0; i < p->n && r == 0; i++) {
		s = &p->v[i];
		l = i + 1 == p->n && s->user_side ? late : NULL;
		if (i > 0)
			r = buf_addc(b, ',');
		if (r < 0)
			break;
		if (s->w == NULL)
			r = add_made(b, f->result(s->missing, missing_text), l);
		else if (l != NULL)
			r = with_late(b, s->w->text, s->w->len, l);
		else
			r = buf_add(b, s->w->text, s->w->len);
	}
	if (r < 0 || late == NULL || (p->n > 0 && p->v[p->n - 1].user_side))
		return r;
	if (p->n > 0 && buf_addc(b, ',') < 0)
		return -1;
	return add_made(b, f->user(late), NULL);
}

int
body_openai(const struct request *q, struct buf *ret,
    json_t *(*head)(const struct request *q, bool tools), const char *key,
    const struct message_form *form, struct err *e)
{
	struct plan p;
	int r;

	plan_make(q, &p);
	r = body_head(ret, head(q, p.tools != NULL));
	if (r == 0)
		r = body_tools(ret, &p);
	if (r == 0)
		r = buf_printf(ret, ",\"%s\":[", key);
	if (r == 0)
		r = body_steps(ret, &p, form, q->late);
	if (r == 0)
		r = buf_adds(ret, "]}");
	plan_clear(&p);
	return r < 0 ? body_over(ret, e) : 0;
}
