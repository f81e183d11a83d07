/*
 * models.c - the run's model: which it is, the gateway to it, and what its
 * answers mean for the run.
 */
#include "common/compat.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "orchestrator/run/fetch.h"
#include "orchestrator/run/hooks.h"
#include "orchestrator/run/meter.h"
#include "orchestrator/run/network.h"
#include "orchestrator/run/pass.h"
#include "orchestrator/run/settings.h"
#include "orchestrator/run/state.h"

#define CONTEXT_DEFAULT 128000
#define NOTES_MAX 32768

/* With what is to be written where. */
static int
no_price(const struct endpoint *m, struct err *e)
{
	json_t *j = json_pack("{s:{s:{s:{s:{s:{s:s, s:s}}}}}}", "providers",
	    m->provider, "models", m->model, "price", "in", "USD", "out",
	    "USD");
	char *text = json_text(j);

	(void)err_set(e, ERR_USAGE,
	    "--max-usd: the price of %.80s/%.200s is not known. Name it, in "
	    "dollars for a million tokens (numbers for \"USD\"): %.600s, or "
	    "use --max-tokens",
	    m->provider, m->model, text);
	free(text);
	json_decref(j);
	return settings_in(e, ERR_USAGE);
}

int
models_find(struct run *r, struct err *e)
{
	json_t *settings = NULL;
	int rc;

	if (r->o.tool == NULL && r->old != NULL) {
		r->model = store_get(r->old, "model");
		if (r->model == NULL)
			r->model = xstrdup("replay");
		return pass_create(r, NULL, e);
	}
	if ((rc = settings_load(&settings, e)) < 0)
		return rc;
	/* From here on no child can inherit one. */
	model_take_keys(settings);
	rc = 0;
	if (r->o.tool == NULL)
		rc = settings_model(r->o.model, settings, &r->endpoint, e);
	if (rc == 0)
		rc = settings_in(e,
		    fetches_create(r, json_object_get(settings, "network"),
			&r->fetches, e));
	if (rc == 0)
		rc = network_create(
		    r, json_object_get(settings, "network"), &r->network, e);
	if (rc == 0)
		rc = hooks_create(r, settings, &r->hooks, e);
	if (rc == 0 && r->o.tool == NULL)
		rc = pass_create(r, settings, e);
	r->review |= json_is_true(json_object_get(settings, "review"));
	json_decref(settings);
	if (rc == 0 && r->o.tool == NULL)
		rc = settings_notes(NOTES_MAX, &r->notes, e);
	if (rc < 0)
		return rc;
	if (r->o.tool != NULL) {
		r->model = xstrdup("script");
		return 0;
	}
	r->model = r->endpoint == NULL
	    ? xstrdup("builtin")
	    : xasprintf("%s/%s", r->endpoint->provider, r->endpoint->model);
	if (r->o.max_micro != 0 && r->endpoint != NULL &&
	    !r->endpoint->price.known)
		return no_price(r->endpoint, e);
	if (r->endpoint == NULL && r->o.max_micro != 0)
		settings_note("--max-usd: the model is builtin, which costs "
			      "nothing: it limits nothing");
	if (r->endpoint == NULL && r->o.max_tokens != 0)
		settings_note("--max-tokens: the model is builtin, which uses "
			      "no tokens: it limits nothing");
	return 0;
}

static void
on_answer(void *ctx, const char *worker, const struct msg *m)
{
	struct run *r = ctx;
	struct worker *w = sched_worker(r, worker);

	if (w != NULL)
		handle_send(r, w, m);
}

static void
on_note(void *ctx, const struct gateway_note *n)
{
	struct run *r = ctx;
	struct worker *w = sched_worker(r, n->worker);

	if (w != NULL)
		spend_add(&w->spend, &n->spend);
	meter_note(r, n);
	run_event(r, "model_call",
	    json_pack("{s:s, s:s, s:I, s:I, s:I, s:b, s:o, s:o}", "worker",
		n->worker, "subtask", n->subtask, "turn", (json_int_t)n->turn,
		"ms", (json_int_t)n->ms, "requests", (json_int_t)n->requests,
		"recorded", n->recorded, "call", spend_json(&n->spend), "usage",
		spend_json(&r->ledger.spent)));
}

/* What fails for one worker for good fails for all. */
static void
on_fault(void *ctx, const char *worker, const struct fault *f)
{
	struct run *r = ctx;

	meter_fault(r, sched_worker(r, worker));
	run_event(r, "model_failed",
	    json_pack("{s:s, s:s, s:i, s:o}", "worker", worker, "kind",
		fault_name(f->kind), "status", (int)f->status, "text",
		json_str_lossy(f->text, strlen(f->text))));
	switch (f->kind) {
	case FAULT_AUTH:
	case FAULT_QUOTA:
	case FAULT_NOMODEL:
	case FAULT_TLS:
		run_end(r, EXIT_FATAL, "error", "%s: %s", r->model, f->text);
		break;
	default:
		log_warn("%s: %s: %s", worker, fault_name(f->kind), f->text);
		break;
	}
}

static void
on_failed(void *ctx, const struct err *e)
{
	run_end(ctx, EXIT_FATAL, "error", "%s", e->text);
}

static void
on_late(void *ctx, const char *worker, struct buf *b)
{
	prompt_late(ctx, worker, b);
}

/* What one turn costs at most: a full window, none of it cached. */
static uint64_t
turn_micro(const struct endpoint *ep)
{
	struct usage u = { .given = true };

	u.in_tokens = ep->context > 0 ? ep->context : CONTEXT_DEFAULT;
	u.out_tokens = ep->max_output;
	return price_cost(&ep->price, &u);
}

int
models_start(struct run *r, struct err *e)
{
	struct gateway_ops ops = { .answer = on_answer,
		.note = on_note,
		.fault = on_fault,
		.failed = on_failed,
		.late = on_late,
		.ctx = r };
	struct provider p;
	char *status;

	if (r->fetches != NULL && (r->http = http_create(r->loop, e)) == NULL)
		return e->code;
	if (r->old != NULL) {
		provider_replay(&p, r->model);
		ops.late = NULL;
	} else if (r->o.tool != NULL) {
		provider_script(&p, r->o.tool, r->o.tool_args);
	} else if (r->endpoint == NULL) {
		provider_builtin(&p, r->o.seed);
		ops.late = NULL;
	} else {
		r->turn_micro = turn_micro(r->endpoint);
		r->context = r->endpoint->context;
		r->max_output = r->endpoint->max_output;
		provider_http(&p, r->endpoint, r->http, r->loop, r->o.seed);
		r->endpoint = NULL;
	}
	r->gateway = gateway_create(r->store, &p, &ops, r->t0_ms);
	pass_start(r, &ops);
	if (r->old != NULL) {
		status = store_get(r->old, "status");
		gateway_replay(r->gateway, r->old,
		    status != NULL && strcmp(status, "budget") == 0 ? "budget"
								    : "error");
		free(status);
	}
	return 0;
}

json_t *
models_ceiling(const struct run *r, size_t workers)
{
	const struct ledger *l = &r->ledger;
	uint64_t left =
	    l->max_micro > l->spent.micro ? l->max_micro - l->spent.micro : 0;
	uint64_t most = (uint64_t)workers * r->turn_micro * MAX_TURNS;

	if (r->turn_micro == 0 && l->max_micro == 0)
		return NULL;
	if (l->max_micro != 0 && (r->turn_micro == 0 || left < most))
		most = left;
	return json_real((double)most / 1e6);
}

bool
models_builtin(const struct run *r, const struct subtask *t)
{
	return t->pass || strcmp(r->model, "builtin") == 0;
}

const char *
models_of(const struct run *r, const struct subtask *t)
{
	switch (t->kind) {
	case KIND_PLAN:
	case KIND_EXPLORE:
	case KIND_REPRODUCE:
	case KIND_REVIEW:
		return models_builtin(r, t) ? "builtin" : r->model;
	default:
		return NULL;
	}
}

struct gateway *
models_gateway(const struct run *r, const struct subtask *t)
{
	struct gateway *own = t->pass ? pass_gateway(r) : NULL;

	return own != NULL ? own : r->gateway;
}

void
models_free(struct run *r)
{
	network_free(r->network);
	pass_free(r);
	gateway_free(r->gateway);
	fetches_free(r->fetches);
	http_free(r->http);
	if (r->endpoint != NULL)
		model_clear(r->endpoint);
	free(r->endpoint);
	model_drop_keys();
	free(r->model);
	free(r->notes);
}
