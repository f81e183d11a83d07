/*
 * head_socks.c - SOCKS 5 (RFC 1928), and the end of a request's body.
 */
#include "common/compat.h"

#include "orchestrator/egress/head.h"

#define VERSION 5
#define CMD_CONNECT 1
#define ATYP_IP4 1
#define ATYP_NAME 3
#define ATYP_IP6 4
#define NO_AUTH 0

enum {
	FAILURE = 400, /* reply 1, which would be HEAD_DONE */
	REP_NOT_ALLOWED = 2,
	REP_NO_COMMAND = 7,
	REP_NO_ADDRESS = 8
};

int
head_socks_hello(const char *p, size_t len, size_t *ret_used)
{
	size_t n;

	if (len < 2)
		return HEAD_MORE;
	n = (unsigned char)p[1];
	if (len < 2 + n)
		return HEAD_MORE;
	if (memchr(p + 2, NO_AUTH, n) == NULL)
		return 0xff;
	*ret_used = 2 + n;
	return HEAD_DONE;
}

/* The address at p, n bytes as its kind says. */
static int
read_address(
    unsigned atyp, const char *p, size_t n, struct target *ret, struct err *e)
{
	if (atyp != ATYP_NAME) {
		target_from_addr(p, n, ret);
		return 0;
	}
	return target_host(p, n, ret, e);
}

int
head_socks(const char *p, size_t len, struct head *ret, struct err *e)
{
	const unsigned char *u = (const unsigned char *)p;
	size_t at = 4, n = 0;
	struct head h = { .kind = HEAD_SOCKS, .body = BODY_ENDLESS };

	if (len < 5)
		return HEAD_MORE;
	if (u[0] != VERSION || u[2] != 0) {
		(void)err_set(e, ERR_SYNTAX, "that is no SOCKS 5 request");
		return FAILURE;
	}
	if (u[1] != CMD_CONNECT) {
		(void)err_set(e, ERR_SYNTAX, "of SOCKS only CONNECT is there");
		return REP_NO_COMMAND;
	}
	if (u[3] == ATYP_NAME) {
		n = u[4];
		at = 5;
	} else if (u[3] == ATYP_IP4) {
		n = 4;
	} else if (u[3] == ATYP_IP6) {
		n = 16;
	} else {
		(void)err_set(e, ERR_SYNTAX, "an unknown kind of address");
		return REP_NO_ADDRESS;
	}
	if (len < at + n + 2)
		return HEAD_MORE;
	if (read_address(u[3], p + at, n, &h.target, e) < 0)
		return REP_NOT_ALLOWED;
	h.target.port = (uint16_t)(u[at + n] << 8 | u[at + n + 1]);
	if (h.target.port == 0) {
		(void)err_set(e, ERR_SYNTAX, "port 0 is none");
		return FAILURE;
	}
	(void)snprintf(h.method, sizeof h.method, "SOCKS");
	h.used = at + n + 2;
	*ret = h;
	return HEAD_DONE;
}

/* --- the body ------------------------------------------------------------ */

#define CHUNK_DIGITS 15
#define CHUNK_EXT_MAX 4096  /* bytes of extensions, all of them together */
#define CHUNK_LINE_MAX 8192 /* of one trailer line */

void
body_init(struct body *b, const struct head *h)
{
	memset(b, 0, sizeof *b);
	b->kind = h->body;
	b->left = h->body == BODY_LENGTH ? h->length : 0;
	b->done = h->body == BODY_NONE;
}

static void
take_size(struct body *b, char c)
{
	unsigned v;

	if (c >= '0' && c <= '9')
		v = (unsigned)(c - '0');
	else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		v = (unsigned)((c | 0x20) - 'a') + 10;
	else if (b->digits > 0 && c == '\r') {
		b->state = CHUNK_SIZE_LF;
		return;
	} else if (b->digits > 0 && c == ';') {
		b->state = CHUNK_EXT;
		return;
	} else {
		b->bad = true;
		return;
	}
	b->bad = ++b->digits > CHUNK_DIGITS;
	b->left = b->left << 4 | v;
}

static void
take_ext(struct body *b, char c)
{
	if (c == '\r')
		b->state = CHUNK_SIZE_LF;
	else
		b->bad = c == '\n' || ++b->extra > CHUNK_EXT_MAX;
}

static void
begin_data(struct body *b, char c)
{
	b->bad = c != '\n';
	b->digits = 0;
	b->line = 0;
	b->state = b->left == 0 ? CHUNK_TRAILER : CHUNK_DATA;
}

static void
take_trailer(struct body *b, char c)
{
	if (c == '\r') {
		b->last = b->line == 0;
		b->state = CHUNK_TRAILER_LF;
	} else {
		b->bad = c == '\n' || ++b->line > CHUNK_LINE_MAX ||
		    ++b->extra > CHUNK_LINE_MAX;
	}
}

/* A byte that is no data. */
static void
take_byte(struct body *b, char c)
{
	switch (b->state) {
	case CHUNK_SIZE:
		take_size(b, c);
		break;
	case CHUNK_EXT:
		take_ext(b, c);
		break;
	case CHUNK_SIZE_LF:
		begin_data(b, c);
		break;
	case CHUNK_CR:
		b->bad = c != '\r';
		b->state = CHUNK_LF;
		break;
	case CHUNK_LF:
		b->bad = c != '\n';
		b->state = CHUNK_SIZE;
		break;
	case CHUNK_TRAILER:
		take_trailer(b, c);
		break;
	case CHUNK_TRAILER_LF:
		b->bad = c != '\n';
		b->line = 0;
		b->state = CHUNK_TRAILER;
		b->done = b->last;
		break;
	case CHUNK_DATA:
		break;
	}
}

static size_t
take_data(struct body *b, size_t n)
{
	size_t k = b->left < n ? (size_t)b->left : n;

	b->left -= k;
	return k;
}

size_t
body_take(struct body *b, const char *p, size_t n)
{
	size_t i = 0;

	if (b->kind == BODY_ENDLESS)
		return n;
	if (b->kind == BODY_LENGTH) {
		i = take_data(b, n);
		b->done = b->left == 0;
		return i;
	}
	while (i < n && !b->done && !b->bad) {
		if (b->state != CHUNK_DATA) {
			take_byte(b, p[i++]);
			continue;
		}
		i += take_data(b, n - i);
		if (b->left == 0)
			b->state = CHUNK_CR;
	}
	return i;
}
