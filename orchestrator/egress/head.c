/*
 * head.c - the head of an HTTP request to the proxy.
 */
#include "common/compat.h"

#include <strings.h>

#include "common/text.h"
#include "orchestrator/egress/head.h"

enum {
	BAD = 400,
	TOO_LARGE = 431,
	NOT_IMPLEMENTED = 501,
	BAD_VERSION = 505
};

struct text {
	const char *p;
	size_t len;
};

struct fields {
	struct text host, length, coding, connection;
	bool has_host, has_length, has_coding;
};

static bool
text_is(struct text t, const char *s)
{
	return t.len == strlen(s) && strncasecmp(t.p, s, t.len) == 0;
}

static bool
is_token_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z') ||
	    (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool
is_token(struct text t)
{
	size_t i;

	for (i = 0; i < t.len; i++)
		if (!is_token_char(t.p[i]))
			return false;
	return t.len > 0;
}

static struct text
trim(struct text t)
{
	while (t.len > 0 && (t.p[0] == ' ' || t.p[0] == '\t')) {
		t.p++;
		t.len--;
	}
	while (t.len > 0 && (t.p[t.len - 1] == ' ' || t.p[t.len - 1] == '\t'))
		t.len--;
	return t;
}

/* Up to c, which is passed over; all of it and false when there is none. */
static bool
cut_at(struct text *rest, char c, struct text *ret)
{
	const char *at = memchr(rest->p, c, rest->len);

	*ret = *rest;
	if (at == NULL) {
		rest->p += rest->len;
		rest->len = 0;
		return false;
	}
	ret->len = (size_t)(at - rest->p);
	rest->p = at + 1;
	rest->len -= ret->len + 1;
	return true;
}

/* The bytes up to the empty line that ends a head; 0: it is not there yet. */
static size_t
find_end(const char *p, size_t len)
{
	const char *at = memmem(p, len, "\r\n\r\n", 4);

	return at != NULL ? (size_t)(at - p) + 4 : 0;
}

static bool
has_bad_bytes(const char *p, size_t len)
{
	unsigned char c;
	size_t i;

	for (i = 0; i < len; i++) {
		c = (unsigned char)p[i];
		if (c == '\r' && i + 1 < len && p[i + 1] == '\n')
			i++;
		else if ((c < 0x20 && c != '\t') || c == 0x7f)
			return true;
	}
	return false;
}

/* --- the request line ---------------------------------------------------- */

struct line {
	struct text method, target;
	bool old; /* HTTP/1.0 */
};

static int
read_line(struct text line, struct line *ret, struct err *e)
{
	struct text version;

	if (!cut_at(&line, ' ', &ret->method) ||
	    !cut_at(&line, ' ', &ret->target) || !is_token(ret->method) ||
	    ret->method.len >= sizeof((struct head *)0)->method ||
	    ret->target.len == 0) {
		(void)err_set(e, ERR_SYNTAX, "that is no HTTP request line");
		return BAD;
	}
	version = line;
	ret->old = text_is(version, "HTTP/1.0");
	if (!ret->old && !text_is(version, "HTTP/1.1")) {
		(void)err_set(
		    e, ERR_SYNTAX, "only HTTP/1.0 and HTTP/1.1 are spoken");
		return BAD_VERSION;
	}
	return 0;
}

/* authority and path of an absolute http URI. */
static int
split_uri(struct text uri, struct text *ret_host, struct text *ret_path,
    struct err *e)
{
	static const char scheme[] = "http://";
	size_t i, n = sizeof scheme - 1;

	for (i = 0; i < uri.len; i++)
		if ((unsigned char)uri.p[i] >= 0x80 || uri.p[i] <= ' ' ||
		    uri.p[i] == '#') {
			(void)err_set(e, ERR_SYNTAX,
			    "the URI has bytes that must be escaped");
			return BAD;
		}
	if (uri.len < n || strncasecmp(uri.p, scheme, n) != 0) {
		(void)err_set(e, ERR_SYNTAX,
		    "this is a proxy: it takes CONNECT host:port (for https "
		    "too) or an absolute http URI");
		return BAD;
	}
	uri.p += n;
	uri.len -= n;
	for (i = 0; i < uri.len && strchr("/?", uri.p[i]) == NULL; i++)
		continue;
	*ret_host = (struct text){ uri.p, i };
	*ret_path = (struct text){ uri.p + i, uri.len - i };
	return 0;
}

/* --- the fields ---------------------------------------------------------- */

static int
once(struct text *have, bool *has, struct text value, const char *name,
    struct err *e)
{
	if (*has) {
		(void)err_set(e, ERR_SYNTAX, "%s comes twice", name);
		return BAD;
	}
	*has = true;
	*have = value;
	return 0;
}

/* One field. More than one Connection is rare: the last stands for all in
 * is_hop(), so a second one is refused, too. */
static int
take_field(struct fields *f, struct text name, struct text value, struct err *e)
{
	bool has = f->connection.p != NULL;

	if (text_is(name, "Host"))
		return once(&f->host, &f->has_host, value, "Host", e);
	if (text_is(name, "Content-Length"))
		return once(
		    &f->length, &f->has_length, value, "Content-Length", e);
	if (text_is(name, "Transfer-Encoding"))
		return once(
		    &f->coding, &f->has_coding, value, "Transfer-Encoding", e);
	if (text_is(name, "Connection"))
		return once(&f->connection, &has, value, "Connection", e);
	return 0;
}

/* The next field of the block; 0, BAD, or -1 at its end. */
static int
next_field(struct text *rest, struct text *ret_name, struct text *ret_value,
    struct err *e)
{
	struct text line;
	const char *at = memmem(rest->p, rest->len, "\r\n", 2);

	if (at == NULL || at == rest->p)
		return -1;
	line = (struct text){ rest->p, (size_t)(at - rest->p) };
	rest->len -= line.len + 2;
	rest->p = at + 2;
	if (!cut_at(&line, ':', ret_name) || !is_token(*ret_name)) {
		(void)err_set(e, ERR_SYNTAX,
		    "a header field is malformed, or goes on in a second line");
		return BAD;
	}
	*ret_value = trim(line);
	return 0;
}

static int
read_fields(struct text block, struct fields *f, struct err *e)
{
	struct text name, value;
	int r;

	while ((r = next_field(&block, &name, &value, e)) == 0)
		if ((r = take_field(f, name, value, e)) != 0)
			return r;
	return r < 0 ? 0 : r;
}

static int
read_body(const struct fields *f, bool old, struct head *h, struct err *e)
{
	uint64_t n = 0;
	size_t i;

	h->body = BODY_NONE;
	if (f->has_coding) {
		if (f->has_length || old || !text_is(f->coding, "chunked")) {
			(void)err_set(e, ERR_SYNTAX,
			    "Transfer-Encoding is \"chunked\", in HTTP/1.1, "
			    "without Content-Length");
			return BAD;
		}
		h->body = BODY_CHUNKED;
		return 0;
	}
	if (!f->has_length)
		return 0;
	for (i = 0; i < f->length.len; i++) {
		if (f->length.p[i] < '0' || f->length.p[i] > '9' || i >= 18)
			break;
		n = n * 10 + (uint64_t)(f->length.p[i] - '0');
	}
	if (i == 0 || i < f->length.len) {
		(void)err_set(e, ERR_SYNTAX, "Content-Length is no number");
		return BAD;
	}
	h->body = n > 0 ? BODY_LENGTH : BODY_NONE;
	h->length = n;
	return 0;
}

/* Does the list of Connection have this name? */
static bool
is_listed(struct text list, struct text name)
{
	struct text one;

	while (list.len > 0) {
		(void)cut_at(&list, ',', &one);
		one = trim(one);
		if (one.len == name.len &&
		    strncasecmp(one.p, name.p, one.len) == 0)
			return true;
	}
	return false;
}

/* Meant for us, not for the server (RFC 9110, 7.6.1). */
static bool
is_hop(const struct fields *f, struct text name)
{
	static const char *const names[] = { "Host", "Connection",
		"Proxy-Connection", "Keep-Alive", "Proxy-Authorization",
		"Proxy-Authenticate", "TE", "Upgrade", "HTTP2-Settings" };
	size_t i;

	for (i = 0; i < nitems(names); i++)
		if (text_is(name, names[i]))
			return true;
	return f->connection.p != NULL && is_listed(f->connection, name);
}

/* To take away by Connection what says where the message ends. */
static int
check_connection(const struct fields *f, struct err *e)
{
	static const struct text framing[] = { { "Content-Length", 14 },
		{ "Transfer-Encoding", 17 } };
	size_t i;

	for (i = 0; f->connection.p != NULL && i < nitems(framing); i++)
		if (is_listed(f->connection, framing[i])) {
			(void)err_set(e, ERR_SYNTAX,
			    "Connection names what is not for it");
			return BAD;
		}
	return 0;
}

/* --- what is sent on ----------------------------------------------------- */

static void
write_head(struct text block, const struct line *l, const struct fields *f,
    struct text path, struct head *h)
{
	struct text name, value;
	char host[TARGET_TEXT];
	const char *port;

	target_text(&h->target, host);
	if (h->target.port == 80 && (port = strrchr(host, ':')) != NULL)
		host[port - host] = '\0';
	buf_init(&h->out, HEAD_MAX * 2);
	(void)buf_printf(&h->out, "%s %s%.*s HTTP/1.%d\r\nHost: %s\r\n",
	    h->method, path.len > 0 && path.p[0] == '/' ? "" : "/",
	    (int)path.len, path.p, l->old ? 0 : 1, host);
	while (next_field(&block, &name, &value, NULL) == 0)
		if (!is_hop(f, name))
			(void)buf_printf(&h->out, "%.*s: %.*s\r\n",
			    (int)name.len, name.p, (int)value.len, value.p);
	(void)buf_adds(&h->out, "Connection: close\r\n\r\n");
}

static int
check_host(
    const struct fields *f, bool old, const struct head *h, struct err *e)
{
	bool tunnel = h->kind == HEAD_CONNECT;
	struct target t;

	if (!f->has_host) {
		/* Some tunnel without it, and the target says all. */
		if (old || tunnel)
			return 0;
		(void)err_set(e, ERR_SYNTAX, "Host is missing");
		return BAD;
	}
	if (target_parse(f->host.p, f->host.len, tunnel ? h->target.port : 80,
		&t, NULL) == 0 &&
	    (tunnel ? target_same_host(&t, &h->target)
		    : target_eq(&t, &h->target)))
		return 0;
	(void)err_set(e, ERR_SYNTAX, "Host is not the host that is asked for");
	return BAD;
}

int
head_http(const char *p, size_t len, struct head *ret, struct err *e)
{
	struct text rest = { p, 0 }, first, host, path = { "", 0 };
	struct fields f = { 0 };
	struct head h = { 0 };
	struct line l;
	size_t end = find_end(p, len);
	int r;

	if (end == 0 && len < HEAD_MAX)
		return HEAD_MORE;
	if (end == 0) {
		(void)err_set(e, ERR_LIMIT,
		    "the head of the request is over %u bytes", HEAD_MAX);
		return TOO_LARGE;
	}
	if (has_bad_bytes(p, end)) {
		(void)err_set(
		    e, ERR_SYNTAX, "the head of the request has control bytes");
		return BAD;
	}
	rest.len = end;
	(void)cut_at(&rest, '\n', &first);
	first.len--; /* the CR, which is there */
	if ((r = read_line(first, &l, e)) != 0 ||
	    (r = read_fields(rest, &f, e)) != 0 ||
	    (r = check_connection(&f, e)) != 0)
		return r;
	(void)snprintf(
	    h.method, sizeof h.method, "%.*s", (int)l.method.len, l.method.p);
	h.used = end;
	if (text_is(l.method, "CONNECT")) {
		h.kind = HEAD_CONNECT;
		h.body = BODY_ENDLESS;
		host = l.target;
		if (f.has_length || f.has_coding) {
			(void)err_set(e, ERR_SYNTAX, "CONNECT has no body");
			return BAD;
		}
	} else {
		h.kind = HEAD_HTTP;
		if ((r = split_uri(l.target, &host, &path, e)) != 0 ||
		    (r = read_body(&f, l.old, &h, e)) != 0)
			return r;
	}
	if (target_parse(host.p, host.len, h.kind == HEAD_HTTP ? 80 : 0,
		&h.target, e) < 0 ||
	    check_host(&f, l.old, &h, e) != 0)
		return BAD;
	if (h.kind == HEAD_HTTP) {
		(void)snprintf(
		    h.path, sizeof h.path, "%.*s", (int)path.len, path.p);
		h.path[strcspn(h.path, "?")] = '\0';
		write_head(rest, &l, &f, path, &h);
	}
	*ret = h;
	return HEAD_DONE;
}

void
head_clear(struct head *h)
{
	buf_clear(&h->out);
}
