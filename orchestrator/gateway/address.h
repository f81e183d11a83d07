/*
 * address.h - which addresses belong to the public network. The others are
 * those of the special-purpose registries of IANA (RFC 6890 and its updates):
 * loopback, private, link-local (cloud metadata among them), shared, multicast,
 * documentation, and IPv6 forms that hold an IPv4 address of such a kind.
 */
#ifndef ORCHESTRATOR_GATEWAY_ADDRESS_H
#define ORCHESTRATOR_GATEWAY_ADDRESS_H

#include <sys/socket.h>

#include "common/compat.h"

bool address_is_public(const struct sockaddr *a);

#endif
