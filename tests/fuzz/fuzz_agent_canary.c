/* Where a statement is planted in a test file, whatever its text: at a place of
 * the file where a line begins, or behind the brace of main(). */
#include "common/compat.h"

#include <stdlib.h>

#include "common/log.h"
#include "worker/agent/canary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
need(bool good)
{
	if (!good)
		abort();
}

static void
check_place(enum canary_lang lang, const char *text, size_t at)
{
	need(at <= strlen(text));
	if (lang == CANARY_C)
		need(at > 0 && strchr("{\n", text[at - 1]) != NULL);
	else
		need(at == 0 || at == strlen(text) || text[at - 1] == '\n');
}

static void
check(enum canary_lang lang, const char *text)
{
	size_t head, end, again;
	struct buf b;
	bool yes = canary_place(lang, text, CANARY_HEAD, &head);

	need(canary_place(lang, text, CANARY_END, &end) == yes);
	if (yes) {
		check_place(lang, text, head);
		check_place(lang, text, end);
		need(end >= head);
		need(canary_place(lang, text, CANARY_END, &again) &&
		    again == end);
	}
	buf_init(&b, BUF_NOMAX);
	canary_text(lang, text, &b);
	need(b.len > 0 && buf_str(&b)[b.len - 1] == '\n');
	need(memchr(buf_str(&b), '@', b.len) != NULL);
	buf_clear(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);

	(void)canary_lang("a", text);
	for (enum canary_lang i = CANARY_PY; i <= CANARY_SH; i++)
		check(i, text);
	(void)canary_may_end((const char *)data, size);
	free(text);
	return 0;
}
