/* ladder.c - see ladder.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/tests_parse.h"
#include "common/text.h"
#include "orchestrator/repair/ladder.h"
#include "orchestrator/repair/narrow.h"

/* What a control costs comes back within a few candidates, from here on. */
#define PAYS_MS 150
/* Both the tests and their files before all: when all take so long. */
#define FILES_MS 3000
/* As for the whole: a loaded machine must not refute what is quick. */
#define LEAST_LIMIT_MS 1000
#define REASON_MAX 400
#define ANSWER_MAX (1 << 20)
#define NOW "as it is, now"
#define NOW_MAX_MS (3600 * 1000)

static void
add_step(struct ladder *l, char *command)
{
	if (command != NULL &&
	    (l->n == 0 || strcmp(l->v[l->n - 1].command, command) != 0))
		l->v[l->n++] = (struct step){ .command = command };
	else
		free(command);
}

void
ladder_clear(struct ladder *l)
{
	while (l->n > 0)
		free(l->v[--l->n].command);
}

void
ladder_set(struct ladder *l, const struct facts *f)
{
	const char *whole = f->tests.v[0];
	struct step *last;

	if (l->n > 0 && strcmp(l->v[l->n - 1].command, whole) == 0)
		return;
	ladder_clear(l);
	if (f->test_ms >= PAYS_MS) {
		add_step(l, narrow_tests(whole, &f->failing, f->output));
		add_step(l, narrow_files(whole, &f->failing, f->output));
	}
	add_step(l, xstrdup(whole));
	last = &l->v[l->n - 1];
	last->state = STEP_GOOD;
	last->ms = f->test_ms;
	last->limit_ms = f->limit_ms > 0 ? f->limit_ms : 3 * f->test_ms;
}

/* --- the control ---------------------------------------------------------- */

/* What runs with a part of the tests, and fails for that. */
static bool
is_about_coverage(const char *text)
{
	static const char *const signs[] = { "Required test coverage",
		"Coverage failure", "coverage threshold",
		"does not meet global threshold", "does not meet threshold",
		"less than fail-under" };

	for (size_t i = 0; i < nitems(signs); i++)
		if (strstr(text, signs[i]) != NULL)
			return true;
	return false;
}

/* Does a line say why a test failed, in the words of some runner? */
static bool
is_reason(const char *s, size_t len)
{
	static const char *const marks[] = { "Error: ", "Exception: ",
		"AssertionError", "panicked at", "_test.go:", "error: '",
		"expected: ", "actual: ", "Expected: ", "Received: " };

	if (memmem(s, len, "%]", 2) != NULL) /* how far pytest is */
		return false;
	if (len > 4 && memcmp(s, "E   ", 4) == 0)
		return true;
	for (size_t i = 0; i < nitems(marks); i++)
		if (memmem(s, len, marks[i], strlen(marks[i])) != NULL)
			return true;
	return false;
}

/* Without what differs from run to run: addresses, long numbers, where in /tmp.
 */
static void
put_steady(struct buf *b, const char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t n = 0, hex = 0;

		while (i + n < len && s[i + n] >= '0' && s[i + n] <= '9')
			n++;
		if (n == 1 && s[i] == '0' && i + 1 < len && s[i + 1] == 'x')
			while (i + 2 + hex < len &&
			    strchr("0123456789abcdef", s[i + 2 + hex]) != NULL)
				hex++;
		if (hex > 0 || n > 4) {
			(void)buf_addc(b, '0');
			i += hex > 0 ? hex + 2 : n;
		} else if (len - i > 5 && memcmp(s + i, "/tmp/", 5) == 0) {
			while (i < len && strchr(" '\":,)", s[i]) == NULL)
				i++;
			(void)buf_adds(b, "/tmp");
		} else {
			(void)buf_addc(b, s[i++]);
		}
	}
}

/* Every reason is one that the whole gave, too. A test that needs what another
 * leaves behind fails by itself in a way of its own. */
static bool
same_reasons(const char *text, const char *whole)
{
	struct buf all, one;
	bool same = true;
	size_t len;

	if (*whole == '\0')
		return true;
	buf_init(&all, BUF_NOMAX);
	put_steady(&all, whole, strlen(whole));
	for (; *text != '\0' && same; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		if (!is_reason(text, len))
			continue;
		buf_init(&one, BUF_NOMAX);
		put_steady(&one, text, len < REASON_MAX ? len : REASON_MAX);
		same = strstr(buf_str(&all), buf_str(&one)) != NULL;
		buf_clear(&one);
	}
	buf_clear(&all);
	return same;
}

/* Are there failing tests, and all of them known? */
static bool
known_fail(const struct facts *f, const char *text)
{
	struct test_report t;
	bool ok;

	tests_parse(text, strlen(text), &t);
	ok = t.runner != NULL && !t.none && t.failed.n > 0;
	for (size_t i = 0; i < t.failed.n && ok; i++)
		ok = strv_has(&f->failing, t.failed.v[i]);
	test_report_clear(&t);
	return ok;
}

bool
ladder_judge(const struct facts *f, const char *text)
{
	static const char head[] = "exit status ";
	const char *end = strchr(text, '\n');
	unsigned long status;
	char *rest;

	if (!text_starts(text, head) || end == NULL)
		return false;
	status = strtoul(text + strlen(head), &rest, 10);
	return rest == end && status > 0 && status < 126 &&
	    !is_about_coverage(end) && known_fail(f, end + 1) &&
	    same_reasons(end + 1, f->output);
}

/* --- one step after the other --------------------------------------------- */

static bool
is_good(const struct ladder *l, size_t i)
{
	return i < l->n && l->v[i].state == STEP_GOOD;
}

/* The most that step i may take: three quarters of the whole, and a third of it
 * when the one before it is good already. */
static uint64_t
most_ms(const struct ladder *l, size_t i, const struct facts *f)
{
	return i > 0 && is_good(l, i - 1) ? f->test_ms / 3 : f->test_ms * 3 / 4;
}

static struct step *
next_new(struct ladder *l, const struct facts *f)
{
	for (size_t i = 0; i + 1 < l->n; i++) {
		/* More tests than took too long take too long. */
		if (l->v[i].state != STEP_NEW ||
		    (i > 0 && l->v[i - 1].ms > most_ms(l, i, f)))
			continue;
		/* Behind a good one only where much is to be saved. */
		if (i == 0 || !is_good(l, i - 1) || f->test_ms >= FILES_MS)
			return &l->v[i];
	}
	return NULL;
}

static void
take_answer(struct ladder *l, size_t i, const struct facts *f, const char *text,
    uint64_t ms)
{
	struct step *s = &l->v[i];
	uint64_t before = i > 0 ? l->v[i - 1].ms : 0;
	uint64_t share = f->share > 0 ? f->share : 1;

	/* Only the first control finds caches as empty as a candidate does, and
	 * a file takes no less than a part of it. */
	s->ms = ms < before ? before : ms > 0 ? ms : 1;
	s->limit_ms = 3 * s->ms * share;
	if (s->limit_ms < LEAST_LIMIT_MS * share)
		s->limit_ms = LEAST_LIMIT_MS * share;
	s->state = s->ms <= most_ms(l, i, f) && ladder_judge(f, text)
	    ? STEP_GOOD
	    : STEP_BAD;
	log_debug("narrowed: `%s` takes %llu of %llu ms: %s", s->command,
	    (unsigned long long)ms, (unsigned long long)f->test_ms,
	    s->state == STEP_GOOD ? "taken" : "left");
}

bool
ladder_is_now(const char *name, const json_t *args)
{
	const json_t *first = json_array_get(json_object_get(args, "edits"), 0);

	return strcmp(name, "try_edits") == 0 &&
	    strcmp(dialog_str(first, "label"), NOW) == 0;
}

/* Is that the call of a control? Its command, or NULL. */
static const char *
control_of(const char *name, const json_t *args)
{
	const json_t *edits = json_object_get(args, "edits");
	const json_t *first = json_array_get(edits, 0);

	if (strcmp(name, "try_edits") != 0 || json_array_size(edits) != 1 ||
	    ladder_is_now(name, args) ||
	    !json_is_array(json_object_get(first, "changes")) ||
	    json_array_size(json_object_get(first, "changes")) != 0)
		return NULL;
	return dialog_str(args, "check");
}

static void
read_answer(struct ladder *l, const struct facts *f, const char *command,
    const char *text)
{
	const json_t *r;
	json_t *j = NULL;
	json_int_t ms;

	for (size_t i = 0; i + 1 < l->n; i++) {
		if (l->v[i].state != STEP_NEW ||
		    strcmp(l->v[i].command, command) != 0)
			continue;
		if (json_parse(text, strlen(text), ANSWER_MAX, &j, NULL) < 0) {
			l->v[i].state = STEP_BAD;
			return;
		}
		r = json_array_get(json_object_get(j, "results"), 0);
		ms = json_integer_value(json_object_get(r, "ms"));
		take_answer(l, i, f, dialog_str(r, "output"),
		    ms > 0 ? (uint64_t)ms : 0);
		json_decref(j);
		return;
	}
}

json_t *
ladder_control(struct ladder *l, const json_t *conv, const struct facts *f)
{
	struct step *s;
	json_t *args, *reply, *m;
	const char *name, *command;
	size_t n;

	if (next_new(l, f) == NULL)
		return NULL;
	json_array_foreach (conv, n, m) {
		if (!dialog_is(m, "tool"))
			continue;
		name = dialog_answered(conv, n, &args);
		command = control_of(name, args);
		if (command != NULL)
			read_answer(l, f, command, dialog_str(m, "content"));
		json_decref(args);
	}
	if ((s = next_new(l, f)) == NULL)
		return NULL;
	reply = dialog_reply("Do the failing tests fail by themselves, too, "
			     "and sooner than all of them?");
	dialog_call(reply, conv, "try_edits",
	    json_pack("{s:s, s:[{s:s, s:[]}], s:I}", "check", s->command,
		"edits", "label", "as it is", "changes", "timeout_s",
		(json_int_t)(most_ms(l, (size_t)(s - l->v), f) / 1000 + 1)));
	return reply;
}

/* --- when the machine is slower than it was ------------------------------- */

void
ladder_ask_now(const struct ladder *l, json_t *reply, const json_t *conv,
    uint64_t limit_ms)
{
	dialog_call(reply, conv, "try_edits",
	    json_pack("{s:s, s:[{s:s, s:[]}], s:I}", "check",
		ladder_first(l)->command, "edits", "label", NOW, "changes",
		"timeout_s", (json_int_t)(limit_ms / 1000 + 1)));
}

/* Milliseconds that the control of an answer took; 0: it does not say. */
static uint64_t
took_ms(const char *text)
{
	json_t *j = NULL;
	json_int_t ms;

	if (json_parse(text, strlen(text), ANSWER_MAX, &j, NULL) < 0)
		return 0;
	ms = json_integer_value(json_object_get(
	    json_array_get(json_object_get(j, "results"), 0), "ms"));
	json_decref(j);
	if (ms < 0)
		return 0;
	return ms < NOW_MAX_MS ? (uint64_t)ms : NOW_MAX_MS;
}

bool
ladder_now(struct ladder *l, const struct facts *f, const char *command,
    const char *text, uint64_t most_ms)
{
	uint64_t share = f->share > 0 ? f->share : 1, ms = took_ms(text);
	const struct step *of = NULL;
	double longer;

	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i].command, command) == 0)
			of = &l->v[i];
	if (of == NULL || of->limit_ms == 0)
		return false;
	longer = 3.0 * (double)ms * (double)share / (double)of->limit_ms;
	/* A little more helps nobody. */
	if (longer < 1.25 || (double)most_ms < 1.25 * (double)of->limit_ms)
		return false;
	for (size_t i = 0; i < l->n; i++) {
		struct step *s = &l->v[i];
		double limit = (double)s->limit_ms * longer;

		if (&l->v[i] == of)
			s->ms = ms > s->ms ? ms : s->ms;
		else if (s->ms < NOW_MAX_MS)
			s->ms = (uint64_t)((double)s->ms * longer);
		if (limit > (double)most_ms)
			limit = (double)most_ms;
		if (limit > (double)s->limit_ms)
			s->limit_ms = (uint64_t)limit;
	}
	return true;
}

const struct step *
ladder_first(const struct ladder *l)
{
	size_t i = 0;

	while (i + 1 < l->n && l->v[i].state != STEP_GOOD)
		i++;
	return &l->v[i];
}

const struct step *
ladder_after(const struct ladder *l, const char *command)
{
	size_t i = 0;

	while (i < l->n && strcmp(l->v[i].command, command) != 0)
		i++;
	if (i == l->n)
		return &l->v[l->n - 1];
	for (i++; i < l->n && l->v[i].state != STEP_GOOD; i++)
		;
	return i < l->n ? &l->v[i] : NULL;
}
