#include "common/compat.h"

#include "orchestrator/gateway/guess.h"

#define RATIO_MIN (1.0 / 8)
#define RATIO_MAX 1.0
#define BYTES_MIN 256 /* below it the frame of a request counts more */

static uint64_t
up(double tokens)
{
	uint64_t n = (uint64_t)tokens;

	return (double)n < tokens ? n + 1 : n;
}

void
guess_init(struct guess *g)
{
	*g = (struct guess){ .ratio = 1.0 / 4 };
}

uint64_t
guess_tokens(const struct guess *g, size_t bytes)
{
	return up((double)bytes * g->ratio);
}

uint64_t
guess_high(const struct guess *g, size_t bytes)
{
	double ratio = g->learned ? g->ratio * 1.1 : 1.0 / 3;

	if (ratio > RATIO_MAX)
		ratio = RATIO_MAX;
	return up((double)bytes * ratio) + 64;
}

void
guess_learn(struct guess *g, size_t bytes, uint64_t tokens)
{
	double seen;

	if (bytes < BYTES_MIN || tokens == 0)
		return;
	seen = (double)tokens / (double)bytes;
	if (seen < RATIO_MIN)
		seen = RATIO_MIN;
	if (seen > RATIO_MAX)
		seen = RATIO_MAX;
	if (!g->learned || seen > g->ratio)
		g->ratio = seen;
	else
		g->ratio += (seen - g->ratio) / 4;
	g->learned = true;
}
