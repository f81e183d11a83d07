/* host.h - the host at work: its link to the orchestrator, and its end. */
#ifndef WORKER_HOST_HOST_H
#define WORKER_HOST_HOST_H

struct lifelines;
struct options;
struct place;
struct quota;

/* As pid 1, after the drop, with no thread made yet. Returns the exit status.
 */
int host_run(const struct options *o, const struct place *place,
    const struct quota *quota, struct lifelines *lines);

#endif
