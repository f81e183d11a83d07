/* process.h - what the kernel says of this process, for the metrics. */
#ifndef ORCHESTRATOR_METRICS_PROCESS_H
#define ORCHESTRATOR_METRICS_PROCESS_H

#include "orchestrator/metrics/figures.h"

/* Fills cpu_us to start_us; UINT64_MAX where it can't be read. */
void process_figures(struct figures *f);

#endif
