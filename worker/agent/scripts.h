/* scripts.h - batch.py and the like as strings; made by scripts.sh. */
#ifndef WORKER_AGENT_SCRIPTS_H
#define WORKER_AGENT_SCRIPTS_H

extern const char script_batch_py[]; /* batch_lane.h */
extern const char script_reads_py[]; /* reads.h */
extern const char script_reads_js[];

#endif
