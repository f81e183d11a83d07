#include "common/compat.h"

#include <inttypes.h>

#include "common/json.h"
#include "common/log.h"
#include "common/text.h"

#define DEPTH_MAX 64

/* The four digits of "\uXXXX" at s; -1 when it is not one. */
static long
u_escape(const char *s, size_t len)
{
	long v = 0;
	int c;

	if (len < 6 || s[0] != '\\' || s[1] != 'u')
		return -1;
	for (int i = 2; i < 6; i++) {
		c = (unsigned char)s[i];
		if (c >= '0' && c <= '9')
			c -= '0';
		else if (c >= 'a' && c <= 'f')
			c -= 'a' - 10;
		else if (c >= 'A' && c <= 'F')
			c -= 'A' - 10;
		else
			return -1;
		v = v * 16 + c;
	}
	return v;
}

/* What stands at the backslash s[0]: its length in *ret_len, and whether it
 * is an escape that jansson refuses though it is JSON. */
static bool
escape_is_bad(const char *s, size_t len, size_t *ret_len)
{
	long u = u_escape(s, len), low;

	*ret_len = len < 2 ? len : 2;
	if (u < 0)
		return false;
	*ret_len = 6;
	if (u >= 0xd800 && u <= 0xdbff) {
		low = u_escape(s + 6, len - 6);
		if (low < 0xdc00 || low > 0xdfff)
			return true;
		*ret_len = 12;
		return false;
	}
	return u == 0 || (u >= 0xdc00 && u <= 0xdfff);
}

/*
 * One pass before jansson: limit the depth (jansson's own limit is 2048, by
 * recursion) and find what must be repaired. A replacement has the length of
 * what it replaces. *fixed stays NULL while nothing is to be repaired.
 * Where the text is not JSON this may misread it; jansson refuses it then.
 */
static int
scan(const char *s, size_t len, char **fixed, struct err *e)
{
	bool in_string = false;
	size_t depth = 0, n;

	for (size_t i = 0; i < len; i += n) {
		n = 1;
		if (in_string) {
			if (s[i] == '"')
				in_string = false;
			if (s[i] != '\\' || !escape_is_bad(s + i, len - i, &n))
				continue;
			if (*fixed == NULL) {
				*fixed = xmalloc(len);
				memcpy(*fixed, s, len);
			}
			memcpy(*fixed + i, "\\ufffd", 6);
			continue;
		}
		if (s[i] == '"')
			in_string = true;
		else if (s[i] == '[' || s[i] == '{')
			depth++;
		else if ((s[i] == ']' || s[i] == '}') && depth > 0)
			depth--;
		if (depth > DEPTH_MAX)
			return err_set(e, ERR_LIMIT,
			    "JSON is nested more than %d levels deep",
			    DEPTH_MAX);
	}
	return 0;
}

int
json_parse(
    const char *s, size_t len, size_t max_bytes, json_t **ret, struct err *e)
{
	json_error_t je;
	char *fixed = NULL;
	json_t *j;
	int r;

	if (len > max_bytes)
		return err_set(e, ERR_LIMIT,
		    "JSON of %zu bytes is over the limit of %zu", len,
		    max_bytes);
	if ((r = scan(s, len, &fixed, e)) < 0)
		goto out;
	j = json_loadb(fixed != NULL ? fixed
		: len > 0            ? s
				     : "",
	    len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &je);
	if (j == NULL) {
		r = err_set(e, ERR_SYNTAX, "JSON, line %d, column %d: %s",
		    je.line, je.column, je.text);
		goto out;
	}
	*ret = j;
out:
	free(fixed);
	return r;
}

static char *
dump(const json_t *j, size_t flags)
{
	char *s = json_dumps(j,
	    JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12) | flags);

	if (s == NULL)
		fatal("JSON can't be written: memory is out or it has a cycle");
	return s;
}

char *
json_text(const json_t *j)
{
	return dump(j, 0);
}

char *
json_text_sorted(const json_t *j)
{
	return dump(j, JSON_SORT_KEYS);
}

static const char *
type_name(const json_t *j)
{
	switch (json_typeof(j)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "an array";
	case JSON_STRING:
		return "a string";
	case JSON_INTEGER:
		return "a number";
	case JSON_REAL:
		return "a number with decimals";
	case JSON_TRUE:
	case JSON_FALSE:
		return "true or false";
	case JSON_NULL:
		return "null";
	}
	return "something else";
}

static int
wrong(const char *key, const char *want, const json_t *v, struct err *e)
{
	return err_set(e, ERR_SYNTAX, "\"%.80s\" must be %s, not %s", key, want,
	    type_name(v));
}

/* The member, NULL when it is missing or null. */
static int
get(const json_t *obj, const char *key, const json_t **ret, struct err *e)
{
	const json_t *v;

	if (!json_is_object(obj))
		return err_set(e, ERR_SYNTAX,
		    "an object with \"%.80s\" is wanted, not %s", key,
		    obj != NULL ? type_name(obj) : "nothing");
	v = json_object_get(obj, key);
	*ret = json_is_null(v) ? NULL : v;
	return 0;
}

int
json_get_str(const json_t *obj, const char *key, bool required,
    const char **ret, struct err *e)
{
	const json_t *v = NULL;
	int r;

	if ((r = get(obj, key, &v, e)) < 0)
		return r;
	if (v == NULL && required)
		return err_set(e, ERR_SYNTAX,
		    "\"%.80s\" is missing, a string is wanted", key);
	if (v != NULL && !json_is_string(v))
		return wrong(key, "a string", v, e);
	*ret = json_string_value(v);
	return 0;
}

int
json_get_u64(const json_t *obj, const char *key, uint64_t def, uint64_t max,
    uint64_t *ret, struct err *e)
{
	const json_t *v = NULL;
	json_int_t n;
	int r;

	if ((r = get(obj, key, &v, e)) < 0)
		return r;
	if (v == NULL) {
		*ret = def;
		return 0;
	}
	if (!json_is_integer(v))
		return wrong(key, "a whole number", v, e);
	n = json_integer_value(v);
	if (n < 0 || (uint64_t)n > max)
		return err_set(e, ERR_SYNTAX,
		    "\"%.80s\" must be a whole number from 0 to %" PRIu64
		    ", not %" JSON_INTEGER_FORMAT,
		    key, max, n);
	*ret = (uint64_t)n;
	return 0;
}

int
json_get_bool(
    const json_t *obj, const char *key, bool def, bool *ret, struct err *e)
{
	const json_t *v = NULL;
	int r;

	if ((r = get(obj, key, &v, e)) < 0)
		return r;
	if (v != NULL && !json_is_boolean(v))
		return wrong(key, "true or false", v, e);
	*ret = v != NULL ? json_is_true(v) : def;
	return 0;
}

int
json_get_strv(const json_t *obj, const char *key, size_t max_n,
    struct strv *ret, struct err *e)
{
	struct strv list = { 0 };
	const json_t *v = NULL, *item;
	size_t i;
	int r;

	if ((r = get(obj, key, &v, e)) < 0)
		return r;
	if (v != NULL && !json_is_array(v))
		return wrong(key, "an array of strings", v, e);
	if (json_array_size(v) > max_n)
		return err_set(e, ERR_LIMIT,
		    "\"%.80s\" has %zu elements, at most %zu are allowed", key,
		    json_array_size(v), max_n);
	json_array_foreach (v, i, item) {
		if (!json_is_string(item)) {
			strv_clear(&list);
			return wrong(key, "an array of strings only", item, e);
		}
		strv_add(&list, json_string_value(item));
	}
	strv_clear(ret);
	*ret = list;
	return 0;
}

json_t *
json_str_lossy(const char *s, size_t len)
{
	struct buf b;
	json_t *j;
	size_t n;

	buf_init(&b, BUF_NOMAX);
	for (size_t i = 0; i < len; i += n) {
		n = s[i] != '\0' ? text_char(s + i, len - i, NULL) : 0;
		if (n > 0)
			(void)buf_add(&b, s + i, n);
		else
			(void)buf_adds(&b, TEXT_REPLACEMENT);
		n = n > 0 ? n : 1;
	}
	j = json_stringn(buf_str(&b), b.len);
	buf_clear(&b);
	if (j == NULL)
		fatal("out of memory (JSON)");
	return j;
}

json_t *
json_from_strv(const struct strv *v)
{
	json_t *a = json_array();

	for (size_t i = 0; i < v->n; i++) {
		if (json_array_append_new(
			a, json_str_lossy(v->v[i], strlen(v->v[i]))) < 0)
			fatal("out of memory (JSON)");
	}
	if (a == NULL)
		fatal("out of memory (JSON)");
	return a;
}
