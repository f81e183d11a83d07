/* output.h - what commands write, as the model gets it: clean and capped. */
#ifndef WORKER_AGENT_OUTPUT_H
#define WORKER_AGENT_OUTPUT_H

#include "common/buf.h"

#define OUTPUT_MAX 16384     /* of a command's output in a result */
#define OUTPUT_LINE_MAX 2000 /* of one line */

/* Append raw output, cleaned, then cut to max bytes, head and tail kept.
 * Returns true when something was left out. */
bool output_add(struct buf *dst, const char *s, size_t len, size_t max);

/* The last line with something on it, cleaned, at most size - 1 bytes. */
void output_last_line(const char *s, size_t len, char *dst, size_t size);

#endif
