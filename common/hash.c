#include "common/compat.h"

#include <errno.h>
#include <sodium.h>

#include "common/hash.h"
#include "common/log.h"

_Static_assert(sizeof(struct hash_state) >= sizeof(crypto_generichash_state),
    "libsodium's state fits");
_Static_assert(
    _Alignof(struct hash_state) >= _Alignof(crypto_generichash_state),
    "libsodium's state is aligned");

/* Picks the fast code for this processor and opens the random source. */
static void
start(void)
{
	static bool done;

	if (done)
		return;
	if (sodium_init() < 0)
		fatal("libsodium can't start");
	done = true;
}

void
hash_bytes(const void *p, size_t len, unsigned char ret[HASH_LEN])
{
	start();
	crypto_generichash(ret, HASH_LEN, p, len, NULL, 0);
}

void
hash_hex(const unsigned char h[HASH_LEN], char ret[HASH_HEX])
{
	sodium_bin2hex(ret, HASH_HEX, h, HASH_LEN);
}

int
hash_unhex(const char *hex, unsigned char ret[HASH_LEN])
{
	unsigned char h[HASH_LEN];
	size_t len = strnlen(hex, HASH_HEX), n;

	if (len != HASH_HEX - 1 ||
	    sodium_hex2bin(h, sizeof h, hex, len, NULL, &n, NULL) < 0 ||
	    n != sizeof h)
		return -EINVAL;
	memcpy(ret, h, sizeof h);
	return 0;
}

void
hash_init(struct hash_state *st)
{
	start();
	crypto_generichash_init((void *)st->opaque, NULL, 0, HASH_LEN);
}

void
hash_update(struct hash_state *st, const void *p, size_t len)
{
	crypto_generichash_update((void *)st->opaque, p, len);
}

void
hash_final(struct hash_state *st, unsigned char ret[HASH_LEN])
{
	crypto_generichash_final((void *)st->opaque, ret, HASH_LEN);
}

void
hash_random_hex(char *dst, size_t n)
{
	unsigned char chunk[64];
	size_t k;

	start();
	dst[0] = '\0';
	for (; n > 0; n -= k, dst += 2 * k) {
		k = n < sizeof chunk ? n : sizeof chunk;
		randombytes_buf(chunk, k);
		sodium_bin2hex(dst, 2 * k + 1, chunk, k);
	}
	sodium_memzero(chunk, sizeof chunk);
}
