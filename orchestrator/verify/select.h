/* select.h - which of two verified patches is kept. Pure. */
#ifndef ORCHESTRATOR_VERIFY_SELECT_H
#define ORCHESTRATOR_VERIFY_SELECT_H

#include "common/compat.h"

/* Is patch a better than b? The smaller one (added and removed lines, then the
 * bytes that differ in them), then the cheaper one (money or model calls). */
bool select_better(const char *a, size_t a_len, uint64_t a_calls, const char *b,
    size_t b_len, uint64_t b_calls);
/* Lines that a unified diff adds and removes. ret_bytes, when given: of each
 * run of them, what is not the same at its beginning and end. */
size_t select_changed_lines(const char *patch, size_t len, size_t *ret_bytes);

#endif
