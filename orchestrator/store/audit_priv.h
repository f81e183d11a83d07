/* audit_priv.h - what audit*.c share; for nobody else. */
#ifndef ORCHESTRATOR_STORE_AUDIT_PRIV_H
#define ORCHESTRATOR_STORE_AUDIT_PRIV_H

#include "common/err.h"
#include "common/hash.h"

#define HASH_KEY ",\"hash\":\""
/* What follows the hashed bytes: ,"hash":"<64>"} */
#define HASH_TAIL (sizeof HASH_KEY - 1 + HASH_HEX - 1 + 2)
#define MAX_LINE (256u << 10)

/* What is known of a chain. */
struct chain {
	char run[64];     /* that line 1 names; "": none */
	uint64_t want, n; /* lines that its head knows of, lines in the file */
	char head[HASH_HEX], last[HASH_HEX];
	size_t used, rest; /* bytes of whole lines, and of a torn one */
};

/* The head of a chain without lines. */
void audit_zero(char head[HASH_HEX]);
/* The hash of a line, in hex. */
void audit_hash(const char *p, size_t len, char ret[HASH_HEX]);
/* One line without its newline, the n-th. Sets hash to its own. ERR_DENIED. */
int chain_check_line(const char *p, size_t len, uint64_t n, const char *prev,
    char hash[HASH_HEX], struct err *e);
/* Every whole line of a file against the one before it and against the head
 * (c->want, c->head); fills the rest of c. ERR_DENIED: it does not fit. */
int chain_check(struct chain *c, const char *p, size_t size, struct err *e);

#endif
