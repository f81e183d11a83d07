/* Why a patch does not fit, of hostile patches: what is said is text. */
#include "common/compat.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/verify/conflict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[] = "/tmp/foray-fuzz-XXXXXX";

static void
clear(void)
{
	(void)path_rmtree(dir, NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char text[] = "one\ntwo\n\nfour";
	static bool made;
	struct buf b;
	char *path;

	if (!made) {
		made = true;
		if (mkdtemp(dir) == NULL)
			abort();
		(void)atexit(clear);
		path = path_join(dir, "a.c");
		if (file_write(path, text, sizeof text - 1, 0600, NULL) < 0)
			abort();
		free(path);
	}
	buf_init(&b, 64 << 10);
	conflict_describe(dir, (const char *)data, size, &b);
	assert(text_is_utf8(buf_str(&b), b.len));
	buf_clear(&b);
	return 0;
}
