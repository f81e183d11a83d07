/* Heads of requests to the proxy, HTTP and SOCKS, and bodies after them: what
 * is taken goes on as one request to one host, whatever the bytes were. */
#include "common/compat.h"

#include <assert.h>

#include "orchestrator/egress/head.h"
#include "orchestrator/egress/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_target(const struct target *t)
{
	char text[TARGET_TEXT];
	struct target again;

	target_text(t, text);
	assert(target_parse(text, strlen(text), 0, &again, NULL) == 0);
	assert(target_eq(t, &again));
	assert(strpbrk(text, "/@ \r\n\t%\\") == NULL);
}

/* What is sent on is read again as a request to the same host. */
static void
check_out(const struct head *h)
{
	char where[TARGET_TEXT];
	const char *out = buf_str(&h->out), *path = strchr(out, ' ');
	struct head again;
	struct buf b;

	assert(path != NULL && path[1] == '/');
	assert(strlen(out) == h->out.len);
	target_text(&h->target, where);
	buf_init(&b, BUF_NOMAX);
	(void)buf_printf(
	    &b, "%.*s http://%s%s", (int)(path - out), out, where, path + 1);
	if (b.len < HEAD_MAX) {
		assert(
		    head_http(buf_str(&b), b.len, &again, NULL) == HEAD_DONE);
		assert(again.used == b.len);
		assert(target_eq(&again.target, &h->target));
		assert(again.body == h->body && again.length == h->length);
		head_clear(&again);
	}
	buf_clear(&b);
}

/* The end of a body does not depend on how it came. */
static void
check_body(const struct head *h, const char *p, size_t n)
{
	struct body whole, parts;
	size_t all, at = 0, k = 1;

	body_init(&whole, h);
	body_init(&parts, h);
	all = body_take(&whole, p, n);
	assert(all <= n);
	while (at < n && k == 1 && !parts.done && !parts.bad) {
		k = body_take(&parts, p + at, 1);
		at += k;
	}
	assert(at == all || h->body == BODY_NONE);
	assert(whole.done == parts.done && whole.bad == parts.bad);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data;
	size_t len = size < HEAD_MAX ? size : HEAD_MAX, used;
	struct head h;
	struct err e;
	char *rule;
	struct net_rules r = { 0 };

	if (len > 0 && data[0] == 5) {
		(void)head_socks_hello(p, len, &used);
		if (head_socks(p, len, &h, &e) == HEAD_DONE) {
			assert(h.used <= len);
			check_target(&h.target);
		}
		return 0;
	}
	if (head_http(p, len, &h, &e) == HEAD_DONE) {
		assert(h.used <= len);
		check_target(&h.target);
		if (h.kind == HEAD_HTTP)
			check_out(&h);
		check_body(&h, p + h.used, size - h.used);
		head_clear(&h);
	}
	rule = strndup(p, len);
	if (rule != NULL && net_rules_add(&r, rule, &e) == 0)
		check_target(&r.v[0].host);
	net_rules_clear(&r);
	free(rule);
	return 0;
}
