/*
 * model.h - which model is meant, where it is and what it costs: "builtin",
 * "openai/NAME", "anthropic/NAME", "PROVIDER/NAME" with a provider of the
 * settings.
 *
 * Keys come from environment variables or a command of the person's and live in
 * struct endpoint alone; model_clear() wipes them. Taken keys are removed from
 * our environment (model_take_keys), so that no child inherits them.
 */
#ifndef ORCHESTRATOR_GATEWAY_MODEL_H
#define ORCHESTRATOR_GATEWAY_MODEL_H

#include "common/err.h"
#include "common/json.h"
#include "orchestrator/gateway/dialect.h"

/* Millionths of a dollar for a million tokens, which is what a dollar price
 * for a million is times 10^6. */
struct price {
	bool known;
	uint64_t in, cached, cache_write, out;
};

/*
 * Settings: {"model":NAME,"providers":{NAME:{
 *	"api":"openai-chat"|"openai-responses"|"anthropic", "base_url":URL,
 *	"key_env":VARIABLE, "key_command":SHELL, "plain_http":BOOL,
 *	"parallel":N, "max_retries":N, "max_wait":"60s", "idle":"5m",
 *	"models":{MODEL:{"context":TOKENS, "max_output":TOKENS,
 *		"effort":WORD, "quirks":{NAME:BOOL},
 *		"price":{"in":USD,"cached":USD,"cache_write":USD,"out":USD}}}}}}
 * with dollars for a million tokens. Other members are refused. A base URL may
 * end in "/", "/v1" or the whole path; http to another host than this one needs
 * plain_http. key_env comes before key_command, which may take 30 seconds.
 */
struct endpoint {
	char *provider; /* "openai" */
	char *model;    /* as the server wants it */
	char *url;      /* base URL + the dialect's path */
	const struct dialect *dialect;
	char *key; /* NULL: the server needs none; mlock'ed where possible */
	size_t key_len;
	/* Where they come from, for a person: "OPENAI_API_KEY",
	 * "providers.x.base_url". key_from is NULL when none is asked for. */
	char *key_from, *url_from;
	uint64_t context;    /* tokens of the window; 0: not known */
	uint64_t max_output; /* tokens asked for a reply */
	char *effort;
	unsigned parallel; /* requests in flight at most */
	/* For rate and overload; at most 4 of them for other faults. */
	unsigned max_retries;
	/* Between two tries; a server may ask for ten times that. 0: 60 s. */
	uint64_t max_wait_ms;
	uint64_t idle_ms; /* a reply's silence; 0: 300 s */
	struct quirks quirks;
	struct price price;
	bool plain; /* http to a host that is not loopback was allowed */
};

/* Cost of a usage in millionths of a dollar, rounded up. When the price is not
 * known: what the server named, else 0. */
uint64_t price_cost(const struct price *p, const struct usage *u);

/* name: what -m says, or NULL: from settings, else builtin when no key is set.
 * settings: the person's, may be NULL. ERR_USAGE with a list of choices; a key
 * that is missing is ERR_MODEL naming the variable. Where the settings are
 * wrong the text begins with "providers" or "model". *ret is NULL for builtin.
 */
int model_find(const char *name, const json_t *settings, struct endpoint **ret,
    struct err *e);
/* Wipes the key; the struct stays and is empty. */
void model_clear(struct endpoint *m);
void model_free(struct endpoint *m);
/* Copy all key variables that settings and defaults name, then unset them. */
void model_take_keys(const json_t *settings);
void model_drop_keys(void);

#endif
