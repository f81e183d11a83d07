/*
 * msg.c - the tables made from messages.def, and small helpers.
 *
 * DESIGN
 *
 * A field row says where in the message's struct the field is (offsetof), its
 * kind and its limits. One encoder and one decoder walk these rows; they know
 * no message by name but for the size of SUMMARY.
 */
#include "common/compat.h"

#include "proto/msg.h"

#include <assert.h>
#include <inttypes.h>

#include "proto/check.h"
#include "proto/field.h"

#define OPT false
#define REQ true
#define MSG(NAME, name, number, from, to, doc) \
	static const struct field name##_fields[] = {
#define U64(name, field, req, min, max, doc) \
	{ #field, KIND_U64, req, offsetof(struct msg_##name, field), 0, min, \
		max, 0 },
#define BOOL(name, field, req, doc) \
	{ #field, KIND_BOOL, req, offsetof(struct msg_##name, field), 0, 0, 0, \
		0 },
#define STR(name, field, req, max, doc) \
	{ #field, KIND_STR, req, offsetof(struct msg_##name, field), 0, 0, \
		max, 0 },
#define BIN(name, field, req, max, doc) \
	{ #field, KIND_BIN, req, offsetof(struct msg_##name, field), \
		offsetof(struct msg_##name, field##_len), 0, max, 0 },
#define STRS(name, field, req, max_n, max, doc) \
	{ #field, KIND_STRS, req, offsetof(struct msg_##name, field), 0, 0, \
		max, max_n },
#define END(NAME, name) \
	{ \
		NULL, KIND_U64, false, 0, 0, 0, 0, 0 \
	} \
	} \
	;
#include "proto/messages.def"
#undef OPT
#undef REQ

static const struct def defs[] = {
#define MSG(NAME, name, number, from, to, doc) \
	{ MSG_##NAME, #NAME, ROLE_##from, ROLE_##to, name##_fields },
#include "proto/messages.def"
};

/* What encodes must pass check_msgpack(): all values of a message at once. */
#define MSG(NAME, name, number, from, to, doc) _Static_assert(3
#define U64(name, field, req, min, max, doc) +2
#define BOOL(name, field, req, doc) +2
#define STR(name, field, req, max, doc) +2
#define BIN(name, field, req, max, doc) +2
#define STRS(name, field, req, max_n, max, doc) +2 + (max_n)
#define END(NAME, name) <= CHECK_MAX_ITEMS, #NAME " has too many values");
#include "proto/messages.def"

/* decode_map() marks fields in a 64-bit set. */
#define MSG(NAME, name, number, from, to, doc) \
	_Static_assert( \
	    nitems(name##_fields) <= 64, #NAME " has too many fields");
#include "proto/messages.def"

const struct def *
msg_def(uint64_t number)
{
	size_t i;

	for (i = 0; i < nitems(defs); i++) {
		if ((uint64_t)defs[i].type == number)
			return &defs[i];
	}
	return NULL;
}

const char *
msg_name(enum msg_type type)
{
	const struct def *d = msg_def((uint64_t)type);

	return d == NULL ? "?" : d->name;
}

enum msg_role
msg_from(enum msg_type type)
{
	const struct def *d = msg_def((uint64_t)type);

	assert(d != NULL);
	return d->from;
}

enum msg_role
msg_to(enum msg_type type)
{
	const struct def *d = msg_def((uint64_t)type);

	assert(d != NULL);
	return d->to;
}

struct msg_strs
msg_strs_of(const struct strv *v)
{
	struct msg_strs s = { (const char *const *)v->v, v->n };

	return s;
}

void
msg_strs_to(const struct msg_strs *s, struct strv *ret)
{
	size_t i;

	strv_clear(ret);
	for (i = 0; i < s->n; i++)
		strv_add(ret, s->v[i]);
}

const char *
msg_str(const char *s)
{
	return s == NULL ? "" : s;
}

void
msg_field_get(const struct msg *m, const struct field *f, struct value *ret)
{
	const unsigned char *at = (const unsigned char *)&m->u + f->off;

	memset(ret, 0, sizeof *ret);
	switch (f->kind) {
	case KIND_U64:
		ret->u64 = *(const uint64_t *)(const void *)at;
		break;
	case KIND_BOOL:
		ret->u64 = *(const bool *)(const void *)at;
		break;
	case KIND_STR:
		ret->p = *(const char *const *)(const void *)at;
		ret->len = ret->p == NULL ? 0 : strlen(ret->p);
		break;
	case KIND_BIN:
		ret->p = *(const void *const *)(const void *)at;
		at = (const unsigned char *)&m->u + f->off_len;
		ret->len = *(const size_t *)(const void *)at;
		break;
	case KIND_STRS:
		ret->strs = *(const struct msg_strs *)(const void *)at;
		break;
	}
}

void
msg_field_set(struct msg *m, const struct field *f, const struct value *v)
{
	unsigned char *at = (unsigned char *)&m->u + f->off;

	switch (f->kind) {
	case KIND_U64:
		*(uint64_t *)(void *)at = v->u64;
		break;
	case KIND_BOOL:
		*(bool *)(void *)at = v->u64 != 0;
		break;
	case KIND_STR:
		*(const char **)(void *)at = v->p;
		break;
	case KIND_BIN:
		*(const void **)(void *)at = v->p;
		at = (unsigned char *)&m->u + f->off_len;
		*(size_t *)(void *)at = v->len;
		break;
	case KIND_STRS:
		*(struct msg_strs *)(void *)at = v->strs;
		break;
	}
}

int
msg_str_limits(
    const struct def *d, const struct field *f, size_t len, struct err *e)
{
	if (len > f->max)
		return err_set(e, ERR_LIMIT,
		    "%s: %s has %zu bytes, %" PRIu64 " are allowed", d->name,
		    f->name, len, f->max);
	return 0;
}

int
msg_field_limits(const struct def *d, const struct field *f,
    const struct value *v, struct err *e)
{
	switch (f->kind) {
	case KIND_U64:
		if (v->u64 < f->min || v->u64 > f->max)
			return err_set(e, ERR_PROTO,
			    "%s: %s is %" PRIu64 ", it must be %" PRIu64
			    " to %" PRIu64,
			    d->name, f->name, v->u64, f->min, f->max);
		return 0;
	case KIND_BOOL:
		return 0;
	case KIND_STR:
	case KIND_BIN:
		return msg_str_limits(d, f, v->len, e);
	case KIND_STRS:
		if (v->strs.n > f->max_n)
			return err_set(e, ERR_LIMIT,
			    "%s: %s has %zu entries, %zu are allowed", d->name,
			    f->name, v->strs.n, f->max_n);
		return 0;
	}
	return 0;
}

int
msg_size_limits(
    const struct def *d, size_t len, size_t patch_len, struct err *e)
{
	if (d->type != MSG_SUMMARY || len - patch_len <= MSG_MAX_SUMMARY)
		return 0;
	return err_set(e, ERR_LIMIT,
	    "SUMMARY has %zu bytes besides its patch, %u are allowed",
	    len - patch_len, MSG_MAX_SUMMARY);
}

void
msg_free(struct msg *m)
{
	if (m == NULL)
		return;
	free(m->arena);
	free(m);
}
