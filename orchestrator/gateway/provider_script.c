#include "common/compat.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "orchestrator/gateway/provider.h"

struct script {
	char *tool;
	char *args;
	char *result;
};

static json_t *
call(const char *id, const char *name, const char *args)
{
	return json_pack("{s:s, s:s, s:[{s:s, s:s, s:s}]}", "role", "assistant",
	    "content", "", "tool_calls", "id", id, "name", name, "arguments",
	    args);
}

void
provider_answer_now(
    const struct provider_ask *q, json_t *message, const char *why)
{
	struct provider_answer a = { .message = message, .usage.given = true };

	if (message == NULL)
		fault_set(&a.fault, FAULT_REQUEST, "%s", why);
	q->done(q->ctx, &a);
}

static int
script_reply(
    struct script *s, const json_t *conv, json_t **ret_message, struct err *e)
{
	const json_t *last = json_array_get(conv, json_array_size(conv) - 1);
	const char *role, *content;

	if (json_get_str(last, "role", true, &role, e) < 0)
		return ERR_MODEL;
	if (strcmp(role, "tool") != 0) {
		*ret_message = call("call-1", s->tool, s->args);
	} else {
		if (json_get_str(last, "content", true, &content, e) < 0)
			return ERR_MODEL;
		free(s->result);
		s->result = xstrdup(content);
		*ret_message = call("call-2", "finish",
		    "{\"verdict\":\"done\",\"reason\":\"one call\"}");
	}
	if (*ret_message == NULL)
		return err_set(
		    e, ERR_MODEL, "the tool's name or arguments are not UTF-8");
	return 0;
}

static void
script_ask(void *self, const struct provider_ask *q, void **ret_call)
{
	json_t *message = NULL;
	struct err e;
	int r = script_reply(self, q->conv, &message, &e);

	*ret_call = NULL;
	provider_answer_now(q, message, r < 0 ? e.text : NULL);
}

static void
script_free(void *self)
{
	struct script *s = self;

	free(s->tool);
	free(s->args);
	free(s->result);
	free(s);
}

void
provider_script(struct provider *ret, const char *tool, const char *args)
{
	struct script *s = xcalloc(1, sizeof *s);

	s->tool = xstrdup(tool);
	s->args = xstrdup(args);
	*ret = (struct provider){
		.name = "script",
		.ask = script_ask,
		.free = script_free,
		.self = s,
	};
}

const char *
provider_script_result(const struct provider *p)
{
	return ((const struct script *)p->self)->result;
}
