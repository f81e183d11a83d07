/* hook_answer.c - see hook_answer.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "orchestrator/hooks/hook_answer.h"

#define SHOWN 200 /* bytes of their text in a warning */

const char *
hook_verdict_str(enum hook_verdict v)
{
	static const char *const names[] = { "none", "ask", "deny" };

	return names[v];
}

char *
hook_text(const char *s, size_t len)
{
	struct buf b;
	size_t at = 0, n = 0;
	char *out;

	buf_init(&b, BUF_NOMAX);
	(void)text_clean(&b, s, len, 0);
	while (b.len > 0 && strchr(" \t\n", b.data[b.len - 1]) != NULL)
		b.len--;
	for (; at < b.len && n < HOOK_TEXT_MAX; n++)
		at += text_next(b.data + at, b.len - at, NULL);
	out = xstrndup(b.data != NULL ? b.data : "", at);
	buf_clear(&b);
	return out;
}

static char *
text_of(const json_t *s)
{
	return hook_text(json_string_value(s), json_string_length(s));
}

/* "the hook CMD of EVENT", for a person and a model. */
static void
name_of(const struct hook *h, char *dst, size_t size)
{
	char shown[SHOWN];

	text_escape_to(shown, sizeof shown, h->command, strlen(h->command));
	(void)snprintf(
	    dst, size, "the %s hook \"%s\"", hook_event_str(h->event), shown);
}

static void
deny(struct hook_answer *a, const struct hook *h, char *reason)
{
	char name[SHOWN + 64];

	a->verdict = HOOK_DENY;
	if (reason == NULL || *reason == '\0') {
		free(reason);
		name_of(h, name, sizeof name);
		reason = xasprintf("%s blocks it and gives no reason", name);
	}
	free(a->reason);
	a->reason = reason;
}

static void
failed(struct hook_answer *a, const struct hook *h, const char *why)
{
	char name[SHOWN + 64];

	hook_answer_clear(a);
	name_of(h, name, sizeof name);
	a->warning = xasprintf("%s failed: %.*s (%s)", name,
	    (int)strcspn(why, "\n"), why,
	    h->fail_closed ? "failClosed: this blocks"
			   : "it goes on without it");
	if (h->fail_closed)
		deny(a, h, xasprintf("%s failed: %s", name, why));
}

/* --- JSON ---------------------------------------------------------------- */

static int
get_text(const json_t *j, const char *key, char **ret, struct err *e)
{
	const json_t *v = json_object_get(j, key);

	if (v == NULL || json_is_null(v))
		return 0;
	if (!json_is_string(v))
		return err_set(e, ERR_SYNTAX, "\"%s\" is no text", key);
	free(*ret);
	*ret = text_of(v);
	return 0;
}

static int
get_word(const json_t *j, const char *key, const char *const *words, size_t n,
    size_t *ret, struct err *e)
{
	const char *s = NULL;
	struct buf known;
	size_t i;
	int rc;

	*ret = n;
	if ((rc = json_get_str(j, key, false, &s, e)) < 0 || s == NULL)
		return rc;
	for (i = 0; i < n; i++)
		if (strcmp(words[i], s) == 0) {
			*ret = i;
			return 0;
		}
	buf_init(&known, BUF_NOMAX);
	for (i = 0; i < n; i++)
		(void)buf_printf(&known, "%s%s", i > 0 ? ", " : "", words[i]);
	rc = err_set(e, ERR_SYNTAX, "\"%s\" is \"%.40s\", and may be: %.200s",
	    key, s, buf_str(&known));
	buf_clear(&known);
	return rc;
}

/* The form that answers to PermissionRequest have elsewhere. */
static int
read_behavior(
    struct hook_answer *a, const struct hook *h, const json_t *j, struct err *e)
{
	static const char *const words[] = { "allow", "deny" };
	const json_t *d = json_object_get(j, "decision");
	char *why = NULL;
	size_t word;
	int rc;

	if (d == NULL || json_is_null(d))
		return 0;
	if (!json_is_object(d))
		return err_set(e, ERR_SYNTAX, "\"decision\" is no object");
	if ((rc = get_word(d, "behavior", words, 2, &word, e)) < 0 ||
	    (rc = get_text(d, "message", &why, e)) < 0) {
		free(why);
		return rc;
	}
	if (word == 1)
		deny(a, h, why);
	else
		free(why);
	return 0;
}

static int
read_specific(
    struct hook_answer *a, const struct hook *h, const json_t *j, struct err *e)
{
	static const char *const words[] = { "allow", "defer", "ask", "deny" };
	const json_t *input = json_object_get(j, "updatedInput");
	const char *event = NULL;
	char *why = NULL;
	size_t word;
	int rc;

	if (!json_is_object(j))
		return err_set(
		    e, ERR_SYNTAX, "\"hookSpecificOutput\" is no object");
	if ((rc = json_get_str(j, "hookEventName", false, &event, e)) < 0)
		return rc;
	if (event != NULL && strcmp(event, hook_event_str(h->event)) != 0)
		return err_set(e, ERR_SYNTAX,
		    "\"hookEventName\" is \"%.40s\", not %s", event,
		    hook_event_str(h->event));
	if ((rc = get_text(j, "additionalContext", &a->context, e)) < 0 ||
	    (rc = read_behavior(a, h, j, e)) < 0 ||
	    (rc = get_word(j, "permissionDecision", words, nitems(words), &word,
		 e)) < 0 ||
	    (rc = get_text(j, "permissionDecisionReason", &why, e)) < 0) {
		free(why);
		return rc;
	}
	if (word == 3) {
		deny(a, h, why);
	} else if (word == 2 && a->verdict == HOOK_NONE) {
		a->verdict = HOOK_ASK;
		a->reason = why != NULL ? why : xstrdup("a hook asks");
	} else {
		free(why);
	}
	if (input == NULL || json_is_null(input))
		return 0;
	if (!json_is_object(input))
		return err_set(e, ERR_SYNTAX, "\"updatedInput\" is no object");
	if (h->event != HOOK_PRE_TOOL)
		return err_set(
		    e, ERR_SYNTAX, "\"updatedInput\" is for PreToolUse alone");
	a->updated = json_incref((json_t *)(uintptr_t)input);
	return 0;
}

static int
read_json(
    struct hook_answer *a, const struct hook *h, const json_t *j, struct err *e)
{
	static const char *const words[] = { "approve", "block" };
	/* A guard that says no at the wrong place is not taken for silent. */
	static const char *const inner[] = { "permissionDecision",
		"permissionDecisionReason", "updatedInput",
		"additionalContext" };
	const json_t *more = json_object_get(j, "hookSpecificOutput");
	char *why = NULL;
	bool go_on = true;
	size_t word, i;
	int rc;

	if ((rc = json_get_bool(j, "continue", true, &go_on, e)) < 0 ||
	    (rc = get_text(j, "systemMessage", &a->message, e)) < 0 ||
	    (rc = get_word(j, "decision", words, 2, &word, e)) < 0 ||
	    (rc = get_text(j, go_on ? "reason" : "stopReason", &why, e)) < 0 ||
	    (more != NULL && !json_is_null(more) &&
		(rc = read_specific(a, h, more, e)) < 0)) {
		free(why);
		return rc;
	}
	a->stop = !go_on;
	if (a->stop || word == 1) {
		deny(a, h, why);
		return 0;
	}
	free(why);
	for (i = 0; more == NULL && i < nitems(inner); i++)
		if (json_object_get(j, inner[i]) != NULL)
			return err_set(e, ERR_SYNTAX,
			    "\"%s\" stands in \"hookSpecificOutput\"",
			    inner[i]);
	return 0;
}

/* --- the whole ----------------------------------------------------------- */

/* Other tools take output that does not begin with "{" for text, too; but an
 * answer behind a line of a log was meant to be heard. */
static bool
has_late_json(const char *s, size_t len)
{
	static const char *const members[] = { "\"hookSpecificOutput\"",
		"\"permissionDecision\"", "\"decision\"", "\"continue\"",
		"\"updatedInput\"", "\"systemMessage\"",
		"\"additionalContext\"" };
	const char *p = s, *nl;
	size_t i, left;

	for (; (nl = memchr(p, '\n', len - (size_t)(p - s))) != NULL;) {
		p = nl + 1;
		left = len - (size_t)(p - s);
		for (i = 0; i < left && (p[i] == ' ' || p[i] == '\t'); i++)
			continue;
		if (i == left || p[i] != '{')
			continue;
		for (i = 0; i < nitems(members); i++)
			if (memmem(p, left, members[i], strlen(members[i])) !=
			    NULL)
				return true;
	}
	return false;
}

static void
read_output(
    struct hook_answer *a, const struct hook *h, const struct hook_run *r)
{
	static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8 */
	size_t skip = 0;
	json_t *j = NULL;
	struct err e;

	if (r->out_len > 3 && memcmp(r->out, mark, 3) == 0)
		skip = 3;
	while (skip < r->out_len && strchr(" \t\r\n", r->out[skip]) != NULL &&
	    r->out[skip] != '\0')
		skip++;
	if (skip == r->out_len)
		return;
	if (r->out[skip] != '{' &&
	    has_late_json(r->out + skip, r->out_len - skip)) {
		failed(a, h,
		    "its JSON is not heard: something stands before it in the "
		    "output (let a log go to stderr)");
		return;
	}
	if (r->out[skip] != '{') {
		if (h->event == HOOK_SESSION_START || h->event == HOOK_PROMPT)
			a->context = hook_text(r->out, r->out_len);
		return;
	}
	if (r->cut) {
		failed(a, h, "its JSON is longer than 64 KiB");
		return;
	}
	if (json_parse(r->out + skip, r->out_len - skip, HOOK_OUTPUT_MAX, &j,
		&e) < 0 ||
	    read_json(a, h, j, &e) < 0) {
		(void)err_prefix(&e, "its JSON can't be taken");
		failed(a, h, e.text);
	}
	json_decref(j);
}

static void
read_failure(
    struct hook_answer *a, const struct hook *h, const struct hook_run *r)
{
	char why[SHOWN + 64], line[SHOWN];
	size_t len = r->err != NULL ? r->err_len : 0;

	while (len > 0 && r->err[len - 1] == '\n')
		len--;
	text_escape_to(line, sizeof line, len > 0 ? r->err : "", len);
	(void)snprintf(why, sizeof why, "exit status %d%s%s", r->status,
	    *line != '\0' ? ": " : "", line);
	failed(a, h, why);
}

/* What can't be kept from happening is only talked about. */
static void
soften(struct hook_answer *a, const struct hook *h)
{
	char name[SHOWN + 64];

	if (a->verdict == HOOK_NONE || a->stop ||
	    (hook_event_blocks(h->event) &&
		(a->verdict == HOOK_DENY || h->event == HOOK_PRE_TOOL ||
		    h->event == HOOK_PERMISSION)))
		return;
	name_of(h, name, sizeof name);
	free(a->warning);
	a->warning = xasprintf("%s can't block: %.*s", name, SHOWN, a->reason);
	free(a->reason);
	a->reason = NULL;
	a->verdict = HOOK_NONE;
}

void
hook_answer_read(
    const struct hook *h, const struct hook_run *r, struct hook_answer *ret)
{
	*ret = (struct hook_answer){ 0 };
	if (r->failure != NULL)
		failed(ret, h, r->failure);
	else if (r->status == 2)
		deny(ret, h,
		    hook_text(r->err != NULL ? r->err : "",
			r->err != NULL ? r->err_len : 0));
	else if (r->status != 0)
		read_failure(ret, h, r);
	else
		read_output(ret, h, r);
	soften(ret, h);
}

void
hook_answer_join(struct hook_answer *sum, struct hook_answer *one)
{
	char *both;

	if (one->verdict > sum->verdict) {
		sum->verdict = one->verdict;
		free(sum->reason);
		sum->reason = one->reason;
		one->reason = NULL;
	}
	sum->stop |= one->stop;
	if (one->updated != NULL) {
		json_decref(sum->updated);
		sum->updated = one->updated;
		one->updated = NULL;
	}
	if (one->context == NULL || *one->context == '\0')
		return;
	if (sum->context == NULL) {
		sum->context = one->context;
		one->context = NULL;
		return;
	}
	both = xasprintf("%s\n%s", sum->context, one->context);
	free(sum->context);
	sum->context = hook_text(both, strlen(both));
	free(both);
}

void
hook_answer_clear(struct hook_answer *a)
{
	free(a->reason);
	free(a->context);
	free(a->message);
	free(a->warning);
	json_decref(a->updated);
	a->reason = a->context = a->message = a->warning = NULL;
	a->updated = NULL;
	a->verdict = HOOK_NONE;
	a->stop = false;
}
