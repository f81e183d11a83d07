/*
 * dialect_anthropic.c - Anthropic Messages.
 * https://docs.anthropic.com/en/api/messages
 *
 * Our messages become blocks; neighbours of one side share a message. A prompt
 * is cached up to a marked block, four marks at most: the last tool, the end of
 * the system prompt, the last block that stays, and the last one of the turn
 * before, so that an earlier entry is found also when a turn has more blocks
 * than the server looks back over (20). In the first turn that one stands
 * before the last block instead, which is a worker's own: siblings share the
 * rest.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/num.h"
#include "orchestrator/gateway/dialect_priv.h"

#define OUTPUT_DEFAULT 8192

static const char mark[] = "\"cache_control\":{\"type\":\"ephemeral\"}";

static void
headers(const char *key, struct strv *ret)
{
	strv_add(ret, "Content-Type: application/json");
	strv_add(ret, "Accept: text/event-stream, application/json");
	strv_add(ret, "anthropic-version: 2023-06-01");
	if (key != NULL && *key != '\0')
		strv_addf(ret, "x-api-key: %s", key);
}

/* --- a message -------------------------------------------------------------
 */

/* Blank text is refused, and so is a mark on it. */
static json_t *
text_or_empty(const char *text)
{
	return json_string(
	    text[strspn(text, " \t\r\n")] != '\0' ? text : "(empty)");
}

static json_t *
text_block(const char *text)
{
	json_t *j = json_object();

	json_object_set_new(j, "type", json_string("text"));
	json_object_set_new(j, "text", text_or_empty(text));
	return j;
}

static json_t *
result_block(const char *id, const char *text)
{
	json_t *j = json_object();

	json_object_set_new(j, "type", json_string("tool_result"));
	json_object_set_new(j, "tool_use_id", json_string(id));
	json_object_set_new(j, "content", text_or_empty(text));
	return j;
}

/* ^[A-Za-z0-9_-]+$, yours. */
static char *
wire_id(const char *id)
{
	char *s = xstrdup(*id != '\0' ? id : "_");

	for (char *p = s; *p != '\0'; p++) {
		if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
			(*p >= '0' && *p <= '9') || *p == '_' || *p == '-'))
			*p = '_';
	}
	return s;
}

static void
add_tools(struct buf *b, const json_t *list)
{
	json_t *o, *t;
	size_t i;

	json_array_foreach (list, i, t) {
		o = json_object();
		json_object_set(o, "name", json_object_get(t, "name"));
		if (json_is_string(json_object_get(t, "description")))
			json_object_set(o, "description",
			    json_object_get(t, "description"));
		json_object_set(
		    o, "input_schema", json_object_get(t, "parameters"));
		wire_add(b, o);
	}
}

/* Blanks at its end are refused when nothing follows it. */
static void
on_text(void *ctx, const char *text)
{
	size_t len = strlen(text);
	char *s;

	while (len > 0 && strchr(" \t\r\n", text[len - 1]) != NULL)
		len--;
	s = xstrndup(text, len);
	wire_add(ctx, text_block(s));
	free(s);
}

static void
on_block(void *ctx, const json_t *block)
{
	wire_add(ctx, json_incref((json_t *)(uintptr_t)block));
}

static void
on_call(void *ctx, const json_t *call, const char *item_id unused_arg)
{
	json_t *o = json_object();
	char name[65], *id;

	id = wire_id(json_string_value(json_object_get(call, "id")));
	call_name(call, name);
	json_object_set_new(o, "type", json_string("tool_use"));
	json_object_set_new(o, "id", json_string(id));
	json_object_set_new(o, "name", json_string(name));
	json_object_set_new(o, "input", call_args(call, NULL));
	wire_add(ctx, o);
	free(id);
}

static void
wire_ids(struct strv *ids)
{
	for (size_t i = 0; i < ids->n; i++) {
		char *s = wire_id(ids->v[i]);

		free(ids->v[i]);
		ids->v[i] = s;
	}
}

static int
anthropic_wire(const json_t *m, struct wire *ret, struct err *e)
{
	const char *content = json_string_value(json_object_get(m, "content"));
	const char *id = json_string_value(json_object_get(m, "tool_call_id"));
	struct buf b;
	const struct said s = { &b, on_block, on_text, on_call };
	enum role role;
	int r;

	if ((r = wire_check(m, &role, e)) < 0)
		return r;
	*ret = (struct wire){ 0 };
	buf_init(&b, BUF_NOMAX);
	if (role == ROLE_TOOL)
		strv_add(&ret->ids, id);
	else if (role == ROLE_ASSISTANT)
		said_ids(m, &ret->ids);
	wire_ids(&ret->ids);
	if (role == ROLE_TOOLS)
		add_tools(&b, json_object_get(m, "tools"));
	else if (role == ROLE_ASSISTANT)
		said_walk(m, dialect_anthropic.name, &s);
	else if (role == ROLE_TOOL)
		wire_add(&b, result_block(ret->ids.v[0], content));
	else
		wire_add(&b, text_block(content));
	wire_done(&b, role, ret);
	return 0;
}

/* --- a request -------------------------------------------------------------
 */

static void
set_effort(json_t *h, const char *effort)
{
	json_t *t = json_object(), *o;
	uint64_t budget;
	bool number = num_u64(effort, 1, 1000000, "effort", &budget, NULL) == 0;

	json_object_set_new(
	    t, "type", json_string(number ? "enabled" : "adaptive"));
	if (number)
		json_object_set_new(
		    t, "budget_tokens", json_integer((json_int_t)budget));
	json_object_set_new(h, "thinking", t);
	if (number)
		return;
	o = json_object();
	json_object_set_new(o, "effort", json_string(effort));
	json_object_set_new(h, "output_config", o);
}

static json_t *
head(const struct request *q)
{
	json_t *h = json_object();
	uint64_t max = q->max_output > 0 ? q->max_output : OUTPUT_DEFAULT;

	json_object_set_new(h, "model", json_string(q->model));
	json_object_set_new(h, "max_tokens", json_integer((json_int_t)max));
	json_object_set_new(h, "stream", json_true());
	if (q->effort != NULL && *q->effort != '\0')
		set_effort(h, q->effort);
	return h;
}

/* Blocks, the last of which is marked. */
static int
put(struct buf *b, const char *text, size_t len, bool marked)
{
	if (len == 0)
		return 0;
	return marked ? body_with_member(b, text, len, mark)
		      : buf_add(b, text, len);
}

static int
put_made(struct buf *b, json_t *j, bool marked)
{
	char *text = json_text(j);
	int r = put(b, text, strlen(text), marked);

	free(text);
	json_decref(j);
	return r;
}

static bool
is_system(const struct step *s)
{
	return s->w != NULL && s->w->role == ROLE_SYSTEM;
}

static int
put_system(struct buf *b, const struct plan *p, bool marks)
{
	size_t i, last = p->n;
	bool first = true;
	int r = 0;

	for (i = 0; i < p->n; i++) {
		if (is_system(&p->v[i]))
			last = i;
	}
	if (last == p->n)
		return 0;
	r = buf_adds(b, ",\"system\":[");
	for (i = 0; i <= last && r == 0; i++) {
		if (!is_system(&p->v[i]))
			continue;
		if (!first)
			r = buf_addc(b, ',');
		first = false;
		if (r == 0)
			r = put(b, p->v[i].w->text, p->v[i].w->len,
			    marks && i == last);
	}
	return r == 0 ? buf_addc(b, ']') : r;
}

/* The last block that stays, and the last one before the reply above it; n for
 * none. */
static void
find_marks(const struct plan *p, size_t at[2])
{
	size_t i = p->n;

	at[0] = at[1] = p->n;
	while (i > 0 && !p->v[i - 1].user_side)
		i--;
	if (i == 0)
		return;
	at[0] = --i;
	while (i > 0 && (p->v[i].user_side || is_system(&p->v[i])))
		i--;
	while (i > 0 && !p->v[i - 1].user_side)
		i--;
	if (i > 0)
		at[1] = i - 1;
	else if (at[0] > 0 && p->v[at[0] - 1].user_side)
		at[1] = at[0] - 1; /* the first turn: what siblings share */
}

/* What stands before the next block, given the side that is open. */
static int
put_turn(struct buf *b, int open, int side)
{
	if (open == side)
		return buf_addc(b, ',');
	if (open != 0 && buf_adds(b, "]},") < 0)
		return -1;
	return buf_adds(b,
	    side == 'u' ? "{\"role\":\"user\",\"content\":["
			: "{\"role\":\"assistant\",\"content\":[");
}

static int
put_messages(struct buf *b, const struct request *q, const struct plan *p)
{
	bool marks = !q->quirks.no_cache_control, marked;
	size_t at[2];
	int open = 0, side, r = 0;

	find_marks(p, at);
	for (size_t i = 0; i < p->n && r == 0; i++) {
		const struct step *s = &p->v[i];

		if (is_system(s))
			continue;
		side = s->user_side ? 'u' : 'a';
		marked = marks && (i == at[0] || i == at[1]);
		r = put_turn(b, open, side);
		open = side;
		if (r == 0 && s->w != NULL)
			r = put(b, s->w->text, s->w->len, marked);
		else if (r == 0)
			r = put_made(
			    b, result_block(s->missing, missing_text), marked);
	}
	if (r == 0 && q->late != NULL) {
		r = put_turn(b, open, 'u');
		open = 'u';
		if (r == 0)
			r = put_made(b, text_block(q->late), false);
	}
	return r == 0 && open != 0 ? buf_adds(b, "]}") : r;
}

static int
anthropic_body(const struct request *q, struct buf *ret, struct err *e)
{
	bool marks = !q->quirks.no_cache_control;
	struct plan p;
	int r;

	plan_make(q, &p);
	r = body_head(ret, head(q));
	if (r == 0 && p.tools != NULL) {
		r = buf_adds(ret, ",\"tools\":[");
		if (r == 0)
			r = put(ret, p.tools->text, p.tools->len, marks);
		if (r == 0)
			r = buf_addc(ret, ']');
	}
	if (r == 0)
		r = put_system(ret, &p, marks);
	if (r == 0)
		r = buf_adds(ret, ",\"messages\":[");
	if (r == 0)
		r = put_messages(ret, q, &p);
	if (r == 0)
		r = buf_adds(ret, "]}");
	plan_clear(&p);
	return r < 0 ? body_over(ret, e) : 0;
}

const struct dialect dialect_anthropic = {
	.name = "anthropic",
	.path = "/messages",
	.headers = headers,
	.wire = anthropic_wire,
	.body = anthropic_body,
	.event = anthropic_event,
	.json = anthropic_json,
	.end = anthropic_end,
};
