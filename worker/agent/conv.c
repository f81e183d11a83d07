/* conv.c - see conv.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "worker/agent/conv.h"

#define BODIES_BYTES \
	((size_t)4 << 20) /* of one request: MSG_MAX_BYTES is 6 \
			   */
#define BODIES_MAX 4096
#define MESSAGES_MAX 32000 /* their hashes fill the field */
#define NEED_ROUNDS 200
#define ASK_AGAIN_MS 30000

void
conv_clear(struct conv *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		free(c->v[i].text);
	free(c->v);
	*c = (struct conv){ 0 };
}

static int
check_size(size_t len, struct err *e)
{
	if (len > CONV_MESSAGE_MAX)
		return err_set(e, ERR_LIMIT,
		    "a message of the conversation is %zu bytes large", len);
	return 0;
}

static void
fill(struct conv_msg *m, enum conv_role role, char *text, size_t len)
{
	*m = (struct conv_msg){ .role = role };
	m->text = text;
	m->len = len;
	hash_bytes(text, len, m->hash);
}

int
conv_add_text(struct conv *c, enum conv_role role, const char *s, size_t len,
    struct err *e)
{
	int r;

	if ((r = check_size(len, e)) < 0)
		return r;
	if (c->n >= MESSAGES_MAX)
		return err_set(e, ERR_LIMIT, "the conversation is too long");
	c->v = xreallocarray(c->v, c->n + 1, sizeof *c->v);
	fill(&c->v[c->n++], role, xstrndup(s, len), len);
	return 0;
}

static enum conv_role
role_of(const json_t *j)
{
	static const char *const names[] = { "tools", "system", "user",
		"assistant", "tool" };
	const char *s = json_string_value(json_object_get(j, "role"));
	size_t i;

	for (i = 0; s != NULL && i < nitems(names); i++) {
		if (strcmp(names[i], s) == 0)
			return (enum conv_role)i;
	}
	return CONV_USER;
}

int
conv_add(struct conv *c, json_t *j, struct err *e)
{
	char *s;
	int r;

	s = json_text(j);
	r = conv_add_text(c, role_of(j), s, strlen(s), e);
	json_decref(j);
	free(s);
	return r;
}

int
conv_add_user(struct conv *c, const char *kind, const char *text, struct err *e)
{
	json_t *j = json_object();

	json_object_set_new(j, "role", json_string("user"));
	json_object_set_new(j, "content", json_str_lossy(text, strlen(text)));
	if (kind != NULL)
		json_object_set_new(j, "kind", json_string(kind));
	return conv_add(c, j, e);
}

size_t
conv_name_len(const char *name)
{
	return text_cut(name, strlen(name), CONV_NAME_MAX);
}

json_t *
conv_result(const char *id, const char *name, const char *text, size_t len)
{
	json_t *j = json_object();

	json_object_set_new(j, "role", json_string("tool"));
	json_object_set_new(j, "tool_call_id", json_str_lossy(id, strlen(id)));
	json_object_set_new(
	    j, "name", json_str_lossy(name, conv_name_len(name)));
	json_object_set_new(j, "content", json_str_lossy(text, len));
	return j;
}

int
conv_splice(struct conv *c, size_t from, size_t to, json_t *j, struct err *e)
{
	struct conv_msg fresh = { 0 };
	size_t i, add = j != NULL;
	char *s;
	int r;

	if (j != NULL) {
		s = json_text(j);
		if ((r = check_size(strlen(s), e)) < 0) {
			json_decref(j);
			free(s);
			return r;
		}
		fill(&fresh, role_of(j), s, strlen(s));
		json_decref(j);
	}
	for (i = from; i < to; i++)
		free(c->v[i].text);
	if (to - from < add)
		c->v = xreallocarray(c->v, c->n + 1, sizeof *c->v);
	memmove(c->v + from + add, c->v + to, (c->n - to) * sizeof *c->v);
	c->n = c->n - (to - from) + add;
	if (add)
		c->v[from] = fresh;
	return 0;
}

json_t *
conv_json(const struct conv *c, size_t i)
{
	json_t *j;

	if (json_parse(c->v[i].text, c->v[i].len, CONV_MESSAGE_MAX, &j, NULL) <
	    0)
		return NULL;
	return j;
}

static bool
is_needed(const struct conv_msg *m, const unsigned char *need, size_t len)
{
	size_t i;

	for (i = 0; i + HASH_LEN <= len; i += HASH_LEN) {
		if (memcmp(m->hash, need + i, HASH_LEN) == 0)
			return true;
	}
	return false;
}

void
conv_request(const struct conv *c, uint64_t turn, const void *need,
    size_t need_len, struct buf *hashes, const char ***bodies, struct msg *m)
{
	size_t i, n = 0, bytes = 0;

	buf_reset(hashes);
	*bodies = xreallocarray(*bodies, c->n + 1, sizeof **bodies);
	for (i = 0; i < c->n; i++) {
		(void)buf_add(hashes, c->v[i].hash, HASH_LEN);
		if (need != NULL ? !is_needed(&c->v[i], need, need_len)
				 : c->v[i].known)
			continue;
		/* What does not fit is asked for. */
		if (n > 0 &&
		    (n >= BODIES_MAX || bytes + c->v[i].len > BODIES_BYTES))
			continue;
		(*bodies)[n++] = c->v[i].text;
		bytes += c->v[i].len;
	}
	*m = (struct msg){ .type = MSG_MODEL };
	m->u.model.turn = turn;
	m->u.model.hashes = buf_str(hashes);
	m->u.model.hashes_len = hashes->len;
	m->u.model.bodies.v = *bodies;
	m->u.model.bodies.n = n;
}

static bool
is_result_of(const struct msg *m, const void *ctx)
{
	return m->u.model_result.turn == *(const uint64_t *)ctx;
}

int
conv_ask(struct conv *c, struct link *l, uint64_t turn, const char *late,
    struct msg **ret, struct err *e)
{
	struct buf hashes;
	const char **bodies = NULL;
	struct msg m, *answer = NULL, *next = NULL;
	unsigned rounds = 0;
	size_t i;
	int r;

	buf_init(&hashes, BUF_NOMAX);
	conv_request(c, turn, NULL, 0, &hashes, &bodies, &m);
	for (;;) {
		m.u.model.late = late;
		r = link_call(l, &m, MSG_MODEL_RESULT, is_result_of, &turn,
		    ASK_AGAIN_MS, 0, &next, e);
		if (r < 0)
			break;
		msg_free(answer);
		answer = next;
		next = NULL;
		if (strcmp(answer->u.model_result.status, "need") != 0) {
			for (i = 0; i < c->n; i++)
				c->v[i].known = true;
			*ret = answer;
			answer = NULL;
			break;
		}
		if (++rounds > NEED_ROUNDS) {
			r = err_set(e, ERR_PROTO,
			    "the orchestrator asks for messages without end");
			break;
		}
		conv_request(c, turn, answer->u.model_result.need,
		    answer->u.model_result.need_len, &hashes, &bodies, &m);
	}
	msg_free(answer);
	buf_clear(&hashes);
	free(bodies);
	return r;
}
