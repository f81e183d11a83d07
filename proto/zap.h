/*
 * zap.h - who may connect to the CURVE servers of a ZeroMQ context
 * (rfc.zeromq.org/spec/27).
 *
 * Without such a handler libzmq lets in every client that knows the server's
 * public key. It answers on the loop, without a thread; start it before the
 * server is bound, in the same context.
 */
#ifndef PROTO_ZAP_H
#define PROTO_ZAP_H

#include "common/err.h"
#include "common/loop.h"
#include "proto/curve.h"

#define ZAP_DOMAIN "foray"

struct zap;

/* May the owner of this public key come in? Only CURVE clients get as far. */
typedef bool (*zap_allow)(const char key[CURVE_KEY], void *ctx);

int zap_start(struct loop *l, void *zctx, zap_allow allow, void *ctx,
    struct zap **ret, struct err *e);
void zap_stop(struct zap *z); /* NULL is allowed */

#endif
