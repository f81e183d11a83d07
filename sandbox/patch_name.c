/* patch_name.c - names in patches: quoting, and which are allowed. */
#include "common/compat.h"

#include <strings.h>

#include "common/log.h"
#include "common/text.h"
#include "sandbox/patch.h"
#include "sandbox/walk.h"

/* --- quoting
 * ------------------------------------------------------------------ */

static int
octal(const char *s, size_t len)
{
	int v = 0;
	size_t i;

	if (len < 3 || s[0] > '3')
		return -1;
	for (i = 0; i < 3; i++) {
		if (s[i] < '0' || s[i] > '7')
			return -1;
		v = v * 8 + s[i] - '0';
	}
	return v;
}

/* One escape after its backslash: the byte, or -1; *ret_len: what it took. */
static int
escape(const char *s, size_t len, size_t *ret_len)
{
	static const char names[] = "abtnvfr\"\\";
	static const char values[] = "\a\b\t\n\v\f\r\"\\";
	const char *at;

	*ret_len = 1;
	if (len == 0 || s[0] == '\0')
		return -1;
	at = strchr(names, s[0]);
	if (at != NULL)
		return values[at - names];
	*ret_len = 3;
	return octal(s, len);
}

char *
patch_unquote(const char *s, size_t len, size_t *ret_len)
{
	char *dst, *w;
	size_t i, n;
	int c;

	if (len < 2 || s[0] != '"')
		return NULL;
	dst = w = xmalloc(len);
	for (i = 1; i < len && s[i] != '"'; i++) {
		c = (unsigned char)s[i];
		if (c == '\\') {
			c = escape(s + i + 1, len - i - 1, &n);
			i += n;
		}
		if (c <= 0)
			break;
		*w++ = (char)c;
	}
	if (i >= len || s[i] != '"') {
		free(dst);
		return NULL;
	}
	*w = '\0';
	*ret_len = i + 1;
	return dst;
}

int
patch_quote(struct buf *dst, const char *prefix, const char *name)
{
	const unsigned char *s;
	int r;

	r = buf_printf(dst, "\"%s", prefix);
	for (s = (const unsigned char *)name; *s != '\0' && r == 0; s++) {
		if (*s == '"' || *s == '\\')
			r = buf_printf(dst, "\\%c", *s);
		else if (*s < 0x20 || *s >= 0x7f)
			r = buf_printf(dst, "\\%03o", *s);
		else
			r = buf_addc(dst, (char)*s);
	}
	return r < 0 ? r : buf_addc(dst, '"');
}

char *
patch_whole_name(const char *s, size_t len)
{
	const char *tab;
	size_t n;

	if (len > 0 && s[0] == '"')
		return patch_unquote(s, len, &n);
	tab = memchr(s, '\t', len);
	if (tab != NULL)
		len = (size_t)(tab - s);
	if (len == 0 || memchr(s, '\0', len) != NULL)
		return NULL;
	return xstrndup(s, len);
}

static const char *
after_slash(const char *s, size_t len, size_t *ret_len)
{
	const char *slash = memchr(s, '/', len);

	if (slash == NULL)
		return NULL;
	*ret_len = len - (size_t)(slash + 1 - s);
	return slash + 1;
}

/* Where the names hold blanks there may be several places to part them. */
char *
patch_same_names(const char *s, size_t len)
{
	const char *a, *b;
	size_t i, na, nb;

	for (i = 1; i + 1 < len; i++) {
		if (s[i] != ' ')
			continue;
		a = after_slash(s, i, &na);
		b = after_slash(s + i + 1, len - i - 1, &nb);
		if (a != NULL && b != NULL && na == nb && na > 0 &&
		    memcmp(a, b, na) == 0 && memchr(s, '\0', len) == NULL)
			return xstrndup(a, na);
	}
	return NULL;
}

/* --- .git
 * --------------------------------------------------------------------- */

/* Length of a code point that HFS+ leaves out of names, else 0. */
static size_t
ignorable(const unsigned char *s, size_t len)
{
	if (len < 3)
		return 0;
	if (s[0] == 0xe2 && s[1] == 0x80 &&
	    ((s[2] >= 0x8c && s[2] <= 0x8f) || (s[2] >= 0xaa && s[2] <= 0xae)))
		return 3;
	if (s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xaa && s[2] <= 0xaf)
		return 3;
	if (s[0] == 0xef && s[1] == 0xbb && s[2] == 0xbf)
		return 3;
	return 0;
}

static bool
is_dotgit_part(const char *name, size_t len)
{
	char plain[6];
	size_t n = 0, i, skip;

	for (i = 0; i < len && n < 5; i += skip) {
		skip = ignorable((const unsigned char *)name + i, len - i);
		if (skip > 0)
			continue;
		skip = 1;
		plain[n++] = name[i];
		if (n == 4 && strncasecmp(plain, ".git", 4) == 0) {
			i++;
			break;
		}
	}
	if (!(n == 4 && strncasecmp(plain, ".git", 4) == 0) &&
	    !(n == 5 && strncasecmp(plain, "git~1", 5) == 0))
		return false;
	/* Windows drops these at the end; a colon names a stream. */
	for (; i < len && name[i] != ':'; i += skip) {
		skip = ignorable((const unsigned char *)name + i, len - i);
		if (skip == 0 && name[i] != ' ' && name[i] != '.')
			return false;
		skip = skip > 0 ? skip : 1;
	}
	return true;
}

bool
patch_is_dotgit(const char *name, size_t len)
{
	size_t i, start = 0;

	/* A backslash separates on Windows. */
	for (i = 0; i <= len; i++) {
		if (i < len && name[i] != '\\')
			continue;
		if (is_dotgit_part(name + start, i - start))
			return true;
		start = i + 1;
	}
	return false;
}

/* --- which are allowed
 * ---------------------------------------------------------- */

static int
denied(struct err *e, const char *path, const char *why)
{
	struct buf b;
	int r;

	buf_init(&b, 512);
	(void)text_escape(&b, path, strnlen(path, 80)); /* it fits */
	r = err_set(
	    e, ERR_DENIED, "the patch names \"%s\": %s", buf_str(&b), why);
	buf_clear(&b);
	return r;
}

int
patch_check_path(const char *path, struct err *e)
{
	const char *s;
	size_t n;

	if (path[0] == '/')
		return denied(e, path, "an absolute path");
	if (strlen(path) > WALK_PATH_MAX)
		return denied(e, path, "a path that is too long");
	for (s = path;; s += n + 1) {
		n = strcspn(s, "/");
		if (n == 0 || (n == 1 && s[0] == '.'))
			return denied(e, path, "not a plain path");
		if (n == 2 && s[0] == '.' && s[1] == '.')
			return denied(e, path, "a path that leaves the tree");
		if (patch_is_dotgit(s, n))
			return denied(e, path, "inside .git");
		if (s[n] == '\0')
			return 0;
	}
}

/*
 * ".." is allowed in front only: behind a name that is itself a link it could
 * climb higher than it looks.
 */
int
patch_check_link(
    const char *path, const char *target, size_t len, struct err *e)
{
	size_t depth = 0, i, n;
	bool names = false;

	if (len == 0 || memchr(target, '\0', len) != NULL)
		return denied(e, path, "a link without a target");
	if (target[0] == '/')
		return denied(e, path, "a link to an absolute path");
	for (i = 0; path[i] != '\0'; i++)
		depth += path[i] == '/';
	for (i = 0; i < len; i += n + 1) {
		for (n = 0; i + n < len && target[i + n] != '/'; n++)
			;
		if (n == 0 || (n == 1 && target[i] == '.'))
			continue;
		if (n == 2 && target[i] == '.' && target[i + 1] == '.') {
			if (names || depth-- == 0)
				return denied(
				    e, path, "a link that leaves the tree");
			continue;
		}
		names = true;
		if (patch_is_dotgit(target + i, n))
			return denied(e, path, "a link into .git");
	}
	return 0;
}
