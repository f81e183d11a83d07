/* audit_check.c - does each line of a chain follow from the one before it? */
#include "common/compat.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "orchestrator/store/audit_priv.h"

void
audit_zero(char head[HASH_HEX])
{
	memset(head, '0', HASH_HEX - 1);
	head[HASH_HEX - 1] = '\0';
}

void
audit_hash(const char *p, size_t len, char ret[HASH_HEX])
{
	unsigned char h[HASH_LEN];

	hash_bytes(p, len, h);
	hash_hex(h, ret);
}

int
chain_check_line(const char *p, size_t len, uint64_t n, const char *prev,
    char hash[HASH_HEX], struct err *e)
{
	const char *tail, *want;
	json_t *j = NULL;
	uint64_t got;
	int r = 0;

	if (len < HASH_TAIL || len > MAX_LINE * 2)
		return err_set(e, ERR_DENIED,
		    "line %" PRIu64 " was changed: it is no line of the chain",
		    n);
	tail = p + len - HASH_TAIL;
	audit_hash(p, (size_t)(tail - p), hash);
	if (strncmp(tail, HASH_KEY, sizeof HASH_KEY - 1) != 0 ||
	    memcmp(tail + sizeof HASH_KEY - 1, hash, HASH_HEX - 1) != 0 ||
	    memcmp(p + len - 2, "\"}", 2) != 0)
		return err_set(e, ERR_DENIED,
		    "line %" PRIu64 " was changed: its hash does not fit", n);
	if (json_parse(p, len, MAX_LINE * 2, &j, NULL) < 0 ||
	    json_get_str(j, "prev", true, &want, NULL) < 0 ||
	    json_get_u64(j, "n", 0, UINT64_MAX, &got, NULL) < 0)
		r = err_set(e, ERR_DENIED,
		    "line %" PRIu64 " was changed: it can't be read", n);
	else if (strcmp(want, prev) != 0 || got != n)
		r = err_set(e, ERR_DENIED,
		    "line %" PRIu64 " does not follow the line before it: "
		    "lines were removed, added or moved here",
		    n);
	json_decref(j);
	return r;
}

static void
read_run(struct chain *c, const char *p, size_t len)
{
	json_t *j = NULL;

	(void)json_parse(p, len, MAX_LINE * 2, &j, NULL);
	if (json_is_string(json_object_get(j, "run")))
		(void)strlcpy(c->run,
		    json_string_value(json_object_get(j, "run")),
		    sizeof c->run);
	json_decref(j);
}

int
chain_check(struct chain *c, const char *p, size_t size, struct err *e)
{
	char prev[HASH_HEX];
	const char *nl;
	size_t len;
	int r;

	while ((nl = memchr(p + c->used, '\n', size - c->used)) != NULL) {
		len = (size_t)(nl - (p + c->used));
		memcpy(prev, c->last, sizeof prev);
		c->n++;
		if ((r = chain_check_line(
			 p + c->used, len, c->n, prev, c->last, e)) < 0)
			return r;
		if (c->n == 1)
			read_run(c, p, len);
		c->used += len + 1;
		if (c->n == c->want && strcmp(c->last, c->head) != 0)
			return err_set(e, ERR_DENIED,
			    "line %" PRIu64 " was changed: its head "
			    "does not fit it",
			    c->n);
	}
	c->rest = size - c->used;
	if (c->n < c->want)
		return err_set(e, ERR_DENIED,
		    "line %" PRIu64 " is missing: its head knows %" PRIu64
		    " lines, the file has %" PRIu64,
		    c->n + 1, c->want, c->n);
	if (c->n > c->want + 1)
		return err_set(e, ERR_DENIED,
		    "line %" PRIu64
		    " is not known to its head: lines were added",
		    c->want + 2);
	return 0;
}
