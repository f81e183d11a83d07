#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "common/text.h"
#include "orchestrator/repair/queue.h"

static const char text[] = "def first(a, b):\n"
			   "    if a < b:\n"
			   "        return a\n"
			   "    return b\n"
			   "\n"
			   "def second(a, b):\n"
			   "    return a - b\n"
			   "\n"
			   "def third(a, b):\n"
			   "    return a * b\n";

struct bed {
	struct source *s;
	struct queue *q;
};

static void
bed_init(struct bed *b, const char *code, uint64_t seed)
{
	struct cands c = { 0 };

	b->s = source_create("mod.py", code, strlen(code));
	repair_generate(&c, &b->s, 1, 0, NULL);
	b->q = queue_create(&c, &b->s, 1, CAND_MAX, seed);
	assert_int_equal(c.n, 0); /* taken over */
}

static void
bed_clear(struct bed *b)
{
	queue_free(b->q);
	source_free(b->s);
}

static void
test_hypotheses(void **state)
{
	struct bed b;
	size_t sum = 0;

	(void)state;
	bed_init(&b, text, 0);
	assert_in_range(queue_n_hypo(b.q), 2, QUEUE_MAX_HYPO);
	for (size_t i = 0; i < queue_n_hypo(b.q); i++) {
		const struct hypo *h = queue_hypo(b.q, i);

		assert_int_equal(queue_hypo_find(b.q, h->name), i);
		assert_int_equal(h->total, h->n_list);
		assert_true(h->total > 0);
		assert_true(text_ends(h->sentence, " is the fault"));
		sum += h->total;
	}
	assert_int_equal(sum, queue_n_cand(b.q));
	assert_non_null(
	    strstr(queue_hypo(b.q, 0)->sentence, "first() (mod.py:1-4)"));
	assert_int_equal(queue_hypo_find(b.q, "H99"), QUEUE_NONE);
	assert_int_equal(queue_hypo_find(b.q, NULL), QUEUE_NONE);
	bed_clear(&b);
}

/* Even one function gives two hypotheses. */
static void
test_one_place(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, "x = 1\n", 0);
	assert_true(queue_n_cand(b.q) > 1);
	assert_in_range(queue_n_hypo(b.q), 2, QUEUE_MAX_HYPO);
	bed_clear(&b);
	bed_init(&b, "", 0);
	assert_int_equal(queue_n_hypo(b.q), 0);
	assert_int_equal(queue_left(b.q), 0);
	bed_clear(&b);
}

/* The best of all, but rather those of its own hypothesis. */
static void
test_dealing(void **state)
{
	struct bed b;
	uint32_t got[8];
	size_t n, own = 0, all = 0;
	float last = 1e9f;

	(void)state;
	bed_init(&b, text, 0);
	n = queue_next(b.q, 1, "H2", 8, got);
	assert_int_equal(n, 8);
	for (size_t i = 0; i < n; i++)
		own += queue_cand(b.q, got[i])->hypo == 1;
	for (size_t i = 0; i < 8; i++)
		all += queue_cand(b.q, i)->hypo == 1;
	assert_true(own > 0 && own >= all);
	assert_int_equal(
	    queue_hypo(b.q, 1)->left, queue_hypo(b.q, 1)->total - own);
	bed_clear(&b);
	/* Without a hypothesis it is the order of the scores. */
	bed_init(&b, text, 0);
	while ((n = queue_next(b.q, 1, NULL, 8, got)) > 0) {
		for (size_t i = 0; i < n; i++) {
			assert_true(queue_cand(b.q, got[i])->score <= last);
			last = queue_cand(b.q, got[i])->score;
		}
	}
	assert_int_equal(queue_left(b.q), 0);
	bed_clear(&b);
}

static void
test_all_once(void **state)
{
	struct bed b;
	uint32_t got[7];
	size_t n, total = 0;

	(void)state;
	bed_init(&b, text, 3);
	do {
		n = 0;
		for (uint32_t w = 1; w <= 3; w++) {
			size_t k = queue_next(b.q, w, NULL, 7, got);

			for (size_t i = 0; i < k; i++)
				queue_settle(b.q, got[i], false);
			n += k;
		}
		total += n;
	} while (n > 0);
	assert_int_equal(total, queue_n_cand(b.q));
	assert_int_equal(queue_left(b.q), 0);
	bed_clear(&b);
}

static void
test_lost_ones(void **state)
{
	struct bed b;
	uint32_t got[10], again[10];
	size_t left;

	(void)state;
	bed_init(&b, text, 0);
	left = queue_left(b.q);
	assert_int_equal(queue_next(b.q, 1, "H1", 10, got), 10);
	assert_int_equal(queue_left(b.q), left - 10);
	queue_settle(b.q, got[0], false);
	queue_settle(b.q, got[0], true); /* said twice: counted once */
	assert_int_equal(queue_cand(b.q, got[0])->state, CAND_PASSED);
	queue_undeal(b.q, got[9]);
	queue_undeal(b.q, got[9]);
	assert_int_equal(queue_left(b.q), left - 9);
	queue_return(b.q, 1);
	queue_return(b.q, 77);
	assert_int_equal(queue_left(b.q), left - 1);
	assert_int_equal(queue_next(b.q, 2, "H1", 9, again), 9);
	assert_memory_equal(again, got + 1, 9 * sizeof got[0]);
	queue_settle(b.q, QUEUE_NONE, true);
	bed_clear(&b);
}

/* What timed out is neither left nor refuted, and comes back once. */
static void
test_late(void **state)
{
	struct bed b;
	uint32_t got[2], again[2];
	size_t left;

	(void)state;
	bed_init(&b, text, 0);
	left = queue_left(b.q);
	assert_int_equal(queue_next(b.q, 7, "H1", 2, got), 2);
	assert_false(queue_again(b.q, got[0])); /* it runs */
	queue_late(b.q, got[0], 7);
	queue_late(b.q, got[0], 7);
	queue_settle(b.q, got[1], false);
	queue_late(b.q, got[1], 7); /* it was refuted before */
	assert_int_equal(queue_n_late(b.q), 1);
	assert_int_equal(queue_left(b.q), left - 2);
	assert_int_equal(queue_cand(b.q, got[0])->holder, 7);
	queue_return(b.q, 7);
	assert_int_equal(queue_left(b.q), left - 2);
	assert_true(queue_again(b.q, got[0]));
	assert_false(queue_again(b.q, got[1]));
	assert_int_equal(queue_n_late(b.q), 0);
	assert_int_equal(queue_left(b.q), left - 1);
	assert_int_equal(queue_next(b.q, 8, "H1", 1, again), 1);
	assert_int_equal(again[0], got[0]);
	queue_late(b.q, got[0], 8);
	assert_false(queue_again(b.q, got[0]));
	queue_settle(b.q, got[0], true);
	assert_int_equal(queue_cand(b.q, got[0])->state, CAND_PASSED);
	assert_int_equal(queue_n_late(b.q), 0);
	queue_late(b.q, QUEUE_NONE, 8);
	assert_false(queue_again(b.q, QUEUE_NONE));
	bed_clear(&b);
}

static void
test_stop(void **state)
{
	struct bed b;
	uint32_t got[1];

	(void)state;
	bed_init(&b, text, 0);
	queue_stop(b.q, true);
	assert_int_equal(queue_next(b.q, 1, "H1", 1, got), 0);
	queue_stop(b.q, false);
	assert_int_equal(queue_next(b.q, 1, "H1", 1, got), 1);
	bed_clear(&b);
}

static bool
is_weak(const struct cand *c)
{
	return repair_ops[c->op].where & OP_WEAK;
}

/* Is one that changes more as likely as the candidate k? */
static bool
has_company(const struct queue *q, size_t k)
{
	const struct cand *a = queue_cand(q, k), *c;

	for (size_t i = k + 1; !is_weak(a) && i < queue_n_cand(q); i++) {
		c = queue_cand(q, i);
		if (c->score < a->score * 0.75f)
			break;
		if (!is_weak(c) && c->changed > a->changed)
			return true;
	}
	return false;
}

/* After one that passes: the rest of its band, then the smallest. */
static void
test_band(void **state)
{
	struct bed b;
	uint32_t got[64], first;
	size_t n, small, large, lone = 0;

	(void)state;
	bed_init(&b, text, 0);
	assert_int_equal(queue_best(b.q), QUEUE_NONE);
	/* The likeliest ones may have few as likely beside them. */
	while (!has_company(b.q, lone))
		lone++;
	assert_int_equal(queue_next(b.q, 1, NULL, lone, got), lone);
	for (size_t i = 0; i < lone; i++)
		queue_settle(b.q, got[i], false);
	assert_int_equal(queue_next(b.q, 1, NULL, 1, &first), 1);
	queue_settle(b.q, first, true);
	n = queue_band(b.q, 1, first, nitems(got), got);
	assert_in_range(n, 1, nitems(got));
	for (size_t i = 0; i < n; i++) {
		assert_int_not_equal(got[i], first);
		assert_true(queue_cand(b.q, got[i])->score >=
		    queue_cand(b.q, first)->score * 0.7f);
		assert_int_equal(queue_cand(b.q, got[i])->state, CAND_DEALT);
	}
	assert_int_equal(queue_band(b.q, 2, first, nitems(got), got + n), 0);
	/* One that changes more is no better, one that changes less is. */
	small = large = first;
	for (size_t i = first; i < queue_n_cand(b.q); i++) {
		const struct cand *c = queue_cand(b.q, i);

		if (c->score < queue_cand(b.q, first)->score * 0.75f)
			break;
		if (repair_ops[c->op].where & OP_WEAK)
			continue;
		if (c->changed < queue_cand(b.q, small)->changed)
			small = i;
		if (c->changed > queue_cand(b.q, large)->changed)
			large = i;
	}
	assert_true(small != large);
	queue_settle(b.q, large, true);
	assert_int_not_equal(queue_best(b.q), large);
	queue_settle(b.q, small, true);
	assert_int_equal(queue_cand(b.q, queue_best(b.q))->changed,
	    queue_cand(b.q, small)->changed);
	/* Nor is one that is far less likely. */
	queue_settle(b.q, queue_n_cand(b.q) - 1, true);
	assert_int_not_equal(queue_best(b.q), queue_n_cand(b.q) - 1);
	/* What is offered comes back with its worker, then never. */
	small = queue_best(b.q);
	queue_offer(b.q, small, 7);
	assert_int_not_equal(queue_best(b.q), small);
	queue_return(b.q, 7);
	assert_int_equal(queue_best(b.q), small);
	queue_offer(b.q, small, 7);
	queue_offer(b.q, small, 0);
	queue_return(b.q, 7);
	queue_settle(b.q, small, true);
	assert_int_not_equal(queue_best(b.q), small);
	for (n = 0; (first = (uint32_t)queue_best(b.q)) != (uint32_t)QUEUE_NONE;
	     n++)
		queue_offer(b.q, first, 0);
	assert_in_range(n, 1, 3);
	bed_clear(&b);
}

static void
test_find(void **state)
{
	struct bed b;
	const struct cand *c;
	char *old;

	(void)state;
	bed_init(&b, text, 0);
	for (size_t i = 0; i < queue_n_cand(b.q); i++) {
		c = queue_cand(b.q, i);
		old = cand_old(c, b.s);
		assert_int_equal(
		    queue_find(b.q, "mod.py", c->line, old, c->new_text), i);
		assert_int_equal(
		    queue_find(b.q, "other.py", c->line, old, c->new_text),
		    QUEUE_NONE);
		free(old);
	}
	bed_clear(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hypotheses),
		cmocka_unit_test(test_one_place),
		cmocka_unit_test(test_dealing),
		cmocka_unit_test(test_all_once),
		cmocka_unit_test(test_lost_ones),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_band),
		cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
