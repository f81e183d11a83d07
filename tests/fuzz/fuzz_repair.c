/*
 * The tokenizer, the operators and the queue on any text. The first byte
 * chooses the dialect. What must hold: every candidate's old lines are lines
 * of the text, and it changes something.
 */
#include "common/compat.h"

#include <assert.h>

#include "orchestrator/repair/queue.h"
#include "orchestrator/repair/suspect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(const struct queue *q)
{
	for (size_t i = 0; i < queue_n_cand(q); i++) {
		const struct cand *c = queue_cand(q, i);
		const struct source *s = queue_source(q, i);
		char *old = cand_old(c, s);

		assert(c->line >= 1 && c->line + c->n_lines - 1 <= s->n_line);
		assert(strcmp(old, c->new_text) != 0);
		assert(queue_find(q, s->path, c->line, old, c->new_text) !=
		    QUEUE_NONE);
		free(old);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "a.py", "a.c", "a.js", "a.sh",
		"a.java", "a.rb" };
	const char *text = (const char *)data + 1;
	struct source *s[2] = { NULL, NULL };
	struct strv failing = { 0 };
	struct suspect_facts f = { .failing = &failing };
	struct cands c = { 0 };
	struct queue *q;
	uint32_t got[16];
	size_t n = 0;
	float *weight[2];
	char *output;

	if (size < 2 || size > 8000)
		return 0;
	s[0] = source_create(names[data[0] % nitems(names)], text, size - 1);
	if (s[0] == NULL)
		return 0;
	s[1] = source_create("test_a.py", text, size - 1);
	output = strndup(text, size - 1);
	f.output = output;
	strv_add(&failing, "test_f");
	suspect_lines(&f, s, 1, s[1] != NULL ? 2 : 1, weight);
	repair_generate(&c, s, 1, 0, weight[0]);
	q = queue_create(&c, s, 1, CAND_MAX, data[0]);
	check(q);
	while ((n = queue_next(q, 1, "H2", nitems(got), got)) > 0) {
		for (size_t i = 0; i < n; i++)
			queue_settle(q, got[i], false);
	}
	assert(queue_left(q) == 0);
	queue_free(q);
	cands_clear(&c);
	free(weight[0]);
	free(output);
	strv_clear(&failing);
	source_free(s[0]);
	source_free(s[1]);
	return 0;
}
