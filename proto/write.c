/*
 * write.c - msg_encode(): a message's struct to msgpack, by its table.
 */
#include "common/compat.h"

#include <msgpack.h>

#include "common/text.h"
#include "proto/field.h"
#include "proto/msg.h"

struct writer {
	struct buf *b;
	size_t start; /* length of b before this message */
	msgpack_packer pk;
};

/* msgpack_packer_write */
static int
write_cb(void *ctx, const char *p, size_t len)
{
	struct writer *w = ctx;

	if (w->b->len - w->start + len > MSG_MAX_BYTES)
		return -1;
	return buf_add(w->b, p, len) < 0 ? -1 : 0;
}

static int
full(const struct def *d, struct err *e)
{
	return err_set(e, ERR_LIMIT, "%s does not fit in %u bytes", d->name,
	    MSG_MAX_BYTES);
}

static bool
is_absent(const struct field *f, const struct value *v)
{
	if (f->required)
		return false;
	return v->u64 == 0 && v->len == 0 && v->strs.n == 0;
}

static int
put_text(struct writer *w, const struct def *d, const struct field *f,
    const char *s, size_t len, struct err *e)
{
	int r;

	r = msg_str_limits(d, f, len, e);
	if (r < 0)
		return r;
	if (!text_is_utf8(s, len))
		return err_set(
		    e, ERR_PROTO, "%s: %s is not UTF-8", d->name, f->name);
	if (msgpack_pack_str(&w->pk, len) < 0 ||
	    msgpack_pack_str_body(&w->pk, s, len) < 0)
		return full(d, e);
	return 0;
}

static int
put_strs(struct writer *w, const struct def *d, const struct field *f,
    const struct msg_strs *s, struct err *e)
{
	size_t i;
	int r;

	if (msgpack_pack_array(&w->pk, s->n) < 0)
		return full(d, e);
	for (i = 0; i < s->n; i++) {
		if (s->v[i] == NULL)
			return err_set(e, ERR_PROTO,
			    "%s: a string of %s is NULL", d->name, f->name);
		r = put_text(w, d, f, s->v[i], strlen(s->v[i]), e);
		if (r < 0)
			return r;
	}
	return 0;
}

static int
put_value(struct writer *w, const struct def *d, const struct field *f,
    const struct value *v, struct err *e)
{
	bool is_ptr = f->kind == KIND_STR || f->kind == KIND_BIN;
	int r;

	if (is_ptr && v->p == NULL)
		return err_set(
		    e, ERR_PROTO, "%s: %s is missing", d->name, f->name);
	r = msg_field_limits(d, f, v, e);
	if (r < 0)
		return r;
	switch (f->kind) {
	case KIND_U64:
		r = msgpack_pack_uint64(&w->pk, v->u64);
		break;
	case KIND_BOOL:
		r = v->u64 != 0 ? msgpack_pack_true(&w->pk)
				: msgpack_pack_false(&w->pk);
		break;
	case KIND_STR:
		return put_text(w, d, f, v->p, v->len, e);
	case KIND_BIN:
		r = msgpack_pack_bin(&w->pk, v->len);
		if (r == 0)
			r = msgpack_pack_bin_body(&w->pk, v->p, v->len);
		break;
	case KIND_STRS:
		return put_strs(w, d, f, &v->strs, e);
	}
	return r < 0 ? full(d, e) : 0;
}

static int
put_key(struct writer *w, const char *key)
{
	size_t len = strlen(key);

	if (msgpack_pack_str(&w->pk, len) < 0)
		return -1;
	return msgpack_pack_str_body(&w->pk, key, len);
}

static int
put_map(
    struct writer *w, const struct def *d, const struct msg *m, struct err *e)
{
	const struct field *f;
	struct value v;
	size_t n = 1;
	int r;

	for (f = d->fields; f->name != NULL; f++) {
		msg_field_get(m, f, &v);
		n += !is_absent(f, &v);
	}
	if (msgpack_pack_map(&w->pk, n) < 0 || put_key(w, "t") < 0 ||
	    msgpack_pack_uint64(&w->pk, (uint64_t)d->type) < 0)
		return full(d, e);
	for (f = d->fields; f->name != NULL; f++) {
		msg_field_get(m, f, &v);
		if (is_absent(f, &v))
			continue;
		if (put_key(w, f->name) < 0)
			return full(d, e);
		r = put_value(w, d, f, &v, e);
		if (r < 0)
			return r;
	}
	return 0;
}

int
msg_encode(const struct msg *m, struct buf *b, struct err *e)
{
	const struct def *d = msg_def((uint64_t)m->type);
	struct writer w = { .b = b, .start = b->len };
	int r;

	if (d == NULL)
		return err_set(e, ERR_PROTO, "no message has the number %u",
		    (unsigned)m->type);
	msgpack_packer_init(&w.pk, &w, write_cb);
	r = put_map(&w, d, m, e);
	if (r == 0 && d->type == MSG_SUMMARY)
		r = msg_size_limits(
		    d, b->len - w.start, m->u.summary.patch_len, e);
	if (r < 0 && b->data != NULL) {
		b->len = w.start;
		b->data[b->len] = '\0';
	}
	return r;
}
