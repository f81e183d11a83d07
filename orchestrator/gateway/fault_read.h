/*
 * fault_read.h - numbers and waits out of what a server wrote (fault_http.c).
 * What does not fit is the largest; a wait is at most a hundred years.
 */
#ifndef ORCHESTRATOR_GATEWAY_FAULT_READ_H
#define ORCHESTRATOR_GATEWAY_FAULT_READ_H

#include "common/compat.h"

/* Decimal digits at s; right after, or right before, the first anchor in s (in
 * any case). False: none there. */
bool number_at(const char *s, uint64_t *ret);
bool number_after(const char *s, const char *anchor, uint64_t *ret);
bool number_before(const char *s, const char *anchor, uint64_t *ret);

/* A Retry-After header: seconds (decimals allowed) or an HTTP date. */
bool fault_wait_header(const char *value, int64_t now_s, uint64_t *ret_ms);
/* "try again in 6m0s", Gemini's "retryDelay":"36s". */
bool fault_wait_message(const char *s, uint64_t *ret_ms);

#endif
