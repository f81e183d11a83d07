/* price.h - what models cost: known list prices, and those of settings. */
#ifndef ORCHESTRATOR_GATEWAY_PRICE_H
#define ORCHESTRATOR_GATEWAY_PRICE_H

#include "orchestrator/gateway/ledger.h"
#include "orchestrator/gateway/model.h"

/* List price of a model at its maker ("openai", "anthropic"), matched by its
 * whole name or the name before a date. Not known: known is false. */
void price_find(const char *provider, const char *model, struct price *ret);
/* {"in":USD,"cached":..,"cache_write":..,"out":USD} for a million tokens; what
 * is absent costs what "in" costs. */
int price_from_json(const json_t *j, struct price *ret, struct err *e);

/* What a server says that it counted, within bounds. */
void price_spend(struct spend *s, const struct usage *u, uint64_t micro);

#endif
