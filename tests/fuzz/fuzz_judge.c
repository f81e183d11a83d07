/*
 * A policy (JSON up to the first NUL), then a command. Whatever both are, there
 * is a verdict with a reason, no part is stricter than it, and more rules of
 * the repository never make it looser.
 */
#include "common/compat.h"

#include <assert.h>

#include "common/log.h"
#include "common/text.h"
#include "sandbox/policy/judge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct judge_place place = { "/ws/sub", "/ws", "/home/u" };

static enum ruling
judge(const struct rules *r, const char *command)
{
	struct verdict v;
	enum ruling ruling;
	json_t *j;

	judge_command(r, command, &place, &v);
	assert(v.reason != NULL && v.n <= VERDICT_PARTS_MAX);
	ruling = v.ruling;
	for (size_t i = 0; i < v.n; i++)
		assert(v.parts[i].ruling <= ruling);
	j = verdict_json(&v);
	assert(j != NULL);
	json_decref(j);
	verdict_clear(&v);
	return ruling;
}

static struct rules *
rules_with(const json_t *policy, enum rule_layer layer, bool builtin)
{
	struct rules *r = rules_create();
	struct err e = { 0 };

	if (builtin || rules_add(r, layer, "policy", policy, &e) == 0)
		return r;
	assert(e.text[0] != '\0');
	rules_free(r);
	return NULL;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size > 0 ? memchr(data, 0, size) : NULL;
	size_t n = nul != NULL ? (size_t)(nul - data) : 0, from;
	struct rules *plain, *user, *repo;
	json_t *policy = NULL;
	enum ruling before, after;
	struct verdict v;
	char *command;

	if (size > 8192)
		return 0;
	from = nul != NULL ? n + 1 : 0;
	command = xstrndup((const char *)data + from, size - from);
	if (n > 0 && json_parse((const char *)data, n, 8192, &policy, NULL) < 0)
		policy = NULL;
	plain = rules_with(NULL, LAYER_USER, true);
	before = judge(plain, command);
	if (policy != NULL) {
		user = rules_with(policy, LAYER_USER, false);
		if (user != NULL) {
			(void)judge(user, command);
			judge_tool(user, "edit_file", command, &place, &v);
			verdict_clear(&v);
			judge_tool(user, "fetch_url", command, &place, &v);
			verdict_clear(&v);
		}
		rules_free(user);
		repo = rules_with(policy, LAYER_REPO, false);
		if (repo != NULL) {
			after = judge(repo, command);
			assert(after >= before);
		}
		rules_free(repo);
	}
	rules_free(plain);
	json_decref(policy);
	free(command);
	return 0;
}
