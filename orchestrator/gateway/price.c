#include "common/compat.h"

#include "orchestrator/gateway/price.h"

#define TOKENS_MAX 1000000000 /* of one reply */
#define USD_MAX 1e6

__extension__ typedef unsigned __int128 wide;

/* Dollars for a million tokens. */
static const struct {
	const char *provider, *model;
	double in, cached, cache_write, out;
} list[] = {
	/* https://platform.claude.com/docs/en/about-claude/pricing, as stored
	 * in autumn 2026; cache writes are those for five minutes. */
	{ "anthropic", "claude-fable-5-1", 10, 0.25, 12.5, 50 },
	{ "anthropic", "claude-fable-5", 10, 1, 12.5, 50 },
	{ "anthropic", "claude-opus-5", 5, 0.5, 6.25, 25 },
	{ "anthropic", "claude-opus-4-8", 5, 0.5, 6.25, 25 },
	{ "anthropic", "claude-opus-4-7", 5, 0.5, 6.25, 25 },
	{ "anthropic", "claude-opus-4-6", 5, 0.5, 6.25, 25 },
	{ "anthropic", "claude-opus-4-5", 5, 0.5, 6.25, 25 },
	{ "anthropic", "claude-opus-4-1", 15, 1.5, 18.75, 75 },
	{ "anthropic", "claude-sonnet-4-6", 3, 0.3, 3.75, 15 },
	{ "anthropic", "claude-sonnet-4-5", 3, 0.3, 3.75, 15 },
	{ "anthropic", "claude-haiku-4-5", 1, 0.1, 1.25, 5 },
	/* github/docs data/tables/copilot/models-and-pricing.yml, which gives
	 * OpenAI's prices; as stored in 2026. */
	{ "openai", "gpt-4.1", 2, 0.5, 2, 8 },
	{ "openai", "gpt-5-mini", 0.25, 0.025, 0.25, 2 },
	{ "openai", "gpt-5.2", 1.75, 0.175, 1.75, 14 },
	{ "openai", "gpt-5.2-codex", 1.75, 0.175, 1.75, 14 },
	{ "openai", "gpt-5.3-codex", 1.75, 0.175, 1.75, 14 },
};

static uint64_t
micro(double usd)
{
	return (uint64_t)(usd * 1e6 + 0.5);
}

/* "" or a date: "-20250929", "-2026-04-01". */
static bool
is_date(const char *s)
{
	return s[0] == '\0' ||
	    (s[0] == '-' && strncmp(s + 1, "20", 2) == 0 && strlen(s) >= 9 &&
		s[1 + strspn(s + 1, "0123456789-")] == '\0');
}

void
price_find(const char *provider, const char *model, struct price *ret)
{
	size_t n;

	*ret = (struct price){ 0 };
	for (size_t i = 0; i < nitems(list); i++) {
		n = strlen(list[i].model);
		if (strcmp(list[i].provider, provider) != 0 ||
		    strncmp(list[i].model, model, n) != 0 ||
		    !is_date(model + n))
			continue;
		*ret = (struct price){
			.known = true,
			.in = micro(list[i].in),
			.cached = micro(list[i].cached),
			.cache_write = micro(list[i].cache_write),
			.out = micro(list[i].out),
		};
		return;
	}
}

static int
get_usd(const json_t *j, const char *key, bool required, uint64_t *ret,
    struct err *e)
{
	const json_t *v = json_object_get(j, key);
	double usd;

	if (v == NULL && !required)
		return 0;
	usd = json_number_value(v);
	if (!json_is_number(v) || !(usd >= 0 && usd <= USD_MAX))
		return err_set(e, ERR_USAGE,
		    "\"price\" needs \"%s\": dollars for a million tokens, a "
		    "number",
		    key);
	*ret = micro(usd);
	return 0;
}

int
price_from_json(const json_t *j, struct price *ret, struct err *e)
{
	struct price p = { .known = true };
	int r;

	if ((r = get_usd(j, "in", true, &p.in, e)) < 0)
		return r;
	p.cached = p.cache_write = p.in;
	if ((r = get_usd(j, "cached", false, &p.cached, e)) < 0 ||
	    (r = get_usd(j, "cache_write", false, &p.cache_write, e)) < 0 ||
	    (r = get_usd(j, "out", true, &p.out, e)) < 0)
		return r;
	*ret = p;
	return 0;
}

uint64_t
price_cost(const struct price *p, const struct usage *u)
{
	uint64_t cached = u->cached, written = u->cache_write;
	wide sum;

	if (!p->known)
		return u->has_cost ? u->cost_micro : 0;
	if (cached > u->in_tokens)
		cached = u->in_tokens;
	if (written > u->in_tokens - cached)
		written = u->in_tokens - cached;
	/* 2^64 tokens at 2^40 each, three times: far from 2^128. */
	sum = (wide)(u->in_tokens - cached - written) * p->in +
	    (wide)cached * p->cached + (wide)written * p->cache_write +
	    (wide)u->out_tokens * p->out;
	sum = sum / 1000000 + (sum % 1000000 > 0);
	return sum > UINT64_MAX ? UINT64_MAX : (uint64_t)sum;
}

/* What a server counts is its word; sums and messages must hold it. */
static uint64_t
sane(uint64_t tokens)
{
	return tokens < TOKENS_MAX ? tokens : TOKENS_MAX;
}

void
price_spend(struct spend *s, const struct usage *u, uint64_t micro)
{
	s->in_tokens = sane(u->in_tokens);
	s->out_tokens = sane(u->out_tokens);
	s->cached_tokens = sane(u->cached);
	s->cache_write_tokens = sane(u->cache_write);
	s->reasoning_tokens = sane(u->reasoning);
	s->micro = micro;
}
