/*
 * read.c - msg_decode(): hostile bytes to a message's struct, by its table.
 *
 * DESIGN
 *
 * Three steps, each on what the one before has proved: check_msgpack() (well
 * formed), scan() (a map of distinct names and a known number, and the sizes
 * that refuse a message before it is taken apart), then msgpack-c and the
 * table.
 */
#include "common/compat.h"

#include <errno.h>
#include <inttypes.h>
#include <msgpack.h>

#include "proto/check.h"
#include "proto/field.h"
#include "proto/msg.h"

struct key {
	const unsigned char *p;
	size_t len;
};

static bool
key_is(const struct key *k, const char *name)
{
	return k->len == strlen(name) && memcmp(k->p, name, k->len) == 0;
}

static int
scan_key(struct check_in *in, const struct key *before, size_t n,
    struct key *ret, struct err *e)
{
	struct check_token t;
	size_t i;
	int r;

	r = check_next(in, &t, e);
	if (r < 0)
		return r;
	if (t.kind != CHECK_STR)
		return err_set(e, ERR_PROTO, "a field's name is not a string");
	for (i = 0; i < n; i++) {
		if (before[i].len == t.n &&
		    memcmp(before[i].p, t.p, (size_t)t.n) == 0)
			return err_set(e, ERR_PROTO, "a field is there twice");
	}
	ret->p = t.p;
	ret->len = (size_t)t.n;
	return 0;
}

/* Over the top map: distinct names, which message, how long its patch is. Safe
 * on bytes that nothing has checked. */
static int
scan(const void *p, size_t len, const struct def **ret_def, size_t *ret_patch,
    struct err *e)
{
	struct key keys[MSG_MAX_FIELDS];
	const struct def *d = NULL;
	struct check_in in, value;
	struct check_token map, t;
	size_t i, patch = 0;
	int r;

	check_begin(&in, p, len);
	r = check_next(&in, &map, e);
	if (r < 0)
		return r;
	if (map.kind != CHECK_MAP)
		return err_set(
		    e, ERR_PROTO, "a message is a map, this is none");
	if (map.n > MSG_MAX_FIELDS)
		return err_set(e, ERR_PROTO, "a message has too many fields");
	for (i = 0; i < map.n; i++) {
		r = scan_key(&in, keys, i, &keys[i], e);
		if (r < 0)
			return r;
		value = in;
		r = check_skip(&in, e);
		if (r < 0)
			return r;
		if (!key_is(&keys[i], "t") && !key_is(&keys[i], "patch"))
			continue;
		r = check_next(&value, &t, e);
		if (r < 0)
			return r;
		if (key_is(&keys[i], "patch")) {
			patch = t.kind == CHECK_BIN ? (size_t)t.n : 0;
			continue;
		}
		if (t.kind != CHECK_UINT)
			return err_set(e, ERR_PROTO, "t is not a number");
		d = msg_def(t.n);
		if (d == NULL)
			return err_set(e, ERR_PROTO,
			    "no message has the number %" PRIu64, t.n);
	}
	if (d == NULL)
		return err_set(e, ERR_PROTO, "a message has no t");
	*ret_def = d;
	*ret_patch = patch;
	return 0;
}

enum msg_type
msg_peek(const void *p, size_t len)
{
	const struct def *d;
	size_t patch;

	return scan(p, len, &d, &patch, NULL) < 0 ? MSG_NONE : d->type;
}

/* One block: the pointers of all lists, then the bytes of all strings. */
struct arena {
	const char **ptrs;
	char *bytes;
};

static const char *
arena_add(struct arena *a, const char *p, size_t len)
{
	char *s = a->bytes;

	if (len > 0)
		memcpy(s, p, len);
	s[len] = '\0';
	a->bytes += len + 1;
	return s;
}

/* The message's own length is enough for the bytes: the header of each string
 * pays for its NUL. */
static int
arena_init(
    struct arena *a, const msgpack_object_map *map, size_t len, struct msg *m)
{
	size_t i, n = 0;

	for (i = 0; i < map->size; i++) {
		if (map->ptr[i].val.type == MSGPACK_OBJECT_ARRAY)
			n += map->ptr[i].val.via.array.size;
	}
	m->arena = malloc(n * sizeof *a->ptrs + len);
	if (m->arena == NULL)
		return -ENOMEM;
	a->ptrs = m->arena;
	a->bytes = (char *)m->arena + n * sizeof *a->ptrs;
	return 0;
}

static int
take_strs(struct arena *a, const struct def *d, const struct field *f,
    const msgpack_object_array *o, struct value *v, struct err *e)
{
	const msgpack_object *item;
	uint32_t i;
	int r;

	v->strs.n = o->size;
	r = msg_field_limits(d, f, v, e);
	if (r < 0)
		return r;
	v->strs.v = o->size > 0 ? a->ptrs : NULL;
	for (i = 0; i < o->size; i++) {
		item = &o->ptr[i];
		if (item->type != MSGPACK_OBJECT_STR)
			return err_set(e, ERR_PROTO,
			    "%s: %s has an entry that is no string", d->name,
			    f->name);
		r = msg_str_limits(d, f, item->via.str.size, e);
		if (r < 0)
			return r;
		*a->ptrs++ =
		    arena_add(a, item->via.str.ptr, item->via.str.size);
	}
	return 0;
}

static int
take_bytes(struct arena *a, const struct def *d, const struct field *f,
    const char *p, size_t len, struct value *v, struct err *e)
{
	int r;

	v->len = len;
	r = msg_field_limits(d, f, v, e);
	if (r == 0 && (len > 0 || f->required))
		v->p = arena_add(a, p, len);
	return r;
}

static int
take_value(struct arena *a, const struct def *d, const struct field *f,
    const msgpack_object *o, struct value *v, struct err *e)
{
	static const msgpack_object_type want[] = {
		[KIND_U64] = MSGPACK_OBJECT_POSITIVE_INTEGER,
		[KIND_BOOL] = MSGPACK_OBJECT_BOOLEAN,
		[KIND_STR] = MSGPACK_OBJECT_STR,
		[KIND_BIN] = MSGPACK_OBJECT_BIN,
		[KIND_STRS] = MSGPACK_OBJECT_ARRAY,
	};

	memset(v, 0, sizeof *v);
	if (o->type != want[f->kind])
		return err_set(e, ERR_PROTO, "%s: %s has the wrong type",
		    d->name, f->name);
	switch (f->kind) {
	case KIND_U64:
		v->u64 = o->via.u64;
		return msg_field_limits(d, f, v, e);
	case KIND_BOOL:
		v->u64 = o->via.boolean;
		return 0;
	case KIND_STR:
		return take_bytes(
		    a, d, f, o->via.str.ptr, o->via.str.size, v, e);
	case KIND_BIN:
		return take_bytes(
		    a, d, f, o->via.bin.ptr, o->via.bin.size, v, e);
	case KIND_STRS:
		return take_strs(a, d, f, &o->via.array, v, e);
	}
	return 0;
}

static const struct field *
find_field(const struct def *d, const msgpack_object_str *name)
{
	struct key k = { (const unsigned char *)name->ptr, name->size };
	const struct field *f;

	for (f = d->fields; f->name != NULL; f++) {
		if (key_is(&k, f->name))
			return f;
	}
	return NULL;
}

static int
decode_map(const struct def *d, const msgpack_object_map *map, struct arena *a,
    struct msg *m, struct err *e)
{
	const struct field *f;
	struct value v;
	uint64_t seen = 0;
	uint32_t i;
	int r;

	for (i = 0; i < map->size; i++) {
		f = find_field(d, &map->ptr[i].key.via.str);
		if (f == NULL)
			continue;
		r = take_value(a, d, f, &map->ptr[i].val, &v, e);
		if (r < 0)
			return r;
		msg_field_set(m, f, &v);
		seen |= UINT64_C(1) << (f - d->fields);
	}
	for (f = d->fields; f->name != NULL; f++) {
		if (f->required && !(seen >> (f - d->fields) & 1))
			return err_set(e, ERR_PROTO, "%s: %s is missing",
			    d->name, f->name);
	}
	return 0;
}

int
msg_decode(const void *p, size_t len, struct msg **ret, struct err *e)
{
	const struct def *d;
	msgpack_unpacked u;
	msgpack_object_map *map;
	struct arena a;
	struct msg *m = NULL;
	size_t off = 0, patch;
	int r;

	msgpack_unpacked_init(&u);
	if (len > MSG_MAX_BYTES)
		return err_set(e, ERR_LIMIT,
		    "a message has %zu bytes, %u are allowed", len,
		    MSG_MAX_BYTES);
	r = check_msgpack(p, len, e);
	if (r < 0)
		goto out;
	r = scan(p, len, &d, &patch, e);
	if (r < 0)
		goto out;
	r = msg_size_limits(d, len, patch, e);
	if (r < 0)
		goto out;
	if (msgpack_unpack_next(&u, p, len, &off) != MSGPACK_UNPACK_SUCCESS ||
	    off != len || u.data.type != MSGPACK_OBJECT_MAP) {
		r = err_set(e, ERR_PROTO, "%s can't be unpacked", d->name);
		goto out;
	}
	map = &u.data.via.map;
	m = calloc(1, sizeof *m);
	r = m == NULL ? -ENOMEM : arena_init(&a, map, len, m);
	if (r < 0) {
		r = err_set(e, r, "%s: out of memory", d->name);
		goto out;
	}
	m->type = d->type;
	r = decode_map(d, map, &a, m, e);
	if (r < 0)
		goto out;
	*ret = m;
	m = NULL;
out:
	msg_free(m);
	msgpack_unpacked_destroy(&u);
	return r;
}
