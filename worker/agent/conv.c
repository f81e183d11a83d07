/* conv.c - see conv.h. */
#include "common/compat.h"

#include "common/log.h"
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

int
conv_add_text(struct conv *c, const char *s, size_t len, struct err *e)
{
	struct conv_msg *m;

	if (len > CONV_MESSAGE_MAX)
		return err_set(e, ERR_LIMIT,
		    "a message of the conversation is %zu bytes large", len);
	if (c->n >= MESSAGES_MAX)
		return err_set(e, ERR_LIMIT, "the conversation is too long");
	if ((c->n & (c->n - 1)) == 0)
		c->v =
		    xreallocarray(c->v, c->n == 0 ? 1 : c->n * 2, sizeof *c->v);
	m = &c->v[c->n++];
	m->text = xstrndup(s, len);
	m->len = len;
	hash_bytes(s, len, m->hash);
	return 0;
}

int
conv_add(struct conv *c, json_t *j, struct err *e)
{
	char *s;
	int r;

	s = json_text(j);
	json_decref(j);
	r = conv_add_text(c, s, strlen(s), e);
	free(s);
	return r;
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
				 : i < c->known)
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
conv_ask(struct conv *c, struct link *l, uint64_t turn, struct msg **ret,
    struct err *e)
{
	struct buf hashes;
	const char **bodies = NULL;
	struct msg m, *answer = NULL, *next = NULL;
	unsigned rounds = 0;
	int r;

	buf_init(&hashes, BUF_NOMAX);
	conv_request(c, turn, NULL, 0, &hashes, &bodies, &m);
	for (;;) {
		r = link_call(l, &m, MSG_MODEL_RESULT, is_result_of, &turn,
		    ASK_AGAIN_MS, 0, &next, e);
		if (r < 0)
			break;
		msg_free(answer);
		answer = next;
		next = NULL;
		if (strcmp(answer->u.model_result.status, "need") != 0) {
			c->known = c->n;
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
