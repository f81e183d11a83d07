/* signs_equal.c - comparisons of Python that take more for equal than is; see
 * signs_priv.h. */
#include "common/compat.h"

#include <ctype.h>

#include "common/log.h"
#include "worker/agent/signs_priv.h"

static bool
holds(const char *p, size_t len, const char *what)
{
	return memmem(p, len, what, strlen(what)) != NULL;
}

static bool
is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

bool
signs_compares_nothing(const char *p, size_t len)
{
	static const char *const words[] = { "==", "!=", "False", "__eq__",
		"NotImplemented", "equal", "super", "compare" };
	const char *hit = p, *end = p + len;
	size_t i;

	/* "is None" compares with nothing that counts. */
	while ((hit = memmem(hit, (size_t)(end - hit), " is ", 4)) != NULL) {
		hit += 4;
		if (end - hit >= 4 && strncmp(hit, "not ", 4) == 0)
			hit += 4;
		if (end - hit < 4 || strncmp(hit, "None", 4) != 0)
			return false;
	}

	for (i = 0; i < nitems(words); i++) {
		if (holds(p, len, words[i]))
			return false;
	}
	return true;
}

/* Does it use the name for more than its class? */
static bool
uses(const char *p, size_t len, const char *name, size_t n)
{
	const char *end = p + len, *hit = p;

	while ((hit = memmem(hit, (size_t)(end - hit), name, n)) != NULL) {
		const char *q = hit + n;
		bool whole = (hit == p || !is_name(hit[-1])) &&
		    (q == end || !is_name(*q));
		bool of_class =
		    (end - q >= 10 && strncmp(q, ".__class__", 10) == 0) ||
		    (hit - p >= 5 && strncmp(hit - 5, "type(", 5) == 0 &&
			q < end && *q == ')');

		if (whole && !of_class)
			return true;
		hit = q;
	}
	return false;
}

/* Of what the language has built in: values of it are what tests expect. */
static bool
is_of_built_in(const char *p, size_t len)
{
	static const char *const types[] = { "int", "str", "float", "bool",
		"list", "dict", "tuple", "set", "bytes", "complex", "object",
		"Number", "numbers." };
	const char *hit = memmem(p, len, "isinstance(", 11);
	const char *end = p + len, *q;
	size_t i;

	if (hit == NULL || (q = memchr(hit, ',', (size_t)(end - hit))) == NULL)
		return false;
	for (q++; q < end && (*q == ' ' || *q == '('); q++)
		continue;
	for (i = 0; i < nitems(types); i++) {
		size_t n = strlen(types[i]);

		if ((size_t)(end - q) >= n && strncmp(q, types[i], n) == 0 &&
		    ((size_t)(end - q) == n || !is_name(q[n]) ||
			types[i][n - 1] == '.'))
			return true;
	}
	return false;
}

/* Is it a value that is always true (want), or always false? */
static bool
is_constant(const char *p, size_t len, bool want)
{
	static const char *const no[] = { "False", "0", "None", "[]", "()",
		"{}", "''", "\"\"", "bool()" };
	static const char *const yes[] = { "True", "1", "...", "bool(1)",
		"bool(True)" };
	const char *const *words;
	size_t i, m, n;

	for (; len > 0; p += n, len -= n) {
		n = *p == ' ' ? 1 : 4;
		if (n == 4 && (len <= 4 || strncmp(p, "not ", 4) != 0))
			break;
		want = want == (n == 1);
	}
	words = want ? yes : no;
	n = want ? nitems(yes) : nitems(no);
	for (i = 0; i < n; i++) {
		m = strlen(words[i]);
		if (len >= m && strncmp(p, words[i], m) == 0 &&
		    (len == m || strchr("\n;)},", p[m]) != NULL))
			return true;
	}
	return false;
}

bool
signs_never_unequal(const char *p, size_t len, bool first)
{
	const char *end = p + len,
		   *ne = first ? p : memmem(p, len, "__ne__", 6);
	const char *value;
	bool lambda;

	if (ne == NULL)
		return false;
	len = (size_t)(end - ne);
	lambda = !first && holds(ne, len, "lambda ");
	value = lambda ? memmem(ne, len, "lambda ", 7)
		       : memmem(ne, len, "return ", 7);
	if (value != NULL && lambda)
		value = memchr(value, ':', (size_t)(end - value));
	if (value == NULL)
		return false;
	value += lambda ? 1 : 7;
	return is_constant(value, (size_t)(end - value), false);
}

bool
signs_equal(const char *def, size_t def_len, const char *head, const char *body,
    size_t len, enum weight *ret)
{
	const char *self = memmem(def, def_len, head, strlen(head));
	const char *end = def + def_len, *other, *value;
	size_t n = 0, m = 0;

	if (self == NULL)
		return false;
	for (self += strlen(head); self < end && *self == ' '; self++)
		continue;
	while (self + n < end && is_name(self[n]))
		n++;
	if (body == NULL) {
		body = memchr(self, ':', (size_t)(end - self));
		if (body == NULL)
			return false;
		len = (size_t)(end - ++body);
	}
	for (other = self + n; other < end && (*other == ' ' || *other == ',');
	     other++)
		continue;
	while (other + m < end && is_name(other[m]))
		m++;
	if (n == 0 || m == 0 || holds(body, len, "super") ||
	    holds(body, len, "NotImplemented"))
		return false;
	*ret = GRAVE;
	if (uses(body, len, self, n))
		return !uses(body, len, other, m) && !holds(body, len, "False");
	if (!uses(body, len, other, m)) {
		value = memmem(body, len, "return ", 7);
		value = value != NULL ? value + 7 : body;
		if (is_constant(value, (size_t)(body + len - value), true))
			return true;
	}
	if (holds(body, len, "is not ") || holds(body, len, "!="))
		return true;
	if (holds(body, len, "isinstance(")) {
		*ret = is_of_built_in(body, len) ? GRAVE : LIGHT;
		return true;
	}
	/* of one kind, which is all there is to it */
	return holds(body, len, "True") && !holds(body, len, " is ");
}
