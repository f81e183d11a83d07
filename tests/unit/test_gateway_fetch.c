/* gateway/address.c, run/fetch.c: what may be fetched, and from where. */
#include "common/compat.h"

#include <setjmp.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <netinet/in.h>
#include <sys/un.h>

#include "common/log.h"
#include "orchestrator/gateway/address.h"
#include "orchestrator/run/fetch.h"

static bool
is_public(const char *s)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };

	if (inet_pton(AF_INET, s, &in.sin_addr) == 1)
		return address_is_public((struct sockaddr *)&in);
	if (inet_pton(AF_INET6, s, &in6.sin6_addr) != 1)
		fail_msg("no address: %s", s);
	return address_is_public((struct sockaddr *)&in6);
}

static void
expect(const char *const *v, size_t n, bool want)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (is_public(v[i]) != want)
			fail_msg("%s is %spublic", v[i], want ? "not " : "");
}

/* Both ends of each range, and their neighbours. */
static void
test_special4(void **state unused_arg)
{
	static const char *const special[] = { "0.0.0.0", "0.255.255.255",
		"10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255",
		"127.0.0.0", "127.0.0.1", "127.255.255.255", "169.254.0.0",
		"169.254.169.254", "169.254.255.255", "172.16.0.0",
		"172.31.255.255", "192.0.0.0", "192.0.0.255", "192.0.2.0",
		"192.0.2.255", "192.88.99.0", "192.88.99.255", "192.168.0.0",
		"192.168.255.255", "198.18.0.0", "198.19.255.255",
		"198.51.100.0", "198.51.100.255", "203.0.113.0",
		"203.0.113.255", "224.0.0.0", "239.255.255.255", "240.0.0.0",
		"255.255.255.254", "255.255.255.255" };
	static const char *const open[] = { "1.0.0.0", "9.255.255.255",
		"11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
		"128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255",
		"172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.1.255",
		"192.0.3.0", "192.88.98.255", "192.88.100.0", "192.167.255.255",
		"192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255",
		"198.51.101.0", "203.0.112.255", "203.0.114.0",
		"223.255.255.255", "8.8.8.8" };

	expect(special, nitems(special), false);
	expect(open, nitems(open), true);
}

static void
test_special6(void **state unused_arg)
{
	static const char *const special[] = { "::", "::1", "::2",
		"::127.0.0.1", "::8.8.8.8", "fe80::1", "febf::1", "fec0::1",
		"fc00::1", "fdff::1", "ff02::1", "ff0e::1", "100::1", "64::1",
		"2001::1", "2001:1::1", "2001:20::1", "2001:1ff:ffff::1",
		"2001:db8::", "2001:db8:ffff::1", "1fff:ffff::1", "4000::1",
		"64:ff9b:1::1", "5f00::1" };
	static const char *const open[] = { "2000::1", "2001:200::1",
		"2001:db7:ffff::1", "2001:db9::1", "2003::1", "2606:4700::1",
		"2a00:1450::1", "3ffe:ffff::1" };

	expect(special, nitems(special), false);
	expect(open, nitems(open), true);
}

/* IPv6 that means an IPv4 address. */
static void
test_embedded(void **state unused_arg)
{
	static const char *const special[] = { "::ffff:127.0.0.1",
		"::ffff:10.0.0.1", "::ffff:169.254.169.254",
		"::ffff:192.168.1.1", "::ffff:0.0.0.0", "64:ff9b::127.0.0.1",
		"64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254",
		"2002:7f00:1::1", "2002:a00:1::1", "2002:a9fe:a9fe::1",
		"2002:c0a8:101::" };
	static const char *const open[] = { "::ffff:8.8.8.8",
		"64:ff9b::8.8.8.8", "2002:808:808::1" };

	expect(special, nitems(special), false);
	expect(open, nitems(open), true);
}

static void
test_other_families(void **state unused_arg)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	assert_false(address_is_public((struct sockaddr *)&un));
	assert_false(address_is_public(&none));
}

/* --- hosts -----------------------------------------------------------------
 */

struct row {
	const char *url;
	bool ok;
};

static void
check(bool private, const struct row *v, size_t n)
{
	static const char *const hosts[] = { "docs.python.org", "*.example.com",
		"xn--bcher-kva.example", "192.0.2.7" };
	struct strv allow = { 0 };
	struct err e;
	size_t i;
	int r;

	for (i = 0; i < nitems(hosts); i++)
		strv_add(&allow, hosts[i]);
	for (i = 0; i < n; i++) {
		e = (struct err){ 0 };
		r = fetch_check(&allow, private, v[i].url, &e);
		if ((r == 0) != v[i].ok)
			fail_msg("%s: %d %s", v[i].url, r, e.text);
		if (r < 0)
			assert_true(e.text[0] != '\0');
	}
	strv_clear(&allow);
}

static void
test_hosts(void **state unused_arg)
{
	static const struct row rows[] = {
		{ "https://docs.python.org/3/", true },
		{ "https://docs.python.org", true },
		{ "HTTPS://DOCS.Python.ORG/3/", true },
		{ "https://docs.python.org:443/", true },
		{ "https://docs.python.org:8443/", true },
		{ "https://docs.python.org/a?b=https://evil.example/#c", true },
		{ "https://a.example.com/", true },
		{ "https://a.b.EXAMPLE.com/", true },
		{ "https://xn--bcher-kva.example/", true },
		{ "https://192.0.2.7/", true },
		/* lookalikes */
		{ "https://docs.python.org.evil.com/", false },
		{ "https://evildocs.python.org/", false },
		{ "https://evil.com/docs.python.org", false },
		{ "https://evil.com#docs.python.org", false },
		{ "https://evil.com?docs.python.org", false },
		{ "https://evil.com\\.docs.python.org/", false },
		{ "https://evil.com/\\docs.python.org/", false },
		{ "https://docs.python.org%2eevil.com/", false },
		{ "https://docs.python.org%00.evil.com/", false },
		{ "https://docs-python.org/", false },
		{ "https://python.org/", false },
		{ "https://example.com/", false },
		{ "https://.example.com/", false },
		{ "https://notexample.com/", false },
		{ "https://a.example.com.evil.org/", false },
		{ "https://b\xc3\xbc"
		  "cher.evil/",
		    false },
		{ "https://192.0.2.8/", false },
		{ "https://[::1]/", false },
		{ "https://2130706433/", false },
		/* a name in the URL */
		{ "https://docs.python.org@evil.com/", false },
		{ "https://evil.com@docs.python.org/", false },
		{ "https://u:p@docs.python.org/", false },
		{ "https://@docs.python.org@evil.com/", false },
		/* no page */
		{ "", false },
		{ "docs.python.org", false },
		{ "//docs.python.org/", false },
		{ "https://", false },
		/* curl reads it as two slashes, here and when it asks */
		{ "https:///docs.python.org/", true },
		{ "https://docs.python.org:99999/", false },
		{ "https://docs.python.org /", false },
		{ "http://docs.python.org/", false },
		{ "ftp://docs.python.org/", false },
		{ "file:///etc/passwd", false },
		{ "file://docs.python.org/etc/passwd", false },
		{ "gopher://docs.python.org/", false },
		{ "javascript:alert(1)", false },
		{ "data:text/html,x", false },
	};

	check(false, rows, nitems(rows));
}

static void
test_private(void **state unused_arg)
{
	static const struct row rows[] = {
		{ "http://docs.python.org/", true },
		{ "http://docs.python.org:8080/", true },
		{ "http://192.0.2.7/", true },
		{ "http://127.0.0.1/", false },
		{ "http://u@docs.python.org/", false },
		{ "ftp://docs.python.org/", false },
		{ "file:///etc/passwd", false },
	};

	check(true, rows, nitems(rows));
}

static void
test_nothing_allowed(void **state unused_arg)
{
	struct strv none = { 0 };
	struct err e;

	assert_true(
	    fetch_check(&none, false, "https://docs.python.org/", &e) < 0);
	assert_non_null(strstr(e.text, "network.fetch"));
}

/* A name with a dot at its end is another name: refused, since TLS and the
 * list would have to agree on it. */
static void
test_trailing_dot(void **state unused_arg)
{
	static const struct row rows[] = {
		{ "https://docs.python.org./", false },
		{ "https://a.example.com./", false },
		{ "https://docs.python.org../", false },
	};

	check(false, rows, nitems(rows));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_special4),
		cmocka_unit_test(test_special6),
		cmocka_unit_test(test_embedded),
		cmocka_unit_test(test_other_families),
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_private),
		cmocka_unit_test(test_nothing_allowed),
		cmocka_unit_test(test_trailing_dot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
