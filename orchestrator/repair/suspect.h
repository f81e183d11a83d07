/*
 * suspect.h - how suspicious each line is, from what the failing tests say.
 *
 * Evidence: which lines the failing tests execute and the passing ones don't
 * (Ochiai over a spectrum), and where there is none which functions they can
 * reach by names (the same over a static call graph); tracebacks and file:line
 * in the output, names in failing tests' names and messages. What no test
 * executes comes last.
 */
#ifndef REPAIR_SUSPECT_H
#define REPAIR_SUSPECT_H

#include "common/strv.h"
#include "orchestrator/repair/hint.h"
#include "orchestrator/repair/spectrum.h"

struct suspect_facts {
	const char *output;              /* of the failing tests; may be "" */
	const struct strv *failing;      /* names of failing tests */
	const struct spectrum *spectrum; /* NULL: not known */
	struct hints *hints; /* gets what only failing tests hold; or NULL */
};

/* files[0..n_src) are the sources, files[n_src..n) tests, read for their text
 * only. ret[i] is an array of n_line weights for source i, about 0.1 to 15;
 * free each. */
void suspect_lines(const struct suspect_facts *f, struct source *const *files,
    size_t n_src, size_t n, float **ret);

/* Does this path look like a test by its name? */
bool suspect_is_test(const char *path);

#endif
