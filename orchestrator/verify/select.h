/* select.h - which of two verified patches is kept. Pure. */
#ifndef ORCHESTRATOR_VERIFY_SELECT_H
#define ORCHESTRATOR_VERIFY_SELECT_H

#include "common/compat.h"

/* Is patch a better than b? The smaller one (added and removed lines, then
 * their bytes), then the cheaper one (model calls). */
bool select_better(const char *a, size_t a_len, uint64_t a_calls, const char *b,
    size_t b_len, uint64_t b_calls);
/* Lines that a patch adds and removes. */
size_t select_changed_lines(const char *patch, size_t len, size_t *ret_bytes);

#endif
