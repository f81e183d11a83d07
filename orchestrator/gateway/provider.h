/*
 * provider.h - who answers a model request. One struct of functions for each
 * kind; the gateway picks one by the model's name.
 */
#ifndef ORCHESTRATOR_GATEWAY_PROVIDER_H
#define ORCHESTRATOR_GATEWAY_PROVIDER_H

#include "common/err.h"
#include "common/json.h"

struct provider {
	const char *name;
	/* conv: the whole conversation, borrowed. *ret_message: a new
	 * assistant message. 0, or ERR_MODEL with a sentence. */
	int (*reply)(void *self, const char *worker, const json_t *conv,
	    json_t **ret_message, struct err *e);
	/* The worker will ask no more; may be NULL. */
	void (*worker_gone)(void *self, const char *worker);
	void (*free)(void *self);
	void *self;
};

/* Plays builtin (gateway/provider_builtin.h). */
void provider_builtin(struct provider *ret, uint64_t seed);
/* Makes one tool call, keeps its result, then finishes: `foray tool`. args is
 * JSON text, sent as it is (also when it is malformed: the worker judges it).
 */
void provider_script(struct provider *ret, const char *tool, const char *args);
/* The result of that call, NULL before it came. Borrowed. */
const char *provider_script_result(const struct provider *p);

#endif
