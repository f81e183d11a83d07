#include "common/compat.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "orchestrator/gateway/address.h"

static const struct {
	uint32_t net;
	unsigned bits;
} special4[] = {
	{ 0x00000000, 8 },  /* this network */
	{ 0x0a000000, 8 },  /* private */
	{ 0x64400000, 10 }, /* shared, carriers */
	{ 0x7f000000, 8 },  /* loopback */
	{ 0xa9fe0000, 16 }, /* link-local */
	{ 0xac100000, 12 }, /* private */
	{ 0xc0000000, 24 }, /* IETF protocols */
	{ 0xc0000200, 24 }, /* documentation */
	{ 0xc0586300, 24 }, /* 6to4 relays */
	{ 0xc0a80000, 16 }, /* private */
	{ 0xc6120000, 15 }, /* benchmarks */
	{ 0xc6336400, 24 }, /* documentation */
	{ 0xcb007100, 24 }, /* documentation */
	{ 0xe0000000, 4 },  /* multicast */
	{ 0xf0000000, 4 },  /* reserved, broadcast */
};

static bool
public4(uint32_t a)
{
	size_t i;

	for (i = 0; i < nitems(special4); i++)
		if ((a ^ special4[i].net) >> (32 - special4[i].bits) == 0)
			return false;
	return true;
}

static uint32_t
word(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	    (uint32_t)p[2] << 8 | p[3];
}

static bool
public6(const unsigned char *p)
{
	static const unsigned char zero[12],
	    nat64[12] = { 0, 0x64, 0xff, 0x9b };
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (memcmp(p, mapped, 12) == 0 || memcmp(p, nat64, 12) == 0)
		return public4(word(p + 12));
	if (memcmp(p, zero, 12) == 0)
		return false; /* ::, ::1, and compatible ones */
	if (p[0] == 0x20 && p[1] == 0x02)
		return public4(word(p + 2)); /* 6to4 */
	if (p[0] == 0x20 && p[1] == 0x01 && p[2] < 0x02)
		return false; /* 2001::/23: Teredo and other protocols */
	if (word(p) == 0x20010db8)
		return false;         /* documentation */
	return (p[0] & 0xe0) == 0x20; /* 2000::/3 is all that is given out */
}

bool
address_is_public(const struct sockaddr *a)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	switch (a->sa_family) {
	case AF_INET:
		memcpy(&in, a, sizeof in);
		return public4(ntohl(in.sin_addr.s_addr));
	case AF_INET6:
		memcpy(&in6, a, sizeof in6);
		return public6(in6.sin6_addr.s6_addr);
	default:
		return false;
	}
}
