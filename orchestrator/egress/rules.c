#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "orchestrator/egress/rules.h"
#include "orchestrator/gateway/address.h"
#include "sandbox/netns.h"

static int
bad_rule(const char *text, const char *why, struct err *e)
{
	char shown[128];

	(void)text_escape_to(shown, sizeof shown, text, strlen(text));
	return err_set(e, ERR_USAGE,
	    "\"%s\": %s (write a host as \"pypi.org\", "
	    "\"*.npmjs.org:443\" or \"10.1.2.3:8080\")",
	    shown, why);
}

/* What is wrong in ways that people are wrong; NULL: nothing of these. */
static const char *
common_mistake(const char *s)
{
	size_t i;

	if (*s == '\0')
		return "it is empty";
	for (i = 0; s[i] != '\0'; i++)
		if ((unsigned char)s[i] >= 0x80)
			return "give an international name in its ASCII form "
			       "(xn--...)";
	if (strstr(s, "://") != NULL || strchr(s, '/') != NULL)
		return "it is a URL or a network: give the host alone, without "
		       "scheme and path";
	if (strpbrk(s, ", ") != NULL)
		return "it is several: repeat the option, --allow-net a "
		       "--allow-net b, or in the settings give each a string "
		       "of its own in the list";
	if (strchr(s, '@') != NULL)
		return "a user name has no place here";
	if (strcmp(s, "*") == 0 || text_starts(s, "*:"))
		return "not everything can be allowed: name the hosts";
	if (strchr(s + 1, '*') != NULL || (*s == '*' && s[1] != '.'))
		return "a '*' can only be the first label, as in *.npmjs.org";
	return NULL;
}

int
net_rules_add(struct net_rules *r, const char *text, struct err *e)
{
	const char *why = common_mistake(text), *host = text;
	struct net_rule rule = { 0 };
	struct err own;

	if (why != NULL)
		return bad_rule(text, why, e);
	if (text_starts(host, "*.")) {
		rule.below = true;
		host += 2;
	}
	/* Ports 80 and 443 both: a number that no port has stands for them. */
	rule.web = strchr(host, ':') == NULL ||
	    (host[0] == '[' && text_ends(host, "]"));
	if (target_parse(
		host, strlen(host), rule.web ? 80 : 0, &rule.host, &own) < 0)
		return bad_rule(text, own.text, e);
	if (rule.below && rule.host.kind != TARGET_NAME)
		return bad_rule(text, "an address has no names below it", e);
	if (r->n >= NET_RULES_MAX)
		return err_set(e, ERR_USAGE, "%d hosts at most can be allowed",
		    NET_RULES_MAX);
	rule.text = xstrdup(text);
	r->v = xreallocarray(r->v, r->n + 1, sizeof *r->v);
	r->v[r->n++] = rule;
	return 0;
}

int
net_rules_settings(struct net_rules *r, const json_t *network, struct err *e)
{
	const json_t *list = json_object_get(network, "allow"), *v;
	size_t i;

	if (list == NULL)
		return 0;
	if (!json_is_array(list))
		return err_set(e, ERR_SYNTAX,
		    "network.allow is no list of hosts: [\"pypi.org\"]");
	json_array_foreach (list, i, v) {
		if (!json_is_string(v))
			return err_set(e, ERR_SYNTAX,
			    "network.allow: entry %zu is no string", i + 1);
		if (net_rules_add(r, json_string_value(v), e) < 0) {
			(void)err_prefix(e, "network.allow");
			return e != NULL ? (e->code = ERR_SYNTAX) : ERR_SYNTAX;
		}
	}
	return 0;
}

int
net_rules_strv(struct net_rules *r, const struct strv *list, struct err *e)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < list->n && rc == 0; i++)
		rc = net_rules_add(r, list->v[i], e);
	if (rc < 0)
		(void)err_prefix(e, "--allow-net");
	return rc;
}

void
net_rules_clear(struct net_rules *r)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		free(r->v[i].text);
	free(r->v);
	*r = (struct net_rules){ 0 };
}

static bool
port_fits(const struct net_rule *rule, uint16_t port)
{
	return rule->web ? port == 80 || port == 443 : port == rule->host.port;
}

static bool
host_fits(const struct net_rule *rule, const struct target *t)
{
	size_t have, want;

	if (!rule->below)
		return target_same_host(&rule->host, t);
	if (t->kind != TARGET_NAME)
		return false;
	have = strlen(t->host);
	want = strlen(rule->host.host);
	return have > want + 1 && t->host[have - want - 1] == '.' &&
	    strcmp(t->host + have - want, rule->host.host) == 0;
}

const struct net_rule *
net_rules_match(const struct net_rules *r, const struct target *t)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (port_fits(&r->v[i], t->port) && host_fits(&r->v[i], t))
			return &r->v[i];
	return NULL;
}

bool
net_rules_address(const struct net_rules *r, const struct target *addr)
{
	struct sockaddr_storage ss;

	(void)target_sockaddr(addr, &ss);
	return address_is_public((const struct sockaddr *)&ss) ||
	    net_rules_match(r, addr) != NULL;
}

/* --- whose loopback ------------------------------------------------------ */

bool
target_is_own(const struct target *t)
{
	static const unsigned char any[16], one[16] = { [15] = 1 };

	switch (t->kind) {
	case TARGET_NAME:
		return strcmp(t->host, "localhost") == 0 ||
		    text_ends(t->host, ".localhost");
	case TARGET_IP4:
		return t->addr[0] == 127 || memcmp(t->addr, any, 4) == 0;
	case TARGET_IP6:
		return memcmp(t->addr, any, 16) == 0 ||
		    memcmp(t->addr, one, 16) == 0;
	}
	return false;
}

/* Does a rule speak of this one of the own hosts, which may be a network? */
static bool
is_taken(const struct net_rules *r, const char *own, size_t len)
{
	struct target t;
	bool net = memchr(own, '/', len) != NULL;
	size_t i;

	if (!net && target_host(own, len, &t, NULL) < 0)
		return false;
	for (i = 0; i < r->n; i++)
		if (net ? r->v[i].host.kind == TARGET_IP4 &&
			    r->v[i].host.addr[0] == 127
			: target_same_host(&r->v[i].host, &t))
			return true;
	return false;
}

char *
net_rules_own(const struct net_rules *r)
{
	const char *p = NETNS_OWN;
	struct buf b;
	size_t len;

	buf_init(&b, sizeof NETNS_OWN);
	for (; *p != '\0'; p += len + (p[len] == ',')) {
		len = strcspn(p, ",");
		if (!is_taken(r, p, len))
			(void)buf_printf(
			    &b, "%s%.*s", b.len > 0 ? "," : "", (int)len, p);
	}
	if (strcmp(buf_str(&b), NETNS_OWN) != 0)
		return buf_detach(&b, NULL);
	buf_clear(&b);
	return NULL;
}

const char *
net_rules_own_name(const struct net_rules *r)
{
	return is_taken(r, "localhost", strlen("localhost")) ? "0.0.0.0"
							     : "localhost";
}
