/* Which hosts are allowed: rules, targets, addresses. */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "common/text.h"
#include "orchestrator/egress/advice.h"
#include "orchestrator/egress/rules.h"

static struct net_rules
make(const char *const *list)
{
	struct net_rules r = { 0 };
	struct err e;

	for (; *list != NULL; list++)
		if (net_rules_add(&r, *list, &e) < 0)
			fail_msg("%s", e.text);
	return r;
}

static bool
allowed(const struct net_rules *r, const char *where)
{
	struct target t;
	struct err e;

	if (target_parse(where, strlen(where), 0, &t, &e) < 0)
		return false;
	return net_rules_match(r, &t) != NULL;
}

static void
test_match(void **state unused_arg)
{
	static const char *const list[] = { "pypi.org", "*.npmjs.org:443",
		"10.1.2.3:8080", "[FD00::1]:81", "192.0.2.7", "Example.COM.:99",
		"xn--bcher-kva.example", NULL };
	static const char *const yes[] = { "pypi.org:80", "pypi.org:443",
		"PyPI.Org.:443", "www.npmjs.org:443", "a.b.npmjs.org:443",
		"10.1.2.3:8080", "[fd00::1]:81", "[fd00:0:0::1]:81",
		"192.0.2.7:80", "[::ffff:192.0.2.7]:443", "example.com:99",
		"XN--BCHER-KVA.example:443", NULL };
	static const char *const no[] = { "pypi.org:8080", "www.pypi.org:443",
		"npmjs.org:443", "www.npmjs.org:80", "evilnpmjs.org:443",
		"npmjs.org.evil.org:443", "10.1.2.3:80", "10.1.2.3:8081",
		"10.1.2.4:8080", "[fd00::2]:81", "167838211:8080",
		"0x0a010203:8080", "10.1.515:8080", "012.1.2.3:8080",
		"192.0.2.7:8080", "pypi.org", "pypi.org:", "pypi.org:0",
		"pypi.org:65536", "pypi.org:443:443", "pypi.org@evil.org:443",
		"pypi.org..:443", ".pypi.org:443", "pypi.org :443",
		"pypi.org\t:443", "pypi.org%2e:443", "fd00::1:81", ":443", "",
		"[pypi.org]:443", "[10.1.2.3]:8080", "[fd00::1%eth0]:81",
		NULL };
	struct net_rules r = make(list);
	size_t i;

	for (i = 0; yes[i] != NULL; i++)
		if (!allowed(&r, yes[i]))
			fail_msg("%s is refused", yes[i]);
	for (i = 0; no[i] != NULL; i++)
		if (allowed(&r, no[i]))
			fail_msg("%s is allowed", no[i]);
	net_rules_clear(&r);
}

/* Each names the rule and how to write one. */
static void
test_bad_rules(void **state unused_arg)
{
	static const char *const bad[] = { "", "*", "*:443", "https://pypi.org",
		"pypi.org/simple", "10.0.0.0/8", "*.*.org", "pypi.*",
		"*pypi.org", "a*.org", "*.10.1.2.3", "pypi.org:", "pypi.org:0",
		"pypi.org:99999", "pypi.org:https", "me@pypi.org",
		"b\xc3\xbc.de", "::1", "fd00::1:80", "127.1", "0x7f000001",
		"2130706433", "a..b", "-a.org", "a_b-.org", "pypi org",
		"pypi.org:443 ", "[::1", "*.", "\n", NULL };
	struct net_rules r = { 0 };
	struct err e;
	size_t i;

	for (i = 0; bad[i] != NULL; i++) {
		e.text[0] = '\0';
		if (net_rules_add(&r, bad[i], &e) == 0)
			fail_msg("\"%s\" is taken", bad[i]);
		assert_int_equal(e.code, ERR_USAGE);
		assert_null(strstr(e.text, "network.allow"));
		assert_non_null(strstr(e.text, "*.npmjs.org:443"));
		if (bad[i][0] > ' ' && (unsigned char)bad[i][1] < 0x80)
			assert_non_null(strstr(e.text, bad[i]));
	}
	assert_int_equal(r.n, 0);
	net_rules_clear(&r);
}

static bool
reached(const struct net_rules *r, const char *where)
{
	struct target t;

	assert_int_equal(target_parse(where, strlen(where), 80, &t, NULL), 0);
	return net_rules_address(r, &t);
}

/* What a name may lead to. */
static void
test_addresses(void **state unused_arg)
{
	static const char *const list[] = { "pypi.org", "*.corp.example:8080",
		"10.1.2.3:8080", "127.0.0.1:81", NULL };
	static const char *const no[] = { "127.0.0.1", "127.0.0.2:81",
		"169.254.169.254", "10.1.2.3", "10.1.2.4:8080", "192.168.1.1",
		"172.16.0.1", "100.64.0.1", "0.0.0.0", "224.0.0.1",
		"255.255.255.255", "[::1]", "[::]", "[fe80::1]", "[fd00::1]",
		"[ff02::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]",
		"[2002:7f00:1::]", NULL };
	static const char *const yes[] = { "93.184.216.34", "10.1.2.3:8080",
		"127.0.0.1:81", "[::ffff:10.1.2.3]:8080",
		"[2606:2800:220:1::1]", NULL };
	struct net_rules r = make(list);
	size_t i;

	for (i = 0; no[i] != NULL; i++)
		if (reached(&r, no[i]))
			fail_msg("%s is reached", no[i]);
	for (i = 0; yes[i] != NULL; i++)
		if (!reached(&r, yes[i]))
			fail_msg("%s is not reached", yes[i]);
	net_rules_clear(&r);
}

static int
settings(const char *text, struct net_rules *r, struct err *e)
{
	json_t *j;
	int rc;

	assert_int_equal(json_parse(text, strlen(text), 4096, &j, e), 0);
	rc = net_rules_settings(r, j, e);
	json_decref(j);
	return rc;
}

static void
test_settings(void **state unused_arg)
{
	struct net_rules r = { 0 };
	struct err e;

	assert_int_equal(net_rules_settings(&r, NULL, &e), 0);
	assert_int_equal(settings("{\"fetch\":[]}", &r, &e), 0);
	assert_int_equal(settings("{\"allow\":[]}", &r, &e), 0);
	assert_int_equal(r.n, 0);
	assert_int_equal(
	    settings("{\"allow\":[\"a.org\",\"*.b.org:1\"]}", &r, &e), 0);
	assert_int_equal(r.n, 2);
	assert_int_equal(settings("{\"allow\":\"a.org\"}", &r, &e), ERR_SYNTAX);
	assert_int_equal(settings("{\"allow\":[1]}", &r, &e), ERR_SYNTAX);
	assert_int_equal(
	    settings("{\"allow\":[\"http://a\"]}", &r, &e), ERR_SYNTAX);
	assert_non_null(strstr(e.text, "http://a"));
	net_rules_clear(&r);
}

static void
test_limit(void **state unused_arg)
{
	struct net_rules r = { 0 };
	struct err e;
	size_t i;

	for (i = 0; i < NET_RULES_MAX; i++)
		assert_int_equal(net_rules_add(&r, "a.org", &e), 0);
	assert_int_equal(net_rules_add(&r, "a.org", &e), ERR_USAGE);
	net_rules_clear(&r);
}

static void
test_own(void **state unused_arg)
{
	static const struct {
		const char *rules[4], *own, *name;
	} cases[] = {
		{ { "pypi.org", "10.1.2.3:80" }, NULL, "localhost" },
		{ { "127.0.0.1:80" },
		    "localhost,127.0.0.2,127.0.1.1,0.0.0.0,::1", "localhost" },
		{ { "127.9.9.9" },
		    "localhost,127.0.0.1,127.0.0.2,127.0.1.1,0.0.0.0,::1",
		    "localhost" },
		{ { "[::1]:80", "localhost:80" },
		    "127.0.0.1,127.0.0.2,127.0.1.1,0.0.0.0,127.0.0.0/8",
		    "0.0.0.0" },
		{ { "*.localhost:80", "0.0.0.0:80" },
		    "127.0.0.1,127.0.0.2,127.0.1.1,::1,127.0.0.0/8",
		    "0.0.0.0" },
	};
	struct net_rules r;
	char *own;
	size_t i;

	for (i = 0; i < nitems(cases); i++) {
		r = make(cases[i].rules);
		own = net_rules_own(&r);
		if (cases[i].own == NULL)
			assert_null(own);
		else
			assert_string_equal(own, cases[i].own);
		assert_string_equal(net_rules_own_name(&r), cases[i].name);
		free(own);
		net_rules_clear(&r);
	}
}

static void
test_advice(void **state unused_arg)
{
	static const struct {
		const char *rules[3], *want, *addrs[4], *said;
	} cases[] = {
		{ { NULL }, "pypi.org:443", { NULL }, "--allow-net pypi.org" },
		{ { "pypi.org" }, "pypi.org:81", { NULL },
		    "--allow-net pypi.org:81" },
		{ { "a.b" }, "localhost:80", { NULL },
		    "--allow-net localhost:80 --allow-net 127.0.0.1:80" },
		{ { "127.0.0.1:8" }, "localhost:8", { NULL },
		    "--allow-net localhost:8" },
		{ { "a.b" }, "a.b:443", { "10.1.2.3:443", "[fd00::1]:443" },
		    "--allow-net 10.1.2.3:443 --allow-net '[fd00::1]:443'" },
		{ { "a.b", "10.1.2.3" }, "a.b:443",
		    { "10.1.2.3:443", "[fd00::1]:443" },
		    "--allow-net '[fd00::1]:443'" },
		{ { NULL }, "[2606:4700::1]:80", { NULL },
		    "--allow-net '[2606:4700::1]'" },
	};
	struct target want, addrs[4];
	struct strv missing = { 0 };
	struct net_rules r;
	struct buf b;
	size_t i, n;

	for (i = 0; i < nitems(cases); i++) {
		r = make(cases[i].rules);
		assert_int_equal(target_parse(cases[i].want,
				     strlen(cases[i].want), 0, &want, NULL),
		    0);
		for (n = 0; cases[i].addrs[n] != NULL; n++)
			assert_int_equal(
			    target_parse(cases[i].addrs[n],
				strlen(cases[i].addrs[n]), 0, &addrs[n], NULL),
			    0);
		advice_missing(&r, &want, addrs, n, &missing);
		buf_init(&b, 4096);
		advice_options(&missing, &b);
		assert_string_equal(buf_str(&b), cases[i].said);
		/* followed, it is enough */
		assert_int_equal(net_rules_strv(&r, &missing, NULL), 0);
		assert_non_null(net_rules_match(&r, &want));
		while (n > 0)
			assert_true(net_rules_address(&r, &addrs[--n]));
		buf_clear(&b);
		strv_clear(&missing);
		net_rules_clear(&r);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_advice),
		cmocka_unit_test(test_bad_rules),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
