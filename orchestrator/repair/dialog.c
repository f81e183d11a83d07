#include "common/compat.h"

#include "common/log.h"
#include "common/notes.h"
#include "common/text.h"
#include "orchestrator/repair/dialog.h"

#define FACTS_MAX (1024 * 1024)
#define LIST_MAX 4096
#define FENCE "```json"

const char *
dialog_str(const json_t *msg, const char *key)
{
	const char *s = json_string_value(json_object_get(msg, key));

	return s != NULL ? s : "";
}

bool
dialog_is(const json_t *msg, const char *role)
{
	return strcmp(dialog_str(msg, "role"), role) == 0;
}

bool
dialog_is_error(const char *result)
{
	return text_starts(result, "error: ");
}

/* The first note at the end of a result. */
static const char *
find_notes(const char *text)
{
	static const char *const heads[] = { "\n\n[" NOTE_OBJECTION "]\n",
		"\n\n[" NOTE_CONTEXT "]\n", "\n\n[" NOTE_UNHOOKED "]\n" };
	const char *first = NULL, *s;

	for (size_t i = 0; i < nitems(heads); i++) {
		s = strstr(text, heads[i]);
		if (s != NULL && (first == NULL || s < first))
			first = s;
	}
	return first;
}

json_t *
dialog_plain(const json_t *conv, const char *tool, char **ret_objection)
{
	static const char head[] = "\n\n[" NOTE_OBJECTION "]\n";
	json_t *plain = json_array(), *m, *copy, *args;
	const char *text, *notes;
	size_t i;

	*ret_objection = NULL;
	json_array_foreach (conv, i, m) {
		text = dialog_is(m, "tool") ? dialog_str(m, "content") : "";
		notes = find_notes(text);
		if (notes == NULL) {
			json_array_append(plain, m);
			continue;
		}
		copy = json_copy(m);
		json_object_set_new(copy, "content",
		    json_str_lossy(text, (size_t)(notes - text)));
		json_array_append_new(plain, copy);
		if (i + 1 < json_array_size(conv) || !text_starts(notes, head))
			continue;
		if (strcmp(dialog_answered(conv, i, &args), tool) == 0)
			*ret_objection = xstrdup(notes + strlen(head));
		json_decref(args);
	}
	return plain;
}

/* The last fenced block of text that is JSON: output in it may hold fences
 * too, so try from the end on. */
static json_t *
fenced(const char *text)
{
	const char *end = NULL, *p = text, *start[64];
	size_t n = 0;
	json_t *j = NULL;

	while ((p = strstr(p, "\n```")) != NULL)
		end = p++;
	if (end == NULL)
		return NULL;
	for (p = text; (p = strstr(p, FENCE)) != NULL && p < end; p++)
		start[n++ % nitems(start)] = p + strlen(FENCE);
	for (size_t k = 0; k < n && k < nitems(start); k++) {
		p = start[(n - 1 - k) % nitems(start)];
		if (p < end &&
		    json_parse(p, (size_t)(end - p), FACTS_MAX, &j, NULL) ==
			0 &&
		    json_is_object(j))
			return j;
		json_decref(j);
		j = NULL;
	}
	return NULL;
}

void
facts_clear(struct facts *f)
{
	free(f->hypothesis_id);
	free(f->hypothesis);
	free(f->output);
	free(f->tmp);
	strv_clear(&f->tests);
	strv_clear(&f->failing);
	strv_clear(&f->guarded);
	*f = (struct facts){ 0 };
}

static int
read_facts(const json_t *j, struct facts *f, struct err *e)
{
	const char *role, *id, *hypothesis, *output, *tmp = NULL;
	int r;

	if ((r = json_get_str(j, "role", true, &role, e)) < 0 ||
	    (r = json_get_str(j, "hypothesis_id", false, &id, e)) < 0 ||
	    (r = json_get_str(j, "hypothesis", false, &hypothesis, e)) < 0 ||
	    (r = json_get_str(j, "output", false, &output, e)) < 0 ||
	    (r = json_get_str(j, "tmp", false, &tmp, e)) < 0 ||
	    (r = json_get_strv(j, "tests", LIST_MAX, &f->tests, e)) < 0 ||
	    (r = json_get_strv(j, "failing", LIST_MAX, &f->failing, e)) < 0 ||
	    (r = json_get_strv(j, "guarded", LIST_MAX, &f->guarded, e)) < 0 ||
	    (r = json_get_u64(j, "limit_ms", 0, 86400000, &f->limit_ms, e)) <
		0 ||
	    (r = json_get_u64(j, "share", 0, 4096, &f->share, e)) < 0 ||
	    (r = json_get_u64(
		 j, "budget_ms", 0, UINT64_C(1) << 50, &f->budget_ms, e)) < 0 ||
	    (r = json_get_u64(j, "test_ms", 200, 86400000, &f->test_ms, e)) <
		0 ||
	    (r = json_get_u64(j, "parallel", 1, 1024, &f->parallel, e)) < 0)
		return r;
	f->plan = strcmp(role, "plan") == 0;
	if (!f->plan && strcmp(role, "explore") != 0)
		return err_set(e, ERR_MODEL,
		    "the built-in model knows the roles plan and explore, not "
		    "\"%.40s\"",
		    role);
	f->hypothesis_id = id != NULL && *id != '\0' ? xstrdup(id) : NULL;
	f->hypothesis = xstrdup(hypothesis != NULL ? hypothesis : "");
	f->output = xstrdup(output != NULL ? output : "");
	f->tmp = tmp != NULL ? xstrdup(tmp) : NULL;
	f->parallel = f->parallel < 1 ? 1 : f->parallel;
	f->test_ms = f->test_ms < 1 ? 1 : f->test_ms;
	return 0;
}

int
facts_parse(const json_t *conv, struct facts *ret, struct err *e)
{
	struct facts f = { 0 };
	const json_t *msg;
	json_t *j = NULL;
	size_t i;
	int r;

	/* Notes of the repository come first and are not the task. */
	json_array_foreach (conv, i, msg) {
		if (dialog_is(msg, "user") &&
		    strcmp(dialog_str(msg, "kind"), "memory") != 0) {
			j = fenced(dialog_str(msg, "content"));
			break;
		}
	}
	if (j == NULL)
		return err_set(e, ERR_MODEL,
		    "the built-in model needs a first user message that ends "
		    "with a ```json block of facts");
	r = read_facts(j, &f, e);
	json_decref(j);
	if (r < 0) {
		facts_clear(&f);
		return ERR_MODEL;
	}
	*ret = f;
	return 0;
}

const char *
dialog_answered(const json_t *conv, size_t i, json_t **ret_args)
{
	const json_t *msg = json_array_get(conv, i), *call;
	const char *id = dialog_str(msg, "tool_call_id");
	const char *text;
	size_t k;

	*ret_args = NULL;
	while (i-- > 0) {
		const json_t *m = json_array_get(conv, i);

		if (!dialog_is(m, "assistant"))
			continue;
		json_array_foreach (json_object_get(m, "tool_calls"), k, call) {
			if (strcmp(dialog_str(call, "id"), id) != 0)
				continue;
			text = dialog_str(call, "arguments");
			(void)json_parse(
			    text, strlen(text), 4 * FACTS_MAX, ret_args, NULL);
			if (!json_is_object(*ret_args)) {
				json_decref(*ret_args);
				*ret_args = NULL;
			}
			return dialog_str(call, "name");
		}
	}
	return dialog_str(msg, "name");
}

size_t
dialog_last_call(const json_t *conv)
{
	for (size_t i = json_array_size(conv); i-- > 0;) {
		const json_t *m = json_array_get(conv, i);

		if (dialog_is(m, "assistant") &&
		    json_array_size(json_object_get(m, "tool_calls")) > 0)
			return i;
	}
	return SIZE_MAX;
}

json_t *
dialog_reply(const char *fmt, ...)
{
	json_t *reply = json_object();
	struct buf b;
	va_list ap;

	buf_init(&b, 16384);
	va_start(ap, fmt);
	(void)buf_vprintf(&b, fmt, ap);
	va_end(ap);
	json_object_set_new(reply, "role", json_string("assistant"));
	json_object_set_new(
	    reply, "content", json_str_lossy(buf_str(&b), b.len));
	buf_clear(&b);
	return reply;
}

void
dialog_call(json_t *reply, const json_t *conv, const char *tool, json_t *args)
{
	json_t *calls = json_object_get(reply, "tool_calls"), *call;
	const json_t *msg;
	size_t n = 1, i;
	char id[32], *text = json_text(args);

	json_array_foreach (conv, i, msg) {
		if (dialog_is(msg, "assistant"))
			n +=
			    json_array_size(json_object_get(msg, "tool_calls"));
	}
	if (calls == NULL) {
		calls = json_array();
		json_object_set_new(reply, "tool_calls", calls);
	}
	snprintf(id, sizeof id, "c%zu", n + json_array_size(calls));
	call = json_pack(
	    "{s:s, s:s, s:s}", "id", id, "name", tool, "arguments", text);
	if (call == NULL || json_array_append_new(calls, call) < 0)
		fatal("out of memory (JSON)");
	free(text);
	json_decref(args);
}
