#include "common/compat.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/text.h"
#include "orchestrator/run/review.h"

#define PATCH_SHOWN ((size_t)32 << 10) /* the rest is in the files */

bool
review_wanted(const struct run *r, const struct subtask *t)
{
	return r->review && !models_builtin(r, t);
}

void
review_begin(struct run *r, struct subtask *v)
{
	char *label = xasprintf("review-%s", v->of->label);
	struct subtask *t = sched_add(r, KIND_REVIEW, label, v->hypothesis_id,
	    v->hypothesis, v->patch, v->patch_len);

	t->of = v;
	free(label);
}

void
review_after(struct run *r, struct subtask *t)
{
	bool objection = strcmp(t->verdict, "refuted") == 0;

	run_event(r, "reviewed",
	    json_pack("{s:b, s:s, s:s, s:s}", "ok", !objection, "reason",
		t->reason, "subtask", t->id, "candidate", t->of->of->label));
	if (objection)
		results_again(r, t->of->of);
	else
		results_accept(r, t->of);
}

struct subtask *
review_of(const struct run *r, const char *label)
{
	struct subtask *t;

	if (!text_starts(label, "review-"))
		return NULL;
	TAILQ_FOREACH (t, &r->subtasks, entry)
		if (t->kind == KIND_VERIFY && t->of != NULL &&
		    strcmp(t->of->label, label + strlen("review-")) == 0)
			return t;
	return NULL;
}

static const char role[] =
    "A patch for this was made by another, and all tests pass with it. It is "
    "applied to your files. Review it: look for what the tests do not show - a "
    "cause that stays, a case that breaks, a check that is switched off, code "
    "written for the tests alone. Run what you need; change nothing. End with "
    "finish: verdict \"done\" when you have no objection, or \"refuted\" with "
    "the objection as the reason, in a sentence with a place and a way to see "
    "it. A matter of taste is no objection.\n";

void
review_role(const struct subtask *t, struct buf *b)
{
	size_t len = text_cut(t->patch, t->patch_len, PATCH_SHOWN);

	(void)buf_printf(b, "%s\nThe patch:\n\n```diff\n%.*s\n```\n", role,
	    (int)len, t->patch);
}
