#include "common/compat.h"

#include <stdlib.h>

#include "common/log.h"
#include "common/num.h"
#include "common/text.h"
#include "orchestrator/monitor/class.h"
#include "orchestrator/monitor/rules.h"

/* Where an error is: file, rule, step. */
struct where {
	const char *file, *rule;
	size_t step; /* 0: of the rule itself */
};

static const char *const actions[] = { "off", "flag", "steer", "pause",
	"kill" };

const char *
monitor_action_str(enum monitor_action a)
{
	return actions[a];
}

/* --- errors --------------------------------------------------------------- */

static int
bad(const struct where *w, struct err *e, const char *key, const char *want)
{
	char step[32] = "", shown[80];

	if (w->step > 0)
		(void)snprintf(step, sizeof step, "step %zu, ", w->step);
	text_escape_to(shown, sizeof shown, key, strlen(key));
	return err_set(e, ERR_SYNTAX, "%s: monitor rule \"%s\": %s\"%s\" %s",
	    w->file, w->rule, step, shown, want);
}

static int
check_keys(const struct where *w, const json_t *j, const char *const *known,
    size_t n, const char *list, struct err *e)
{
	char want[300];
	const char *key;
	json_t *v;
	size_t i;

	json_object_foreach ((json_t *)(uintptr_t)j, key, v) {
		for (i = 0; i < n; i++)
			if (strcmp(key, known[i]) == 0)
				break;
		if (i == n) {
			(void)snprintf(want, sizeof want,
			    "is unknown there (known: %s)", list);
			return bad(w, e, key, want);
		}
	}
	return 0;
}

/* One of the words; *ret is left alone when it is not there. */
static int
get_word(const struct where *w, const json_t *j, const char *key,
    const char *const *words, size_t n, const char *list, size_t *ret,
    struct err *e)
{
	const json_t *v = json_object_get(j, key);
	const char *s = json_string_value(v);
	char want[200];
	size_t i;

	if (v == NULL)
		return 0;
	for (i = 0; s != NULL && i < n; i++)
		if (strcmp(s, words[i]) == 0) {
			*ret = i;
			return 0;
		}
	(void)snprintf(want, sizeof want, "must be one of: %s", list);
	return bad(w, e, key, want);
}

static int
get_text(const struct where *w, const json_t *j, const char *key, bool required,
    char **ret, struct err *e)
{
	const json_t *v = json_object_get(j, key);
	const char *s = json_string_value(v);

	if (v == NULL && !required)
		return 0;
	if (s == NULL || *s == '\0' || strlen(s) > MONITOR_TEXT_MAX)
		return bad(w, e, key, "must be a text of 1 to 400 bytes");
	*ret = xstrdup(s);
	return 0;
}

static int
get_count(const struct where *w, const json_t *j, const char *key, uint64_t max,
    uint64_t *ret, struct err *e)
{
	const json_t *v = json_object_get(j, key);
	char want[80];

	if (v == NULL)
		return 0;
	if (!json_is_integer(v) || json_integer_value(v) < 1 ||
	    (uint64_t)json_integer_value(v) > max) {
		(void)snprintf(want, sizeof want,
		    "must be a whole number from 1 to %llu",
		    (unsigned long long)max);
		return bad(w, e, key, want);
	}
	*ret = (uint64_t)json_integer_value(v);
	return 0;
}

/* A string, or a list of them. */
static int
get_list(const struct where *w, const json_t *j, const char *key,
    struct strv *ret, struct err *e)
{
	const json_t *v = json_object_get(j, key), *x;
	size_t i;

	if (v == NULL)
		return 0;
	if (json_is_string(v)) {
		strv_add(ret, json_string_value(v));
		return 0;
	}
	json_array_foreach (v, i, x) {
		if (!json_is_string(x) || i >= 16)
			return bad(w, e, key,
			    "must be a string or a list of up to 16");
		strv_add(ret, json_string_value(x));
	}
	if (ret->n == 0)
		return bad(w, e, key, "must be a string or a list of up to 16");
	return 0;
}

/* --- steps ---------------------------------------------------------------- */

static int
get_classes(
    const struct where *w, const json_t *j, unsigned *ret, struct err *e)
{
	struct strv list = { 0 };
	char want[300];
	size_t i;
	int r = get_list(w, j, "class", &list, e);

	for (i = 0; r == 0 && i < list.n; i++) {
		*ret |= class_of_name(list.v[i]);
		if (class_of_name(list.v[i]) == 0) {
			(void)snprintf(want, sizeof want,
			    "has no such class; there are: %s", class_names());
			r = bad(w, e, "class", want);
		}
	}
	strv_clear(&list);
	return r;
}

/* What stands in the audit; a misspelt one would never be met. */
static const char *const acts[] = { "command", "write", "try", "test",
	"refused", "fetch", "network", "summary", "hook", "settings",
	"read_file", "list_dir", "grep", "edit_file", "apply_patch",
	"try_edits", "fetch_url", "update_todos", "read_skill", "finish",
	"run_command", NULL };
static const char *const verdicts[] = { "allow", "deny", "any", "fixed",
	"refuted", "stuck", "budget", "error", "done", NULL };

static int
check_words(const struct where *w, const char *key, const struct strv *words,
    const char *const *known, struct err *e)
{
	char list[300] = "must be of: ";
	size_t i, k;

	for (i = 0; i < words->n; i++) {
		for (k = 0; known[k] != NULL; k++)
			if (strcmp(known[k], words->v[i]) == 0)
				break;
		if (known[k] != NULL)
			continue;
		for (k = 0; known[k] != NULL; k++) {
			(void)strlcat(list, k > 0 ? ", " : "", sizeof list);
			(void)strlcat(list, known[k], sizeof list);
		}
		return bad(w, e, key, list);
	}
	return 0;
}

static int
read_step(const struct where *w, const json_t *j, struct monitor_step *s,
    struct err *e)
{
	static const char *const known[] = { "act", "class", "subject",
		"verdict", "count", "distinct" };
	static const char *const kinds[] = { "none", "subject", "worker" };
	size_t distinct = DISTINCT_NONE;
	struct strv said = { 0 };
	uint64_t count = 1;
	int r;

	if (!json_is_object(j))
		return bad(w, e, "steps", "must hold objects");
	(void)((r = check_keys(w, j, known, nitems(known),
		    "act, class, subject, verdict, count, distinct", e)) < 0 ||
	    (r = get_list(w, j, "act", &s->acts, e)) < 0 ||
	    (r = check_words(w, "act", &s->acts, acts, e)) < 0 ||
	    (r = get_classes(w, j, &s->classes, e)) < 0 ||
	    (r = get_text(w, j, "subject", false, &s->subject, e)) < 0 ||
	    (r = get_text(w, j, "verdict", false, &s->verdict, e)) < 0 ||
	    (r = get_count(w, j, "count", MONITOR_COUNT_MAX, &count, e)) < 0 ||
	    (r = get_word(w, j, "distinct", kinds + 1, 2, "subject, worker",
		 &distinct, e)) < 0);
	if (r == 0 && s->verdict != NULL) {
		strv_add(&said, s->verdict);
		r = check_words(w, "verdict", &said, verdicts, e);
		strv_clear(&said);
	}
	if (r == 0 && json_object_get(j, "distinct") != NULL)
		distinct++;
	s->count = (unsigned)count;
	s->distinct = (enum monitor_distinct)distinct;
	if (r == 0 && json_object_size(j) == 0)
		r = bad(w, e, "steps",
		    "has a step without a condition: give it \"act\" or "
		    "\"class\"");
	return r;
}

static int
read_steps(
    struct where *w, const json_t *j, struct monitor_rule *rule, struct err *e)
{
	const json_t *list = json_object_get(j, "steps"), *v;
	size_t i;
	int r;

	if (!json_is_array(list) || json_array_size(list) == 0 ||
	    json_array_size(list) > MONITOR_STEPS_MAX)
		return bad(w, e, "steps", "must be a list of 1 to 4 steps");
	json_array_foreach (list, i, v) {
		w->step = i + 1;
		rule->n_steps++;
		if ((r = read_step(w, v, &rule->steps[i], e)) < 0)
			return r;
	}
	w->step = 0;
	return 0;
}

/* --- rules ---------------------------------------------------------------- */

static void
rule_clear(struct monitor_rule *r)
{
	size_t i;

	free(r->name);
	free(r->why);
	free(r->message);
	for (i = 0; i < r->n_steps; i++) {
		strv_clear(&r->steps[i].acts);
		free(r->steps[i].subject);
		free(r->steps[i].verdict);
	}
}

static int
get_within(const struct where *w, const json_t *j, uint64_t *ret, struct err *e)
{
	const json_t *v = json_object_get(j, "within");
	const char *s = json_string_value(v);

	if (v == NULL)
		return 0;
	if (s == NULL || num_duration_ms(s, "within", ret, NULL) < 0)
		return bad(w, e, "within",
		    "must be a duration such as \"90s\", \"10m\" or \"2h\"");
	return 0;
}

static int
read_rule(
    struct where *w, const json_t *j, struct monitor_rule *ret, struct err *e)
{
	static const char *const known[] = { "name", "why", "action", "message",
		"scope", "same", "within", "events", "steps" };
	static const char *const scopes[] = { "worker", "run" };
	static const char *const sames[] = { "subject" };
	size_t action = MONITOR_FLAG - 1, scope = 0, same = 1;
	int r;

	(void)((r = check_keys(w, j, known, nitems(known),
		    "name, why, action, message, scope, same, within, events, "
		    "steps",
		    e)) < 0 ||
	    (r = get_text(w, j, "why", true, &ret->why, e)) < 0 ||
	    (r = get_text(w, j, "message", false, &ret->message, e)) < 0 ||
	    (r = get_word(w, j, "action", actions + 1, 4,
		 "flag, steer, pause, kill", &action, e)) < 0 ||
	    (r = get_word(w, j, "scope", scopes, 2, "worker, run", &scope, e)) <
		0 ||
	    (r = get_word(w, j, "same", sames, 1, "subject", &same, e)) < 0 ||
	    (r = get_within(w, j, &ret->within_ms, e)) < 0 ||
	    (r = get_count(w, j, "events", UINT32_MAX, &ret->events, e)) < 0 ||
	    (r = read_steps(w, j, ret, e)) < 0);
	ret->action = (enum monitor_action)(action + 1);
	ret->run = scope == 1;
	ret->same = same == 0;
	return r;
}

static bool
is_name(const char *s)
{
	return s != NULL && *s != '\0' && strlen(s) <= MONITOR_NAME_MAX &&
	    strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(s) &&
	    strcmp(s, "rules") != 0;
}

static struct monitor_rule *
find_rule(struct monitor_rules *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (strcmp(r->v[i].name, name) == 0)
			return &r->v[i];
	return NULL;
}

static int
add_rule(struct monitor_rules *r, const char *file, const char *name,
    const json_t *j, struct err *e)
{
	struct where w = { .file = file, .rule = "" };
	struct monitor_rule rule = { 0 };
	char number[32];
	int rc;

	(void)snprintf(number, sizeof number, "%zu", r->n + 1);
	w.rule = number;
	if (!json_is_object(j))
		return bad(&w, e, "rules", "must hold objects");
	if (name == NULL)
		name = json_string_value(json_object_get(j, "name"));
	if (!is_name(name))
		return bad(&w, e, "name",
		    "must be there, of a-z, 0-9 and \"-\", 48 bytes at most");
	w.rule = name;
	if (find_rule(r, name) != NULL)
		return bad(&w, e, "name",
		    "is that of another rule: choose a different one");
	if (r->n >= MONITOR_RULES_MAX)
		return bad(&w, e, "rules", "holds too many: 64 rules in all");
	rule.name = xstrdup(name);
	if ((rc = read_rule(&w, j, &rule, e)) < 0) {
		rule_clear(&rule);
		return rc;
	}
	r->v = xreallocarray(r->v, r->n + 1, sizeof *r->v);
	r->v[r->n++] = rule;
	return 0;
}

static int
change_rule(struct monitor_rules *r, const char *file, const char *name,
    const json_t *j, struct err *e)
{
	static const char *const known[] = { "action" };
	struct where w = { .file = file, .rule = name };
	struct monitor_rule *rule = find_rule(r, name);
	size_t action;
	char shown[80];
	int rc;

	if (rule == NULL) {
		text_escape_to(shown, sizeof shown, name, strlen(name));
		return err_set(e, ERR_SYNTAX,
		    "%s: monitor: there is no rule \"%s\" to change; one of "
		    "your own goes into \"rules\", with that name",
		    file, shown);
	}
	if (!json_is_object(j) || json_object_get(j, "action") == NULL)
		return bad(&w, e, "action",
		    "must be there, in an object: "
		    "off, flag, steer, pause or kill");
	action = rule->action;
	if ((rc = check_keys(&w, j, known, 1, "action", e)) == 0)
		rc = get_word(&w, j, "action", actions, nitems(actions),
		    "off, flag, steer, pause, kill", &action, e);
	rule->action = (enum monitor_action)action;
	return rc;
}

int
monitor_rules_apply(
    struct monitor_rules *r, const json_t *j, const char *file, struct err *e)
{
	const json_t *list = json_object_get(j, "rules"), *v;
	const char *key;
	json_t *x;
	size_t i;
	int rc;

	if (j == NULL)
		return 0;
	if (!json_is_object(j) || (list != NULL && !json_is_array(list)))
		return err_set(e, ERR_SYNTAX,
		    "%s: \"monitor\" is an object, its \"rules\" a list", file);
	json_array_foreach (list, i, v)
		if ((rc = add_rule(r, file, NULL, v, e)) < 0)
			return rc;
	json_object_foreach ((json_t *)(uintptr_t)j, key, x)
		if (strcmp(key, "rules") != 0 &&
		    (rc = change_rule(r, file, key, x, e)) < 0)
			return rc;
	return 0;
}

int
monitor_rules_supplied(struct monitor_rules *ret, struct err *e)
{
	const struct monitor_supplied *s;
	json_t *j = NULL;
	int r = 0;

	for (s = monitor_supplied; s->name != NULL && r == 0; s++) {
		r = json_parse(
		    s->text, strlen(s->text), MONITOR_FILE_MAX, &j, e);
		if (r < 0)
			return err_prefix(e, "supplied rule %s", s->name);
		r = add_rule(ret, "supplied", s->name, j, e);
		json_decref(j);
	}
	return r;
}

void
monitor_rules_clear(struct monitor_rules *r)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		rule_clear(&r->v[i]);
	free(r->v);
	*r = (struct monitor_rules){ 0 };
}
