/* What comes from other machines before it is a message, and what a person
 * writes to reach them: first bytes, frames, endpoints, key files. */
#include "common/compat.h"

#include <assert.h>

#include "orchestrator/door/greet.h"
#include "proto/curve.h"
#include "proto/tcp.h"
#include "proto/zmtp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The verdict does not depend on how the bytes came. */
static void
frames(const uint8_t *p, size_t n)
{
	struct zmtp_walk whole = { .extra = ZMTP_CURVE_EXTRA };
	struct zmtp_walk parts = whole;
	enum zmtp_verdict a = zmtp_check(&whole, p, n), b = ZMTP_GOOD;
	size_t i;

	for (i = 0; i < n && b == ZMTP_GOOD; i++)
		b = zmtp_check(&parts, p + i, 1);
	assert(a == b);
	assert(a != ZMTP_GOOD || whole.cost == parts.cost);
}

static void
first_bytes(const uint8_t *p, size_t n)
{
	static const unsigned char secret[32] = { 1 };
	const char *why = "";
	enum greet g;
	size_t i;

	n = n < GREET_CURVE ? n : GREET_CURVE;
	for (i = 0; i <= n; i++) {
		g = greet_check(p, i, secret, &why);
		/* Nobody knows this server. */
		assert(g != GREET_GOOD);
		assert(g == GREET_MORE || *why != '\0');
		(void)greet_check(
		    p, i < GREET_PLAIN ? i : GREET_PLAIN, NULL, &why);
	}
}

static void
endpoint(const char *text, bool listen)
{
	struct tcp_end t, again;
	char out[TCP_TEXT], out2[TCP_TEXT];

	if (tcp_parse(text, listen, &t, NULL) < 0)
		return;
	(void)tcp_text(&t, out);
	assert(tcp_parse(out, true, &again, NULL) == 0);
	assert(strcmp(tcp_text(&again, out2), out) == 0);
	(void)tcp_check_loopback(&t, NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char key[CURVE_KEY] = "";
	char *text = strndup((const char *)data, size);

	frames(data, size);
	first_bytes(data, size);
	endpoint(text, false);
	endpoint(text, true);
	(void)curve_is_name(text);
	if (curve_parse((const char *)data, size, "f", key, NULL) == 0)
		assert(curve_is_key(key));
	free(text);
	return 0;
}
