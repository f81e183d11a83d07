#include "common/compat.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/text.h"
#include "orchestrator/run/pass.h"
#include "orchestrator/run/topology.h"

#define MAX_HYPOTHESES 64 /* or one for each worker */
#define FIRST_SHARE 4     /* escalate: a quarter for the first attempt */

static const char *const names[] = { "single", "hypotheses", "escalate" };

int
topology_check(const char *name, struct err *e)
{
	size_t i;

	for (i = 0; i < nitems(names); i++)
		if (strcmp(name, names[i]) == 0)
			return 0;
	return err_set(e, ERR_USAGE,
	    "--topology: \"%s\" is not one of single, hypotheses, escalate",
	    name);
}

const char *
topology_name(enum topology t)
{
	return names[t];
}

static enum topology
topology_of(const struct run *r)
{
	size_t i;

	if (r->o.topology != NULL)
		for (i = 0; i < nitems(names); i++)
			if (strcmp(r->o.topology, names[i]) == 0)
				return (enum topology)i;
	return strcmp(r->model, "builtin") == 0 ? TOPOLOGY_HYPOTHESES
						: TOPOLOGY_ESCALATE;
}

static void
plan(struct run *r)
{
	r->planned = true;
	r->phase = PHASE_PLAN;
	(void)sched_add(r, KIND_PLAN, "plan", NULL, NULL, NULL, 0);
}

static void
first(struct run *r, const char *label, unsigned share)
{
	struct subtask *t =
	    sched_add(r, KIND_EXPLORE, label, label, NULL, NULL, 0);

	r->phase = PHASE_EXPLORE;
	if (share <= 1)
		return;
	/* Rounded up: a budget is not made no limit by being small. */
	t->ledger.max_calls = (r->ledger.max_calls + share - 1) / share;
	t->ledger.max_tokens = (r->ledger.max_tokens + share - 1) / share;
	t->ledger.max_micro = (r->ledger.max_micro + share - 1) / share;
}

static void
begin(struct run *r)
{
	switch (topology_of(r)) {
	case TOPOLOGY_SINGLE:
		first(r, "single", 1);
		break;
	case TOPOLOGY_HYPOTHESES:
		plan(r);
		break;
	case TOPOLOGY_ESCALATE:
		first(r, "first", FIRST_SHARE);
		break;
	}
}

void
topology_begin(struct run *r)
{
	if (!pass_begin(r))
		begin(r);
}

/* A person's hint is tried beside it. */
bool
topology_is_begun(const struct run *r)
{
	const struct subtask *t;

	TAILQ_FOREACH (t, &r->subtasks, entry)
		if ((t->kind == KIND_PLAN || t->kind == KIND_EXPLORE) &&
		    !t->pass && !text_starts(t->label, "hint-"))
			return true;
	return false;
}

bool
topology_more(struct run *r)
{
	if (!r->no_more && r->winner == NULL && !topology_is_begun(r)) {
		begin(r);
		return true;
	}
	if (r->planned || r->no_more || r->winner != NULL ||
	    topology_of(r) != TOPOLOGY_ESCALATE)
		return false;
	plan(r);
	return true;
}

/* --- the plan ------------------------------------------------------------ */

/* Letters and digits alone, in one case: what makes two sentences the same. */
static char *
essence(const char *s)
{
	char *ret = xstrdup(s), *to = ret;

	for (; *s != '\0'; s++)
		if (isalnum((unsigned char)*s) || (unsigned char)*s >= 0x80)
			*to++ = (char)tolower((unsigned char)*s);
	*to = '\0';
	return ret;
}

/* The essence of nothing, and of those that are tried already. */
static void
known(const struct run *r, struct strv *ret)
{
	const struct subtask *t;
	char *s;

	strv_add(ret, "");
	TAILQ_FOREACH (t, &r->subtasks, entry) {
		if (t->pass || t->kind != KIND_EXPLORE || t->hypothesis == NULL)
			continue;
		s = essence(t->hypothesis);
		strv_take(ret, &s);
	}
}

const char *
topology_sentence(const char *s)
{
	const char *colon = strchr(s, ':');

	if (s[0] != 'H' || colon == NULL || colon - s > 7 || colon == s + 1 ||
	    strspn(s + 1, "0123456789") != (size_t)(colon - s - 1))
		return s;
	s = colon + 1;
	return s + strspn(s, " ");
}

void
topology_planned(struct run *r, const struct subtask *plan)
{
	size_t i, n = 0, max = MAX_HYPOTHESES;
	struct strv all = { 0 };
	json_t *list = json_array();
	char id[16], *what;

	if (max < r->o.workers)
		max = r->o.workers;
	known(r, &all);
	for (i = 0; i < plan->findings.n && n < max; i++) {
		const char *s = topology_sentence(plan->findings.v[i]);

		what = essence(s);
		if (strv_has(&all, what)) {
			free(what);
			continue;
		}
		strv_take(&all, &what);
		(void)snprintf(id, sizeof id, "H%zu", ++n);
		(void)sched_add(r, KIND_EXPLORE, id, id, s, NULL, 0);
		(void)json_array_append_new(
		    list, json_pack("{s:s, s:s}", "id", id, "hypothesis", s));
	}
	run_event(r, "planned",
	    json_pack("{s:s, s:o, s:s, s:o*}", "model", models_of(r, plan),
		"hypotheses", list, "reason", plan->reason, "ceiling_usd",
		models_ceiling(r, n)));
	strv_clear(&all);
	r->phase = PHASE_EXPLORE;
}
