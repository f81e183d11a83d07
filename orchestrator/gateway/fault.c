#include "common/compat.h"

#include <curl/curl.h>

#include <ctype.h>
#include <inttypes.h>

#include "common/text.h"
#include "orchestrator/gateway/fault.h"

#define SECRET_MIN 4 /* a shorter piece tells nothing */

static const struct {
	const char *name;
	bool retryable;
} kinds[] = {
	[FAULT_NONE] = { "none", false },
	[FAULT_RATE] = { "rate_limited", true },
	[FAULT_OVERLOAD] = { "overloaded", true },
	[FAULT_SERVER] = { "server_error", true },
	[FAULT_NETWORK] = { "network", true },
	[FAULT_BROKEN] = { "broken_stream", true },
	[FAULT_OVERFLOW] = { "context_overflow", false },
	[FAULT_OUTPUT] = { "output_limit", false },
	[FAULT_QUOTA] = { "quota_exhausted", false },
	[FAULT_AUTH] = { "auth", false },
	[FAULT_FILTER] = { "content_filter", false },
	[FAULT_NOMODEL] = { "no_such_model", false },
	[FAULT_REQUEST] = { "bad_request", false },
	[FAULT_TLS] = { "tls", false },
	[FAULT_TOOLARGE] = { "too_large", false },
	[FAULT_CANCELLED] = { "cancelled", false },
};

const char *
fault_name(enum fault_kind k)
{
	return (size_t)k < nitems(kinds) ? kinds[k].name : "unknown";
}

bool
fault_retryable(enum fault_kind k)
{
	return (size_t)k < nitems(kinds) && kinds[k].retryable;
}

void
fault_set(struct fault *f, enum fault_kind k, const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	f->kind = k;
	(void)text_escape_to(f->text, sizeof f->text, text, strlen(text));
}

/* How often JSON in JSON in JSON writes a backslash before one character. */
#define ESCAPES_MAX 8

/* Is s, up to end, "uXXXX" for c? */
static bool
is_unicode_escape(const char *s, const char *end, char c)
{
	char hex[5] = "", want[5];

	if (end - s < 5 || s[0] != 'u')
		return false;
	memcpy(hex, s + 1, 4);
	(void)snprintf(
	    want, sizeof want, "%04x", (unsigned)tolower((unsigned char)c));
	if (strcasecmp(hex, want) == 0)
		return true;
	(void)snprintf(
	    want, sizeof want, "%04x", (unsigned)toupper((unsigned char)c));
	return strcasecmp(hex, want) == 0;
}

/* Bytes that the beginning of secret takes at s; *ret_n: how much of it. */
static size_t
match(const char *s, const char *end, const char *secret, size_t *ret_n)
{
	const char *at = s, *c = secret;
	size_t run, own;

	while (*c != '\0' && at < end) {
		for (run = 0; at + run < end && at[run] == '\\';)
			if (++run == ESCAPES_MAX)
				break;
		own = strspn(c, "\\");
		if (own > 0) {
			if (run < own && at + run < end)
				break;
			c += run < own ? run : own;
			at += run;
			continue;
		}
		if (at + run == end) {
			at += run; /* cut within an escape */
			break;
		}
		if (run > 0 && is_unicode_escape(at + run, end, *c))
			at += run + 5;
		else if (tolower((unsigned char)at[run]) ==
		    tolower((unsigned char)*c))
			at += run + 1;
		else
			break;
		c++;
	}
	*ret_n = (size_t)(c - secret);
	return (size_t)(at - s);
}

/* cut: the end of text may be the beginning of the secret. */
static bool
scrub(char *text, size_t len, const char *secret, bool cut)
{
	const char *end = text + len;
	size_t whole = secret != NULL ? strlen(secret) : 0, bytes, n;
	bool any = false;

	for (size_t i = 0; whole > 0 && i < len; i++) {
		bytes = match(text + i, end, secret, &n);
		if (n < whole && (!cut || n < SECRET_MIN || i + bytes < len))
			continue;
		memset(text + i, '*', bytes);
		i += bytes - 1;
		any = true;
	}
	return any;
}

bool
fault_scrub_whole(char *text, size_t len, const char *secret)
{
	return scrub(text, len, secret, false);
}

void
fault_scrub(char *text, const char *secret)
{
	(void)scrub(text, strlen(text), secret, true);
	if (text_ends(text, "..."))
		(void)scrub(text, strlen(text) - 3, secret, true);
}

uint64_t
fault_wait_most(uint64_t max_wait_ms)
{
	return max_wait_ms < UINT64_MAX / FAULT_WAIT_TIMES
	    ? max_wait_ms * FAULT_WAIT_TIMES
	    : UINT64_MAX;
}

char *
fault_wait_words(uint64_t ms, char *dst, size_t size)
{
	static const struct {
		uint64_t s;
		const char *unit;
	} units[] = {
		{ 86400, "days" },
		{ 3600, "hours" },
		{ 60, "minutes" },
	};
	uint64_t s = ms / 1000 + (ms % 1000 > 0);

	for (size_t i = 0; i < nitems(units); i++) {
		if (s < 2 * units[i].s)
			continue;
		(void)snprintf(dst, size, "%" PRIu64 " %s",
		    s / units[i].s + (s % units[i].s >= units[i].s / 2),
		    units[i].unit);
		return dst;
	}
	(void)snprintf(dst, size, "%" PRIu64 " s", s);
	return dst;
}

static enum fault_kind
curl_kind(CURLcode code)
{
	switch (code) {
	case CURLE_OK:
		return FAULT_NONE;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
	case CURLE_SSL_INVALIDCERTSTATUS:
	case CURLE_SSL_CERTPROBLEM:
		return FAULT_TLS;
	case CURLE_URL_MALFORMAT:
		return FAULT_REQUEST;
	case CURLE_UNSUPPORTED_PROTOCOL: /* the URL's was checked: HTTP/0.9 */
	case CURLE_PARTIAL_FILE:
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_BAD_CONTENT_ENCODING:
	case CURLE_TOO_MANY_REDIRECTS:
		return FAULT_BROKEN;
	case CURLE_FILESIZE_EXCEEDED:
		return FAULT_TOOLARGE;
	case CURLE_ABORTED_BY_CALLBACK:
	case CURLE_WRITE_ERROR:
		return FAULT_CANCELLED;
	default:
		return FAULT_NETWORK;
	}
}

void
fault_from_curl(struct fault *f, int code, const char *text)
{
	const char *what = curl_easy_strerror((CURLcode)code);

	*f = (struct fault){ 0 };
	if (code == CURLE_OK)
		return;
	if (text == NULL || text[0] == '\0' || strstr(what, text) != NULL)
		fault_set(f, curl_kind((CURLcode)code), "%s", what);
	else if (strstr(text, what) != NULL)
		fault_set(f, curl_kind((CURLcode)code), "%s", text);
	else
		fault_set(f, curl_kind((CURLcode)code), "%s (%s)", text, what);
}
