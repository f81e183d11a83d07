/* What a model's check may be, and what a lane may answer. Bounds hold. */
#include "common/compat.h"

#include <stdlib.h>

#include "common/log.h"
#include "worker/agent/batch_lane.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
need(bool good)
{
	if (!good)
		abort();
}

static void
command(const char *text)
{
	struct batch_cmd c;

	if (!batch_cmd_parse(text, NULL, &c))
		return;
	need(c.name != NULL && *c.name != '\0' && c.python.n > 0);
	for (size_t i = 0; i < c.env.n; i++)
		need(strchr(c.env.v[i], '=') != NULL);
	batch_cmd_clear(&c);
}

static void
answer(const char *s, size_t len)
{
	struct lane_answer a = { 0 };
	int r;

	buf_init(&a.out, LANE_KEEP_MAX);
	buf_init(&a.modules, LANE_KEEP_MAX);
	r = lane_parse(s, len, 7, &a);
	need(r == 1 || (a.out.len == 0 && a.modules.len == 0));
	if (r == 1) {
		need(a.status >= 0 && a.status <= 255);
		need(a.out.len + a.modules.len < len);
	}
	lane_answer_clear(&a);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);

	answer((const char *)data, size);
	command(text);
	free(text);
	return 0;
}
