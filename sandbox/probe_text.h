/*
 * probe_text.h - filling in what a probe found: for probe*.c only.
 *
 * `it` is a struct probe_item of probe.h; text that is too long is cut.
 */
#ifndef SANDBOX_PROBE_TEXT_H
#define SANDBOX_PROBE_TEXT_H

#include <stddef.h>

#include "common/compat.h"

void probe_put(char *dst, size_t size, const char *fmt, ...) printflike(3, 4);

#define detail(it, ...) probe_put((it)->detail, sizeof(it)->detail, __VA_ARGS__)
#define cost(it, ...) probe_put((it)->cost, sizeof(it)->cost, __VA_ARGS__)
#define remedy(it, ...) probe_put((it)->remedy, sizeof(it)->remedy, __VA_ARGS__)

#endif
