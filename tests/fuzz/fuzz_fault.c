/* What a server says when it refuses: the first bytes choose the status and the
 * header, the rest is header and body. */
#include "common/compat.h"

#include <assert.h>

/* The sources themselves: nothing else of the gateway is needed. */
#include "orchestrator/gateway/fault.c"
#include "orchestrator/gateway/fault_http.c"
#include "orchestrator/gateway/fault_read.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *
copy(const uint8_t *data, size_t size)
{
	char *s = malloc(size + 1);

	assert(s != NULL);
	if (size > 0)
		memcpy(s, data, size);
	s[size] = '\0';
	return s;
}

static void
check(const struct fault *f)
{
	assert(memchr(f->text, '\0', sizeof f->text) != NULL);
	assert(f->kind != FAULT_NONE);
	for (const char *s = f->text; *s != '\0'; s++)
		assert((unsigned char)*s >= 0x20 && *s != 0x7f);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const long statuses[] = { 200, 204, 307, 400, 401, 403, 404, 413,
		429, 500, 503, 529, 0, 999 };
	struct fault f;
	char *body, *header;
	size_t n;

	if (size < 2)
		return 0;
	n = data[1] < size - 2 ? data[1] : size - 2;
	header = copy(data + 2, n);
	/* no NUL behind it: the length counts */
	body = malloc(size - 2 - n + (size - 2 == n));
	assert(body != NULL);
	memcpy(body, data + 2 + n, size - 2 - n);
	fault_from_http(&f, statuses[data[0] % nitems(statuses)],
	    data[0] & 0x80 ? header : NULL, data[0] & 0x40 ? header : NULL,
	    body, size - 2 - n, 60000, 1700000000);
	check(&f);
	free(body);
	body = copy(data + 2 + n, size - 2 - n);
	fault_from_error(&f, header, body);
	check(&f);
	fault_scrub(f.text, header);
	if (strlen(header) > 0 && strchr(header, '*') == NULL)
		assert(strstr(f.text, header) == NULL);
	free(body);
	free(header);
	return 0;
}
