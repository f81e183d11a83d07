#include "common/compat.h"

#include <sys/socket.h>

#include <curl/curl.h>

#include "common/log.h"
#include "common/text.h"
#include "orchestrator/gateway/address.h"
#include "orchestrator/gateway/http_call.h"

#define MAX_BYTES ((uint64_t)16 << 20)
#define HEADERS_MAX ((size_t)128 << 10)
#define CONNECT_MS 15000
#define IDLE_MS 120000

/* --- curl's callbacks ----------------------------------------------------- */

/* The value of a header line "name: value\r\n", cleaned. */
static bool
header_value(
    const char *line, size_t len, const char *name, char *dst, size_t size)
{
	size_t n = strlen(name);

	if (len <= n || line[n] != ':' || strncasecmp(line, name, n) != 0)
		return false;
	line += n + 1;
	len -= n + 1;
	while (len > 0 && (*line == ' ' || *line == '\t')) {
		line++;
		len--;
	}
	while (len > 0 && strchr(" \t\r\n", line[len - 1]) != NULL)
		len--;
	(void)text_escape_to(dst, size, line, len);
	return true;
}

static size_t
on_header(char *p, size_t size, size_t n, void *ctx)
{
	struct http_call *c = ctx;
	struct http_reply *r = &c->reply;
	size_t len = size * n;
	char ms[32];

	c->moved_ms = loop_now_ms();
	c->header_bytes += len;
	if (c->header_bytes > HEADERS_MAX) {
		fault_set(&r->fault, FAULT_TOOLARGE,
		    "the reply's headers are over %zu bytes", HEADERS_MAX);
		return 0;
	}
	if (len > 5 && strncmp(p, "HTTP/", 5) == 0) {
		/* A new reply, after "100 Continue" or a proxy's. */
		r->retry_after[0] = r->content_type[0] = r->location[0] = '\0';
	} else if (header_value(p, len, "retry-after-ms", ms, sizeof ms)) {
		if (r->retry_after[0] == '\0' && ms[0] != '\0' &&
		    strlen(ms) < 12 && ms[strspn(ms, "0123456789")] == '\0')
			(void)snprintf(r->retry_after, sizeof r->retry_after,
			    "%.3f", strtod(ms, NULL) / 1000);
	} else {
		(void)(header_value(p, len, "retry-after", r->retry_after,
			   sizeof r->retry_after) ||
		    header_value(p, len, "content-type", r->content_type,
			sizeof r->content_type) ||
		    header_value(
			p, len, "location", r->location, sizeof r->location));
	}
	return len;
}

static size_t
on_write(char *p, size_t size, size_t n, void *ctx)
{
	struct http_call *c = ctx;
	struct http_reply *r = &c->reply;
	size_t len = size * n;

	if (c->cancelled)
		return CURL_WRITEFUNC_ERROR;
	c->moved_ms = loop_now_ms();
	r->bytes += len;
	if (r->bytes > c->q.max_bytes) {
		fault_set(&r->fault, FAULT_TOOLARGE,
		    "the reply is over %llu bytes",
		    (unsigned long long)c->q.max_bytes);
		return CURL_WRITEFUNC_ERROR;
	}
	(void)curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &r->status);
	if (c->q.on_data != NULL &&
	    c->q.on_data(c->q.ctx, r->status, r->content_type, p, len) != 0) {
		fault_set(&r->fault, FAULT_CANCELLED, "ended by its receiver");
		return CURL_WRITEFUNC_ERROR;
	}
	return len;
}

/* A slow upload is no silence. */
static int
on_progress(void *ctx, curl_off_t dl_total unused_arg, curl_off_t dl,
    curl_off_t ul_total unused_arg, curl_off_t ul)
{
	struct http_call *c = ctx;

	if (dl + ul != c->moved)
		c->moved_ms = loop_now_ms();
	c->moved = dl + ul;
	return c->cancelled;
}

/* --- options -------------------------------------------------------------- */

static const char *
env_either(const char *a, const char *b)
{
	const char *v = getenv(a);

	if (v == NULL || v[0] == '\0')
		v = getenv(b);
	return v != NULL ? v : "";
}

static CURLcode
set_transfer(struct http_call *c)
{
	CURLcode r = CURLE_OK;

#define SET(option, value) \
	if (r == CURLE_OK) \
	r = curl_easy_setopt(c->easy, CURLOPT_##option, value)
	SET(PRIVATE, c);
	SET(ERRORBUFFER, c->error);
	SET(NOSIGNAL, 1L);
	SET(WRITEFUNCTION, on_write);
	SET(WRITEDATA, c);
	SET(HEADERFUNCTION, on_header);
	SET(HEADERDATA, c);
	SET(XFERINFOFUNCTION, on_progress);
	SET(XFERINFODATA, c);
	SET(NOPROGRESS, 0L);
	SET(FOLLOWLOCATION, 0L);
	SET(HTTP_CONTENT_DECODING, 0L);
	SET(CONNECTTIMEOUT_MS, (long)c->q.connect_ms);
	SET(TIMEOUT_MS, (long)c->q.total_ms);
	SET(USERAGENT, "foray/" FORAY_VERSION);
	return r;
}

/* One connection for all, where the handshake says that it can be. Without one
 * (http) libcurl would learn it from the first reply, and all other calls would
 * wait until that has come to its end. */
static CURLcode
set_version(struct http_call *c, const struct http_request *q)
{
	bool tls = strncasecmp(q->url, "https:", 6) == 0;
	CURLcode r = CURLE_OK;

	SET(HTTP_VERSION,
	    (long)(tls ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
	SET(PIPEWAIT, (long)tls);
	return r;
}

/* The last word on where a connection goes: after the resolver, before the
 * first packet. */
static curl_socket_t
open_public(void *ctx, curlsocktype purpose unused_arg, struct curl_sockaddr *a)
{
	struct http_call *c = ctx;

	if (!address_is_public(&a->addr)) {
		fault_set(&c->reply.fault, FAULT_REQUEST,
		    "the name leads to an address that is not public");
		return CURL_SOCKET_BAD;
	}
	return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

static CURLcode
set_peer(struct http_call *c, const struct http_request *q)
{
	const char *proxy = "", *cert = getenv("SSL_CERT_FILE");
	CURLcode r = CURLE_OK;

	if (strncasecmp(q->url, "https:", 6) == 0 && q->resolve == NULL &&
	    !q->public_only)
		proxy = env_either("https_proxy", "HTTPS_PROXY");
	SET(URL, q->url);
	SET(PROTOCOLS_STR, "http,https");
	SET(PROXY, proxy);
	SET(SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(SSL_VERIFYPEER, 1L);
	SET(SSL_VERIFYHOST, 2L);
	if (q->public_only) {
		SET(OPENSOCKETFUNCTION, open_public);
		SET(OPENSOCKETDATA, c);
		SET(FRESH_CONNECT, 1L);
		SET(FORBID_REUSE, 1L);
	}
	if (cert != NULL && cert[0] != '\0')
		SET(CAINFO, cert);
	if (q->resolve != NULL) {
		c->resolve = curl_slist_append(NULL, q->resolve);
		if (c->resolve == NULL)
			return CURLE_OUT_OF_MEMORY;
		SET(RESOLVE, c->resolve);
	}
	return r;
}

static CURLcode
set_message(struct http_call *c, const struct http_request *q)
{
	CURLcode r = CURLE_OK;

	if (q->taken == NULL && q->body != NULL) {
		c->body = xmalloc(q->body_len + 1);
		memcpy(c->body, q->body, q->body_len);
	}
	if (c->body != NULL) {
		SET(POSTFIELDSIZE_LARGE, (curl_off_t)q->body_len);
		SET(POSTFIELDS, (char *)c->body);
	}
	if (q->method != NULL)
		SET(CUSTOMREQUEST, q->method);
	SET(HTTPHEADER, c->headers);
	return r;
#undef SET
}

static int
copy_headers(struct http_call *c, const struct http_request *q, struct err *e)
{
	struct curl_slist *more;
	const char *s;

	for (size_t i = 0; q->headers != NULL && i < q->headers->n; i++) {
		for (s = q->headers->v[i]; *s != '\0'; s++)
			if ((unsigned char)*s < 0x20 || *s == 0x7f)
				return err_set(e, ERR_USAGE,
				    "header %zu of the request holds a control "
				    "character",
				    i + 1);
		more = curl_slist_append(c->headers, q->headers->v[i]);
		if (more == NULL)
			fatal("out of memory (headers)");
		c->headers = more;
	}
	/* No waiting for "100 Continue". */
	if ((more = curl_slist_append(c->headers, "Expect:")) == NULL)
		fatal("out of memory (headers)");
	c->headers = more;
	return 0;
}

int
http_call_create(
    const struct http_request *q, struct http_call **ret, struct err *e)
{
	struct http_call *c = xcalloc(1, sizeof *c);
	int r;

	c->q = *q;
	c->body = q->taken;
	if (c->q.max_bytes == 0)
		c->q.max_bytes = MAX_BYTES;
	if (c->q.connect_ms == 0)
		c->q.connect_ms = CONNECT_MS;
	if (c->q.idle_ms == 0)
		c->q.idle_ms = IDLE_MS;
	c->moved_ms = loop_now_ms();
	if ((r = copy_headers(c, q, e)) < 0) {
		http_call_free(c);
		return r;
	}
	c->easy = curl_easy_init();
	if (c->easy == NULL || set_transfer(c) != CURLE_OK ||
	    set_version(c, q) != CURLE_OK || set_peer(c, q) != CURLE_OK ||
	    set_message(c, q) != CURLE_OK) {
		http_call_free(c);
		return err_set(e, ERR_MODEL, "libcurl refuses the request");
	}
	*ret = c;
	return 0;
}

void
http_call_free(struct http_call *c)
{
	curl_easy_cleanup(c->easy);
	for (struct curl_slist *s = c->headers; s != NULL; s = s->next)
		explicit_bzero(s->data, strlen(s->data));
	curl_slist_free_all(c->headers);
	curl_slist_free_all(c->resolve);
	free(c->body);
	free(c);
}

/* --- the end -------------------------------------------------------------- */

static uint64_t
info_ms(CURL *easy, CURLINFO what)
{
	curl_off_t us = 0;

	(void)curl_easy_getinfo(easy, what, &us);
	return us > 0 ? (uint64_t)us / 1000 : 0;
}

void
http_call_result(struct http_call *c, CURLcode code, struct http_reply *r)
{
	(void)curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &r->status);
	r->connect_ms = info_ms(c->easy, CURLINFO_CONNECT_TIME_T);
	r->first_ms = info_ms(c->easy, CURLINFO_STARTTRANSFER_TIME_T);
	r->total_ms = info_ms(c->easy, CURLINFO_TOTAL_TIME_T);
	if (r->fault.kind == FAULT_NONE)
		fault_from_curl(&r->fault, (int)code, c->error);
	/* Between the reply's status and its end. */
	if (r->fault.kind == FAULT_NETWORK && r->status != 0)
		r->fault.kind = FAULT_BROKEN;
	r->fault.status = r->status;
}
