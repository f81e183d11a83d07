#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "orchestrator/repair/trial.h"

#define ARGS_MAX_BYTES (96 * 1024)
#define AIM_MS 2500 /* how long a call may take, about */
/* Testing until the model gives up, if nothing else ends the run: eight
 * minutes of one processor. The second wave of a program of two hundred lines
 * is some thousand candidates, and the only way to a third of the bugs. */
#define GIVE_UP_MS (8 * 60 * 1000)
#define LEAST_CANDS 1000
#define OTHERS_MAX 4 /* edits that pass, too, and are told */
#define TEXT_MAX 1000

static json_t *
change(const struct queue *q, size_t i, bool back)
{
	const struct cand *c = queue_cand(q, i);
	const struct source *s = queue_source(q, i);
	char *old = cand_old(c, s);
	json_t *j = json_object();

	json_object_set_new(
	    j, "path", json_str_lossy(s->path, strlen(s->path)));
	json_object_set_new(
	    j, back ? "new" : "old", json_str_lossy(old, strlen(old)));
	json_object_set_new(j, back ? "old" : "new",
	    json_str_lossy(c->new_text, strlen(c->new_text)));
	json_object_set_new(j, "line", json_integer(c->line));
	free(old);
	return j;
}

void
trial_within(json_t *args, uint64_t s)
{
	if (s != UINT64_MAX)
		json_object_set_new(
		    args, "within_s", json_integer(s > 0 ? (json_int_t)s : 1));
}

json_t *
trial_edit(const struct queue *q, size_t cand, bool back)
{
	return change(q, cand, back);
}

json_t *
trial_args(const struct queue *q, const uint32_t *cand, size_t *n,
    const struct step *check, bool stop)
{
	json_t *edits = json_array();
	uint64_t limit = (check->limit_ms + 999) / 1000;
	size_t bytes = 0, k;

	for (k = 0; k < *n; k++) {
		const struct cand *c = queue_cand(q, cand[k]);
		char *label;

		bytes += 2 * strlen(c->new_text) + strlen(c->what) + 200;
		if (k > 0 && bytes > ARGS_MAX_BYTES)
			break;
		label = xasprintf("line %u: %s", c->line, c->what);
		json_array_append_new(edits,
		    json_pack("{s:o, s:[o]}", "label",
			json_str_lossy(label, strlen(label)), "changes",
			change(q, cand[k], false)));
		free(label);
	}
	*n = k;
	return json_pack("{s:s, s:o, s:I, s:b}", "check", check->command,
	    "edits", edits, "timeout_s", (json_int_t)(limit < 1 ? 1 : limit),
	    "stop_on_pass", stop);
}

size_t
trial_find(const struct queue *q, const json_t *edit, bool back)
{
	const json_t *ch = json_object_get(edit, "changes");
	const json_t *e = json_is_array(ch) ? json_array_get(ch, 0) : edit;
	json_int_t line = json_integer_value(json_object_get(e, "line"));

	if (line < 1 || line > UINT32_MAX)
		return QUEUE_NONE;
	return queue_find(q, dialog_str(e, "path"), (uint32_t)line,
	    dialog_str(e, back ? "new" : "old"),
	    dialog_str(e, back ? "old" : "new"));
}

size_t
trial_most(const struct facts *f)
{
	uint64_t n = GIVE_UP_MS / f->test_ms;

	if (f->budget_ms > 0 || n > CAND_MAX)
		return CAND_MAX;
	return n < LEAST_CANDS ? LEAST_CANDS : n;
}

size_t
trial_size(const struct facts *f, uint64_t ms, size_t calls, size_t errors)
{
	uint64_t n = f->parallel * AIM_MS / (ms > 0 ? ms : 1);
	uint64_t least = f->parallel < TRIAL_MAX ? f->parallel : TRIAL_MAX;

	n = n > TRIAL_MAX ? TRIAL_MAX : n;
	if (calls == 0)
		n /= 3; /* the first shows soon whether it works at all */
	n >>= errors < 4 ? errors : 4;
	return n < least ? least : n;
}

void
trial_read(const struct queue *q, const json_t *args, const char *text,
    struct trial_result *ret)
{
	const json_t *edits = json_object_get(args, "edits"), *item, *results;
	bool tried[TRIAL_MAX] = { false }, passed[TRIAL_MAX] = { false };
	bool late[TRIAL_MAX] = { false };
	json_t *j = NULL;
	json_int_t n;
	size_t i;

	ret->n = 0;
	if (!dialog_is_error(text) &&
	    json_parse(text, strlen(text), RESULT_MAX, &j, NULL) < 0)
		/* Not readable (any more): they must not be tried for ever. */
		memset(tried, true, sizeof tried);
	results = json_object_get(j, "results");
	json_array_foreach (results, i, item) {
		n = json_integer_value(json_object_get(item, "n"));
		if (n < 1 || n > TRIAL_MAX)
			continue;
		tried[n - 1] = true;
		passed[n - 1] |= json_is_true(json_object_get(item, "pass"));
		late[n - 1] = json_is_true(json_object_get(item, "timed_out"));
	}
	if (json_array_size(results) == 0) {
		n = json_integer_value(json_object_get(j, "tried"));
		for (i = 0; i < TRIAL_MAX && (json_int_t)i < n; i++)
			tried[i] = true;
	}
	json_array_foreach (json_object_get(j, "passed"), i, item) {
		n = json_integer_value(item);
		if (n >= 1 && n <= TRIAL_MAX)
			tried[n - 1] = passed[n - 1] = true;
	}
	json_array_foreach (edits, i, item) {
		size_t c = trial_find(q, item, false);

		if (i >= TRIAL_MAX)
			break;
		if (c == QUEUE_NONE)
			continue;
		ret->cand[ret->n] = (uint32_t)c;
		ret->tried[ret->n] = tried[i];
		ret->late[ret->n] = late[i] && !passed[i];
		ret->passed[ret->n++] = passed[i];
	}
	json_decref(j);
}

static void
add_passed(json_t *list, const struct queue *q, size_t i, const char *also)
{
	const struct cand *c = queue_cand(q, i);
	char *s = xasprintf("%s line %u: %s %smakes the tests pass (%s)",
	    queue_source(q, i)->path, c->line, c->what, also,
	    repair_ops[c->op].sentence);

	json_array_append_new(
	    list, json_str_lossy(s, text_cut(s, strlen(s), TEXT_MAX)));
	free(s);
}

json_t *
trial_passed(const struct queue *q, size_t fix)
{
	json_t *list = json_array();
	size_t n = 0;

	add_passed(list, q, fix, "");
	for (size_t i = 0; i < queue_n_cand(q) && n < OTHERS_MAX; i++) {
		if (i == fix || queue_cand(q, i)->state != CAND_PASSED)
			continue;
		add_passed(list, q, i, "also ");
		n++;
	}
	return list;
}
