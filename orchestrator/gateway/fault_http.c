/*
 * What servers say when they refuse. The shapes of error bodies differ, the
 * words differ more; statuses are not reliable (an overflow comes as 400, 413,
 * 429 or 500), so some words count more than the status.
 */
#include "common/compat.h"

#include "common/json.h"
#include "common/text.h"
#include "orchestrator/gateway/fault.h"
#include "orchestrator/gateway/fault_read.h"

#define BODY_MAX ((size_t)1 << 20)

struct words {
	const char *text;
	enum fault_kind kind;
};

/* Types and codes of error objects, whole. */
static const struct words names[] = {
	{ "context_length_exceeded", FAULT_OVERFLOW },
	{ "request_too_large", FAULT_OVERFLOW },
	{ "exceed_context_size_error", FAULT_OVERFLOW },
	{ "insufficient_quota", FAULT_QUOTA },
	{ "billing_hard_limit_reached", FAULT_QUOTA },
	{ "billing_not_active", FAULT_QUOTA },
	{ "billing_error", FAULT_QUOTA },
	{ "content_filter", FAULT_FILTER },
	{ "content_policy_violation", FAULT_FILTER },
	{ "cyber_policy_violation", FAULT_FILTER },
	{ "overloaded_error", FAULT_OVERLOAD },
	{ "engine_overloaded", FAULT_OVERLOAD },
	{ "engine_overloaded_error", FAULT_OVERLOAD },
	{ "server_is_overloaded", FAULT_OVERLOAD },
	{ "slow_down", FAULT_OVERLOAD },
	{ "unavailable", FAULT_OVERLOAD },
	{ "rate_limit_error", FAULT_RATE },
	{ "rate_limit_exceeded", FAULT_RATE },
	{ "too_many_requests", FAULT_RATE },
	{ "resource_exhausted", FAULT_RATE },
	{ "authentication_error", FAULT_AUTH },
	{ "permission_error", FAULT_AUTH },
	{ "invalid_api_key", FAULT_AUTH },
	{ "not_found_error", FAULT_NOMODEL },
	{ "model_not_found", FAULT_NOMODEL },
	{ "invalid_request_error", FAULT_REQUEST },
	{ "invalid_prompt", FAULT_REQUEST },
};

/* Within a message, in any case. */
static const struct words phrases[] = {
	{ "context_length_exceeded", FAULT_OVERFLOW },
	{ "maximum context length", FAULT_OVERFLOW },
	{ "available context size", FAULT_OVERFLOW },
	{ "prompt is too long", FAULT_OVERFLOW },
	{ "input is too long", FAULT_OVERFLOW },
	{ "exceed context limit", FAULT_OVERFLOW },
	{ "context length exceeded", FAULT_OVERFLOW },
	{ "the context window", FAULT_OVERFLOW },
	{ "model's context length", FAULT_OVERFLOW },
	{ "context length of only", FAULT_OVERFLOW },
	{ "maximum prompt length", FAULT_OVERFLOW },
	{ "exceeds the maximum number of tokens", FAULT_OVERFLOW },
	{ "exceeded model token limit", FAULT_OVERFLOW },
	{ "prompt token count", FAULT_OVERFLOW },
	{ "must be reduced in order to run", FAULT_OVERFLOW },
	{ "insufficient_quota", FAULT_QUOTA },
	{ "credit balance is too low", FAULT_QUOTA },
	{ "insufficient balance", FAULT_QUOTA },
	{ "insufficient credits", FAULT_QUOTA },
	{ "exceeded your current quota", FAULT_QUOTA },
	{ "content management policy", FAULT_FILTER },
	{ "flagged by moderation", FAULT_FILTER },
	{ "requires moderation", FAULT_FILTER },
};

/* What an error body holds; text points into root or body. */
struct said {
	json_t *root;
	const char *type, *code, *message, *raw;
	char number[24];
	bool is_error;
};

/* --- the body ------------------------------------------------------------- */

static const char *
str(const json_t *obj, const char *key)
{
	return json_string_value(json_object_get(obj, key));
}

static void
read_error(struct said *s, const json_t *err)
{
	const json_t *code = json_object_get(err, "code");

	s->message = str(err, "message");
	s->type = str(err, "type");
	if (s->type == NULL)
		s->type = str(err, "status"); /* Gemini: RESOURCE_EXHAUSTED */
	s->code = json_string_value(code);
	if (json_is_integer(code)) {
		(void)snprintf(s->number, sizeof s->number,
		    "%" JSON_INTEGER_FORMAT, json_integer_value(code));
		s->code = s->number;
	}
	s->raw = str(json_object_get(err, "metadata"), "raw"); /* OpenRouter */
}

static void
read_body(struct said *s, const char *body, size_t len)
{
	const json_t *top, *err;

	*s = (struct said){ 0 };
	if (json_parse(body, len, BODY_MAX, &s->root, NULL) < 0)
		return;
	top = json_is_array(s->root) ? json_array_get(s->root, 0) : s->root;
	err = json_object_get(top, "error");
	s->is_error = err != NULL && !json_is_null(err);
	if (json_is_object(err))
		read_error(s, err);
	else if (json_is_string(err))
		s->message = json_string_value(err);
	if (s->message == NULL)
		s->message = str(top, "message");
	if (s->message == NULL)
		s->message = str(top, "detail");
}

static bool
is_html(const char *content_type, const char *body)
{
	body += strspn(body, " \t\r\n");
	return (content_type != NULL &&
		   strncasecmp(content_type, "text/html", 9) == 0) ||
	    strncasecmp(body, "<!doctype", 9) == 0 ||
	    strncasecmp(body, "<html", 5) == 0;
}

/* A page's title, else a word for it. */
static void
html_text(const char *body, char *dst, size_t size)
{
	const char *at = strcasestr(body, "<title>"), *end;

	end = at != NULL ? strcasestr(at, "</title>") : NULL;
	if (end != NULL)
		(void)snprintf(dst, size, "an HTML page: %.*s",
		    end - at - 7 < 200 ? (int)(end - at - 7) : 200, at + 7);
	else
		(void)snprintf(dst, size, "an HTML page");
}

/* --- the kind ------------------------------------------------------------- */

static enum fault_kind
by_name(const char *name)
{
	for (size_t i = 0; name != NULL && i < nitems(names); i++)
		if (strcasecmp(name, names[i].text) == 0)
			return names[i].kind;
	return FAULT_NONE;
}

static enum fault_kind
by_phrase(const char *s)
{
	for (size_t i = 0; s != NULL && i < nitems(phrases); i++)
		if (strcasestr(s, phrases[i].text) != NULL)
			return phrases[i].kind;
	return FAULT_NONE;
}

static enum fault_kind
by_status(long status)
{
	if (status == 401 || status == 403)
		return FAULT_AUTH;
	if (status == 402)
		return FAULT_QUOTA;
	if (status == 404)
		return FAULT_NOMODEL;
	if (status == 413)
		return FAULT_OVERFLOW;
	if (status == 429)
		return FAULT_RATE;
	if (status == 503 || status == 529)
		return FAULT_OVERLOAD;
	if (status == 408 || status == 409 || status == 425 || status >= 500)
		return FAULT_SERVER;
	return status >= 300 ? FAULT_REQUEST : FAULT_NONE;
}

static void
find_context(struct fault *f, const char *s)
{
	static const char *const anchors[] = { "context length is ",
		"context size (", "tokens > ", "context length of only ",
		"prompt length is ", "model token limit: " };

	for (size_t i = 0; i < nitems(anchors); i++)
		if (number_after(s, anchors[i], &f->context))
			return;
}

/* Says the refusal that the prompt alone would fit? Then the answer is less
 * output, not a shorter context. */
static bool
prompt_fits(struct fault *f, const char *s)
{
	const char *sum = strcasestr(s, "exceed context limit: ");
	uint64_t prompt;

	if (sum != NULL && number_after(s, "exceed context limit: ", &prompt)) {
		if ((sum = strstr(sum, " > ")) != NULL)
			(void)number_at(sum + 3, &f->context);
	} else if (!number_before(s, " in the messages", &prompt) &&
	    !number_after(s, "your request has ", &prompt)) {
		return false;
	}
	return f->context > 0 && prompt < f->context;
}

/* "max_tokens is too large": which of the many wordings. */
static bool
output_refused(struct fault *f, const char *s)
{
	static const char *const anchors[] = { "at most ", "> ",
		"<= ", "less than or equal to ", "[1, ", "maximum of " };
	static const char *const reasons[] = { "too large", "at most",
		"maximum allowed", "maximum value", "less than or equal",
		"valid range" };
	bool refused = false;

	if (strcasestr(s, "max_tokens") == NULL &&
	    strcasestr(s, "max_completion_tokens") == NULL &&
	    strcasestr(s, "max_output_tokens") == NULL)
		return false;
	for (size_t i = 0; i < nitems(reasons); i++)
		refused |= strcasestr(s, reasons[i]) != NULL;
	for (size_t i = 0; refused && i < nitems(anchors); i++)
		if (number_after(s, anchors[i], &f->output))
			break;
	return refused;
}

/* "Unsupported parameter: 'max_tokens' ... Use 'max_completion_tokens'", and
 * the other way round. */
static bool
name_refused(const char *s)
{
	static const char *const reasons[] = { "unsupported", "not supported",
		"unknown", "unrecognized", "unexpected", "extra fields",
		"extra inputs", "extra_forbidden", "not permitted",
		"not allowed" };

	if (strcasestr(s, "max_tokens") == NULL &&
	    strcasestr(s, "max_completion_tokens") == NULL)
		return false;
	for (size_t i = 0; i < nitems(reasons); i++)
		if (strcasestr(s, reasons[i]) != NULL)
			return true;
	return false;
}

/* What the words alone say; FAULT_NONE: nothing. */
static enum fault_kind
by_words(struct fault *f, const struct said *s)
{
	const char *const texts[] = { s->message, s->raw };
	enum fault_kind k = by_name(s->code);

	if (k == FAULT_NONE || k == FAULT_REQUEST)
		k = by_name(s->type);
	for (size_t i = 0; i < nitems(texts); i++) {
		enum fault_kind p = by_phrase(texts[i]);

		if (texts[i] == NULL)
			continue;
		if (p == FAULT_OVERFLOW || k == FAULT_OVERFLOW) {
			find_context(f, texts[i]);
			if (prompt_fits(f, texts[i]))
				return FAULT_OUTPUT;
		}
		if (p != FAULT_NONE)
			return p;
		if ((k == FAULT_NONE || k == FAULT_REQUEST) &&
		    output_refused(f, texts[i]))
			return FAULT_OUTPUT;
	}
	return k;
}

/* Words that count more than this status. */
static bool
words_win(long status, enum fault_kind k)
{
	switch (k) {
	case FAULT_NONE:
		return false;
	case FAULT_QUOTA:
	case FAULT_FILTER:
		return true;
	case FAULT_OVERFLOW:
	case FAULT_OUTPUT:
		return status != 401 && status != 403 && status != 404;
	case FAULT_OVERLOAD:
		return status > 429;
	case FAULT_RATE:
		return status == 400 || status == 503;
	case FAULT_NOMODEL:
		return status == 400;
	default:
		return false;
	}
}

/* Nothing but whole sentences of the server's, after its status. */
static void
describe(struct fault *f, const struct said *s, const char *content_type,
    const char *body)
{
	char buf[512], wait[64];
	const char *text = s->message;

	if (text == NULL)
		text = s->code != NULL ? s->code : s->type;
	if (text == NULL && is_html(content_type, body)) {
		html_text(body, buf, sizeof buf);
		text = buf;
	}
	if (text == NULL && f->status >= 300 && f->status < 400)
		text = "a redirect, which is not followed";
	if (text == NULL)
		text = body[0] != '\0' ? body : "no explanation";
	if (f->kind == FAULT_QUOTA && f->has_retry_after)
		fault_set(f, f->kind, "HTTP %ld: wait %s: %.400s", f->status,
		    fault_wait_words(f->retry_after_ms, wait, sizeof wait),
		    text);
	else
		fault_set(f, f->kind, "HTTP %ld: %.800s", f->status, text);
}

static void
find_wait(struct fault *f, const struct said *s, const char *retry_after,
    const char *body, int64_t now_s)
{
	f->has_retry_after =
	    (retry_after != NULL &&
		fault_wait_header(retry_after, now_s, &f->retry_after_ms)) ||
	    (s->message != NULL &&
		fault_wait_message(s->message, &f->retry_after_ms)) ||
	    fault_wait_message(body, &f->retry_after_ms);
}

void
fault_from_http(struct fault *f, long status, const char *content_type,
    const char *retry_after, const char *body, size_t len, uint64_t max_wait_ms,
    int64_t now_s)
{
	struct said s;
	enum fault_kind words;
	char *text = strndup(body != NULL ? body : "", len);
	bool short_wait;

	if (text == NULL)
		text = strdup(""); /* only the words are lost */
	*f = (struct fault){ .status = status };
	read_body(&s, body, len);
	find_wait(f, &s, retry_after, text, now_s);
	short_wait = f->has_retry_after &&
	    f->retry_after_ms <= fault_wait_most(max_wait_ms);
	if (s.root == NULL && !is_html(content_type, text))
		s.message = text[0] != '\0' ? text : NULL;
	words = by_words(f, &s);
	/* Gemini says "quota" of a limit for each minute, with the wait. */
	if (status == 429 && words == FAULT_QUOTA && short_wait &&
	    by_name(s.code) != FAULT_QUOTA && by_name(s.type) != FAULT_QUOTA)
		words = FAULT_RATE;
	f->kind = by_status(status);
	if (words_win(status, words) || (f->kind == FAULT_NONE && s.is_error))
		f->kind = words != FAULT_NONE ? words : FAULT_SERVER;
	if (f->kind == FAULT_NONE)
		f->kind =
		    is_html(content_type, text) ? FAULT_SERVER : FAULT_BROKEN;
	if (f->kind == FAULT_RATE && f->has_retry_after && !short_wait)
		f->kind = FAULT_QUOTA;
	f->output_name = f->kind == FAULT_REQUEST && name_refused(text);
	describe(f, &s, content_type, text);
	json_decref(s.root);
	free(text);
}

void
fault_from_error(struct fault *f, const char *type, const char *message)
{
	struct said s = { .type = type, .message = message };
	uint64_t status = 0;

	*f = (struct fault){ 0 };
	f->kind = by_words(f, &s);
	/* A code that is a status: {"error":{"code":502}}. */
	if (f->kind == FAULT_NONE && type != NULL && number_at(type, &status) &&
	    status < 600)
		f->kind = by_status((long)status);
	if (f->kind == FAULT_NONE)
		f->kind = FAULT_SERVER;
	if (message != NULL && type != NULL)
		fault_set(f, f->kind, "%.100s: %.800s", type, message);
	else
		fault_set(f, f->kind, "%.800s",
		    message != NULL    ? message
			: type != NULL ? type
				       : "an error without a text");
}
