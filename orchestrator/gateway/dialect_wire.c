/* dialect_wire.c - our messages in parts, see dialect_priv.h. */
#include "common/compat.h"

#include "common/log.h"
#include "orchestrator/gateway/dialect_priv.h"

#define ARGS_MAX ((size_t)4 << 20)

static const struct {
	const char *name;
	enum role role;
} roles[] = {
	{ "tools", ROLE_TOOLS },
	{ "system", ROLE_SYSTEM },
	{ "user", ROLE_USER },
	{ "assistant", ROLE_ASSISTANT },
	{ "tool", ROLE_TOOL },
};

/* --- is it ours? -----------------------------------------------------------
 */

static int
check_tools(const json_t *m, struct err *e)
{
	const json_t *list = json_object_get(m, "tools"), *t;
	size_t i;

	if (!json_is_array(list))
		return err_set(e, ERR_PROTO, "a message of tools has none");
	json_array_foreach (list, i, t) {
		if (!json_is_string(json_object_get(t, "name")) ||
		    !json_is_object(json_object_get(t, "parameters")))
			return err_set(e, ERR_PROTO,
			    "tool %zu lacks a name or parameters", i);
	}
	return 0;
}

static int
check_calls(const json_t *m, struct err *e)
{
	const json_t *calls = json_object_get(m, "tool_calls"), *c;
	size_t i;

	if (calls == NULL || json_is_null(calls))
		return 0;
	if (!json_is_array(calls) || json_array_size(calls) > REPLY_CALLS_MAX)
		return err_set(e, ERR_PROTO,
		    "tool_calls must be an array of at most %d",
		    REPLY_CALLS_MAX);
	json_array_foreach (calls, i, c) {
		if (!json_is_string(json_object_get(c, "id")) ||
		    !json_is_string(json_object_get(c, "name")))
			return err_set(
			    e, ERR_PROTO, "call %zu lacks an id or a name", i);
	}
	return 0;
}

static int
check_content(const json_t *m, const char *role, struct err *e)
{
	if (json_is_string(json_object_get(m, "content")))
		return 0;
	return err_set(
	    e, ERR_PROTO, "a message of role %s lacks its content", role);
}

int
wire_check(const json_t *m, enum role *ret, struct err *e)
{
	const char *name = json_string_value(json_object_get(m, "role"));
	size_t i;

	for (i = 0; i < nitems(roles); i++) {
		if (name != NULL && strcmp(name, roles[i].name) == 0)
			break;
	}
	if (i == nitems(roles))
		return err_set(e, ERR_PROTO, "a message has no known role");
	*ret = roles[i].role;
	if (*ret == ROLE_TOOLS)
		return check_tools(m, e);
	if (*ret == ROLE_ASSISTANT)
		return check_calls(m, e);
	if (*ret == ROLE_TOOL &&
	    !json_is_string(json_object_get(m, "tool_call_id")))
		return err_set(e, ERR_PROTO, "a result has no tool_call_id");
	return check_content(m, name, e);
}

void
wire_add(struct buf *b, json_t *value)
{
	char *text = json_text(value);

	json_decref(value);
	if (b->len > 0)
		(void)buf_addc(b, ',');
	(void)buf_adds(b, text);
	free(text);
}

void
wire_done(struct buf *b, enum role role, struct wire *ret)
{
	ret->role = role;
	ret->len = b->len;
	ret->text = b->len > 0 ? buf_detach(b, NULL) : xstrdup("");
}

/* --- the calls -------------------------------------------------------------
 */

static json_t *
parse_object(const char *s, size_t len, bool *ret_sound)
{
	json_t *j = NULL, *strict, *inner = NULL;

	if (json_parse(s, len, ARGS_MAX, &j, NULL) < 0)
		return NULL;
	if (json_is_object(j)) {
		/* json_parse mends what servers' parsers may refuse. */
		strict = json_loadb(s, len, JSON_REJECT_DUPLICATES, NULL);
		*ret_sound = strict != NULL;
		json_decref(strict);
		return j;
	}
	/* Some models encode them twice. */
	if (json_is_string(j) &&
	    json_parse(json_string_value(j), json_string_length(j), ARGS_MAX,
		&inner, NULL) < 0)
		inner = NULL;
	json_decref(j);
	if (inner != NULL && !json_is_object(inner)) {
		json_decref(inner);
		inner = NULL;
	}
	*ret_sound = false;
	return inner;
}

json_t *
call_args(const json_t *call, char **ret_text)
{
	const json_t *args = json_object_get(call, "arguments");
	const char *s = json_string_value(args);
	size_t len = json_string_length(args);
	bool sound = false;
	json_t *j = NULL;

	if (json_is_object(args))
		j = json_incref((json_t *)(uintptr_t)args);
	else if (s != NULL && s[strspn(s, " \t\r\n")] != '\0')
		j = parse_object(s, len, &sound);
	else
		j = json_object();
	if (j == NULL) {
		j = json_object();
		json_object_set(j, "invalid_json", (json_t *)(uintptr_t)args);
	}
	if (ret_text != NULL)
		*ret_text = sound ? xstrdup(s) : json_text(j);
	return j;
}

void
call_name(const json_t *call, char dst[65])
{
	const char *s = json_string_value(json_object_get(call, "name"));
	size_t n;

	for (n = 0; n < 64 && s[n] != '\0'; n++) {
		bool ok = (s[n] >= 'a' && s[n] <= 'z') ||
		    (s[n] >= 'A' && s[n] <= 'Z') ||
		    (s[n] >= '0' && s[n] <= '9') || s[n] == '_' || s[n] == '-';

		dst[n] = '_';
		if (ok)
			dst[n] = s[n];
	}
	dst[n] = '\0';
	if (n == 0)
		strlcpy(dst, "unnamed", 65);
}

/* --- an assistant message --------------------------------------------------
 */

struct walk {
	const struct said *s;
	const char *text; /* NULL: said, or blank */
	const json_t *calls;
	bool called[REPLY_CALLS_MAX];
};

static void
say_text(struct walk *w)
{
	if (w->text != NULL)
		w->s->text(w->s->ctx, w->text);
	w->text = NULL;
}

static void
say_call(struct walk *w, size_t n, const char *id)
{
	const json_t *call = json_array_get(w->calls, n);

	if (call == NULL || w->called[n])
		return;
	w->called[n] = true;
	w->s->call(w->s->ctx, call, id);
}

static void
say_block(struct walk *w, const json_t *b)
{
	const char *at = read_str(b, "at"), *type = read_str(b, "type");
	long n = read_index(b, "n");

	if (at == NULL) {
		/* Responses: the text's own item. */
		if (type != NULL && strcmp(type, "message") == 0)
			w->text = NULL;
		w->s->block(w->s->ctx, b);
	} else if (strcmp(at, "text") == 0) {
		say_text(w);
	} else if (strcmp(at, "call") == 0 && n >= 0) {
		say_call(w, (size_t)n, read_str(b, "id"));
	}
}

void
said_walk(const json_t *m, const char *api, const struct said *s)
{
	const json_t *opaque = json_object_get(m, "opaque"), *b;
	const char *text = read_str(m, "content");
	const char *of = read_str(opaque, "api");
	struct walk w = { .s = s, .calls = json_object_get(m, "tool_calls") };
	size_t i;

	if (text != NULL && text[strspn(text, " \t\r\n")] != '\0')
		w.text = text;
	if (w.text == NULL && json_array_size(w.calls) == 0)
		return;
	if (of != NULL && strcmp(of, api) == 0) {
		json_array_foreach (json_object_get(opaque, "blocks"), i, b)
			say_block(&w, b);
	}
	say_text(&w);
	for (i = 0; i < json_array_size(w.calls); i++)
		say_call(&w, i, NULL);
}

void
said_ids(const json_t *m, struct strv *ret)
{
	const json_t *c;
	size_t i;

	json_array_foreach (json_object_get(m, "tool_calls"), i, c)
		strv_add(ret, json_string_value(json_object_get(c, "id")));
}
