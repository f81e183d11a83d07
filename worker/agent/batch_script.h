/* batch_script.h - batch.py as a string; made by batch_script.sh. */
#ifndef WORKER_AGENT_BATCH_SCRIPT_H
#define WORKER_AGENT_BATCH_SCRIPT_H

extern const char batch_script[];

#endif
