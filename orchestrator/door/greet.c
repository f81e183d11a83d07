/*
 * greet.c - the first bytes of a stranger.
 */
#include "common/compat.h"

#include <sodium.h>

#include "orchestrator/door/greet.h"

#define TAIL 9     /* the last byte of the signature */
#define VERSION 10 /* major, then minor */
#define MECHANISM 12
#define MECHANISM_LEN 20

/* HELLO: a command with one byte of length. */
#define HELLO_LEN 200
#define HELLO_KEY 80 /* of its body: after the name, the version, zeros */
#define HELLO_NONCE 112
#define HELLO_BOX 120
#define BOX_LEN 80 /* 64 zeros and their mark */

static const unsigned char hello_start[] = { 0x04, HELLO_LEN, 5, 'H', 'E', 'L',
	'L', 'O', 1, 0 };

void
greet_ours(bool curve, unsigned char ret[GREET_PLAIN])
{
	const char *mechanism = curve ? "CURVE" : "NULL";

	memset(ret, 0, GREET_PLAIN);
	ret[0] = 0xff;
	ret[TAIL - 1] = 1; /* as ZMTP 1 had a length here */
	ret[TAIL] = 0x7f;
	ret[VERSION] = 3;
	ret[VERSION + 1] = 1;
	memcpy(ret + MECHANISM, mechanism, strlen(mechanism));
}

static enum greet
check_greeting(
    const unsigned char *b, size_t n, bool curve, const char **ret_why)
{
	unsigned char want[MECHANISM_LEN] = { 0 };
	const char *mechanism = curve ? "CURVE" : "NULL";

	*ret_why = "it does not speak our protocol";
	if (n > 0 && b[0] != 0xff)
		return GREET_STRANGER;
	if (n > TAIL && b[TAIL] != 0x7f)
		return GREET_STRANGER;
	if (n > VERSION && b[VERSION] != 3)
		return GREET_STRANGER;
	if (n < GREET_PLAIN)
		return GREET_MORE;
	*ret_why = curve ? "it has no key" : "it wants keys, and we have none";
	memcpy(want, mechanism, strlen(mechanism));
	return memcmp(b + MECHANISM, want, MECHANISM_LEN) == 0 ? GREET_GOOD
							       : GREET_STRANGER;
}

static bool
is_box_good(const unsigned char *body, const unsigned char *secret)
{
	unsigned char nonce[crypto_box_NONCEBYTES] = "CurveZMQHELLO---";
	unsigned char plain[BOX_LEN - crypto_box_MACBYTES];

	memcpy(nonce + 16, body + HELLO_NONCE, 8);
	return crypto_box_open_easy(plain, body + HELLO_BOX, BOX_LEN, nonce,
		   body + HELLO_KEY, secret) == 0;
}

enum greet
greet_check(const unsigned char *bytes, size_t n, const unsigned char *secret,
    const char **ret_why)
{
	enum greet g = check_greeting(bytes, n, secret != NULL, ret_why);
	const unsigned char *hello = bytes + GREET_PLAIN;
	size_t have;

	if (g != GREET_GOOD || secret == NULL)
		return g;
	*ret_why = "its handshake is malformed";
	have = n - GREET_PLAIN;
	if (memcmp(hello, hello_start,
		have < sizeof hello_start ? have : sizeof hello_start) != 0)
		return GREET_STRANGER;
	if (n < GREET_CURVE)
		return GREET_MORE;
	*ret_why = "it does not know our public key (server.pub)";
	return is_box_good(hello + 2, secret) ? GREET_GOOD : GREET_STRANGER;
}
