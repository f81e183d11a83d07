/*
 * shapes.h - does a text hold what looks like a credential? Told by its form
 * alone, as services publish it: a fixed beginning, an alphabet, a length.
 *
 *	const char *kind = shape_find(patch, patch_len);     NULL: none
 *
 * One pass over at most SHAPES_MAX bytes (what is behind them is not looked
 * at), no allocation, any bytes. What it finds is never shown to anybody: the
 * kind is all that is told.
 */
#ifndef ORCHESTRATOR_MONITOR_SHAPES_H
#define ORCHESTRATOR_MONITOR_SHAPES_H

#include "common/compat.h"

#define SHAPES_MAX ((size_t)2 << 20)

/* The kind of the first one, a few words for a person ("AWS access key"). */
const char *shape_find(const void *p, size_t len);

#endif
