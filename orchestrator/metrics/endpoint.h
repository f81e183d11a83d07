/*
 * endpoint.h - where --metrics listens.
 *
 *	HOST:PORT     an address or a name; the first address it has
 *	[ADDRESS]:PORT
 *	:PORT, PORT   this machine's loopback
 *	unix:/PATH    a socket file, mode 0600; one that is dead is replaced
 *
 * PORT 0 is one that is free.
 */
#ifndef ORCHESTRATOR_METRICS_ENDPOINT_H
#define ORCHESTRATOR_METRICS_ENDPOINT_H

#include "common/err.h"

/* Without looking anything up. ERR_USAGE says what an endpoint looks like. */
int endpoint_check(const char *text, struct err *e);
/* A socket that listens, non-blocking and close-on-exec. *ret_url: how it is
 * reached, with the port that was chosen ("http://127.0.0.1:9464/metrics").
 * *ret_path: the socket file to be removed at the end, or NULL. Both yours.
 * ERR_USAGE with the remedy. */
int endpoint_listen(const char *text, int *ret_fd, char **ret_url,
    char **ret_path, struct err *e);

#endif
