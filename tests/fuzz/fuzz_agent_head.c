/* What is read of files before a model asks for them: front matter of skills,
 * headers of images. */
#include "common/compat.h"

#include "common/text.h"
#include "worker/agent/image.h"
#include "worker/agent/skills.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *s = (const char *)data;
	char what[80], *name, *text;
	size_t at;

	(void)image_describe(s, size, what, sizeof what);
	at = skill_head(s, size, &name, &text);
	if (at > size || (name != NULL && !text_is_utf8(name, strlen(name))) ||
	    (text != NULL && strpbrk(text, "\n\r\033") != NULL))
		__builtin_trap();
	free(name);
	free(text);
	return 0;
}
