/* The built-in model as a provider: it answers at once. */
#include "common/compat.h"

#include "orchestrator/gateway/provider.h"
#include "orchestrator/gateway/provider_builtin.h"

static void
provider_ask(void *self, const struct provider_ask *q, void **ret_call)
{
	struct err e;
	json_t *message = NULL;
	int r = builtin_reply(self, q->worker, q->conv, &message, &e);

	*ret_call = NULL;
	provider_answer_now(q, message, r < 0 ? e.text : NULL);
}

static bool
provider_outlook(void *self, uint64_t *ret_total, uint64_t *ret_done)
{
	return builtin_outlook(self, ret_total, ret_done);
}

static void
provider_worker_gone(void *self, const char *worker)
{
	builtin_worker_gone(self, worker);
}

static void
provider_free(void *self)
{
	builtin_free(self);
}

void
provider_builtin_until(const struct provider *p, uint64_t at_ms)
{
	builtin_until(p->self, at_ms);
}

void
provider_builtin(struct provider *ret, uint64_t seed)
{
	*ret = (struct provider){ .name = "builtin",
		.ask = provider_ask,
		.outlook = provider_outlook,
		.worker_gone = provider_worker_gone,
		.free = provider_free,
		.self = builtin_create(seed) };
}
