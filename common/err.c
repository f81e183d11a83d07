#include "common/compat.h"

#include <errno.h>

#include "common/err.h"
#include "common/text.h"

const char *
err_str(int code)
{
	switch (code) {
	case ERR_PROTO:
		return "the peer broke the protocol";
	case ERR_DENIED:
		return "the policy does not allow it";
	case ERR_BUDGET:
		return "the budget is spent";
	case ERR_MODEL:
		return "the model or its provider failed";
	case ERR_SANDBOX:
		return "the sandbox can't be set up";
	case ERR_USAGE:
		return "wrong usage";
	case ERR_LIMIT:
		return "larger than the limit allows";
	case ERR_SYNTAX:
		return "wrong syntax";
	case ERR_NOTFOUND:
		return "not found";
	}
	if (code == 0)
		return "no error";
	if (code > 0 || code <= ERR_PROTO)
		return "unknown error";
	return strerror(-code);
}

/* n is what vsnprintf() said about text, which holds size bytes. */
static void
finish(char *text, size_t size, int n)
{
	size_t len;

	if (n < 0)
		text[0] = '\0';
	len = strlen(text);
	if (n >= 0 && (size_t)n >= size) {
		/* The last character may be half there: up to three of its
		 * bytes, which the lead byte tells. */
		for (size_t back = 1; back <= 3 && back <= len; back++) {
			if (((unsigned char)text[len - back] & 0xc0) == 0x80)
				continue;
			if (text_char(text + len - back, back, NULL) == 0)
				len -= back;
			break;
		}
	}
	while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r'))
		len--;
	text[len] = '\0';
}

int(err_set)(struct err *e, int code, const char *fmt, ...)
{
	/* Not into e->text at once: it may be among the arguments. */
	char text[sizeof e->text];
	va_list ap;
	int n;

	if (e == NULL)
		return code;
	va_start(ap, fmt);
	n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	finish(text, sizeof text, n);
	e->code = code;
	memcpy(e->text, text, sizeof text);
	return code;
}

int
err_prefix(struct err *e, const char *fmt, ...)
{
	char text[sizeof e->text];
	va_list ap;
	int n;

	if (e == NULL)
		return -EIO;
	va_start(ap, fmt);
	n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	finish(text, sizeof text, n);
	return err_set(e, e->code, "%s: %s", text, e->text);
}
