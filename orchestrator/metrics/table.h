/*
 * table.h - every metric of `foray run --metrics`, once: its name, type and
 * help, and where its numbers are in struct figures. foray(1) lists the same
 * rows (tests compare them).
 *
 * The text is the Prometheus exposition format, version 0.0.4:
 * https://prometheus.io/docs/instrumenting/exposition_formats/
 * Names follow its conventions: base units (seconds, bytes), counters end in
 * _total. Labels are of fixed sets, but for the names of the run and its
 * models.
 */
#ifndef ORCHESTRATOR_METRICS_TABLE_H
#define ORCHESTRATOR_METRICS_TABLE_H

#include "common/buf.h"
#include "orchestrator/metrics/figures.h"

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Append all of f to b, which has no maximum (BUF_NOMAX): some 10 KiB. */
void metrics_text(const struct figures *f, struct buf *b);

#endif
