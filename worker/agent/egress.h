/*
 * egress.h - the network of a command, handed out to the proxy.
 *
 * Where hosts are allowed, a command's sandbox has a socket that listens in its
 * network (sandbox/start.h, ret_listen). It goes to the host over the link
 * directory's socket n; the connection that carried it is the command's
 * lifeline: what the proxy does for it ends when that is closed.
 */
#ifndef WORKER_AGENT_EGRESS_H
#define WORKER_AGENT_EGRESS_H

#include "common/buf.h"
#include "common/err.h"
#include "common/strv.h"

/* *listen_fd is closed in any case. *ret_line is yours, to be closed when the
 * command has ended. */
int egress_hand_out(int *listen_fd, int *ret_line, struct err *e);
/* The hosts ("example.org:443") that were refused so far: a line each at the
 * lifeline. Does not wait. */
#define EGRESS_TOLD_MAX 5000
void egress_refused(int line_fd, struct strv *ret);
/* As a last line of a result; nothing for none. */
void egress_say(const struct strv *hosts, struct buf *ret);

#endif
