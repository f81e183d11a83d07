/* tool.c - see tool.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "worker/agent/agent.h"
#include "worker/agent/batch.h"
#include "worker/agent/hook.h"
#include "worker/agent/tool.h"

#define ARGS_MAX ((size_t)2 << 20)
#define RESULT_MAX ((size_t)256 << 10)
#define REFUSAL_MAX 600

static const struct tool *const tools[] = {
	&tool_read_file,
	&tool_list_dir,
	&tool_grep,
	&tool_edit_file,
	&tool_apply_patch,
	&tool_run_command,
	&tool_try_edits,
	&tool_fetch_url,
	&tool_update_todos,
	&tool_read_skill,
	&tool_finish,
};

static json_t *
schema_of(const struct tool *t)
{
	struct err e;
	json_t *j;

	if (json_parse(t->schema, strlen(t->schema), ARGS_MAX, &j, &e) < 0)
		fatal("schema of %s: %s", t->name, e.text);
	return j;
}

json_t *
tool_list(void)
{
	json_t *list = json_array(), *top = json_object(), *row;
	size_t i;

	for (i = 0; i < nitems(tools); i++) {
		row = json_object();
		json_object_set_new(row, "name", json_string(tools[i]->name));
		json_object_set_new(
		    row, "description", json_string(tools[i]->description));
		json_object_set_new(row, "parameters", schema_of(tools[i]));
		json_array_append_new(list, row);
	}
	json_object_set_new(top, "role", json_string("tools"));
	json_object_set_new(top, "tools", list);
	return top;
}

const struct tool *
tool_find(const char *name)
{
	size_t i;

	for (i = 0; i < nitems(tools); i++) {
		if (strcasecmp(tools[i]->name, name) == 0)
			return tools[i];
	}
	return NULL;
}

/* --- results ------------------------------------------------------------- */

void
tool_printf(struct tool_result *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)buf_vprintf(&r->text, fmt, ap); /* tools cap what they add */
	va_end(ap);
}

static void
start_error(struct tool_result *r)
{
	r->error = true;
	buf_reset(&r->text);
	(void)buf_adds(&r->text, "error: ");
}

void
tool_fail(struct tool_result *r, const char *fmt, ...)
{
	va_list ap;

	start_error(r);
	va_start(ap, fmt);
	(void)buf_vprintf(&r->text, fmt, ap);
	va_end(ap);
}

void
tool_fail_err(struct tool_result *r, const struct err *e)
{
	start_error(r);
	r->denied = e->code == ERR_DENIED;
	(void)buf_adds(&r->text, e->text);
}

void
tool_result_clear(struct tool_result *r)
{
	buf_clear(&r->text);
}

/* --- arguments ----------------------------------------------------------- */

const char *
arg_str(const json_t *args, const char *key, const char *def)
{
	const char *s = json_string_value(json_object_get(args, key));

	return s != NULL ? s : def;
}

uint64_t
arg_u64(const json_t *args, const char *key, uint64_t def)
{
	const json_t *j = json_object_get(args, key);

	return json_is_integer(j) ? (uint64_t)json_integer_value(j) : def;
}

bool
arg_bool(const json_t *args, const char *key)
{
	return json_is_true(json_object_get(args, key));
}

static bool
is_blank(const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (strchr(" \t\r\n", s[i]) == NULL)
			return false;
	}
	return true;
}

/* What models get wrong inside strings without leaving a doubt of what was
 * meant: raw control bytes, and escapes that JSON lacks ("\\d"). Returns the
 * mended text, yours, or NULL when there was nothing of the kind. */
static char *
mend_strings(const char *s, size_t len)
{
	struct buf b;
	bool in = false, mended = false;
	size_t i;

	buf_init(&b, BUF_NOMAX);
	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '"')
			in = !in;
		if (in && c < 0x20) {
			(void)buf_printf(&b, "\\u%04x", c);
			mended = true;
			continue;
		}
		if (in && c == '\\' && i + 1 < len) {
			if (strchr("\"\\/bfnrtu", s[i + 1]) == NULL ||
			    s[i + 1] == '\0') {
				(void)buf_adds(&b, "\\\\");
				mended = true;
				continue;
			}
			(void)buf_addc(&b, s[i++]);
		}
		(void)buf_addc(&b, s[i]);
	}
	if (!mended) {
		buf_clear(&b);
		return NULL;
	}
	return buf_detach(&b, NULL);
}

static int
parse_args(const char *s, size_t len, json_t **ret, struct err *e)
{
	char *mended;
	int r;

	if ((r = json_parse(s, len, ARGS_MAX, ret, e)) == 0 || len > ARGS_MAX)
		return r;
	if ((mended = mend_strings(s, len)) == NULL)
		return r;
	if (json_parse(mended, strlen(mended), 6 * ARGS_MAX, ret, NULL) == 0)
		r = 0;
	free(mended);
	return r;
}

int
tool_args(const json_t *args, json_t **ret, struct err *e)
{
	json_t *j = NULL, *inner;
	const char *s;
	size_t len;
	int r, tries;

	if (args == NULL || json_is_null(args)) {
		*ret = json_object();
		return 0;
	}
	if (json_is_object(args)) {
		*ret = json_incref((json_t *)(uintptr_t)args);
		return 0;
	}
	if (!json_is_string(args))
		return err_set(
		    e, ERR_SYNTAX, "the arguments must be a JSON object");
	s = json_string_value(args);
	len = json_string_length(args);
	if (is_blank(s, len)) {
		*ret = json_object();
		return 0;
	}
	if ((r = parse_args(s, len, &j, e)) < 0) {
		if (e != NULL &&
		    (strstr(e->text, "premature end") != NULL ||
			strstr(e->text, "end of file") != NULL ||
			strstr(e->text, "end of input") != NULL))
			err_prefix(e,
			    "they are truncated; write a shorter "
			    "call");
		err_prefix(e, "the arguments are no valid JSON");
		return r;
	}
	/* Some models encode them twice. */
	for (tries = 0; json_is_string(j) && tries < 2; tries++) {
		r = json_parse(json_string_value(j), json_string_length(j),
		    ARGS_MAX, &inner, e);
		if (r < 0)
			break;
		json_decref(j);
		j = inner;
	}
	if (json_is_null(j)) {
		json_decref(j);
		j = json_object();
	}
	if (!json_is_object(j)) {
		json_decref(j);
		return err_set(
		    e, ERR_SYNTAX, "the arguments must be a JSON object");
	}
	*ret = j;
	return 0;
}

static bool
has_type(const json_t *v, const char *type)
{
	if (strcmp(type, "string") == 0)
		return json_is_string(v);
	if (strcmp(type, "integer") == 0)
		return json_is_integer(v) && json_integer_value(v) >= 0;
	if (strcmp(type, "boolean") == 0)
		return json_is_boolean(v);
	if (strcmp(type, "array") == 0)
		return json_is_array(v);
	return json_is_object(v);
}

static bool
is_required(const json_t *schema, const char *key)
{
	const json_t *list = json_object_get(schema, "required"), *v;
	size_t i;

	json_array_foreach (list, i, v) {
		if (strcmp(json_string_value(v), key) == 0)
			return true;
	}
	return false;
}

/* "{path: string, offset?: integer}" */
static void
signature(const json_t *schema, struct buf *ret)
{
	const json_t *props = json_object_get(schema, "properties"), *p;
	const char *key, *type;
	bool first = true;

	(void)buf_addc(ret, '{');
	json_object_foreach ((json_t *)(uintptr_t)props, key, p) {
		type = json_string_value(json_object_get(p, "type"));
		(void)buf_printf(ret, "%s%s%s: ", first ? "" : ", ", key,
		    is_required(schema, key) ? "" : "?");
		first = false;
		if (strcmp(type, "array") == 0) {
			const json_t *items = json_object_get(p, "items");

			type =
			    json_string_value(json_object_get(items, "type"));
			if (strcmp(type, "object") == 0)
				signature(items, ret);
			else
				(void)buf_adds(ret, type);
			(void)buf_adds(ret, "[]");
		} else {
			(void)buf_adds(ret, type);
		}
	}
	(void)buf_addc(ret, '}');
}

static int check_object(
    const json_t *schema, const json_t *v, const char *where, struct err *e);

static int
check_value(
    const json_t *schema, const json_t *v, const char *name, struct err *e)
{
	const char *type = json_string_value(json_object_get(schema, "type"));
	const json_t *items, *item;
	size_t i;
	char *at;
	int r = 0;

	if (!has_type(v, type))
		return err_set(e, ERR_SYNTAX, "`%s` must be %s %s", name,
		    strchr("aeio", *type) != NULL ? "an" : "a",
		    strcmp(type, "integer") == 0 ? "integer of 0 or more"
						 : type);
	if (json_is_object(v))
		return check_object(schema, v, name, e);
	if (!json_is_array(v))
		return 0;
	items = json_object_get(schema, "items");
	json_array_foreach (v, i, item) {
		at = xasprintf("%s[%zu]", name, i);
		r = check_value(items, item, at, e);
		free(at);
		if (r < 0)
			break;
	}
	return r;
}

static int
check_object(
    const json_t *schema, const json_t *v, const char *where, struct err *e)
{
	const json_t *props = json_object_get(schema, "properties"), *p, *got;
	const char *key;
	char *at;
	int r = 0;

	json_object_foreach ((json_t *)(uintptr_t)props, key, p) {
		got = json_object_get(v, key);
		at = *where != '\0' ? xasprintf("%s.%s", where, key)
				    : xstrdup(key);
		if (got == NULL || json_is_null(got)) {
			if (is_required(schema, key))
				r = err_set(e, ERR_SYNTAX,
				    "the argument `%s` is missing", at);
		} else {
			r = check_value(p, got, at, e);
		}
		free(at);
		if (r < 0)
			break;
	}
	return r;
}

int
tool_check(const struct tool *t, const json_t *args, struct err *e)
{
	json_t *schema = schema_of(t);
	struct err why;
	struct buf sig;
	int r;

	r = check_object(schema, args, "", &why);
	if (r < 0) {
		buf_init(&sig, 4096);
		signature(schema, &sig);
		r = err_set(
		    e, r, "%s. %s takes %s", why.text, t->name, buf_str(&sig));
		buf_clear(&sig);
	}
	json_decref(schema);
	return r;
}

/* --- calls --------------------------------------------------------------- */

static void
unknown(const char *name, struct tool_result *r)
{
	char shown[80];
	size_t i;

	text_escape_to(shown, sizeof shown, name, strlen(name));
	tool_fail(r, "there is no tool \"%s\". The tools are:", shown);
	for (i = 0; i < nitems(tools); i++)
		tool_printf(r, "%s %s", i > 0 ? "," : "", tools[i]->name);
}

/* What a model gets is clean, whatever a file or a name held. */
static void
clean(struct tool_result *r)
{
	struct buf b;

	buf_init(&b, BUF_NOMAX);
	(void)text_clean(&b, buf_str(&r->text), r->text.len, 0);
	buf_reset(&r->text);
	(void)text_head_tail(&r->text, buf_str(&b), b.len, RESULT_MAX);
	buf_clear(&b);
}

/* Tools that touch nothing ask only where the rules speak of them. */
static int
ask_first(
    struct agent *a, const struct tool *t, const json_t *args, struct err *e)
{
	const char *path = arg_str(args, "path", ".");
	size_t i;

	for (i = 0; a->task != NULL && i < a->task->judged.n; i++)
		if (strcmp(a->task->judged.v[i], t->name) == 0 &&
		    strcmp(t->name, "try_edits") != 0)
			return agent_audit(a, t->name, path, NULL, e);
	return 0;
}

/* What the tools themselves refuse has no effect and is on record all the same:
 * it was tried. */
static void
record_refusal(struct agent *a, const struct tool *t, const json_t *args,
    const struct tool_result *r)
{
	const char *text = buf_str(&r->text);
	char why[REFUSAL_MAX], *detail;
	struct err e;
	json_t *j;

	if (text_starts(text, "error: "))
		text += strlen("error: ");
	(void)text_escape_to(why, sizeof why, text, strlen(text));
	j = json_pack("{s:s, s:o}", "tool", t->name, "reason",
	    json_str_lossy(why, strlen(why)));
	detail = json_text(j);
	json_decref(j);
	if (agent_audit(
		a, "refused", arg_str(args, "path", t->name), detail, &e) < 0 &&
	    e.code != ERR_DENIED)
		log_debug("AUDIT: %s", e.text);
	free(detail);
}

/* With the hooks before and after it. */
static void
make_call(
    struct agent *a, const struct tool *t, json_t **args, struct tool_result *r)
{
	struct buf context;
	struct err e;

	if (t != &tool_try_edits)
		batch_rest(a);
	buf_init(&context, BUF_NOMAX);
	if (hook_before(a, t, args, &context, r)) {
		a->audit_denied = false;
		if (ask_first(a, t, *args, &e) < 0)
			tool_fail_err(r, &e);
		else
			t->fn(a, *args, r);
		/* What a FETCH asks for is on record by itself. */
		if (r->denied && !a->audit_denied && a->task != NULL &&
		    t != &tool_fetch_url)
			record_refusal(a, t, *args, r);
		hook_after(a, t, *args, r);
	}
	if (context.len > 0)
		tool_printf(r, "\n\n[from a hook of the person]\n%s",
		    buf_str(&context));
	buf_clear(&context);
}

void
tool_call(struct agent *a, const char *name, const json_t *args,
    struct tool_result *r)
{
	const struct tool *t;
	json_t *obj = NULL;
	struct err e;

	*r = (struct tool_result){ 0 };
	buf_init(&r->text, BUF_NOMAX);
	t = tool_find(name);
	if (t == NULL)
		unknown(name, r);
	else if (tool_args(args, &obj, &e) < 0 || tool_check(t, obj, &e) < 0)
		tool_fail_err(r, &e);
	else
		make_call(a, t, &obj, r);
	clean(r);
	json_decref(obj);
}
