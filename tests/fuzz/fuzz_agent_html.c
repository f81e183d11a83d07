/* Pages as text: any bytes, with a type; what comes out is clean. */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "worker/agent/html.h"
#include "worker/agent/url.h"
#include "worker/agent/webtext.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(const struct buf *b)
{
	const char *s = buf_str(b);
	size_t left = b->len, n;
	uint32_t cp;

	for (; left > 0; s += n, left -= n) {
		n = text_char(s, left, &cp);
		if (n == 0 || webtext_invisible(cp))
			abort();
	}
}

/* The page is also its own address and a link in it. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *s = (const char *)data;
	struct buf text, b;
	char *url, *base;

	buf_init(&text, BUF_NOMAX);
	buf_init(&b, BUF_NOMAX);
	if (size > 0)
		webtext_decode(&text, NULL, true, s, size);
	(void)html_to_markdown(
	    &b, buf_str(&text), text.len, "https://h.example/d/p.html");
	check(&b);
	base = strndup(s, size);
	if (base == NULL)
		abort();
	url = url_resolve(base, s, size);
	free(url);
	url = url_resolve("https://h.example/d", s, size);
	if (url != NULL && url[strcspn(url, " \t\r\n()<>\"\\")] != '\0')
		abort();
	free(url);
	free(base);
	buf_clear(&text);
	buf_clear(&b);
	return 0;
}
