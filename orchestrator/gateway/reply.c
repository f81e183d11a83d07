/* reply.c - see reply.h. */
#include "common/compat.h"

#include "common/log.h"
#include "orchestrator/gateway/reply.h"

static const char think_open[] = "<think>";
static const char think_close[] = "</think>";
static const char blanks[] = " \t\r\n";

void
reply_init(struct reply *r)
{
	*r = (struct reply){ .current = -1 };
	buf_init(&r->text, REPLY_TEXT_MAX);
	buf_init(&r->aside, REPLY_TEXT_MAX);
	buf_init(&r->sig, REPLY_TEXT_MAX);
}

void
reply_clear(struct reply *r)
{
	for (size_t i = 0; i < r->n_calls; i++) {
		free(r->calls[i].id);
		free(r->calls[i].name);
		buf_clear(&r->calls[i].args);
		json_decref(r->calls[i].args_json);
	}
	free(r->calls);
	buf_clear(&r->text);
	buf_clear(&r->aside);
	buf_clear(&r->sig);
	json_decref(r->opaque);
	json_decref(r->scratch);
	reply_init(r);
}

int
reply_keep(struct reply *r, size_t len)
{
	if (r->fault.kind != FAULT_NONE)
		return -1;
	if (len > REPLY_TEXT_MAX - r->bytes) {
		fault_set(&r->fault, FAULT_TOOLARGE,
		    "the reply is larger than %zu bytes", REPLY_TEXT_MAX);
		return -1;
	}
	r->bytes += len;
	return 0;
}

int
reply_text(struct reply *r, const char *s, size_t len)
{
	if (reply_keep(r, len) < 0)
		return -1;
	return buf_add(&r->text, s, len) < 0 ? -1 : 0;
}

int
reply_opaque(struct reply *r, json_t *block)
{
	size_t len = json_dumpb(block, NULL, 0, JSON_COMPACT);

	if (reply_keep(r, len) < 0) {
		json_decref(block);
		return -1;
	}
	if (r->opaque == NULL)
		r->opaque = json_array();
	if (json_array_append_new(r->opaque, block) < 0)
		fatal("out of memory (JSON)");
	return 0;
}

struct reply_call *
reply_call_new(struct reply *r, long key)
{
	struct reply_call *c;

	if (r->fault.kind != FAULT_NONE)
		return NULL;
	if (r->n_calls >= REPLY_CALLS_MAX) {
		fault_set(&r->fault, FAULT_TOOLARGE,
		    "the reply has more than %d calls", REPLY_CALLS_MAX);
		return NULL;
	}
	r->calls = xreallocarray(r->calls, r->n_calls + 1, sizeof *r->calls);
	c = &r->calls[r->n_calls++];
	*c = (struct reply_call){ .key = key };
	buf_init(&c->args, REPLY_TEXT_MAX);
	return c;
}

struct reply_call *
reply_call_find(struct reply *r, long key)
{
	for (size_t i = r->n_calls; i > 0; i--) {
		if (r->calls[i - 1].key == key)
			return &r->calls[i - 1];
	}
	return NULL;
}

int
reply_name(struct reply *r, struct reply_call *c, const char *s)
{
	size_t old = c->name != NULL ? strlen(c->name) : 0, len = strlen(s);

	if (c->args.len > 0 && c->name != NULL)
		return 0;
	if (c->name != NULL && strcmp(c->name, s) == 0)
		return 0;
	if (len > REPLY_NAME_MAX - old) {
		if (r->fault.kind == FAULT_NONE)
			fault_set(&r->fault, FAULT_TOOLARGE,
			    "a tool's name is longer than %d bytes",
			    REPLY_NAME_MAX);
		return -1;
	}
	if (reply_keep(r, len) < 0)
		return -1;
	c->name = xreallocarray(c->name, old + len + 1, 1);
	memcpy(c->name + old, s, len + 1);
	return 0;
}

int
reply_args(struct reply *r, struct reply_call *c, const char *s, size_t len)
{
	if (reply_keep(r, len) < 0)
		return -1;
	if (len > 0 && strcmp(buf_str(&c->args), "{}") == 0)
		buf_reset(&c->args);
	return buf_add(&c->args, s, len) < 0 ? -1 : 0;
}

/* --- our message ---------------------------------------------------------- */

/* The text behind the reasoning that some servers leave in it, also when the
 * template wrote the opening tag itself. */
static const char *
without_thinking(const char *text)
{
	const char *s = text + strspn(text, blanks), *close, *open;

	close = strstr(s, think_close);
	open = strstr(s, think_open);
	if (open == s && close == NULL)
		return "";
	if (close == NULL || (open != s && open != NULL && open < close))
		return text;
	close += sizeof think_close - 1;
	return close + strspn(close, blanks);
}

static bool
is_blank(const char *s)
{
	return s[strspn(s, blanks)] == '\0';
}

/* Whether text that begins as JSON ends in the middle of it. It may be wrong
 * otherwise: that is judged where it is used. */
static bool
ends_inside(const char *s, size_t len)
{
	bool in_string = false;
	size_t depth = 0;

	for (size_t i = 0; i < len; i++) {
		if (in_string) {
			if (s[i] == '\\')
				i++;
			else if (s[i] == '"')
				in_string = false;
		} else if (s[i] == '"') {
			in_string = true;
		} else if (s[i] == '{' || s[i] == '[') {
			depth++;
		} else if ((s[i] == '}' || s[i] == ']') && depth > 0) {
			depth--;
		}
	}
	return in_string || depth > 0;
}

static bool
is_cut(const struct reply *r, size_t i)
{
	const struct reply_call *c = &r->calls[i];

	if (c->args_json != NULL && c->args.len == 0)
		return false;
	if (is_blank(buf_str(&c->args)))
		return r->stop == STOP_LENGTH && i + 1 == r->n_calls;
	return ends_inside(c->args.data, c->args.len);
}

static json_t *
args_text(const struct reply_call *c)
{
	char *s;
	json_t *j;

	if (!is_blank(buf_str(&c->args)))
		return json_str_lossy(c->args.data, c->args.len);
	if (c->args_json == NULL)
		return json_string("{}");
	s = json_text(c->args_json);
	j = json_string(s);
	free(s);
	return j;
}

static bool
id_taken(const struct reply *r, const json_t *calls, const char *id, bool given)
{
	const json_t *done;
	size_t i;

	json_array_foreach (calls, i, done) {
		if (strcmp(id,
			json_string_value(json_object_get(done, "id"))) == 0)
			return true;
	}
	for (i = 0; i < r->n_calls && !given; i++) {
		if (r->calls[i].id != NULL && strcmp(r->calls[i].id, id) == 0)
			return true;
	}
	return false;
}

static json_t *
unique_id(const struct reply *r, const json_t *calls, size_t i, uint64_t turn)
{
	const char *given = r->calls[i].id;
	char own[64];

	if (given != NULL && *given != '\0' && strlen(given) <= REPLY_ID_MAX &&
	    !id_taken(r, calls, given, true))
		return json_str_lossy(given, strlen(given));
	snprintf(
	    own, sizeof own, "call_%llu_%zu", (unsigned long long)turn, i + 1);
	for (unsigned k = 2; id_taken(r, calls, own, false); k++)
		snprintf(own, sizeof own, "call_%llu_%zu_%u",
		    (unsigned long long)turn, i + 1, k);
	return json_string(own);
}

static json_t *
calls_list(const struct reply *r, uint64_t turn)
{
	json_t *list = json_array(), *j;
	const char *name;

	for (size_t i = 0; i < r->n_calls; i++) {
		name = r->calls[i].name != NULL ? r->calls[i].name : "";
		j = json_object();
		json_object_set_new(j, "id", unique_id(r, list, i, turn));
		json_object_set_new(
		    j, "name", json_str_lossy(name, strlen(name)));
		json_object_set_new(j, "arguments", args_text(&r->calls[i]));
		if (is_cut(r, i))
			json_object_set_new(j, "cut", json_true());
		json_array_append_new(list, j);
	}
	return list;
}

/* Marks alone are of no use. */
static bool
has_block(const json_t *opaque)
{
	const json_t *b;
	size_t i;

	json_array_foreach (opaque, i, b) {
		if (json_object_get(b, "at") == NULL)
			return true;
	}
	return false;
}

static const char *
stop_word(enum stop s)
{
	switch (s) {
	case STOP_LENGTH:
		return "length";
	case STOP_FILTER:
		return "filter";
	case STOP_PAUSE:
		return "pause";
	case STOP_NONE:
	case STOP_END:
	case STOP_CALLS:
		break;
	}
	return NULL;
}

json_t *
reply_message(const struct reply *r, const char *api, uint64_t turn)
{
	const char *text = without_thinking(buf_str(&r->text));
	const char *stop = stop_word(r->stop);
	json_t *m = json_object(), *o;

	json_object_set_new(m, "role", json_string("assistant"));
	json_object_set_new(m, "content", json_str_lossy(text, strlen(text)));
	if (r->n_calls > 0)
		json_object_set_new(m, "tool_calls", calls_list(r, turn));
	if (has_block(r->opaque)) {
		o = json_object();
		json_object_set_new(o, "api", json_string(api));
		json_object_set(o, "blocks", r->opaque);
		json_object_set_new(m, "opaque", o);
	}
	if (stop != NULL)
		json_object_set_new(m, "stop", json_string(stop));
	return m;
}
