#include "common/compat.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "common/text.h"
#include "orchestrator/egress/target.h"

#define NAME_MAX_LEN 253
#define LABEL_MAX 63

static int
bad_host(const char *s, size_t len, struct err *e)
{
	char shown[96];

	(void)text_escape_to(shown, sizeof shown, s, len);
	return err_set(e, ERR_SYNTAX,
	    "\"%s\" is neither a host name nor an IP address", shown);
}

static bool
is_label(const char *s, size_t len)
{
	size_t i;

	if (len == 0 || len > LABEL_MAX || s[0] == '-' || s[len - 1] == '-')
		return false;
	for (i = 0; i < len; i++)
		if (!((s[i] >= 'a' && s[i] <= 'z') ||
			(s[i] >= '0' && s[i] <= '9') || s[i] == '-' ||
			s[i] == '_'))
			return false;
	return true;
}

/* Some resolvers take such a last label for a number, and all for IPv4. */
static bool
is_number(const char *label)
{
	if (label[0] == '0' && label[1] == 'x')
		return true;
	return label[strspn(label, "0123456789")] == '\0';
}

static bool
is_name(const char *s)
{
	const char *dot;

	for (; (dot = strchr(s, '.')) != NULL; s = dot + 1)
		if (!is_label(s, (size_t)(dot - s)))
			return false;
	return is_label(s, strlen(s)) && !is_number(s);
}

void
target_from_addr(const void *addr, size_t n, struct target *ret)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	const unsigned char *p = addr;

	if (n == 16 && memcmp(p, mapped, sizeof mapped) == 0) {
		p += sizeof mapped;
		n = 4;
	}
	memset(ret->addr, 0, sizeof ret->addr);
	memcpy(ret->addr, p, n);
	ret->kind = n == 4 ? TARGET_IP4 : TARGET_IP6;
	(void)inet_ntop(n == 4 ? AF_INET : AF_INET6, ret->addr, ret->host,
	    sizeof ret->host);
}

int
target_host(const char *s, size_t len, struct target *ret, struct err *e)
{
	unsigned char addr[16];
	char host[NAME_MAX_LEN + 2];
	size_t i;

	if (len >= 2 && s[0] == '[' && s[len - 1] == ']') {
		if (memchr(s, ':', len) == NULL)
			return bad_host(s, len, e);
		s++;
		len -= 2;
	}
	if (len == 0 || len > NAME_MAX_LEN + 1 || memchr(s, '\0', len) != NULL)
		return bad_host(s, len, e);
	for (i = 0; i < len; i++)
		host[i] =
		    s[i] >= 'A' && s[i] <= 'Z' ? (char)(s[i] | 0x20) : s[i];
	host[len] = '\0';
	if (inet_pton(AF_INET6, host, addr) == 1) {
		target_from_addr(addr, 16, ret);
		return 0;
	}
	if (inet_pton(AF_INET, host, addr) == 1) {
		target_from_addr(addr, 4, ret);
		return 0;
	}
	if (host[len - 1] == '.')
		host[--len] = '\0';
	if (len > NAME_MAX_LEN || !is_name(host))
		return bad_host(s, len, e);
	ret->kind = TARGET_NAME;
	memset(ret->addr, 0, sizeof ret->addr);
	memcpy(ret->host, host, len + 1);
	return 0;
}

static bool
read_port(const char *s, size_t len, uint16_t *ret)
{
	unsigned long n = 0;
	size_t i;

	if (len == 0 || len > 5)
		return false;
	for (i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		n = n * 10 + (unsigned long)(s[i] - '0');
	}
	if (n < 1 || n > 65535)
		return false;
	*ret = (uint16_t)n;
	return true;
}

int
target_parse(const char *s, size_t len, uint16_t default_port,
    struct target *ret, struct err *e)
{
	const char *colon = memrchr(s, ':', len), *close;
	char shown[96];
	struct target t;
	int r;

	close = memrchr(s, ']', len);
	if (colon != NULL && close != NULL && colon < close)
		colon = NULL; /* it is part of an address */
	t.port = default_port;
	if (colon != NULL &&
	    !read_port(colon + 1, len - (size_t)(colon + 1 - s), &t.port)) {
		(void)text_escape_to(shown, sizeof shown, s, len);
		return err_set(e, ERR_SYNTAX,
		    "\"%s\" has no port of 1 to 65535 after its colon", shown);
	}
	if (colon != NULL)
		len = (size_t)(colon - s);
	/* "::1:80" could be either. */
	if (memchr(s, ':', len) != NULL && s[0] != '[')
		return err_set(e, ERR_SYNTAX,
		    "an IPv6 address stands in brackets: [::1]:80");
	if ((r = target_host(s, len, &t, e)) < 0)
		return r;
	if (t.port == 0)
		return err_set(
		    e, ERR_SYNTAX, "%s: the port is missing", t.host);
	*ret = t;
	return 0;
}

bool
target_same_host(const struct target *a, const struct target *b)
{
	return a->kind == b->kind && strcmp(a->host, b->host) == 0;
}

bool
target_eq(const struct target *a, const struct target *b)
{
	return a->port == b->port && target_same_host(a, b);
}

void
target_text(const struct target *t, char dst[TARGET_TEXT])
{
	(void)snprintf(dst, TARGET_TEXT,
	    t->kind == TARGET_IP6 ? "[%s]:%u" : "%s:%u", t->host, t->port);
}

socklen_t
target_sockaddr(const struct target *t, struct sockaddr_storage *ret)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };

	memset(ret, 0, sizeof *ret);
	if (t->kind == TARGET_IP4) {
		in.sin_port = htons(t->port);
		memcpy(&in.sin_addr, t->addr, sizeof in.sin_addr);
		memcpy(ret, &in, sizeof in);
		return sizeof in;
	}
	in6.sin6_port = htons(t->port);
	memcpy(&in6.sin6_addr, t->addr, sizeof in6.sin6_addr);
	memcpy(ret, &in6, sizeof in6);
	return sizeof in6;
}

bool
target_from_sockaddr(const struct sockaddr *a, struct target *ret)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	if (a->sa_family == AF_INET) {
		memcpy(&in, a, sizeof in);
		target_from_addr(&in.sin_addr, 4, ret);
		ret->port = ntohs(in.sin_port);
		return true;
	}
	if (a->sa_family == AF_INET6) {
		memcpy(&in6, a, sizeof in6);
		target_from_addr(&in6.sin6_addr, 16, ret);
		ret->port = ntohs(in6.sin6_port);
		return true;
	}
	return false;
}
