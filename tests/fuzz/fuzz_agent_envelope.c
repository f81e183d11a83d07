/* Patches as a model writes them: parse any text, apply it to any file. */
#include "common/compat.h"

#include "worker/agent/edit.h"
#include "worker/agent/envelope.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input: a file, a byte 0xff, a patch; without that byte all is patch. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *cut = size > 0 ? memchr(data, 0xff, size) : NULL;
	const char *src = (const char *)data, *text = src;
	size_t src_len = 0, len = size, i;
	struct patch_count count;
	struct edit_done done;
	struct patch p;
	struct edit ed = { 0 };
	struct buf b;
	struct err e;
	char *old;

	if (cut != NULL) {
		src_len = (size_t)(cut - data);
		text = src + src_len + 1;
		len = size - src_len - 1;
	}
	buf_init(&b, 1 << 20);
	if (patch_parse(text, len, &p, &e) == 0) {
		for (i = 0; i < p.n; i++) {
			buf_reset(&b);
			(void)patch_file_apply(
			    &p.v[i], src, src_len, &b, &count, &e);
		}
		patch_clear(&p);
	}
	/* The same bytes as an edit. */
	old = strndup(text, len);
	if (old != NULL) {
		ed.old_text = old;
		ed.new_text = "new\nlines\r\n";
		ed.line = len & 3;
		ed.replace_all = (len & 4) != 0;
		buf_reset(&b);
		(void)edit_apply("f", src, src_len, &ed, &b, &done, &e);
		free(old);
	}
	buf_clear(&b);
	return 0;
}
