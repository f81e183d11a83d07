/*
 * snapshot.c - how long one snapshot takes.
 *
 *	snapshot ROOT STORE     prints its milliseconds and whether nothing had
 *	                        to be copied (1 or 0)
 */
#include "common/compat.h"

#include <time.h>

#include "common/log.h"
#include "sandbox/snapshot.h"

int
main(int argc, char **argv)
{
	struct snapshot_opts opts = { 0 };
	struct timespec a, b;
	struct snapshot snap;
	struct err e;

	log_init("bench");
	if (argc != 3)
		fatal("usage: snapshot ROOT STORE");
	opts.store = argv[2];
	(void)clock_gettime(CLOCK_MONOTONIC, &a);
	if (snapshot_create(argv[1], &opts, &snap, &e) < 0)
		fatal("%s", e.text);
	(void)clock_gettime(CLOCK_MONOTONIC, &b);
	printf("%.3f %d\n",
	    (double)(b.tv_sec - a.tv_sec) * 1e3 +
		(double)(b.tv_nsec - a.tv_nsec) / 1e6,
	    snap.reused);
	snapshot_clear(&snap);
	return 0;
}
