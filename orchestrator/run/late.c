/* late.c - see late.h. */
#include "common/compat.h"

#include "orchestrator/gateway/provider_builtin.h"
#include "orchestrator/run/late.h"

bool
late_is(const struct subtask *t)
{
	return t->kind == KIND_EXPLORE && !t->pass && t->verdict != NULL &&
	    strcmp(t->verdict, "stuck") == 0 && t->reason != NULL &&
	    strcmp(t->reason, BUILTIN_OVER) == 0;
}

#define EDITS_MAX 1000000 /* that a worker may claim */

/* A later attempt at the same hypothesis counts instead. */
static bool
is_last(const struct subtask *t)
{
	const struct subtask *o = t;

	while ((o = TAILQ_NEXT(o, entry)) != NULL)
		if (o->kind == KIND_EXPLORE &&
		    strcmp(o->hypothesis_id, t->hypothesis_id) == 0)
			return false;
	return true;
}

bool
late_any(const struct run *r)
{
	const struct subtask *t;

	TAILQ_FOREACH (t, &r->subtasks, entry)
		if (late_is(t) && is_last(t))
			return true;
	return false;
}

bool
late_edits(const struct run *r, size_t *ret_n, size_t *ret_of)
{
	const struct subtask *t;
	size_t n, of;

	*ret_n = *ret_of = 0;
	TAILQ_FOREACH (t, &r->subtasks, entry) {
		if (t->kind != KIND_EXPLORE || t->pass || t->verdict == NULL ||
		    strcmp(t->verdict, "stuck") != 0 || t->reason == NULL ||
		    sscanf(t->reason, BUILTIN_TIMED_OUT, &n, &of) != 2 ||
		    n > of || of > EDITS_MAX)
			continue;
		*ret_n += n;
		*ret_of += of;
	}
	return *ret_n > 0;
}
