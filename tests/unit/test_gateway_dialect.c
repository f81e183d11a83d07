/*
 * test_gateway_dialect.c - requests: their exact bytes in three APIs
 * (tests/cases/gateway/NAME.json; GOLDEN=1 writes them anew), and that what was
 * sent before is sent again.
 */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "common/fdio.h"
#include "common/log.h"
#include "orchestrator/gateway/dialect.h"

#define MAX 32

static const char mark[] = ",\"cache_control\":{\"type\":\"ephemeral\"}";

static const char *const names[] = { "openai-chat", "openai-responses",
	"anthropic" };

/* Three turns, two calls in the first. */
static const char conversation[] =
    "[{'role':'tools','tools':["
    "{'name':'read_file','description':'Read a file.','parameters':"
    "{'type':'object','properties':{'path':{'type':'string'}}}},"
    "{'name':'list_dir','description':'List.','parameters':"
    "{'type':'object','properties':{}}}]},"
    "{'role':'system','content':'You fix bugs.'},"
    "{'role':'user','content':'Fix \\u00e9.'},"
    "{'role':'assistant','content':'I look.\\n','tool_calls':["
    "{'id':'c1','name':'read_file','arguments':'{\\'path\\': \\'a.c\\'}'},"
    "{'id':'c2','name':'list_dir','arguments':'{}'}]},"
    "{'role':'tool','tool_call_id':'c1','name':'read_file','content':'int "
    "a;'},"
    "{'role':'tool','tool_call_id':'c2','name':'list_dir','content':''},"
    "{'role':'assistant','content':'','tool_calls':["
    "{'id':'c3','name':'list_dir','arguments':'{}'}]},"
    "{'role':'tool','tool_call_id':'c3','name':'list_dir','content':'a.c "
    "\\'b\\''},"
    "{'role':'assistant','content':'Done?'},"
    "{'role':'user','content':'Use a tool.'}]";

struct conv {
	struct wire w[MAX];
	struct wire *v[MAX];
	size_t n;
};

static json_t *
quoted(const char *text)
{
	char *s = xstrdup(text);
	json_t *j;

	for (char *p = s; *p != '\0'; p++) {
		if (*p == '\'')
			*p = '"';
	}
	j = json_loads(s, 0, NULL);
	free(s);
	assert_non_null(j);
	return j;
}

static void
conv_load(struct conv *c, const struct dialect *d, const char *text)
{
	json_t *list = quoted(text), *m;
	struct err e;
	size_t i;

	c->n = 0;
	json_array_foreach (list, i, m) {
		assert_true(c->n < MAX);
		c->v[c->n] = &c->w[c->n];
		assert_int_equal(d->wire(m, &c->w[c->n++], &e), 0);
	}
	json_decref(list);
}

static void
conv_clear(struct conv *c)
{
	for (size_t i = 0; i < c->n; i++)
		wire_clear(&c->w[i]);
}

static char *
body_q(const struct dialect *d, struct request *q)
{
	struct buf b;
	struct err e;
	json_t *j;

	buf_init(&b, BUF_NOMAX);
	assert_int_equal(d->body(q, &b, &e), 0);
	j = json_loadb(b.data, b.len, JSON_REJECT_DUPLICATES, NULL);
	assert_true(json_is_object(j));
	json_decref(j);
	return buf_detach(&b, NULL);
}

static char *
body(const struct dialect *d, struct conv *c, size_t n, const char *late)
{
	struct request q = { .model = "m-1",
		.max_output = 4000,
		.effort = "low",
		.cache_key = "run-1",
		.msgs = c->v,
		.n = n,
		.late = late };

	return body_q(d, &q);
}

static char *
body_text(const struct dialect *d, const char *text)
{
	struct conv c;
	char *s;

	conv_load(&c, d, text);
	s = body(d, &c, c.n, NULL);
	conv_clear(&c);
	return s;
}

/* --- golden --------------------------------------------------------------- */

static void
test_golden(void **state unused_arg)
{
	struct conv c;
	struct buf want;
	struct err e;
	char *path, *got;
	FILE *f;

	for (size_t i = 0; i < nitems(names); i++) {
		const struct dialect *d = dialect_find(names[i]);

		conv_load(&c, d, conversation);
		got = body(d, &c, 8, "2 turns are left.");
		path = xasprintf("tests/cases/gateway/%s.json", names[i]);
		if (getenv("GOLDEN") != NULL) {
			f = fopen(path, "w");
			assert_non_null(f);
			fprintf(f, "%s\n", got);
			fclose(f);
		}
		buf_init(&want, 1 << 20);
		assert_int_equal(file_read(path, false, &want, &e), 0);
		assert_true(want.len > 1);
		want.data[want.len - 1] = '\0';
		assert_string_equal(got, want.data);
		buf_clear(&want);
		free(path);
		free(got);
		conv_clear(&c);
	}
}

/* --- prefix --------------------------------------------------------------- */

/* Without cache marks. */
static void
unmark(char *s)
{
	char *at;

	while ((at = strstr(s, mark)) != NULL)
		memmove(at, at + strlen(mark), strlen(at + strlen(mark)) + 1);
}

/* The bytes up to the last text's end: the closing quotes and brackets, and
 * late, follow it. */
static size_t
text_end(const char *s, const char *late)
{
	const char *at = late != NULL ? strstr(s, late) : NULL;
	size_t len = at != NULL ? (size_t)(at - s) : strlen(s);

	/* \n\n, or {"type":"text","text":" */
	if (at != NULL && s[len - 1] == 'n')
		len -= 4;
	else if (at != NULL)
		len -= strlen("{\"type\":\"text\",\"text\":\"");
	while (len > 0 && strchr("\"]},", s[len - 1]) != NULL)
		len--;
	return len;
}

static bool
is_turn(const struct conv *c, size_t n)
{
	return n > 2 &&
	    (c->w[n - 1].role == ROLE_TOOL || c->w[n - 1].role == ROLE_USER) &&
	    (n == c->n || c->w[n].role == ROLE_ASSISTANT);
}

static void
prefixes(const struct dialect *d, const char *late)
{
	struct conv c;
	char *a, *b, *again;
	size_t len;

	conv_load(&c, d, conversation);
	for (size_t n = 1; n <= c.n; n++) {
		if (!is_turn(&c, n))
			continue;
		a = body(d, &c, n, late);
		again = body(d, &c, n, late);
		assert_string_equal(a, again);
		free(again);
		unmark(a);
		for (size_t m = n + 1; m <= c.n; m++) {
			b = body(d, &c, m, late);
			unmark(b);
			len = text_end(a, late);
			assert_true(len > 200);
			assert_memory_equal(a, b, len);
			free(b);
		}
		free(a);
	}
	conv_clear(&c);
}

static void
test_prefix(void **state unused_arg)
{
	for (size_t i = 0; i < nitems(names); i++) {
		prefixes(dialect_find(names[i]), NULL);
		prefixes(dialect_find(names[i]), "LATE");
	}
}

/* --- late ----------------------------------------------------------------- */

static size_t
count(const char *s, const char *what)
{
	size_t n = 0;

	for (; (s = strstr(s, what)) != NULL; s += strlen(what))
		n++;
	return n;
}

static void
test_late(void **state unused_arg)
{
	static const char *const wants[] = {
		"\"content\":\"a.c \\\"b\\\"\\n\\n\\\"L\\\"\"}]}",
		"\"output\":\"a.c \\\"b\\\"\\n\\n\\\"L\\\"\"}]}",
		"\"content\":\"a.c \\\"b\\\"\",\"cache_control\":{\"type\":"
		"\"ephemeral\"}},{\"type\":\"text\",\"text\":\"\\\"L\\\"\"}]}]"
		"}",
	};
	struct conv c;
	char *s;

	for (size_t i = 0; i < nitems(names); i++) {
		const struct dialect *d = dialect_find(names[i]);

		conv_load(&c, d, conversation);
		s = body(d, &c, 8, "\"L\"");
		assert_string_equal(s + strlen(s) - strlen(wants[i]), wants[i]);
		free(s);
		/* Behind an assistant message: one of its own. */
		s = body(d, &c, 9, "\"L\"");
		assert_non_null(strstr(s, "\\\"L\\\"\"}"));
		assert_int_equal(count(s, "\"role\":\"user\""),
		    strcmp(names[i], "anthropic") == 0 ? 4 : 2);
		free(s);
		conv_clear(&c);
	}
}

static void
test_cache_marks(void **state unused_arg)
{
	struct conv c;
	char *s;
	struct request q = { .model = "m", .msgs = c.v };

	conv_load(&c, &dialect_anthropic, conversation);
	s = body(&dialect_anthropic, &c, 3, NULL);
	assert_int_equal(count(s, mark), 3);
	free(s);
	s = body(&dialect_anthropic, &c, c.n, NULL);
	assert_int_equal(count(s, mark), 4);
	assert_non_null(
	    strstr(s, "\"text\":\"Use a tool.\",\"cache_control\""));
	assert_non_null(
	    strstr(s, "\"content\":\"a.c \\\"b\\\"\",\"cache_control\""));
	free(s);
	q.n = c.n;
	q.quirks.no_cache_control = true;
	s = body_q(&dialect_anthropic, &q);
	assert_int_equal(count(s, mark), 0);
	assert_non_null(strstr(s, "\"max_tokens\":8192"));
	free(s);
	conv_clear(&c);
}

/* --- parameters ----------------------------------------------------------- */

static void
test_quirks(void **state unused_arg)
{
	struct conv c;
	struct request q = { .model = "m", .msgs = c.v, .max_output = 9 };
	char *s;

	conv_load(&c, &dialect_chat, conversation);
	q.n = 3;
	q.quirks = (struct quirks){ true, true, true, false };
	s = body_q(&dialect_chat, &q);
	assert_null(strstr(s, "stream_options"));
	assert_null(strstr(s, "parallel_tool_calls"));
	assert_null(strstr(s, "\"max_tokens\""));
	assert_non_null(strstr(s, "\"max_completion_tokens\":9"));
	free(s);
	/* No tools: no parallel_tool_calls either. */
	q = (struct request){ .model = "m", .msgs = c.v + 1, .n = 2 };
	s = body_q(&dialect_chat, &q);
	assert_null(strstr(s, "tool"));
	assert_null(strstr(s, "max_tokens"));
	free(s);
	conv_clear(&c);
}

static void
test_reasoning_models(void **state unused_arg)
{
	struct request q = { .model = "gpt-4.1-mini" };
	char *s = body_q(&dialect_responses, &q);

	assert_null(strstr(s, "encrypted_content"));
	assert_non_null(strstr(s, "\"store\":false"));
	free(s);
	q.model = "gpt-5.1-codex";
	s = body_q(&dialect_responses, &q);
	assert_non_null(strstr(s, "[\"reasoning.encrypted_content\"]"));
	free(s);
	q.effort = "4096";
	s = body_q(&dialect_anthropic, &q);
	assert_non_null(strstr(
	    s, "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":4096}"));
	free(s);
}

static void
test_headers(void **state unused_arg)
{
	struct strv h = { 0 };

	dialect_chat.headers("K", &h);
	assert_true(strv_has(&h, "Authorization: Bearer K"));
	strv_clear(&h);
	dialect_responses.headers(NULL, &h);
	assert_int_equal(h.n, 2);
	strv_clear(&h);
	dialect_anthropic.headers("K", &h);
	assert_true(strv_has(&h, "x-api-key: K"));
	assert_true(strv_has(&h, "anthropic-version: 2023-06-01"));
	strv_clear(&h);
	assert_null(dialect_find("gemini"));
}

/* --- what servers refuse -------------------------------------------------- */

static void
test_bad_calls(void **state unused_arg)
{
	static const char text[] =
	    "[{'role':'user','content':'go'},"
	    "{'role':'assistant','content':' \\n','tool_calls':["
	    "{'id':'a:1','name':'functions.read file','arguments':'{\\'a'},"
	    "{'id':'b','name':'','arguments':'[1]'},"
	    "{'id':'c','name':'x','arguments':''},"
	    "{'id':'d','name':'x','arguments':'{\\'a\\':\\'\\\\ud800\\'}'}]}]";
	char *s = body_text(&dialect_chat, text);

	assert_non_null(strstr(s, "\"content\":null"));
	assert_non_null(strstr(s, "\"name\":\"functions_read_file\""));
	assert_non_null(strstr(s, "\"name\":\"unnamed\""));
	assert_non_null(strstr(
	    s, "\"arguments\":\"{\\\"invalid_json\\\":\\\"{\\\\\\\"a\\\"}\""));
	assert_non_null(
	    strstr(s, "\"arguments\":\"{\\\"invalid_json\\\":\\\"[1]\\\"}\""));
	assert_non_null(strstr(s, "\"arguments\":\"{}\""));
	assert_non_null(
	    strstr(s, "\"arguments\":\"{\\\"a\\\":\\\"\xef\xbf\xbd\\\"}\""));
	assert_int_equal(count(s, "interrupted"), 4);
	free(s);
	s = body_text(&dialect_anthropic, text);
	assert_non_null(strstr(s, "\"id\":\"a_1\""));
	assert_non_null(strstr(s, "\"tool_use_id\":\"a_1\""));
	assert_null(strstr(s, "\"text\":\" "));
	free(s);
}

static void
test_order(void **state unused_arg)
{
	static const char text[] =
	    "[{'role':'tool','tool_call_id':'a','content':'ORPHAN'},"
	    "{'role':'user','content':'U1'},"
	    "{'role':'assistant','content':null,'tool_calls':["
	    "{'id':'a','name':'x','arguments':'{}'},"
	    "{'id':'b','name':'x','arguments':'{}'}]},"
	    "{'role':'user','content':'U2'},"
	    "{'role':'tool','tool_call_id':'b','content':'RB'},"
	    "{'role':'tool','tool_call_id':'b','content':'TWICE'},"
	    "{'role':'tool','tool_call_id':'z','content':'ORPHAN'},"
	    "{'role':'assistant','content':''},"
	    "{'role':'user','content':''}]";

	for (size_t i = 0; i < nitems(names); i++) {
		char *s = body_text(dialect_find(names[i]), text);
		const char *rb = strstr(s, "RB"), *lost;

		assert_null(strstr(s, "ORPHAN"));
		assert_null(strstr(s, "TWICE"));
		lost = strstr(s, "interrupted");
		assert_true(rb != NULL && lost != NULL);
		assert_true(rb < lost && lost < strstr(s, "U2"));
		free(s);
	}
}

static void
refused(const char *text)
{
	json_t *j = quoted(text);
	struct wire w;
	struct err e;

	for (size_t i = 0; i < nitems(names); i++) {
		e.text[0] = '\0';
		assert_int_equal(
		    dialect_find(names[i])->wire(j, &w, &e), ERR_PROTO);
		assert_true(e.text[0] != '\0');
	}
	json_decref(j);
}

static void
test_no_message(void **state unused_arg)
{
	refused("[]");
	refused("{}");
	refused("{'role':'god','content':''}");
	refused("{'role':'user'}");
	refused("{'role':'user','content':[1]}");
	refused("{'role':'tool','content':'x'}");
	refused("{'role':'tools'}");
	refused("{'role':'tools','tools':[{'name':'x'}]}");
	refused("{'role':'assistant','tool_calls':{}}");
	refused("{'role':'assistant','tool_calls':[{'id':'a'}]}");
	refused("{'role':'assistant','tool_calls':['x']}");
}

static void
test_too_large(void **state unused_arg)
{
	struct conv c;
	struct request q = { .model = "m", .msgs = c.v, .late = "late" };
	struct buf b;
	struct err e;
	char *s;

	for (size_t i = 0; i < nitems(names); i++) {
		const struct dialect *d = dialect_find(names[i]);
		size_t len;

		conv_load(&c, d, conversation);
		q.n = c.n;
		s = body_q(d, &q);
		len = strlen(s);
		free(s);
		for (size_t max = 0; max < len; max++) {
			buf_init(&b, max);
			assert_int_equal(d->body(&q, &b, &e), ERR_LIMIT);
			buf_clear(&b);
		}
		conv_clear(&c);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_prefix),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_cache_marks),
		cmocka_unit_test(test_quirks),
		cmocka_unit_test(test_reasoning_models),
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_bad_calls),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_no_message),
		cmocka_unit_test(test_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
