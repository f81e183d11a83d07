/* url.c - see url.h. */
#include "common/compat.h"

#include "common/buf.h"
#include "common/log.h"
#include "worker/agent/url.h"

struct span {
	const char *p; /* NULL: not there */
	size_t n;
};

/* "scheme:" and "//authority" without their signs; "?query#fragment" as it
 * is, the fragment left on. */
struct parts {
	struct span scheme, authority, path, query;
};

static bool
is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static size_t
scheme_len(const char *s, size_t len)
{
	size_t i;

	if (len == 0 || !is_alpha(s[0]))
		return 0;
	for (i = 1; i < len; i++) {
		if (s[i] == ':')
			return i;
		if (!is_alpha(s[i]) && !(s[i] >= '0' && s[i] <= '9') &&
		    s[i] != '+' && s[i] != '-' && s[i] != '.')
			return 0;
	}
	return 0;
}

static size_t
until(const char *s, size_t len, const char *stop)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (s[i] == '\0' || strchr(stop, s[i]) != NULL)
			break;
	return i;
}

static void
split(const char *s, size_t len, struct parts *ret)
{
	size_t n = scheme_len(s, len);

	*ret = (struct parts){ 0 };
	if (n > 0) {
		ret->scheme = (struct span){ s, n };
		s += n + 1;
		len -= n + 1;
	}
	if (len >= 2 && s[0] == '/' && s[1] == '/') {
		n = until(s + 2, len - 2, "/?#");
		ret->authority = (struct span){ s + 2, n };
		s += n + 2;
		len -= n + 2;
	}
	n = until(s, len, "?#");
	ret->path = (struct span){ s, n };
	if (n < len)
		ret->query = (struct span){ s + n, len - n };
}

static bool
scheme_is(const struct span *s, const char *name)
{
	return s->n == strlen(name) && strncasecmp(s->p, name, s->n) == 0;
}

static bool
is_web(const struct span *s)
{
	return scheme_is(s, "http") || scheme_is(s, "https") ||
	    scheme_is(s, "ftp");
}

/* What a browser makes of the attribute before it reads it. */
static void
tidy(struct buf *dst, const char *s, size_t len)
{
	bool slashes = true;
	size_t i;

	while (len > 0 && (unsigned char)s[0] <= ' ') {
		s++;
		len--;
	}
	while (len > 0 && (unsigned char)s[len - 1] <= ' ')
		len--;
	for (i = 0; i < len; i++) {
		if (s[i] == '\t' || s[i] == '\n' || s[i] == '\r')
			continue;
		if (s[i] == '?' || s[i] == '#')
			slashes = false;
		(void)buf_addc(dst, s[i] == '\\' && slashes ? '/' : s[i]);
	}
}

static void
add(struct buf *dst, const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c <= ' ' || c >= 0x7f || strchr("\"<>\\^`{|}()", c) != NULL)
			(void)buf_printf(dst, "%%%02X", c);
		else
			(void)buf_addc(dst, s[i]);
	}
}

/* RFC 3986, 5.2.4, onto an output that holds the authority already. */
static void
add_path(struct buf *dst, const char *s, size_t len)
{
	size_t top = dst->len, i = 0, n;

	while (i < len) {
		bool slash = s[i] == '/';
		const char *name = s + i + slash;

		n = until(name, len - i - slash, "/");
		i += slash + n;
		if (n == 2 && memcmp(name, "..", 2) == 0) {
			while (dst->len > top && dst->data[dst->len - 1] != '/')
				dst->len--;
			if (dst->len > top)
				dst->len--;
		}
		if ((n == 1 && *name == '.') ||
		    (n == 2 && memcmp(name, "..", 2) == 0)) {
			if (i == len)
				(void)buf_addc(dst, '/');
			continue;
		}
		(void)buf_addc(dst, '/');
		add(dst, name, n);
	}
	if (dst->len == top)
		(void)buf_addc(dst, '/');
}

/* The reference's path behind the base's, up to its last slash. */
static void
merge(struct buf *dst, const struct parts *b, const struct parts *r)
{
	struct buf path;
	size_t n = b->path.n;

	buf_init(&path, BUF_NOMAX);
	if (r->path.n == 0) {
		(void)buf_add(&path, b->path.p, b->path.n);
	} else {
		if (r->path.p[0] != '/') {
			while (n > 0 && b->path.p[n - 1] != '/')
				n--;
			(void)buf_add(&path, b->path.p, n);
		}
		(void)buf_add(&path, r->path.p, r->path.n);
	}
	add_path(dst, buf_str(&path), path.len);
	buf_clear(&path);
}

static void
add_query(struct buf *dst, const struct parts *b, const struct parts *r)
{
	const struct span *q = &r->query;

	if (r->path.n == 0 && (q->p == NULL || q->p[0] == '#') &&
	    b->query.p != NULL)
		add(dst, b->query.p, until(b->query.p, b->query.n, "#"));
	if (q->p != NULL)
		add(dst, q->p, q->n);
}

static int
resolve(struct buf *dst, const struct parts *b, const struct parts *r)
{
	const struct span *scheme, *authority = &r->authority;
	size_t i;

	scheme = r->scheme.p != NULL ? &r->scheme : &b->scheme;
	if (scheme_is(scheme, "mailto") && r->scheme.p != NULL) {
		(void)buf_adds(dst, "mailto:");
		add(dst, r->path.p, r->path.n);
		return 0;
	}
	if (!is_web(scheme))
		return -1;
	/* "https:x" means different things to different readers. */
	if (r->scheme.p != NULL && r->authority.p == NULL)
		return -1;
	if (authority->p == NULL)
		authority = &b->authority;
	if (authority->n == 0)
		return -1;
	for (i = 0; i < scheme->n; i++)
		(void)buf_addc(dst, (char)(scheme->p[i] | 0x20));
	(void)buf_adds(dst, "://");
	add(dst, authority->p, authority->n);
	if (r->authority.p != NULL) {
		add_path(dst, r->path.p, r->path.n);
		if (r->query.p != NULL)
			add(dst, r->query.p, r->query.n);
	} else {
		merge(dst, b, r);
		add_query(dst, b, r);
	}
	return 0;
}

char *
url_resolve(const char *base, const char *ref, size_t len)
{
	struct parts b, r;
	struct buf clean, out;
	char *ret = NULL;

	if (len > URL_MAX)
		return NULL;
	buf_init(&clean, BUF_NOMAX);
	buf_init(&out, BUF_NOMAX);
	tidy(&clean, ref, len);
	if (base == NULL)
		base = "";
	split(base, strlen(base), &b);
	split(buf_str(&clean), clean.len, &r);
	if (resolve(&out, &b, &r) == 0 && out.len <= URL_MAX)
		ret = buf_detach(&out, NULL);
	buf_clear(&clean);
	buf_clear(&out);
	return ret;
}
