/*
 * The report of which lines the tests execute, on any text; the nonce is "n".
 * What must hold of one that is taken: every range belongs to one file and is
 * within bounds, and every line of a source gets a suspicion from 0 to 1.
 */
#include "common/compat.h"

#include <assert.h>

#include "common/log.h"
#include "orchestrator/repair/spectrum.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char code[] = "A = (1 +\n2)\ndef f(x):\n    y = [x,\n"
			   "         2]\n    def g():\n        return y\n"
			   "    return g\n\nclass C:\n    b = 2\n";

static void
check_ranges(const struct spectrum *sp)
{
	size_t n = 0;

	assert(sp->n_file <= SPECTRUM_MAX_FILES);
	assert(sp->n_range > 0 && sp->n_range <= SPECTRUM_MAX_RANGES);
	for (size_t i = 0; i < sp->n_file; i++) {
		assert(sp->file[i].first == n);
		n += sp->file[i].n;
	}
	assert(n == sp->n_range);
	for (size_t i = 0; i < n; i++) {
		const struct spectrum_range *r = &sp->range[i];

		assert(r->first >= 1 && r->first <= r->last);
		assert(r->last <= SPECTRUM_MAX_NUMBER);
		assert(r->failed <= sp->failed && r->passed <= sp->passed);
		assert(
		    (r->kind == SPECTRUM_RUN) == (r->failed + r->passed > 0));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct source *s;
	struct spectrum sp;
	char *text = xstrndup((const char *)data, size);

	if (s == NULL)
		s = source_create("a.py", code, strlen(code));
	if (spectrum_parse(&sp, text, "n") == 0) {
		struct spectrum_line line[16];

		check_ranges(&sp);
		assert(s->n_line <= nitems(line));
		for (size_t i = 0; i < sp.n_file; i++) {
			spectrum_lines(&sp, &sp.file[i], s, line);
			for (size_t k = 0; k < s->n_line; k++)
				assert(line[k].ochiai >= 0 &&
				    line[k].ochiai <= 1.001f);
		}
		spectrum_clear(&sp);
	}
	free(text);
	return 0;
}
