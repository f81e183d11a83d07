#include "common/compat.h"

#include <arpa/inet.h>
#include <curl/curl.h>

#include "common/text.h"
#include "orchestrator/gateway/http.h"

struct url {
	char *scheme, *host, *user, *password;
};

static void
url_clear(struct url *u)
{
	curl_free(u->scheme);
	curl_free(u->host);
	curl_free(u->user);
	curl_free(u->password);
}

/* curl's own reading of it, so that there is only one. */
static bool
url_read(const char *text, struct url *ret)
{
	CURLU *h = curl_url();
	bool ok;

	*ret = (struct url){ 0 };
	if (h == NULL)
		return false;
	ok = curl_url_set(h, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME) ==
		CURLUE_OK &&
	    curl_url_get(h, CURLUPART_SCHEME, &ret->scheme, 0) == CURLUE_OK &&
	    curl_url_get(h, CURLUPART_HOST, &ret->host, 0) == CURLUE_OK;
	if (ok) {
		(void)curl_url_get(h, CURLUPART_USER, &ret->user, 0);
		(void)curl_url_get(h, CURLUPART_PASSWORD, &ret->password, 0);
	}
	curl_url_cleanup(h);
	return ok;
}

static bool
host_loopback(const char *host)
{
	struct in_addr a;

	return strcasecmp(host, "localhost") == 0 ||
	    strcmp(host, "[::1]") == 0 ||
	    (inet_pton(AF_INET, host, &a) == 1 && ntohl(a.s_addr) >> 24 == 127);
}

bool
http_url_loopback(const char *url)
{
	struct url u;
	bool r = url_read(url, &u) && host_loopback(u.host);

	url_clear(&u);
	return r;
}

char *
http_url_host(const char *url)
{
	struct url u;
	char *host = NULL;
	struct buf b;

	buf_init(&b, 1024);
	if (url_read(url, &u) && text_escape(&b, u.host, strlen(u.host)) == 0)
		host = buf_detach(&b, NULL);
	buf_clear(&b);
	url_clear(&u);
	return host;
}

int
http_url_check(const char *url, bool plain, struct err *e)
{
	struct url u;
	int r = 0;

	if (!url_read(url, &u))
		r = err_set(e, ERR_USAGE, "this is no URL that can be read");
	else if (u.user != NULL || u.password != NULL)
		r = err_set(
		    e, ERR_USAGE, "a URL may not hold a name or password");
	else if (strcmp(u.scheme, "https") != 0 &&
	    strcmp(u.scheme, "http") != 0)
		r = err_set(e, ERR_USAGE, "%.200s: only https and http: %.20s",
		    url, u.scheme);
	else if (strcmp(u.scheme, "http") == 0 && !plain &&
	    !host_loopback(u.host))
		r = err_set(e, ERR_USAGE,
		    "%.200s: http sends everything readable for others; https "
		    "is wanted for a host that is not this machine",
		    url);
	url_clear(&u);
	return r;
}
