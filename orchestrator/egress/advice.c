#include "common/compat.h"

#include <arpa/inet.h>

#include "orchestrator/egress/advice.h"

/* As short as a person would write it. exact: with its port in any case. */
static void
add_rule(const struct target *t, bool exact, struct strv *ret)
{
	char text[TARGET_TEXT];

	if (!exact && (t->port == 80 || t->port == 443))
		(void)snprintf(text, sizeof text,
		    t->kind == TARGET_IP6 ? "[%s]" : "%s", t->host);
	else
		target_text(t, text);
	if (!strv_has(ret, text))
		strv_add(ret, text);
}

void
advice_missing(const struct net_rules *r, const struct target *t,
    const struct target *addrs, size_t n, struct strv *ret)
{
	static const unsigned char loopback[4] = { 127, 0, 0, 1 };
	struct target own;
	size_t i;

	strv_clear(ret);
	if (net_rules_match(r, t) == NULL)
		add_rule(t, target_is_own(t), ret);
	/* Where this one leads to is known. */
	if (n == 0 && t->kind == TARGET_NAME &&
	    strcmp(t->host, "localhost") == 0) {
		target_from_addr(loopback, sizeof loopback, &own);
		own.port = t->port;
		addrs = &own;
		n = 1;
	}
	for (i = 0; i < n && i < ADVICE_ADDRS; i++)
		if (!net_rules_address(r, &addrs[i]))
			add_rule(&addrs[i], true, ret);
}

void
advice_options(const struct strv *missing, struct buf *ret)
{
	const char *text, *quote;
	size_t i;

	for (i = 0; i < missing->n; i++) {
		text = missing->v[i];
		quote = strchr(text, '[') != NULL ? "'" : "";
		(void)buf_printf(ret, "%s--allow-net %s%s%s", i > 0 ? " " : "",
		    quote, text, quote);
	}
}
