/*
 * Any bytes to msg_decode(). What decodes must pass the walk, agree with
 * msg_peek(), encode again, and decode from that to the same message.
 */
#include "common/compat.h"

#include <assert.h>

#include "proto/check.h"
#include "proto/field.h"
#include "proto/msg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
is_same(const struct msg *a, const struct msg *b)
{
	const struct field *f = msg_def((uint64_t)a->type)->fields;
	struct value va, vb;
	size_t i;

	if (a->type != b->type)
		return false;
	for (; f->name != NULL; f++) {
		msg_field_get(a, f, &va);
		msg_field_get(b, f, &vb);
		if (va.u64 != vb.u64 || va.len != vb.len ||
		    (va.p == NULL) != (vb.p == NULL) || va.strs.n != vb.strs.n)
			return false;
		if (va.len > 0 && memcmp(va.p, vb.p, va.len) != 0)
			return false;
		for (i = 0; i < va.strs.n; i++) {
			if (strcmp(va.strs.v[i], vb.strs.v[i]) != 0)
				return false;
		}
	}
	return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct msg *m, *again;
	struct err e;
	struct buf b;
	int r;

	(void)msg_peek(data, size); /* on bytes that nothing has checked */
	r = msg_decode(data, size, &m, &e);
	if (r < 0) {
		assert(r == ERR_PROTO || r == ERR_LIMIT);
		assert(e.code == r && e.text[0] != '\0');
		return 0;
	}
	assert(check_msgpack(data, size, NULL) == 0);
	assert(msg_peek(data, size) == m->type);
	buf_init(&b, MSG_MAX_BYTES);
	r = msg_encode(m, &b, &e);
	assert(r == 0);
	r = msg_decode(b.data, b.len, &again, &e);
	assert(r == 0);
	assert(is_same(m, again));
	msg_free(again);
	msg_free(m);
	buf_clear(&b);
	return 0;
}
