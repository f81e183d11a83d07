/*
 * remedy.h - what a person can do about a provider's fault: where its key and
 * its address come from.
 */
#ifndef ORCHESTRATOR_GATEWAY_REMEDY_H
#define ORCHESTRATOR_GATEWAY_REMEDY_H

#include "orchestrator/gateway/model.h"

/* Add it to the fault's text, which is cut to make room. Names of variables and
 * settings only: no part of a key or a URL. Most kinds have none. */
void remedy_add(struct fault *f, const struct endpoint *m);

#endif
