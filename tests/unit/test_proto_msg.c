/*
 * proto/msg.c, write.c, read.c: over the tables of proto/field.h, so that a new
 * message or field is tested by being in messages.def.
 */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>
#include <msgpack.h>

#include "common/log.h"
#include "proto/check.h"
#include "proto/field.h"
#include "proto/msg.h"

static const enum msg_type types[] = {
#define MSG(NAME, name, number, from, to, doc) MSG_##NAME,
#include "proto/messages.def"
};

/* --- building ------------------------------------------------------------ */

/* Values that a test made; freed at its end. */
struct made {
	void *p[256];
	size_t n;
};

static void *
made_mem(struct made *made, size_t size)
{
	void *p = xcalloc(1, size);

	assert_true(made->n < nitems(made->p));
	made->p[made->n++] = p;
	return p;
}

static char *
made_text(struct made *made, size_t len, char c)
{
	char *s = made_mem(made, len + 1);

	memset(s, c, len);
	return s;
}

static void
made_clear(struct made *made)
{
	while (made->n > 0)
		free(made->p[--made->n]);
}

/* A value at the field's limit, plus over bytes (or strings, or one). A list
 * has its full number of strings, and one of full length: all of them at full
 * length is more than a message may have. */
static void
fill_max(struct made *made, struct msg *m, const struct field *f, size_t over)
{
	struct value v;
	const char **list;
	size_t i;

	memset(&v, 0, sizeof v);
	switch (f->kind) {
	case KIND_U64:
		v.u64 = f->max + over;
		break;
	case KIND_BOOL:
		v.u64 = 1;
		break;
	case KIND_STR:
		v.p = made_text(made, (size_t)f->max + over, 'x');
		break;
	case KIND_BIN:
		v.len = (size_t)f->max + over;
		v.p = made_text(made, v.len, '\0');
		break;
	case KIND_STRS:
		v.strs.n = f->max_n + over;
		list = made_mem(made, v.strs.n * sizeof *list);
		list[0] = made_text(made, (size_t)f->max, 'y');
		for (i = 1; i < v.strs.n; i++)
			list[i] = "z";
		v.strs.v = list;
		break;
	}
	msg_field_set(m, f, &v);
}

/* The least that is a message of this type. */
static struct msg
least(const struct def *d)
{
	struct msg m = { .type = d->type };
	const struct field *f;
	struct value v;

	for (f = d->fields; f->name != NULL; f++) {
		if (!f->required)
			continue;
		memset(&v, 0, sizeof v);
		v.u64 = f->min;
		v.p = "";
		msg_field_set(&m, f, &v);
	}
	return m;
}

static void
assert_same(const struct msg *a, const struct msg *b)
{
	const struct def *d = msg_def((uint64_t)a->type);
	const struct field *f;
	struct value va, vb;
	size_t i;

	assert_int_equal(a->type, b->type);
	for (f = d->fields; f->name != NULL; f++) {
		msg_field_get(a, f, &va);
		msg_field_get(b, f, &vb);
		if (va.u64 != vb.u64 || va.len != vb.len ||
		    (va.p == NULL) != (vb.p == NULL) || va.strs.n != vb.strs.n)
			fail_msg("%s.%s differs", d->name, f->name);
		if (va.len > 0)
			assert_memory_equal(va.p, vb.p, va.len);
		for (i = 0; i < va.strs.n; i++)
			assert_string_equal(va.strs.v[i], vb.strs.v[i]);
	}
}

static void
round_trip(const struct msg *m)
{
	struct msg *back;
	struct buf b;
	struct err e;
	char *exact;

	buf_init(&b, MSG_MAX_BYTES);
	if (msg_encode(m, &b, &e) != 0)
		fail_msg("%s: %s", msg_name(m->type), e.text);
	exact = xmalloc(b.len); /* a read beyond is seen by a sanitizer */
	memcpy(exact, b.data, b.len);
	assert_int_equal(msg_peek(exact, b.len), m->type);
	if (msg_decode(exact, b.len, &back, &e) != 0)
		fail_msg("%s: %s", msg_name(m->type), e.text);
	free(exact);
	assert_same(m, back);
	msg_free(back);
	buf_clear(&b);
}

static int
encode_code(const struct msg *m)
{
	struct buf b;
	struct err e = { 0 };
	int r;

	buf_init(&b, MSG_MAX_BYTES);
	assert_int_equal(buf_adds(&b, "before"), 0);
	r = msg_encode(m, &b, &e);
	if (r < 0) {
		assert_string_equal(buf_str(&b), "before");
		assert_int_equal(b.len, 6);
		assert_int_equal(e.code, r);
		assert_string_not_equal(e.text, "");
	}
	buf_clear(&b);
	return r;
}

/* --- forging: messages that msg_encode() does not write ------------------- */

struct forge {
	msgpack_sbuffer sb;
	msgpack_packer pk;
};

static void
forge_str(struct forge *fg, const char *s)
{
	msgpack_pack_str(&fg->pk, strlen(s));
	msgpack_pack_str_body(&fg->pk, s, strlen(s));
}

static void
forge_init(struct forge *fg, size_t fields)
{
	msgpack_sbuffer_init(&fg->sb);
	msgpack_packer_init(&fg->pk, &fg->sb, msgpack_sbuffer_write);
	msgpack_pack_map(&fg->pk, fields);
}

static void
forge_value(struct forge *fg, const struct field *f, const struct value *v)
{
	size_t i;

	switch (f->kind) {
	case KIND_U64:
		msgpack_pack_uint64(&fg->pk, v->u64);
		break;
	case KIND_BOOL:
		msgpack_pack_true(&fg->pk);
		break;
	case KIND_STR:
		forge_str(fg, v->p);
		break;
	case KIND_BIN:
		msgpack_pack_bin(&fg->pk, v->len);
		msgpack_pack_bin_body(&fg->pk, v->p, v->len);
		break;
	case KIND_STRS:
		msgpack_pack_array(&fg->pk, v->strs.n);
		for (i = 0; i < v->strs.n; i++)
			forge_str(fg, v->strs.v[i]);
		break;
	}
}

/* All fields of m that are required, and also, but not without. */
static void
forge_msg(struct forge *fg, const struct msg *m, const struct field *also,
    const struct field *without)
{
	const struct def *d = msg_def((uint64_t)m->type);
	const struct field *f;
	struct value v;
	size_t n = 1;

	for (f = d->fields; f->name != NULL; f++)
		n += (f->required || f == also) && f != without;
	forge_init(fg, n);
	forge_str(fg, "t");
	msgpack_pack_uint64(&fg->pk, (uint64_t)m->type);
	for (f = d->fields; f->name != NULL; f++) {
		if ((!f->required && f != also) || f == without)
			continue;
		msg_field_get(m, f, &v);
		forge_str(fg, f->name);
		forge_value(fg, f, &v);
	}
}

static int
decode_code(const void *p, size_t len)
{
	struct msg *m = NULL;
	struct err e = { 0 };
	int r;

	r = msg_decode(p, len, &m, &e);
	if (r < 0) {
		assert_null(m);
		assert_int_equal(e.code, r);
		assert_string_not_equal(e.text, "");
		assert_int_equal(msg_decode(p, len, &m, NULL), r);
	}
	msg_free(m);
	return r;
}

static int
forge_code(struct forge *fg)
{
	int r = decode_code(fg->sb.data, fg->sb.size);

	msgpack_sbuffer_destroy(&fg->sb);
	return r;
}

/* --- tests --------------------------------------------------------------- */

static void
test_tables(void **state unused_arg)
{
	size_t i, j;

	for (i = 0; i < nitems(types); i++) {
		assert_int_equal(msg_def((uint64_t)types[i])->type, types[i]);
		for (j = 0; j < i; j++)
			assert_int_not_equal(types[i], types[j]);
	}
	assert_string_equal(msg_name(MSG_READY), "READY");
	assert_string_equal(msg_name(MSG_NONE), "?");
	assert_int_equal(msg_from(MSG_READY), ROLE_WORKER);
	assert_int_equal(msg_to(MSG_READY), ROLE_ORCH);
	assert_int_equal(msg_from(MSG_HELLO), ROLE_HOST);
	assert_int_equal(msg_to(MSG_ASSIGN), ROLE_HOST);
	assert_int_equal(msg_to(MSG_TASK), ROLE_WORKER);
}

/* The bytes, once by hand. */
static void
test_golden(void **state unused_arg)
{
	static const char want[] = "\x83\xa1t\x14\xa8protocol\x01\xa5token"
				   "\xa3"
				   "abc";
	struct msg m = { .type = MSG_READY };
	struct msg *back;
	struct buf b;

	m.u.ready.protocol = 1;
	m.u.ready.token = "abc";
	buf_init(&b, 1024);
	assert_int_equal(msg_encode(&m, &b, NULL), 0);
	assert_int_equal(b.len, sizeof want - 1);
	assert_memory_equal(b.data, want, b.len);
	assert_int_equal(msg_decode(want, sizeof want - 1, &back, NULL), 0);
	assert_int_equal(back->type, MSG_READY);
	assert_true(back->u.ready.protocol == 1);
	assert_string_equal(back->u.ready.token, "abc");
	assert_true(back->u.ready.pid == 0);
	assert_null(back->u.ready.layout);
	msg_free(back);
	buf_clear(&b);
}

static void
test_round_trip_least(void **state unused_arg)
{
	struct msg m;
	size_t i;

	for (i = 0; i < nitems(types); i++) {
		m = least(msg_def((uint64_t)types[i]));
		round_trip(&m);
	}
}

static void
test_round_trip_max(void **state unused_arg)
{
	struct made made = { .n = 0 };
	const struct def *d;
	const struct field *f;
	struct msg m, one;
	size_t i;

	for (i = 0; i < nitems(types); i++) {
		d = msg_def((uint64_t)types[i]);
		m = least(d);
		for (f = d->fields; f->name != NULL; f++) {
			fill_max(&made, &m, f, 0);
			one = least(d);
			fill_max(&made, &one, f, 0);
			round_trip(&one);
		}
		round_trip(&m);
		made_clear(&made);
	}
}

static void
test_over_max(void **state unused_arg)
{
	struct made made = { .n = 0 };
	struct forge fg;
	const struct def *d;
	const struct field *f;
	struct msg m;
	size_t i;
	int want;

	for (i = 0; i < nitems(types); i++) {
		d = msg_def((uint64_t)types[i]);
		for (f = d->fields; f->name != NULL; f++) {
			if (f->kind == KIND_BOOL)
				continue;
			m = least(d);
			fill_max(&made, &m, f, 1);
			want = f->kind == KIND_U64 ? ERR_PROTO : ERR_LIMIT;
			if (encode_code(&m) != want)
				fail_msg("%s.%s: encoded", d->name, f->name);
			forge_msg(&fg, &m, f, NULL);
			if (forge_code(&fg) != want)
				fail_msg("%s.%s: decoded", d->name, f->name);
			made_clear(&made);
		}
	}
}

/* One string of a list too long; a number too small. */
static void
test_over_inside(void **state unused_arg)
{
	struct made made = { .n = 0 };
	struct forge fg;
	const struct def *d;
	const struct field *f;
	struct msg m;
	struct value v;
	const char *entry[2] = { "short", NULL };
	size_t i;

	for (i = 0; i < nitems(types); i++) {
		d = msg_def((uint64_t)types[i]);
		for (f = d->fields; f->name != NULL; f++) {
			m = least(d);
			memset(&v, 0, sizeof v);
			if (f->kind == KIND_U64 && f->min > 0) {
				v.u64 = f->min - 1;
				msg_field_set(&m, f, &v);
				assert_int_equal(encode_code(&m), ERR_PROTO);
				forge_msg(&fg, &m, f, NULL);
				assert_int_equal(forge_code(&fg), ERR_PROTO);
			}
			if (f->kind != KIND_STRS)
				continue;
			entry[1] = made_text(&made, (size_t)f->max + 1, 'x');
			v.strs.v = entry;
			v.strs.n = 2;
			msg_field_set(&m, f, &v);
			assert_int_equal(encode_code(&m), ERR_LIMIT);
			forge_msg(&fg, &m, f, NULL);
			assert_int_equal(forge_code(&fg), ERR_LIMIT);
			entry[1] = NULL;
			assert_int_equal(encode_code(&m), ERR_PROTO);
			entry[1] = "\xff";
			assert_int_equal(encode_code(&m), ERR_PROTO);
			made_clear(&made);
		}
	}
}

static void
test_missing(void **state unused_arg)
{
	struct forge fg;
	const struct def *d;
	const struct field *f;
	struct msg m;
	struct value v;
	size_t i;

	memset(&v, 0, sizeof v);
	for (i = 0; i < nitems(types); i++) {
		d = msg_def((uint64_t)types[i]);
		for (f = d->fields; f->name != NULL; f++) {
			if (!f->required)
				continue;
			m = least(d);
			forge_msg(&fg, &m, NULL, f);
			assert_int_equal(forge_code(&fg), ERR_PROTO);
			if (f->kind == KIND_U64)
				continue;
			msg_field_set(&m, f, &v);
			assert_int_equal(encode_code(&m), ERR_PROTO);
		}
	}
}

static void
test_wrong_type(void **state unused_arg)
{
	struct forge fg;
	const struct def *d;
	const struct field *f, *g;
	struct msg m;
	size_t i, n, kind;
	struct value v;

	for (i = 0; i < nitems(types); i++) {
		d = msg_def((uint64_t)types[i]);
		for (f = d->fields; f->name != NULL; f++) {
			for (kind = 0; kind < 9; kind++) {
				if (kind == (size_t)f->kind)
					continue;
				n = 2;
				m = least(d);
				for (g = d->fields; g->name != NULL; g++)
					n += g->required && g != f;
				forge_init(&fg, n);
				forge_str(&fg, "t");
				msgpack_pack_uint8(&fg.pk, (uint8_t)d->type);
				for (g = d->fields; g->name != NULL; g++) {
					if (!g->required || g == f)
						continue;
					msg_field_get(&m, g, &v);
					forge_str(&fg, g->name);
					forge_value(&fg, g, &v);
				}
				forge_str(&fg, f->name);
				if (kind == KIND_U64)
					msgpack_pack_uint8(&fg.pk, 1);
				else if (kind == KIND_BOOL)
					msgpack_pack_true(&fg.pk);
				else if (kind == KIND_STR)
					forge_str(&fg, "");
				else if (kind == KIND_BIN)
					msgpack_pack_bin(&fg.pk, 0);
				else if (kind == KIND_STRS)
					msgpack_pack_array(&fg.pk, 0);
				else if (kind == 5)
					msgpack_pack_nil(&fg.pk);
				else if (kind == 6)
					msgpack_pack_map(&fg.pk, 0);
				else if (kind == 7)
					msgpack_pack_int8(&fg.pk, -1);
				else
					msgpack_pack_double(&fg.pk, 1.0);
				if (forge_code(&fg) != ERR_PROTO)
					fail_msg("%s.%s: kind %zu taken",
					    d->name, f->name, kind);
			}
		}
	}
}

/* A list whose entry is no string. */
static void
test_wrong_entry(void **state unused_arg)
{
	struct forge fg;

	forge_init(&fg, 4);
	forge_str(&fg, "t");
	msgpack_pack_uint8(&fg.pk, MSG_HELLO);
	forge_str(&fg, "protocol");
	msgpack_pack_uint8(&fg.pk, 1);
	forge_str(&fg, "slots");
	msgpack_pack_uint8(&fg.pk, 1);
	forge_str(&fg, "features");
	msgpack_pack_array(&fg.pk, 2);
	forge_str(&fg, "overlay");
	msgpack_pack_uint8(&fg.pk, 1);
	assert_int_equal(forge_code(&fg), ERR_PROTO);
}

/* Every message cut anywhere, or with a byte behind it. */
static void
test_cut(void **state unused_arg)
{
	struct buf b;
	struct msg m;
	char *copy;
	size_t i, n;

	for (i = 0; i < nitems(types); i++) {
		m = least(msg_def((uint64_t)types[i]));
		buf_init(&b, 4096);
		assert_int_equal(msg_encode(&m, &b, NULL), 0);
		for (n = 0; n < b.len; n++) {
			copy = xmalloc(n + 1);
			memcpy(copy, b.data, n);
			assert_int_equal(decode_code(copy, n), ERR_PROTO);
			(void)msg_peek(copy, n);
			free(copy);
		}
		assert_int_equal(buf_addc(&b, '\xc0'), 0);
		assert_int_equal(decode_code(b.data, b.len), ERR_PROTO);
		buf_clear(&b);
	}
}

static void
test_malformed(void **state unused_arg)
{
	static const struct {
		const char *name;
		const char *bytes;
		size_t len;
	} bad[] = {
#define SAMPLE(name, bytes) { name, bytes, sizeof(bytes) - 1 }
		SAMPLE("nothing", ""),
		SAMPLE("not msgpack", "\xc1"),
		SAMPLE("no map", "\x92\xa1t\x0e"),
		SAMPLE("empty map", "\x80"),
		SAMPLE("no t", "\x81\xa1x\x0e"),
		SAMPLE("t is text", "\x81\xa1t\xa1x"),
		SAMPLE("t is negative", "\x81\xa1t\xff"),
		SAMPLE("t is 0", "\x81\xa1t\x00"),
		SAMPLE("t is reserved", "\x81\xa1t\x03"),
		SAMPLE("t is unknown", "\x81\xa1t\x7f"),
		SAMPLE("t is huge",
		    "\x81\xa1t\xcf\x00\x00\x00\x01\x00\x00\x00\x0e"),
		SAMPLE("t twice", "\x82\xa1t\x0e\xa1t\x0e"),
		SAMPLE("t twice, else", "\x82\xa1t\x0e\xd9\x01t\x14"),
		SAMPLE("a key is a number", "\x82\xa1t\x0e\x01\x01"),
		SAMPLE("a key is bin", "\x82\xa1t\x0e\xc4\x01x\x01"),
		SAMPLE("unknown key twice", "\x83\xa1t\x0e\xa1x\x01\xa1x\x02"),
		SAMPLE("NUL in a string",
		    "\x83\xa1t\x14\xa8protocol\x01\xa5token\xa2\x00x"),
		SAMPLE(
		    "ext in an unknown field", "\x82\xa1t\x0e\xa1x\xd4\x01x"),
	};
	static const struct {
		const char *name;
		const char *bytes;
		size_t len;
	} good[] = {
		SAMPLE("DRAIN", "\x81\xa1t\x0e"),
		SAMPLE("t last", "\x82\xa1x\x01\xa1t\x0e"),
		SAMPLE("t of a signed type", "\x81\xa1t\xd0\x0e"),
		SAMPLE("t in eight bytes",
		    "\x81\xa1t\xcf\x00\x00\x00\x00\x00\x00\x00\x0e"),
		SAMPLE("unknown field",
		    "\x82\xa1t\x0e\xa1x\x82\x01\x92\xc0\xcb"
		    "\x01\x02\x03\x04\x05\x06\x07\x08\x01\xff"),
		SAMPLE("empty name", "\x82\xa1t\x0e\xa0\x01"),
#undef SAMPLE
	};
	size_t i;

	for (i = 0; i < nitems(bad); i++) {
		if (decode_code(bad[i].bytes, bad[i].len) != ERR_PROTO)
			fail_msg("%s: taken", bad[i].name);
	}
	for (i = 0; i < nitems(good); i++) {
		if (decode_code(good[i].bytes, good[i].len) != 0)
			fail_msg("%s: refused", good[i].name);
		assert_int_equal(
		    msg_peek(good[i].bytes, good[i].len), MSG_DRAIN);
	}
	assert_int_equal(msg_peek("\x80", 1), MSG_NONE);
	assert_int_equal(msg_peek("\x81\xa1t\x18", 4), MSG_NONE);
}

static void
test_too_many_fields(void **state unused_arg)
{
	struct forge fg;
	char name[32];
	size_t n, i;

	for (n = MSG_MAX_FIELDS; n <= MSG_MAX_FIELDS + 1; n++) {
		forge_init(&fg, n);
		forge_str(&fg, "t");
		msgpack_pack_uint8(&fg.pk, MSG_DRAIN);
		for (i = 1; i < n; i++) {
			snprintf(name, sizeof name, "x%zu", i);
			forge_str(&fg, name);
			msgpack_pack_nil(&fg.pk);
		}
		assert_int_equal(
		    forge_code(&fg), n > MSG_MAX_FIELDS ? ERR_PROTO : 0);
	}
}

/* Empty is absent, for what is optional. */
static void
test_empty(void **state unused_arg)
{
	struct msg m = { .type = MSG_SUMMARY };
	struct forge fg;
	struct msg *back;
	struct buf b;

	m = least(msg_def(MSG_SUMMARY));
	m.u.summary.reason = "";
	m.u.summary.patch = "";
	buf_init(&b, 4096);
	assert_int_equal(msg_encode(&m, &b, NULL), 0);
	assert_null(memmem(b.data, b.len, "reason", 6));
	assert_null(memmem(b.data, b.len, "patch", 5));
	buf_clear(&b);

	forge_init(&fg, 7);
	forge_str(&fg, "t");
	msgpack_pack_uint8(&fg.pk, MSG_SUMMARY);
	forge_str(&fg, "subtask");
	forge_str(&fg, "");
	forge_str(&fg, "attempt");
	msgpack_pack_uint8(&fg.pk, 1);
	forge_str(&fg, "verdict");
	forge_str(&fg, "fixed");
	forge_str(&fg, "reason");
	forge_str(&fg, "");
	forge_str(&fg, "patch");
	msgpack_pack_bin(&fg.pk, 0);
	forge_str(&fg, "findings");
	msgpack_pack_array(&fg.pk, 0);
	assert_int_equal(msg_decode(fg.sb.data, fg.sb.size, &back, NULL), 0);
	assert_string_equal(back->u.summary.subtask, "");
	assert_null(back->u.summary.reason);
	assert_null(back->u.summary.patch);
	assert_null(back->u.summary.findings.v);
	assert_true(back->u.summary.findings.n == 0);
	msg_free(back);
	msgpack_sbuffer_destroy(&fg.sb);
}

/* A SUMMARY of many bytes, in known fields or in unknown ones. */
static void
test_summary_limit(void **state unused_arg)
{
	struct made made = { .n = 0 };
	const char *list[64];
	struct forge fg;
	struct msg m;
	size_t i, base;
	char *pad;

	m = least(msg_def(MSG_SUMMARY));
	for (i = 0; i < nitems(list); i++)
		list[i] = made_text(&made, 1000, 'x');
	m.u.summary.findings.v = list;
	m.u.summary.findings.n = nitems(list);
	m.u.summary.patch = made_text(&made, 1048576, '\n');
	m.u.summary.patch_len = 1048576;
	round_trip(&m);
	m.u.summary.output = made_text(&made, 2000, 'x');
	assert_int_equal(encode_code(&m), ERR_LIMIT);

	/* Exactly at the limit, then a byte more. */
	pad = made_text(&made, MSG_MAX_SUMMARY, 'x');
	for (i = 0, base = 0; i < 3; i++) {
		m = least(msg_def(MSG_SUMMARY));
		forge_init(&fg, 6);
		forge_str(&fg, "t");
		msgpack_pack_uint8(&fg.pk, MSG_SUMMARY);
		forge_str(&fg, "subtask");
		forge_str(&fg, "s");
		forge_str(&fg, "attempt");
		msgpack_pack_uint8(&fg.pk, 1);
		forge_str(&fg, "verdict");
		forge_str(&fg, "fixed");
		forge_str(&fg, "patch");
		msgpack_pack_bin(&fg.pk, 1000);
		msgpack_pack_bin_body(&fg.pk, pad, 1000);
		forge_str(&fg, "unknown");
		pad[base] = '\0';
		/* i is 0: how much stands before; the header has 3 bytes. */
		if (i > 0)
			forge_str(&fg, pad);
		if (i == 0) {
			base = MSG_MAX_SUMMARY - (fg.sb.size - 1000) - 3;
			msgpack_sbuffer_destroy(&fg.sb);
			memset(pad, 'x', MSG_MAX_SUMMARY);
			continue;
		}
		assert_int_equal(forge_code(&fg), i == 1 ? 0 : ERR_LIMIT);
		pad[base++] = 'x';
	}

	/* A patch that is no bin, or that is there twice, hides nothing. */
	forge_init(&fg, 5);
	forge_str(&fg, "t");
	msgpack_pack_uint8(&fg.pk, MSG_SUMMARY);
	forge_str(&fg, "subtask");
	forge_str(&fg, "s");
	forge_str(&fg, "attempt");
	msgpack_pack_uint8(&fg.pk, 1);
	forge_str(&fg, "verdict");
	forge_str(&fg, "fixed");
	forge_str(&fg, "patch");
	memset(pad, 'x', MSG_MAX_SUMMARY);
	forge_str(&fg, pad);
	assert_int_equal(forge_code(&fg), ERR_LIMIT);
	made_clear(&made);
}

static void
test_message_limit(void **state unused_arg)
{
	struct made made = { .n = 0 };
	const char *list[8];
	struct msg m;
	struct buf b;
	struct err e;
	size_t i;
	char *big;

	m = least(msg_def(MSG_MODEL));
	for (i = 0; i < nitems(list); i++)
		list[i] = made_text(&made, 1048576, 'x');
	m.u.model.bodies.v = list;
	m.u.model.bodies.n = 5;
	round_trip(&m);
	m.u.model.bodies.n = 6;
	assert_int_equal(encode_code(&m), ERR_LIMIT);
	made_clear(&made);

	big = xcalloc(1, MSG_MAX_BYTES + 1u);
	assert_int_equal(decode_code(big, MSG_MAX_BYTES + 1u), ERR_LIMIT);
	free(big);

	/* A buffer that is smaller than the message. */
	m = least(msg_def(MSG_ASSIGN));
	for (i = 0; i < 16; i++) {
		buf_init(&b, i);
		assert_int_equal(msg_encode(&m, &b, &e), ERR_LIMIT);
		assert_int_equal(b.len, 0);
		buf_clear(&b);
	}
}

static void
test_bad_text(void **state unused_arg)
{
	struct msg m = { .type = MSG_READY };

	m.u.ready.token = "\xc3";
	assert_int_equal(encode_code(&m), ERR_PROTO);
	m.type = MSG_NONE;
	assert_int_equal(encode_code(&m), ERR_PROTO);
	m.type = (enum msg_type)24;
	assert_int_equal(encode_code(&m), ERR_PROTO);
	msg_free(NULL);
}

static void
test_strs(void **state unused_arg)
{
	struct strv v = { 0 }, copy = { 0 };
	struct msg_strs s;

	strv_add(&copy, "old");
	s = msg_strs_of(&v);
	assert_true(s.n == 0);
	msg_strs_to(&s, &copy);
	assert_true(copy.n == 0);
	strv_addl(&v, "a", "b", (char *)NULL);
	s = msg_strs_of(&v);
	assert_true(s.n == 2);
	msg_strs_to(&s, &copy);
	assert_true(copy.n == 2);
	assert_string_equal(copy.v[1], "b");
	assert_string_equal(msg_str(NULL), "");
	assert_string_equal(msg_str("x"), "x");
	strv_clear(&v);
	strv_clear(&copy);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_round_trip_least),
		cmocka_unit_test(test_round_trip_max),
		cmocka_unit_test(test_over_max),
		cmocka_unit_test(test_over_inside),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_wrong_type),
		cmocka_unit_test(test_wrong_entry),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_too_many_fields),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_summary_limit),
		cmocka_unit_test(test_message_limit),
		cmocka_unit_test(test_bad_text),
		cmocka_unit_test(test_strs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
