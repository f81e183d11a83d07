/*
 * opens.h - how often files are opened, by whichever process: inotify(7).
 *
 * What opens a file through a mount of its own counts as well, since the file
 * is the same. Opens of one file that come at the same moment may count as one:
 * a number may be too small, and never too large.
 */
#ifndef WORKER_AGENT_OPENS_H
#define WORKER_AGENT_OPENS_H

#include "common/strv.h"

struct opens {
	int fd;
	int *watches; /* of each file; -1: it can't be watched */
	unsigned *n;  /* how often each was opened, after opens_end() */
	size_t files;
};

/* From now on; names are below root_fd, and no link is followed. Where nothing
 * can be watched all numbers are 0. */
void opens_begin(struct opens *o, int root_fd, const struct strv *names);
/* Too many to be counted: all numbers are 0. */
void opens_end(struct opens *o);
void opens_clear(struct opens *o);

#endif
