/*
 * check.h - foray-host --check: what this machine lacks for workers, what that
 * costs and the remedy, as `foray doctor` prints it.
 */
#ifndef WORKER_HOST_CHECK_H
#define WORKER_HOST_CHECK_H

struct options;

/* Lines on stdout, at most about ten seconds. What is looked at is left as it
 * was; an orchestrator sees a connection that says nothing. Single-threaded, as
 * root or not. Returns the exit status: 0, 4 (EXIT_SANDBOX) when something that
 * workers need is missing, or 5 (EXIT_REFUSED) when only the way to the
 * orchestrator is. */
int check_machine(const struct options *o);

#endif
