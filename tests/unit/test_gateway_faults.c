/* What servers say, and what it means: fault.h, limiter.h, guess.h, and how
 * models are found and paid: model.h. D ids: tests/cases/D.jsonl. */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include <curl/curl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "orchestrator/gateway/fault.h"
#include "orchestrator/gateway/guess.h"
#include "orchestrator/gateway/limiter.h"
#include "orchestrator/gateway/model.h"

#define NOW 1700000000 /* Tue, 14 Nov 2023 22:13:20 GMT */

static struct fault
http(long status, const char *type, const char *retry, const char *body)
{
	struct fault f;

	fault_from_http(
	    &f, status, type, retry, body, strlen(body), 60000, NOW);
	assert_non_null(strstr(f.text, "HTTP "));
	return f;
}

static void
test_kinds(void **state unused_arg)
{
	static const struct {
		long status;
		const char *body;
		enum fault_kind kind;
	} t[] = {
		{ 429, "{}", FAULT_RATE },
		{ 429, "{\"error\":{\"message\":\"slow down\"}}", FAULT_RATE },
		{ 429, "{\"error\":{\"code\":\"insufficient_quota\"}}",
		    FAULT_QUOTA },
		{ 429,
		    "{\"error\":{\"message\":\"You exceeded your current quota, "
		    "please check your plan\",\"code\":\"insufficient_quota\"}}",
		    FAULT_QUOTA },
		{ 429,
		    "[{\"error\":{\"code\":429,\"message\":\"You exceeded your "
		    "current quota. Please retry in 36.5s.\","
		    "\"status\":\"RESOURCE_EXHAUSTED\"}}]",
		    FAULT_RATE },
		{ 402, "{\"error\":{\"message\":\"Insufficient Balance\"}}",
		    FAULT_QUOTA },
		{ 400,
		    "{\"type\":\"error\",\"error\":{\"type\":"
		    "\"invalid_request_error\",\"message\":\"Your credit "
		    "balance is too low\"}}",
		    FAULT_QUOTA },
		{ 529, "{}", FAULT_OVERLOAD },
		{ 503, "", FAULT_OVERLOAD },
		{ 500,
		    "{\"type\":\"error\",\"error\":{\"type\":"
		    "\"overloaded_error\",\"message\":\"x\"}}",
		    FAULT_OVERLOAD },
		{ 500, "oops", FAULT_SERVER },
		{ 502, "<html><title>502 Bad Gateway</title>", FAULT_SERVER },
		{ 408, "", FAULT_SERVER },
		{ 401, "{\"error\":{\"message\":\"bad key\"}}", FAULT_AUTH },
		{ 403, "{\"error\":\"no\"}", FAULT_AUTH },
		{ 403,
		    "{\"error\":{\"message\":\"the model requires moderation, "
		    "your input was flagged\"}}",
		    FAULT_FILTER },
		{ 404, "{\"error\":{\"code\":\"model_not_found\"}}",
		    FAULT_NOMODEL },
		{ 400, "{\"error\":{\"code\":\"model_not_found\"}}",
		    FAULT_NOMODEL },
		{ 400, "{\"error\":{\"message\":\"tools[0] is wrong\"}}",
		    FAULT_REQUEST },
		{ 422, "{\"detail\":\"extra fields\"}", FAULT_REQUEST },
		{ 413, "", FAULT_OVERFLOW },
		{ 307, "", FAULT_REQUEST },
		{ 200, "<!DOCTYPE html><p>login", FAULT_SERVER },
		{ 200, "hello", FAULT_BROKEN },
		{ 200, "", FAULT_BROKEN },
		{ 200, "{\"error\":{\"message\":\"busy\",\"code\":502}}",
		    FAULT_SERVER },
		{ 400, "{\"error\":{\"code\":\"content_filter\"}}",
		    FAULT_FILTER },
		{ 400,
		    "{\"error\":{\"message\":\"max_tokens: 100000 > 8192, "
		    "which is the maximum allowed number of output "
		    "tokens\"}}",
		    FAULT_OUTPUT },
		{ 400,
		    "{\"error\":{\"message\":\"Unsupported parameter: "
		    "'max_tokens' is not supported with this model\"}}",
		    FAULT_REQUEST },
		{ 400, "\xff\xfe\x00", FAULT_REQUEST },
		{ 400, "[[[[[[", FAULT_REQUEST },
		{ 400, "{\"error\":[1]}", FAULT_REQUEST },
		{ 400, "{\"error\":null}", FAULT_REQUEST },
	};
	struct fault f;

	for (size_t i = 0; i < nitems(t); i++) {
		f = http(t[i].status, NULL, NULL, t[i].body);
		if (f.kind != t[i].kind)
			fail_msg("%ld %s: %s, not %s (%s)", t[i].status,
			    t[i].body, fault_name(f.kind),
			    fault_name(t[i].kind), f.text);
		assert_int_equal(f.status, t[i].status);
	}
	f = http(502, "text/html", NULL, "<title>\x1b[31m502\r\n</title>");
	assert_null(strpbrk(f.text, "\x1b\r\n"));
	f = http(200, "text/html", NULL, "{}");
	assert_int_equal(f.kind, FAULT_SERVER);
}

static void
test_output_limits(void **state unused_arg)
{
	static const struct {
		const char *message;
		uint64_t output, context;
	} t[] = {
		{ "max_tokens is too large: 100000. This model supports at most "
		  "16384 completion tokens, whereas you provided 100000.",
		    16384, 0 },
		{ "max_tokens: 100000 > 8192, which is the maximum allowed "
		  "number of output tokens for claude-x",
		    8192, 0 },
		{ "Invalid max_tokens value, the valid range of max_tokens is "
		  "[1, 8192]",
		    8192, 0 },
		{ "Invalid 'max_output_tokens': integer above maximum value. "
		  "Expected a value <= 128000, but got 200000 instead.",
		    128000, 0 },
		{ "This model's maximum context length is 8192 tokens. However, "
		  "you requested 9000 tokens (1000 in the messages, 8000 in "
		  "the completion).",
		    0, 8192 },
		{ "'max_tokens' or 'max_completion_tokens' is too large: 8192. "
		  "This model's maximum context length is 8192 tokens and your "
		  "request has 1500 input tokens (8192 > 8192 - 1500).",
		    0, 8192 },
		{ "input length and `max_tokens` exceed context limit: 190000 + "
		  "20000 > 200000, decrease input length or `max_tokens`",
		    0, 200000 },
	};
	struct fault f;
	char *body;

	for (size_t i = 0; i < nitems(t); i++) {
		body =
		    xasprintf("{\"error\":{\"message\":\"%s\"}}", t[i].message);
		f = http(400, "application/json", NULL, body);
		if (f.kind != FAULT_OUTPUT || f.output != t[i].output ||
		    f.context != t[i].context)
			fail_msg("%s: %s %ju %ju", t[i].message,
			    fault_name(f.kind), (uintmax_t)f.output,
			    (uintmax_t)f.context);
		free(body);
	}
}

/* D-009, from the handed data. */
static void
test_d009(void **state unused_arg)
{
	json_t *c = NULL, *list, *m, *body;
	char *text;
	struct buf b;
	struct fault f;
	size_t i;

	buf_init(&b, BUF_NOMAX);
	assert_int_equal(file_read("tests/cases/D.jsonl", false, &b, NULL), 0);
	for (char *line = strstr(b.data, "{\"id\": \"D-009\""); c == NULL;) {
		assert_non_null(line);
		assert_int_equal(
		    json_parse(line, strcspn(line, "\n"), 65536, &c, NULL), 0);
	}
	list = json_object_get(json_object_get(c, "input"), "messages");
	assert_int_equal(json_array_size(list), 5);
	json_array_foreach (list, i, m) {
		/* as the message of an error, as the body, in a stream */
		body = json_pack("{s:{s:O}}", "error", "message", m);
		text = json_text(body);
		f = http(400, "application/json", NULL, text);
		assert_int_equal(f.kind, FAULT_OVERFLOW);
		f = http(400, NULL, NULL, json_string_value(m));
		assert_int_equal(f.kind, FAULT_OVERFLOW);
		f = http(500, NULL, NULL, text);
		assert_int_equal(f.kind, FAULT_OVERFLOW);
		fault_from_error(&f, "server_error", json_string_value(m));
		assert_int_equal(f.kind, FAULT_OVERFLOW);
		assert_string_equal(fault_name(f.kind), "context_overflow");
		assert_false(fault_retryable(f.kind));
		free(text);
		json_decref(body);
	}
	f = http(400, NULL, NULL, json_string_value(json_array_get(list, 1)));
	assert_int_equal(f.context, 4096);
	f = http(400, NULL, NULL, json_string_value(json_array_get(list, 2)));
	assert_int_equal(f.context, 200000);
	json_decref(c);
	buf_clear(&b);
}

static void
test_waits(void **state unused_arg)
{
	static const struct {
		const char *header, *body;
		bool has;
		uint64_t ms;
	} t[] = {
		{ "7", "", true, 7000 },
		{ " 7", "", true, 7000 },
		{ "0", "", true, 0 },
		{ "0.25", "", true, 250 },
		{ "Tue, 14 Nov 2023 22:13:50 GMT", "", true, 30000 },
		{ "Tue, 14 Nov 2023 22:13:00 GMT", "", true, 0 },
		{ "61", "", true, 61000 },
		{ "600", "", true, 600000 },
		{ "-7", "", false, 0 },
		{ "soon", "", false, 0 },
		{ "", "", false, 0 },
		{ NULL, "Please try again in 7.66s.", true, 7660 },
		{ NULL, "Please try again in 250ms.", true, 250 },
		{ NULL, "try again in 20 seconds", true, 20000 },
		{ NULL, "try again in 0m30s", true, 30000 },
		{ NULL, "{\"x\":{\"retryDelay\":\"36s\"}}", true, 36000 },
		{ NULL, "try again in a while", false, 0 },
		{ NULL, "", false, 0 },
	};
	static const struct {
		const char *header, *words;
	} quota[] = {
		{ "777600", "9 days" },
		{ "601", "10 minutes" },
		{ "7200", "2 hours" },
		{ "99999999999999999999999999", "36500 days" },
		{ "Thu, 14 Nov 2024 22:13:20 GMT", "366 days" },
	};
	struct fault f;

	for (size_t i = 0; i < nitems(t); i++) {
		f = http(429, NULL, t[i].header, t[i].body);
		if (f.has_retry_after != t[i].has ||
		    f.retry_after_ms != t[i].ms || f.kind != FAULT_RATE)
			fail_msg("%s %s: %d %ju %s", t[i].header, t[i].body,
			    f.has_retry_after, (uintmax_t)f.retry_after_ms,
			    fault_name(f.kind));
	}
	for (size_t i = 0; i < nitems(quota); i++) {
		f = http(429, NULL, quota[i].header, "{}");
		assert_int_equal(f.kind, FAULT_QUOTA);
		if (strstr(f.text, quota[i].words) == NULL)
			fail_msg("%s: %s", quota[i].header, f.text);
	}
	f = http(429, NULL, NULL, "monthly limit: try again in 9 days");
	assert_int_equal(f.kind, FAULT_QUOTA);
}

static void
test_errors_in_streams(void **state unused_arg)
{
	struct fault f;

	fault_from_error(&f, "overloaded_error", "busy");
	assert_int_equal(f.kind, FAULT_OVERLOAD);
	assert_string_equal(f.text, "overloaded_error: busy");
	fault_from_error(&f, "502", "upstream");
	assert_int_equal(f.kind, FAULT_SERVER);
	fault_from_error(&f, "429", NULL);
	assert_int_equal(f.kind, FAULT_RATE);
	fault_from_error(&f, "never_heard", "x\ny");
	assert_int_equal(f.kind, FAULT_SERVER);
	assert_null(strchr(f.text, '\n'));
	fault_from_error(&f, NULL, NULL);
	assert_int_equal(f.kind, FAULT_SERVER);
	fault_from_error(&f, "invalid_request_error", "x");
	assert_int_equal(f.kind, FAULT_REQUEST);
	fault_from_curl(&f, CURLE_PEER_FAILED_VERIFICATION, "self-signed");
	assert_int_equal(f.kind, FAULT_TLS);
	assert_false(fault_retryable(f.kind));
	fault_from_curl(&f, CURLE_COULDNT_CONNECT,
	    "Failed to connect to h port 9: Couldn't connect to server");
	assert_string_equal(f.text,
	    "Failed to connect to h port 9: Couldn't connect to server");
	fault_from_curl(&f, CURLE_OK, NULL);
	assert_int_equal(f.kind, FAULT_NONE);
}

static void
test_scrub(void **state unused_arg)
{
	struct fault f;
	char key[] = "sk-secret-0123456789", text[600];

	(void)snprintf(text, sizeof text, "bad %s, %s!", key, key);
	fault_scrub(text, key);
	assert_null(strstr(text, "sk-"));
	assert_null(strstr(text, "9"));
	(void)snprintf(text, sizeof text, "bad sk-secret-01");
	fault_scrub(text, key);
	assert_null(strstr(text, "sk-s"));
	/* cut by the field's size */
	memset(text, 'x', 500);
	(void)snprintf(text + 490, sizeof text - 490, "%s", key);
	fault_set(&f, FAULT_AUTH, "%s", text);
	fault_scrub(f.text, key);
	assert_null(strstr(f.text, "sk-s"));
	fault_scrub(text, NULL);
	fault_scrub(text, "");
}

/* In any case, and as JSON writes it. */
static void
test_scrub_forms(void **state unused_arg)
{
	static const char key[] = "sk-a/b\"c\\d0123";
	static const char *const forms[] = {
		"sk-a/b\"c\\d0123", "SK-A/B\"C\\D0123",
		"sk-a\\/b\\\"c\\\\d0123", "sk-a\\\\/b\\\\\\\"c\\\\\\\\d0123",
		"\\u0073k-a/b\\u0022c\\\\d012\\u0033", "sk-a\\/b\\\"", /* cut */
	};
	char text[256];
	size_t n;

	for (size_t i = 0; i < nitems(forms); i++) {
		(void)snprintf(text, sizeof text, "bad: %s", forms[i]);
		n = strlen(text);
		fault_scrub(text, key);
		assert_int_equal(strlen(text), n);
		assert_int_equal(strspn(text + 5, "*"), n - 5);
		assert_memory_equal(text, "bad: ", 5);
	}
	(void)snprintf(text, sizeof text, "%s", "it says sk-a and sk-a/b");
	assert_false(fault_scrub_whole(text, strlen(text), key));
	memset(text, '\\', sizeof text);
	assert_false(fault_scrub_whole(text, sizeof text, key));
}

static void
test_output_names(void **state unused_arg)
{
	struct fault f;

	f = http(400, NULL, NULL,
	    "{\"error\":{\"message\":\"Unsupported parameter: 'max_tokens' is "
	    "not supported with this model. Use 'max_completion_tokens' "
	    "instead.\"}}");
	assert_true(f.output_name);
	f = http(422, NULL, NULL,
	    "{\"detail\":[{\"type\":\"extra_forbidden\",\"loc\":[\"body\","
	    "\"max_completion_tokens\"],\"msg\":\"Extra inputs are not "
	    "permitted\"}]}");
	assert_true(f.output_name);
	f = http(400, NULL, NULL, "max_tokens is too large");
	assert_false(f.output_name);
	f = http(400, NULL, NULL, "unsupported parameter: top_p");
	assert_false(f.output_name);
}

static void
test_limiter(void **state unused_arg)
{
	struct limiter l;
	uint64_t now = 1100, ms;

	limiter_init(&l, 8, 1);
	for (int i = 0; i < 8; i++)
		assert_int_equal(limiter_enter(&l, 0), 0);
	assert_true(limiter_enter(&l, 0) == UINT64_MAX);
	limiter_refused(&l, 100, 1000);
	limiter_refused(&l, 150, 500); /* of the same burst */
	assert_true(l.width > 3.9 && l.width < 4.1);
	assert_int_equal(l.strikes, 1);
	assert_int_equal(limiter_enter(&l, 100), 1000);
	for (int i = 0; i < 8; i++)
		limiter_leave(&l, false);
	/* H-007: not all at once, but each a random while after the other. */
	assert_int_equal(limiter_enter(&l, now), 0);
	for (int i = 1; i < 4; i++) {
		ms = limiter_enter(&l, now);
		assert_in_range(ms, 75, 125);
		now += ms;
		assert_int_equal(limiter_enter(&l, now), 0);
	}
	assert_true(limiter_enter(&l, now) == UINT64_MAX);
	for (int i = 0; i < 4; i++)
		limiter_leave(&l, true);
	assert_int_equal(l.strikes, 0);
	assert_true(l.width > 4.5 && l.width < 5.1);
	for (uint64_t t = 2000; t < 2000 + 8 * 2000; t += 2000)
		limiter_refused(&l, t, 1000);
	assert_true(l.width >= 1 && l.width < 1.01);
	for (int i = 0; i < 1000; i++)
		limiter_leave(&l, true);
	assert_true(l.width > 7.9 && l.width < 8.1);
	assert_int_equal(l.in_flight, 0);
	limiter_refused(&l, 5, UINT64_MAX);
	assert_true(l.closed_until_ms == UINT64_MAX);
}

/* D-004: exponential, with jitter. */
static void
test_backoff(void **state unused_arg)
{
	uint64_t seed = 1, ms, whole = 500, seen = 0;
	bool differs = false;

	for (unsigned n = 1; n <= 8; n++, whole *= 2) {
		for (int i = 0; i < 50; i++) {
			ms = backoff_ms(n, 60000, false, 0, &seed);
			assert_in_range(ms, whole > 60000 ? 30000 : whole / 2,
			    whole > 60000 ? 60000 : whole);
			differs |= seen != 0 && ms != seen;
			seen = ms;
		}
	}
	assert_true(differs);
	assert_in_range(
	    backoff_ms(4000000, 60000, false, 0, &seed), 30000, 60000);
	assert_int_equal(backoff_ms(1, 60000, true, 7000, &seed), 7000);
	assert_in_range(backoff_ms(5, 60000, true, 0, &seed), 4000, 8000);
	assert_int_equal(backoff_ms(3, 0, false, 0, &seed), 0);
}

static void
test_guess(void **state unused_arg)
{
	struct guess g;

	guess_init(&g);
	assert_int_equal(guess_tokens(&g, 28000), 7000);
	assert_int_equal(guess_tokens(&g, 28001), 7001);
	assert_true(guess_high(&g, 28000) > 7000);
	guess_learn(&g, 10000, 5000);
	assert_int_equal(guess_tokens(&g, 10000), 5000);
	for (int i = 0; i < 100; i++)
		guess_learn(&g, 10000, 1); /* a liar */
	assert_in_range(guess_tokens(&g, 10000), 1250, 1300);
	guess_learn(&g, 10000, UINT64_MAX);
	assert_int_equal(guess_tokens(&g, 10000), 10000);
	guess_learn(&g, 0, 5);
	guess_learn(&g, 10000, 0);
	assert_int_equal(guess_tokens(&g, 10000), 10000);
}

static json_t *
settings(const char *text)
{
	json_t *j;
	struct err e;

	if (json_parse(text, strlen(text), 65536, &j, &e) < 0)
		fail_msg("%s", e.text);
	return j;
}

static void
clean_env(void)
{
	unsetenv("OPENAI_API_KEY");
	unsetenv("OPENAI_BASE_URL");
	unsetenv("ANTHROPIC_API_KEY");
	unsetenv("ANTHROPIC_BASE_URL");
	model_drop_keys();
}

static void
check_url(const char *name, const char *var, const char *base, const char *url)
{
	struct endpoint *m = NULL;
	struct err e = { 0 };

	setenv(var, base, 1);
	if (model_find(name, NULL, &m, &e) < 0)
		fail_msg("%s: %s", base, e.text);
	assert_string_equal(m->url, url);
	model_free(m);
	unsetenv(var);
}

static void
test_models(void **state unused_arg)
{
	struct endpoint *m = (void *)1;
	struct err e = { 0 };
	const char *a = "ANTHROPIC_BASE_URL", *o = "OPENAI_BASE_URL";

	clean_env();
	assert_int_equal(model_find(NULL, NULL, &m, &e), 0);
	assert_null(m);
	assert_int_equal(model_find("builtin", NULL, &m, &e), 0);
	assert_int_equal(model_find("openai/x", NULL, &m, &e), ERR_MODEL);
	assert_non_null(strstr(e.text, "OPENAI_API_KEY"));
	assert_int_equal(model_find("nope/x", NULL, &m, &e), ERR_USAGE);
	assert_int_equal(model_find("gpt", NULL, &m, &e), ERR_USAGE);
	assert_int_equal(model_find("openai/", NULL, &m, &e), ERR_USAGE);

	setenv("OPENAI_API_KEY", " sk-test-1\n", 1);
	assert_int_equal(model_find(NULL, NULL, &m, &e), ERR_USAGE);
	assert_non_null(strstr(e.text, "anthropic/NAME"));
	assert_non_null(strstr(e.text, "builtin"));
	assert_null(strstr(e.text, "sk-test"));
	model_take_keys(NULL);
	assert_null(getenv("OPENAI_API_KEY"));
	assert_int_equal(model_find("openai/a/b", NULL, &m, &e), 0);
	assert_string_equal(m->key, "sk-test-1");
	assert_string_equal(m->model, "a/b");
	assert_string_equal(m->dialect->name, "openai-chat");
	assert_string_equal(
	    m->url, "https://api.openai.com/v1/chat/completions");
	assert_false(m->price.known);
	model_clear(m);
	assert_null(m->key);
	model_free(m);

	setenv("ANTHROPIC_API_KEY", "k", 1);
	check_url("anthropic/x", a, "https://h", "https://h/v1/messages");
	check_url("anthropic/x", a, "https://h/v1", "https://h/v1/messages");
	check_url("anthropic/x", a, "https://h/v1//", "https://h/v1/messages");
	check_url("anthropic/x", a, "https://h/p/", "https://h/p/v1/messages");
	check_url(
	    "anthropic/x", a, "https://h/v1/messages", "https://h/v1/messages");
	check_url("openai/x", o, "http://localhost:8080/v1/",
	    "http://localhost:8080/v1/chat/completions");
	check_url("anthropic/claude-sonnet-4-5-20250929", a, "",
	    "https://api.anthropic.com/v1/messages");
	setenv(o, "http://10.0.0.1/v1", 1);
	assert_int_equal(model_find("openai/x", NULL, &m, &e), ERR_USAGE);
	clean_env();
	/* a local server needs no key */
	setenv(o, "http://127.0.0.1:1234/v1", 1);
	assert_int_equal(model_find("openai/x", NULL, &m, &e), 0);
	assert_null(m->key);
	model_free(m);
	setenv("OPENAI_API_KEY", "sk two words", 1);
	assert_int_equal(model_find("openai/x", NULL, &m, &e), ERR_MODEL);
	assert_null(strstr(e.text, "two"));
	clean_env();
}

static void
test_settings(void **state unused_arg)
{
	static const char *const bad[] = {
		"{\"providers\":[]}",
		"{\"providers\":{\"p\":{\"base_url\":\"http://10.0.0.1\"}}}",
		"{\"providers\":{\"p\":{\"base_ur\":\"https://h\"}}}",
		"{\"providers\":{\"p\":{}}}",
		"{\"providers\":{\"p\":{\"base_url\":\"ftp://h\"}}}",
		"{\"providers\":{\"p\":{\"base_url\":\"https://u:p@h\"}}}",
		"{\"providers\":{\"p\":{\"base_url\":\"https://h?a\"}}}",
		"{\"providers\":{\"p\":{\"base_url\":\"https://h\","
		"\"api\":\"soap\"}}}",
		"{\"providers\":{\"p\":{\"base_url\":\"https://h\","
		"\"key_command\":\"exit 3\"}}}",
		"{\"providers\":{\"p\":{\"base_url\":\"https://h\","
		"\"key_command\":\"true\"}}}",
		"{\"providers\":{\"p\":{\"base_url\":\"https://h\","
		"\"key_env\":\"NO_SUCH_KEY\"}}}",
		"{\"providers\":{\"p\":{\"base_url\":\"https://h\",\"models\":"
		"{\"m\":{\"price\":{\"in\":1}}}}}}",
		"{\"providers\":{\"p\":{\"base_url\":\"https://h\",\"models\":"
		"{\"m\":{\"price\":{\"in\":-1,\"out\":1}}}}}}",
		"{\"providers\":{\"p\":{\"base_url\":\"https://h\",\"models\":"
		"{\"m\":{\"quirks\":{\"no_such\":true}}}}}}",
	};
	json_t *j;
	struct endpoint *m = NULL;
	struct err e = { 0 };

	clean_env();
	for (size_t i = 0; i < nitems(bad); i++) {
		j = settings(bad[i]);
		if (model_find("p/m", j, &m, &e) >= 0)
			fail_msg("%s", bad[i]);
		json_decref(j);
	}
	j = settings(
	    "{\"model\":\"p/m\",\"providers\":{\"p\":{\"api\":"
	    "\"openai-responses\",\"base_url\":\"http://10.0.0.1/v1\","
	    "\"plain_http\":true,\"key_command\":\"printf ' k-%s\\\\n' 1\","
	    "\"parallel\":3,\"max_retries\":2,\"max_wait\":\"5s\",\"idle\":"
	    "\"1m\",\"models\":{\"m\":{\"context\":8192,\"max_output\":100,"
	    "\"effort\":\"low\",\"price\":{\"in\":0.5,\"cached\":0.05,\"out\":"
	    "2},\"quirks\":{\"no_parallel\":true}}}}}}");
	if (model_find(NULL, j, &m, &e) < 0)
		fail_msg("%s", e.text);
	assert_string_equal(m->key, "k-1");
	assert_string_equal(m->dialect->name, "openai-responses");
	assert_int_equal(m->parallel, 3);
	assert_int_equal(m->max_retries, 2);
	assert_int_equal(m->max_wait_ms, 5000);
	assert_int_equal(m->idle_ms, 60000);
	assert_int_equal(m->context, 8192);
	assert_int_equal(m->max_output, 100);
	assert_string_equal(m->effort, "low");
	assert_true(m->quirks.no_parallel && !m->quirks.max_completion);
	assert_true(m->price.known && m->price.in == 500000);
	assert_int_equal(m->price.cache_write, 500000);
	model_free(m);
	json_decref(j);
}

/* The part is named, and nothing of a URL is shown. */
static void
test_settings_errors(void **state unused_arg)
{
#define P "{\"providers\":{\"acme\":{\"base_url\":\"https://h\","
	static const struct {
		const char *settings, *say;
	} t[] = {
		{ P "\"models\":{\"m\":{\"price\":{\"in\":-1,\"out\":1}}}}}}",
		    "providers.acme.models.m.price: \"in\" must be a number of "
		    "0 or more" },
		{ P "\"models\":{\"m\":{\"price\":{\"in\":1}}}}}}",
		    "providers.acme.models.m.price: " },
		{ P "\"models\":{\"m\":{\"price\":7}}}}}",
		    "providers.acme.models.m.price: it must be an object" },
		{ P "\"models\":{\"m\":{\"quirks\":{\"x\":true}}}}}}",
		    "providers.acme.models.m.quirks: it has no member \"x\"" },
		{ P "\"models\":{\"m\":{\"context\":-1}}}}}",
		    "providers.acme.models.m: \"context\"" },
		{ P "\"models\":[]}}}", "providers.acme.models: " },
		{ P "\"parallel\":\"x\"}}}", "providers.acme: \"parallel\"" },
		{ P "\"key_env\":1}}}", "providers.acme: \"key_env\"" },
		{ "{\"providers\":{\"acme\":{}}}",
		    "providers.acme: it needs a \"base_url\"" },
		{ "{\"providers\":{\"acme\":{\"base_url\":\"http://10.0.0.1/"
		  "hidden\"}}}",
		    "\"plain_http\"" },
		{ "{\"providers\":{\"acme\":{\"base_url\":\"ftp://h/hidden\"}}"
		  "}",
		    "providers.acme.base_url: " },
		{ "{\"providers\":{\"acme\":{\"base_url\":\"https://hidden:p@h"
		  "/\"}}}",
		    "providers.acme.base_url: " },
	};
#undef P
	static const char *const names[] = { "acme/m", "openai/x", "builtin" };
	struct endpoint *m = NULL;
	struct err e;
	json_t *j;

	clean_env();
	setenv("OPENAI_API_KEY", "sk-test-1", 1);
	for (size_t i = 0; i < nitems(t) * nitems(names); i++) {
		j = settings(t[i / nitems(names)].settings);
		e = (struct err){ 0 };
		assert_true(
		    model_find(names[i % nitems(names)], j, &m, &e) < 0);
		if (strstr(e.text, t[i / nitems(names)].say) == NULL ||
		    strstr(e.text, "hidden") != NULL)
			fail_msg("%s", e.text);
		json_decref(j);
	}
	setenv("OPENAI_BASE_URL", "http://u:hidden@10.0.0.1/v1", 1);
	assert_int_equal(model_find("openai/x", NULL, &m, &e), ERR_USAGE);
	assert_non_null(strstr(e.text, "OPENAI_BASE_URL: "));
	assert_null(strstr(e.text, "hidden"));
	clean_env();
	/* without a key: only this machine may be asked */
	j = settings("{\"providers\":{\"p\":{\"base_url\":"
		     "\"http://127.0.0.1:1\",\"key_env\":\"NO_SUCH_KEY\"}}}");
	assert_int_equal(model_find("p/m", j, &m, &e), 0);
	assert_null(m->key);
	model_free(m);
	json_decref(j);
}

static void
test_price(void **state unused_arg)
{
	struct price p = { true, 3000000, 300000, 3750000, 15000000 };
	struct usage u = { .given = true,
		.in_tokens = 1000,
		.cached = 400,
		.cache_write = 100,
		.out_tokens = 10 };
	struct endpoint *m = NULL;

	/* 500*3 + 400*0.3 + 100*3.75 + 10*15 = 2145 */
	assert_int_equal(price_cost(&p, &u), 2145);
	u = (struct usage){ .in_tokens = 1 };
	p.in = 1;
	assert_int_equal(price_cost(&p, &u), 1); /* rounded up */
	u = (struct usage){ .in_tokens = UINT64_MAX,
		.cached = UINT64_MAX,
		.cache_write = UINT64_MAX,
		.out_tokens = UINT64_MAX };
	assert_true(price_cost(&p, &u) == UINT64_MAX);
	p.known = false;
	assert_int_equal(price_cost(&p, &u), 0);
	u.has_cost = true;
	u.cost_micro = 7;
	assert_int_equal(price_cost(&p, &u), 7);
	clean_env();
	setenv("ANTHROPIC_API_KEY", "k", 1);
	assert_int_equal(
	    model_find("anthropic/claude-sonnet-4-5-20250929", NULL, &m, NULL),
	    0);
	assert_true(m->price.known && m->price.out == 15000000);
	model_free(m);
	assert_int_equal(
	    model_find("anthropic/claude-sonnet-4-5-max", NULL, &m, NULL), 0);
	assert_false(m->price.known);
	model_free(m);
	clean_env();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_output_limits),
		cmocka_unit_test(test_d009),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_errors_in_streams),
		cmocka_unit_test(test_scrub),
		cmocka_unit_test(test_scrub_forms),
		cmocka_unit_test(test_output_names),
		cmocka_unit_test(test_limiter),
		cmocka_unit_test(test_backoff),
		cmocka_unit_test(test_guess),
		cmocka_unit_test(test_models),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_settings_errors),
		cmocka_unit_test(test_price),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
