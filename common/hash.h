/* hash.h - BLAKE2b-256 (libsodium's generichash), as bytes and as hex. */
#ifndef COMMON_HASH_H
#define COMMON_HASH_H

#include "common/compat.h"

#define HASH_LEN 32
#define HASH_HEX 65 /* with the NUL */

struct hash_state {
	_Alignas(64) unsigned char opaque[384];
};

void hash_bytes(const void *p, size_t len, unsigned char ret[HASH_LEN]);
void hash_hex(const unsigned char h[HASH_LEN], char ret[HASH_HEX]);
int hash_unhex(const char *hex, unsigned char ret[HASH_LEN]); /* 0, -EINVAL */

void hash_init(struct hash_state *st);
void hash_update(struct hash_state *st, const void *p, size_t len);
void hash_final(struct hash_state *st, unsigned char ret[HASH_LEN]);

/* n random bytes as 2n hex digits and a NUL. */
void hash_random_hex(char *dst, size_t n);

#endif
