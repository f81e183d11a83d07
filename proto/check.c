/*
 * check.c - a bounded walk over msgpack: no recursion, no allocation, every
 * length compared with the bytes that are left. The format is that of
 * https://github.com/msgpack/msgpack/blob/master/spec.md.
 */
#include "common/compat.h"

#include "proto/check.h"

#include "common/text.h"

/* 0xc0 to 0xdf: what it is, and the bytes of the big-endian number behind. */
static const struct head {
	bool ok;
	uint8_t kind;
	uint8_t width;
} heads[32] = {
	[0x00] = { true, CHECK_NIL, 0 },
	[0x02] = { true, CHECK_BOOL, 0 },
	[0x03] = { true, CHECK_BOOL, 0 },
	[0x04] = { true, CHECK_BIN, 1 },
	[0x05] = { true, CHECK_BIN, 2 },
	[0x06] = { true, CHECK_BIN, 4 },
	/* 0x07 to 0x09, 0x14 to 0x18: ext */
	[0x0a] = { true, CHECK_FLOAT, 4 },
	[0x0b] = { true, CHECK_FLOAT, 8 },
	[0x0c] = { true, CHECK_UINT, 1 },
	[0x0d] = { true, CHECK_UINT, 2 },
	[0x0e] = { true, CHECK_UINT, 4 },
	[0x0f] = { true, CHECK_UINT, 8 },
	[0x10] = { true, CHECK_INT, 1 },
	[0x11] = { true, CHECK_INT, 2 },
	[0x12] = { true, CHECK_INT, 4 },
	[0x13] = { true, CHECK_INT, 8 },
	[0x19] = { true, CHECK_STR, 1 },
	[0x1a] = { true, CHECK_STR, 2 },
	[0x1b] = { true, CHECK_STR, 4 },
	[0x1c] = { true, CHECK_ARRAY, 2 },
	[0x1d] = { true, CHECK_ARRAY, 4 },
	[0x1e] = { true, CHECK_MAP, 2 },
	[0x1f] = { true, CHECK_MAP, 4 },
};

static size_t
bytes_left(const struct check_in *in)
{
	return (size_t)(in->end - in->at);
}

static int
bad(const struct check_in *in, struct err *e, const char *what)
{
	return err_set(e, ERR_PROTO, "msgpack: byte %zu: %s",
	    (size_t)(in->at - in->start), what);
}

void
check_begin(struct check_in *in, const void *p, size_t len)
{
	in->start = in->at = in->end = p;
	if (len > 0)
		in->end += len;
}

/* Kind and number; in->at is moved behind the header. */
static int
read_head(struct check_in *in, struct check_token *t, struct err *e)
{
	unsigned char c;
	const struct head *h;
	uint8_t i;

	if (bytes_left(in) == 0)
		return bad(in, e, "ends early");
	c = *in->at;
	if (c < 0x80 || c >= 0xe0) {
		t->kind = c < 0x80 ? CHECK_UINT : CHECK_INT;
		t->n = c;
	} else if (c < 0xa0) {
		t->kind = c < 0x90 ? CHECK_MAP : CHECK_ARRAY;
		t->n = c & 0x0f;
	} else if (c < 0xc0) {
		t->kind = CHECK_STR;
		t->n = c & 0x1f;
	} else {
		h = &heads[c - 0xc0];
		if (!h->ok)
			return bad(in, e, "a type that is not allowed");
		if (bytes_left(in) < 1u + h->width)
			return bad(in, e, "ends early");
		t->kind = (enum check_kind)h->kind;
		t->n = t->kind == CHECK_BOOL ? c & 1 : 0;
		for (i = 1; i <= h->width; i++)
			t->n = t->n << 8 | in->at[i];
		if (t->kind == CHECK_INT && in->at[1] < 0x80)
			t->kind = CHECK_UINT;
		in->at += h->width;
	}
	in->at++;
	return 0;
}

int
check_next(struct check_in *in, struct check_token *ret, struct err *e)
{
	struct check_in next = *in;
	struct check_token t = { 0 };
	int r;

	r = read_head(&next, &t, e);
	if (r < 0)
		return r;
	t.p = next.at;
	switch (t.kind) {
	case CHECK_STR:
	case CHECK_BIN:
		if (t.n > bytes_left(&next))
			return bad(in, e, "longer than what follows");
		next.at += t.n;
		break;
	case CHECK_ARRAY:
		if (t.n > bytes_left(&next))
			return bad(in, e, "more values than bytes follow");
		break;
	case CHECK_MAP:
		if (t.n > bytes_left(&next) / 2)
			return bad(in, e, "more values than bytes follow");
		break;
	case CHECK_NIL:
	case CHECK_BOOL:
	case CHECK_UINT:
	case CHECK_INT:
	case CHECK_FLOAT:
		break;
	}
	*in = next;
	*ret = t;
	return 0;
}

/* How many values stand directly inside this one. */
static size_t
inside(const struct check_token *t)
{
	if (t->kind == CHECK_ARRAY)
		return (size_t)t->n;
	if (t->kind == CHECK_MAP)
		return (size_t)t->n * 2;
	return 0;
}

int
check_skip(struct check_in *in, struct err *e)
{
	struct check_in next = *in;
	struct check_token t;
	size_t pending = 1;
	int r;

	while (pending > 0) {
		r = check_next(&next, &t, e);
		if (r < 0)
			return r;
		pending += inside(&t) - 1;
		/* Every value takes a byte; this also bounds the sum. */
		if (pending > bytes_left(&next))
			return bad(&next, e, "more values than bytes follow");
	}
	*in = next;
	return 0;
}

int
check_msgpack(const void *p, size_t len, struct err *e)
{
	size_t left[CHECK_MAX_DEPTH], depth = 0, items = 0;
	struct check_in in;
	struct check_token t;
	int r;

	check_begin(&in, p, len);
	do {
		if (++items > CHECK_MAX_ITEMS)
			return bad(&in, e, "too many values");
		r = check_next(&in, &t, e);
		if (r < 0)
			return r;
		if (t.kind == CHECK_STR && t.n > 0 &&
		    (memchr(t.p, '\0', (size_t)t.n) != NULL ||
			!text_is_utf8((const char *)t.p, (size_t)t.n)))
			return bad(
			    &in, e, "a string is not UTF-8 or has a NUL");
		if (depth > 0)
			left[depth - 1]--;
		if (t.kind == CHECK_ARRAY || t.kind == CHECK_MAP) {
			if (depth == CHECK_MAX_DEPTH)
				return bad(&in, e, "nested too deeply");
			left[depth++] = inside(&t);
		}
		while (depth > 0 && left[depth - 1] == 0)
			depth--;
	} while (depth > 0);
	if (bytes_left(&in) != 0)
		return bad(&in, e, "bytes are left over");
	return 0;
}
